"""The rules for single tools: how a tool is recognised, which of its lines are failures, and which counts it writes.

Rules are data, ``rules/*.toml``. What recognises a tool stands in two lines that are read without parsing the file, so
that an output costs only what its own tools need, however many are known. ``docs/rules.md`` tells how to write one.
"""

import os
import re
from collections.abc import Callable, Mapping

from sightline.light.json_text import first_value
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "rules")

ROLES = ("cause", "name", "trace", "minor", "echo")
"""The roles of a failure line: why something failed; what failed; where an exception came from, which tests and servers
log by the dozen without failing; of less weight, such as style; a repetition."""

BLOCK_LINES = 120
"""Lines after its start within which a block ends, unless the rule gives a number."""

_COMMENT = r"(?:[ \t]+#.*)?"
_HEAD = re.compile(rf"^\[([\w.+-]+)\]{_COMMENT}\nprograms = (\[.*)\nmarks = (\[.*)$".encode(), re.MULTILINE)
_REST = re.compile(r"\s*(?:#.*)?")
_EXAMPLE = re.compile(rf"^\[\[[\w.+-]+\.example\]\]{_COMMENT}$", re.MULTILINE)


_BEGINNING = re.compile(r"(\((?:\?P<\w+>)?)?(\\[dwsDWS]|\[(?:[^\]\\]|\\.)+\])[+*]\??(?(1)\)(?![*+?{]))(?![*+?{])")


def begun_once(pattern: str) -> str:
    """Return a pattern that finds the same, but begins no match within a run of the characters it begins with.

    The leftmost match of ``\\d+ failed`` never begins between two digits, but `re` tries each of them, which takes the
    square of the length of a run.
    """
    begins = _BEGINNING.match(pattern)
    if not begins:
        return pattern
    return f"{pattern[: begins.start(2)]}(?<!{begins[2]}){pattern[begins.start(2) :]}"


class LatePattern:
    """A regular expression that is compiled at its first use, because most outputs need few of a rule's."""

    __slots__ = ("search", "text")

    def __init__(self, text: str) -> None:
        """Take its text. Raises TypeError for anything but text."""
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is no pattern")
        self.text = text
        self.search: Callable[[str], re.Match[str] | None] = self._first_search

    def _first_search(self, line: str) -> re.Match[str] | None:
        self.search = re.compile(begun_once(self.text)).search
        return self.search(line)

    @property
    def groupindex(self) -> Mapping[str, int]:
        """The names of its groups."""
        return re.compile(self.text).groupindex


class FailureSort(NamedTuple):
    """A sort of failure line.

    Attributes:
        has: literals; a line with none of them is not matched.
        line: matches the cleaned line. Its groups ``name``, ``file`` and ``line`` say what failed and where;
            ``kind`` tells sorts of messages apart.
        role: one of ROLES.
        under: matches the line above that heads it, such as a file's name; None for no such line.
        logged: whether successes write such lines, too, so that they count only beside another failure.
        above: matches the line above after which the explanation begins, for tools that print that first; None for
            other tools.
    """

    has: tuple[str, ...]
    line: LatePattern
    role: str
    under: LatePattern | None
    logged: bool = False
    above: LatePattern | None = None


class BlockRule(NamedTuple):
    """A failure of several lines.

    Attributes:
        has: literals of the first line, as for a Failure.
        start: matches its first line; groups as for a Failure.
        end: matches the first line after it; None if there is no such line.
        last: matches its last line; None if there is no such line.
        key: matches those of its lines that say why; None if they are not known.
        lines: number of lines after its start within which it ends.
        role: one of ROLES.
        under: as for a Failure; its groups say what failed if those of the start do not.
        titled: matches a line after its start that says what failed; groups likewise.
        logged: as for a Failure.
        above: as for a Failure, for its first line.
    """

    has: tuple[str, ...]
    start: LatePattern
    end: LatePattern | None
    last: LatePattern | None
    key: LatePattern | None
    lines: int
    role: str
    under: LatePattern | None
    titled: LatePattern | None
    logged: bool = False
    above: LatePattern | None = None


class Count(NamedTuple):
    """A line in which a tool counts.

    Attributes:
        has: literals; the line has one of them.
        line: matches the line; what its groups match tells apart counts that run at the same time.
        numbers: the pattern of each number, in its one group, by name.
        total: whether the tool writes such a line for each run, so that the numbers are added.
        each: what one such line counts as, by name, for tools that write no numbers.
        module: matches the line at which a module begins or ends; the last total of each module counts, and modules
            are added. None if the last line of all has the totals, or each line is for a run of its own.
        sums: whether a last line may be the sum of the others, as for parallel runs.
    """

    has: tuple[str, ...]
    line: LatePattern
    numbers: Mapping[str, LatePattern]
    total: bool
    each: str
    module: LatePattern | None = None
    sums: bool = False


