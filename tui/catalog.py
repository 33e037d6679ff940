"""The order of the buffers as far as it has been read, from the most recently used on, with what filters look at.

Plain data: pages of the store come in, positions and titles come out. A use always moves a buffer to the top, so what
is known below stays true, and a change costs one page, not the whole store.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sightline.store.disk.index import Brief, Listed
from sightline.store.records import Buffer

TITLE_CHARS = 400
"""Of a command; what stands behind that is no name."""

RUNNING, UNKNOWN, TIMED_OUT, INTERRUPTED = -2, -1, 1_000, 1_001
"""In the place of an exit code. The worse it went, the larger."""


class Entry(NamedTuple):
    """A place in the order.

    Attributes:
        name: of the buffer.
        used: its place; larger is more recent.
        title: its command, ref, label and session in small letters, each on a line of its own.
        session: that captured it.
        bytes: of all streams, as it was read.
        lines: of all streams, as it was read.
        seconds: that it took; endless while it runs.
        exit: its exit code, or one of the numbers above.
    """

    name: str
    used: int
    title: str
    session: str
    bytes: int
    lines: int
    seconds: float
    exit: int

    @property
    def command(self) -> str:
        """The command in small letters, one line."""
        return self.title.partition("\n")[0]


def entry_of(listed: Listed) -> Entry:
    """The entry of a listed buffer."""
    buffer = listed.buffer
    return entry_of_brief(
        Brief(
            buffer.name,
            listed.used,
            buffer.command[:TITLE_CHARS],
            buffer.label,
            buffer.session,
            buffer.state,
            buffer.bytes,
            buffer.lines,
            buffer.created,
            buffer.ended,
            buffer.exit_code,
            buffer.timed_out,
        )
    )


def entry_of_brief(brief: Brief) -> Entry:
    """The entry of a buffer of which no more has been read."""
    fields = (brief.command, "@" + brief.name, brief.label, brief.session)
    seconds = math.inf if brief.ended is None else max(brief.ended - brief.created, 0.0)
    return Entry(
        brief.name,
        brief.used,
        "\n".join(field.replace("\n", " ").lower() for field in fields),
        sys.intern(brief.session),  # many buffers have the same one
        brief.bytes,
        brief.lines,
        seconds,
        _exit(brief),
    )


def _exit(brief: Brief) -> int:
    if brief.state == "running":
        return RUNNING
    if brief.state == "interrupted":
        return INTERRUPTED
    if brief.timed_out:
        return TIMED_OUT
    return UNKNOWN if brief.exit_code is None else brief.exit_code


class Catalog:
    """Entries in order of use.

    Attributes:
        entries: as far as they have been read.
        complete: whether that is all of them.
        version: another number whenever the entries have changed.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.complete = False
        self.version = 0
        self._running = set[str]()

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

    @property
    def running(self) -> frozenset[str]:
        """Names of those that ran when they were read: how they end is to be read again."""
        return frozenset(self._running)

    def put_newer(self, newer: Sequence[Entry]) -> None:
        """Take in what was used since the newest entry, most recent first. Those that moved leave their old places."""
        if not newer:
            return
        moved = {entry.name for entry in newer}
        self._set([*newer, *(entry for entry in self.entries if entry.name not in moved)])
        self._note_running(newer)

    def put_older(self, older: Sequence[Entry], *, complete: bool) -> None:
        """Take in the entries that follow the last one."""
        oldest = self.oldest
        following = [entry for entry in older if oldest is None or entry.used < oldest]
        if following:
            self._set([*self.entries, *following])
            self._note_running(following)
        self.complete = self.complete or complete

    def drop(self, names: set[str]) -> None:
        """Forget buffers that are gone from the store."""
        if names:
            self._set([entry for entry in self.entries if entry.name not in names])
            self._running -= names

    def renew(self, records: Iterable[Buffer]) -> None:
        """Take in how captures that ran stand now."""
        for record in records:
            at = self.position(record.name) if record.name in self._running else -1
            if at >= 0:
                old = self.entries[at]
                renewed = entry_of(Listed(record, old.used))
                if renewed != old:
                    self._set([*self.entries[:at], renewed, *self.entries[at + 1 :]])
                if renewed.exit != RUNNING:
                    self._running.discard(record.name)

    def position(self, name: str) -> int:
        """Where a buffer stands, -1 where that is not known."""
        for at, entry in enumerate(self.entries):
            if entry.name == name:
                return at
        return -1

    def _set(self, entries: list[Entry]) -> None:
        """Another list each time: whoever works through the old one, a filter, may go on."""
        self.entries = entries
        self.version += 1

    def _note_running(self, entries: Iterable[Entry]) -> None:
        self._running.update(entry.name for entry in entries if entry.exit == RUNNING)
