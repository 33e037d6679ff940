"""Logs of sessions that lie in packs, as files: read from any line on, a line at a time."""

import io
from collections.abc import Callable, Sequence
from typing import Any

from sightline.fleet.pack import TamperedPack, raw_bytes
from sightline.shared.rows import number_at, virtual

Place = tuple[str, int, int, int, int]
"""(pack, offset and bytes of the frame, offset and bytes of the line in it)."""


class SharedLog(io.RawIOBase):
    """A session's log. Offsets are those of `virtual`: a line begins where its number says."""

    def __init__(
        self,
        place_of: Callable[[int], Place | None],
        places: Callable[[], Sequence[tuple[int, Place]]],
        pack: Callable[[str], bytes],
    ) -> None:
        """Nothing is read yet.

        Args:
            place_of: where a line of a number is, None where that is not known without asking.
            places: (number, place) of all lines, in their order.
            pack: the bytes of a pack.
        """
        super().__init__()
        self._place_of, self._places, self._pack = place_of, places, pack
        self._all: dict[int, Place] | None = None
        self._numbers: list[int] = []
        self._number = self._byte = 0
        self._frame: tuple[str, int] | None = None
        self._lines = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is, by the offsets of lines."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a byte of a line, or to the beginning."""
        if whence:
            raise io.UnsupportedOperation("a log of packs has no end that is known")
        self._number, self._byte = number_at(offset)
        return offset

    def tell(self) -> int:
        """Where it stands."""
        return virtual(self._number) + self._byte

    def read(self, size: int = -1) -> bytes:
        """Some bytes of the line; all of what is left of it without a size."""
        line = self._line()[self._byte :]
        return self._taken(line if size < 0 else line[:size])

    def readline(self, size: int | None = -1) -> bytes:
        """What is left of a line."""
        return self.read(-1 if size is None else size)

    def readinto(self, buffer: Any) -> int:
        """As `read`."""
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
        pack, offset, size, begin, length = place
        if self._frame != (pack, offset):
            try:
                self._lines = raw_bytes(self._pack(pack)[offset : offset + size])
            except TamperedPack as error:
                raise OSError(str(error)) from error
            self._frame = (pack, offset)
        return self._lines[begin : begin + length]
