"""Recognises errors where no rule knows the tool: classes of lines, the most specific one first.

A line is judged only if it has one of a few literal stems, which are found without splitting the text into lines.
"""

import re
from collections.abc import Sequence
from functools import cache

from sightline.light.named_tuple import NamedTuple
from sightline.shape.failure.tool_rules import LatePattern


class Way(NamedTuple):
    """One form of lines that look like errors.

    Attributes:
        has: literals; a line without any of them is not matched against the pattern.
        pattern: found in the cleaned text of such a line.
    """

    has: tuple[str, ...]
    pattern: LatePattern


class ErrorClass(NamedTuple):
    """Forms that are equally specific.

    Attributes:
        name: name of the class.
        ways: the forms; a line in one of them belongs to the class.
        any_case: whether the forms match in any case; their literals are then lower-case.
    """

    name: str
    ways: tuple[Way, ...]
    any_case: bool

    def has(self, text: str) -> bool:
        """Return whether a line belongs to this class, or to a more specific one."""
        if self.any_case:
            text = text.lower()
        for way in self.ways:
            for literal in way.has:
                if literal in text:
                    if way.pattern.search(text):
                        return True
                    break
        return False


def _class(name: str, *ways: tuple[str, str], any_case: bool = False) -> ErrorClass:
    return ErrorClass(name, tuple(Way(tuple(has.split("|")), LatePattern(text)) for has, text in ways), any_case)


_NO_WARNING = r"^(?!.*\bwarn(?:ing)?\b).*"
_NO_NAME, _NO_NAME_AFTER = (
    r"(?<![\w./@-])",
    r"(?!\w|/\S*\.\w|[.-]\w|\s*[=<>~]=|\s+v?\d+\.\d)|\b(?:error|failure|exception)s?:",
)
"""Around a word, so that it is no part of the name of a file, a package or an option."""

_LOCATION = r"(?:\.\w{1,10}(?::\d+|\(\d+)|\b[Mm]akefile:\d+|\bline \d+)"

STEMS = (
    b"error",
    b"fail",
    b"exception",
    b"panic",
    b"traceback",
    b"bug: ",
    b"oops: ",
    b"fatal",
    b"assert",
    b"exit",
    b"core dumped",
    b"went wrong",
    b"out of memory",
    b"corrupt",
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
    b"missing",
    b"n't ",  # doesn't exist, couldn't
    b"invalid",
    b"unknown ",
    b"unrecogni",
    b"unsupported",
    b"incompatible",
    b" require",
    b"requested ",
    b"needs ",
    b"wants ",
    b"found ",  # no such thing found for; found 0 of
    b"deadline",
    b"too many ",
    b"limit",
    b"quota",
    b"terminated",
    b"e       ",  # pytest's mark before the text of an assertion
    b"critical",
    b"severe",
    b"differ",
    b"crash",
    b"\xe2\x9c",  # begins crosses, and ticks, which the patterns exclude
)
"""Lower-case literals; a line without any of them is not judged."""

