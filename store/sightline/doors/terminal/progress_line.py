"""One line on a terminal that tells how far a command is, until it is removed; nothing where there is no terminal."""

import os
import time

from sightline.base.private_files import write_all

_DRAWN_SECONDS = 0.1  # between two drawings
_BAR_CHARACTERS = 30


class ProgressLine:
    """The line. It shows texts of our own alone, with nothing from an output or a transcript."""

    def __init__(self, seconds: float = _DRAWN_SECONDS) -> None:
        """Prepare; nothing is drawn before so many seconds have passed, and then as often at most."""
        self._seconds = seconds
        self._drawn = time.monotonic()
        self._stands = False
        self._is_seen = os.isatty(2)

    def show(self, text: str) -> None:
        """Draw the line anew, if it is time."""
        if self._is_seen and (now := time.monotonic()) - self._drawn > self._seconds:
            self._drawn, self._stands = now, True
            write_all(2, f"\r{text}\x1b[K".encode())

    def remove(self) -> None:
        """Remove the line; it may be shown again."""
        if self._stands:
            self._stands = False
            write_all(2, b"\r\x1b[K")


def bar(share: float) -> str:
    """A bar and a percentage, of a share from 0 to 1."""
    full = int(min(share, 1.0) * _BAR_CHARACTERS)
    return f"{'█' * full}{'░' * (_BAR_CHARACTERS - full)} {min(share, 1.0):4.0%}"
