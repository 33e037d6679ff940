"""Finds what failed in a JSON report of tests or a linter, by its shape: lists of objects with a status and a message.

The words of statuses, and the keys of messages and names, are those of Playwright, Jest, Vitest, Mocha, pytest, ESLint,
SARIF, mypy, Ruff, Cargo, Go, Trivy, npm and Terraform; a tool with such keys needs no rule of its own.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.shape import markers
from sightline.shape.clean import clean_line
from sightline.shape.failure.classes import kind_of
from sightline.shape.failure.failure_scan import NamedFailure
from sightline.shape.failure.judge import CAUSE, Judge, LineVerdict, judged_part
from sightline.shape.failure.tallies import ToolTally
from sightline.shape.failure.tool_rules import Rule
from sightline.shape.repeated_lines import Span
from sightline.shape.segments import Segment, Shaped
from sightline.shape.source import CutLine, Source

REPORT_BYTES = 8 << 20
"""The largest text that is read as a report, since all of it is parsed at once."""

_NEAR_DEPTH = 5  # of containers in which a list of objects is searched
_DEPTH = 60  # of containers within each other that are followed
_STATUS = (
    "status",
    "outcome",
    "result",
    "state",
    "conclusion",
    "Action",
    "level",
    "@level",
    "severity",
    "Severity",
    "ok",
)
_BAD_WORDS = """fail failed failure failing error errored errors broken fatal critical unexpected timedout timed_out
    crash crashed interrupted high blocker"""
_BAD = frozenset(_BAD_WORDS.split())
_GOOD_WORDS = """pass passed passing ok success successful expected skip skipped pending todo disabled ignored warning
    warn info note notice debug low moderate medium minor trace hint help none suggestion unknown flaky xfail xfailed"""
_GOOD = frozenset(_GOOD_WORDS.split())
_BLAMES_WORDS = """errors error err failures failure failureMessages exception crash longrepr diagnostic diagnostics"""
_BLAMES = frozenset(_BLAMES_WORDS.split())
"""Keys of what is only there where something failed."""

_MESSAGES = ("rendered", "message", "@message", "longrepr", "text", "summary", "description", "Title", "title")
_NAMES = ("fullName", "fullTitle", "nodeid", "title", "Test", "VulnerabilityID", "ruleId", "code", "name")
_PLACES = ("filePath", "filename", "file", "path", "address", "Package")
_ERROR_LEVEL = 2  # a severity that is a number, as ESLint writes it
_NAME_CHARACTERS = 200
_GO_NOISE = ("=== ", "--- ", "PASS", "FAIL", "ok  ", "exit status")


REPORT = Rule("report", (), (), (), None)
"""The rule that stands for all reports."""


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
    """

    name: str
    message: str
    start: int
    end: int
    line: int
    begin: int
    length: int

    @property
    def shown(self) -> Span:
        """The bytes of the message in its line, (first, last) from 1."""
        return self.start - self.begin + 1, self.end - self.begin


class Report(NamedTuple):
    """A report.

    Attributes:
        entries: what failed, in order; at least one.
        longest: bytes of the longest line with an entry.
    """

    entries: tuple[Entry, ...]
    longest: int

    @property
    def named(self) -> list[NamedFailure]:
        """What failed, each once."""
        return [
            NamedFailure(REPORT, name, "") for name in dict.fromkeys(entry.name for entry in self.entries if entry.name)
        ]

    @property
    def tally(self) -> ToolTally:
        """How many failed, counted from what failed, since each tool states its totals in its own way."""
        count = len({entry.name or entry.message for entry in self.entries})
        return ToolTally(REPORT, {"failed": count}, frozenset({"failed"}))


def read_report(source: Source) -> Report | None:
    """Read a report; None if the text is none, is too large, or says of nothing that it failed."""
    if source.byte_count > REPORT_BYTES:
        return None
    data = source.read(0, source.byte_count)
    values = _values(data)
    if not _lists_objects(values):
        return None
    found = _of_go(values) or list(_failed(values, "", blamed=False)) or list(_located(values))
    entries = tuple(_placed(data, dict.fromkeys(found)))
    return Report(entries, max(entry.length for entry in entries)) if entries else None


