"""Records how two streams interleaved, and when: (time, length, stream) for each read, in fixed size."""

import os
import struct

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Iterator

_RECORD = struct.Struct("<QIHH")
_BATCH_RECORDS = 512
STREAM_CODES = {"out": 0, "err": 1}
_STREAMS = {code: stream for stream, code in STREAM_CODES.items()}
RECORD_BYTES = _RECORD.size


class Arrival(NamedTuple):
    """One read from a stream.

    Attributes:
        time: nanoseconds since the capture began, by a clock that never jumps.
        length: number of bytes.
        stream: ``out`` or ``err``.
    """

    time: int
    length: int
    stream: str


def pack_arrival(time_ns: int, length: int, stream: str) -> bytes:
    """Encode one read of at most 4 GiB."""
    return _RECORD.pack(time_ns, length, STREAM_CODES[stream], 0)


def read_arrivals(fd: int, start: int = 0) -> Iterator[Arrival]:
    """Yield arrivals from a record's number on (from 0), as far as they are complete.

    A record of no bytes ends them: none is written, but a hole in a file reads like many.
    """
    while True:
        data = os.pread(fd, _BATCH_RECORDS * RECORD_BYTES, start * RECORD_BYTES)
        whole = len(data) // RECORD_BYTES
        for time_ns, length, code, _ in _RECORD.iter_unpack(data[: whole * RECORD_BYTES]):
            if not length:
                return
            yield Arrival(time_ns, length, _STREAMS.get(code, "out"))
        if whole < _BATCH_RECORDS:
            return
        start += whole


def last_arrival(fd: int) -> Arrival:
    """Return the last arrival; if nothing has arrived, an empty one in ``out``."""
    records = os.fstat(fd).st_size // RECORD_BYTES if fd >= 0 else 0
    nothing = Arrival(0, 0, "out")
    return next(read_arrivals(fd, records - 1), nothing) if records else nothing
