"""Session logs in packs as files, which are read line by line, from any line on."""

import io
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from sightline.fleet.pack import TamperedPack, raw_bytes
from sightline.fleet.reader.rows import number_at, virtual
from sightline.light.typing_names import Any

Place = tuple[str, int, int, int, int]
"""The pack, offset and bytes of the frame, and offset and bytes of the line in it."""


class FrameLines:
    """Reads lines by their places; the frame of the last one is held."""

    def __init__(self, pack: Callable[[str], bytes]) -> None:
        """Prepare to read; ``pack`` returns the bytes of a pack."""
        self._pack = pack
        self._frame: tuple[str, int] | None = None
        self._lines = b""

    def line(self, place: Place) -> bytes:
        """Return a line. Raises OSError if its pack is not what was announced, and what fetching raises."""
        pack, offset, size, begin, length = place
        if self._frame != (pack, offset):
            try:
                self._lines = raw_bytes(self._pack(pack)[offset : offset + size])
            except TamperedPack as error:
                raise OSError(str(error)) from error
            self._frame = (pack, offset)
        return self._lines[begin : begin + length]


class _LogFile(io.RawIOBase):
    """A file that is read from any byte on."""

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True


class LinesOfLog(_LogFile):
    """Some lines of a log as one file; each is fetched when it is read."""

    def __init__(self, places: Sequence[Place], pack: Callable[[str], bytes]) -> None:
        """Prepare to read lines at these places, in order; ``pack`` returns the bytes of a pack."""
        super().__init__()
        self._places, self._frames = places, FrameLines(pack)
        self._begins = [0, *accumulate(place[4] for place in places)]
        self._at = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a byte."""
        if whence:
            raise io.UnsupportedOperation("only offsets from the beginning are known")
        self._at = offset
        return offset

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, at most to the end of a line."""
        nth = bisect_right(self._begins, self._at) - 1
        if nth >= len(self._places):
            return 0
        begin = self._at - self._begins[nth]
        data = self._frames.line(self._places[nth])[begin : begin + len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def readline(self, size: int | None = -1) -> bytes:
        """Read the rest of a line."""
        nth = min(bisect_right(self._begins, self._at), len(self._places))
        rest = self._begins[nth] - self._at
        return self.read(rest if size is None or size < 0 else min(size, rest)) or b""


class SharedLog(_LogFile):
    """A session's log. Offsets are those of `virtual`: the beginning of a line follows from its number."""

    def __init__(
        self,
        place_of: Callable[[int], Place | None],
        places: Callable[[], Sequence[tuple[int, Place]]],
        pack: Callable[[str], bytes],
    ) -> None:
        """Prepare to read; nothing is read yet.

        Args:
            place_of: returns where a line is; None if that is not known without asking.
            places: yields (number, place) of all lines, in order.
            pack: returns the bytes of a pack.
        """
        super().__init__()
        self._place_of, self._places, self._frames = place_of, places, FrameLines(pack)
        self._all: dict[int, Place] | None = None
        self._numbers: list[int] = []
        self._number = self._byte = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a byte of a line, or to the beginning."""
        if whence:
            raise io.UnsupportedOperation("a log of packs has no end that is known")
        self._number, self._byte = number_at(offset)
        return offset

    def tell(self) -> int:
        """Return the present offset."""
        return virtual(self._number) + self._byte

    def read(self, size: int = -1) -> bytes:
        """Read bytes of the line; without a size, the rest of it."""
        line = self._line()[self._byte :]
        return self._taken(line if size < 0 else line[:size])

    def readline(self, size: int | None = -1) -> bytes:
        """Read the rest of a line."""
        return self.read(-1 if size is None else size)

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, as `read` does."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _taken(self, data: bytes) -> bytes:
        self._byte += len(data)
        if data.endswith(b"\n"):
            self._number, self._byte = self._number + 1, 0
        return data

    def _line(self) -> bytes:
        place = self._place_of(self._number)
        if place is None:
            if self._all is None:
                self._all = dict(self._places())
            place = self._all.get(self._number)
            if place is None:
                return b""
        return self._frames.line(place)
