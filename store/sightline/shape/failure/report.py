"""Finds what failed in a JSON report of tests or a linter, by its shape: lists of objects with a status and a message.

If nothing is as bad as an error, what is of the worst severity there is made the command fail.

The words of statuses, and the keys of messages and names, are those of Playwright, Jest, Vitest, Mocha, pytest, RSpec,
Cucumber, ESLint, SARIF, mypy, Ruff, Bandit, Checkov, golangci-lint, Cargo, Go, Trivy, npm and Terraform; a tool with
such keys needs no rule of its own.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.shape import markers
from sightline.shape.clean import clean_line
from sightline.shape.failure.classes import is_frame, kind_of
from sightline.shape.failure.failure_scan import NamedFailure
from sightline.shape.failure.judge import CAUSE, Judge, LineVerdict, judged_part
from sightline.shape.failure.tallies import ToolTally
from sightline.shape.failure.tool_rules import Rule
from sightline.shape.json.path import parse_path, path_of_key
from sightline.shape.repeated_lines import Span
from sightline.shape.segments import Segment, Shaped
from sightline.shape.source import CutLine, Source

REPORT_BYTES = 8 << 20
"""The largest text that is read as a report, since all of it is parsed at once."""

_NEAR_DEPTH = 5  # of containers in which a list of objects is searched
_DEPTH = 60  # of containers within each other that are followed
_SEVERITIES = ("level", "@level", "severity", "Severity", "issue_severity")
"""Keys of what a linter finds, of which each counts by itself, as a test does only once."""

_STATUS = (
    "status",
    "outcome",
    "result",
    "state",
    "conclusion",
    "event",
    "Status",
)
_FALSE = ("ok", "success", "passed", "valid")
"""Keys whose value is false where something failed."""

_BAD_WORDS = """fail failed failure failing error errored errors broken fatal critical unexpected timedout timed_out
    crash crashed interrupted high blocker"""
_BAD = frozenset(_BAD_WORDS.split())
_WORSE = frozenset(("warning", "warn", "moderate", "medium"))
_LEAST = frozenset(("low", "minor", "note", "style", "convention"))
"""Severities that are bad where none is worse."""

_GOOD_WORDS = """pass passed passing ok success successful expected skip skipped pending todo disabled ignored info
    notice debug trace hint help none suggestion unknown flaky xfail xfailed"""
_GOOD = frozenset(_GOOD_WORDS.split()) | _WORSE | _LEAST
_BLAMES_WORDS = """errors error err failures failure failureMessages exception crash longrepr diagnostic diagnostics"""
_BLAMES = frozenset(_BLAMES_WORDS.split())
"""Keys of what is only there where something failed."""

_MESSAGE_KEYS = """rendered detail message @message Message error_message issue_text Text check_name longrepr err error
    failure text summary description stdout stderr output Title title"""
_MESSAGES = tuple(_MESSAGE_KEYS.split())
_NAME_KEYS = """fullName fullTitle full_description nodeid title Test VulnerabilityID ID ruleId check_id test_id
    assertion FromLinter code name summary"""
_NAMES = tuple(_NAME_KEYS.split())
_LISTED = ("message", "Text")
"""Keys of what a linter says that knows no status."""
_PLACE_KEYS = "filePath file_path filename Filename file path address Package Target file_name uri"
_PLACES = tuple(_PLACE_KEYS.split())
_LINES = ("line", "Line", "lineno", "row", "startLine", "line_start", "line_number")
_WHERE = ("location", "locations", "physicalLocation", "artifactLocation", "region", "range", "start", "spans", "Pos")
"""Keys of a value that only says where something is."""

_DEFINES = ("tool", "rules")
"""Keys of what describes a tool and its rules, with the severities that findings would have."""

_ECHOES = ("apply_errored", "provision_errored", "refresh_errored", "ephemeral_op_errored")
"""Types of Terraform's events that a diagnostic explains later."""

_TIMES, _LEVELS = frozenset(("time", "timestamp", "ts", "date", "@timestamp")), frozenset(("level", "severity", "lvl"))
_ERROR_LEVEL = 2  # a severity that is a number, as ESLint writes it
_NAME_CHARACTERS = 200
_PARTED = " › "  # between the parts of a name
_CLASSES = ("Error", "Exception", "Failure")
_GO_NOISE = ("=== ", "--- ", "PASS", "FAIL", "ok  ", "exit status", "# ")


