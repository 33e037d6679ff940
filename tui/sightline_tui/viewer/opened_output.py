"""The output that a viewer shows: a buffer, its streams, and lines or bytes; opened again while it grows."""

from collections.abc import Callable

from textual.widget import Widget

from sightline.base.records import Buffer
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading
from sightline_tui.common.hexdump import is_binary, open_dump
from sightline_tui.common.line_painter import plain_text
from sightline_tui.common.messages import OutputChecked
from sightline_tui.common.output_reader import OutputReader, open_reader, streams_of
from sightline_tui.common.store_errors import STORE_ERRORS
from sightline_tui.common.store_read import StoreRead
from sightline_tui.viewer.awaited_lines import WAIT_SECONDS
from sightline_tui.viewer.line_strips import Highlighter

with late_modules(globals()):
    from sightline_tui.common import syntax as text_syntax  # 60 ms, for Pygments

_HASHED_AT_ONCE_BYTES = 8 << 20
"""10 ms: a larger output of a version without seals is hashed in another thread when it is first opened."""

SETTLE_SECONDS = 0.06  # a marker is touched every 20 ms at most, so no word may come of a burst's end
SYNTAX_SECONDS = 0.05  # after the first screen the library for syntax is loaded
_SAMPLE_LINES, _SAMPLE_LINE_BYTES = 20, 400  # of a text whose syntax is guessed


class OpenOutput(NamedTuple):
    """An opened output.

    Attributes:
        buffer: the buffer's record.
        reading: its lines or bytes.
        line_count: number of lines in the reading.
        stream: the only stream that is shown; empty for all.
        hex: whether bytes are shown instead of lines.
        timed: whether the times of its lines are known.
        syntax: its highlighter; None until that is loaded.
        place: number of the line at the top of the screen, where other lines of the same output stood there; else 0.
    """

    buffer: Buffer
    reading: OutputReader
    line_count: int
    stream: str
    hex: bool
    timed: bool
    syntax: Highlighter | None
    place: int = 0

    @property
    def running(self) -> bool:
        """Whether the output may grow."""
        return self.buffer.state == "running"

    @property
    def unit(self) -> str:
        """What its line count counts; empty for the lines of the output."""
        if self.hex:
            return "rows of bytes"
        whole = self.running or self.stream or self.line_count == self.buffer.lines
        return "" if whole else "lines as laid out"

    @property
    def size(self) -> int | None:
        """Number of bytes that have come, where all of a running output is shown by lines; else None."""
        if not self.running or self.hex or self.stream:
            return None
        return sum(self.reading.source(stream).byte_count for stream in self.reading.streams)

    @property
    def may_wait(self) -> bool:
        """Whether reading its lines may wait for a network."""
        return any(self.reading.source(stream).may_wait for stream in self.reading.streams)

    def open_again(self, store: Reading) -> OutputReader:
        """Open the same lines or bytes once more, for another thread."""
        return (open_dump if self.hex else open_reader)(store, self.buffer, self.stream)

    def is_of(self, buffer: Buffer | None) -> bool:
        """Return whether it is an output of this buffer."""
        return buffer is not None and buffer.name == self.buffer.name

    def at_place_of(self, before: "OpenOutput", store: Reading, stream: str, number: int) -> "OpenOutput":
        """Return it with the place of a line by which it was shown before; in the thread that has opened it."""
        reading = before.open_again(store)
        try:
            return self._replace(place=self.reading.number_at(stream, reading.offsets(number).get(stream, 0)))
        finally:
            reading.close()

    def as_before(self, before: "OpenOutput | None") -> bool:
        """Return whether the same lines are shown as before, perhaps with more after them."""
        return before is not None and (before.stream, before.hex) == (self.stream, self.hex)


