"""Reads from an output how a check ended: by what tools count there, and by their last words."""

import re
from collections.abc import Iterable
from functools import cache

from sightline.audit.evidence.call_facts import command_of
from sightline.audit.evidence.check_names import TEST, check_table
from sightline.audit.timeline import Call
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.shape.clean import clean_line
from sightline.shape.failure.examination import Examination
from sightline.shape.source import Source
from sightline.store import Reading, Target

EXAMINED_BYTES = 4 << 20  # counts in a larger output are not read
_COUNTS = "counts/11"
RAN_TESTS = "tests of a script"  # whose command names no check

_MISUSED_BYTES = 2048


@cache
def _bad_ends(kind: str, *, alone: bool) -> tuple[re.Pattern[str], ...]:
    """Return what a check of a kind says where it failed; not alone in its line, only what no other check says."""
    rules = [one for one in _rules_of_bad_ends(kind) if not one.get("weak") and (alone or one.get("unmistakable"))]
    return tuple(re.compile(one["line"]) for one in rules)


@cache
def _weak_ends(kind: str, *, last: bool) -> tuple[re.Pattern[str], ...]:
    """Return what a check of a kind says where it failed, and may say where it did not."""
    rules = [one for one in _rules_of_bad_ends(kind) if one.get("weak") and bool(one.get("last")) == last]
    return tuple(re.compile(one["line"]) for one in rules)


def _rules_of_bad_ends(kind: str) -> list[dict[str, Any]]:
    return [one for one in check_table()["ended_badly"] if kind in one.get("kinds", (kind,))]


class CheckCounts(NamedTuple):
    """What tools count in an output.

    Attributes:
        bad: number of failures; 1 if the output only says that there was one.
        all: number of everything that they count.
        passed: number of tests that passed, as the tools state it; -1 if they do not.
    """

    bad: int
    all: int
    passed: int = -1


def counted(
    store: Reading, buffer: Buffer, kind: str, *, hides: bool = False, among: bool = False
) -> CheckCounts | None:
    """Return what the tools that wrote an output say in it of how they ended; cached in the index.

    Args:
        store: the store.
        buffer: the output.
        kind: what they check, one of KINDS.
        hides: whether filters may have hidden lines of it that tell of a failure.
        among: whether other checks wrote there, too, so that only what is surely of this kind counts.

    Returns:
        The counts; for a check that says with its last words that all is well, one that went well. None if they say
        nothing, or the output is gone.
    """
    key = f"{_COUNTS} {kind}{' hiding' if hides else ''}{' among others' if among else ''}"
    kept = store.index.derived(buffer.name, key)
    if kept is None:
        if buffer.kind != "cmd" or buffer.state not in ("sealed", "interrupted") or buffer.bytes > EXAMINED_BYTES:
            return None
        try:
            with store.open_text(Target(buffer, "out")) as out, store.open_text(Target(buffer, "err")) as err:
                examined = Examination(out, err, buffer.command, added=store.rule_files)
                kept = dumps(counts_in(examined, (out, err), kind, hides=hides, among=among))
        except SightlineError:
            return None
        store.index.put_derived(buffer.name, key, kept)
    found = loads(kept)
    return CheckCounts(*found) if found else None


_GO_ENDED_WELL = re.compile(r"ok[ \t]+\S+[ \t]+(?:\(cached\)|[\d.]+s)(?:[ \t].*)?")
"""What ``go test``, which counts no packages, says of a package whose tests passed."""

_FAILS = re.compile(r"\b(?:FAIL|FAILED|ERROR|ERR!|[Ee]rror:|fatal|panic:)(?!\w)")
"""What a line has in what a check writes last if something failed."""

_GO_SETUP = re.compile(r"\[setup failed\]$")
_GO_RAN = re.compile(r"(?:ok|---|===|FAIL)[ \t](?!.*\[setup failed\]$)")
_GO_FAILED = re.compile(r"FAIL(?:\t.*)?")
_PREFIX = re.compile(r"^\s*(?:\[[\w:.-]+\] )?\s*")
"""What a runner of tasks puts before each line."""

_END_BYTES, _END_LINES = 4096, 12
_ALL_BYTES = 1 << 18  # where several checks wrote, each has its last lines somewhere
PASSING_ON = frozenset(("tail", "head", "cat", "tee", "less", "more"))
"""Filters that pass on lines as they are, from the beginning or to the end."""


