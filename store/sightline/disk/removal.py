"""Removes a buffer's bytes, and leaves a tombstone, also on a full disk."""

import time

from sightline.base.private_files import remove_file, remove_folder, write_atomically
from sightline.base.records import Buffer
from sightline.disk.errors import is_full, store_failed
from sightline.disk.index_access import IndexAccess
from sightline.disk.layout import Layout
from sightline.disk.limits import has_stand_ins
from sightline.disk.meta import encode_buffer, fields_in
from sightline.disk.sqlite import sqlite3
from sightline.disk.stream_files import take_bytes
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Callable

_ROOM_BYTES = 1 << 19  # needed for SQLite and a tombstone, with some reserve


class Removal(NamedTuple):
    """The removal of a buffer from a store; for its fields see `Store.remove`."""

    layout: Layout
    access: IndexAccess
    buffer: Buffer
    reason: str
    left: Callable[[], dict[str, Any]]

    def done(self) -> bool:
        """Make it, as `Store.remove` says; if the disk is full, the bytes go first, if they are enough to make room."""
        root = self.layout.root
        try:
            return self._done(self.left)
        except (sqlite3.Error, OSError) as error:
            if not is_full(error, root):
                raise store_failed(error, root) from error
        try:
            known = self._known()
            if known is None:
                return False
            kept = self.left()
            take_bytes(self.layout, known, at_least=_ROOM_BYTES)
            self.access.try_again()
            return self._done(lambda: kept)
        except (sqlite3.Error, OSError) as error:
            raise store_failed(error, root) from error

    def _done(self, left: Callable[[], dict[str, Any]]) -> bool:
        name, index, evicted = self.buffer.name, self.access.index, self.buffer._replace(state="evicted")
        with index.transaction():
            if self._known() is None:
                return False
            kept = fields_in(self.layout, name)
            data = encode_buffer(evicted, kept, reason=self.reason, gone=time.time(), **left())
            write_atomically(self.layout.tombstone(name), data, durable=self.access.settings.durable)
            if self.reason == "evicted":
                index.put_buffer(evicted)
                index.forget_hashes(name)
            else:
                index.forget_buffer(name)
        remove_file(self.layout.marker(name))
        remove_folder(self.layout.folder(name))
        if has_stand_ins(self.layout):
            from sightline.disk.stand_ins import sweep_stand_ins  # 1 ms, which few stores need

            sweep_stand_ins(self.layout)
        return True

    def _known(self) -> Buffer | None:
        """Return the buffer's record in the index if it may go."""
        known = self.access.index.buffer(self.buffer.name)
        if known is None or known.state == "evicted" or (known.pinned and self.reason == "evicted"):
            return None
        return known
