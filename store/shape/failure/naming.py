"""What failed, by name and place, as the tools themselves name it."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from sightline.shape.failure.failures import Hit
from sightline.shape.failure.judge import CAUSE, ECHO, EXCEPTION, MINOR, NAME
from sightline.shape.failure.tool_rules import Rule


class Named(NamedTuple):
    """Something that failed.

    Attributes:
        rule: the tool that says so.
        name: such as a test's; empty where only the place is known.
        place: such as ``src/x.py:12``; empty where it is unknown.
    """

    rule: Rule
    name: str
    place: str

    @property
    def text(self) -> str:
        """Name and place in one, each where it is known."""
        if not self.name or self.place.startswith(self.name):
            return self.place
        return f"{self.name} ({self.place})" if self.place and self.place not in self.name else self.name


def named(hits: Iterable[Hit]) -> list[Named]:
    """What some hits name, each once: of each tool what it lists as failed, else the causes, else what else it has."""
    of_rule: dict[str, list[Hit]] = {}
    for hit in hits:
        if hit.verdict.rule and (hit.verdict.name or hit.verdict.place):
            of_rule.setdefault(hit.verdict.rule.name, []).append(hit)
    return [one for told in of_rule.values() for one in _of_tool(told)]


_RANKS = (NAME, CAUSE, EXCEPTION, MINOR, ECHO)


def _of_tool(hits: list[Hit]) -> list[Named]:
    rank = min((hit.verdict.rank for hit in hits), key=_RANKS.index)
    places = {last_part(hit.verdict.name): hit.verdict.place for hit in reversed(hits) if hit.verdict.name}
    found: dict[str, Named] = {}
    for hit in hits:
        verdict = hit.verdict
        if verdict.rank == rank and verdict.rule:
            place = verdict.place or places.get(last_part(verdict.name), "")
            found.setdefault(verdict.name or place, Named(verdict.rule, verdict.name, place))
    return list(found.values())


_PARTS = re.compile(r"::|\.| > | › |/")


def last_part(name: str) -> str:
    """What a test is called within its file and class."""
    return _PARTS.split(name.strip())[-1]