def counts_in(
    examined: Examination, streams: tuple[Source, Source], kind: str, *, hides: bool, among: bool = False
) -> list[int] | None:
    told = [tally for tally in examined.tallies if not tally.unclear and any(tally.numbers.values())]
    of_tests = [tally for tally in told if "passed" in tally.numbers]
    if kind == RAN_TESTS or (among and kind == TEST):
        told = of_tests
        if not told and kind == RAN_TESTS:
            return _of_script(streams)
    elif among:
        told = []
    ends = [_last_lines(source, _ALL_BYTES if among else _END_BYTES) for source in streams]
    lines = [line for end in ends for line in (end if among else end[-_END_LINES:])]
    if kind == TEST and any(_GO_FAILED.fullmatch(line) for line in (lines if among else ends[0][-2:])):
        began = any(_GO_RAN.match(line) for end in ends for line in end)
        return [1, 1] if began or not any(_GO_SETUP.search(line) for end in ends for line in end) else None
    bad = sum(tally.bad for tally in told)
    if told and (bad or not hides or any(tally.numbers.keys() - tally.counted for tally in told)):
        stated = [tally.numbers["passed"] for tally in of_tests if "passed" not in tally.counted]
        return [bad, sum(sum(tally.numbers.values()) for tally in told), sum(stated) if stated else -1]
    if kind == TEST and not told and (parts := _of_parts(lines)):
        return parts
    if any(pattern.fullmatch(line) for line in lines for pattern in _bad_ends(kind, alone=not among)):
        return [1, 1]
    ended_well = any(pattern.fullmatch(line) for line in lines for pattern in _good_ends(kind))
    if not (ended_well or among) and _ends_weakly(ends, kind):
        return [1, 1]
    if any(_FAILS.search(line) for end in ends for line in end):
        return None
    if kind == TEST and not hides and any(_GO_ENDED_WELL.fullmatch(line) for line in lines):
        return [0, 1]
    return [0, 1] if ended_well else None


def _ends_weakly(ends: list[list[str]], kind: str) -> bool:
    lines = [(line, at == len(end) - 1) for end in ends for at, line in enumerate(end)]
    return any(
        pattern.fullmatch(line)
        for line, is_last in lines
        for last in (False, True)[: 1 + is_last]
        for pattern in _weak_ends(kind, last=last)
    )


def _of_parts(lines: list[str]) -> list[int] | None:
    """Return what a runner counts in a line for each number, if both are there."""
    found: dict[str, int] = {}
    for pattern in _part_counts():
        for match in filter(None, map(pattern.fullmatch, lines)):
            found |= {name: int(value) for name, value in match.groupdict().items() if value}
    if len(found) < 2 or not any(found.values()):
        return None
    return [found["failed"], found["passed"] + found["failed"], found["passed"]]


@cache
def _part_counts() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one["line"]) for one in check_table()["part_counts"])


def _of_script(streams: tuple[Source, Source]) -> list[int] | None:
    """Return what a script of a project's own counts in the last such line."""
    for line in reversed([line for source in streams for line in _last_lines(source)[-_END_LINES:]]):
        for pattern in _script_counts():
            if found := pattern.fullmatch(line):
                passed, failed = int(found["passed"]), int(found["failed"])
                return [failed, passed + failed, passed] if passed + failed else None
    return None


@cache
def _script_counts() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one["line"], re.IGNORECASE) for one in check_table()["script_counts"])


def hides_lines(call: Call, filters: tuple[str, ...], kind: str) -> bool:
    """Return whether filters may have hidden a line that tells of a failure of a check of a kind."""
    command, left = command_of(call), set(filters) - PASSING_ON
    if left and left <= _SEARCHING:
        searches = _SEARCHES.split(command)[1:]
        kept = all(_leaves_out(one) if _INVERTS.search(one) else "FAIL" in one for one in searches)
        left = set() if kept and (kind == TEST or not leaves_out(call, filters)) else left
    if "head" in filters:
        return bool(left) or call.buffer is None or call.buffer.lines >= most_by_head(command)
    return bool(left)


