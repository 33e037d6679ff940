"""Reads the words and operators of a shell command; all other code that reads shell text uses it.

It reads what bash reads, in time that grows as the length of the command. `tokens_of` raises `Unclear` for anything
that is not understood for certain; `lexed` returns the words in any case.
"""

from sightline.light.late_pattern import late_pattern, re
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Callable, Iterable
from sightline.shell_words import LONGEST_COMMAND

WORD, OPERATOR, ARITHMETIC, BACKTICKED = "word", "operator", "arithmetic", "backticked"

_OPERATORS = {  # by length; a pattern of them would cost each hook a millisecond
    3: frozenset((";;&", "&>>", "<<<", "<<-")),
    2: frozenset((";;", ";&", "&&", "&>", "||", "|&", "<<", "<&", "<>", ">>", ">&", ">|")),
    1: frozenset(";&|<>()\n"),
}
_ENDS_WORD = frozenset(" \t\n;&|()<>")
_NOT_PLAIN = frozenset(" \t\n;&|()<>\\'\"`$")
_SHORT = 40
_PLAIN = late_pattern(r"[^ \t\n;&|()<>\\'\"`$]+")
_PLAIN_IN_QUOTES = late_pattern(r'[^"\\`$]+')
_ONLY_BASH = frozenset(("|&", "&>", "&>>", "<<<", ";&", ";;&"))
_EXPANDED = r"(?s)\\.|`|\$\("  # compiled for the first here-document
_DEEPEST = 40  # levels of nesting; no sensible command has as many


def _operator_at(text: str, at: int) -> str:
    """Return the longest operator at a place; empty for none, as where ``<(`` or ``>(`` begins a word."""
    for size, operators in _OPERATORS.items():
        operator = text[at : at + size]
        if operator in operators:
            return "" if operator in ("<", ">") and text[at + 1 : at + 2] == "(" else operator
    return ""


class Unclear(Exception):
    """The text of the command alone does not show what it means."""


class Token(NamedTuple):
    """One word or operator.

    Attributes:
        kind: WORD, OPERATOR (also a newline), ARITHMETIC for ``((…))``, or BACKTICKED for what stands between
            backticks.
        text: its text in the command.
        start: offset of its beginning; end is past its last character.
    """

    kind: str
    text: str
    start: int
    end: int


class Tokens(NamedTuple):
    """A parsed command.

    Attributes:
        tokens: tokens of the top level; a substitution is a part of its word.
        substituted: the substitutions in it.
        documents: for each here-document, where its delimiter begins, and its text.
        in_documents: the substitutions in these.
        simple: whether it has only plain words, quotes and operators.
        posix: whether other shells than bash read it in the same way.
        clear: whether all of it was understood for certain.
    """

    tokens: tuple[Token, ...]
    substituted: "Substitutions"
    documents: dict[int, str]
    in_documents: "Substitutions"
    simple: bool
    posix: bool
    clear: bool


class Substitutions(NamedTuple):
    """The substitutions in a text: commands that are run for their output.

    Attributes:
        groups: tokens of each ``$(…)``, ``<(…)`` and ``>(…)``, at any depth.
        backticked: texts between backticks, unchanged.
    """

    groups: list[tuple[Token, ...]]
    backticked: list[Token]


def tokens_of(command: str) -> Tokens:
    """Parse a command. Raises Unclear, also for one that is longer than any that can be started."""
    if len(command) > LONGEST_COMMAND:
        raise Unclear
    tokens = lexed(command)
    if not tokens.clear:
        raise Unclear
    return tokens


def lexed(command: str) -> Tokens:
    """Parse a command as far as possible; what is not closed extends to the end."""
    lexer = _Lexer(command)
    tokens, _ = lexer.tokens(0)
    return Tokens(
        tokens=tuple(tokens),
        substituted=lexer.substituted,
        documents=lexer.documents,
        in_documents=lexer.in_documents,
        simple=lexer.simple,
        posix=lexer.posix,
        clear=lexer.clear,
    )


