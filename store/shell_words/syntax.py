"""The words and operators of a shell command, as far as finding the ends of its commands needs them.

Reads what bash reads. Whatever is not understood for certain is `Unclear`, and the command is left alone then.
"""

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn, TypeVar

_T = TypeVar("_T")

WORD, OPERATOR, ARITHMETIC = "word", "operator", "arithmetic"

_OPERATOR = re.compile(
    r";;&|;;|;&|;|&&|&>>|&>|&|\|\||\|&|\||<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|\(|\)|\n"  # longest first
)
_ENDS_WORD = frozenset(" \t\n;&|()<>")
_ONLY_BASH = frozenset(("|&", "&>", "&>>", "<<<", ";&", ";;&"))
_EXPANDED = re.compile(r"\\.|`|\$\(", re.DOTALL)
_DEEPEST = 40  # levels of parentheses and substitutions in each other; no command that is meant has as many


class Unclear(Exception):
    """What the command means cannot be told from its text alone."""


class Token(NamedTuple):
    """One word or operator.

    Attributes:
        kind: WORD, OPERATOR (a newline is one too) or ARITHMETIC, for ``((…))``.
        text: as it stands in the command.
        start: where it begins; end, behind its last character.
    """

    kind: str
    text: str
    start: int
    end: int


class Tokens(NamedTuple):
    """A command taken apart.

    Attributes:
        tokens: those of the top level; what stands in substitutions is part of a word.
        inner: those of each substitution, at any depth; what stands between backticks is text instead.
        backticked: what stands between backticks.
        documents: of each here-document where its delimiter begins, and its text.
        simple: whether it holds nothing but plain words, quotes and operators.
        posix: whether a shell other than bash would read it alike.
    """

    tokens: tuple[Token, ...]
    inner: tuple[tuple[Token, ...], ...]
    backticked: tuple[str, ...]
    documents: dict[int, str]
    simple: bool
    posix: bool


def tokens_of(command: str) -> Tokens:
    """Take a command apart, in time that grows as its length does. Raises Unclear."""
    lexer = _Lexer(command)
    tokens, _ = lexer.tokens(0)
    return Tokens(
        tuple(tokens),
        tuple(lexer.inner),
        tuple(lexer.backticked),
        lexer.documents,
        lexer.simple,
        lexer.posix,
    )


