"""Splits a query into programs and words as a POSIX shell would, and refuses by name whatever a shell would act on.

Nothing here knows what a program or a ref is.
"""

import os
import re
from typing import NamedTuple, NoReturn

from sightline.errors import QueryRefused

QUOTED = "\x00"  # stands in a word's mask for a character that was quoted; a query cannot hold a NUL itself

_OPERATORS = (
    ("&&", "`&&` (a list of commands)", "run one pipeline at a time"),
    ("||", "`||` (a list of commands)", "run one pipeline at a time; an alternative in a pattern is quoted: 'a|b'"),
    ("|&", "`|&` (stderr into the pipe)", "a query's stderr is in its reply anyway; join programs with `|`"),
    ("&>", "`&>` (redirection)", "a query writes nothing: its output is the reply"),
    (";", "`;` (a list of commands)", "run one pipeline at a time; quote it where it belongs to a script"),
    ("&", "`&` (background)", "a query runs in the foreground; quote it where it belongs to a pattern"),
    ("<<", "`<<` (a here-document)", "a query reads refs and its pipe"),
    ("<(", "`<(` (process substitution)", "a query reads refs and its pipe"),
    (">(", "`>(` (process substitution)", "a query reads refs and its pipe"),
    ("<", "`<` (redirection)", "name the ref as an operand: grep x @cmd_a1b2c3"),
    (">>", "`>>` (redirection)", "a query writes nothing: its output is the reply"),
    (">", "`>` (redirection)", "a query writes nothing, and its stderr is in the reply; quote it in a pattern"),
    ("(", "`(` (a subshell)", "quote it where it belongs to a pattern: 'a(b|c)'"),
    (")", "`)` (a subshell)", "quote it where it belongs to a pattern: 'a(b|c)'"),
    ("`", "a backtick (command substitution)", "single-quote it where it belongs to a pattern"),
    ("\n", "a newline (a list of commands)", "run one pipeline at a time"),
)
_GLOB = re.compile(r"[*?\[]")
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_AFTER_DOLLAR = re.compile(r"[A-Za-z0-9_@*#?!$-]")


class Word(NamedTuple):
    """One word of a program's arguments.

    Attributes:
        text: what the program would be given.
        mask: ``text`` with every quoted character replaced by ``QUOTED``.
        literal: whether part of it was in single quotes or behind a backslash, so that it cannot be a ref.
    """

    text: str
    mask: str
    literal: bool


def refuse(what: str, hint: str) -> NoReturn:
    """Raise QueryRefused, naming what a query cannot have."""
    raise QueryRefused(f"a query cannot have {what}", hint)


def split(text: str) -> list[list[Word]]:
    """The words of each program of a pipeline.

    Raises:
        QueryRefused: for anything but words, quotes and single ``|``; the message names it.
    """
    return _Splitter(text).split()


