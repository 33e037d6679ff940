"""Knows for lists how much of every buffer was seen: reads the index once, and then only newer views."""

from collections.abc import Iterable
from itertools import islice

from sightline.audit.buffer_coverage import (
    contribution_of,
    coverage_of,
    filtered_from,
    is_transformed,
    may_have_cut,
)
from sightline.audit.buffer_failures import failures_if_quick, overlooked_in
from sightline.audit.coverage import NO_LINES, GradedLines, graded, joined, recorded, recorded_cuts, share_of, within
from sightline.audit.line_spans import NONE
from sightline.audit.overlooked_places import OverlookedPlaces, places_of
from sightline.audit.people_views import Onlookers
from sightline.errors import SightlineError
from sightline.log.log_index import fill_index
from sightline.named_tuple import NamedTuple
from sightline.records import Buffer, IndexedView, View
from sightline.store import Reading

MOST_HELD = 200
"""Buffers of which what was seen is held where only some are asked about; in a live list all that come pass by."""

_BATCH = 64  # views that are held at once: with the records that they are made from, each may take 20 KB
_TRACED_WITHIN = 256  # the newest views are read again, since their lines may have been found only now


class Share(NamedTuple):
    """How much of a buffer was seen.

    Attributes:
        seen: number of lines that stood in some view; a cut line counts by its part.
        total: number of its lines.
        views: number of views about it.
        cut: whether the newest view left something out.
        partial: whether the buffer holds only a part of what was written.
        unsure: whether lines that count as seen may have been cut.
    """

    seen: float
    total: int
    views: int
    cut: bool
    partial: bool = False
    unsure: bool = False

    @property
    def share(self) -> float:
        """The share, 0 to 1; 1 for a whole buffer without lines."""
        return share_of(self.seen, self.total, partial=self.partial)

    @property
    def at_most(self) -> bool:
        """Whether the share is an upper bound, because less may have been seen."""
        return self.partial or self.unsure


class _Known:
    """The views and seen lines of one buffer."""

    __slots__ = ("_parts", "cut", "overlooked", "unmatched", "untold", "views")

    def __init__(self) -> None:
        self.overlooked: OverlookedPlaces | None = None
        self._parts: dict[str, list[GradedLines]] = {}
        self.unmatched: dict[str, IndexedView] = {}
        self.untold: dict[str, IndexedView] = {}  # views that do not record which lines they cut
        self.views: dict[str, None] = {}
        self.cut = False

    def add(self, stream: str, lines: GradedLines) -> None:
        self._parts.setdefault(stream, []).append(lines)

    @property
    def lines(self) -> dict[str, GradedLines]:
        """The seen lines by stream; they are joined here for all new views at once, which may be a thousand."""
        for parts in self._parts.values():
            if len(parts) > 1:
                parts[:] = [joined(parts)]
        return {stream: parts[0] for stream, parts in self._parts.items()}


