"""Finds in a thread the failures that no agent saw, and leads from one to the next, across buffers."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from textual.screen import Screen
from textual.timer import Timer

from sightline.base.project import Project
from sightline.base.records import Buffer
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading
from sightline_tui.common.store_read import StoreRead

if TYPE_CHECKING:  # loaded by the first read, for which the first screen does not wait
    from sightline.audit.overlooked_places import MissedOutput, OverlookedPlaces
    from sightline.audit.verdict import Verdict, VerdictReader

with late_modules(globals()):
    from sightline.audit import (
        buffer_coverage,  # loaded with audit.verdict
        overlooked_places,  # likewise
    )
    from sightline.audit import verdict as verdicts  # 45 ms, in the same thread

FIRST_SECONDS = 0.4  # to wait after the first screen: the read loads the rules of all tools, which would be felt
SOON_SECONDS = 0.3  # to wait after a change, since many come together
_STEP_SECONDS = 0.15  # of reading before the screen is told what was found


class Miss(NamedTuple):
    """A failure that no agent saw.

    Attributes:
        buffer: the buffer that has it.
        stream: the stream of the buffer.
        line: its first line, from 1.
        nth: its number among all such failures, from 1.
        total: how many there are.
        so_far: whether more may be found.
    """

    buffer: Buffer
    stream: str
    line: int
    nth: int
    total: int
    so_far: bool

    @property
    def told(self) -> str:
        """``3 of 7 that no agent saw``."""
        return f"{self.nth:,} of {self.total:,} that no agent saw{' so far' if self.so_far else ''}"


class Found(NamedTuple):
    """The verdict so far, and the outputs with failures that no agent saw, the last used one first."""

    verdict: "Verdict"
    missed: "tuple[MissedOutput, ...]"


def following(
    found: Found, last: tuple[str, str, int] | None, selected: str, read: "Callable[[str], OverlookedPlaces | None]"
) -> Miss | None:
    """The failure after the last one that was visited, or the first after all; None if there is none.

    Args:
        found: what is known.
        last: (buffer, stream, line) of the one visited last.
        selected: name of the selected buffer; if it is another than that of `last`, its first failure comes next.
        read: returns where the failures of a buffer begin; None if it is gone.
    """
    total = sum(one.number for one in found.missed)
    if not total:
        return None
    nth = before = 0
    for one in found.missed:
        if one.name == selected:
            places = read(selected) if last is not None and last[0] == selected else None
            nth = before + (places.number_of(last[1:]) if places is not None and last is not None else 0)
        before += one.number
    nth = at = nth % total + 1
    for one in found.missed:
        if at <= one.number:
            places = read(one.name)
            if places is None or at > len(places.places):
                return None  # it was seen, or removed, meanwhile
            return Miss(places.buffer, *places.places[at - 1], nth, total, not found.verdict.is_done)
        at -= one.number
    return None


class Misses:
    """Keeps the list of overlooked failures up to date for a screen.

    Attributes:
        found: the result so far; None before anything was read.
    """

    def __init__(
        self, screen: Screen[None], store: Reading, project: Project | None, tell: Callable[["Verdict"], None]
    ) -> None:
        """Prepare; ``tell`` is called in the UI's thread with the result so far, each time that it grows."""
        self._screen = screen
        self._store = store
        self._project = project
        self._told = tell
        self._timer: Timer | None = None
        self._reader: VerdictReader | None = None
        self._last: tuple[str, str, int] | None = None
        self._then: Callable[[], None] | None = None
        self.found: Found | None = None
        self._era = object()  # another one after each new beginning
        self._reads: StoreRead[tuple[object, VerdictReader, Found]] = StoreRead(screen, self._plan, self._take)

    def ask(self) -> None:
        """Read soon what has changed."""
        if self._timer is None:
            seconds = FIRST_SECONDS if self._reader is None else SOON_SECONDS
            self._timer = self._screen.set_timer(seconds, self._ask_now)

    def start_afresh(self, project: Project | None) -> None:
        """Begin anew, since the store or the project is another one."""
        self._project = project
        self._reader, self._last, self.found, self._era = None, None, None, object()
        self.ask()

    def next(self, selected: str) -> Miss | None:
        """The next overlooked failure, see `following`; None if none is known."""
        miss = following(self.found, self._last, selected, self._places) if self.found is not None else None
        self._last = (miss.buffer.name, miss.stream, miss.line) if miss else None
        return miss

    def then(self, deed: Callable[[], None]) -> None:
        """Call something once a failure is known, or it is known that there is none."""
        self._then = deed
        self._reads.ask()

    def first_unseen(self, names: Iterable[str]) -> Buffer | None:
        """The first of some buffers with a line that nobody was shown; it reads the store, so call it in a thread."""
        found: Buffer | None = buffer_coverage.first_unseen(self._store, names)
        return found

    def _ask_now(self) -> None:
        self._timer = None
        self._reads.ask()

    def _places(self, name: str) -> "OverlookedPlaces | None":
        found: OverlookedPlaces | None = overlooked_places.places_in(self._store, name)
        return found

    def _plan(self) -> "Callable[[], tuple[object, VerdictReader, Found]]":
        era, known, project = self._era, self._reader, self._project

        def read() -> "tuple[object, VerdictReader, Found]":
            reader = known or verdicts.VerdictReader(self._store, verdicts.Scope(project=project))
            verdict = reader.step(_STEP_SECONDS)
            return era, reader, Found(verdict, overlooked_places.missed_in(self._store, reader.scope))

        return read

    def _take(self, read: "tuple[object, VerdictReader, Found]") -> None:
        era, reader, found = read
        if era is not self._era:
            return  # it is about what was shown before
        self._reader, self.found = reader, found
        self._told(found.verdict)
        if self._then is not None and (found.missed or found.verdict.is_done):
            deed, self._then = self._then, None
            deed()
        if not found.verdict.is_done:
            self._reads.ask()