class _Lexer:
    """Walks through a command once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.simple = True
        self.posix = True
        self.inner: list[tuple[Token, ...]] = []
        self.backticked: list[str] = []
        self.documents: dict[int, str] = {}
        self._depth = 0

    def tokens(self, at: int, *, nested: bool = False) -> tuple[list[Token], int]:
        """From a position to the end, or to the parenthesis that closes a substitution: the position behind it."""
        found: list[Token] = []
        documents: list[tuple[bool, Token]] = []
        depth = 0
        while at < len(self.text):
            char = self.text[at]
            if char in " \t" or self.text.startswith("\\\n", at):
                at += 1 if char != "\\" else 2
            elif char == "#":
                at = self._line_end(at)
            elif self.text.startswith("((", at) and (end := self._arithmetic(at)):
                found.append(Token(ARITHMETIC, self.text[at:end], at, end))
                at = end
            elif char in _ENDS_WORD and (match := _OPERATOR.match(self.text, at)):
                depth += {"(": 1, ")": -1}.get(match[0], 0)
                at = match.end()
                if depth > _DEEPEST:
                    raise Unclear
                if nested and depth < 0:
                    return (found, at) if not documents else _unclear()
                self.posix &= match[0] not in _ONLY_BASH
                self.simple &= match[0] in ("|", "||", "&&", ";", "<", ">", ">>", ">&", "\n")
                found.append(Token(OPERATOR, match[0], match.start(), at))
                if match[0] == "\n":
                    at = self._after_documents(at, documents)
            else:
                start, at = at, self._word(at)
                text = self.text[start:at]
                if nested and text == "case":
                    raise Unclear  # its patterns have parentheses of their own
                token = Token(WORD, text, start, at)
                if found and found[-1].text in ("<<", "<<-"):
                    documents.append((found[-1].text == "<<-", token))
                found.append(token)
        if nested or documents or depth:
            raise Unclear
        return found, at

    def _word(self, at: int) -> int:
        while at < len(self.text) and (self.text[at] not in _ENDS_WORD or self.text[at : at + 2] in ("<(", ">(")):
            at = self._part(at)
        return at

    def _part(self, at: int) -> int:
        """Step over one part of a word: something quoted, a substitution, an escaped or a plain character."""
        two = self.text[at : at + 2]
        if two[0] == "\\":
            return at + 2 if len(two) == 2 else _unclear()
        if two[0] == "'":
            return self._behind("'", at + 1)
        if two[0] == '"':
            return self._double_quoted(at + 1)
        if two[0] == "`":
            self.simple = False
            end = self._escapable("`", at + 1)
            self.backticked.append(self.text[at + 1 : end - 1])
            return end
        if two in ("$(", "<(", ">("):
            self.simple = False
            self.posix &= two == "$("
            if two == "$(" and (end := self._arithmetic(at + 1)):
                return end
            return self._substitution(at + 2)
        if two == "${":
            self.simple = False
            return self._deeper(self._braced, at + 2)
        if two == "$'":
            self.posix = False
            return self._escapable("'", at + 2)
        if two == "$[":
            raise Unclear  # arithmetic of old, in which operators are none
        return at + 1

    def _substitution(self, at: int) -> int:
        tokens, end = self._deeper(self._nested, at)
        self.inner.append(tuple(tokens))
        return end

    def _nested(self, at: int) -> tuple[list[Token], int]:
        return self.tokens(at, nested=True)

    def _deeper(self, read: Callable[[int], _T], at: int) -> _T:
        if self._depth >= _DEEPEST:
            raise Unclear
        self._depth += 1
        result = read(at)
        self._depth -= 1
        return result

    def _double_quoted(self, at: int) -> int:
        while at < len(self.text):
            two = self.text[at : at + 2]
            if two[0] == '"':
                return at + 1
            at = self._part(at) if two[0] in "\\`" or two in ("$(", "${") else at + 1
        raise Unclear

    def _braced(self, at: int) -> int:
        while at < len(self.text):
            two = self.text[at : at + 2]
            if two[0] == "}":
                return at + 1
            if two[0] == "'":
                at = self._behind("'", at + 1)
            elif two[0] in '\\`"' or two in ("$(", "${"):
                at = self._part(at)
            else:
                at += 1
        raise Unclear

    def _escapable(self, closing: str, at: int) -> int:
        """Behind the closing character, which a backslash takes its meaning from."""
        while at < len(self.text) and self.text[at] != closing:
            at += 2 if self.text[at] == "\\" else 1
        return at + 1 if at < len(self.text) else _unclear()

    def _arithmetic(self, at: int) -> int:
        """The position behind ``((…))``; 0 where none begins here, but two subshells."""
        if not self.text.startswith("((", at):
            return 0
        self.simple = False
        depth = 0
        for position in range(at, len(self.text)):
            char = self.text[position]
            if char in "'\"`\\":
                raise Unclear
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth > _DEEPEST:
                raise Unclear
            if depth == 1 and char == ")":
                if not self.text.startswith(")", position + 1):
                    return 0
                self.posix = False
                return position + 2
        raise Unclear

    def _after_documents(self, at: int, documents: list[tuple[bool, Token]]) -> int:
        """Behind the here-documents whose bodies begin here."""
        self.simple &= not documents
        for indented, word in documents:
            delimiter = re.sub(r"[\\'\"]", "", word.text)
            if "$" in delimiter or "`" in delimiter:
                raise Unclear
            begin = at
            is_expanded = goes_on = False
            while True:
                if at >= len(self.text):
                    raise Unclear
                start, end = at, self._line_end(at)
                line = self.text[at:end].lstrip("\t") if indented else self.text[at:end]
                at = min(end + 1, len(self.text))
                if goes_on and line and delimiter.endswith(line):
                    raise Unclear  # joined to the line before it may be the delimiter, or not
                if line == delimiter:
                    break
                if delimiter == word.text:
                    goes_on = (len(line) - len(line.rstrip("\\"))) % 2 == 1
                    is_expanded |= "$(" in line or "`" in line
            self.documents[word.start] = self.text[begin:start]
            if is_expanded:
                self._expanded(begin, start)
        documents.clear()
        return at

    def _expanded(self, at: int, end: int) -> None:
        """Find the substitutions in the text of a here-document."""
        while (match := _EXPANDED.search(self.text, at, end)) is not None:
            at = match.end() if match[0][0] == "\\" else self._part(match.start())
            if at > end:
                raise Unclear

    def _behind(self, closing: str, at: int) -> int:
        end = self.text.find(closing, at)
        return end + 1 if end >= 0 else _unclear()

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end


def _unclear() -> NoReturn:
    raise Unclear
