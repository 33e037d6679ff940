"""What may follow in the query bar: programs, refs and options for the word under the cursor."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from sightline.pipeline.options import GRAMMARS
from sightline.tui.asking.asked import SHOW

SHOW_OPTIONS = (
    "--lines", "--search", "--context", "--case", "--ignore-case",
    "--path", "--schema", "--stream", "--offset", "--limit",
)  # fmt: skip
_MOST = 30
_WORD = re.compile(r"[^\s|'\"]*\Z")
_FIRST = re.compile(r"(?:\A|\|)\s*\Z")


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
    match = _WORD.search(text)
    start = match.start() if match else len(text)
    word, before = text[start:], text[:start]
    if not word and before:
        return Completions(start, ())
    if word.startswith("@"):
        known: Iterable[str] = ["@last", *refs]
    elif word.startswith("--") and before.lstrip().startswith(SHOW):
        known = SHOW_OPTIONS
    elif _FIRST.search(before):
        known = [*sorted(GRAMMARS), *([] if "|" in before else [SHOW])]
    else:
        known = ()
    found = [one for one in known if one.startswith(word) and one != word]
    return Completions(start, tuple(found[:_MOST]))
