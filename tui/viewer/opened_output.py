"""The output that the viewer shows, opened again and again while it grows: a buffer, its streams, lines or bytes."""

from collections.abc import Callable

from textual.widget import Widget

from sightline.named_tuple import NamedTuple
from sightline.records import Buffer
from sightline.store import Reading
from sightline.tui.common import late
from sightline.tui.common.hexdump import is_binary, open_dump
from sightline.tui.common.line_painter import plain_text
from sightline.tui.common.output_reader import OutputReader, open_reader, streams_of
from sightline.tui.common.store_errors import STORE_ERRORS
from sightline.tui.common.store_read import StoreRead
from sightline.tui.viewer.line_strips import Highlighter

SETTLE_SECONDS = 0.06  # a marker is touched at most each 20 ms: the last bytes of a burst may come without a word
SYNTAX_SECONDS = 0.05  # after the first screen is there, what knows of syntax is loaded
_SAMPLE_LINES, _SAMPLE_LINE_BYTES = 20, 400  # by which a syntax is known


class OpenOutput(NamedTuple):
    """An output that has been opened.

    Attributes:
        buffer: its record.
        reading: its lines, or its bytes.
        line_count: how many there are.
        stream: the only one that is shown, empty for all.
        hex: whether bytes are shown.
        timed: whether it is known when its lines came.
        syntax: what knows its syntax, None while that is not loaded.
    """

    buffer: Buffer
    reading: OutputReader
    line_count: int
    stream: str
    hex: bool
    timed: bool
    syntax: Highlighter | None

    @property
    def running(self) -> bool:
        """Whether it may grow."""
        return self.buffer.state == "running"

    def is_of(self, buffer: Buffer | None) -> bool:
        """Whether it is of a buffer."""
        return buffer is not None and buffer.name == self.buffer.name

    def as_before(self, before: "OpenOutput | None") -> bool:
        """Whether the same lines are shown as before, if perhaps more of them."""
        return before is not None and (before.stream, before.hex) == (self.stream, self.hex)


class OutputOpener:
    """What a widget has open.

    Attributes:
        opened: the output, None where there is none.
    """

    def __init__(
        self,
        widget: Widget,
        store: Reading,
        taken: Callable[[OpenOutput | None, OpenOutput], None],
        let_go: Callable[[], None],
        highlight: Callable[[Highlighter], None],
    ) -> None:
        """Prepare.

        Args:
            widget: that shows it.
            store: whose buffers are opened.
            taken: called with what was open, which is closed afterwards, and with what is open now.
            let_go: called where nothing is open any more.
            highlight: called with the syntax of what is open, once that is known.
        """
        self.opened: OpenOutput | None = None
        self._widget = widget
        self._store = store
        self._taken = taken
        self._gone = let_go
        self._highlight = highlight
        self._wanted: Buffer | None = None
        self._stream = ""
        self._hex: bool | None = None  # None for what the content says
        self._settling = False
        self._with_syntax = False
        self._opens: StoreRead[OpenOutput] = StoreRead(widget, self._plan, self._take, self._cannot, _drop)

    def show(self, buffer: Buffer | None) -> None:
        """Open a buffer, or what has become of the one that is shown."""
        if self._wanted is None or buffer is None or buffer.name != self._wanted.name:
            self._stream, self._hex = "", None
        self._wanted = buffer
        first = self.opened is None and buffer is not None and buffer.state == "sealed"
        if first and (read := self._plan()):  # its index is whole, so that this is quick
            self._opens.carry_out_now(read)
        else:
            self._opens.ask()

    def went_on(self, names: frozenset[str]) -> None:
        """Captures have written; where the one shown is among them, its new lines are taken in."""
        if self._wanted is not None and self._wanted.name in names and self._wanted.state == "running":
            self._opens.ask()
            if not self._settling:
                self._settling = True
                self._widget.set_timer(SETTLE_SECONDS, self._settled)

    def _settled(self) -> None:
        self._settling = False
        self._opens.ask()

    def next_stream(self) -> str:
        """Show both streams, or the next one of them; where there is only one, its name."""
        streams = streams_of(self.opened.buffer) if self.opened is not None else []
        if len(streams) < 2:
            return streams[0] if streams else ""
        choices = ["", *streams]
        at = choices.index(self._stream) if self._stream in choices else 0
        self._stream = choices[(at + 1) % len(choices)]
        self._opens.ask()
        return ""

    def switch_hex(self) -> None:
        """Show bytes instead of lines, or lines instead of bytes."""
        if self.opened is not None:
            self._hex = not self.opened.hex
            self._opens.ask()

    def close(self) -> None:
        """Close what is open."""
        if self.opened is not None:
            self.opened.reading.close()
            self.opened = None

    def _plan(self) -> Callable[[], OpenOutput] | None:
        buffer = self._wanted
        if buffer is None or buffer.state == "evicted":
            self._let_go()
            return None
        store, stream, wanted_hex, before = self._store, self._stream, self._hex, self.opened
        known = before.syntax if before is not None and before.is_of(buffer) and before.stream == stream else None

        def read() -> OpenOutput:
            # A capture makes its files as it needs them: opened anew, it is always whole.
            reading: OutputReader = open_reader(store, buffer, stream)
            as_hex = is_binary(reading) if wanted_hex is None else wanted_hex
            if as_hex:
                reading.close()
                reading = open_dump(store, buffer, stream)
            timed = buffer.kind == "cmd" and next(reading.times(1, 1), None) is not None
            syntax = known or (_syntax(buffer, stream, reading) if self._with_syntax else None)
            return OpenOutput(buffer, reading, reading.line_count, stream, as_hex, timed, syntax)

        return read

    def _take(self, opened: OpenOutput) -> None:
        if not opened.is_of(self._wanted):
            _drop(opened)
            return
        before, self.opened = self.opened, opened
        self._taken(before, opened)
        if before is not None:
            before.reading.close()
        if not self._with_syntax:
            self._with_syntax = True
            self._widget.set_timer(SYNTAX_SECONDS, self._load_syntax)

    def _cannot(self) -> None:
        if self.opened is not None and not self.opened.is_of(self._wanted):
            self._let_go()  # what stands there is another's output

    def _let_go(self) -> None:
        self.close()
        self._gone()

    # syntax

    def _load_syntax(self) -> None:
        """Off the UI's thread: what is loaded with it is felt."""
        opened = self.opened
        if opened is not None and opened.syntax is None:
            self._widget.run_worker(lambda: self._find_syntax(opened), thread=True)

    def _find_syntax(self, opened: OpenOutput) -> None:
        try:
            reading = open_reader(self._store, opened.buffer, opened.stream)
        except STORE_ERRORS:
            return  # whoever shows it says so
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
    return late.syntax_of(buffer, stream, "\n".join(lines))