CLASSES = (
    _class(
        "exception",
        ("E |E\t", r"^E\s{2,}\S"),
        (
            "Error|Exception|Failure",
            r"(?<![\w$])[A-Z]\w*(?:Error|Exception(?:Group)?|Failure)\b(?:\s\[\w+\])?(?::|$)",
        ),
        ("Exception in thread", r"\bException in thread\b"),
        ("Assertion", r"\bAssertion\b(?:(?!\bAssertion\b).)*\bfailed\b"),
        ("assertion failed", r"\bassertion failed\b"),
        ("panicked at", r"\bpanicked at\b"),
        ("panic: ", r"^panic: "),
        ("BUG: |Oops: |Kernel panic", r"^(?:\[[ \d.]+\] )?(?:BUG: |(?:Internal error: )?Oops: |Kernel panic)"),
        ("undefined reference", r"\bundefined reference\b"),
        ("UNEXPECTED", r"\bUNEXPECTED[- ](?:FAIL|PASS|ERROR|CRASH|TIMEOUT|STATUS|NOTRUN|OK)"),
        ("PROCESS-CRASH", r"\bPROCESS-CRASH\b"),
    ),
    _class(
        "located",
        ("error[|error ", r"\berror(?:\[\w+\]|\sTS\d+)"),
        ("failed ", r"\bfailed (?:on|at|in) line \d"),
        (
            "rror|ERROR|atal|FATAL|FAIL",
            rf"^(?!.*\*\*\* )(?=.*{_LOCATION})(?=.*\b(?:[Ee]rror|ERROR|[Ff]atal|FATAL|FAIL(?:ED|URE)?)\b)",
        ),
    ),
    _class(
        "failed",
        ("Traceback (", r"\bTraceback \("),
        ("panic:", r"\bpanic:"),
        ("FAIL", r"\bFAIL(?:ED|URES?|S)?\b"),
        ("atal|FATAL|ERROR", r"\b(?:[Ff]atal|FATAL|ERROR)\b"),
        ("CRITICAL|SEVERE", r"^(?:\S+ ){0,3}[\[(<*]{0,2}(?:CRITICAL|SEVERE)\b[\])>*]{0,2}(?:[: ]|$)(?! *\|)"),
        ("not ok", r"\bnot ok\b"),
        ("✕|✖|✗|✘|❌", r"[✕✖✗✘❌]"),
        ("fail|err|fatal", r"^\W{0,4}(?:fail(?:ed|ure)?|error|err|fatal) ?:"),
        ("rror:", r"\b[Ee]rror:"),
        ("Segmentation fault", r"\bSegmentation fault\b"),
        ("core dumped", r"\bcore dumped\b"),
        ("command not found", r"\bcommand not found\b"),
        ("No such file or directory", r"\bNo such file or directory\b"),
        ("ermission denied", r"\b[Pp]ermission denied\b"),
        ("No space left on device", r"\bNo space left on device\b"),
        ("CONFLICT (", r"^CONFLICT \("),
    ),
    _class(
        "exit",
        ("exit", r"\bexit(?:ed|ing)?(?: with)?(?: (?:code|status|value))?[:= ]+-?[1-9]"),
        ("on-zero exit", r"\b[Nn]on-zero exit\b"),
        ("*** ", r"^(?:(?!\*\*\* ).)*\*\*\* .*\bError \d"),
        ("Killed", r"\bKilled\b"),
    ),
    _class(
        "word",
        (
            "error|fail|exception|panic|undefined",
            rf"{_NO_NAME}(?:errors?|fail(?:ed|s|ures?|ing)|exceptions?|panic(?:ked)?|undefined){_NO_NAME_AFTER}",
        ),
        (
            "not found|no such|killed|abort|rejected|refused|timed out|denied",
            r"\b(?:not found|no such|killed|abort(?:ed|ing)|rejected|refused|timed out|(?:access|permission) denied)\b",
        ),
        (
            "cannot |could not |unable to |unexpected |expecting|mismatch|exceed",
            r"\b(?:cannot|could not|unable to) |\bunexpected |\bexpecting\b|\bmismatch|\bexceed(?:s|ed)\b",
        ),
        (
            "not |n't ",
            rf"{_NO_WARNING}(?:\b(?:does not|doesn't|do not|don't) (?:exist|match|have|contain)\b"
            r"|\b(?:can't|couldn't|won't) |\bnot (?:set|valid|installed|allowed|supported|permitted|available)\b)",
        ),
        (
            "missing|invalid|unknown |unrecogni|unsupported|incompatible|conflict",
            rf"{_NO_WARNING}(?:\b(?:is|are|was) missing\b|\bmissing \S|: missing\b|\binvalid \S|\bunknown \w+\b"
            r"|\bunrecogni[sz]ed\b|\bunsupported\b|\bincompatible\b|\bconflict(?:s|ing)? with\b)",
        ),
        (
            "found |requires |deadline|quota|terminated|denied|crashed|provides requested",
            rf"{_NO_WARNING}(?:\bcrashed\b|\bnothing provides requested\b"
            r"|\bno \S+ found\b|\bfound (?:0|no) |\brequires (?:(?!\brequires ).)*\b(?:but|which|not)\b"
            r"|\bdeadline exceeded\b|\bquota exceeded\b|\bterminated by\b|\bdenied\b)",
        ),
        ("differ", rf"{_NO_WARNING}\b(?:differs?|differing|differences? (?:in|between|at|found))\b"),
        (
            "requested |required |needs |wants ",
            r"\b(?:requested|required|needs|wants) (?:(?!\b(?:requested|required|needs|wants) ).)*\bbut\b",
        ),
        (
            "too many |toomany|limit",
            r"\btoo ?many (?:requests|open files|connections|levels|retries)\b"
            r"|\b(?:reached|hit|exceed(?:ed|s)?) (?:your|the|its|an?)\b[^.]{0,40}\blimit\b|\blimit (?:was )?exceeded\b",
        ),
        ("went wrong|out of memory|corrupt", r"\bwent wrong\b|\bout of memory\b|\bcorrupt(?:ed|ion)?\b"),
        ("expected", r"\bexpected\b(?:(?!\bexpected\b).)*\b(?:got|but|found|actual|received)\b"),
        ("expected|actual|received", r"^\s*(?:expected|actual|received)\b.*:"),
        any_case=True,
    ),
)
"""The classes, most specific first; a line belongs to the first one that matches."""

