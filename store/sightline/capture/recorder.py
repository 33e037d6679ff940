"""Keeps what comes in pieces as long as the store takes it; if the store fails, everything is shown instead.

All captures record through it, so that nothing is lost if storing fails: what the store has written is read back,
followed by what comes later; of that the beginning and the size are kept, or it is passed on.
"""

from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer
from sightline.capture.pipe_reader import PipeReader
from sightline.disk.recording import Recording
from sightline.light.library import cached_property
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Callable
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.store import Store

if TYPE_CHECKING:  # only with redaction
    from sightline.settings.config import Redaction

Echo = Callable[[str, memoryview], None]
"""Takes (stream, bytes) as they come, beside the store."""


CUT_BY_FILTER = "cut by filter"
"""The note for a buffer whose reader left before everything was written."""

LEFT_BEHIND = "ended before something that it had started: what that writes from then on is not kept"
"""The note for a buffer whose streams were held open by a process that outlived the command."""


class Size(NamedTuple):
    """The size of a stream: bytes, and lines as `Source.line_count` counts them."""

    bytes: int = 0
    lines: int = 0


class Unkept(NamedTuple):
    """An output that the store does not keep: of each stream the beginning, up to the hard limit.

    Attributes:
        out: bytes of the out stream, or of a result's texts.
        error: why nothing was kept; None if nothing may be kept.
        redacted: number of secrets hidden in it.
        out_size: size of the whole out stream.
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
    """The beginning of a stream that is shown, and the size of all of it."""

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
    """A recording that may fail at any moment without harm to its caller.

    Attributes:
        recording: takes the bytes; None if nothing is kept.
        failure: why nothing is kept any more; None if it is kept, and if nothing may be.
    """

    def __init__(self, store: Store, unkept_to: Echo | None = None) -> None:
        """Prepare; nothing is kept before `begin`.

        Args:
            store: the store, which says what is hidden in shown text; a recording knows that itself.
            unkept_to: gets everything that is shown once the store does not keep it; none by default.
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
        return self._store.settings.redaction()

    def begin(self, make: Callable[[], Recording]) -> None:
        """Start a recording if the store can; `register` lists it."""
        try:
            self.recording = make()
        except Exception as error:  # whatever the error is, bytes keep coming, and none may be lost
            self.give_up(error)

    def prepare(self) -> None:
        """Prepare `register`, or the end, as far as that takes time."""
        if self.recording:
            try:
                self.recording.prepare()
            except Exception as error:  # as in `begin`
                self.give_up(error)

    def register(self) -> None:
        """List the running buffer."""
        if self.recording:
            try:
                self.recording.register()
            except Exception as error:  # as in `begin`
                self.give_up(error)

    def take(self, stream: str, data: bytes | memoryview, *, shown: bool = True) -> None:
        """Take bytes of a stream.

        Args:
            stream: name of the stream.
            data: its next bytes.
            shown: whether to show the stream if it is not kept.
        """
        if shown and stream not in self._streams:
            self._streams.append(stream)
        if self.recording:
            try:
                self.recording.append(stream, data)
            except Exception as error:  # as in `begin`
                self.give_up(error, (stream, data) if shown else None)
        elif shown:
            self._show(stream, self._redaction.feed(stream, data) if self._redaction else data)

    def end(self, seal: Callable[[Recording], Buffer], *, passed_on: bool = False) -> Buffer | Unkept:
        """Seal the recording, because all has come.

        Args:
            seal: makes the recording a buffer.
            passed_on: whether somebody else has shown all of it as it came.

        Returns:
            The sealed buffer; or what came, as `Unkept`, if nothing may be kept, or the store failed.
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
        """Drop everything, kept or shown."""
        if self.recording:
            self.recording.discard()
            self.recording = None

    def abandon(self) -> None:
        """Keep what came, marked interrupted, because the caller breaks off."""
        if self.recording:
            self.recording.abandon()

    def give_up(self, error: Exception, failed: tuple[str, bytes | memoryview] | None = None) -> None:
        """Stop keeping: show what the recording was given, and what still comes.

        Args:
            error: the reason.
            failed: a shown stream, and the bytes with which the recording failed.
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
        if failed and not self._redaction:  # otherwise they were read back
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
    """Keep all that a descriptor gives until its end, and pass it on even if the store fails.

    Args:
        store: the store that keeps it.
        fd: the descriptor.
        command: the command for the record.
        cwd: working directory of the writer.
        session: the session that captures.
        label: a name for the buffer.
        exit_code: exit code of the command that wrote it; None if it is not known.
        pass_on: gets the bytes, too, as they come.
        unkept_to: gets all bytes if the store keeps nothing, and nobody has seen them come.

    Returns:
        What `Recorder.end` returns.
    """
    recorder = Recorder(store, unkept_to)
    if store.settings.captures(cwd):
        recorder.begin(lambda: store.begin("cmd", command, cwd, session, label=label))
        recorder.register()

    def take(stream: str, data: memoryview) -> None:
        if pass_on:
            pass_on(data)
        recorder.take(stream, data)

    try:
        PipeReader({fd: "out"}, take).run()
        # The pipe was timed, not the command, which may have run for longer; a record says so by these equal times.
        return recorder.end(lambda recording: recording.seal(exit_code=exit_code, ended=recording.buffer.created))
    except BaseException:  # the reader has left, or an interrupt came
        recorder.abandon()
        raise