class _Splitter:
    """Reads the text once, left to right."""

    def __init__(self, text: str) -> None:
        if QUOTED in text:
            refuse("a NUL character", "programs cannot be given one")
        try:
            os.fsencode(text)
        except UnicodeEncodeError:
            refuse(
                "half a character (a lone surrogate)", "write the pattern as an escape, such as '\\xff' with grep -P"
            )
        self.text = text.strip(" \t\r\n")
        self.at = 0
        self.stages: list[list[Word]] = [[]]
        self.value: list[str] = []
        self.mask: list[str] = []
        self.literal = False
        self.in_word = False

    def split(self) -> list[list[Word]]:
        if not self.text:
            raise QueryRefused("the query is empty", "for example: grep FAILED @cmd_a1b2c3 | sort | uniq -c")
        while self.at < len(self.text):
            self._step(self.text[self.at])
        self._end_word()
        self._check_stage()
        return self.stages

    def _step(self, char: str) -> None:
        if char in " \t":
            self._end_word()
            self.at += 1
        elif char == "|" and self.text[self.at : self.at + 2] not in ("||", "|&"):
            self._end_word()
            self._check_stage()
            self.stages.append([])
            self.at += 1
        elif char == "'":
            self._single_quotes()
        elif char == '"':
            self._double_quotes()
        elif char == "\\":
            self._backslash()
        elif char == "$":
            self._dollar(in_quotes=False)
        else:
            self._bare(char)

    def _bare(self, char: str) -> None:
        for operator, what, hint in _OPERATORS:
            if self.text.startswith(operator, self.at):
                if char in "<>" and self.in_word and "".join(self.mask).isdigit():
                    what = f"`{''.join(self.value)}{operator}` (redirection)"
                refuse(what, hint)
        if char == "#" and not self.in_word:
            refuse("`#` (a comment)", "quote it where it belongs to a pattern: '#'")
        if char == "!":
            refuse("an unquoted `!` (history or negation)", "quote it: '!', or use grep -v")
        self._add(char, char)
        self.at += 1

    def _add(self, value: str, mask: str) -> None:
        self.in_word = True
        self.value.append(value)
        self.mask.append(mask)

    def _single_quotes(self) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            refuse("a single quote that is not closed", "close it, or put the word in double quotes")
        self.in_word = self.literal = True
        for char in self.text[self.at + 1 : end]:
            self._add(char, QUOTED)
        self.at = end + 1

    def _double_quotes(self) -> None:
        self.in_word = True
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return
            if char == "\\":
                self._backslash_in_quotes()
            elif char == "$":
                self._dollar(in_quotes=True)
            elif char == "`":
                refuse("a backtick (command substitution)", "single-quote it where it belongs to a pattern")
            else:
                self._add(char, QUOTED)
                self.at += 1
        refuse("a double quote that is not closed", "close it, or put the word in single quotes")

    def _backslash(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if not following:
            refuse("a backslash at its end", "single-quote it where it belongs to a pattern")
        if following != "\n":  # a line continued is a line
            self.literal = True
            self._add(following, QUOTED)
        self.at += 2

    def _backslash_in_quotes(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "\n":
            self.at += 2
        elif following and following in '$`"\\':
            self.literal = True
            self._add(following, QUOTED)
            self.at += 2
        else:
            self._add("\\", QUOTED)
            self.at += 1

    def _dollar(self, *, in_quotes: bool) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        hint = "single-quote it where it belongs to a pattern or a script: '$1'"
        if following == "(":
            refuse("`$(` (command substitution)", hint)
        if following == "{":
            refuse("`${` (a variable)", hint)
        if following and _AFTER_DOLLAR.match(following):
            refuse(f"`${following}` (a variable)", hint)
        if following and following in "'\"" and not in_quotes:
            refuse(f"`${following}` (a shell's own quoting)", "use plain single quotes, or double quotes")
        self._add("$", QUOTED if in_quotes else "$")
        self.at += 1

    def _end_word(self) -> None:
        if not self.in_word:
            return
        word = Word("".join(self.value), "".join(self.mask), self.literal)
        _check_word(word, first=not self.stages[-1])
        self.stages[-1].append(word)
        self.value, self.mask, self.literal, self.in_word = [], [], False, False

    def _check_stage(self) -> None:
        if not self.stages[-1]:
            refuse("a `|` without a program on each side", "for example: grep FAILED @cmd_a1b2c3 | sort | uniq -c")


def _check_word(word: Word, *, first: bool) -> None:
    shown = word.text if len(word.text) <= 40 else word.text[:39] + "…"
    if first and _ASSIGNMENT.match(word.mask):
        refuse(f"an assignment before a program: {shown}", "leave it out: a query's environment is fixed")
    if glob := _GLOB.search(word.mask):
        refuse(f"an unquoted `{glob[0]}` (a glob): {shown}", f"quote it: {quoted(word.text)}")
    if word.mask.startswith("~"):
        refuse(f"a leading `~` (a home folder): {shown}", f"quote it: {quoted(word.text)}")
    if _BRACES.search(word.mask):
        refuse(f"braces that a shell would expand: {shown}", f"quote it: {quoted(word.text)}")


def quoted(text: str) -> str:
    """The text as one single-quoted word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
