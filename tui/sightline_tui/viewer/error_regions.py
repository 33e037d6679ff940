"""The error regions of the shown output: steps from one to the next, and marks beside their lines."""

import threading
from collections.abc import Callable

from sightline.audit.failure_lines import FailureLines, GivenUp
from sightline_tui.common.hexdump import Dump
from sightline_tui.common.output_reader import open_reader
from sightline_tui.common.store_read import StoreRead
from sightline_tui.viewer.line_strips import DrawnLine
from sightline_tui.viewer.pane import OutputPane

Lines = frozenset[tuple[str, int]]
"""Lines as (stream, line)."""

Marked = dict[tuple[str, int], bool | None]
"""For each line whether it is a failure; None for a line that does not even look like one."""

_KEPT_LINES = 4_000


class ViewerFailures:
    """The failure lines of a pane's output, as far as they have been on the screen."""

    def __init__(self, pane: OutputPane) -> None:
        self._pane = pane
        self._serial = 0  # of the output that is shown; answers for older ones are dropped
        self._lines: FailureLines | None = None
        self._reading = threading.Lock()  # lets one thread read at a time
        self._known: Marked = {}
        self._asked: tuple[int, bool] | None = None  # the line where a step starts, and whether it goes upwards
        self._steps: StoreRead[tuple[int, int]] = StoreRead(pane, self._plan_step, self._stepped, self._not_stepped)
        self._marking: StoreRead[tuple[int, Lines, Marked]] = StoreRead(pane, self._plan_marks, self._marked)

    def begin(self) -> None:
        """Mark lines of the shown output from now on."""
        opened = self._pane.opened
        if self._lines is not None or opened is None:
            return
        serial = self._serial
        self._lines = FailureLines(self._pane.store, opened.buffer, lambda: serial != self._serial)
        self._pane.refresh()

    def clear(self) -> None:
        """Clear the marks, because another output is shown."""
        self._asked = None
        self._serial += 1
        self._lines = None
        self._known = {}

    def give_up(self) -> bool:
        """Cancel a step that is still searching; return whether there was one."""
        waited = self._asked is not None
        if waited:
            self.clear()
            self.begin()
        return waited

    # from region to region

    def step(self, *, back: bool) -> None:
        """Go to the next region, or to the previous one."""
        pane = self._pane
        if pane.opened is None or pane.opened.hex:
            return
        self.begin()
        target = pane.target
        on_screen = bool(target) and pane.window.on_screen(target)
        self._asked = target if on_screen else pane.window.top.line - (not back), back
        self._steps.ask()
        pane.tell_place()

    def _plan_step(self) -> Callable[[], tuple[int, int]] | None:
        lines, opened, asked, serial = self._lines, self._pane.opened, self._asked, self._serial
        if lines is None or opened is None or asked is None:
            return None
        number, back = asked
        store, guard = self._pane.store, self._reading

        def read() -> tuple[int, int]:
            reading = open_reader(store, opened.buffer, opened.stream)
            try:
                standing = reading.before(max(number + (not back), 1))
                found = []
                with guard:
                    for stream in reading.streams:
                        if back:
                            line = lines.previous_region(stream, standing[stream] + 1)
                        else:
                            line = lines.next_region(stream, standing[stream])
                        found += [reading.number_of(stream, line)] if line else []
                return serial, (max if back else min)(found, default=0)
            except GivenUp:
                return serial, 0
            finally:
                reading.close()

        return read

    def _stepped(self, found: tuple[int, int]) -> None:
        serial, number = found
        if serial != self._serial or self._asked is None:
            return
        back, self._asked = self._asked[1], None
        if number:
            self._pane.go_near(number)
        else:
            self._pane.notify(f"No error {'above' if back else 'below'}", markup=False)
        self._pane.tell_place()

    def _not_stepped(self) -> None:
        self._asked = None

    def notes(self) -> list[str]:
        """The notes for the info bar."""
        return ["looking for errors…"] if self._asked is not None else []

    # marks

    def marks(self, drawn: DrawnLine) -> bool | None:
        """Return whether a line says what failed; None if it does not look like that, or is not judged yet."""
        if self._lines is None or not drawn.line:
            return None
        place = drawn.stream, drawn.line
        if place not in self._known:
            self._marking.ask()
        return self._known.get(place)

    def _plan_marks(self) -> Callable[[], tuple[int, Lines, Marked]] | None:
        pane, lines, serial, guard = self._pane, self._lines, self._serial, self._reading
        if lines is None or pane.opened is None or isinstance(pane.opened.reading, Dump):
            return None
        shown = [pane.drawn(number) for number in sorted({place.line for place in pane.window.places()})]
        wanted = frozenset((drawn.stream, drawn.line) for drawn in shown if drawn.line) - self._known.keys()
        ranges = {
            stream: [line for name, line in wanted if name == stream] for stream in sorted({name for name, _ in wanted})
        }

        def read() -> tuple[int, Lines, Marked]:
            failing: Marked = {}
            try:
                with guard:
                    for stream, numbers in ranges.items():
                        among = lines.among(stream, min(numbers), max(numbers))
                        failing.update(((stream, line), counts) for line, counts in among.items())
            except GivenUp:
                pass
            return serial, wanted, failing

        return read if wanted else None

    def _marked(self, found: tuple[int, Lines, Marked]) -> None:
        serial, wanted, failing = found
        if serial != self._serial:
            return
        if len(self._known) > _KEPT_LINES:
            self._known = {}
        self._known |= dict.fromkeys(wanted, None) | failing
        if failing:
            self._pane.refresh()
