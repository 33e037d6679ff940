"""Reads streams of outputs in packs by lines and bytes, and fetches only the frames that are needed."""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence

from sightline.base.records import StreamInfo
from sightline.disk.streams import StreamReader
from sightline.fleet.pack import Frame

_HELD_FRAMES = 8  # of at most 1 MiB each, of one stream


class FrameIndex:
    """Where each frame of a stream begins, which is a sparse index of its lines."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        self.offsets = [0]
        for frame in frames:
            self.offsets.append(self.offsets[-1] + frame.raw)
        self.newlines = [frame.newlines for frame in frames] or [0]

    def before_newline(self, nth: int) -> tuple[int, int]:
        """Return the last (bytes, newlines) with fewer than nth newlines."""
        place = max(bisect_left(self.newlines, nth) - 1, 0)
        return self.offsets[place], self.newlines[place]

    def before_byte(self, offset: int) -> tuple[int, int]:
        """Return the last one below an offset."""
        place = max(min(bisect_left(self.offsets, offset) - 1, len(self.newlines) - 1), 0)
        return self.offsets[place], self.newlines[place]

    def frame_at(self, offset: int) -> int:
        """Return the index of the frame with a byte."""
        return bisect_right(self.offsets, offset) - 1

    def close(self) -> None:
        """Do nothing, because there is no file."""


class FrameReader(StreamReader):
    """One stream, whose frames are fetched when they are needed."""

    def __init__(self, ref: str, info: StreamInfo, frames: Sequence[Frame], fetch: Callable[[int], bytes]) -> None:
        """Prepare to read; nothing is fetched yet.

        Args:
            ref: name of the stream in markers.
            info: what was announced of it.
            frames: its frames.
            fetch: returns the bytes of a frame, by its index among these.
        """
        self._frames = FrameIndex(frames)
        self._info = info
        self._fetch = fetch
        self._held: OrderedDict[int, bytes] = OrderedDict()
        super().__init__(-1, ref, self._frames)

    def refresh(self) -> bool:
        """Return False, because a finished stream does not grow."""
        self._size = self._frames.offsets[-1]
        return False

    @property
    def may_wait(self) -> bool:
        """Whether reading may wait for a network: until all frames are held."""
        return len(self._held) < len(self._frames.offsets) - 1

    @property
    def line_count(self) -> int:
        """Number of lines, as announced; counting them would need the last frame."""
        return self._info.lines

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes from an offset on, as far as they exist. Raises Tampered, FleetUnreachable, FleetRefused."""
        end = min(offset + length, self._size)
        pieces = []
        while offset < end:
            place = self._frames.frame_at(offset)
            begin = self._frames.offsets[place]
            piece = self._frame(place)[offset - begin : end - begin]
            pieces.append(piece)
            offset += len(piece)
        return b"".join(pieces)

    def _frame(self, place: int) -> bytes:
        if place not in self._held:
            self._held[place] = self._fetch(place)
            while len(self._held) > _HELD_FRAMES:
                self._held.popitem(last=False)
        self._held.move_to_end(place)
        return self._held[place]

    def _newlines_in(self, start: int, end: int) -> int:
        newlines = 0
        while start < end:
            place = self._frames.frame_at(start)
            begin = self._frames.offsets[place]
            stop = min(end, self._frames.offsets[place + 1])
            newlines += self._frame(place).count(b"\n", start - begin, stop - begin)
            start = stop
        return newlines
