"""The words and operators of a shell command, as far as finding the ends of its commands needs them.

Reads what bash reads. Whatever is not understood for certain is `Unclear`, and the command is left alone then.
"""

import re
from typing import NamedTuple, NoReturn

WORD, OPERATOR, ARITHMETIC = "word", "operator", "arithmetic"

_OPERATOR = re.compile(
    r";;&|;;|;&|;|&&|&>>|&>|&|\|\||\|&|\||<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|\(|\)|\n"  # longest first
)
_ENDS_WORD = frozenset(" \t\n;&|()<>")
_ONLY_BASH = frozenset(("|&", "&>", "&>>", "<<<", ";&", ";;&"))


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
        simple: whether it holds nothing but plain words, quotes and operators.
        posix: whether a shell other than bash would read it alike.
    """

    tokens: tuple[Token, ...]
    simple: bool
    posix: bool


def tokens_of(command: str) -> Tokens:
    """Take a command apart. Raises Unclear."""
    lexer = _Lexer(command)
    tokens, _ = lexer.tokens(0, nested=False)
    return Tokens(tuple(tokens), lexer.simple, lexer.posix)


class _Lexer:
    """Walks through a command once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.simple = True
        self.posix = True

    def tokens(self, at: int, *, nested: bool) -> tuple[list[Token], int]:
        """From a position to the end, or to the parenthesis that closes a substitution: the position behind it."""
        found: list[Token] = []
        documents: list[tuple[bool, str]] = []
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
                if found and found[-1].text in ("<<", "<<-"):
                    documents.append((found[-1].text == "<<-", text))
                found.append(Token(WORD, text, start, at))
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
            return self._escapable("`", at + 1)
        if two in ("$(", "<(", ">("):
            self.simple = False
            self.posix &= two == "$("
            if two == "$(" and (end := self._arithmetic(at + 1)):
                return end
            return self.tokens(at + 2, nested=True)[1]
        if two == "${":
            self.simple = False
            return self._braced(at + 2, quoted=False)
        if two == "$'":
            self.posix = False
            return self._escapable("'", at + 2)
        if two == "$[":
            raise Unclear  # arithmetic of old, in which operators are none
        return at + 1

    def _double_quoted(self, at: int) -> int:
        while at < len(self.text):
            two = self.text[at : at + 2]
            if two[0] == '"':
                return at + 1
            at = self._part(at) if two[0] in "\\`" or two in ("$(", "${") else at + 1
        raise Unclear

    def _braced(self, at: int, *, quoted: bool) -> int:
        while at < len(self.text):
            two = self.text[at : at + 2]
            if two[0] == "}":
                return at + 1
            if two[0] == "'" and not quoted:
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
            if depth == 1 and char == ")":
                if not self.text.startswith(")", position + 1):
                    return 0
                self.posix = False
                return position + 2
        raise Unclear

    def _after_documents(self, at: int, documents: list[tuple[bool, str]]) -> int:
        """Behind the here-documents whose bodies begin here."""
        self.simple &= not documents
        for indented, word in documents:
            delimiter = re.sub(r"[\\'\"]", "", word)
            if "$" in word or "`" in word:
                raise Unclear
            line = None
            while line != delimiter:
                if at >= len(self.text):
                    raise Unclear
                end = self._line_end(at)
                line = self.text[at:end].lstrip("\t") if indented else self.text[at:end]
                if line.endswith("\\") and delimiter == word:
                    raise Unclear  # it goes on, so that what follows may be no delimiter
                at = min(end + 1, len(self.text))
        documents.clear()
        return at

    def _behind(self, closing: str, at: int) -> int:
        end = self.text.find(closing, at)
        return end + 1 if end >= 0 else _unclear()

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end


def _unclear() -> NoReturn:
    raise Unclear
