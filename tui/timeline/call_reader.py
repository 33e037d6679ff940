"""What a timeline reads, step by step and off the UI's thread: calls, the notes between them, and which are wanted."""

import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from sightline.audit.project_scope import call_belongs, calls_in, notes_in, started_in
from sightline.audit.timeline import Call, Timeline, Wanted, filtered
from sightline.log.notes import list_notes, notes_for
from sightline.named_tuple import NamedTuple
from sightline.project import Project
from sightline.records import Note
from sightline.store import Reading
from sightline.tui.common.sessions import session_titles
from sightline.tui.timeline.call_filter import note_is_wanted

Row = Call | Note

CALLS_A_STEP = 2_000
"""New calls that are taken in at a time: about a tenth of a second, after which the UI gets word."""

STEP_SECONDS = 0.1
"""How long calls are looked through for a text before the UI gets word."""

FIRST_LOOK = 200
"""Calls that are shown before all others have been read: more than fit on a screen."""


class Calls(NamedTuple):
    """How a timeline stands.

    Attributes:
        rows: what is to be shown, oldest first; None where that has not been read far enough to be shown.
        calls: all calls that have been read, wanted or not.
        done: share of the work that is done, 1 where nothing is left.
        titles: what a person calls sessions, by their names.
    """

    rows: Sequence[Row] | None
    calls: Sequence[Call]
    done: float
    titles: dict[str, str]


class CallReader:
    """Reads the calls of one session, or of all; about one project, or all. One thread at a time may use it."""

    def __init__(self, store: Reading, session: str | None = None, project: Project | None = None) -> None:
        """Prepare; nothing is read before `step`."""
        self._store = store
        self._session = session
        self._project = project
        self._places = list[int]()  # of the calls about the project, among all
        self._timeline = Timeline(store, session=session)
        self._total = 0
        self._wanted = Wanted()
        self._matched = list[int]()  # places of the calls that are wanted
        self._looked_at = 0
        self._texts = dict[str, bool]()  # by id, whether a call holds the text

    def step(self, wanted: Wanted) -> Calls:
        """Read on for a moment. Raises as the store does."""
        titles = session_titles(self._store)
        if not self._total:
            self._total = max(self._store.index.newest_view(), 1)
            if self._total > CALLS_A_STEP and wanted == Wanted():
                newest = calls_in(self._store, self._timeline.newest(FIRST_LOOK), self._project)
                return Calls(self._with_notes(newest, wanted), (), 0.0, titles)
        calls, changed = self._in_project(self._timeline.refresh(CALLS_A_STEP))
        if self._timeline.behind:
            read = len(self._timeline.calls)
            return Calls(None, calls, min(read / max(self._total, read + 1), 0.99), titles)
        if wanted == Wanted():
            self._forget()
            return Calls(self._with_notes(calls, wanted), calls, 1.0, titles)
        self._look_through(calls, wanted, changed)
        rows = self._with_notes([calls[at] for at in self._matched], wanted)
        return Calls(rows, calls, self._looked_at / max(len(calls), 1), titles)

    def _in_project(self, changed: int) -> tuple[Sequence[Call], int]:
        """The calls about the project, and the place of the first of them that is new or another."""
        calls, project = self._timeline.calls, self._project
        if project is None:
            return calls, changed
        first = bisect_left(self._places, changed)
        del self._places[first:]
        here = started_in(self._store, project)
        self._places += (at for at in range(changed, len(calls)) if call_belongs(calls[at], project, here))
        return [calls[at] for at in self._places], first

    def _forget(self) -> None:
        self._wanted, self._matched, self._looked_at = Wanted(), [], 0
        self._texts.clear()

    def _look_through(self, calls: Sequence[Call], wanted: Wanted, changed: int) -> None:
        """Look at calls for a while, from the first one on that is new or another."""
        if wanted != self._wanted:
            if wanted.text != self._wanted.text:
                self._texts.clear()
            self._wanted, self._matched, self._looked_at = wanted, [], 0
        if changed < self._looked_at:
            self._looked_at = changed
            del self._matched[bisect_left(self._matched, changed) :]
        ends = time.monotonic() + STEP_SECONDS
        while self._looked_at < len(calls):
            if self._is_wanted(calls[self._looked_at], wanted):
                self._matched.append(self._looked_at)
            self._looked_at += 1
            if time.monotonic() > ends:
                break

    def _is_wanted(self, call: Call, wanted: Wanted) -> bool:
        if not filtered(self._store, (call,), wanted._replace(text="")):
            return False
        if not wanted.text:
            return True
        if call.view.id not in self._texts:
            self._texts[call.view.id] = bool(filtered(self._store, (call,), Wanted(text=wanted.text)))
        return self._texts[call.view.id]

    def _with_notes(self, calls: Sequence[Call], wanted: Wanted) -> list[Row]:
        """Calls with the notes that are wanted where they were written; of one session, those on what it asked of."""
        rows: list[Row] = list(calls)
        notes = [note for note in list_notes(self._store) if note_is_wanted(note, wanted)]
        notes = notes_in(self._store, notes, self._project)
        for note in notes_for(notes, (call.view for call in calls), self._session):
            insort(rows, note, key=time_of)
        return rows


def time_of(row: Row) -> float:
    """When it was, seconds since the epoch."""
    return row.time if isinstance(row, Note) else row.view.time


def id_of(row: Row) -> str:
    """What tells a row from all others: the place in the log of what it is about."""
    return row.id if isinstance(row, Note) else row.view.id


def place_of(rows: Sequence[Row], wanted: Row | None) -> int:
    """Where a row stands, -1 where it does not; it is looked for at its time first."""
    if wanted is None:
        return -1
    when, name = time_of(wanted), id_of(wanted)
    first, last = bisect_left(rows, when, key=time_of), bisect_right(rows, when, key=time_of)
    near = next((at for at in range(first, last) if id_of(rows[at]) == name), -1)
    return near if near >= 0 else next((at for at, row in enumerate(rows) if id_of(row) == name), -1)
