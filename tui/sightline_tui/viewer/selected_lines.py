"""Selects lines in the viewer, by keys or with the mouse, and copies them or their ref."""

import time
from collections.abc import Callable

from textual import events

from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.clipboard import copy
from sightline_tui.common.hexdump import ROW_BYTES, Dump
from sightline_tui.common.output_reader import Blocks, MergedLines, StreamLines, refs_of
from sightline_tui.common.phrases import counted, short_bytes
from sightline_tui.common.selection import COPY_BYTES, Selection, text_of
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.window import ShownLines
from sightline_tui.viewer.awaited_lines import WAIT_SECONDS
from sightline_tui.viewer.opened_output import OpenOutput
from sightline_tui.viewer.pane import OutputPane

COPY_WAITS = "waiting for the lines to copy"


class _Wanted(NamedTuple):
    """Lines to copy, the only ones that are shown, and what the clipboard had then."""

    opened: OpenOutput
    selection: Selection
    only: ShownLines | None
    before: str


class _Copied(NamedTuple):
    """Their text, None if it is more than a terminal takes, and how many they are."""

    wanted: _Wanted
    text: str | None
    lines: int


class SelectedLines:
    """The selected lines of a pane."""

    def __init__(self, pane: OutputPane) -> None:
        self._pane = pane
        self._selection: Selection | None = None
        self._by_keys = False
        self._wanted: _Wanted | None = None  # what is being read to be copied
        self._since = 0.0
        self._reads: StoreRead[_Copied] = StoreRead(pane, self._plan, self._take, self._drop)
        self._pressed = 0  # the line where the mouse button went down, 0 while it is up

    # what is selected

    def holds(self, number: int) -> bool:
        """Return whether a line is selected."""
        return self._selection is not None and self._selection.holds(number)

    @property
    def head(self) -> int:
        """The end of the selection that keys move; 0 if keys do not select."""
        return self._selection.head if self._selection and self._by_keys else 0

    @property
    def range(self) -> tuple[int, int] | None:
        """First and last of the selected lines; None if no line is selected."""
        return (self._selection.first, self._selection.last) if self._selection is not None else None

    def notes(self) -> list[str]:
        """The notes for the info bar."""
        late = [COPY_WAITS] if self._wanted is not None and time.monotonic() > self._since + WAIT_SECONDS else []
        if self._selection is None:
            return late
        first, last = self._selection.first, self._selection.last
        return [f"{first:,}-{last:,} selected: y copies, Y its ref", *late]

    def clear(self) -> bool:
        """Select nothing; return whether something was selected."""
        was, self._selection, self._by_keys = self._selection is not None, None, False
        return was

    def leave(self) -> None:
        """Select nothing, and copy nothing that is yet to come, because another output is shown, or none."""
        self.clear()
        self._wanted = None

    def select(self, first: int, last: int) -> None:
        """Select lines."""
        self._selection, self._by_keys = Selection(last, first), False

    # by keys

    def begin(self) -> None:
        """Let keys move the end of the selection from now on, or stop that."""
        if self._by_keys:
            self.clear()
        elif self._pane.line_count:
            window, target = self._pane.window, self._pane.target
            number = target if target and window.on_screen(target) else window.top.line
            self._selection, self._by_keys = self._selection or Selection(number, number), True
        self._pane.changed()

    def moved_to(self, number: int) -> None:
        """If keys select, move the end of the selection to the line that was gone to."""
        if self._by_keys and self._selection:
            self._selection = self._selection._replace(head=number)

    def move_to(self, number: int) -> bool:
        """Move the end of the selection to a line; return False if keys do not select."""
        if not self._by_keys or self._selection is None:
            return False
        self._selection = self._selection._replace(head=max(1, min(number, self._pane.line_count)))
        self._pane.bring_in(self._selection.head)
        return True

    def move_by(self, lines: int) -> bool:
        """Move the end of the selection by lines; return False if keys do not select."""
        return self._selection is not None and self.move_to(self._pane.window.further(self._selection.head, lines))

    # with the mouse

    def pressed(self, event: events.MouseDown) -> None:
        """Note where a button went down: the old selection ends, and a new one may begin."""
        if event.button == 1 and self._pane.line_count:
            self.clear()
            self._pressed = self._pane.number_at(event.y)
            self._pane.capture_mouse()
            self._pane.changed()

    def dragged(self, event: events.MouseMove) -> None:
        """Select from where the button went down; beyond the edges the output scrolls."""
        if not self._pressed:
            return
        pane = self._pane
        if event.y < 0 or event.y >= pane.size.height:
            number = pane.number_at(event.y) + (1 if event.y > 0 else -1)
            pane.bring_in(max(1, min(number, pane.line_count)))
        self._selection = Selection(self._pressed, pane.number_at(event.y))
        pane.changed()

    def released(self) -> None:
        """Keep the selection; if the mouse was not moved, mark the line instead."""
        if not self._pressed:
            return
        self._pane.release_mouse()
        pressed, self._pressed = self._pressed, 0
        if self._selection is None:
            self._pane.go_near(pressed)

    # copying

    def copy_text(self) -> bool:
        """Copy the selected lines, or say why not; return False if there are none."""
        opened, selection = self._pane.opened, self._selection
        if opened is None or selection is None:
            return False
        wanted = self._wanted = _Wanted(opened, selection, self._pane.window.only, self._pane.app.clipboard)
        if opened.may_wait:
            self._since = time.monotonic()
            self._pane.set_timer(WAIT_SECONDS * 1.1, self._pane.tell_place)
            self._reads.ask()
            return True
        try:
            self._take(_Copied(wanted, *text_of(opened.reading, selection, wanted.only)))
        except STORE_ERRORS as error:
            tell(self._pane.app, error)
            self._drop()
        return True

    def _plan(self) -> "Callable[[], _Copied] | None":
        wanted, store = self._wanted, self._pane.store
        if wanted is None:
            return None

        def read() -> _Copied:
            reading = wanted.opened.open_again(store)
            try:
                return _Copied(wanted, *text_of(reading, wanted.selection, wanted.only))
            finally:
                reading.close()

        return read

    def _take(self, copied: "_Copied") -> None:
        if copied.wanted is not self._wanted:
            return
        self._drop()
        if self._pane.app.clipboard != copied.wanted.before:  # what was copied since is newer
            return
        if copied.text is None:
            self._pane.notify(
                f"More than a terminal takes ({short_bytes(COPY_BYTES)}): Y copies the ref of these lines, "
                "`sightline show REF > FILE` writes them",
                title="Not copied",
                severity="warning",
                markup=False,
            )
            return
        self._copy(copied.text)
        self._pane.notify(f"Copied {counted(copied.lines, 'line')}", markup=False)
        if self._selection == copied.wanted.selection:
            self.clear()
        self._pane.changed()

    def _drop(self) -> None:
        """Wait for nothing to copy any more."""
        self._wanted = None
        self._pane.tell_place()

    def copy_ref(self) -> None:
        """Copy the ref of the selected lines, else of the line that was gone to, else of the buffer."""
        opened = self._pane.opened
        if opened is None:
            return
        self._drop()
        reading, target = opened.reading, self._pane.target
        first, last = (self._selection.first, self._selection.last) if self._selection else (target, target)
        ref = opened.buffer.ref
        if isinstance(reading, MergedLines | StreamLines | Blocks) and first:
            ref = refs_of(opened.buffer, reading, first, last)
        elif isinstance(reading, Dump) and first:
            stream, offset = self._pane.origin(first)
            ref = f"{opened.buffer.ref} --stream {stream} --offset {offset} --limit {(last - first + 1) * ROW_BYTES}"
        self._copy(ref)
        self._pane.notify(f"Copied {ref}", markup=False)

    def _copy(self, text: str) -> None:

        copy(self._pane.app, text)
