"""Keeps what comes in pieces as long as the store takes it; where the store fails, all of it is shown instead.

The one recorder of all that captures, so that nothing is lost where storing fails: what the store has written so far
is read back, what comes after it follows, and of all that the beginning and the size are kept, or it is passed on.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from sightline.capture.pipe_reader import PipeReader
from sightline.disk.recording import Recording
from sightline.errors import StoreFailed
from sightline.named_tuple import NamedTuple
from sightline.records import Buffer
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.store import Store

if TYPE_CHECKING:  # only where a person has turned it on
    from sightline.redact.hiding import Redaction

Echo = Callable[[str, memoryview], None]
"""Takes (stream, bytes) as they come, beside the store."""


CUT_BY_FILTER = "cut by filter"
"""What is noted of a buffer whose reader left before all had been written."""

LEFT_BEHIND = "ended before something that it had started: what that writes from then on is not kept"
"""What is noted of a buffer whose streams something held open that outlived the command."""


class Size(NamedTuple):
    """How much there was of a stream: bytes, and lines as `Source.line_count` counts them."""

    bytes: int = 0
    lines: int = 0


class Unkept(NamedTuple):
    """An output that the store does not keep: its beginning, up to the hard limit a stream.

    Attributes:
        out: bytes of the out stream, or of all a result's texts; err of the err stream.
        error: why nothing was kept; None where nothing may be.
        redacted: secrets hidden in all of it.
        out_size: all that there was of it; err_size likewise.
        passed_on: whether all of it has been shown already, as it came.
        lacks: whether what the store had written before it failed could not be read back.
    """

    out: bytes
    err: bytes
    error: StoreFailed | None
    redacted: int = 0
    out_size: Size = Size()
    err_size: Size = Size()
    passed_on: bool = False
    lacks: bool = False


class _Beginning:
    """The beginning of what is shown as one, and the size of all of it."""

    def __init__(self) -> None:
        self.head = bytearray()
        self._bytes = self._newlines = 0
        self._unterminated = False

    def take(self, data: bytes | memoryview) -> None:
        self.head += data[: HARD_LIMIT_BYTES - len(self.head)]
        self._bytes += len(data)
        self._newlines += bytes(data).count(b"\n")
        self._unterminated = data[-1] != 0x0A

    @property
    def size(self) -> Size:
        return Size(self._bytes, self._newlines + self._unterminated)


class Recorder:
    """A recording that may fail at any moment without harm to whoever hands the bytes over.

    Attributes:
        recording: what takes them; None where nothing is kept.
        failure: why nothing is kept any more; None as long as it is, and where nothing may be.
    """

    def __init__(self, store: Store, unkept_to: Echo | None = None) -> None:
        """Keeps nothing until `begin`.

        Args:
            store: says what is hidden of what is shown; a recording knows for itself.
            unkept_to: is given all that is shown where the store takes nothing, or no more; none by default.
        """
        self.recording: Recording | None = None
        self.failure: StoreFailed | None = None
        self._store = store
        self._unkept_to = unkept_to
        self._streams: list[str] = []
        self._shown = {"out": _Beginning(), "err": _Beginning()}
        self._lacks = False

    @cached_property
    def _redaction(self) -> "Redaction | None":
        return self._store.redaction()

    def begin(self, make: Callable[[], Recording]) -> None:
        """Start a recording, if the store lets it; `register` shows it to others."""
        try:
            self.recording = make()
        except Exception as error:  # whatever it is, what comes goes on, and nothing of it may be lost
            self.give_up(error)

    def prepare(self) -> None:
        """Make ready for `register`, or for the end, what takes a moment."""
        if self.recording:
            try:
                self.recording.prepare()
            except Exception as error:  # as in `begin`
                self.give_up(error)

    def register(self) -> None:
        """Show the running buffer to others."""
        if self.recording:
            try:
                self.recording.register()
            except Exception as error:  # as in `begin`
                self.give_up(error)

    def take(self, stream: str, data: bytes | memoryview, newlines: int | None = None, *, shown: bool = True) -> None:
        """Bytes of a stream.

        Args:
            stream: which one.
            data: the next bytes of it.
            newlines: how many newlines they hold, where the caller has counted.
            shown: whether the stream is shown where it is not kept.
        """
        if shown and stream not in self._streams:
            self._streams.append(stream)
        if self.recording:
            try:
                self.recording.append(stream, data, newlines)
            except Exception as error:  # as in `begin`
                self.give_up(error, (stream, data) if shown else None)
        elif shown:
            self._show(stream, self._redaction.feed(stream, data) if self._redaction else data)

    def end(self, seal: Callable[[Recording], Buffer], *, passed_on: bool = False) -> Buffer | Unkept:
        """All has come.

        Args:
            seal: makes the recording a buffer.
            passed_on: whether somebody else has shown all of it as it came.

        Returns:
            The sealed buffer; the beginning of what came where nothing may be kept, or the store could not take it.
        """
        if self.recording:
            try:
                return seal(self.recording)
            except Exception as error:  # as in `begin`
                self.give_up(error)
        for stream, rest in self._redaction.finish().items() if self._redaction else ():
            self._show(stream, rest)
        out, err = self._shown["out"], self._shown["err"]
        return Unkept(
            out=bytes(out.head),
            err=bytes(err.head),
            error=self.failure,
            redacted=self._redaction.count if self._redaction else 0,
            out_size=out.size,
            err_size=err.size,
            passed_on=passed_on or self._unkept_to is not None,
            lacks=self._lacks,
        )

    def discard(self) -> None:
        """Nothing of it is wanted, be it kept or shown."""
        if self.recording:
            self.recording.discard()
            self.recording = None

    def abandon(self) -> None:
        """Whoever handed the bytes over has gone: what is kept so far stays, marked interrupted."""
        if self.recording:
            self.recording.abandon()

    def give_up(self, error: Exception, failed: tuple[str, bytes | memoryview] | None = None) -> None:
        """Nothing is kept of it: what the recording was given is shown, and what comes.

        Args:
            error: why.
            failed: a stream that is shown, and what the recording was given of it when it failed.
        """
        if isinstance(error, StoreFailed):
            self.failure = error
        else:
            self.failure = StoreFailed(f"storing failed: {type(error).__name__}: {error}")
        recording, self.recording = self.recording, None
        if recording is None:
            return
        self._redaction = recording.redaction
        for stream in self._streams:
            try:
                for data in recording.read_back(stream):
                    self._show(stream, data)
            except OSError:
                self._lacks = True
        if failed and not self._redaction:  # else it is among what was read back
            self._show(*failed)
        recording.discard()

    def _show(self, stream: str, data: bytes | memoryview) -> None:
        if len(data):
            self._shown["err" if stream == "err" else "out"].take(data)
            if self._unkept_to:
                self._unkept_to(stream, memoryview(data))


def capture_stdin(
    store: Store,
    fd: int,
    *,
    command: str,
    cwd: str,
    session: str,
    label: str = "",
    exit_code: int | None = None,
    pass_on: Callable[[memoryview], None] | None = None,
    unkept_to: Echo | None = None,
) -> Buffer | Unkept:
    """Keep all that a descriptor gives until its end, and pass on all of it whatever becomes of the store.

    Args:
        store: where it is kept.
        fd: what is read.
        command: what the buffer is called.
        cwd: working directory of whatever wrote it.
        session: who captures.
        label: a name for the buffer.
        exit_code: of the command that wrote it, None where it is unknown.
        pass_on: what else sees the bytes as they come.
        unkept_to: what sees all of them where the store keeps nothing, and nobody has seen them come.

    Returns:
        As `Recorder.end`.
    """
    recorder = Recorder(store, unkept_to)
    if store.settings.captures(cwd):
        recorder.begin(lambda: store.begin("cmd", command, cwd, session, label=label))
        recorder.register()

    def take(stream: str, data: memoryview, newlines: int) -> None:
        if pass_on:
            pass_on(data)
        recorder.take(stream, data, newlines)

    try:
        PipeReader({fd: "out"}, take).run()
        return recorder.end(lambda recording: recording.seal(exit_code=exit_code))
    except BaseException:  # whoever it is passed on to has gone, or a key was pressed
        recorder.abandon()
        raise
