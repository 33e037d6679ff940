"""Makes texts that are no buffer readable by lines: a reply, an answer spooled to a file, or a view."""

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Protocol

from sightline.search.processes import Cancel
from sightline.shape.source import Line
from sightline.store import StreamReader

WHOLE_LIMIT_BYTES = 2 << 30
"""The most bytes of an answer that are spooled, so that a script that never ends cannot fill the store's disk."""


class ReadableLines(Protocol):
    """A text that is read by lines; every `OutputReader` is one as well."""

    @property
    def line_count(self) -> int:
        """Number of its lines."""

    def lines(self, first: int, last: int, limit: int) -> Iterator[tuple[str, Line]]:
        """Yield (stream, line) for lines first to last, as far as they exist; of a long line only its two ends."""

    def close(self) -> None:
        """Close its files."""


class AnswerText:
    """A text in memory."""

    def __init__(self, text: str) -> None:
        self._lines = text.encode(errors="surrogateescape").split(b"\n")
        if not self._lines[-1]:
            del self._lines[-1]

    @property
    def line_count(self) -> int:
        """Number of its lines."""
        return len(self._lines)

    def lines(self, first: int, last: int, limit: int) -> Iterator[tuple[str, Line]]:
        """Yield (``out``, line) for lines first to last; of a long line only its two ends."""
        for number in range(max(first, 1), min(last, len(self._lines)) + 1):
            data = self._lines[number - 1]
            half = limit // 2
            read = data if len(data) <= limit else data[:half] + data[len(data) - half :]
            yield "out", Line(number, read, len(data))

    def close(self) -> None:
        """Do nothing, because nothing is open."""


class AnswerFile:
    """A stream of bytes on disk. Closing this closes the stream."""

    def __init__(self, stream: StreamReader) -> None:
        self._stream = stream
        self._line_count = stream.line_count

    @property
    def line_count(self) -> int:
        """Number of its lines, counted once."""
        return self._line_count

    def lines(self, first: int, last: int, limit: int) -> Iterator[tuple[str, Line]]:
        """Yield (``out``, line) for lines first to last; of a long line only its two ends."""
        for line in self._stream.lines(first, last, limit):
            yield "out", line

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class AnswerSpool:
    """Takes an answer as it comes into a private file without a name, which is gone once it is closed.

    Attributes:
        bytes: number of bytes taken so far.
        full: whether the answer was stopped because it grew too large.
    """

    def __init__(
        self, folder: str, names: Mapping[bytes, bytes], cancel: Cancel, limit: int = WHOLE_LIMIT_BYTES
    ) -> None:
        """Open the file.

        Args:
            folder: a folder on the disk to use.
            names: the ref that stands for each path in the answer.
            cancel: stops the program that writes, once the limit is reached.
            limit: the most bytes to take.

        Raises:
            OSError: the file cannot be made.
        """
        self.bytes = 0
        self.full = False
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 (open until it has been read)
        self._names = dict(names)
        self._kept_back = max(map(len, self._names), default=1) - 1  # a path may begin in these last bytes
        self._held = b""
        self._cancel = cancel
        self._limit = limit
        self._sha256 = hashlib.sha256()

    def feed(self, data: bytes) -> None:
        """Take the next bytes. Raises OSError if the disk is full."""
        if self.full:
            return
        data = self._held + data
        for path, ref in self._names.items():
            data = data.replace(path, ref)
        cut = max(len(data) - self._kept_back, 0)
        self._held = data[cut:]
        self._write(data[:cut])
        if self.bytes >= self._limit:
            self.full = True
            self._cancel.cancel()

    def _write(self, data: bytes) -> None:
        self._sha256.update(data)
        self.bytes += len(data)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) or 0 :]

    @property
    def sha256(self) -> str:
        """SHA-256 of the answer, in hex."""
        return self._sha256.hexdigest()

    def ended(self, rest: bytes) -> AnswerFile:
        """Take the rest, and return the whole for reading; closing the file is then the reader's task."""
        held, self._held = self._held, b""
        self._write(held)
        self._write(rest)
        with self._file:
            return AnswerFile(StreamReader(os.dup(self._file.fileno()), ""))

    def close(self) -> None:
        """Drop what was taken."""
        self._file.close()