SEARCH = "error|fail|exception|panic|traceback|fatal|assert"
"""A search that finds most of what the classes find, for a reader who wants to see the rest."""

_NONE_OF_THEM = re.compile(
    r"\b(?:0|no|none|zero|without(?: any)?) (?:\w+ )?(?:errors?|failures?|failed|exceptions?)\b"
    r"|\b(?:errors?|failures?|failed|failing|exceptions?)(?: \w+)?\s*(?:[:=]\s*)?0(?:\.0+)?%?(?![\w.%])"
    r"|\b(?:error|failure) (?:summary|count|rate)\b"
    r"|\berrors?\b[^:=]{0,30}[:=](?:[^:=]{0,30}=)?\s*[-+]?\d+\.\d*(?:e[-+]?\d+)?\.?(?=\s*(?:[,;|)\]]|$))"
    r"|\bnumber of [^:=]{0,40}[:=]\s*0(?![\w.%])|\bexception (?:trapping|handling|handler)\b"
    r"|\bthe above exception(?:, another exception occurred| was the direct cause of the following exception)"
    r"|\b(?:known|expected)[- ](?:intermittent[- ])?fail(?:ed|ures?|s)?\b"
    r"|\becho [^;|&]{0,200};",  # of a script that is shown
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"^\s*(?:at\s+\S.*[:(]"
    r"|#\d+\s+(?:0x[0-9a-f]+ |\{main\}|\[internal |\S+ ?\()"  # from gdb, sanitizers, PHP, Dart
    r"|\d+:\s+(?:0x[0-9a-f]+ |<.*::|[\w$]+::)"  # from Rust
    r"|\d+# .*\b(?:in|at) /"  # from Boost
    r"|File \""
    r"|\.\.\. \d+ (?:more|common frames)"
    r"|from \S+:\d+:in "  # from Ruby
    r"|(?:\S+:\d+|\[C\]): in (?:function|upvalue|local|method|main chunk)"  # from Lua
    r"|/\S+\.go:\d+ \+0x)"
)
_PASSED = re.compile(
    r"^\s*(?:✓|✔|√|ok\b|PASS(?:ED)?\b|--- PASS\b|SUCCESS:|\[\s*(?:OK|PASS(?:ED)?)\s*\])"
    r"|^(?!\s*not ok\b).*(?<!not )\b(?:PASSED|ok)\s*(?:[\[(][^)\]]*[)\]]|\d[\d.]* ?m?s)?\s*$"
    r"|\bTEST-(?:PASS|KNOWN[\w-]{0,40})(?= \|)"
    r"|\|\s*PASS(?:ED)?\s*\||\bOK,\s(?:passed|proved)\b|(?:\.\.\.?|…|:)\s*(?:passed|none)\s*$"
)


_FAILED = 2
_WORD = len(CLASSES) - 1
_TOLD_CHARS = 600
"""Of a line's two ends, in which a message says what it is; between them, as among the arguments of a command, a word
is less telling."""

_CALM = re.compile(r"\W{0,8}(?:INFO|DEBUG|TRACE|NOTICE)\b")
"""Begins an entry of a log that its own program takes for no error."""

