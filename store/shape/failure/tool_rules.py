"""The rules that know single tools: how a tool is recognised, which of its lines are failures, which counts it gives.

Rules are data, ``rules/*.toml``: what recognises a tool stands in two lines that are read without parsing the file, so
that knowing many tools costs an output nothing but what its own tools need. ``docs/rules.md`` tells how to write one.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from sightline.named_tuple import NamedTuple

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "rules")

ROLES = ("cause", "name", "trace", "minor", "echo")
"""What a failure line is: why something failed; what failed; where an exception came from, which tests and servers log
by the dozen without failing; of less weight than others (style); said before."""

BLOCK_LINES = 120
"""Lines after its start within which a block ends, where the rule names no number."""

_COMMENT = r"(?:[ \t]+#.*)?"
_HEAD = re.compile(rf"^\[([\w.+-]+)\]{_COMMENT}\nprograms = (\[.*)\nmarks = (\[.*)$".encode(), re.MULTILINE)
_JSON = json.JSONDecoder()
_REST = re.compile(r"\s*(?:#.*)?")
_EXAMPLE = re.compile(rf"^\[\[[\w.+-]+\.example\]\]{_COMMENT}$", re.MULTILINE)


class Pattern:
    """A regular expression that is compiled when it is first used: most of a rule's are not, for most outputs."""

    __slots__ = ("search", "text")

    def __init__(self, text: str) -> None:
        """Take its text. Raises TypeError for what is none."""
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is no pattern")
        self.text = text
        self.search: Callable[[str], re.Match[str] | None] = self._first_search

    def _first_search(self, line: str) -> re.Match[str] | None:
        self.search = re.compile(self.text).search
        return self.search(line)

    @property
    def groupindex(self) -> Mapping[str, int]:
        """The names of its groups."""
        return re.compile(self.text).groupindex


class Failure(NamedTuple):
    """A sort of failure line.

    Attributes:
        has: literals; a line holds at least one of them, or it is not looked at.
        line: is found in the cleaned line. Its groups ``name``, ``file`` and ``line`` name what failed and where;
            ``kind`` tells sorts of messages apart.
        role: one of ROLES.
        under: is found in the line above it that heads it, such as a file's name; None where there is none.
        logged: whether what goes well writes such lines, too, so that they are failures only beside one.
        above: is found in the line above it after which what went wrong begins, of tools that say that first; None for
            all others.
    """

    has: tuple[str, ...]
    line: Pattern
    role: str
    under: Pattern | None
    logged: bool = False
    above: Pattern | None = None


class Block(NamedTuple):
    """A failure of several lines.

    Attributes:
        has: as for a Failure; of the first line.
        start: is found in its first line; groups as for a Failure.
        end: is found in the first line that no longer belongs to it; None where it has no such line.
        last: is found in its last line; None where it has no such line.
        key: is found in the lines of it that say why; None where they are not known.
        lines: within how many lines after its start it ends.
        role: one of ROLES.
        under: as for a Failure; its groups name what failed where the start does not.
        titled: is found in one of the lines after its start, where those name what failed; groups likewise.
        logged: as for a Failure.
        above: as for a Failure; of its first line.
    """

    has: tuple[str, ...]
    start: Pattern
    end: Pattern | None
    last: Pattern | None
    key: Pattern | None
    lines: int
    role: str
    under: Pattern | None
    titled: Pattern | None
    logged: bool = False
    above: Pattern | None = None


class Count(NamedTuple):
    """A line in which a tool counts.

    Attributes:
        has: literals; it holds one of them.
        line: is found in it; what its groups match tells apart what is counted at the same time.
        numbers: what is counted to the pattern of which one group is the number.
        total: whether the tool writes such a line once a run, so that the numbers of all add up.
        each: what one such line counts for by itself, by name; for tools that give no numbers.
        module: is found in a line at which a module begins or ends: of the totals of one, the last counts, and those
            of several add up. None where the last line of all has all the numbers, or each is of a run of its own.
        sums: whether a last line may have what the others come to, as that of runs at the same time.
    """

    has: tuple[str, ...]
    line: Pattern
    numbers: Mapping[str, Pattern]
    total: bool
    each: str
    module: Pattern | None = None
    sums: bool = False


class StepMarks(NamedTuple):
    """How a service that runs tools marks their steps.

    Attributes:
        has: literals; a mark holds one of them.
        end: is found in the line that tells how a step ended; its group ``code`` is 0 where that was well.
        begin: is found in a step's first line; None where a step begins after the end of the one before.
        skip: is found in lines that say nothing of what ran; None where all may.
    """

    has: tuple[str, ...]
    end: Pattern
    begin: Pattern | None
    skip: Pattern | None


class Rule(NamedTuple):
    """What is known of one tool.

    Attributes:
        name: the tool, as a summary names it.
        failures: its failure lines.
        blocks: its failures of several lines.
        counts: its counts.
        quiet: is found in lines that look like failures and are none; None where there are none.
        steps: how it marks the steps that it runs.
        advice: is found in what it says after any failure, of how to learn more; None where it says no such thing.
    """

    name: str
    failures: tuple[Failure, ...]
    blocks: tuple[Block, ...]
    counts: tuple[Count, ...]
    quiet: Pattern | None
    steps: tuple[StepMarks, ...] = ()
    advice: Pattern | None = None

    @property
    def logs(self) -> bool:
        """Whether some of its failure lines are those of what goes well, too."""
        return any(one.logged for one in self.failures) or any(one.logged for one in self.blocks)


