"""What `doctor` checks about views: each chain holds, the index has all of them, and their buffers have not changed."""

import contextlib
from collections.abc import Iterator

from sightline.base.check_result import Advance, CheckResult
from sightline.base.errors import OfNewerVersion, SightlineError
from sightline.light.typing_names import Any
from sightline.log import log
from sightline.log.log_index import fill_index, last_known, rebuild_views, verify_log
from sightline.store import Store

_PAGE = 1_000
_TOLD_VIEWS = 10
_GONE = ("expired", "removed", "lost")


def check_views(store: Store, advance: Advance) -> Iterator[CheckResult]:
    """Check that each chain holds up to its last known view, that the index has all views, and their buffers."""
    lines = sound = 0
    is_known = True
    known = last_known(store)
    _read_records(store)
    files = log.logged_sessions(store.layout.audit)
    tally = _Tally(store, advance)
    for session in sorted(files.keys() | known.keys()):
        tally.begin(session)
        try:
            lines += verify_log(store, session, known.get(session, 0), tally.take)
            sound += 1
        except OfNewerVersion as error:
            yield CheckResult("note", f"{error.message}, and cannot be checked here: {error.hint}")
            tally.take_rest(store.layout.audit_file(session))
        except SightlineError as error:
            yield CheckResult("problem", f"{error.message}: {error.hint}")
            tally.take_rest(store.layout.audit_file(session))
        fill_index(store, session)  # its writer is about to index these
        is_known = is_known and store.index.view_count(session) >= tally.views
    yield CheckResult("ok", f"audit files whose chain holds: {sound:,}, {lines:,} entries in all")
    if not is_known and store.index.unwritable:
        yield CheckResult("note", "the index does not know all views: it learns of them once it can be written")
    elif not is_known:
        yield CheckResult("mended", f"the index did not know all views: {rebuild_views(store):,} indexed anew")
    yield from tally.findings()


def _read_records(store: Store) -> None:
    """Raise, as for a damaged index, where the record of a view cannot be read."""
    number = 0
    while page := store.index.views_after(number, limit=_PAGE):
        number = page[-1][0]


class _Tally:
    """What became of the buffers that views showed, over all logs.

    Attributes:
        views: how many views the session has, as far as its log can be read.
    """

    def __init__(self, store: Store, advance: Advance) -> None:
        self.views = 0
        self._store = store
        self._advance = advance
        self._sound = self._wrong = 0
        self._told: list[str] = []
        self._counted = dict.fromkeys((*_GONE, "blanked"), 0)
        self._session = ""
        self._next = 0

    def begin(self, session: str) -> None:
        """Begin with another session."""
        self._session, self._next, self.views = session, 0, 0

    def take(self, place: log.LinePlace, entry: dict[str, Any]) -> None:
        """Count one entry."""
        self._next = place.number + 1
        if entry.get("kind") != "view":
            return
        self.views += 1
        self._advance("views", 1)
        self._counted["blanked"] += entry.get("text") is None
        states = [(name, self._state(name, entry.get("sealed", {}).get(name))) for name in entry.get("refs", ())]
        for name, state in states:
            if state in self._counted:
                self._counted[state] += 1
            elif state:
                self._wrong += 1
                if len(self._told) < _TOLD_VIEWS:
                    self._told.append(f"view {self._session}:{place.number} showed @{name}, which {state}")
        self._sound += not any(state for _, state in states)

    def take_rest(self, path: str) -> None:
        """Count the rest of a log whose chain is broken, as far as it can be read."""
        with contextlib.suppress(SightlineError, FileNotFoundError):  # that it cannot be read was said already
            for place, entry in log.read_all(path):
                if place.number >= self._next:
                    self.take(place, entry)

    def _state(self, name: str, sealed: dict[str, str] | None) -> str:
        """What became of a view's buffer: empty if it is unchanged, one of _GONE, or what is wrong with it."""
        hashes = self._store.index.hashes_of(name)
        if hashes is None:
            tombstone = self._store.tombstone(name)
            if tombstone is None:
                return "lost"  # which was said when the buffers were checked
            return "removed" if tombstone.get("reason") == "removed" else "expired"
        if sealed is not None and hashes != sealed:
            return "no longer hashes as it did then: its record was changed from outside"
        return ""

    def findings(self) -> Iterator[CheckResult]:
        """The results for all views together."""
        yield from (CheckResult("problem", text) for text in self._told)
        if self._wrong > len(self._told):
            yield CheckResult("problem", f"and {self._wrong - len(self._told):,} more views of such buffers")
        yield CheckResult("ok", f"views whose buffers are as they were: {self._sound:,}")
        if any(self._counted.values()):
            told = ", ".join(f"{count:,} {what}" for what, count in self._counted.items() if count)
            yield CheckResult("note", f"views of buffers that are gone, or without their text: {told}")
