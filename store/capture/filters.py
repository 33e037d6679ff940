"""Finds where a command begins to filter its own output, so that what goes into the filters can be kept too.

Nothing of the command is taken apart and put together again: two redirections are added to it, and only where it is
certain that they change nothing. Which processes there are, how they are joined and how they end stays the shell's.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from sightline.store.capture.syntax import ARITHMETIC, OPERATOR, WORD, Token, Unclear, tokens_of

FILTERS = frozenset(("grep", "egrep", "fgrep", "rg", "head", "tail", "sed", "awk", "cut", "wc", "sort", "uniq", "tr"))

_CONTROL = frozenset(("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"))
_RESERVED = _CONTROL | {"select", "function", "{", "}", "[[", "]]", "!", "time", "coproc"}
_REDIRECTIONS = frozenset(("<", ">", ">>", "<<", "<<-", "<<<", ">&", "<&", "&>", "&>>", "<>", ">|"))
_READING = frozenset(("<", "<<", "<<-", "<<<", "<&", "<>"))
_SEPARATORS = frozenset((";", "&", "&&", "||", "\n"))
_DESCRIPTOR = re.compile(r"\d+|\{[A-Za-z_]\w*\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_NOT_PLAIN = frozenset("'\"\\$`*?[]{}~<>")
_LOOKED_AT = re.compile(r"BASH_COMMAND|BASH_EXECUTION_STRING|\bDEBUG\b|\balias|\bset\s[^;&|\n]*(?:-\w*v|verbose)")
"""What can see the text of a command, or come between it and what it does."""

_HARDENING = re.compile(
    r"\bset\s[^;&|\n]*-\w*u|nounset|failglob|\b(?:readonly|declare|typeset|source|eval)\b|(?:^|[;&|(){}\n])\s*\.\s"
)
"""What can make a shell give up a command whose variables it cannot expand or set, before it redirects anything."""

_MAY_FAIL = re.compile(r"\$(?:\{(?!\w+\})|\(\()|\b(?:UID|EUID|PPID|BASHOPTS|SHELLOPTS|BASH_VERSINFO)\+?=")
"""Expansions that may fail in any shell, and variables that cannot be set."""


class Split(NamedTuple):
    """Where a command's trailing filters begin. Positions are offsets in the command's text.

    Attributes:
        left: the text of the left side: the stages of the last pipeline before its trailing filters.
        words: the words of the left side where it is one simple command; empty where it is not.
        write_at: where a redirection of what the left side writes can stand.
        read_at: where a redirection of what the first filter reads can stand, behind ``write_at``.
        sure: whether the command is so plain that it cannot be wrong; else the shell is to check its syntax first.
    """

    left: str
    words: tuple[str, ...]
    write_at: int
    read_at: int
    sure: bool

    def redirected(self, command: str, write_to: str, read_from: str) -> str:
        """The command with its left side writing to a file and its first filter reading another.

        Args:
            command: the text that was split.
            write_to: path, as a word of the shell; read_from likewise.
        """
        before, between, after = (
            command[: self.write_at],
            command[self.write_at : self.read_at],
            command[self.read_at :],
        )
        return f"{before} >{write_to} {between} <{read_from} {after}"


def find_split(command: str, *, bash: bool = True, hardened: bool = False) -> Split | None:
    """Where the trailing filters of a command begin; None where there are none, or where it is not certain.

    Those of the last pipeline count, which must be the end of the command and not in the background. Its first stage
    has no pipe to read, so it is no filter: of ``grep -r x | sort | head`` the left side is ``grep -r x``.

    Args:
        command: the command line.
        bash: whether bash will read it, and not another shell.
        hardened: whether the shell's settings may come from elsewhere, such as an exported ``SHELLOPTS``.
    """
    if "|" not in command or _LOOKED_AT.search(command):
        return None
    try:
        tokens = tokens_of(command)
        parser = _Parser(tokens.tokens)
        stages = parser.last_pipeline()
    except Unclear:
        return None
    if not (bash or (tokens.posix and parser.posix)):
        return None
    first = len(stages)
    while first > 1 and stages[first - 1].is_filter and stages[first - 1].joined == "|":
        first -= 1
    if first == len(stages) or stages[first].reads_elsewhere:
        return None
    left = stages[first - 1]
    hardened = hardened or not bash or bool(_HARDENING.search(command))
    if not (left.redirects_surely(hardened) and stages[first].redirects_surely(hardened)):
        return None
    return Split(
        left=command[stages[0].start : left.end],
        words=left.words if first == 1 else (),
        write_at=left.redirect_at,
        read_at=stages[first].redirect_at,
        sure=tokens.simple and parser.simple,
    )


class _Stage(NamedTuple):
    """One stage of a pipeline.

    Attributes:
        joined: the operator before it, empty for the first.
        start: where it begins; end, behind it.
        redirect_at: where a redirection can stand that the stage's own ones come after.
        words: of a simple command, redirections left out; empty for a compound one.
        is_compound: whether it is a loop, a group or the like.
        reads_elsewhere: whether a redirection of its own takes its standard input away from the pipe.
    """

    joined: str
    start: int
    end: int
    redirect_at: int
    words: tuple[str, ...] = ()
    is_compound: bool = False
    reads_elsewhere: bool = False

    @property
    def is_filter(self) -> bool:
        return program_of(self.words) in FILTERS

    def redirects_surely(self, hardened: bool) -> bool:
        """Whether nothing can keep the shell from performing its redirections.

        Those of a simple command come after its words are expanded, and where that fails they never come. Whoever
        waited for them at the other end would wait for ever.
        """
        if self.is_compound:
            return True
        text = " ".join(self.words)
        if hardened and (set(text) & {"$", "`"} or _ASSIGNMENT.match(text)):
            return False
        return bool(_without_assignments(self.words)) and not _MAY_FAIL.search(text)


def _without_assignments(words: tuple[str, ...]) -> tuple[str, ...]:
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    return words


def program_of(words: tuple[str, ...]) -> str:
    """The name of the program that a simple command runs, without its path; empty where its text does not tell."""
    rest = _without_assignments(words)
    if rest[:1] == ("command",):
        rest = rest[1:]
    name = rest[0].removeprefix("\\") if rest else ""
    return "" if set(name) & _NOT_PLAIN else name.rpartition("/")[2]


class _Parser:
    """Finds the pipelines of a command whose syntax is right; of one whose is not it may find anything.

    Attributes:
        simple: whether it met simple commands only.
        posix: whether it met nothing that only bash knows.
    """

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self._tokens = tokens
        self._at = 0
        self.simple = True
        self.posix = True

    def last_pipeline(self) -> list[_Stage]:
        """The stages of the pipeline that ends the command. Raises Unclear."""
        last, separator = self._list(())
        if self._peek() or separator not in ("", ";", "\n"):
            raise Unclear
        return last

    def _peek(self, offset: int = 0) -> str:
        at = self._at + offset
        return self._tokens[at].text if at < len(self._tokens) else ""

    def _token(self) -> Token:
        if self._at >= len(self._tokens):
            raise Unclear
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._token()
        self._at += 1
        return token

    def _expect(self, text: str) -> Token:
        if self._token().text != text:
            raise Unclear
        return self._take()

    def _newlines(self) -> None:
        while self._peek() == "\n":
            self._at += 1

    def _list(self, closing: Collection[str]) -> tuple[list[_Stage], str]:
        """A list of pipelines, up to a word or operator that closes it: the last one, and the separator behind it."""
        last: list[_Stage] = []
        separator = ""
        self._newlines()
        while self._peek() and self._peek() not in closing:
            last = self._pipeline()
            separator = self._take().text if self._peek() in _SEPARATORS else ""
            self._newlines()
            if not separator:
                break
        if not last or separator in ("&&", "||"):
            raise Unclear
        return last, separator

    def _pipeline(self) -> list[_Stage]:
        while self._peek() in ("!", "time"):
            if self._take().text == "time" and self._peek() == "-p":
                self._at += 1
        stages = [self._stage("")]
        while self._peek() in ("|", "|&"):
            joined = self._take().text
            self._newlines()
            stages.append(self._stage(joined))
        return stages

    def _stage(self, joined: str) -> _Stage:
        token = self._token()
        if token.kind == ARITHMETIC or token.text in ("(", "{", "if", "for", "select", "while", "until", "[["):
            self.simple = False
            end = self._compound()
            return self._redirected(_Stage(joined, token.start, end, end, is_compound=True))
        if token.text in _RESERVED:
            raise Unclear
        return self._simple_command(joined)

    def _compound(self) -> int:
        """Step over a compound command; where it ends, its redirections left out."""
        token = self._take()
        if token.kind == ARITHMETIC:
            return token.end
        match token.text:
            case "(":
                return self._closed(")")
            case "{":
                return self._closed("}")
            case "if":
                self._closed("then")
                while (closing := self._closing(("elif", "else", "fi"))).text != "fi":
                    if closing.text == "elif":
                        self._closed("then")
                return closing.end
            case "[[":
                self.posix = False
                while (token := self._take()).text != "]]":
                    pass
                return token.end
            case "while" | "until":
                self._closed("do")
                return self._closed("done")
        self.posix &= token.text != "select"
        while self._token().text not in (";", "\n"):
            self._at += 1
        self._at += 1
        self._newlines()
        self._expect("do")
        return self._closed("done")

    def _closed(self, closing: str) -> int:
        return self._closing((closing,)).end

    def _closing(self, closing: Collection[str]) -> Token:
        self._list(closing)
        if self._peek() not in closing:
            raise Unclear
        return self._take()

    def _redirected(self, stage: _Stage) -> _Stage:
        """A compound command with the redirections behind it, which is all that may stand there."""
        end = stage.end
        while (redirection := self._redirection()) is not None:
            end = redirection.end
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        if token and token.kind == WORD and token.text not in _RESERVED:
            raise Unclear
        return stage._replace(end=end)

    def _redirection(self) -> "_Redirection | None":
        """Step over one redirection, where one begins here."""
        if self._at >= len(self._tokens):
            return None
        token = self._tokens[self._at]
        number = ""
        if token.kind == WORD and _DESCRIPTOR.fullmatch(token.text) and self._at + 1 < len(self._tokens):
            following = self._tokens[self._at + 1]
            if following.start == token.end and following.text in _REDIRECTIONS:
                number, token = token.text, following
                self._at += 1
        if token.kind != OPERATOR or token.text not in _REDIRECTIONS:
            return None
        self._at += 1
        target = self._take()
        if target.kind != WORD:
            raise Unclear
        return _Redirection(target.end, token.text in _READING and number in ("", "0"))

    def _simple_command(self, joined: str) -> _Stage:
        start = end = self._token().start
        words: list[str] = []
        reads_elsewhere = redirects_first = False
        redirect_at = start
        while self._at < len(self._tokens):
            if (redirection := self._redirection()) is not None:
                end = redirection.end
                reads_elsewhere |= redirection.reads
                redirects_first |= redirect_at == start
                continue
            token = self._tokens[self._at]
            if token.text == "(" and token.start == end and words and words[-1].endswith("="):
                end = self._array()
                continue
            if token.kind == ARITHMETIC or token.text == "(":
                raise Unclear  # a function is defined, or a pattern has parentheses
            if token.kind == OPERATOR:
                break
            self._at += 1
            words.append(token.text)
            end = token.end
            # Behind the program's name, which may be an alias for several commands; but before all other redirections.
            if redirect_at == start and not redirects_first and not _ASSIGNMENT.match(token.text):
                redirect_at = end
        if end == start:
            raise Unclear
        return _Stage(joined, start, end, redirect_at, tuple(words), reads_elsewhere=reads_elsewhere)

    def _array(self) -> int:
        """Step over the parentheses of ``name=(…)``."""
        self.simple = self.posix = False
        self._expect("(")
        while (token := self._take()).text != ")":
            if token.kind != WORD and token.text != "\n":
                raise Unclear
        return token.end


class _Redirection(NamedTuple):
    """Where a redirection ends, and whether it is of standard input."""

    end: int
    reads: bool