REPORT = Rule("report", (), (), (), None)
"""The rule that stands for all reports."""


class _Found(NamedTuple):
    """What failed, why, where that stands, whether it is a linter's finding, and the last part of its name."""

    name: str = ""
    message: str = ""
    path: str = ""
    apart: bool = False
    last: str = ""


class Entry(NamedTuple):
    """Something that failed.

    Attributes:
        name: what failed, as far as the report says; may be empty.
        message: why, decoded.
        start: offset of the message's JSON string in bytes.
        end: offset behind it.
        line: number of the line on which it stands.
        begin: offset of that line.
        length: bytes of that line, without its newline.
        path: JSON path of the value with the message; empty if it needs quotes, or is on a line of its own.
        apart: whether a linter found it, so that it counts by itself.
    """

    name: str
    message: str
    start: int
    end: int
    line: int
    begin: int
    length: int
    path: str = ""
    apart: bool = False

    @property
    def shown(self) -> Span:
        """The bytes of the message in its line, (first, last) from 1."""
        return self.start - self.begin + 1, self.end - self.begin


class Report(NamedTuple):
    """A report.

    Attributes:
        entries: what failed, in order; at least one.
        longest: bytes of the longest line with an entry.
        by_lines: whether each line is a value of its own, and none an entry of a log.
    """

    entries: tuple[Entry, ...]
    longest: int
    by_lines: bool = False

    @property
    def named(self) -> list[NamedFailure]:
        """What failed, each once."""
        return [
            NamedFailure(REPORT, name, "") for name in dict.fromkeys(entry.name for entry in self.entries if entry.name)
        ]

    @property
    def tally(self) -> ToolTally:
        """How many failed, counted from what failed, since each tool states its totals in its own way."""
        noun = "problems" if all(entry.apart for entry in self.entries) else "failed"
        count = len({entry if entry.apart else entry.name or entry.message for entry in self.entries})
        return ToolTally(REPORT, {noun: count}, frozenset({noun}))


def read_report(source: Source) -> Report | None:
    """Read a report; None if the text is none, is too large, or says of nothing that it failed."""
    if source.byte_count > REPORT_BYTES:
        return None
    data = source.read(0, source.byte_count)
    values, by_lines = _values(data)
    if not _lists_objects(values):
        return None
    _take_default_levels(values)
    root: Any = values if by_lines or len(values) > 1 else values[0]
    path = "" if root is values else "$"
    found = _of_go(values)
    for bad in (_BAD, _BAD | _WORSE, _BAD | _WORSE | _LEAST):
        found = found or list(_failed(root, _Found(path=path), bad, blamed=False))
        if not found and bad is not _BAD:
            found = list(_located(root, path))
    entries = tuple(_placed(data, _once(found)))
    longest = max((entry.length for entry in entries), default=0)
    return Report(entries, longest, by_lines and not _is_log(values[0])) if entries else None


def _is_log(value: Any) -> bool:
    """Return whether a line of JSON is an entry of a log, which may say why in any of its fields."""
    return isinstance(value, dict) and not _TIMES.isdisjoint(value) and not _LEVELS.isdisjoint(value)


def _once(found: Sequence[_Found]) -> Iterator[_Found]:
    """Yield what failed, what a test says once only; it may be listed among all tests and among those that failed."""
    said: set[tuple[str, str]] = set()
    named = {one.message for one in found if one.name}
    for one in found:
        if one.apart or not ((one.name, one.message) in said or (not one.name and one.message in named)):
            said.add((one.name, one.message))
            yield one


