"""The beginning of each stream without its secrets, for when nothing can be kept and redaction is on."""

from sightline.store.redact.hiding import Redaction
from sightline.store.shape.budgets import HARD_LIMIT_BYTES


class Head:
    """Up to the hard limit of each stream, of what is left of it."""

    def __init__(self, redaction: Redaction) -> None:
        """With a redaction of its own: what is cut off at the limit must be no half of a secret."""
        self._redaction = redaction
        self._streams: dict[str, bytearray] = {}

    def take(self, stream: str, data: bytes | memoryview) -> None:
        """The next bytes of a stream."""
        kept = self._streams.setdefault(stream, bytearray())
        if len(kept) < HARD_LIMIT_BYTES:
            kept += self._redaction.feed(stream, data)

    def finish(self) -> dict[str, bytes]:
        """What there is of each stream, in the order in which they came; nothing may come after it."""
        rest = self._redaction.finish()
        return {name: bytes(kept + rest[name])[:HARD_LIMIT_BYTES] for name, kept in self._streams.items()}

    @property
    def redacted(self) -> int:
        """Secrets hidden, as far as it was looked for them."""
        return self._redaction.count
