"""Refs in a shell command become paths, where a shell would see a whole word: unquoted, or double-quoted.

Reads the command as a shell does, as far as quoting goes; single quotes, ``\\@``, comments and here-documents are left.
"""

import re
import shlex
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sightline.errors import BadRef
from sightline.refs import parse_ref
from sightline.store import Target

_LIKE_A_REF = re.compile(
    r"@(?:(?:cmd|file|tool)_[0-9a-f]{4}|ack_[0-9a-f]{8}\b|sha256:[0-9a-f]{6}|last(?:~\d|[.:]\w|$))"
)
_OPERATORS = ";|&()<>\n"
_HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s;|&()<>'\"]+))")


class Word(NamedTuple):
    """A word of a command.

    Attributes:
        start: where it begins in the command; end, where it ends.
        operator: the operator right before it, such as ``|`` or ``>``; empty after another word.
    """

    start: int
    end: int
    operator: str


class Substituted(NamedTuple):
    """A command whose refs are paths.

    Attributes:
        command: the command to run.
        targets: what the refs name, each once, in order.
    """

    command: str
    targets: tuple[Target, ...]


def substitute(command: str, resolve: Callable[[str], Target], path: Callable[[Target], str]) -> Substituted:
    """Put paths in the place of refs.

    Raises:
        BadRef: a word looks like a ref and is none, is written to, or names lines.
        UnknownRef, ExpiredRef, AmbiguousRef: as `Store.resolve`.
    """
    pieces, targets, done = [], list[Target](), 0
    for word in words(command):
        text = command[word.start : word.end]
        bare = text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text
        if not _LIKE_A_REF.match(bare):
            continue
        target = _target(bare, word.operator, resolve)
        if target not in targets:
            targets.append(target)
        pieces += [command[done : word.start], shlex.quote(path(target))]
        done = word.end
    return Substituted("".join([*pieces, command[done:]]), tuple(targets))


def substitute_words(
    argv: list[str], resolve: Callable[[str], Target], path: Callable[[Target], str]
) -> tuple[list[str], tuple[Target, ...]]:
    """The same without a shell: each argument is a word, and ``\\@`` begins plain text. Raises as `substitute`."""
    replaced, targets = [], list[Target]()
    for word in argv:
        if _LIKE_A_REF.match(word):
            targets.append(_target(word, "", resolve))
            word = path(targets[-1])
        elif word.startswith("\\") and _LIKE_A_REF.match(word, 1):
            word = word[1:]
        replaced.append(word)
    return replaced, tuple(targets)


def _target(text: str, operator: str, resolve: Callable[[str], Target]) -> Target:
    if text.startswith("@ack_"):
        raise BadRef(
            f"{text} confirms a command and is no part of one",
            f"to confirm, run {text} alone; for the plain text write \\{text}",
        )
    try:
        parsed = parse_ref(text)
    except BadRef as error:
        raise BadRef(f"{text} looks like a ref and is none", f"for the plain text write \\{text}") from error
    if ">" in operator:
        raise BadRef(f"{text} cannot be written to", "what is captured never changes: write to a file of your own")
    if parsed.first:
        ref = text.partition(":")[0]
        last = parsed.last or "$"
        raise BadRef(
            f"{text}: a command takes whole streams", f"for these lines: sed -n '{parsed.first},{last}p' {ref}"
        )
    return resolve(text)


def words(command: str) -> Iterator[Word]:
    """The words of a command, those of command substitutions in it too, in order of where they begin."""
    return iter(sorted(_Scanner(command).scan(0, "")[1]))


class _Scanner:
    """Walks through a command once; words are collected whole."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._heredocs: list[tuple[bool, str]] = []

    def scan(self, at: int, closing: str) -> tuple[int, list[Word]]:
        """From a position to the closing character (or the end): the position after it, and the words on the way."""
        found: list[Word] = []
        start, operator = -1, ""
        while at < len(self._text):
            char = self._text[at]
            if char in " \t" or char in _OPERATORS or char == closing:
                if start >= 0:
                    found.append(Word(start, at, operator))
                    start, operator = -1, ""
                if char == closing:
                    return at + 1, found
                at, operator = self._separator(at, operator, found)
            elif char == "#" and start < 0:
                at = self._line_end(at)
            else:
                start = at if start < 0 else start
                at = self._part(at, found)
        if start >= 0:
            found.append(Word(start, at, operator))
        return at, found

    def _separator(self, at: int, operator: str, found: list[Word]) -> tuple[int, str]:
        char = self._text[at]
        if char in " \t":
            return at + 1, operator
        if char == "\n":
            return self._after_heredocs(at + 1), ""
        if char == "(":
            if end := self._arithmetic(at):
                return end, ""
            at, inner = self.scan(at + 1, ")")
            found += inner
            return at, ""
        heredoc = _HEREDOC.match(self._text, at)
        if heredoc and not self._text.startswith("<<<", at):
            word = next(group for group in heredoc.groups()[1:] if group is not None)
            self._heredocs.append((bool(heredoc[1]), word))
            return heredoc.end(), ""
        end = at
        while end < len(self._text) and self._text[end] in ";|&<>":
            end += 1
        return max(end, at + 1), self._text[at:end]

    def _part(self, at: int, found: list[Word]) -> int:
        """Step over one part of a word: a quoted text, a substitution, an escaped or a plain character."""
        char = self._text[at]
        if char == "\\":
            return min(at + 2, len(self._text))
        if char == "'":
            return self._after(self._text.find("'", at + 1))
        if char == '"':
            return self._double_quoted(at + 1, found)
        if char == "`":
            return self._inner(at + 1, "`", found)
        if self._text.startswith("$(", at):
            if end := self._arithmetic(at + 1):
                return end
            return self._inner(at + 2, ")", found)
        if self._text.startswith("${", at):
            return self._after(self._text.find("}", at))
        if self._text.startswith("$'", at):
            return self._ansi_quoted(at + 2)
        return at + 1

    def _arithmetic(self, at: int) -> int:
        """The position after ``((…))``, in which ``<<`` is a shift and nothing is a word; 0 where none begins here."""
        if not self._text.startswith("((", at):
            return 0
        depth = 0
        for position in range(at, len(self._text)):
            depth += {"(": 1, ")": -1}.get(self._text[position], 0)
            if depth == 1 and position > at and self._text[position] == ")":
                return position + 2 if self._text.startswith(")", position + 1) else 0
        return 0

    def _inner(self, at: int, closing: str, found: list[Word]) -> int:
        at, inner = self.scan(at, closing)
        found += inner
        return at

    def _double_quoted(self, at: int, found: list[Word]) -> int:
        while at < len(self._text) and self._text[at] != '"':
            at = self._part(at, found) if self._text[at] in "\\`$" and not self._text.startswith("$'", at) else at + 1
        return min(at + 1, len(self._text))

    def _ansi_quoted(self, at: int) -> int:
        while at < len(self._text) and self._text[at] != "'":
            at += 2 if self._text[at] == "\\" else 1
        return min(at + 1, len(self._text))

    def _after(self, position: int) -> int:
        return len(self._text) if position < 0 else position + 1

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end

    def _after_heredocs(self, at: int) -> int:
        for indented, delimiter in self._heredocs:
            while at < len(self._text):
                end = self._line_end(at)
                line = self._text[at:end]
                at = min(end + 1, len(self._text))
                if (line.lstrip("\t") if indented else line) == delimiter:
                    break
        self._heredocs.clear()
        return at
