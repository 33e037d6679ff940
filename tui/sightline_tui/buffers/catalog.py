"""The order of the buffers, most recently used first, as far as it has been read, with what filters need.

It takes pages of the store and gives positions and titles. A use always moves a buffer to the top, so what
is known below stays true, and a change costs one page, not the whole store.
"""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sightline.base.records import Buffer
from sightline.search.matcher import title_of
from sightline.store import Listed, ListFacts
from sightline_tui.buffers.packed_entries import Entries, ListEntry, entries_of

if TYPE_CHECKING:
    from sightline_tui.buffers.packed_entries import Places

TITLE_CHARS = 400
"""How much of a command is kept; the text after that is no name."""

RUNNING, UNKNOWN, TIMED_OUT, INTERRUPTED = -2, -1, 1_000, 1_001
"""Numbers in the place of an exit code; the worse the end, the larger."""

SPARE = 1_000  # how many obsolete entries are kept before the columns are made anew


def entry_of(listed: Listed) -> ListEntry:
    """The entry of a listed buffer."""
    buffer = listed.buffer
    return entry_of_facts(
        ListFacts(
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
            buffer.project,
        )
    )


def entry_of_facts(facts: ListFacts) -> ListEntry:
    """The entry of a buffer of which nothing more has been read."""
    seconds = math.inf if facts.ended is None else max(facts.ended - facts.created, 0.0)
    return ListEntry(
        facts.name,
        facts.used,
        title_of(facts.command, facts.name, facts.label, facts.session),
        facts.session,
        facts.bytes,
        facts.lines,
        seconds,
        _exit(facts),
        facts.project,
    )


def _exit(facts: ListFacts) -> int:
    if facts.state == "running":
        return RUNNING
    if facts.state == "interrupted":
        return INTERRUPTED
    if facts.timed_out:
        return TIMED_OUT
    return UNKNOWN if facts.exit_code is None else facts.exit_code


class Catalog:
    """Entries in order of use.

    Attributes:
        entries: as far as they have been read; replaced after each change, so that a filter that works through the old
            ones may go on.
        complete: whether these are all.
        version: a number that changes with the entries.
    """

    def __init__(self) -> None:
        self.entries = entries_of(())
        self.complete = False
        self.version = 0
        self._running = set[str]()

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def newest(self) -> int | None:
        """The place in the order of the first entry, 0 or less for what was imported below others."""
        return self.entries.columns.used[self.entries.places[0]] if self.entries else None

    @property
    def oldest(self) -> int | None:
        """The place in the order of the last entry that has been read."""
        return self.entries.columns.used[self.entries.places[-1]] if self.entries else None

    @property
    def running(self) -> frozenset[str]:
        """Names of the buffers that were running when they were read, whose end is still to be read."""
        return frozenset(self._running)

    def put_newer(self, newer: Sequence[ListEntry]) -> None:
        """Take in what was used since the newest entry, most recent first; moved buffers leave their old places."""
        if not newer:
            return
        rest = self.entries.without(entry.name for entry in newer)
        self._set(rest.columns.add(newer) + rest.places)
        self._note_running(newer)

    def put_older(self, older: Sequence[ListEntry], *, complete: bool) -> None:
        """Take in the entries that follow the last one."""
        oldest = self.oldest
        following = [entry for entry in older if oldest is None or entry.used < oldest]
        if following:
            self._set(self.entries.places + self.entries.columns.add(following))
            self._note_running(following)
        self.complete = self.complete or complete

    def drop(self, names: set[str]) -> None:
        """Forget buffers that are gone from the store."""
        if names:
            self._set(self.entries.without(names).places)
            self._running -= names

    def keep(self, count: int) -> None:
        """Forget the entries below the first so many, which can be read again."""
        if count < len(self):
            self._set(self.entries.places[:count])
            self._running = {name for name in self._running if self.entries.position(name) >= 0}
            self.complete = False

    def renew(self, records: Iterable[Buffer]) -> None:
        """Take in the present state of captures that ran."""
        for record in records:
            at = self.entries.position(record.name) if record.name in self._running else -1
            if at >= 0:
                old = self.entries[at]
                renewed = entry_of(Listed(record, old.used))
                if renewed != old:
                    places = self.entries.places[:]
                    places[at : at + 1] = self.entries.columns.add([renewed])
                    self._set(places)
                if renewed.exit != RUNNING:
                    self._running.discard(record.name)

    def _set(self, places: "Places") -> None:
        entries = Entries(self.entries.columns, places)
        if len(entries.columns) > 2 * len(entries) + SPARE:
            entries = entries_of(entries)
        self.entries = entries
        self.version += 1

    def _note_running(self, entries: Iterable[ListEntry]) -> None:
        self._running.update(entry.name for entry in entries if entry.exit == RUNNING)