def _values(data: bytes) -> tuple[list[Any], bool]:
    """Parse one value, or a value a line, between which other lines are passed over; and return whether none is."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    try:
        return [json.loads(text)], False
    except (ValueError, RecursionError):
        pass
    found = []
    passed = False
    for line in filter(str.strip, text.split("\n")):
        try:
            found.append(json.loads(line if line[:1] in ("{", "[") else ""))
        except (ValueError, RecursionError):
            passed = True
    return found, not passed


def _take_default_levels(values: list[Any]) -> None:
    """Give results in SARIF without a level that of their rule, as its specification says (2.1.0, 3.27.10)."""
    for run in values[0].get("runs", ()) if isinstance(values[0], dict) else ():
        try:
            rules = run["tool"]["driver"].get("rules", ())
            levels = {rule["id"]: rule.get("defaultConfiguration", {}).get("level", "warning") for rule in rules}
            for result in run["results"]:
                result.setdefault("level", levels.get(result.get("ruleId"), "warning"))
        except (AttributeError, KeyError, TypeError):
            continue  # no SARIF


def _lists_objects(values: list[Any]) -> bool:
    """Return whether a list of objects stands near the top, or objects by their names, as reports have them."""
    near: list[Any] = [values] if len(values) > 1 else values
    for _ in range(_NEAR_DEPTH):
        if any(isinstance(one, dict) for part in near if isinstance(part, list) for one in part):
            return True
        inner = [[*part.values()] if isinstance(part, dict) else part for part in near]
        if any(len(parts) > 1 and all(isinstance(one, dict) for one in parts) for parts in inner):
            return True
        near = [one for parts in inner for one in parts if isinstance(one, dict | list)]
    return False


def _status(entry: dict[str, Any], bad: frozenset[str]) -> bool | None:
    """Return whether an object says that it failed; None if it says nothing about that."""
    if any(entry.get(key) is False for key in _FALSE):
        return True
    said = False if entry.get("ok") is True else None
    for keys in (_STATUS, _SEVERITIES):  # what passed may have a severity, which it would have had otherwise
        for key, value in [(key, entry[key]) for key in keys if key in entry]:
            if type(value) is int and key == "severity":
                said = value >= (_ERROR_LEVEL if bad is _BAD else 1)
            elif isinstance(value, str) and value.lower() in bad:
                return True
            elif isinstance(value, str) and value.lower() in _GOOD:
                said = bool(said)
        if said is not None:
            break
    return said


def _failed(value: Any, of: _Found, bad: frozenset[str], *, blamed: bool, depth: int = 0) -> Iterator[_Found]:
    """Yield what failed in a value: the innermost messages of what has a bad status, or stands under a blaming key.

    A status in an object without a message is of what the object around it says.
    """
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict):
            value = [{**value[1], "status": value[0]}]  # as Mocha streams its events
        for at, one in enumerate(value):
            part = of._replace(path=of.path and f"{of.path}[{at}]")
            if blamed and isinstance(one, str) and one.strip():
                yield part._replace(message=one)
            elif isinstance(one, dict | list):
                yield from _failed(one, part, bad, blamed=blamed, depth=depth + 1)
        return
    status = _status(value, bad)
    if status is False or value.get("type") in _ECHOES:
        return
    blamed = blamed or bool(status)
    said = next((text for key in _MESSAGES if (text := _text(value.get(key)))), "")
    message = said if blamed else ""
    apart = of.apart or any(key in value for key in _SEVERITIES)
    of = of._replace(name=_named(of.name, value), apart=apart, last=_own_name(value) or of.last)
    inner = False
    for key, part in value.items():
        if isinstance(part, dict | list) and key not in _DEFINES:
            below = of._replace(path=_below(of.path, key))
            for found in _failed(part, below, bad, blamed=key in _BLAMES, depth=depth + 1):
                inner = True
                yield found if found.message else found._replace(message=said, path=of.path if said else found.path)
    if not inner and (message or (status and of.name)):
        yield of._replace(message=message)


def _located(value: Any, path: str, depth: int = 0) -> Iterator[_Found]:
    """Yield what says something of a file, as linters list it that know no status."""
    listed = value if isinstance(value, dict) else {}
    said = next((listed[key] for key in _LISTED if isinstance(listed.get(key), str)), "")
    if said and _place(listed)[0]:
        yield _Found(_named("", value), said, path, apart=True)
    elif isinstance(value, list) and depth < _DEPTH:
        for at, part in enumerate(value):
            yield from _located(part, path and f"{path}[{at}]", depth + 1)
    elif isinstance(value, dict) and depth < _DEPTH:
        for key, part in value.items():
            yield from _located(part, _below(path, key), depth + 1)


def _below(path: str, key: str) -> str:
    """Return the JSON path of a key; empty if it needs quotes."""
    segment = path_of_key(json.dumps(key).encode()) if path else ""
    return segment and path + segment


def _of_go(values: list[Any]) -> list[_Found]:
    """Return what failing tests, packages and builds print in Go's stream of events, which says only later that they
    failed."""
    events = [one for one in values if isinstance(one, dict) and "Action" in one]
    failed = {_unit(one) for one in events if one["Action"] in ("fail", "build-fail")}
    tests = {package for package, test in failed if test}
    builds = {str(one["FailedBuild"]) for one in events if "FailedBuild" in one}
    printed = [
        _Found(test or package, one["Output"])
        for one in events
        for package, test in (_unit(one),)
        if isinstance(one.get("Output"), str)
        and ((package, test) in failed or package in builds)
        and (test or package not in tests)
    ]
    return [one for one in printed if one.message.strip() and not one.message.strip().startswith(_GO_NOISE)]


def _unit(event: dict[str, Any]) -> tuple[str, str]:
    """Return the package, or the import path of a build, and the test that an event of Go's is about."""
    return str(event.get("Package") or event.get("ImportPath")), str(event.get("Test", ""))