class StepMarks(NamedTuple):
    """How a service that runs tools marks their steps.

    Attributes:
        has: literals; a mark has one of them.
        end: matches the line that says how a step ended; its group ``code`` is 0 after a success.
        begin: matches a step's first line; None if a step begins after the end of the one before.
        skip: matches lines that say nothing of what ran; None if all may.
    """

    has: tuple[str, ...]
    end: LatePattern
    begin: LatePattern | None
    skip: LatePattern | None


class Rule(NamedTuple):
    """The rule of one tool.

    Attributes:
        name: name of the tool in summaries.
        failures: its failure lines.
        blocks: its failures of several lines.
        counts: its counts.
        quiet: matches lines that look like failures and are not; None for none.
        steps: marks of the steps that it runs.
        advice: matches what it says after any failure, such as where to learn more; None for nothing.
        groups: whether it names what holds failed tests, such as suites, too, which its counts of failures leave out.
    """

    name: str
    failures: tuple[FailureSort, ...]
    blocks: tuple[BlockRule, ...]
    counts: tuple[Count, ...]
    quiet: LatePattern | None
    steps: tuple[StepMarks, ...] = ()
    advice: LatePattern | None = None
    groups: bool = False

    @property
    def names(self) -> bool:
        """Whether some of its failure lines say what failed."""
        starts = [one.line for one in self.failures] + [one.start for one in self.blocks]
        return any("(?P<name>" in pattern.text for pattern in starts)

    @property
    def logs(self) -> bool:
        """Whether some of its failure lines are such as successes write, too."""
        return any(one.logged for one in self.failures) or any(one.logged for one in self.blocks)


class KnownTool(NamedTuple):
    """What recognises a tool.

    Attributes:
        name: name of the tool.
        file: path of the file with its rule.
        programs: words of a command that run it, such as ``pytest`` or ``cargo test``.
        marks: texts that only it writes; of a tuple, all must occur.
    """

    name: str
    file: str
    programs: tuple[str, ...]
    marks: tuple[tuple[bytes, ...], ...]


def known_in(data: bytes, path: str) -> list[KnownTool]:
    """Return what recognises the tools of a file, without parsing it. Raises ValueError for a faulty list."""
    found = []
    for head in _HEAD.finditer(data):
        name = head[1].decode()
        programs = tuple(_text(one, name) for one in _list(head[2], name))
        marks = tuple(
            tuple(_text(part, name).encode() for part in (mark if isinstance(mark, list) and mark else [mark]))
            for mark in _list(head[3], name)
        )
        found.append(KnownTool(name, path, programs, marks))
    return found


def _list(data: bytes, name: str) -> list[Any]:
    """Return the JSON list at a line's beginning, after which only a comment may follow."""
    text = data.decode()
    try:
        value, end = first_value(text)
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
    """Return the rules of a file, without its examples, by tool.

    Raises:
        ValueError, TypeError: it is not TOML, or one of its tables is no rule.
    """
    import tomllib  # 8 ms, which an output of no known tool does not need

    example = _EXAMPLE.search(text)  # examples stand last in a file, for people and tests
    try:
        tables = tomllib.loads(text[: example.start()] if example else text)
    except RecursionError:
        raise ValueError("it is too deep") from None
    return {name: _rule(name, table) for name, table in tables.items()}


def _rule(name: str, table: dict[str, Any]) -> Rule:
    known = {"programs", "marks", "failure", "block", "count", "quiet", "advice", "step", "groups", "example"}
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
        table.get("groups", False) is True,
    )


def _failure(
    has: str | list[str], line: str, role: str = "cause", under: str = "", logged: bool = False, above: str = ""
) -> FailureSort:
    return FailureSort(_literals(has), LatePattern(line), _role(role), _pattern(under), logged, _pattern(above))


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
) -> BlockRule:
    if not isinstance(lines, int) or lines < 1:
        raise TypeError(f"lines is {lines!r}, not a number from 1 on")
    return BlockRule(
        _literals(has),
        LatePattern(start),
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
    patterns = {noun: LatePattern(text) for noun, text in numbers.items()}
    return Count(_literals(has), LatePattern(line), patterns, total, each, _pattern(module), sums)


def _step(has: str | list[str], end: str, begin: str = "", skip: str = "") -> StepMarks:
    return StepMarks(_literals(has), LatePattern(end), _pattern(begin), _pattern(skip))


def _literals(has: str | list[str]) -> tuple[str, ...]:
    return tuple(_text(literal, "has") for literal in ([has] if isinstance(has, str) else has))


def _pattern(text: str) -> LatePattern | None:
    return LatePattern(text) if text else None


def _any_of(patterns: str | list[str]) -> LatePattern | None:
    return _pattern("|".join(f"(?:{pattern})" for pattern in _literals(patterns)))


def _role(role: str) -> str:
    if role not in ROLES:
        raise ValueError(f"no such role: {role!r}")
    return role