def most_by_head(command: str) -> int:
    """Return the least number of lines that the ``head`` of a command lets through; 0 without one."""
    return min((int(one or _HEAD_LINES) for one in _HEAD.findall(command)), default=0)


def leaves_out(call: Call, filters: tuple[str, ...]) -> bool:
    """Return whether filters only leave out lines, none of which tells that a test failed: ``| grep -v '^ok'``."""
    searches = _SEARCHES.split(command_of(call))[1:] if _SEARCHING.intersection(filters) else []
    return bool(searches) and set(filters) - PASSING_ON <= _SEARCHING and all(map(_leaves_out, searches))


def _leaves_out(search: str) -> bool:
    search = search.partition("|&")[0].partition(" | ")[0]
    return bool(_INVERTS.search(search)) and not _OF_FAILURES.search(search)


_OF_FAILURES = re.compile(r"(?i)fail|error|panic|not ok|[✗✘×❌]|['\"]\.\*?['\"]|--- ")
_SEARCHING = frozenset(("grep", "egrep"))
_SEARCHES = re.compile(r"\|&?\s*(?=e?grep\b)")
_INVERTS = re.compile(r"\s-\w*v|--invert")
_HEAD = re.compile(r"\|&?\s*head\b(?:\s+(?:-n\s*|--lines[= ]|-)(\d+))?")
_HEAD_LINES = 10


def _last_lines(source: Source, most: int = _END_BYTES) -> list[str]:
    """Return the lines of a stream's last bytes, without empty ones and what a runner of tasks puts before each."""
    size = min(source.byte_count, most)
    return _lines_of(bytes(source.read(source.byte_count - size, size)))


def _lines_of(data: bytes) -> list[str]:
    lines = (_PREFIX.sub("", clean_line(line)).rstrip() for line in data.split(b"\n"))
    return [line for line in lines if line]


@cache
def _good_ends(kind: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one["line"].rstrip()) for one in check_table()["ended_well"] if kind in one["kinds"])


def says_all_is_well(line: str, kinds: Iterable[str]) -> bool:
    """Return whether a line is what a check of some kinds says last if all is well."""
    return any(pattern.fullmatch(line) for kind in kinds for pattern in _good_ends(kind))


def failed_tasks(store: Reading, buffer: Buffer | None) -> frozenset[str]:
    """Return the names of tasks of which their runner says in an output that they failed."""
    if buffer is None or buffer.kind != "cmd":
        return frozenset()
    found = (pattern.fullmatch(line) for line in all_lines(store, buffer) for pattern in _failed_tasks())
    return frozenset(name for match in found if match for name in match.groups() if name)


def begun_tasks(store: Reading, buffer: Buffer | None) -> frozenset[str]:
    """Return the names of tasks that npm or pnpm say in an output that they run, as in ``> shop@1.0.0 test``."""
    lines = all_lines(store, buffer) if buffer is not None and buffer.kind == "cmd" else []
    return frozenset(found[1] for line in lines if (found := _BEGUN.match(line)))


_BEGUN = re.compile(r"> (?:@[\w./-]+|[\w.-]+)@\d\S* ([\w:.-]+)(?: |$)")


@cache
def _failed_tasks() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one["line"]) for one in check_table()["failed_task"])


def all_lines(store: Reading, buffer: Buffer) -> list[str]:
    """Return the lines of both streams, without what a runner of tasks puts before them; none of a large output."""
    if buffer.bytes > EXAMINED_BYTES:
        return []
    try:
        with store.open_text(Target(buffer, "out")) as out, store.open_text(Target(buffer, "err")) as err:
            return [line for one in (out, err) for line in _last_lines(one, EXAMINED_BYTES)]
    except SightlineError:
        return []


def first_and_last_lines(store: Reading, buffer: Buffer) -> list[str]:
    """Return the lines at both ends of both streams, without what a runner of tasks puts before them."""
    try:
        with store.open_text(Target(buffer, "out")) as out, store.open_text(Target(buffer, "err")) as err:
            begins = [bytes(one.read(0, min(one.byte_count, _MISUSED_BYTES))) for one in (out, err)]
            ends = [_last_lines(one)[-_END_LINES:] for one in (out, err)]
    except SightlineError:
        return []
    return [line for lines in (*map(_lines_of, begins), *ends) for line in lines]
