"""Counts the totals of a timeline, and the failures that no agent was shown, in steps behind the screen."""

import time
from collections.abc import Sequence

from sightline.audit.buffer_failures import not_judged
from sightline.audit.coverage_list import CoverageList
from sightline.audit.overlooked_places import OverlookedPlaces
from sightline.audit.project_scope import buffers_in
from sightline.audit.timeline import Call, CallTotals, captured_by, totals_of, unknowable
from sightline.named_tuple import NamedTuple
from sightline.project import Project
from sightline.records import Buffer
from sightline.store import Reading

STEP_SECONDS = 0.1
"""How long one step looks through buffers before the UI gets what was found."""

_PAUSE_SECONDS, _PAUSE_EVERY = 0.001, 8  # pauses in which the UI's thread gets its turn


class TimelineTotals(NamedTuple):
    """What has been counted so far.

    Attributes:
        totals: of all calls.
        missed: where overlooked failures begin that are found, by buffer, the newest one first.
        looked: share of the buffers that have been searched for these; 1 for all.
        skipped: number of buffers that were too large for that.
        gone: number of buffers that were removed before they were shown whole, so that nobody can tell.
        unjudged: number of buffers that are not judged, since they only show what others wrote.
    """

    totals: CallTotals
    missed: tuple[OverlookedPlaces, ...]
    looked: float
    skipped: int
    gone: int = 0
    unjudged: int = 0


class TotalsReader:
    """Counts for one session or for all, in one project or in all. Only one thread at a time may use it."""

    def __init__(self, store: Reading, session: str | None = None, project: Project | None = None) -> None:
        """Prepare to count; nothing is read before `step`."""
        self._store = store
        self._session = session
        self._project = project
        self._coverage = CoverageList(store, session)
        self._counted: Sequence[Call] | None = None
        self._captured: list[Buffer] = []
        self._totals = CallTotals()
        self._missed = dict[str, OverlookedPlaces | None]()  # None for a buffer that is too large
        self._at = self._gone = self._unjudged = 0

    def step(self, calls: Sequence[Call]) -> TimelineTotals:
        """Count these calls, and search their outputs for missed failures for a moment. Raises as the store does."""
        if calls is not self._counted:
            self._counted, self._at = calls, 0
            names = [self._session] if self._session is not None else list(self._store.index.session_counts())
            self._captured = buffers_in(captured_by(self._store, names), self._project)[::-1]
            self._unjudged = not_judged(self._captured)
            self._totals = totals_of(calls, self._captured)
            # The project of a buffer that is gone is no longer known.
            self._gone = len(unknowable(self._store, calls, names)) if self._project is None else 0
            self._coverage.refresh()
        ends = time.monotonic() + STEP_SECONDS
        while self._at < len(self._captured) and time.monotonic() < ends:
            buffer = self._captured[self._at]
            self._missed[buffer.name] = self._coverage.overlooked(buffer)
            self._at += 1
            if self._at % _PAUSE_EVERY == 0:
                time.sleep(_PAUSE_SECONDS)
        looked = [self._missed[buffer.name] for buffer in self._captured if buffer.name in self._missed]
        found = tuple(one for one in looked if one is not None and one.number)
        share = len(looked) / len(self._captured) if self._captured else 1.0
        return TimelineTotals(self._totals, found, share, looked.count(None), self._gone, self._unjudged)

    @property
    def is_done(self) -> bool:
        """Whether everything has been counted."""
        return self._counted is not None and self._at >= len(self._captured)