class CoverageList:
    """The shares of all buffers. Only one thread at a time may use it."""

    def __init__(self, store: Reading, session: str | None = None) -> None:
        """Prepare to read; nothing is read before `refresh`.

        Args:
            store: the store.
            session: the only session whose views count; None for all, except people who look on.
        """
        self._store = store
        self._session = session
        self._people = Onlookers(store)
        self._known: dict[str, _Known] = {}
        self._numbers: list[int] = []
        self._only: dict[str, None] | None = None  # the last asked about is the last

    def refresh(self, only: Iterable[str] | None = None) -> set[str]:
        """Take in new views, and return the names of their buffers.

        Args:
            only: names of buffers that `of` will be asked about. Views of other buffers are then not read, because
                they may be many, and of those of earlier calls only the last `MOST_HELD` are held. By default all are
                read, in later calls, too.
        """
        fill_index(self._store)
        changed: set[str] = set()
        if self._numbers and self._store.index.newest_view() < self._numbers[-1]:  # views were indexed anew
            changed.update(self._known)
            self._known, self._numbers = {}, []
            self._only = None if self._only is None else {}
        if only is not None and (self._only is not None or not self._numbers):
            is_first = self._only is None
            changed |= self._look_at(only)
            if is_first:
                return changed  # all of their views were just read
        elif self._only is not None:
            self._known, self._numbers, self._only = {}, [], None
        after = self._numbers[0] - 1 if self._numbers else 0
        while rows := self._store.index.views_after(after, session=self._session, limit=_BATCH):
            for _, indexed in rows:
                changed.update(self._take(indexed))
            after = rows[-1][0]
            self._numbers = [*self._numbers, *(number for number, _ in rows if number not in self._numbers)]
            self._numbers = self._numbers[-_TRACED_WITHIN:]
            if len(rows) < _BATCH:
                break
        return changed

    def _look_at(self, names: Iterable[str]) -> set[str]:
        """Read the views of some buffers once; later views come with those of all others."""
        if self._only is None:
            self._only, self._numbers = {}, [max(self._store.index.newest_view() - _TRACED_WITHIN, 1)]
        asked = dict.fromkeys(names)
        new = asked.keys() - self._only.keys()
        for name in asked:
            self._only.pop(name, None)
        self._only.update(asked)
        for name in new:
            for indexed in self._store.index.views_of(name, session=self._session):
                self._take(indexed, (name,))
        for name in list(islice(self._only, max(0, len(self._only) - max(len(asked), MOST_HELD)))):
            del self._only[name]
            self._known.pop(name, None)
        return new

    def _take(self, indexed: IndexedView, names: Iterable[str] = ()) -> list[str]:
        view = indexed.view
        changed = []
        for name in names or dict.fromkeys(view.refs):
            if self._only is not None and name not in self._only:
                continue
            if self._session is None and self._looks_on(view.session, name):
                continue
            known = self._known.setdefault(name, _Known())
            ranges = _recorded(view, name)
            is_new = view.id not in known.views
            was_traced = bool(ranges) and view.id in known.unmatched
            if was_traced:
                del known.unmatched[view.id]
            if is_new or was_traced:
                changed.append(name)
                known.overlooked = None
                known.cut = view.truncated if is_new else known.cut
                known.views[view.id] = None
                for stream, lines in ranges.items():
                    known.add(stream, lines)
                if view.parts is None and ranges:
                    known.untold[view.id] = indexed
            if is_new and not ranges and is_transformed(view, name):
                known.unmatched[view.id] = indexed
        return changed

    def _looks_on(self, session: str, name: str) -> bool:
        """Return whether this session is a person's who looks at an agent's capture; False for a gone buffer."""
        buffer = self._store.index.buffer(name) if self._people.is_person(session) else None
        return buffer is not None and self._people.looks_on(session, buffer.session)

    def of(self, buffer: Buffer, *, matched: bool = True) -> Share:
        """Return how much of a buffer was seen.

        Args:
            buffer: the buffer's record, with its progress if it is running.
            matched: whether to search new texts made by pipelines for its lines; that may take a moment each
                time.
        """
        if matched and buffer.state != "evicted" and filtered_from(buffer):
            return self._filtered(buffer)
        known = self._known.get(buffer.name)
        if known is None:
            return Share(0, buffer.lines, 0, False, buffer.is_partial)
        if matched and known.unmatched and buffer.state != "evicted":
            for indexed in list(known.unmatched.values()):
                self._match(buffer, known, indexed)
        found = known.lines
        seen = sum(within(found[name], info.lines).weight for name, info in buffer.streams.items() if name in found)
        unsure = matched and bool(known.untold) and self._is_unsure(buffer, known)
        return Share(seen, buffer.lines, len(known.views), known.cut, buffer.is_partial, unsure)

    def _is_unsure(self, buffer: Buffer, known: _Known) -> bool:
        """Return whether any view of an older version may have cut what it shows; each view is examined once."""
        if buffer.state == "evicted":
            return True
        for name, indexed in list(known.untold.items()):
            if not may_have_cut(self._store, buffer, indexed):
                del known.untold[name]
        if not known.untold:
            return False
        return coverage_of(self._store, buffer, session=self._session).at_most

    def seen_lines(self) -> dict[str, float]:
        """Return the number of seen lines of each buffer that anyone was shown, without searching texts."""
        return {
            name: sum(lines.weight for lines in found.values())
            for name, known in self._known.items()
            if (found := known.lines)
        }

    def overlooked(self, buffer: Buffer) -> OverlookedPlaces | None:
        """Return where failures of a buffer stood in no view; None if finding out would take more than a moment."""
        found = self.overlooked_if_known(buffer)
        if found is not None:
            return found
        try:
            failures = failures_if_quick(self._store, buffer)
            if failures is None:
                return None
            unseen = (
                overlooked_in(self._store, buffer, coverage_of(self._store, buffer, session=self._session))
                if failures
                else ()
            )
        except SightlineError:
            unseen = ()
        found = places_of(buffer, unseen)
        self._known.setdefault(buffer.name, _Known()).overlooked = found
        return found

    def fails(self, buffer: Buffer) -> bool | None:
        """Return whether a buffer has any failure, seen or not; None if finding out would take more than a moment."""
        try:
            failures = failures_if_quick(self._store, buffer)
        except SightlineError:
            return None
        return None if failures is None else bool(failures)

    def overlooked_if_known(self, buffer: Buffer) -> OverlookedPlaces | None:
        """Return what `overlooked` returned last if nothing has changed since; None if it would have to search."""
        if buffer.kind == "file" or buffer.state == "evicted":
            return places_of(buffer, ())
        known = self._known.get(buffer.name)
        kept = known.overlooked if known else None
        if kept is None or (kept.buffer.state, kept.buffer.bytes) != (buffer.state, buffer.bytes):
            return None
        return kept

    def _filtered(self, buffer: Buffer) -> Share:
        """Count for what went into a command's filters the views of that command, too."""
        try:
            coverage = coverage_of(self._store, buffer, session=self._session)
        except SightlineError:
            return Share(0, buffer.lines, 0, False, buffer.is_partial)
        views = coverage.contributions
        cut = bool(views) and views[-1].view.truncated
        unsure = coverage.at_most
        return Share(coverage.share * buffer.lines, buffer.lines, len(views), cut, buffer.is_partial, unsure)

    def _match(self, buffer: Buffer, known: _Known, indexed: IndexedView) -> None:
        try:
            part = contribution_of(self._store, buffer, indexed)
        except SightlineError:
            return
        del known.unmatched[indexed.view.id]
        for stream, lines in part.streams.items():
            known.add(stream, lines)


def _recorded(view: View, name: str) -> dict[str, GradedLines]:
    """Return the lines of a buffer that a view records, by stream, in any grade."""
    found = {stream: GradedLines(spans) for stream, spans in recorded((*view.shown, *view.matched), name).items()}
    for stream, cuts in recorded_cuts(view.parts, name).items() if view.parts else ():
        found[stream] = graded(found.get(stream, NO_LINES).exact, NONE, NONE, cuts)
    return found
