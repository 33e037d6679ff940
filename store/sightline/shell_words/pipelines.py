"""Finds the pipelines of a shell command, their stages and redirections; if something is unclear, it does not guess."""

from sightline.light.late_pattern import late_pattern
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Collection
from sightline.shell_words import LONGEST_COMMAND
from sightline.shell_words.lexer import ARITHMETIC, OPERATOR, WORD, Token, Unclear

_CONTROL = frozenset(("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"))
_RESERVED = _CONTROL | {"select", "function", "{", "}", "[[", "]]", "!", "time", "coproc"}
_REDIRECTIONS = frozenset(("<", ">", ">>", "<<", "<<-", "<<<", ">&", "<&", "&>", "&>>", "<>", ">|"))
_READING = frozenset(("<", "<<", "<<-", "<<<", "<&", "<>"))
_SEPARATORS = frozenset((";", "&", "&&", "||", "\n"))
_CASE_ENDS = (";;", ";&", ";;&")
_PLAIN = {ord(one): None for one in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,=- "}
_DESCRIPTOR = late_pattern(r"\d+|\{[A-Za-z_]\w*\}")
_ASSIGNMENT = late_pattern(r"[A-Za-z_]\w*\+?=")
_NOT_PLAIN = frozenset("'\"\\$`*?[]{}~<>")

_MAY_FAIL = late_pattern(r"\$(?:\{(?!\w+\})|\(\()|\b(?:UID|EUID|PPID|BASHOPTS|SHELLOPTS|BASH_VERSINFO)\+?=")


def assigns(word: str) -> bool:
    """Return whether a word begins as one that sets a variable."""
    return "=" in word and bool(_ASSIGNMENT.match(word))


def may_fail(text: str) -> bool:
    """Return whether a text has expansions that may fail in any shell, or sets variables that cannot be set."""
    return ("$" in text or "=" in text) and bool(_MAY_FAIL.search(text))


class Stage(NamedTuple):
    """One stage of a pipeline.

    Attributes:
        joined: the operator before it; empty for the first.
        start: where it begins; end is behind it.
        redirect_at: where a redirection can stand that takes effect before the stage's own.
        words: words of a simple command, without redirections; empty for a compound one.
        is_compound: whether it is a loop, a group or the like.
        reads_elsewhere: whether it redirects its standard input away from the pipe.
        redirections: its own redirections, as ``2>file``, without a space before the file.
        inner: pipelines in a compound one.
    """

    joined: str
    start: int
    end: int
    redirect_at: int
    words: tuple[str, ...] = ()
    is_compound: bool = False
    reads_elsewhere: bool = False
    redirections: tuple[str, ...] = ()
    inner: "tuple[Pipeline, ...]" = ()


class Pipeline(NamedTuple):
    """Stages, each of which reads what the one before it writes.

    Attributes:
        stages: at least one.
        joined: the operator before this pipeline; empty for the first of a list.
        behind: the separator behind it; empty for the last of a list without one.
        is_inverted: whether ``!`` stands before it, so that it ends with 0 where it failed.
    """

    stages: tuple[Stage, ...]
    joined: str = ""
    behind: str = ""
    is_inverted: bool = False


def plain_words(command: str) -> tuple[str, ...]:
    """Return the words of a simple command that has nothing but plain ones; none for any other command.

    Most commands are such, and parsing one takes fifty times as long.
    """
    if not command.isascii() or command.translate(_PLAIN) or len(command) > LONGEST_COMMAND:
        return ()
    words = tuple(command.split())
    return () if _RESERVED.intersection(words) else words


def without_assignments(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a simple command from the program's name on."""
    while words and assigns(words[0]):
        words = words[1:]
    return words


def program_of(words: tuple[str, ...]) -> str:
    """Return the program of a simple command, without its path; empty if the text does not show it."""
    rest = without_assignments(words)
    if rest[:1] == ("command",):
        rest = rest[1:]
    name = rest[0].removeprefix("\\") if rest else ""
    return "" if set(name) & _NOT_PLAIN and name != "[" else name.rpartition("/")[2]


_DEEPEST = 40  # compound commands within each other, as in the lexer


class Pipelines:
    """Finds the pipelines of a command with correct syntax; in any other it may find anything.

    Attributes:
        simple: whether it met simple commands only.
        posix: whether it met nothing that only bash knows.
    """

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self._tokens = tokens
        self._at = self._depth = 0
        self._passed: list[Pipeline] = []
        self.simple = True
        self.posix = True

    def waited_for(self) -> tuple[Pipeline, ...]:
        """Return the pipelines of the list for which the shell waits, which are all but those before ``&``.

        Raises Unclear.
        """
        return tuple(one for one in self.all_pipelines() if one.behind != "&")

    def sole_pipeline(self) -> list[Stage]:
        """Return the stages of the only pipeline, which is the whole command, not in the background. Raises Unclear."""
        self._newlines()
        if self._peek() in ("!", "time"):
            raise Unclear
        stages = self._pipeline()
        if self._peek() == ";":
            self._at += 1
        self._newlines()
        if self._peek():
            raise Unclear
        return stages

    def all_pipelines(self) -> tuple[Pipeline, ...]:
        """Return the pipelines that the command runs, one after the other or in parallel. Raises Unclear."""
        self._list(())
        if self._peek():
            raise Unclear
        return tuple(self._passed)

    def _peek(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

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

    def _list(self, closing: Collection[str]) -> tuple[list[Stage], str]:
        """Read a list of pipelines up to a closing word or operator; return the last, and the separator behind it."""
        last: list[Stage] = []
        separator = ""
        self._newlines()
        while self._peek() and self._peek() not in closing:
            joined, is_inverted = separator, self._peek() == "!"
            last = self._pipeline()
            separator = self._take().text if self._peek() in _SEPARATORS else ""
            self._passed.append(Pipeline(tuple(last), joined, separator, is_inverted))
            self._newlines()
            if not separator:
                break
        if not last or separator in ("&&", "||"):
            raise Unclear
        return last, separator

    def _pipeline(self) -> list[Stage]:
        while self._peek() in ("!", "time"):
            if self._take().text == "time" and self._peek() == "-p":
                self._at += 1
        stages = [self._stage("")]
        while self._peek() in ("|", "|&"):
            joined = self._take().text
            self._newlines()
            stages.append(self._stage(joined))
        return stages

    def _stage(self, joined: str) -> Stage:
        token = self._token()
        if token.kind == ARITHMETIC or token.text in ("(", "{", "if", "for", "select", "while", "until", "case", "[["):
            self.simple = False
            if self._depth > _DEEPEST:
                raise Unclear
            self._depth += 1
            outer, self._passed = self._passed, []
            end = self._compound()
            self._depth -= 1
            inner, self._passed = tuple(self._passed), outer
            return self._redirected(Stage(joined, token.start, end, end, is_compound=True, inner=inner))
        if token.text in _RESERVED:
            raise Unclear
        return self._simple_command(joined)

    def _compound(self) -> int:
        """Step over a compound command, and return where it ends, without its redirections."""
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
            case "case":
                return self._case()
        self.posix &= token.text != "select"
        while self._token().text not in (";", "\n"):
            self._at += 1
        self._at += 1
        self._newlines()
        self._expect("do")
        return self._closed("done")

    def _case(self) -> int:
        """Step over the patterns and lists of ``case WORD in …``, behind its first word; return where it ends."""
        if self._take().kind != WORD:
            raise Unclear
        self._newlines()
        self._expect("in")
        self._newlines()
        while self._peek() != "esac":
            if self._peek() == "(":
                self._at += 1
            while (token := self._take()).kind == WORD and self._peek() == "|":
                self._at += 1
            if token.kind != WORD:
                raise Unclear
            self._expect(")")
            self._newlines()
            if self._peek() not in (*_CASE_ENDS, "esac"):
                self._list((*_CASE_ENDS, "esac"))
            if self._peek() in _CASE_ENDS:
                self._at += 1
                self._newlines()
            elif self._peek() != "esac":
                raise Unclear
        return self._take().end

    def _closed(self, closing: str) -> int:
        return self._closing((closing,)).end

    def _closing(self, closing: Collection[str]) -> Token:
        self._list(closing)
        if self._peek() not in closing:
            raise Unclear
        return self._take()

    def _redirected(self, stage: Stage) -> Stage:
        """Read the redirections behind a compound command, after which nothing else may stand."""
        end = stage.end
        while (redirection := self._redirection()) is not None:
            end = redirection.end
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        if token and token.kind == WORD and token.text not in _RESERVED:
            raise Unclear
        return stage._replace(end=end)

    def _redirection(self) -> "_Redirection | None":
        """Step over one redirection, if one begins here."""
        if self._at >= len(self._tokens):
            return None
        token = self._tokens[self._at]
        number = ""
        if token.kind == WORD and self._at + 1 < len(self._tokens):
            following = self._tokens[self._at + 1]
            begins = following.start == token.end and following.text in _REDIRECTIONS
            if begins and _DESCRIPTOR.fullmatch(token.text):
                number, token = token.text, following
                self._at += 1
        if token.kind != OPERATOR or token.text not in _REDIRECTIONS:
            return None
        self._at += 1
        target = self._take()
        if target.kind != WORD:
            raise Unclear
        text = f"{number}{token.text}{target.text}"
        return _Redirection(target.end, token.text in _READING and number in ("", "0"), text)

    def _simple_command(self, joined: str) -> Stage:
        start = end = self._token().start
        words: list[str] = []
        redirections: list[str] = []
        reads_elsewhere = redirects_first = False
        redirect_at = start
        while self._at < len(self._tokens):
            if (redirection := self._redirection()) is not None:
                end = redirection.end
                reads_elsewhere |= redirection.reads
                redirections.append(redirection.text)
                redirects_first |= redirect_at == start
                continue
            token = self._tokens[self._at]
            if token.text == "(" and token.start == end and words and words[-1].endswith("="):
                end = self._array()
                continue
            if token.kind == ARITHMETIC or token.text == "(":
                raise Unclear  # it defines a function, or a pattern has parentheses
            if token.kind == OPERATOR:
                break
            self._at += 1
            words.append(token.text)
            end = token.end
            # Behind the program's name, which may be an alias for several commands, but before other redirections.
            if redirect_at == start and not redirects_first and not assigns(token.text):
                redirect_at = end
        if end == start:
            raise Unclear
        return Stage(joined, start, end, redirect_at, tuple(words), False, reads_elsewhere, tuple(redirections))

    def _array(self) -> int:
        """Step over the parentheses of ``name=(…)``."""
        self.simple = self.posix = False
        self._expect("(")
        while (token := self._take()).text != ")":
            if token.kind != WORD and token.text != "\n":
                raise Unclear
        return token.end


class _Redirection(NamedTuple):
    """A redirection: where it ends, whether it is of standard input, and its text."""

    end: int
    reads: bool
    text: str
