"""Keeping what comes in pieces as long as the store takes it; what becomes of it then, `Fallback` says."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.capture.fallback import Echo, Fallback, Unkept
from sightline.disk.recording import Recording
from sightline.errors import StoreFailed
from sightline.records import Buffer

if TYPE_CHECKING:  # only where a person has turned it on
    from sightline.redact.hiding import Redaction


class Keeper:
    """A recording that may fail at any moment without harm to whoever hands the bytes over."""

    def __init__(self, redaction: "Redaction | None" = None, pass_on: Echo | None = None) -> None:
        """Keeps nothing until `begin`.

        Args:
            redaction: hides the secrets of what is shown where nothing is kept; a recording has its own.
            pass_on: is given all that is shown where the store takes nothing, or no more; none by default.
        """
        self._recording: Recording | None = None
        self._fallback = Fallback(redaction, pass_on)
        self._failure: StoreFailed | None = None
        self._shown: list[str] = []

    def begin(self, make: Callable[[], Recording]) -> None:
        """Start a recording, if the store lets it."""
        try:
            self._recording = make()
            self._recording.register()
        except StoreFailed as error:
            self.give_up(error)

    def take(self, stream: str, data: bytes, *, shown: bool = True) -> None:
        """Bytes of a stream.

        Args:
            stream: which one.
            data: the next bytes of it.
            shown: whether the stream is shown where it is not kept.
        """
        if shown and stream not in self._shown:
            self._shown.append(stream)
        if self._recording:
            try:
                self._recording.append(stream, data)
                return
            except StoreFailed as error:
                self.give_up(error, (stream, data) if shown else None)
                return
        if shown:
            self._fallback.take(stream, data)

    def end(self, seal: Callable[[Recording], Buffer]) -> Buffer | Unkept:
        """The sealed buffer; the beginning of what came where nothing may be kept, or the store could not take it."""
        if self._recording:
            try:
                return seal(self._recording)
            except StoreFailed as error:
                self.give_up(error)
        return self._fallback.end(self._failure)

    def abandon(self) -> None:
        """Whoever handed the bytes over has gone: what is kept so far stays, marked interrupted."""
        if self._recording:
            self._recording.abandon()

    def give_up(self, error: StoreFailed, failed: tuple[str, bytes] | None = None) -> None:
        """Nothing is kept of it.

        Args:
            error: why.
            failed: a stream that is shown, and what the recording was given of it when it failed.
        """
        self._failure = error
        recording, self._recording = self._recording, None
        if recording:
            self._fallback.take_over(recording, self._shown, failed)
