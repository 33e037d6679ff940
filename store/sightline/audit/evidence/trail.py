"""The checks, edits and calls of a session in order, up to a time."""

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

from sightline.audit.evidence.check_counts import CheckCounts
from sightline.audit.evidence.check_names import NOUNS
from sightline.audit.evidence.check_relations import are_nested, concerns, is_made_good
from sightline.audit.evidence.checks import (
    BY_OUTPUT,
    FAILED,
    UNKNOWN,
    Check,
    counts_of,
    hides_result,
    may_show_others,
    went_through,
)
from sightline.audit.evidence.edits import Edit, may_have_edited, mends_layout
from sightline.audit.timeline import Call
from sightline.base.errors import SightlineError
from sightline.log.view_text import view_text
from sightline.store import Reading

_SEARCHED_CALLS = 50


def began(call: Call) -> float:
    """Return when a call's command began, which of one in the background is long before its view."""
    ran = call.buffer if call.view.verb == "run_command" else None
    return min(ran.created, call.view.time) if ran else call.view.time


class Trail:
    """Checks, edits and calls in order, up to a time."""

    def __init__(
        self,
        store: Reading,
        checks: Sequence[Check],
        edits: Sequence[Edit],
        calls: Sequence[Call],
        clock: Callable[[float], str],
        *,
        goes_on: bool = False,
    ) -> None:
        self.store = store
        self.checks = checks
        self.clock = clock
        self.all_edits = edits
        self.calls = calls
        self.goes_on = goes_on
        self.edits = [edit for edit in edits if edit.bears_on_checks]
        self._times = (
            [one.view.time for one in checks],
            [one.time for one in self.edits],
            [one.view.time for one in calls],
        )

    def before(self, when: float) -> "Trail":
        """Return what there was before a time; what began with a message, such as its own calls, came after it."""
        made = object.__new__(Trail)
        checks, edits, calls = (bisect_left(times, when) for times in self._times)
        made.checks, made.edits, made.calls = self.checks[:checks], self.edits[:edits], self.calls[:calls]
        made.all_edits, made._times, made.clock = self.all_edits, self._times, self.clock
        made.store, made.goes_on = self.store, self.goes_on
        return made

    def last_known(self, runs: Sequence[Check]) -> Check | None:
        """Return the last of some runs of which it is known how it ended, if nothing was edited since; else None."""
        known = next((one for one in reversed(runs) if one.outcome != UNKNOWN), None)
        if known is None or known is runs[-1] or not self.edited_since(known):
            return known
        return None

    def may_show_others(self, kinds: Sequence[str]) -> Call | None:
        """Return the last call that may have shown how checks of some kinds ended; None for none."""
        return next((call for call in reversed(self.calls) if may_show_others(self.store, call, kinds)), None)

    def last_trial(self) -> Call | None:
        """Return the last call that ran a program of which nobody knows what it does; None for none."""
        return next((call for call in reversed(self.calls) if may_have_edited(call)), None)

    def last_that_states(self, number: int) -> Call | None:
        """Return the last call whose reply says that so many passed, whatever that was; None for none."""
        stated = re.compile(
            rf"(?<![\d,.]){number}\W{{1,3}}pass|pass(?:ed|es)?\W{{1,5}}{number}(?![\d,.])", re.IGNORECASE
        )
        for call in reversed(self.calls[-_SEARCHED_CALLS:]):
            try:
                if call.view.bytes_shown and stated.search(view_text(self.store, call.indexed)):
                    return call
            except SightlineError:
                continue
        return None

    def may_show_since(self, check: Check) -> bool:
        """Return whether a command behind a check, and behind the edits since, may have shown such a check."""
        edited = self.edited_since(check)
        after = max(check.view.time, edited[-1].time if edited else 0.0)
        later = self.calls[bisect_right(self._times[2], after, hi=len(self.calls)) :]
        return any(began(call) > after and may_show_others(self.store, call, (check.kind,)) for call in later)

    def counts_of(self, check: Check) -> CheckCounts | None:
        """Return what a run counts; None if nothing is known."""
        return counts_of(self.store, check)

    def passed_in(self, check: Check) -> int:
        """Return the number of tests that passed in a run; -1 if it is not known."""
        counts = self.counts_of(check)
        return counts.passed if counts else -1

    def hides(self, check: Check) -> bool:
        """Return whether the reply of a check hid how it ended."""
        return hides_result(self.store, check)

    def edited_since(self, check: Check) -> list[Edit]:
        """Return the edits after a check of files on which it could depend."""
        later = self.edits[bisect_right(self._times[1], check.view.time) :]
        left = {one.path: one.gone for one in later}
        return [one for one in later if concerns(one, check) and not (left[one.path] and self._made_by(one.path))]

    def _made_by(self, path: str) -> bool:
        """Return whether the session made a file itself, so that nothing is left of it once it is gone."""
        return next(one for one in self.edits if one.path == path).wrote

    def what(self, check: Check) -> str:
        """Return what a check is called: by its kind or, where something else of that kind ran later, by its words."""
        later = [one for one in self.checks if one.kind == check.kind and one.view.time > check.view.time]
        if not later:
            return NOUNS[check.kind]
        elsewhere = not all(are_nested(one.folder, check.folder) for one in later)
        return check.phrase + (f" in {os.path.basename(check.folder)}" if elsewhere else "")

    def may_have_edited_since(self, check: Check) -> Call | None:
        """Return the first call after a check of which nobody can tell what files it changed; None for none."""
        later = self.calls[bisect_right(self._times[2], check.view.time, hi=len(self.calls)) :]
        unsure = {edit.call.view.id for edit in self.all_edits if not edit.sure}
        return next((call for call in later if may_have_edited(call) or call.view.id in unsure), None)

    def formatted_since(self, check: Check) -> bool:
        """Return whether what only checks a layout was followed by the formatter that mends it."""
        later = self.calls[bisect_right(self._times[2], check.view.time, hi=len(self.calls)) :]
        return any(mends_layout(call, check.phrase) for call in later)

    def went_through_since(self, check: Check) -> bool:
        """Return whether what runs a check without naming it, such as a commit with its hook, went well later."""
        later = self.calls[bisect_right(self._times[2], check.view.time, hi=len(self.calls)) :]
        return check.known_by == BY_OUTPUT and any(went_through(self.store, call, check) for call in later)

    def unresolved(self, kinds: Iterable[str]) -> list[Check]:
        """Return failed runs of some kinds for which no later run of the same check, on as much, succeeded."""
        wanted = [one for one in self.checks if one.kind in kinds]
        return [
            run for at, run in enumerate(wanted) if run.outcome == FAILED and not is_made_good(run, wanted[at + 1 :])
        ]
