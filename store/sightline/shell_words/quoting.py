"""Reads the quotes and backslashes in a word of the shell."""

from sightline.light.late_pattern import late_pattern, re
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Iterable, Iterator

PLAIN, SINGLE, DOUBLE, ANSI, ESCAPED = "plain", "single", "double", "ansi", "escaped"

_QUOTED = late_pattern(
    r"""\$'(?P<ansi>[^'\\]*(?:\\.[^'\\]*)*)(?:'|\Z)"""
    r"""|'(?P<single>[^']*)(?:'|\Z)"""
    r"""|\$?"(?P<double>[^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?\Z)"""
    r"""|\\(?P<escaped>.?)"""
    r"""|(?P<plain>(?:[^'"\\$]|\$(?!['"]))+)""",
    re.DOTALL,
)
_QUOTING = frozenset("'\"\\$")
_ANSI = late_pattern(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}


class WordPiece(NamedTuple):
    """A part of a word.

    Attributes:
        kind: PLAIN, SINGLE or DOUBLE (in such quotes), ANSI (in ``$'…'``), or ESCAPED (one character).
        inside: its text without the quotes, or without the backslash before it; other backslashes stay.
        text: its text in the word.
        closed: whether its quotes are closed.
    """

    kind: str
    inside: str
    text: str
    closed: bool


def pieces_of(word: str) -> Iterator[WordPiece]:
    """Yield the parts of a word, in order."""
    if word and not _QUOTING.intersection(word):  # most words, for which the pattern need not be compiled, 1 ms
        yield WordPiece(PLAIN, word, word, closed=True)
        return
    for match in _QUOTED.finditer(word):
        kind = match.lastgroup or PLAIN
        closed = kind in (PLAIN, ESCAPED) or (match.end() > match.end(kind) and match[0][-1] != "\\")
        yield WordPiece(kind, match[kind], match[0], closed)


def unquoted(word: str) -> str:
    """Return a word as its program gets it; variables and substitutions stay as they are."""
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    return "".join(_meaning(piece) for piece in pieces_of(word))


def _meaning(piece: WordPiece) -> str:
    if piece.kind == DOUBLE:
        return re.sub(r'\\([$`"\\\n])', lambda found: found[1].strip("\n"), piece.inside)
    if piece.kind == ANSI:
        return _ANSI.sub(_ansi, piece.inside)
    return piece.inside.strip("\n") if piece.kind == ESCAPED else piece.inside


def _ansi(match: "re.Match[str]") -> str:
    if match[3] is not None:
        return _ANSI_LETTERS.get(match[3], match[3])
    return chr(int(match[1], 16) if match[1] else int(match[2], 8) & 0xFF)


def quoted(text: str) -> str:
    """Return a text as one word of a shell, as `shlex.quote` does, which loads `re`."""
    bare = text.translate(_NO_QUOTES)
    if (text and not bare) or (bare.isascii() and bare.isalnum()):
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


_NO_QUOTES = str.maketrans("", "", "@%+=:,./-_")


def join_quoted(words: Iterable[str]) -> str:
    """Return words as a line of a shell, as `shlex.join` does."""
    return " ".join(map(quoted, words))
