"""Stores and buffers of any size for `load`, made in bulk with what captures and imports are written with."""

import hashlib
import os
import random
import time
from contextlib import closing

from sightline.base.private_files import open_private
from sightline.base.records import Buffer, Session, Shown, StreamInfo
from sightline.disk.deposit import Deposit
from sightline.disk.layout import SEALED_MODE
from sightline.disk.meta import write_meta
from sightline.disk.recording import new_buffer, reserve
from sightline.log import log
from sightline.log.sessions import header_of
from sightline.log.views import Shows, append_view, index_view, record_view
from sightline.settings.config import Settings
from sightline.shape.segments import Segment
from sightline.store import Store

LIMITS = {
    "SIGHTLINE_MAX_BUFFERS": "1000000000",
    "SIGHTLINE_MAX_BYTES": "1000000000000000",
    "SIGHTLINE_MAX_VIEW_BYTES": "1000000000000000",
    "SIGHTLINE_MAX_STREAM_BYTES": "1000000000000000",
}
"""So that nothing is evicted but what a measurement means to."""

BOUNDLESS = Settings(max_buffers=10**9, max_bytes=10**15, max_view_bytes=10**15, max_stream_bytes=10**15)
"""The same for a store that is opened here."""

NEEDLE = "XQ-NEEDLE-7731"
"""Stands in the last line of a large buffer."""

_CALLS = 500  # of one session
_BATCH = 5_000  # buffers that are put into the index at once
_COMMANDS = ("cargo build --release", "pytest -q tests", "git log --oneline", "grep -rn TODO src", "npm run lint")
_LINE = "2026-01-02T03:04:05.678Z n={:06d} INFO  [worker-{}] request done in {} ms, 4096 bytes sent"
_BLOCK_LINES = 4096


def grow(store: Store, count: int) -> None:
    """Capture commands until the store has so many, each with half a kilobyte of output that its session was shown."""
    for first in range(store.index.totals().buffers, count, _BATCH):
        last = min(first + _BATCH, count)
        with store.index.transaction():
            for start in range(first, last, _CALLS):
                _work(store, range(start, min(start + _CALLS, last)))


def _work(store: Store, numbers: range) -> None:
    name = f"load-{numbers.start:07d}"
    session = Session(name, "claude-code", name, "bench", "/home/ada/project", time.time())
    with closing(log.LogWriter(store.layout.audit_file(name), header_of(session))) as file:
        for number in numbers:
            buffer, text = _deposit(store, number, name)
            shown = (Shown(buffer.name, "out", 1, buffer.lines),)
            shows = Shows(
                "run_command",
                {"command": buffer.command},
                (buffer.name,),
                shown,
                lines_total=buffer.lines,
                bytes_total=buffer.bytes,
                exit_code=buffer.exit_code,
            )
            index_view(store, append_view(store, session, shows, [Segment(text)], file=file))


def _deposit(store: Store, number: int, session: str) -> tuple[Buffer, str]:
    command = f"{_COMMANDS[number % len(_COMMANDS)]} --seed {number:07d} src/module_{number % 977}"
    made = new_buffer(reserve(store.layout, "cmd"), "cmd", command, "/home/ada/project", session)
    deposit = Deposit(store.layout, made._replace(ended=made.created), max_stream_bytes=BOUNDLESS.max_stream_bytes)
    text = "".join(f"test_{number:07d}_{line} ... ok\n" for line in range(20))
    deposit.append("out", text.encode())
    buffer = deposit.seal(exit_code=int(number % 7 == 0))
    store.index.put_buffer(buffer)
    return buffer, text


def large_buffer(store: Store, size: int) -> Buffer:
    """Capture a log of so many bytes: a block of lines again and again, and one line with `NEEDLE` at the end."""
    recording = store.begin("cmd", f"a log of {size:,} bytes", "/", "bench")
    block = "".join(_LINE.format(n, n % 7, n % 89) + "\n" for n in range(_BLOCK_LINES)).encode()
    last = f"{NEEDLE} is in no other line\n".encode()
    room = size - len(last)
    while room > 0:
        recording.append("out", block[: block.rfind(b"\n", 0, room) + 1 or room])
        room -= len(block)
    recording.append("out", last)
    return recording.seal(exit_code=0)


def sparse_buffers(store: Store, count: int, size: int) -> None:
    """Buffers whose streams are holes: they have a size and a hash, and take no room."""
    zeros, sha256 = memoryview(bytes(1 << 20)), hashlib.sha256()
    for start in range(0, size, len(zeros)):
        sha256.update(zeros[: size - start])
    for number in range(count):
        buffer = new_buffer(reserve(store.layout, "cmd"), "cmd", f"dump --number {number}", "/", "bench")
        fd = open_private(store.layout.stream(buffer.name, "out"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.ftruncate(fd, size)
        os.fchmod(fd, SEALED_MODE)
        os.close(fd)
        streams = {"out": StreamInfo(size, 1, sha256.hexdigest())}
        sealed = buffer._replace(state="sealed", ended=buffer.created, exit_code=0, streams=streams)
        write_meta(store.layout, sealed)
        store.index.put_buffer(sealed)


def show_ranges(store: Store, buffer: Buffer, views: int, ranges: int) -> None:
    """Log so many views of a buffer, each of some ranges of twenty lines, by ten sessions in turn."""
    chosen = random.Random(7)
    with store.index.transaction():
        for number in range(views):
            name = f"reader-{number % 10}"
            session = Session(name, "claude-code", name, "bench", "/", time.time())
            firsts = [chosen.randint(1, buffer.lines - 20) for _ in range(ranges)]
            shown = tuple(Shown(buffer.name, "out", first, first + 19) for first in firsts)
            record_view(
                store, session, Shows("read_output", {"ref": buffer.ref}, (buffer.name,), shown), [Segment("x\n")]
            )