def _values(data: bytes) -> list[Any]:
    """Parse one value, or a value a line, between which other lines are passed over."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        pass
    found = []
    for line in text.split("\n"):
        if line[:1] in ("{", "["):
            try:
                found.append(json.loads(line))
            except (ValueError, RecursionError):
                continue
    return found


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


def _status(entry: dict[str, Any]) -> bool | None:
    """Return whether an object says that it failed; None if it says nothing about that."""
    said = None
    for key in _STATUS:
        value = entry.get(key)
        if key == "ok" and isinstance(value, bool):
            said = not value
        elif key == "severity" and type(value) is int:
            said = value >= _ERROR_LEVEL
        elif isinstance(value, str) and value.lower() in _BAD:
            said = True
        elif isinstance(value, str) and value.lower() in _GOOD:
            said = bool(said)
        if said:
            return True
    return said


_Found = tuple[str, str]
"""What failed, and why."""


def _failed(value: Any, name: str, *, blamed: bool, depth: int = 0) -> Iterator[_Found]:
    """Yield what failed in a value: the innermost messages of what has a bad status, or stands under a blaming key."""
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for one in value:
            if blamed and isinstance(one, str) and one.strip():
                yield name, one
            elif isinstance(one, dict | list):
                yield from _failed(one, name, blamed=blamed, depth=depth + 1)
        return
    status = _status(value)
    if status is False:
        return
    blamed = blamed or bool(status)
    message = next((text for key in _MESSAGES if (text := _text(value.get(key)))), "") if blamed else ""
    name = _named(name, value)
    inner = False
    for key, part in value.items():
        if isinstance(part, dict | list):
            for found in _failed(part, name, blamed=key in _BLAMES, depth=depth + 1):
                inner = True
                yield found
    if not inner and (message or status):
        yield name, message or name


def _located(values: Any, depth: int = 0) -> Iterator[_Found]:
    """Yield what says something of a file, as linters list it that know no status."""
    for value in values if depth < _DEPTH else ():
        if isinstance(value, dict) and isinstance(value.get("message"), str) and any(key in value for key in _PLACES):
            yield _named("", value), value["message"]
        elif isinstance(value, dict | list):
            yield from _located(value.values() if isinstance(value, dict) else value, depth + 1)


def _of_go(values: list[Any]) -> list[_Found]:
    """Return what failing tests print in Go's stream of events, which says only at their end that they failed."""
    events = [one for one in values if isinstance(one, dict) and "Action" in one]
    failed = {(one.get("Package"), one["Test"]) for one in events if one["Action"] == "fail" and "Test" in one}
    printed = [
        (str(one["Test"]), one["Output"])
        for one in events
        if isinstance(one.get("Output"), str) and (one.get("Package"), one.get("Test")) in failed
    ]
    return [one for one in printed if one[1].strip() and not one[1].strip().startswith(_GO_NOISE)]


def _named(name: str, entry: dict[str, Any]) -> str:
    """Return a name with what an object adds to it."""
    for keys in (_PLACES, _NAMES):
        own = next((entry[key] for key in keys if isinstance(entry.get(key), str)), "")
        if own and own not in name and len(name) < _NAME_CHARACTERS:
            name = own if not name or name in own else f"{name} › {own}"
    line = entry.get("line", entry.get("lineno"))
    return f"{name}:{line}" if type(line) is int and name else name


def _text(value: Any) -> str:
    """Return a message, also one within an object, as SARIF has it; empty for anything else."""
    if isinstance(value, dict):
        value = value.get("text")
    return value if isinstance(value, str) and value.strip() else ""


def _placed(data: bytes, found: Iterable[_Found]) -> Iterator[Entry]:
    """Yield what was found, in order, with the place of its message in the text."""
    at, line, counted = 0, 1, 0
    for name, message in found:
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
        yield Entry(name, message, start, at, line, begin, (end if end >= 0 else len(data)) - begin)


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
OF_A_KIND = 3  # messages of one kind that are shown before others get their turn


def write_report(report: Report, source: Source, room: int) -> Shaped:
    """Write what failed, a message each, other kinds before more of a kind; for lines that are too long to be shown."""
    kinds: Counter[str] = Counter()
    order: list[tuple[int, int, Entry]] = []
    for at, entry in enumerate(report.entries):
        kind = kind_of(entry.message)
        order.append((kinds[kind] // OF_A_KIND, at, entry))
        kinds[kind] += 1
    chosen: list[tuple[int, Segment]] = []
    left = room - len(_rest(source, len(report.entries)).encode())
    for _, at, entry in sorted(order, key=lambda one: one[:2]):
        segment = _segment(entry, source)
        if (size := len(segment.text.encode())) <= left:
            chosen.append((at, segment))
            left -= size
    hidden = len(report.entries) - len(chosen)
    segments = (*(segment for _, segment in sorted(chosen, key=lambda one: one[0])), Segment(_rest(source, hidden)))
    shown = len({segment.first for segment in segments if segment.ref})
    elided = len({entry.line for entry in report.entries} - {segment.first for segment in segments})
    return Shaped(segments, shown, source.line_count, 0, 0, True, elided)


def _rest(source: Source, hidden: int) -> str:
    """Return the marker for what is left out."""
    count = source.line_count
    if hidden:
        return markers.sample(source.ref, 1, count, hidden, "failure", more=True) + "\n"
    return markers.elision(source.ref, 1, count) + "\n"


def _segment(entry: Entry, source: Source) -> Segment:
    message = "\n".join(clean_line(line) for line in entry.message.strip().encode().split(b"\n"))
    if len(message.encode()) > MESSAGE_BYTES:
        message = message.encode()[:MESSAGE_BYTES].decode(errors="ignore") + "…"
    name = "" if message.startswith(entry.name) or entry.name.endswith(message) else f"{entry.name}: "
    cut = CutLine(entry.line, entry.length, (entry.shown,))
    return Segment(f"{name}{message}\n", source.ref, entry.line, entry.line, True, (cut,))
