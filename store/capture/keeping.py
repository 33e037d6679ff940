"""Keeping what comes in pieces as long as the store takes it, and its beginning for when it no longer does."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.store.capture.command import Unkept
from sightline.store.disk.recording import Recording
from sightline.store.errors import StoreFailed
from sightline.store.records import Buffer
from sightline.store.shape.budgets import HARD_LIMIT_BYTES

if TYPE_CHECKING:  # only where a person has turned it on
    from sightline.store.capture.head import Head
    from sightline.store.redact.hiding import Redaction


def _clean_head(redaction: "Redaction") -> "Head":
    from sightline.store.capture.head import Head

    return Head(redaction)


class Keeper:
    """A recording that may fail at any moment without harm to whoever hands the bytes over."""

    def __init__(self, redaction: "Redaction | None" = None) -> None:
        """Keeps nothing until `begin`.

        Args:
            redaction: hides the secrets of what is shown where nothing is kept; a recording has its own.
        """
        self._clean = _clean_head(redaction) if redaction else None
        self._recording: Recording | None = None
        self._failure: StoreFailed | None = None
        self._head = bytearray()

    def begin(self, make: Callable[[], Recording]) -> None:
        """Start a recording, if the store lets it."""
        try:
            self._recording = make()
            self._recording.register()
        except StoreFailed as error:
            self._give_up(error)

    def take(self, stream: str, data: bytes, *, shown: bool = True) -> None:
        """Bytes of a stream.

        Args:
            stream: which one.
            data: the next bytes of it.
            shown: whether they are shown where nothing is kept, as far as the hard limit lets them.
        """
        if shown and self._clean:
            self._clean.take(stream, data)
        elif shown:
            self._head += data[: HARD_LIMIT_BYTES - len(self._head)]
        try:
            if self._recording:
                self._recording.append(stream, data)
        except StoreFailed as error:
            self._give_up(error)

    def end(self, seal: Callable[[Recording], Buffer]) -> Buffer | Unkept:
        """The sealed buffer; the beginning of what came where nothing may be kept, or the store could not take it."""
        try:
            if self._recording:
                return seal(self._recording)
        except StoreFailed as error:
            self._give_up(error)
        if self._clean:
            self._head += b"".join(self._clean.finish().values())
            return Unkept(bytes(self._head[:HARD_LIMIT_BYTES]), b"", self._failure, self._clean.redacted)
        return Unkept(bytes(self._head), b"", self._failure)

    def abandon(self) -> None:
        """Whoever handed the bytes over has gone: what is kept so far stays, marked interrupted."""
        if self._recording:
            self._recording.abandon()

    def _give_up(self, error: StoreFailed) -> None:
        self._failure = error
        recording, self._recording = self._recording, None
        if recording:
            recording.discard()
