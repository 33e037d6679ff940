"""The queries asked so far: a small private file in the store, so that they can be asked again."""

import os
from collections.abc import Sequence

from sightline.private_files import read_file, write_atomically
from sightline.store import Store

KEPT = 500
"""How many are kept; the oldest go first."""

_LONGEST_CHARACTERS = 2_000  # 500 of these are 1 MB, or 4 of the widest characters


class History:
    """Texts in the order in which they were last asked."""

    def __init__(self, store: Store) -> None:
        self._layout = store.layout
        self._path = os.path.join(store.root, "queries")

    def texts(self) -> list[str]:
        """The texts, the newest last. Raises OSError or UnsafeStore where they cannot be read."""
        try:
            data = read_file(self._path)
        except FileNotFoundError:
            return []
        return [text for text in data.decode(errors="replace").split("\n") if text]

    def add(self, text: str) -> None:
        """Keep a text as the newest, also beside other inspectors. Raises as `texts`."""
        text = " ".join(text.split("\n")).strip()
        if not text or len(text) > _LONGEST_CHARACTERS:
            return
        with self._layout.locked():
            kept = with_newest(self.texts(), text)
            write_atomically(self._path, "".join(f"{one}\n" for one in kept).encode(errors="replace"))


def with_newest(texts: Sequence[str], text: str) -> list[str]:
    """The texts with one as the newest, each once, and no more than are kept."""
    return [*(one for one in texts if one != text), text][-KEPT:]


def earlier(texts: Sequence[str], beginning: str, at: int) -> int | None:
    """Place of the text before one that has a beginning, None where there is none.

    Args:
        texts: the newest last.
        beginning: what it begins with.
        at: place to go back from, ``len(texts)`` at first.
    """
    return next((place for place in range(at - 1, -1, -1) if texts[place].startswith(beginning)), None)


def later(texts: Sequence[str], beginning: str, at: int) -> int | None:
    """The same forwards."""
    return next((place for place in range(at + 1, len(texts)) if texts[place].startswith(beginning)), None)
