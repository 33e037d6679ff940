"""Tells the levels of lines: error, warning or debug, as loggers, compilers and build tools write them. Pure.

A line has the level of the first word that names one. Indented lines after it, such as a stack, belong to it.
"""

import re
from collections.abc import Collection, Iterable

from sightline.shape.clean import without_colour

ERROR, WARN, INFO, DEBUG = "error", "warn", "info", "debug"

STEMS = (
    b"err",
    b"warn",
    b"fatal",
    b"crit",
    b"panic",
    b"severe",
    b"fail",
    b"exception",
    b"traceback",
    b"debug",
    b"trace",
)
"""Lower-case literals: a line that has another level than INFO has one of them."""

MOST_SPANS = 200_000
"""Runs of lines of one level that are kept, of all levels but INFO together, which takes some 30 MB."""

_HEAD_BYTES = 400
_NAMES = {
    ERROR: "emerg|fatal|critical|crit|severe|panic|error|err",
    WARN: "warning|warn",
    INFO: "notice|info",
    DEBUG: "debug|trace|verbose",
}
_FORMS = {
    ERROR: r"^(?:[A-Za-z_]\w{0,60}\.){0,6}\w{0,60}(?:Error|Exception)\b(?=:|$)|^Traceback \(most recent|"
    r"\bFAIL(?:ED|URES?)?\b(?!-|\s{0,2}[:=]\s{0,2}0\b)|^npm ERR!",
    WARN: r"\b[A-Z]\w{0,60}Warning: ",
    INFO: "",
    DEBUG: "",
}
"""What else names a level: an exception of Python's or Java's, a test that failed."""


def _level_pattern(names: str, forms: str) -> str:
    """Match the names in capitals anywhere, and in small letters where only a level stands."""
    return "|".join(
        filter(
            None,
            (
                rf"(?<!\b0 )\b(?:{names.upper()})S?\b(?!-|\s{{0,2}}[:=]\s{{0,2}}0\b)",
                rf"(?i:\b(?:level|lvl|severity)[\"']?\s{{0,2}}[=:]\s{{0,2}}[\"']?(?:{names})\b|\[\s{{0,2}}(?:{names})\s{{0,2}}\])",
                rf"(?i:(?:^|[\s:])(?:{names})(?:\[[\w-]{{1,30}}\])?:(?=\s|$))",
                rf"^npm (?:{names})\b",
                forms,
            ),
        )
    )


_LEVEL = re.compile(
    "|".join(f"(?P<{level}>{_level_pattern(names, _FORMS[level])})" for level, names in _NAMES.items()).encode()
)


_WORST = "ERROR|ERR|FATAL|CRITICAL|CRIT|SEVERE|PANIC|EMERGENCY|EMERG|ALERT"
_OTHERS = "WARNING|WARN|NOTICE|INFO|DEBUG|TRACE|FINE"
_ENTRY = re.compile(
    rf"^(?:[^\s=]{{1,80}}\s+){{0,5}}?[\[(<|]?(?:(?P<worst>{_WORST})|{_OTHERS})[\])>|:]{{0,2}}(?=\s|$)"
    r"|(?i:(?:\b(?:level|lvl|severity)[\"']?\s{0,2}[=:]\s{0,2}[\"']?|^(?:\S{1,40}\s+){0,3}?\[)"
    rf"(?:(?P<valued>{_WORST})|{_OTHERS})(?:[\"'\]]|\b))"
    r"|^(?:(?P<klog>[EF])|[IW])\d{4} \d\d:"
    r"|^[a-z]{3,8}\d? {0,6}:(?:(?P<kernel>emerg|alert|crit|err)|warn|notice|info|debug) {0,4}: "
)
"""The level of a log's entry, among its first words, as the value of a field, in brackets, as the letter of klog,
or behind a facility, as of ``dmesg -x``."""

LEAST_ENTRIES = 5
LOG_PERCENT = 60
"""Lines of a text that are entries with a level, or begin with a time, at least, if it is a log."""


def is_log(texts: Iterable[str], prefix: "re.Pattern[str] | None") -> bool:
    """Return whether some lines are those of a log, most of which have a level or a time at their beginning."""
    lines = [text for text in texts if text.strip()]
    entries = 0
    for text in lines:
        found = prefix.match(text) if prefix else None
        entries += bool(_TIMED.match(text) or _ENTRY.search(text[found.end() if found else 0 :]))
    return entries >= LEAST_ENTRIES and 100 * entries >= LOG_PERCENT * len(lines)


_TIMED = re.compile(r"\W{0,2}(?:\d{4}[-/]\d\d[-/]\d\d[T ]|[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d\b")


def is_error_entry(text: str) -> bool:
    """Return whether a log's line, without what stands before each of its lines, has the level error or a worse one."""
    found = _ENTRY.search(text[:_HEAD_BYTES])
    return bool(found and (found.lastgroup))


def level_of(line: bytes) -> str:
    """Return the level that a line names first, in its first 400 bytes; empty if it names none."""
    found = _LEVEL.search(without_colour(line[:_HEAD_BYTES]))
    return found.lastgroup or "" if found else ""


class LineLevels:
    """The levels of consecutive lines, taken in block by block. Lines without one count as INFO.

    Attributes:
        lines: number of lines that were taken.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.lines = 0
        self._spans: dict[str, list[tuple[int, int]]] = {ERROR: [], WARN: [], DEBUG: []}
        self._open = ""  # the level of the last line, if it named one or belongs to one that did

    @property
    def is_full(self) -> bool:
        """Whether no more is kept; then nothing is known of the lines after those that were taken."""
        return sum(map(len, self._spans.values())) >= MOST_SPANS

    def take(self, data: bytes, named: Iterable[tuple[int, bytes]], failing: Collection[int]) -> None:
        """Take the next lines.

        Args:
            data: the lines, each with its newline.
            named: (number, line) of those with one of `STEMS`, in order.
            failing: numbers of those that are known to tell of a failure.
        """
        own = {number: level for number, line in named if (level := level_of(line))}
        own |= dict.fromkeys(failing, ERROR)
        first, after = self.lines + 1, self.lines + data.count(b"\n") + 1
        self.lines = after - 1
        if not own and not self._open:
            return
        lines = data.split(b"\n")
        starts = sorted({first, *own})
        for start, stop in zip(starts, [*starts[1:], after], strict=True):
            level = own.get(start, self._open)
            end = start if start in own else start - 1
            while level and end + 1 < stop and _continues(lines[end + 1 - first]):
                end += 1
            self._add(level, start, end)
            self._open = level if end + 1 == stop else ""

    def _add(self, level: str, first: int, last: int) -> None:
        spans = self._spans.get(level)
        if spans is None or last < first:
            return
        if spans and spans[-1][1] + 1 == first:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))

    def count(self, least: str) -> int:
        """Return how many of the lines have a level or a worse one."""
        return sum(last - first + 1 for first, last in self.spans(least))

    def spans(self, least: str) -> list[tuple[int, int]]:
        """Return the lines with a level or a worse one as ascending (first, last), inclusive.

        Args:
            least: `ERROR`, `WARN` or `INFO`.
        """
        if least == INFO:
            shown, at = [], 1
            for first, last in (*self._spans[DEBUG], (self.lines + 1, self.lines + 1)):
                shown += [(at, first - 1)] if first > at else []
                at = last + 1
            return shown
        return sorted(self._spans[ERROR] + (self._spans[WARN] if least == WARN else []))


def _continues(line: bytes) -> bool:
    return line[:1] in (b" ", b"\t") and bool(line.strip())
