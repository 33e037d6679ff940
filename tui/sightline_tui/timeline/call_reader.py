"""Reads calls, notes and what was said for a timeline, and filters them, step by step, outside the UI's thread."""

import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from types import MappingProxyType

from sightline.audit.conversation import Said, said_of
from sightline.audit.held_lines import HeldTokens, Holdings, Loss, held_tokens, losses_of
from sightline.audit.lineage import Edge, edges_of, helpers_of
from sightline.audit.project_scope import call_belongs, calls_in, notes_in, started_in
from sightline.audit.timeline import BYTES_A_TOKEN, Call, CallFilter, Timeline, filtered
from sightline.base.project import Project
from sightline.base.records import Note, View
from sightline.light.named_tuple import NamedTuple
from sightline.log.notes import list_notes, notes_for
from sightline.store import Reading
from sightline_tui.common.sessions import session_titles
from sightline_tui.timeline.call_filter import note_is_wanted, words_are_wanted


class ContextLoss(NamedTuple):
    """What went from the context of a session at once; it is drawn across, as a rule."""

    session: str
    loss: Loss

    @property
    def id(self) -> str:
        """Its place in the log."""
        return f"{self.session}:{self.loss.change.number}"

    @property
    def time(self) -> float:
        """When it went, seconds since the epoch."""
        return self.loss.change.time


Row = Call | Note | ContextLoss | Said

CALLS_A_STEP = 2_000
"""New calls that one step takes in: about a tenth of a second's worth, after which the UI gets them."""

MOST_MOMENTS = 20_000
"""Rows that are counted by time, the newest: to count more would take longer than a person waits."""

STEP_SECONDS = 0.1
"""How long one step looks for a text in calls before the UI gets what was found."""

FIRST_LOOK = 200
"""Calls that are shown before the others are read: more than fit on a screen."""


class Calls(NamedTuple):
    """A timeline, as far as it is read.

    Attributes:
        rows: the rows to show, oldest first; None if not enough is read to show any.
        calls: all calls that are read, whether the filter accepts them or not.
        done: share of the work that is done; 1 if nothing is left.
        titles: titles of sessions, by name.
        held: what the context of the only session that is shown holds now; None for several, or if that is not told.
        edges: from which session each one came, by name.
    """

    rows: Sequence[Row] | None
    calls: Sequence[Call]
    done: float
    titles: dict[str, str]
    held: HeldTokens | None = None
    edges: Mapping[str, Edge] = MappingProxyType({})


