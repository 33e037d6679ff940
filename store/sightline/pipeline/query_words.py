"""Splits a query into programs and words as a POSIX shell would, and refuses by name whatever a shell would act on.

It knows neither programs nor refs.
"""

import os

from sightline.base.errors import QueryRefused
from sightline.light.late_pattern import late_pattern, re
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Iterator, NoReturn, Sequence
from sightline.shell_words.lexer import WORD, Token, lexed
from sightline.shell_words.quoting import DOUBLE, ESCAPED, PLAIN, SINGLE, pieces_of

QUOTED = "\x00"  # stands in a word's mask for a quoted character; a query cannot contain a NUL itself

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
_BRACES = late_pattern(r"\{(?:[^{},.]|\.(?!\.))*(?:,|\.\.)[^{}]*\}")
_ASSIGNMENT = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_DOLLAR = r"\$[({A-Za-z0-9_@*#?!$-]"
_EXPANDED = late_pattern(rf"{_DOLLAR}|`|!|[<>]\(")
_OF_EXPANSIONS = frozenset("$`!<>")
_IN_DOUBLE = late_pattern(rf'\\(?P<escaped>[$`"\\\n])|(?P<expanded>{_DOLLAR}|`)|[^\\$`]+|.', re.DOTALL)
_EXAMPLE = "for example: grep FAILED @cmd_a1b2c3 | sort | uniq -c"


class QueryWord(NamedTuple):
    """One word of a program's arguments.

    Attributes:
        text: the text that the program gets.
        mask: ``text`` with every quoted character replaced by ``QUOTED``.
        literal: whether part of it was in single quotes or behind a backslash, so that it cannot be a ref.
    """

    text: str
    mask: str
    literal: bool


def refuse(what: str, hint: str) -> NoReturn:
    """Raise QueryRefused, and name what a query cannot have."""
    raise QueryRefused(f"a query cannot have {what}", hint)


def split(text: str) -> list[list[QueryWord]]:
    """Return the words of each program of a pipeline.

    Raises:
        QueryRefused: it has more than words, quotes and single ``|``; the message names that.
    """
    if QUOTED in text:
        refuse("a NUL character", "programs cannot be given one")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        refuse("half a character (a lone surrogate)", "write the pattern as an escape, such as '\\xff' with grep -P")
    query = text.strip(" \t\r\n")
    if not query:
        raise QueryRefused("the query is empty", _EXAMPLE)
    stages: list[list[QueryWord]] = [[]]
    end = 0
    for token in without_idle_redirections(lexed(query).tokens):
        _check_between(query[end : token.start])
        if token.kind == WORD:
            word = _word(token.text)
            _check_word(word, first=not stages[-1])
            stages[-1].append(word)
        elif token.text == "|":
            _check_stage(stages[-1])
            stages.append([])
        else:
            before = stages[-1][-1].mask if stages[-1] and token.start == end else ""
            _refuse_operator(token.text, before if before.isdigit() else "")
        end = token.end
    _check_between(query[end:])
    _check_stage(stages[-1])
    return stages


def without_idle_redirections(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens without ``2>/dev/null`` and ``2>&1``, because a query's errors are in its reply anyway."""
    at = 0
    while at < len(tokens):
        number, operator, where = (*tokens[at : at + 3], None, None, None)[:3]
        if (
            operator
            and where
            and number
            and (number.text, operator.start) == ("2", number.end)
            and (operator.text, where.text) in _IDLE
        ):
            at += 3
            continue
        yield tokens[at]
        at += 1


_IDLE = ((">", "/dev/null"), (">>", "/dev/null"), (">&", "1"))


def _refuse_operator(operator: str, descriptor: str) -> NoReturn:
    """Refuse an operator of the shell, by name.

    Args:
        operator: the operator.
        descriptor: digits right before it, which say what it redirects.
    """
    known, what, hint = next(known for known in _OPERATORS if operator.startswith(known[0]))
    if descriptor and known[0] in "<>":
        what = f"`{descriptor}{known}` (redirection)"
    refuse(what, hint)


def _check_between(text: str) -> None:
    """Raise QueryRefused unless there are only blanks between two words."""
    if "#" in text:
        refuse("`#` (a comment)", "quote it where it belongs to a pattern: '#'")


def _check_stage(words: list[QueryWord]) -> None:
    if not words:
        refuse("a `|` without a program on each side", _EXAMPLE)


def _word(text: str) -> QueryWord:
    """Return a word as the program gets it; refuse one that a shell would replace."""
    values, masks, literal = list[str](), list[str](), False
    for piece in pieces_of(text):
        value = piece.inside
        if piece.text.startswith(("$'", '$"')):
            refuse(f"`{piece.text[:2]}` (a shell's own quoting)", "use plain single quotes, or double quotes")
        if piece.kind == SINGLE:
            literal = True
        elif piece.kind == ESCAPED:
            if not value:
                refuse("a backslash at its end", "single-quote it where it belongs to a pattern")
            value = value.strip("\n")  # a continued line is one line
            literal |= bool(value)
        elif piece.kind == DOUBLE:
            value, has_literal = _double_quoted(value)
            literal |= has_literal
        elif not _OF_EXPANSIONS.isdisjoint(value) and (found := _EXPANDED.search(value)):
            _refuse_expansion(found[0])
        if not piece.closed:
            quotes, others = ("single", "double") if piece.kind == SINGLE else ("double", "single")
            refuse(f"a {quotes} quote that is not closed", f"close it, or put the word in {others} quotes")
        values.append(value)
        masks.append(value if piece.kind == PLAIN else QUOTED * len(value))
    return QueryWord("".join(values), "".join(masks), literal)


def _double_quoted(inside: str) -> tuple[str, bool]:
    """Return the text in double quotes, and whether a backslash escaped any character."""
    values, literal = list[str](), False
    for match in _IN_DOUBLE.finditer(inside):
        if match.lastgroup == "expanded":
            _refuse_expansion(match[0])
        if match.lastgroup == "escaped":
            literal |= match["escaped"] != "\n"
            values.append(match["escaped"].strip("\n"))
        else:
            values.append(match[0])
    return "".join(values), literal


def _refuse_expansion(found: str) -> NoReturn:
    """Refuse what a shell would replace, by name."""
    if found == "!":
        refuse("an unquoted `!` (history or negation)", "quote it: '!', or use grep -v")
    if found[0] in "`<>":
        refuse(*next((what, hint) for operator, what, hint in _OPERATORS if operator == found))
    kind = "command substitution" if found == "$(" else "a variable"
    refuse(f"`{found}` ({kind})", "single-quote it where it belongs to a pattern or a script: '$1'")


def _check_word(word: QueryWord, *, first: bool) -> None:
    shown = word.text if len(word.text) <= 40 else word.text[:39] + "…"
    if first and "=" in word.mask and _ASSIGNMENT.match(word.mask):
        refuse(f"an assignment before a program: {shown}", "leave it out: a query's environment is fixed")
    if glob := next((one for one in word.mask if one in "*?["), ""):
        refuse(f"an unquoted `{glob}` (a glob): {shown}", f"quote it: {quoted(word.text)}")
    if word.mask.startswith("~"):
        refuse(f"a leading `~` (a home folder): {shown}", f"quote it: {quoted(word.text)}")
    if "{" in word.mask and _BRACES.search(word.mask):
        refuse(f"braces that a shell would expand: {shown}", f"quote it: {quoted(word.text)}")


def quoted(text: str) -> str:
    """Quote a text as one single-quoted word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
