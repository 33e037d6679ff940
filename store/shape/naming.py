"""What failed, by name and place, as the tools themselves name it."""

from collections.abc import Iterable
from typing import NamedTuple

from sightline.store.shape.failures import Hit
from sightline.store.shape.judge import NAME
from sightline.store.shape.tool_rules import Rule


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
    """What some hits name, each once. Of a tool that lists what failed, only what it lists."""
    found: dict[tuple[str, str], Named] = {}
    lists: set[str] = set()
    for hit in hits:
        verdict = hit.verdict
        if verdict.rule is None or not (verdict.name or verdict.place):
            continue
        is_list = verdict.rank == NAME
        if is_list and verdict.rule.name not in lists:
            lists.add(verdict.rule.name)
            found = {key: one for key, one in found.items() if one.rule is not verdict.rule}
        if is_list or verdict.rule.name not in lists:
            key = (verdict.rule.name, verdict.name or verdict.place)
            found.setdefault(key, Named(verdict.rule, verdict.name, verdict.place))
    return list(found.values())
