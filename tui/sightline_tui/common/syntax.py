"""Finds the syntax of an output and its parts: by pygments for files, JSON and diffs, else as a log.

It sees only a screenful at a time, so text that began far above may be taken for something else. It is loaded after
the first screen.
"""

import os
import re
import shlex
import time
from collections.abc import Iterable, Sequence

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Generic, Keyword, Name, Number, String, _TokenType
from pygments.util import ClassNotFound

from sightline.base.records import Buffer
from sightline_tui.common.line_painter import Spans

LINE_CHARACTERS = 1_000  # of a line are highlighted; the rest is drawn plain
LOG_CHARACTERS = 400
BLOCK_CHARACTERS = 32_000  # a larger block is not highlighted, because that would be felt
SLOW_SECONDS = 0.1  # a syntax that takes longer is given up, as some patterns run away on other text

_PARTS: dict[object, str] = {
    Keyword: "keyword",
    Keyword.Constant: "number",
    Name.Tag: "name",
    Name.Function: "name",
    Name.Class: "name",
    Name.Decorator: "name",
    Name.Attribute: "name",
    Name.Namespace: "name",
    Name.Builtin: "keyword",
    Name.Exception: "error",
    String: "string",
    Number: "number",
    Comment: "comment",
    Generic.Inserted: "added",
    Generic.Deleted: "removed",
    Generic.Heading: "heading",
    Generic.Subheading: "heading",
}

_READERS = {"cat", "head", "tail", "less", "more", "bat", "batcat", "sed", "nl", "tac"}
_DIFFS = re.compile(
    r"\s*(?:git (?:\S+ )*?(?:diff|show|format-patch)\b|git (?:(?!log )\S+ )*log (?:\S+ )*?-\w*p|diff\b|colordiff\b)"
)
_INTERPRETERS = {"sh": "bash", "bash": "bash", "zsh": "bash", "python": "python", "node": "javascript", "ruby": "ruby",
                 "perl": "perl"}  # fmt: skip


def syntax_of(buffer: Buffer, stream: str, sample: str) -> "LanguageSyntax | Log":
    """Return the syntax of an output.

    Args:
        buffer: the buffer's record; the name of a file tells its syntax.
        stream: the only stream that is shown; empty for all.
        sample: the beginning of its text.
    """
    lexer = _by_kind(buffer, stream) or _by_content(sample)
    return LanguageSyntax(lexer) if lexer is not None else Log()


def _by_kind(buffer: Buffer, stream: str) -> Lexer | None:
    if buffer.kind == "file":
        return _named(buffer.command)
    if buffer.kind == "tool":
        shown = buffer.streams.get(stream or "part.0")
        return _lexer("json") if shown is not None and shown.mime.startswith("application/json") else None
    return None if stream == "err" else _by_command(buffer.command)


def _by_command(command: str) -> Lexer | None:
    """Return the syntax of what a command prints if it shows a file or a diff."""
    if _DIFFS.match(command):
        return _lexer("diff")
    try:
        words = shlex.split(command[:500])
    except ValueError:  # a quote is not closed
        return None
    if not words or os.path.basename(words[0]) not in _READERS or {"|", ";", "&&"} & set(words):
        return None
    files = [word for word in words[1:] if "." in os.path.basename(word) and not word.startswith("-")]
    return _named(files[-1]) if len({os.path.splitext(file)[1] for file in files}) == 1 else None


_COUNTED = re.compile(r"\[[ \t]*[\d.]+(?:[-:/% ]|\][ \t]*[^\s,])")  # ``[12] cc a.c``, ``[ 40%] Linking``


def _by_content(sample: str) -> Lexer | None:
    text = sample.lstrip("\ufeff \t\r\n")
    if re.match(r'[{\[]\s*(?:["{\[\]}]|-?\d|true|false|null)', text) and not _COUNTED.match(text):
        return _lexer("json")
    if re.match(r"diff --git |Index: |--- \S.*\n\+\+\+ ", text):
        return _lexer("diff")
    if text.startswith("<?xml"):
        return _lexer("xml")
    if re.match(r"<!doctype html|<html", text, re.IGNORECASE):
        return _lexer("html")
    if shebang := re.match(r"#!\s*(\S+)(?:[ \t]+(\S+))?", text):
        program = shebang[2] or "" if shebang[1].endswith("/env") else shebang[1]
        return _lexer(_INTERPRETERS.get(os.path.basename(program).rstrip("0123456789."), ""))
    return None


def _named(path: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(os.path.basename(path))
    except ClassNotFound:
        return None


def _lexer(name: str) -> Lexer | None:
    return get_lexer_by_name(name) if name else None


class LanguageSyntax:
    """The syntax of a language that pygments has."""

    by_line = False

    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer
        self._too_slow = False

    def spans(self, texts: Sequence[str]) -> list[Spans]:
        """Return what stands where in each of some consecutive lines."""
        lines = [text[:LINE_CHARACTERS] for text in texts]
        found: list[list[tuple[int, int, str]]] = [[] for _ in lines]
        if self._too_slow or sum(map(len, lines)) > BLOCK_CHARACTERS:
            return list(found)
        began = time.perf_counter()
        line = column = 0
        for part, text in self._parts("\n".join(lines)):
            for at, piece in enumerate(text.split("\n")):
                if at:
                    line, column = line + 1, 0
                if part and piece:
                    found[line].append((column, column + len(piece), part))
                column += len(piece)
        self._too_slow = time.perf_counter() - began > SLOW_SECONDS
        return list(found)

    def _parts(self, text: str) -> Iterable[tuple[str, str]]:
        for _, token, value in self._lexer.get_tokens_unprocessed(text):
            yield _part_of(token), value


def _part_of(token: _TokenType | None) -> str:
    while token is not None:
        if token in _PARTS:
            return _PARTS[token]
        token = token.parent
    return ""


class Log:
    """The common syntax of logs, builds and tests: times, levels, places, quoted text, exceptions."""

    by_line = True

    _KNOWN = re.compile(
        r"(?P<time>^\W?(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?"
        r"|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\[ *\d{1,9}\.\d{1,9}\])\W?)"
        r"|(?P<error>^(?:[A-Za-z_]\w{0,60}\.){0,6}\w{0,60}(?:Error|Exception|Panic)\b"
        r"|(?<![\w-])(?<!\b0 )"
        r"(?:FATAL|CRITICAL|ERRORS?|ERR|PANIC|FAIL(?:ED|URES?|S)?|fatal|errors?|panicked|failed)(?![\w-]))"
        r"|(?P<warning>(?<![\w-])(?<!\b0 )(?:WARN(?:INGS?)?|[Ww]arnings?)(?![\w-]))"
        r"|(?P<keyword>\b(?:INFO|NOTICE)\b)"
        r"|(?P<comment>\b(?:DEBUG|TRACE|VERBOSE)\b)"
        r"|(?P<added>\b(?:PASS(?:ED)?|OK|SUCCESS)\b)"
        r"|(?P<heading>^Traceback \(most recent call last\):|^={3,}.*={3,}$|^-{3,} .* -{3,}$)"
        r'|(?P<string>"[^"]{0,200}")'
        r"|(?P<name>\bhttps?://[^\s\"'<>]{1,200}|(?<![\w./-])[\w./-]{1,160}\.\w{1,8}:\d{1,9}(?::\d{1,6})?)"
    )

    def spans(self, texts: Sequence[str]) -> list[Spans]:
        """Return what stands where in each of some lines."""
        return [
            [(*match.span(), match.lastgroup or "") for match in self._KNOWN.finditer(text[:LOG_CHARACTERS])]
            for text in texts
        ]
