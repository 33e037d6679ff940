"""Counts the totals of a timeline, and reads the verdict on its outputs, in steps behind the screen."""

from collections.abc import Sequence

from sightline.audit.overlooked_places import MissedOutput, missed_in
from sightline.audit.project_scope import buffers_in
from sightline.audit.session_cost import session_cost
from sightline.audit.timeline import Call, CallTotals, captured_by, totals_of
from sightline.audit.verdict import Scope, Verdict, VerdictReader
from sightline.base.project import Project
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading

STEP_SECONDS = 0.1
"""How long one step judges outputs before the UI gets what was found."""


class TimelineTotals(NamedTuple):
    """What has been counted so far.

    Attributes:
        totals: of all calls.
        verdict: the verdict on what their sessions captured.
        missed: the outputs with failures that stood in no reply, the last used one first.
        cost: what a session cost, and how it came from another, in a few words; empty if that is not known.
    """

    totals: CallTotals
    verdict: Verdict
    missed: tuple[MissedOutput, ...] = ()
    cost: str = ""


class TotalsReader:
    """Counts for one session or for all, in one project or in all. Only one thread at a time may use it."""

    def __init__(self, store: Reading, session: str | None = None, project: Project | None = None) -> None:
        """Prepare to count; nothing is read before `step`."""
        self._store = store
        self._verdicts = VerdictReader(store, Scope(session, project=project))
        self._counted: Sequence[Call] | None = None
        self._totals = CallTotals()
        self._cost = ""
        self.is_done = False

    def step(self, calls: Sequence[Call]) -> TimelineTotals:
        """Count these calls, and judge their outputs for a moment. Raises as the store does."""
        session, _, project = self._verdicts.scope
        if calls is not self._counted:
            self._counted = calls
            names = [session] if session is not None else list(self._store.index.session_counts())
            self._cost = session_cost(self._store, session).words if session is not None else ""
            self._totals = totals_of(calls, buffers_in(captured_by(self._store, names), project))
        verdict = self._verdicts.step(STEP_SECONDS)
        self.is_done = verdict.is_done
        return TimelineTotals(self._totals, verdict, missed_in(self._store, self._verdicts.scope), self._cost)
