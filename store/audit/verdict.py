"""Keeps up to date which failures in a store no agent saw, as captures and views come."""

import time
from collections import deque
from collections.abc import Iterable

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import failures_if_quick
from sightline.audit.overlooked_places import OverlookedPlaces, places_of, told_in
from sightline.errors import SightlineError
from sightline.log.log_index import fill_index
from sightline.named_tuple import NamedTuple
from sightline.project import Project
from sightline.records import Buffer
from sightline.store import Reading
from sightline.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.audit.evidence.session_evidence import DoubtedClaims

MOST_BUFFERS = 2_000
"""Most recently used buffers that are examined; for older ones, the verdict says that they were not."""

_PAGE = 200
_NEW_PAGE = 40  # first read of what was used since the last look, mostly a few
_VIEWS = 1_000
_CLAIM_SECONDS = 2.0  # between two looks at agents' messages
_PAUSE_SECONDS = 0.001  # between two buffers, so that the thread that draws gets its turn


class Verdict(NamedTuple):
    """What is known so far.

    Attributes:
        missed: where failures begin that stood in no view, by buffer, the last used one first.
        failures: number of all known failures.
        done: whether all buffers in question are examined.
        skipped: names of buffers that are too large to examine in a moment.
        older: whether there are more than `MOST_BUFFERS` buffers, so that nothing is said of the others.
        doubted: number of claims in the newest sessions that nothing supports; 0 while that is not known.
        altered: number of outputs whose bytes were changed after their capture.
        told: the failures that stood in no view, counted in words: ``at least 20,001 failures``.
    """

    missed: tuple[OverlookedPlaces, ...] = ()
    failures: int = 0
    done: bool = False
    skipped: frozenset[str] = frozenset()
    older: bool = False
    doubted: int = 0
    altered: int = 0
    told: str = ""


def first_unseen(store: Reading, names: Iterable[str]) -> Buffer | None:
    """Return the first of some buffers with a line that stood in no view; None if all was seen."""
    for name in names:
        buffer = store.index.buffer(name)
        if buffer is None or buffer.state == "evicted" or not buffer.lines:
            continue
        try:
            coverage = coverage_of(store, buffer)
        except SightlineError:
            continue  # it was removed meanwhile
        if coverage.total and coverage.share < 1:
            return buffer
    return None


class _Failing(NamedTuple):
    used: int
    buffer: Buffer
    failures: int
    missed: OverlookedPlaces