class CallReader:
    """Reads the calls of one session or of all, in one project or in all. Only one thread at a time may use it."""

    def __init__(
        self,
        store: Reading,
        session: str | None = None,
        project: Project | None = None,
        *,
        with_helpers: bool = False,
    ) -> None:
        """Prepare to read; nothing is read before `step`.

        Args:
            store: the store.
            session: name of the only session; None for all.
            project: the only project; None for all.
            with_helpers: whether to read the calls of its helpers, too.
        """
        self._store = store
        self._with_helpers = with_helpers
        self._edges: Mapping[str, Edge] = {}
        self._helpers = dict[str, Timeline]()
        self._calls: Sequence[Call] = ()  # those of the session, and of its helpers
        self._session = session
        self._project = project
        self._places = list[int]()  # places of the project's calls among all calls
        self._timeline = Timeline(store, session=session)
        self._total = 0
        self._wanted = CallFilter()
        self._matched = list[int]()  # places of the calls that the filter accepts
        self._looked_at = 0
        self._texts = dict[str, bool]()  # whether a call contains the text, by the call's id

    def step(self, wanted: CallFilter) -> Calls:
        """Read on for a moment. Raises what the store raises."""
        titles = session_titles(self._store.index.sessions())
        if not self._total:
            self._total = max(self._store.index.numbers_of_views(), 1)
            if self._total > CALLS_A_STEP and wanted == CallFilter():
                newest = calls_in(self._store, self._timeline.newest(FIRST_LOOK), self._project)
                return Calls(self._with_others(newest, newest, wanted), (), 0.0, titles)
        self._edges = edges_of(self._store)
        calls, changed = self._in_project(self._refreshed())
        if self._timeline.behind or any(one.behind for one in self._helpers.values()):
            read = len(self._calls)
            return Calls(None, calls, min(read / max(self._total, read + 1), 0.99), titles)
        if wanted == CallFilter():
            self._forget()
            return Calls(self._with_others(calls, calls, wanted), calls, 1.0, titles, self._held(calls), self._edges)
        self._look_through(calls, wanted, changed)
        rows = self._with_others([calls[at] for at in self._matched], calls, wanted)
        return Calls(rows, calls, self._looked_at / max(len(calls), 1), titles, edges=self._edges)

    def _refreshed(self) -> int:
        """Take in new calls, and return the place of the first one that is new or has changed."""
        changed = self._timeline.refresh(CALLS_A_STEP)
        before, self._calls = self._calls, self._timeline.calls
        if not self._with_helpers or self._session is None:
            return changed
        for name in helpers_of(self._session, self._edges):
            made = self._helpers.setdefault(name, Timeline(self._store, session=name))
            made.refresh(CALLS_A_STEP)
        of_helpers = (one.calls for one in self._helpers.values())
        self._calls = list(merge(self._timeline.calls, *of_helpers, key=time_of))
        pairs = enumerate(zip(before, self._calls, strict=False))
        return next((at for at, (old, new) in pairs if old != new), min(len(before), len(self._calls)))

    def _in_project(self, changed: int) -> tuple[Sequence[Call], int]:
        """Return the calls of the project, and the place of the first one that is new or has changed."""
        calls, project = self._calls, self._project
        if project is None:
            return calls, changed
        first = bisect_left(self._places, changed)
        del self._places[first:]
        here = started_in(self._store, project)
        self._places += (at for at in range(changed, len(calls)) if call_belongs(calls[at], project, here))
        return [calls[at] for at in self._places], first

    def _forget(self) -> None:
        self._wanted, self._matched, self._looked_at = CallFilter(), [], 0
        self._texts.clear()

    def _look_through(self, calls: Sequence[Call], wanted: CallFilter, changed: int) -> None:
        """Filter calls for a while, from the first one that is new or has changed."""
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

    def _is_wanted(self, call: Call, wanted: CallFilter) -> bool:
        if not filtered(self._store, (call,), wanted._replace(text="")):
            return False
        if not wanted.text:
            return True
        if call.view.id not in self._texts:
            self._texts[call.view.id] = bool(filtered(self._store, (call,), CallFilter(text=wanted.text)))
        return self._texts[call.view.id]

    def _with_others(self, calls: Sequence[Call], among: Sequence[Call], wanted: CallFilter) -> list[Row]:
        """Insert what came between the calls, as far as the filter accepts it.

        Args:
            calls: the calls that the filter accepts; of notes only those on outputs that they asked about are shown.
            among: all calls that are read.
            wanted: the filter.
        """
        notes = [note for note in list_notes(self._store) if note_is_wanted(note, wanted)]
        notes = notes_in(self._store, notes, self._project)
        between: list[Row] = list(notes_for(notes, (call.view for call in calls), self._session))
        between += self._losses(calls) if wanted == CallFilter() else ()
        between += self._said(among, wanted)
        between.sort(key=time_of)
        return list(merge(calls, between, key=time_of))

    def _said(self, calls: Sequence[Call], wanted: CallFilter) -> Iterator[Said]:
        """Yield what was said in the sessions of the calls; before more than the newest are read, since the first."""
        since = 0.0 if self._timeline.calls or not calls else calls[0].view.time
        holdings, names = Holdings(self._store), {call.view.session for call in calls}
        if self._session is not None:
            names |= {self._session, *self._helpers}
        for name in names:
            for one in said_of(name, holdings.of(name).events):
                if one.time >= since and words_are_wanted(one.what, one.text or "", wanted):
                    yield one

    def _losses(self, calls: Sequence[Call]) -> list[ContextLoss]:
        """What went from the contexts of the sessions, since the first of the calls."""
        holdings = Holdings(self._store)
        lost = {name for name in {call.view.session for call in calls} if holdings.of(name).has_lost}
        views: dict[str, list[View]] = {name: [] for name in lost}
        for call in calls if lost else ():
            if call.view.session in lost:
                views[call.view.session].append(call.view)
        return [
            ContextLoss(name, loss)
            for name, shown in views.items()
            for loss in losses_of(holdings.of(name), shown, BYTES_A_TOKEN)
            if loss.change.time >= shown[0].time
        ]

    def _held(self, calls: Sequence[Call]) -> HeldTokens | None:
        if self._session is None:
            return None
        holding = Holdings(self._store).of(self._session)
        views = (call.view for call in calls if call.view.session == self._session)
        return held_tokens(holding, views, BYTES_A_TOKEN) if holding.events.changes else None


def time_of(row: Row) -> float:
    """Return when a row happened, in seconds since the epoch."""
    return row.view.time if isinstance(row, Call) else row.time


def moments_of(rows: Sequence[Row]) -> list[tuple[float, bool]]:
    """Return when rows happened, and whether each is a call that failed; of very many rows, of the last ones."""
    return [(time_of(row), isinstance(row, Call) and row.failed) for row in rows[-MOST_MOMENTS:]]


def id_of(row: Row) -> str:
    """Return what identifies a row: the place of its entry in the log."""
    return row.view.id if isinstance(row, Call) else row.id


def place_of(rows: Sequence[Row], wanted: Row | None) -> int:
    """Return the place of a row, or -1 if it is not there; the search begins at the row's time."""
    if wanted is None:
        return -1
    when, name = time_of(wanted), id_of(wanted)
    first, last = bisect_left(rows, when, key=time_of), bisect_right(rows, when, key=time_of)
    near = next((at for at in range(first, last) if id_of(rows[at]) == name), -1)
    return near if near >= 0 else next((at for at, row in enumerate(rows) if id_of(row) == name), -1)