def _named(name: str, entry: dict[str, Any]) -> str:
    """Return a name with what an object adds to it."""
    place, line = _place(entry) if not name else _own_place(entry)
    name = _with(name, place)
    is_file = bool(name) and _PARTED not in name and not name.rpartition(":")[2].isdigit()
    return _with(f"{name}:{line}" if line and is_file else name, _own_name(entry))


def _with(name: str, part: str) -> str:
    """Return a name with a further part, unless it has that already, or is long."""
    if not part or part.rpartition("/")[2] in name or len(name) >= _NAME_CHARACTERS:
        return name
    return part if not name or name in part else f"{name}{_PARTED}{part}"


def _own_name(entry: dict[str, Any]) -> str:
    """Return what an object itself names; not the class of an exception, which its message explains."""
    key = next((key for key in _NAMES if isinstance(entry.get(key), str)), "")
    return "" if not key or (key == "name" and entry[key].endswith(_CLASSES) and "message" in entry) else entry[key]


def _own_place(entry: dict[str, Any]) -> tuple[str, int]:
    """Return the file and the line, from 1, that an object itself names; empty and 0 if it names none."""
    file = next((entry[key] for key in _PLACES if isinstance(entry.get(key), str)), "")
    return file, next((entry[key] for key in _LINES if type(entry.get(key)) is int), 0)


def _place(entry: dict[str, Any], depth: int = 0) -> tuple[str, int]:
    """Return the file and the line that an object names, or the first value in it that says where something is."""
    file, line = _own_place(entry)
    for key in _WHERE if depth < _NEAR_DEPTH else ():
        part = entry.get(key)
        part = part[0] if isinstance(part, list) and part else part
        if isinstance(part, dict):
            further = _place(part, depth + 1)
            if all(further) and not line:
                return further  # a line is of the file that is named beside it
            file, line = file or further[0], line or further[1]
    return file, line


def _text(value: Any) -> str:
    """Return a message, also one within an object, as SARIF has it; empty for anything else."""
    if isinstance(value, dict):
        value = value.get("text")
    return value if isinstance(value, str) and value.strip() else ""