class Known(NamedTuple):
    """What recognises a tool.

    Attributes:
        name: the tool.
        file: path of the file with its rule.
        programs: words of a command that run it, such as ``pytest`` or ``cargo test``.
        marks: texts only it writes; of a tuple of several, all must be there.
    """

    name: str
    file: str
    programs: tuple[str, ...]
    marks: tuple[tuple[bytes, ...], ...]


def known_in(data: bytes, path: str) -> list[Known]:
    """What recognises the tools of a file, which is not parsed for that. Raises ValueError where a list is none."""
    found = []
    for head in _HEAD.finditer(data):
        name = head[1].decode()
        programs = tuple(_text(one, name) for one in _list(head[2], name))
        marks = tuple(
            tuple(_text(part, name).encode() for part in (mark if isinstance(mark, list) and mark else [mark]))
            for mark in _list(head[3], name)
        )
        found.append(Known(name, path, programs, marks))
    return found


def _list(data: bytes, name: str) -> list[Any]:
    """The list of JSON that a line begins with, and nothing but a comment follows."""
    text = data.decode()
    try:
        value, end = _JSON.raw_decode(text)
    except RecursionError:
        raise ValueError(f"{name}: a list is too deep") from None
    if not _REST.fullmatch(text, end):
        raise ValueError(f"{name}: after a list there is {text[end : end + 40]!r}")
    return list(value)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name}: {value!r:.40} is no text to look for")
    return value


def parse_rules(text: str) -> dict[str, Rule]:
    """The rules of a file, without its examples, by tool.

    Raises:
        ValueError, TypeError: it is not TOML, or a table of it is no rule.
    """
    import tomllib  # 3 ms that an output of no known tool does without

    example = _EXAMPLE.search(text)  # examples come last in a file: they are for people and tests
    try:
        tables = tomllib.loads(text[: example.start()] if example else text)
    except RecursionError:
        raise ValueError("it is too deep") from None
    return {name: _rule(name, table) for name, table in tables.items()}


def _rule(name: str, table: dict[str, Any]) -> Rule:
    known = {"programs", "marks", "failure", "block", "count", "quiet", "advice", "step", "example"}
    if unknown := set(table) - known:
        raise ValueError(f"{name}: unknown keys {sorted(unknown)}")
    return Rule(
        name,
        tuple(_failure(**entry) for entry in table.get("failure", ())),
        tuple(_block(**entry) for entry in table.get("block", ())),
        tuple(_count(**entry) for entry in table.get("count", ())),
        _any_of(table.get("quiet", [])),
        tuple(_step(**entry) for entry in table.get("step", ())),
        _any_of(table.get("advice", [])),
    )


def _failure(
    has: str | list[str], line: str, role: str = "cause", under: str = "", logged: bool = False, above: str = ""
) -> Failure:
    return Failure(_literals(has), Pattern(line), _role(role), _pattern(under), logged, _pattern(above))


def _block(
    has: str | list[str],
    start: str,
    end: str = "",
    last: str = "",
    key: str = "",
    lines: int = BLOCK_LINES,
    role: str = "cause",
    under: str = "",
    titled: str = "",
    logged: bool = False,
    above: str = "",
) -> Block:
    if not isinstance(lines, int) or lines < 1:
        raise TypeError(f"lines is {lines!r}, not a number from 1 on")
    return Block(
        _literals(has),
        Pattern(start),
        _pattern(end),
        _pattern(last),
        _pattern(key),
        lines,
        _role(role),
        _pattern(under),
        _pattern(titled),
        logged,
        _pattern(above),
    )


def _count(
    has: str | list[str],
    line: str,
    total: bool = False,
    each: str = "",
    module: str = "",
    sums: bool = False,
    **numbers: str,
) -> Count:
    if not isinstance(each, str):
        raise TypeError(f"each is {each!r}, not a noun")
    patterns = {noun: Pattern(text) for noun, text in numbers.items()}
    return Count(_literals(has), Pattern(line), patterns, total, each, _pattern(module), sums)


def _step(has: str | list[str], end: str, begin: str = "", skip: str = "") -> StepMarks:
    return StepMarks(_literals(has), Pattern(end), _pattern(begin), _pattern(skip))


def _literals(has: str | list[str]) -> tuple[str, ...]:
    return tuple(_text(literal, "has") for literal in ([has] if isinstance(has, str) else has))


def _pattern(text: str) -> Pattern | None:
    return Pattern(text) if text else None


def _any_of(patterns: str | list[str]) -> Pattern | None:
    return _pattern("|".join(f"(?:{pattern})" for pattern in _literals(patterns)))


def _role(role: str) -> str:
    if role not in ROLES:
        raise ValueError(f"no such role: {role!r}")
    return role
