"""Packs: objects of bounded size, made of zstd frames each of which can be read alone.

A small stream is one frame among many in a pack; a large one is many frames over several packs. So no object is tiny,
and neither shipper nor reader ever holds more than a few frames and one pack in memory.
"""

import binascii
import hashlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import zstandard

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

FRAME_BYTES = 1 << 20
"""Raw bytes of a stream in a frame, at most."""

PACK_BYTES = 4 << 20
"""A pack is closed with the frame that reaches this size; a shipper holds some four of them."""

LEVEL = 1
"""The level of compression; 3 makes logs 6 % smaller, in twice the time."""

_MOST_RAW = 32 << 20
"""Lines of a log are one frame, however long a line is; no frame of ours has more raw bytes."""

_INLINE_BYTES = 1 << 16  # passing fewer to a thread costs more than it gains
_HASH_BYTES = 32
_AHEAD = 4  # frames that are compressed at once
_THREADS = 2


class TamperedPack(Exception):
    """Bytes of a pack differ from what was announced."""


class Frame(NamedTuple):
    """Where a piece of a stream is.

    Attributes:
        pack: index of the pack, from 0, in a list beside the frame.
        offset: where it begins in the pack.
        stored: number of its bytes there.
        raw: number of bytes of the stream in it.
        newlines: number of the stream's newlines before it.
        sha256: hash of the stored bytes; empty where it is not kept, as of a stream that is one small frame.
    """

    pack: int
    offset: int
    stored: int
    raw: int
    newlines: int
    sha256: bytes = b""


class Pack(NamedTuple):
    """A closed pack: its bytes, their SHA-256 (hex), and the number of streams' bytes in it."""

    data: bytes
    sha256: str
    raw: int


def frame_at(place: Sequence[int]) -> Frame:
    """Return the frame at a place in a row. Raises ValueError if it has too many numbers or too few."""
    pack, offset, stored, raw, newlines = place
    return Frame(pack, offset, stored, raw, newlines)


_Stored = tuple[bytes, bytes]
"""The bytes of a frame in a pack, and their hash."""


class Packer:
    """Takes streams, and passes packs on as they fill. Only one thread may use it; others help to compress."""

    def __init__(self, take: Callable[[Pack], None], *, pack_bytes: int = PACK_BYTES) -> None:
        """Start with an empty pack.

        Args:
            take: gets each pack; if it raises, the packer must not be used any more.
            pack_bytes: size at which a pack is closed.
        """
        self.number = 0  # packs passed on so far
        self.stored = 0  # bytes of frames so far
        self._take, self._pack_bytes = take, pack_bytes
        self._data = bytearray()
        self._raw = 0
        self._waiting: deque[tuple[Future[_Stored] | _Stored, list[Frame], int, int]] = deque()
        self._threads = ThreadPoolExecutor(_THREADS, "sightline-pack")
        self._compressors = threading.local()

    def add(self, data: bytes, frames: list[Frame], newlines: int = 0, *, hashes: bool = False) -> None:
        """Add one frame; its place, and with ``hashes`` its hash, is in ``frames`` once `settle` has returned."""
        if len(data) <= _INLINE_BYTES:
            stored: Future[_Stored] | _Stored = self._compressed(data, hashes)
        else:
            stored = self._threads.submit(self._compressed, data, hashes)
        self._waiting.append((stored, frames, len(data), newlines))
        while len(self._waiting) > _AHEAD:
            self._place()

    def add_stream(self, chunks: Iterable[bytes]) -> list[Frame]:
        """Add a stream in pieces of any size, and return its frames, which are complete once `settle` has returned."""
        frames: list[Frame] = []
        held = bytearray()
        newlines, is_large = 0, False
        for chunk in chunks:
            held += chunk
            while len(held) >= FRAME_BYTES:
                is_large = True
                piece = bytes(held[:FRAME_BYTES])
                del held[:FRAME_BYTES]
                self.add(piece, frames, newlines, hashes=True)
                newlines += piece.count(b"\n")
        if held:
            self.add(bytes(held), frames, newlines, hashes=is_large)
        return frames

    def settle(self) -> None:
        """Place every frame."""
        while self._waiting:
            self._place()

    def finish(self) -> None:
        """Place every frame, and pass the last pack on."""
        self.settle()
        self._close_pack()

    def close(self) -> None:
        """End the threads; what was not passed on is lost."""
        self._threads.shutdown(cancel_futures=True)

    def _compressed(self, data: bytes, hashes: bool) -> "_Stored":
        try:
            compressor = self._compressors.one
        except AttributeError:
            compressor = self._compressors.one = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        stored = bytes(compressor.compress(data))
        return stored, hashlib.sha256(stored).digest() if hashes else b""

    def _place(self) -> None:
        waiting, frames, raw, newlines = self._waiting.popleft()
        stored, sha256 = waiting if isinstance(waiting, tuple) else waiting.result()
        frames.append(Frame(self.number, len(self._data), len(stored), raw, newlines, sha256))
        self._data += stored  # kept separately, each frame would occupy the room of its compression
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


def written_hashes(frames: Sequence[Frame]) -> str:
    """Return the hashes of frames as a row has them; empty if one has none."""
    hashes = [frame.sha256 for frame in frames]
    return binascii.b2a_base64(b"".join(hashes), newline=False).decode() if all(hashes) else ""


def hashes_in(text: Any, frames: int) -> list[str]:
    """Return the hashes, in hex, of so many frames in a row, which a host has written; none if it is not so many."""
    try:
        joined = binascii.a2b_base64(text, strict_mode=True) if isinstance(text, str) else b""
    except ValueError:
        return []
    each = [joined[at : at + _HASH_BYTES].hex() for at in range(0, len(joined), _HASH_BYTES)]
    return each if len(joined) == frames * _HASH_BYTES else []


def check_frame(stored: bytes, sha256: str) -> None:
    """Raise TamperedPack unless the stored bytes of a frame have this hash."""
    if hashlib.sha256(stored).hexdigest() != sha256:
        raise TamperedPack("a frame is not what was announced")


def frame_bytes(pack: bytes | memoryview, frame: Frame) -> bytes:
    """Return the bytes of a stream in a frame.

    Args:
        pack: the whole object.
        frame: the frame.

    Raises:
        TamperedPack: the pack does not have them.
    """
    return raw_bytes(bytes(pack[frame.offset : frame.offset + frame.stored]), frame.raw)


def raw_bytes(stored: bytes, raw: int | None = None) -> bytes:
    """Return the raw bytes of a frame. Raises TamperedPack if their number is wrong, or it is no frame of ours."""
    try:
        if zstandard.frame_content_size(stored) > _MOST_RAW:
            raise TamperedPack("a frame is larger than any of ours")
        data = zstandard.ZstdDecompressor().decompress(stored)
    except zstandard.ZstdError as error:
        raise TamperedPack(f"a frame cannot be read: {error}") from error
    if raw is not None and len(data) != raw:
        raise TamperedPack(f"a frame holds {len(data):,} bytes, not {raw:,}")
    return data
