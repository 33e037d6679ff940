"""Packs: objects of bounded size, made of zstd frames that can each be read alone.

A small stream is one frame among many of a pack, a large one many frames over several packs. So no object is as small
as a stream, and neither who ships nor who reads one ever holds more than a few frames and one pack.
"""

import hashlib
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor

import zstandard

from sightline.named_tuple import NamedTuple

FRAME_BYTES = 1 << 20
"""Of raw bytes of a stream in a frame, at most."""

PACK_BYTES = 4 << 20
"""A pack is closed with the frame that brings it here; who ships holds some four of them."""

LEVEL = 1
"""Of compression: 3 packs logs 6 % smaller, in twice the time."""

_MOST_RAW = 32 << 20
"""Lines of a log are one frame, however long one of them is: no frame of ours has more raw bytes."""

_INLINE_BYTES = 1 << 16  # handing fewer to a thread costs more than it gains
_AHEAD = 4  # frames that are being compressed at once, at most
_THREADS = 2


class TamperedPack(Exception):
    """Bytes of a pack are not what was announced."""


class Frame(NamedTuple):
    """Where a piece of a stream is.

    Attributes:
        pack: its place, from 0, among the packs that are named beside.
        offset: where in the pack it begins.
        stored: bytes there.
        raw: bytes of the stream in it.
        newlines: newlines of the stream before it.
    """

    pack: int
    offset: int
    stored: int
    raw: int
    newlines: int


class Pack(NamedTuple):
    """A closed pack: its bytes, their SHA-256 (hex), and how many bytes of streams they hold."""

    data: bytes
    sha256: str
    raw: int


class Packer:
    """Takes streams, hands out packs as they are full; for one thread, which others help to compress."""

    def __init__(self, take: Callable[[Pack], None], *, pack_bytes: int = PACK_BYTES) -> None:
        """Begin with an empty pack.

        Args:
            take: is given each pack; it may raise, then the packer is of no more use.
            pack_bytes: when one is closed.
        """
        self.number = 0  # of packs that were handed out
        self.stored = 0  # bytes of frames so far
        self._take, self._pack_bytes = take, pack_bytes
        self._data = bytearray()
        self._raw = 0
        self._waiting: deque[tuple[Future[bytes] | bytes, list[Frame], int, int]] = deque()
        self._threads = ThreadPoolExecutor(_THREADS, "sightline-pack")
        self._compressors = threading.local()

    def add(self, data: bytes, frames: list[Frame], newlines: int = 0) -> None:
        """Add one frame; where it is stands in ``frames`` once `settle` has returned."""
        if len(data) <= _INLINE_BYTES:
            self._waiting.append((self._compressed(data), frames, len(data), newlines))
        else:
            self._waiting.append((self._threads.submit(self._compressed, data), frames, len(data), newlines))
        while len(self._waiting) > _AHEAD:
            self._place()

    def add_stream(self, chunks: Iterable[bytes]) -> list[Frame]:
        """Add a stream that comes in pieces of any size; its frames, whole once `settle` has returned."""
        frames: list[Frame] = []
        held = bytearray()
        newlines = 0
        for chunk in chunks:
            held += chunk
            while len(held) >= FRAME_BYTES:
                piece = bytes(held[:FRAME_BYTES])
                del held[:FRAME_BYTES]
                self.add(piece, frames, newlines)
                newlines += piece.count(b"\n")
        if held:
            self.add(bytes(held), frames, newlines)
        return frames

    def settle(self) -> None:
        """Have every frame placed."""
        while self._waiting:
            self._place()

    def finish(self) -> None:
        """Place every frame and hand out the last pack."""
        self.settle()
        self._close_pack()

    def close(self) -> None:
        """Let the threads go; what was not handed out is lost."""
        self._threads.shutdown(cancel_futures=True)

    def _compressed(self, data: bytes) -> bytes:
        try:
            compressor = self._compressors.one
        except AttributeError:
            compressor = self._compressors.one = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        return bytes(compressor.compress(data))

    def _place(self) -> None:
        waiting, frames, raw, newlines = self._waiting.popleft()
        stored = waiting if isinstance(waiting, bytes) else waiting.result()
        frames.append(Frame(self.number, len(self._data), len(stored), raw, newlines))
        self._data += stored  # kept apart, each would hold on to the room that its compression had taken
        self.stored += len(stored)
        self._raw += raw
        if len(self._data) >= self._pack_bytes:
            self._close_pack()

    def _close_pack(self) -> None:
        if not self._data:
            return
        data, raw = bytes(self._data), self._raw
        self._data.clear()
        self._raw = 0
        self.number += 1
        self._take(Pack(data, hashlib.sha256(data).hexdigest(), raw))


def frame_bytes(pack: bytes | memoryview, frame: Frame) -> bytes:
    """The bytes of a stream that a frame holds.

    Args:
        pack: the whole object.
        frame: which of it.

    Raises:
        TamperedPack: it does not hold them.
    """
    return raw_bytes(bytes(pack[frame.offset : frame.offset + frame.stored]), frame.raw)


def raw_bytes(stored: bytes, raw: int | None = None) -> bytes:
    """What a frame was made of. Raises TamperedPack where that is not so many bytes, or no frame of ours."""
    try:
        if zstandard.frame_content_size(stored) > _MOST_RAW:
            raise TamperedPack("a frame is larger than any of ours")
        data = zstandard.ZstdDecompressor().decompress(stored)
    except zstandard.ZstdError as error:
        raise TamperedPack(f"a frame cannot be read: {error}") from error
    if raw is not None and len(data) != raw:
        raise TamperedPack(f"a frame holds {len(data):,} bytes, not {raw:,}")
    return data