class VerdictReader:
    """Examines a store in steps. Only one thread at a time may use it.

    A running capture is left out until it ends, because its caller has no answer yet.
    """

    def __init__(self, store: Reading, project: Project | None = None) -> None:
        """Prepare to read, for one project or all; nothing is read before `step`."""
        self._store = store
        self._project = project
        self._start()

    def _start(self) -> None:
        self._newest, self._oldest, self._view = 0, 0, -1
        self._looked = 0
        self._older = self._at_end = False
        self._total = 0
        self._queue = deque[tuple[int, str]]()  # when it was used, and its name: whole records would fill memory
        self._running: dict[str, int] = {}
        self._failing: dict[str, _Failing] = {}
        self._skipped: dict[str, None] = {}
        self._altered: dict[str, None] = {}
        self._claims: DoubtedClaims | None = None
        self._doubted, self._claims_read = 0, 0.0

    def step(self, seconds: float) -> Verdict:
        """Take in what is new, and examine buffers for this many seconds. Raises what the store raises."""
        self._take_in()
        ends = time.monotonic() + seconds
        while (self._queue or self._read_older()) and time.monotonic() < ends:
            self._look_at(*self._queue.popleft())
        if not self._queue and time.monotonic() >= self._claims_read + _CLAIM_SECONDS:
            self._count_claims()
        return self._verdict()

    def _count_claims(self) -> None:
        if self._claims is None:
            from sightline.audit.evidence.session_evidence import DoubtedClaims  # 25 ms: failures are reported first

            self._claims = DoubtedClaims(self._store, self._project)
        self._doubted = self._claims.count()
        self._claims_read = time.monotonic()

    def _verdict(self) -> Verdict:
        failing = sorted(self._failing.values(), key=lambda one: -one.used)
        missed = tuple(one.missed for one in failing if one.missed.number)
        return Verdict(
            missed=missed,
            told=told_in(missed),
            failures=sum(one.failures for one in failing),
            done=not self._queue and self._at_end,
            skipped=frozenset(self._skipped),
            older=self._older,
            doubted=self._doubted,
            altered=len(self._altered),
        )

    # what came since

    def _take_in(self) -> None:
        index = self._store.index
        fill_index(self._store)
        newest = index.newest_view()
        if newest < self._view:  # views were indexed anew
            self._start()
        again = self._viewed(newest)
        for name in [name for name in self._running if name not in again]:
            known = index.buffer(name)
            if known is None or known.state != "running":
                again.add(name)
        self._forget_gone(self._queue_newer())
        for name in again:
            used = self._running.pop(name, None)
            used = self._failing[name].used if used is None and name in self._failing else used
            if index.buffer(name) is None:
                self._failing.pop(name, None)
            elif used is not None:
                self._queue.appendleft((used, name))

    def _viewed(self, newest: int) -> set[str]:
        """Return the names of buffers with failures about which there are new views."""
        if self._view < 0:
            self._view = newest
            return set()
        shown = set[str]()
        while rows := self._store.index.views_after(self._view, session=None, limit=_VIEWS):
            shown.update(name for _, indexed in rows for name in indexed.view.refs)
            self._view = rows[-1][0]
        return {name for name, one in self._failing.items() if name in shown or one.buffer.origin in shown}

    def _forget_gone(self, came: int) -> None:
        """Forget buffers that the store no longer has, of which so many were used since; some of these are new."""
        total = self._store.index.totals().buffers
        if total < self._total + came or self._project:  # how many came in other projects is not known
            for known in (self._failing, self._skipped, self._altered):
                for name in [name for name in known if not self._is_there(name)]:
                    del known[name]
        self._total = total

    def _is_there(self, name: str) -> bool:
        buffer = self._store.index.buffer(name)
        return buffer is not None and buffer.state != "evicted"

    def _queue_newer(self) -> int:
        """Queue the buffers used since, the last one first, and return their number; first, the first page of all.

        If more come than are examined meanwhile, those that were used longest ago are left out, as older ones are.
        """
        newer, before = list[tuple[int, str]](), None
        size = _NEW_PAGE if self._newest else _PAGE
        while True:
            page = self._store.listed(size, before=before, project=self._project)
            newer += [(used, buffer.name) for buffer, used in page if used > self._newest]
            if not self._newest:
                self._at_end = len(page) < _PAGE
                self._oldest = page[-1].used if page else 0
                break
            if len(page) < size or page[-1].used <= self._newest:
                break
            before, size = page[-1].used, _PAGE
        if newer:
            self._newest = newer[0][0]
            self._looked += len(newer)
            self._queue.extendleft(reversed(newer))
        while len(self._queue) > MOST_BUFFERS:
            self._queue.pop()
            self._at_end = self._older = True
        return len(newer)

    def _read_older(self) -> bool:
        """Queue the next page of earlier used buffers, and return whether there is one."""
        if self._at_end or not self._oldest:
            return False
        if self._looked >= MOST_BUFFERS:
            self._at_end = self._older = True
            return False
        page = self._store.listed(_PAGE, before=self._oldest, project=self._project)
        self._at_end = len(page) < _PAGE
        if page:
            self._oldest = page[-1].used
        self._looked += len(page)
        self._queue.extend((used, buffer.name) for buffer, used in page)
        return bool(self._queue)

    # one buffer

    def _look_at(self, used: int, name: str) -> None:
        self._failing.pop(name, None)
        self._skipped.pop(name, None)
        self._altered.pop(name, None)
        buffer = self._store.index.buffer(name)
        if buffer is None:
            return  # it was removed before its turn
        if buffer.state == "running":
            self._running[buffer.name] = used
            return
        if self._store.checked(buffer).altered:
            self._altered[name] = None
        if buffer.kind != "cmd" or buffer.state == "evicted" or not buffer.bytes:
            return
        try:
            failures = failures_if_quick(self._store, buffer)
            if failures:
                coverage = coverage_of(self._store, buffer)
                missed = places_of(buffer, (one for one in failures if not one.is_seen(coverage)))
                self._failing[buffer.name] = _Failing(used, buffer, len(failures), missed)
        except SightlineError:
            return  # it was removed meanwhile
        if failures is None:
            self._skipped[buffer.name] = None
        time.sleep(_PAUSE_SECONDS)
