"""What becomes of an output that the store does not take: its beginning and its size are kept, or all is passed on.

One for all that captures, so that nothing is lost where storing fails: what the store has written so far is read back,
and what comes after it follows.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sightline.errors import StoreFailed
from sightline.shape.budgets import HARD_LIMIT_BYTES

if TYPE_CHECKING:
    from sightline.disk.recording import Recording
    from sightline.redact.hiding import Redaction

Echo = Callable[[str, memoryview], None]
"""Takes (stream, bytes) as they come, beside the store."""


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


class Fallback:
    """Takes an output in the store's place."""

    def __init__(self, redaction: "Redaction | None" = None, pass_on: Echo | None = None) -> None:
        """Nothing has come so far.

        Args:
            redaction: hides the secrets of what comes.
            pass_on: is given all of it as it comes.
        """
        self._redaction = redaction
        self._pass_on = pass_on
        self._shown = {"out": _Beginning(), "err": _Beginning()}
        self._lacks = False

    def take_over(
        self, recording: "Recording", streams: Sequence[str], failed: tuple[str, bytes | memoryview] | None = None
    ) -> None:
        """Begin with all that a recording was given, which is discarded, and hide secrets as it did.

        Args:
            recording: the one that has failed.
            streams: those that are shown, in order.
            failed: a stream, and what `append` was given of it when it failed.
        """
        self._redaction = recording.redaction
        for stream in streams:
            try:
                for data in recording.read_back(stream):
                    self._show(stream, data)
            except OSError:
                self._lacks = True
        if failed and not self._redaction:  # else it is among what was read back
            self._show(*failed)
        recording.discard()

    def take(self, stream: str, data: bytes | memoryview) -> None:
        """The next bytes of a stream."""
        self._show(stream, self._redaction.feed(stream, data) if self._redaction else data)

    def end(self, error: StoreFailed | None, *, passed_on: bool = False) -> Unkept:
        """All has come.

        Args:
            error: why nothing was kept.
            passed_on: whether all of it has been shown by somebody else.
        """
        for stream, rest in self._redaction.finish().items() if self._redaction else ():
            self._show(stream, rest)
        out, err = self._shown["out"], self._shown["err"]
        redacted = self._redaction.count if self._redaction else 0
        passed_on = passed_on or self._pass_on is not None
        return Unkept(bytes(out.head), bytes(err.head), error, redacted, out.size, err.size, passed_on, self._lacks)

    def _show(self, stream: str, data: bytes | memoryview) -> None:
        if len(data):
            self._shown["err" if stream == "err" else "out"].take(data)
            if self._pass_on:
                self._pass_on(stream, memoryview(data))