def _placed(data: bytes, found: Iterable[_Found]) -> Iterator[Entry]:
    """Yield what was found, in order, with the place of its message in the text."""
    at, line, counted = 0, 1, 0
    for name, message, path, apart, last in found:
        message = message or last
        forms = {json.dumps(message).encode(), json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")}
        forms |= {form.replace(b"/", b"\\/") for form in forms}
        places = [(place, form) for form in forms if (place := data.find(form, at)) >= 0]
        places = places or [(place, form) for form in forms if (place := data.find(form)) >= 0]
        if not places:
            continue
        start, form = min(places)
        if start < counted:
            line, counted = 1, 0
        line += data.count(b"\n", counted, start)
        at, counted = start + len(form), start
        begin = data.rfind(b"\n", 0, start) + 1
        end = data.find(b"\n", at)
        yield Entry(name, message, start, at, line, begin, (end if end >= 0 else len(data)) - begin, path, apart)


# what a report means for the lines of its text

_JSON_BEGINS = (b'"', b"{", b"[", b"}", b"]")


class ReportJudge(Judge):
    """Judges the lines of a report: those with a message of what failed are failures, and no others."""

    def __init__(self, report: Report, source: Source, other: Judge) -> None:
        """Take a report, its text, and the judge of lines that are no JSON, as those on standard error."""
        super().__init__(other.rules, other.prefix)
        self._other = other
        self.literals = (b'"', *other.literals)
        self._found: dict[bytes, tuple[LineVerdict, Span]] = {}
        for entry in report.entries:
            line = source.read(entry.begin, entry.length)
            verdict = LineVerdict(CAUSE, kind_of(entry.message), REPORT, None, entry.name, "", entry.name)
            self._found.setdefault(judged_part(line), (verdict, entry.shown))

    def verdict(self, data: bytes) -> LineVerdict | None:
        """Judge a raw line, or its judged part; None if it is no failure."""
        part = judged_part(data)
        if part.lstrip()[:1] not in _JSON_BEGINS:
            return self._other.verdict(part)
        found = self._found.get(part)
        return found[0] if found else None

    def telling_bytes(self, data: bytes, length: int = 0) -> Span | None:
        """Return the bytes of the line's first message, (first, last) from 1; None if it is no failure."""
        found = self._found.get(judged_part(data))
        return found[1] if found else self._other.telling_bytes(data, length) if self.verdict(data) else None


MESSAGE_BYTES = 600  # shown of one message
PATH_BYTES = 200  # for the JSON path in the marker, which is longer the fewer messages are left out
OF_A_KIND = 3  # messages of one kind that are shown before others get their turn


def write_report(report: Report, source: Source, room: int) -> tuple[Shaped, str]:
    """Write what failed, a message each, other kinds before more of a kind; for lines that are too long to be shown.

    Returns:
        The body, and the JSON path of the first message that it leaves out, or of all if it has each; empty if such a
        path needs quotes.
    """
    kinds: Counter[str] = Counter()
    order: list[tuple[int, int, Entry]] = []
    for at, entry in enumerate(report.entries):
        kind = kind_of(entry.message)
        order.append((kinds[kind] // OF_A_KIND, at, entry))
        kinds[kind] += 1
    chosen: list[tuple[int, Segment]] = []
    left = room - len(_rest(source, report.entries, ()).encode()) - PATH_BYTES * (source.line_count == 1)
    for _, at, entry in sorted(order, key=lambda one: one[:2]):
        segment = _segment(entry, source)
        if (size := len(segment.text.encode())) <= left:
            chosen.append((at, segment))
            left -= size
    taken = {at for at, _ in chosen}
    hidden = [entry for at, entry in enumerate(report.entries) if at not in taken]
    rest = Segment(_rest(source, hidden, [report.entries[at] for at in taken]))
    segments = (*(segment for _, segment in sorted(chosen, key=lambda one: one[0])), rest)
    shown = len({segment.first for segment in segments if segment.ref})
    elided = len({entry.line for entry in report.entries} - {segment.first for segment in segments})
    return Shaped(segments, shown, source.line_count, 0, 0, True, elided), hidden[0].path if hidden else "$"


def _rest(source: Source, hidden: Sequence[Entry], shown: Iterable[Entry]) -> str:
    """Return the marker for what is left out."""
    if not hidden and source.line_count == 1:
        return markers.clipping(source.ref, 1, source.byte_count - sum(one.end - one.start for one in shown)) + "\n"
    if not hidden:
        return markers.elision(source.ref, 1, source.line_count) + "\n"
    lines = [entry.line for entry in hidden]
    steps = zip(*(_steps(entry.path) for entry in hidden), strict=False) if source.line_count == 1 else ()
    path = "".join(step[0] for step in takewhile(lambda step: len({*step}) == 1, steps))
    path = path if len(path.encode()) <= PATH_BYTES else ""
    return markers.sample(source.ref, min(lines), max(lines), len(hidden), "failure", more=True, path=path) + "\n"


def _steps(path: str) -> list[str]:
    """Return the parts of a JSON path, which together are the path; nothing if it is empty."""
    return ["$", *(step.text for step in parse_path(path))] if path else []


def _segment(entry: Entry, source: Source) -> Segment:
    message = "\n".join(
        _without_further_frames(clean_line(line) for line in entry.message.strip().encode().split(b"\n"))
    )
    if len(message.encode()) > MESSAGE_BYTES:
        message = message.encode()[:MESSAGE_BYTES].decode(errors="ignore") + "…"
    name = "" if message.startswith(entry.name) or entry.name.endswith(message) else f"{entry.name}: "
    cut = CutLine(entry.line, entry.length, (entry.shown,))
    return Segment(f"{name}{message}\n", source.ref, entry.line, entry.line, True, (cut,))


def _without_further_frames(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a message, with the first frame of each stack alone."""
    is_inside = False
    for line in lines:
        if not (is_inside and is_frame(line)):
            yield line
        is_inside = is_frame(line)