_UNEXPECTED = re.compile(r"\bUNEXPECTED[- ]|\bPROCESS-CRASH\b")
_STRICT = re.compile(
    rb"(?i)warnings? (?:(?:being|are|were) )?treated as errors?|treat(?:ing|ed)? (?:all )?warnings? as errors?"
    rb"|\b(?:fail(?:ing|ed)|abort(?:ing|ed)) (?:due to|because of|with|on) (?:\d+ )?warnings?|too many warnings"
    rb"|-Werror specified|warnings? as errors? (?:is|are) (?:on|enabled|set)"
)
_WARNING = re.compile(r"(?i)\bwarn(?:ing)?\b(?!s? (?:as|treated|are|were|being|in strict)\b)")


def warnings_fail(data: bytes) -> bool:
    """Return whether an output, without colours, says that warnings made it fail."""
    return b"arning" in data and bool(_STRICT.search(data))


def is_warning(text: str) -> bool:
    """Return whether a cleaned line is a warning."""
    return bool(_WARNING.search(text))


def is_frame(text: str) -> bool:
    """Return whether a cleaned line is a frame of a stack."""
    return bool(_FRAME.match(text))


def frames_in(texts: Sequence[str]) -> set[int]:
    """Return which of some lines are frames of stacks, or source that is shown below one."""
    found: set[int] = set()
    for at, text in enumerate(texts):
        above = texts[at - 1] if at - 1 in found else None
        is_source = above is not None and text.strip() and indent_of(text) > indent_of(above)
        if is_frame(text) or is_source:
            found.add(at)
    return found


def indent_of(text: str) -> int:
    """Return the number of blanks at the beginning of a line."""
    return len(text) - len(text.lstrip())


_NONE_HAS = ("0", "no ", "none ", "zero ", "without", "error", "exception ", "echo ", "known", "expected")
_PASSED_HAS = ("TEST-KNOWN", "ok", "OK", "PASS", "✓", "✔", "√", "passed", "none", "SUCCESS")
_OPTION = re.compile(r"^\s*-{1,2}[A-Za-z][\w-]*(?:[ =,<\[].*?)?(?<!\s)\s{2,}\S")
"""The description of an option, as usage has it."""


def class_of(text: str) -> int:
    """Return the index of a cleaned line's class, 0 for the most specific one; -1 for none."""
    rank = _first_match(text)
    if 0 <= rank < _WORD and len(text) > _TOLD_CHARS and text[:1] != "{":
        ends = f"{text[: _TOLD_CHARS // 2]} … {text[-_TOLD_CHARS // 2 :]}"
        rank = rank if 0 <= _first_match(ends) < _WORD else _WORD
    if 0 <= rank < _FAILED and _CALM.match(text) and not _UNEXPECTED.search(text):
        rank = _FAILED
    if rank < 0 or _FRAME.match(text) or (any(one in text for one in _PASSED_HAS) and _PASSED.search(text)):
        return -1
    if rank == _WORD and _OPTION.match(text):
        return -1
    lowered = text.lower()
    if any(one in lowered for one in _NONE_HAS) and _NONE_OF_THEM.search(text):
        return _first_match(_NONE_OF_THEM.sub("", text))
    return rank


def _first_match(text: str) -> int:
    for rank, error_class in enumerate(CLASSES):
        if error_class.has(text):
            return rank
    return -1


_PATH, _NAME = r"[\w.@+~-]*/[^\s:,;()]+|", r"[\w-]+\.\w{1,5}(?=[:(])|"


@cache
def _varying(path: bool, name: bool) -> re.Pattern[str]:
    """Return a pattern for what differs between lines that say the same; few texts have paths or points."""
    return re.compile(
        r"0x[0-9a-fA-F]+|\b[0-9a-f]{7,}\b|'[^']*'|\"[^\"]*\"|`[^`]*`|‘[^’]*’|"
        rf"{_PATH if path else ''}{_NAME if name else ''}\d+"
    )


KIND_CHARS = 120  # of a line's text; what tells messages apart comes early


def kind_of(text: str) -> str:
    """Return the text with names, paths and numbers masked; lines of one kind say the same of different things."""
    text = text.strip()[: 2 * KIND_CHARS]
    return _varying("/" in text, "." in text).sub("#", text)[:KIND_CHARS]
