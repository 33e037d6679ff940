"""Which transcripts were imported as they are, so that the next run need not read them again.

A file of its own under the root, which may be removed: what was imported is known from the log, call by call.
"""

import json
from typing import Any

from sightline.disk.layout import Layout, read_file, write_atomically
from sightline.errors import UnsafeStore
from sightline.harnesses.formats import Source

_FORMAT = 1


class Ledger:
    """The transcripts of earlier runs, by path."""

    def __init__(self, layout: Layout, *, durable: bool = False) -> None:
        """Read it; one that cannot be read counts as empty, and one of a newer version is left as it is, too."""
        self._path = layout.imports
        self._durable = durable
        self._known: dict[str, Any] = {}
        self._changed = False
        self._is_newer = False
        try:
            data = json.loads(read_file(self._path))
        except (OSError, ValueError, UnsafeStore):
            return
        version = data.get("format") if isinstance(data, dict) else None
        self._is_newer = isinstance(version, int) and version > _FORMAT
        if isinstance(data, dict) and version == _FORMAT and isinstance(data.get("files"), dict):
            self._known = data["files"]

    def has(self, source: Source) -> bool:
        """Whether a transcript was imported, and has not changed since."""
        known = self._known.get(source.path)
        return isinstance(known, dict) and known.get("stamp") == list(source.stamp)

    def silent(self, source: Source) -> set[str]:
        """Ids of calls of which no view tells: what their transcripts say was shown of them is nothing."""
        known = self._known.get(source.path)
        return set(known.get("silent", ())) if isinstance(known, dict) else set()

    def put(self, source: Source, silent: set[str]) -> None:
        """A transcript was imported as it is."""
        self._known[source.path] = {"stamp": list(source.stamp), **({"silent": sorted(silent)} if silent else {})}
        self._changed = True

    def save(self) -> None:
        """Write it, where it has changed. Raises OSError."""
        if self._changed and not self._is_newer:
            data = json.dumps({"format": _FORMAT, "files": self._known}, ensure_ascii=False)
            write_atomically(self._path, data.encode(errors="surrogateescape"), durable=self._durable)
            self._changed = False
