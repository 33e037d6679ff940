"""Remembers theme, split, order and the like for the next start of the inspector, in one small private file.

It is only a convenience, so a file that cannot be read or written is ignored.
"""

import json
import os
from typing import TypeVar

from sightline.base.private_files import read_file, write_atomically
from sightline_tui.common.store_errors import STORE_ERRORS

FILE = "inspector.json"
"""Name of the file below the store's root."""

_MAX_BYTES = 1 << 16  # a larger file is not ours

Remembrance = TypeVar("Remembrance", bool, int, float, str)


class Preferences:
    """Small facts by name, kept in memory; `save` writes what has changed."""

    def __init__(self, root: str) -> None:
        """Read the file.

        Args:
            root: the store's folder.
        """
        self._path = os.path.join(root, FILE)
        self._facts = _read(self._path)
        self._saved = dict(self._facts)

    def get(self, name: str, default: Remembrance) -> Remembrance:
        """Return a fact, or the default if there is none or it has another type."""
        fact = self._facts.get(name, default)
        return fact if type(fact) is type(default) else default

    def put(self, name: str, fact: bool | int | float | str) -> None:
        """Remember a fact."""
        self._facts[name] = fact

    def save(self) -> None:
        """Write the file if a fact has changed since it was read or saved."""
        if self._facts == self._saved:
            return
        try:
            write_atomically(self._path, json.dumps(self._facts, indent=1).encode() + b"\n")
        except STORE_ERRORS:
            return  # the disk is full, or the store is not ours to write to
        self._saved = dict(self._facts)


def _read(path: str) -> dict[str, object]:
    try:
        facts = json.loads(read_file(path)[:_MAX_BYTES])
    except (*STORE_ERRORS, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}
