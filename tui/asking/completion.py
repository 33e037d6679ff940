"""What may follow in the query bar: programs, refs and options for the word under the cursor."""

from collections.abc import Iterable
from typing import NamedTuple

from sightline.pipeline.options import GRAMMARS
from sightline.shell_words.lexer import WORD, Token, lexed
from sightline.tui.asking.question import SHOW

SHOW_OPTIONS = (
    "--lines", "--search", "--context", "--case", "--ignore-case",
    "--path", "--schema", "--stream", "--offset", "--limit",
)  # fmt: skip
_MOST = 30


class Completions(NamedTuple):
    """What may stand in place of a word.

    Attributes:
        start: where the word begins in the text.
        words: what it may be, the likeliest first.
    """

    start: int
    words: tuple[str, ...]


def completions(text: str, refs: Iterable[str]) -> Completions:
    """What may follow a text that ends at the cursor.

    Args:
        text: what stands before the cursor.
        refs: of buffers, the most recently used first.
    """
    *before, last = lexed(text).tokens or (Token(WORD, "", len(text), len(text)),)
    if last.kind != WORD or last.end < len(text):
        before, last = [*before, last], Token(WORD, "", len(text), len(text))
    word = last.text.removeprefix('"')
    start = len(text) - len(word)
    is_first = not before or before[-1].text == "|"
    if not word and text:
        return Completions(start, ())
    if word.startswith("@"):
        known: Iterable[str] = ["@last", *refs]
    elif word.startswith("--") and before and before[0].text == SHOW:
        known = SHOW_OPTIONS
    elif is_first:
        known = [*sorted(GRAMMARS), *([] if before else [SHOW])]
    else:
        known = ()
    found = [one for one in known if one.startswith(word) and one != word]
    return Completions(start, tuple(found[:_MOST]))
