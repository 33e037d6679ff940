"""The order of the buffers as far as it has been read, from the most recently used on, with what a filter looks at.

Plain data: pages of the store come in, positions and titles come out. A use always moves a buffer to the top, so what
is known below stays true, and a change costs one page, not the whole store.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sightline.store.disk.index import Listed
from sightline.store.records import Buffer

_TITLE_CHARS = 400  # of a command; what stands behind that is no name


class Entry(NamedTuple):
    """A place in the order.

    Attributes:
        name: of the buffer.
        used: its place; larger is more recent.
        title: its command, ref, label and session in small letters, one line.
    """

    name: str
    used: int
    title: str


def entry_of(listed: Listed) -> Entry:
    """The entry of a listed buffer."""
    return Entry(listed.buffer.name, listed.used, title_of(listed.buffer))


def title_of(buffer: Buffer) -> str:
    """What a filter looks at."""
    words = (buffer.command[:_TITLE_CHARS], buffer.ref, buffer.label, buffer.session)
    return " ".join(word for word in words if word).replace("\n", " ").lower()


class Catalog:
    """Entries in order of use.

    Attributes:
        entries: as far as they have been read.
        complete: whether that is all of them.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.complete = False

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def newest(self) -> int:
        """The place of the first entry, 0 where there is none."""
        return self.entries[0].used if self.entries else 0

    @property
    def oldest(self) -> int | None:
        """The place of the last entry that has been read."""
        return self.entries[-1].used if self.entries else None

    def put_newer(self, newer: Sequence[Entry]) -> None:
        """Take in what was used since the newest entry, most recent first. Those that moved leave their old places."""
        if not newer:
            return
        moved = {entry.name for entry in newer}
        self.entries = [*newer, *(entry for entry in self.entries if entry.name not in moved)]

    def put_older(self, older: Iterable[Entry], *, complete: bool) -> None:
        """Take in the entries that follow the last one."""
        oldest = self.oldest
        self.entries.extend(entry for entry in older if oldest is None or entry.used < oldest)
        self.complete = self.complete or complete

    def drop(self, names: set[str]) -> None:
        """Forget buffers that are gone from the store."""
        if names:
            self.entries = [entry for entry in self.entries if entry.name not in names]

    def position(self, name: str) -> int:
        """Where a buffer stands, -1 where that is not known."""
        for at, entry in enumerate(self.entries):
            if entry.name == name:
                return at
        return -1