class _Lexer:
    """Walks through a command once."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text = text
        self.simple = True
        self.posix = True
        self.clear = True
        self.substituted = Substitutions([], [])
        self.in_documents = Substitutions([], [])
        self.documents: dict[int, str] = {}
        self._late: list[tuple[bool, Token]] = []  # here-documents of a substitution that ended before they began
        self._depth = depth

    def _unclear(self) -> None:
        self.clear = False

    def tokens(self, at: int, *, nested: bool = False) -> tuple[list[Token], int]:
        """Read to the end, or to the parenthesis that closes a substitution; return tokens and the position there."""
        found: list[Token] = []
        documents: list[tuple[bool, Token]] = []
        depth = 0
        has_patterns = False  # of `case`, which have parentheses of their own
        while at < len(self.text):
            char = self.text[at]
            if char in " \t" or self.text.startswith("\\\n", at):
                at += 1 if char != "\\" else 2
            elif char == "#":
                at = self._line_end(at)
            elif depth <= _DEEPEST and self.text.startswith("((", at) and (end := self._arithmetic(at)):
                found.append(Token(ARITHMETIC, self.text[at:end], at, end))
                at = end
            elif char in _ENDS_WORD and (operator := _operator_at(self.text, at)):
                depth += {"(": 1, ")": -1}.get(operator, 0)
                at += len(operator)
                if depth > _DEEPEST:
                    self._unclear()
                if nested and depth < 0:
                    if documents:
                        self._unclear()
                        self._late += documents
                    return found, at
                self.posix &= operator not in _ONLY_BASH
                self.simple &= operator in ("|", "||", "&&", ";", "<", ">", ">>", ">&", "\n")
                found.append(Token(OPERATOR, operator, at - len(operator), at))
                if operator == "\n":
                    documents += self._late
                    self._late.clear()
                    at = self._after_documents(at, documents)
            else:
                start, at = at, self._word(at)
                text = self.text[start:at]
                has_patterns |= text == "case"
                if nested and has_patterns:
                    self._unclear()
                token = Token(WORD, text, start, at)
                if found and found[-1].text in ("<<", "<<-"):
                    documents.append((found[-1].text == "<<-", token))
                found.append(token)
        if nested or documents or (depth and not has_patterns):
            self._unclear()
        return found, at

    def _word(self, at: int) -> int:
        while at < len(self.text) and (self.text[at] not in _ENDS_WORD or self.text[at : at + 2] in ("<(", ">(")):
            end = self._plain_end(at)
            at = end if end > at else self._part(at)
        return at

    def _plain_end(self, at: int) -> int:
        """Return where plain characters end; what is short, as most words are, is read without a pattern."""
        for end, character in enumerate(self.text[at : at + _SHORT], at):
            if character in _NOT_PLAIN:
                return end
        end = min(at + _SHORT, len(self.text))
        long = _PLAIN.match(self.text, end) if end < len(self.text) else None
        return long.end() if long else end

    def _part(self, at: int) -> int:
        """Step over one part of a word: a quotation, a substitution, an escaped or a plain character."""
        two = self.text[at : at + 2]
        if two[0] == "\\":
            return at + 2 if len(two) == 2 else self._end()
        if two[0] == "'":
            return self._behind("'", at + 1)
        if two[0] == '"':
            return self._double_quoted(at + 1)
        if two[0] == "`":
            self.simple = False
            end = self._escapable("`", at + 1)
            inside = self.text[at + 1 : end].removesuffix("`")
            self.substituted.backticked.append(Token(BACKTICKED, inside, at + 1, at + 1 + len(inside)))
            return end
        if two in ("$(", "<(", ">("):
            self.simple = False
            self.posix &= two == "$("
            if two == "$(" and (end := self._arithmetic(at + 1)):
                return end
            return self._deeper(self._substitution, at + 2)
        if two == "${":
            self.simple = False
            return self._deeper(self._braced, at + 2)
        if two == "$'":
            self.posix = False
            return self._escapable("'", at + 2)
        if two == "$[":
            self._unclear()  # the old form of arithmetic, which has no operators of the shell
        return at + 1

    def _end(self) -> int:
        """Return the end of a text in which something is not closed."""
        self._unclear()
        return len(self.text)

    def _substitution(self, at: int) -> int:
        tokens, end = self.tokens(at, nested=True)
        self.substituted.groups.append(tuple(tokens))
        return end

    def _deeper(self, read: Callable[[int], int], at: int) -> int:
        if self._depth >= _DEEPEST:
            self._unclear()
            return at
        self._depth += 1
        result = read(at)
        self._depth -= 1
        return result

    def _double_quoted(self, at: int) -> int:
        while at < len(self.text):
            two = self.text[at : at + 2]
            if two[0] == '"':
                return at + 1
            plain = _PLAIN_IN_QUOTES.match(self.text, at)
            if plain:
                at = plain.end()
            elif two[0] in "\\`" or two in ("$(", "${"):
                at = self._part(at)
            else:
                at += 1
        return self._end()

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
        return self._end()

    def _escapable(self, closing: str, at: int) -> int:
        """Return the position behind the closing character, unless a backslash escapes it."""
        while at < len(self.text) and self.text[at] != closing:
            at += 2 if self.text[at] == "\\" else 1
        return at + 1 if at < len(self.text) else self._end()

    def _arithmetic(self, at: int) -> int:
        """Return the position behind ``((…))``; 0 if two subshells begin here instead."""
        if not self.text.startswith("((", at):
            return 0
        self.simple = False
        depth = 0
        for position in range(at, len(self.text)):
            char = self.text[position]
            if char in "'\"`\\":
                self._unclear()
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth > _DEEPEST:
                break
            if depth == 1 and char == ")":
                if not self.text.startswith(")", position + 1):
                    return 0
                self.posix = False
                return position + 2
        self._unclear()
        return 0

    def _after_documents(self, at: int, documents: list[tuple[bool, Token]]) -> int:
        """Return the position behind the here-documents whose bodies begin here."""
        self.simple &= not documents
        for indented, word in documents:
            delimiter = re.sub(r"[\\'\"]", "", word.text)
            if "$" in delimiter or "`" in delimiter:
                self._unclear()
            begin = at
            is_expanded = goes_on = False
            while True:
                if at >= len(self.text):
                    start = self._end()
                    break
                start, end = at, self._line_end(at)
                line = self.text[at:end].lstrip("\t") if indented else self.text[at:end]
                at = min(end + 1, len(self.text))
                if goes_on and line and delimiter.endswith(line):
                    self._unclear()  # joined to the line before, it may or may not be the delimiter
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

    def _expanded(self, begin: int, end: int) -> None:
        """Find the substitutions in the text of a here-document, in which they end."""
        lexer, at = _Lexer(self.text[begin:end], self._depth), 0
        while (match := re.compile(_EXPANDED).search(lexer.text, at)) is not None:
            at = match.end() if match[0][0] == "\\" else lexer._part(match.start())
        self.simple &= lexer.simple
        self.posix &= lexer.posix
        self.clear &= lexer.clear
        for found in (lexer.substituted, lexer.in_documents):
            self.in_documents.groups.extend(_moved(group, begin) for group in found.groups)
            self.in_documents.backticked.extend(_moved(found.backticked, begin))
        self.documents.update((start + begin, text) for start, text in lexer.documents.items())

    def _behind(self, closing: str, at: int) -> int:
        end = self.text.find(closing, at)
        return end + 1 if end >= 0 else self._end()

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end


def _moved(tokens: Iterable[Token], by: int) -> tuple[Token, ...]:
    """Return the tokens of a part of a text as tokens of the whole text."""
    return tuple(token._replace(start=token.start + by, end=token.end + by) for token in tokens)
