"""What looks like an error where no rule knows the tool: classes of lines, from the most specific one down.

A line is judged only where it holds one of a few literal stems, which are found without looking at lines at all.
"""

import re
from typing import NamedTuple


class ErrorClass(NamedTuple):
    """One way in which lines look like errors.

    Attributes:
        name: what it is called.
        pattern: is found in the cleaned text of such a line.
    """

    name: str
    pattern: re.Pattern[str]


def _class(name: str, *patterns: str) -> ErrorClass:
    return ErrorClass(name, re.compile("|".join(patterns)))


_LOCATION = r"(?:\.\w{1,10}(?::\d+|\(\d+)|\b[Mm]akefile:\d+|\bline \d+)"

STEMS = (
    b"error",
    b"fail",
    b"exception",
    b"panic",
    b"traceback",
    b"fatal",
    b"assert",
    b"exit",
    b"core dumped",
    b"segmentation",
    b"killed",
    b"denied",
    b"no s",  # such file; space left
    b"undefined",
    b"expect",
    b"mismatch",
    b"exceed",
    b"not ",  # found; ok; cannot, could not
    b"unable to",
    b"refused",
    b"conflict",
    b"abort",
    b"rejected",
    b"timed out",
    b"e       ",  # pytest's mark before what an assertion says
    b"\xe2\x9c",  # begins the crosses, and the ticks that the patterns sort out
)
"""Lower-case literals; a line without any of them is not judged."""

CLASSES = (
    _class(
        "exception",
        r"^E\s{2,}\S",
        r"(?<![\w$])(?:[a-z][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Failure)\b(?:\s\[\w+\])?(?::|$)",
        r"\bException in thread\b",
        r"\bAssertion\b.*\bfailed\b",
        r"\bassertion failed\b",
        r"\bpanicked at\b",
        r"^panic: ",
        r"\bundefined reference\b",
    ),
    _class(
        "located",
        r"\berror(?:\[\w+\]|\sTS\d+)",
        rf"^(?!.*\*\*\* )(?=.*{_LOCATION})(?=.*\b(?:[Ee]rror|ERROR|[Ff]atal|FATAL|FAIL(?:ED|URE)?)\b)",
    ),
    _class(
        "failed",
        r"\bTraceback \(",
        r"\bpanic:",
        r"\bFAIL(?:ED|URES?|S)?\b",
        r"\b(?:[Ff]atal|FATAL|ERROR)\b",
        r"\bnot ok\b",
        r"[✕✖✗✘❌]",
        r"^\W{0,4}(?:fail(?:ed|ure)?|error|err|fatal) ?:",
        r"\b[Ee]rror:",
        r"\bSegmentation fault\b",
        r"\bcore dumped\b",
        r"\bcommand not found\b",
        r"\bNo such file or directory\b",
        r"\b[Pp]ermission denied\b",
        r"\bNo space left on device\b",
        r"^CONFLICT \(",
    ),
    _class(
        "exit",
        r"\bexit(?:ed|ing)?(?: with)?(?: (?:code|status|value))?[:= ]+-?[1-9]",
        r"\b[Nn]on-zero exit\b",
        r"\*\*\* .*\bError \d",
        r"\bKilled\b",
    ),
    _class(
        "word",
        r"(?i)\b(?:errors?|fail(?:ed|s|ures?|ing)|exceptions?|panic(?:ked)?|undefined)\b",
        r"\b(?:not found|no such|killed|abort(?:ed|ing)|rejected|refused|timed out|(?:access|permission) denied)\b",
        r"\b(?:cannot|could not|unable to) |\bunexpected |\bexpecting\b|\bmismatch|\bexceed(?:s|ed)\b",
        r"\bexpected\b.*\b(?:got|but|found|actual|received)\b",
        r"^\s*(?:expected|actual|received)\b.*:",
    ),
)
"""The classes, most specific first; a line belongs to the first that matches."""

SEARCH = "error|fail|exception|panic|traceback|fatal|assert"
"""A search that lists most of what the classes find, for whoever wants to see the rest."""

_NONE_OF_THEM = re.compile(
    r"\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:errors?|failures?|failed|exceptions?)\b"
    r"|\b(?:errors?|failures?|failed|failing|exceptions?)\s?[:=]\s?0\b(?!\.)",
    re.IGNORECASE,
)
_FRAME = re.compile(r"^\s*(?:at\s+\S+.*[:(]|#\d+\s|\d+:\s+(?:0x[0-9a-f]+ )?|File \")")
_PASSED = re.compile(
    r"^\s*(?:✓|✔|√|ok\b|PASS(?:ED)?\b|--- PASS\b|\[\s*(?:OK|PASSED)\s*\])|\b(?:PASSED|ok)\s*(?:[\[(][^)\]]*[)\]])?\s*$"
)


def class_of(text: str) -> int:
    """The place of the class that a cleaned line belongs to, 0 for the most specific; -1 for none."""
    rank = _first_match(text)
    if rank < 0 or _PASSED.search(text) or _FRAME.match(text):
        return -1
    return _first_match(_NONE_OF_THEM.sub("", text)) if _NONE_OF_THEM.search(text) else rank


def _first_match(text: str) -> int:
    for rank, error_class in enumerate(CLASSES):
        if error_class.pattern.search(text):
            return rank
    return -1


_VARYING = re.compile(
    r"0x[0-9a-fA-F]+|\b[0-9a-f]{7,}\b|'[^']*'|\"[^\"]*\"|`[^`]*`|‘[^’]*’|[\w.@+~-]*/[^\s:,;()]+|[\w-]+\.\w{1,5}(?=[:(])|\d+"
)
KIND_CHARS = 120  # of a line's text; what tells messages apart stands early


def kind_of(text: str) -> str:
    """The text with names, paths and numbers masked: lines of one kind say the same of different things."""
    return _VARYING.sub("#", text.strip()[: 2 * KIND_CHARS])[:KIND_CHARS]