class OutputOpener:
    """Opens outputs for a widget.

    Attributes:
        opened: the open output; None if there is none.
    """

    def __init__(
        self,
        widget: Widget,
        store: Reading,
        taken: Callable[[OpenOutput | None, OpenOutput], None],
        let_go: Callable[[], None],
        highlight: Callable[[Highlighter], None],
        standing: Callable[[], tuple[str, int]],
    ) -> None:
        """Prepare to open outputs.

        Args:
            widget: the widget that shows them.
            store: the store that has the buffers.
            taken: called with the output that was open, which is closed after that, and the one that is open now.
            let_go: called when nothing is open any more.
            highlight: called with the syntax of the open output, once that is known.
            standing: returns (stream, number) of the line at the top of the screen.
        """
        self.opened: OpenOutput | None = None
        self._widget = widget
        self._store = store
        self._taken = taken
        self._gone = let_go
        self._highlight = highlight
        self._standing = standing
        self._wanted: Buffer | None = None
        self._stream = ""
        self._hex: bool | None = None  # None lets the content decide
        self._settling = False
        self._with_syntax = False
        self._is_awaited = False
        self._opens: StoreRead[OpenOutput] = StoreRead(widget, self._plan, self._take, self._cannot, _drop)

    def show(self, buffer: Buffer | None) -> None:
        """Open a buffer, or take in a change of the open one."""
        if self._wanted is None or buffer is None or buffer.name != self._wanted.name:
            self._stream, self._hex = "", None
        self._wanted = buffer
        first = (
            self.opened is None
            and buffer is not None
            and buffer.state == "sealed"
            and (bool(buffer.seals) or buffer.bytes <= _HASHED_AT_ONCE_BYTES)
        )
        is_here = self._store.place is None
        if first and is_here and (read := self._plan()):  # quick, because its index is complete
            self._opens.carry_out_now(read)
        else:
            self._opens.ask()
            if buffer is not None and not (self.opened is not None and self.opened.is_of(buffer)):
                self._is_awaited = True
                self._widget.set_timer(WAIT_SECONDS, lambda: self._is_late(buffer))

    @property
    def is_late(self) -> bool:
        """Whether somebody has waited for the output so long that nothing else is shown in its place any more."""
        return self._is_awaited and self.opened is None

    def _is_late(self, buffer: Buffer) -> None:
        if self._is_awaited and self._wanted is not None and self._wanted.name == buffer.name:
            self._let_go()

    def went_on(self, names: frozenset[str]) -> None:
        """Take in the new lines if the open output is among those that have grown."""
        if self._wanted is not None and self._wanted.name in names and self._wanted.state == "running":
            self._opens.ask()
            if not self._settling:
                self._settling = True
                self._widget.set_timer(SETTLE_SECONDS, self._settled)

    def _settled(self) -> None:
        self._settling = False
        self._opens.ask()

    def next_stream(self) -> str:
        """Show both streams, or the next single one; return the name of the stream if there is only one."""
        streams = streams_of(self.opened.buffer) if self.opened is not None else []
        if len(streams) < 2:
            return streams[0] if streams else ""
        choices = ["", *streams]
        at = choices.index(self._stream) if self._stream in choices else 0
        self._stream = choices[(at + 1) % len(choices)]
        self._opens.ask()
        return ""

    def switch_hex(self) -> None:
        """Switch between bytes and lines."""
        if self.opened is not None:
            self._hex = not self.opened.hex
            self._opens.ask()

    def close(self) -> None:
        """Close the open output."""
        if self.opened is not None:
            self.opened.reading.close()
            self.opened = None

    def _plan(self) -> Callable[[], OpenOutput] | None:
        buffer = self._wanted
        if buffer is None or buffer.state == "evicted":
            self._is_awaited = False
            self._let_go()
            return None
        store, stream, wanted_hex, before = self._store, self._stream, self._hex, self.opened
        same = before if before is not None and before.is_of(buffer) else None
        known = same.syntax if same is not None and same.stream == stream else None
        standing = self._standing() if same is not None else ("", 0)

        def read() -> OpenOutput:
            # A running capture makes its files when it needs them, so it is opened again each time.
            reading: OutputReader = open_reader(store, buffer, stream)
            as_hex = is_binary(reading) if wanted_hex is None else wanted_hex
            if as_hex:
                reading.close()
                reading = open_dump(store, buffer, stream)
            timed = buffer.kind == "cmd" and next(reading.times(1, 1), None) is not None
            syntax = known or (_syntax(buffer, stream, reading) if self._with_syntax else None)
            opened = OpenOutput(store.checked(buffer), reading, reading.line_count, stream, as_hex, timed, syntax)
            return opened if same is None or opened.as_before(same) else opened.at_place_of(same, store, *standing)

        return read

    def _take(self, opened: OpenOutput) -> None:
        if self._wanted is None or not opened.is_of(self._wanted):
            _drop(opened)
            return
        if opened.buffer.seals != self._wanted.seals:
            self._wanted = self._wanted._replace(seals=opened.buffer.seals)
            self._widget.post_message(OutputChecked(self._wanted))
        before, self.opened, self._is_awaited = self.opened, opened, False
        self._taken(before, opened)
        if before is not None:
            before.reading.close()
        if not self._with_syntax:
            self._with_syntax = True
            self._widget.set_timer(SYNTAX_SECONDS, self._load_syntax)

    def _cannot(self) -> None:
        self._is_awaited = False
        if self.opened is not None and not self.opened.is_of(self._wanted):
            self._let_go()  # a different output stands there

    def _let_go(self) -> None:
        self.close()
        self._gone()

    # syntax

    def _load_syntax(self) -> None:
        """Load the syntax outside the UI's thread, because loading takes long enough to be felt."""
        opened = self.opened
        if opened is not None and opened.syntax is None:
            self._widget.run_worker(lambda: self._find_syntax(opened), thread=True)

    def _find_syntax(self, opened: OpenOutput) -> None:
        try:
            reading = open_reader(self._store, opened.buffer, opened.stream)
        except STORE_ERRORS:
            return  # the viewer reports it
        try:
            syntax = _syntax(opened.buffer, opened.stream, reading)
        except STORE_ERRORS:
            return
        finally:
            reading.close()
        self._widget.call_later(self._know_syntax, opened, syntax)

    def _know_syntax(self, of: OpenOutput, syntax: Highlighter) -> None:
        if self.opened is not None and self.opened.is_of(of.buffer) and self.opened.syntax is None:
            self.opened = self.opened._replace(syntax=syntax)
            self._highlight(syntax)


def _drop(opened: OpenOutput) -> None:
    opened.reading.close()


def _syntax(buffer: Buffer, stream: str, reading: OutputReader) -> Highlighter:
    lines = [plain_text(line) for _, line in reading.lines(1, _SAMPLE_LINES, _SAMPLE_LINE_BYTES)]
    return text_syntax.syntax_of(buffer, stream, "\n".join(lines))
