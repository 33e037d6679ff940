"""The rows above the viewer: they name the output, what is known of it, and which lines are on the screen."""

import time
from collections.abc import Callable

from textual import events

from sightline.base.records import Buffer
from sightline.light.late_imports import late_modules
from sightline_tui.common.bar import Bar
from sightline_tui.common.messages import BufferSelected, PlaceChanged
from sightline_tui.common.phrases import MARKS, PIN, facts, name_of, state_of
from sightline_tui.common.split import Dragging
from sightline_tui.common.strips import LEAST_LEFT, StripPart, fitted, width_of
from sightline_tui.common.visible_text import title

with late_modules(globals()):
    from sightline_tui.common import histogram  # 1 ms: for a row that few ask for

_NOWHERE = PlaceChanged(0, 0, 0, False, "")  # while the output that is named is not open yet
_LEAST_FACTS = 14  # cells kept for how it ended, beside words on a line


class Info(Bar):
    """Two rows: state, ref, command and the place in the output; then the facts. Dragging it resizes stacked panes.

    Where the viewer shows times, a third row counts its lines by the time when they came.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(id="info")
        self._clock = clock
        self._buffer: Buffer | None = None
        self._selected = BufferSelected(None)  # what the list knows of an output
        self._place = _NOWHERE
        self._dragging = Dragging(self, stacked=True)

    def about(self, buffer: Buffer | None) -> None:
        """Show another buffer, or a new record of the same one."""
        self._buffer = buffer
        self.tell()

    def judge(self, selected: BufferSelected) -> None:
        """Show what the list knows of an output: its state with that of its filters' input, and what changed in it."""
        self._selected = selected
        self.tell()

    def at(self, place: PlaceChanged) -> None:
        """Show another place in the output."""
        self._place = place
        self.tell()

    def tell(self) -> None:
        """Update the rows, since the duration of a running capture grows."""
        buffer = self._buffer
        if buffer is None:
            self.say()
            return
        state, own, known = state_of(buffer), state_of(buffer), self._selected
        if is_known := known.buffer is not None and known.buffer.name == buffer.name:
            state = known.state
        named = [
            StripPart(f" {MARKS[state]} ", state),
            StripPart(buffer.ref, "strong"),
            StripPart(f" {PIN}" if buffer.pinned else "", "accent"),
            StripPart("  "),
            StripPart(name_of(buffer)),
        ]
        place = self._place if self._place.name == buffer.name else _NOWHERE
        grown = (place.total, place.size) if place.size is not None else None
        ending, *rest = facts(buffer, self._clock(), known.titles.get(buffer.session, ""), grown)
        if state != own and own == "ok":
            ending = f"filter {ending}" + (", failed before it" if state == "failed" else "")
        elif state != own:
            ending += ", failed" if state == "failed" else ", no failure"
        told = [StripPart(f"   {ending}", state)]
        if is_known and known.changes:
            told += [StripPart(" (", "dim"), StripPart(known.changes, "strong"), StripPart(")", "dim")]
        least = max(_LEAST_FACTS, width_of(told) + 3 if is_known and known.changes else 0)
        for fact in rest:
            told += [StripPart(" · ", "dim"), StripPart(title(fact), "dim")]
        rows = (named, self._where(place)), (told, fitted(place.seen, self.size.width - least))
        if place.times is None:
            self.styles.height = len(rows)
            self.say(*rows)
        else:
            self.styles.height = len(rows) + 1
            self.say(*rows, (histogram.histogram_parts(place.times, self.size.width), ()))

    def _where(self, place: PlaceChanged) -> list[StripPart]:
        """Return the place, and as many notes as fit."""
        parts = [StripPart(f" {place.count}", "key")] if place.count else []
        at = [StripPart(" following", "running")] if place.following else []
        if place.total:
            at += [
                StripPart(f" {place.first:,}-{place.last:,}"),
                StripPart(f" of {place.total:,} {place.unit}".rstrip() + " ", "dim"),
            ]
        left = self.size.width - LEAST_LEFT - width_of(parts) - width_of(at)
        notes = list[StripPart]()
        for note in reversed(place.notes):  # the last notes tell of what was just done
            told = [StripPart(f" {title(note)}", "accent"), StripPart(" ·", "dim")]
            if width_of(told) <= left:
                notes = told + notes
                left -= width_of(told)
        return [*parts, *notes, *at]

    def on_mouse_down(self) -> None:
        """Start dragging."""
        self._dragging.hold(True)

    def on_mouse_up(self) -> None:
        """End dragging."""
        self._dragging.hold(False)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Resize the panes."""
        self._dragging.follow(event)
