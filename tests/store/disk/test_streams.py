"""Streams read by lines and bytes, alone and in order of arrival, against the plain bytes."""

import gc
import itertools
import os
import time
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.base.errors import StoreFailed, UnsafeStore
from sightline.base.records import Buffer
from sightline.disk.line_index import CHECKPOINT_BYTES
from sightline.disk.streams import StreamReader
from sightline.settings.config import Settings
from sightline.shape.source import BLOCK_BYTES, Line
from sightline.store import Store, Target
from tests.descriptors import open_files
from tests.examples import examples

Keep = Callable[..., Buffer]
Appends = list[tuple[str, bytes]]

unhurried = settings(
    deadline=None,
    max_examples=examples(20),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
PIECES = st.one_of(
    st.tuples(
        st.lists(
            st.sampled_from([b"\n", b"a", b"bb\n", b"\n\n", b"\r\n", b"\xff\x00", b"line\nof\ntext"]), max_size=6
        ).map(b"".join),
        st.just(1),
    ),
    st.tuples(st.sampled_from([b"\n", b"0123456789abcdef\n", b"a\n\n"]), st.sampled_from([1, 9_000, 70_000])),
    st.tuples(st.sampled_from([b"x" * 70, b"y" * 700 + b"\n"]), st.sampled_from([1, 100, 1_000])),
)
"""What is written at once: some bytes, so many times."""
APPENDS = st.lists(st.tuples(st.sampled_from(["out", "err"]), PIECES), max_size=6)


def grown(appends: list[tuple[str, tuple[bytes, int]]]) -> Appends:
    return [(stream, piece * times) for stream, (piece, times) in appends]


def lines_of(data: bytes) -> list[bytes]:
    return data.split(b"\n")[:-1] if data.endswith(b"\n") or not data else data.split(b"\n")


def written(appends: Appends, stream: str) -> bytes:
    return b"".join(data for name, data in appends if name == stream)


def in_order_of_arrival(appends: Appends) -> list[tuple[str, bytes]]:
    """A line stands where its newline arrived; last lines without one come at the end, the latest stream's last."""
    begun = {"out": b"", "err": b""}
    merged, latest = [], "out"
    for stream, data in appends:
        latest = stream if data else latest
        *whole, begun[stream] = (begun[stream] + data).split(b"\n")
        merged += [(stream, line) for line in whole]
    rest = [stream for stream in ("out", "err") if stream != latest] + [latest]
    return merged + [(stream, begun[stream]) for stream in rest if begun[stream]]


@contextmanager
def written_buffer(store: Store, appends: Appends, *, seal: bool) -> Iterator[Buffer]:
    recording = store.begin("cmd", "true", "/", "s")
    for stream, data in appends:
        recording.append(stream, data)
    try:
        yield recording.seal(exit_code=0) if seal else recording.buffer
    finally:
        if not seal:
            recording.discard()


def assert_reads_as(reader: StreamReader, data: bytes) -> None:
    lines = lines_of(data)
    assert reader.byte_count == len(data)
    assert reader.line_count == len(lines)
    assert reader.newline_count == data.count(b"\n")
    assert reader.read(0, len(data) + 1) == data
    middle = len(lines) // 2
    for first, last in [
        (1, 1),
        (1, len(lines)),
        (middle, middle + 3),
        (len(lines), len(lines) + 5),
        (len(lines) + 1, 0),
    ]:
        wanted = [Line(at, lines[at - 1], len(lines[at - 1])) for at in range(max(first, 1), min(last, len(lines)) + 1)]
        assert list(reader.lines(first, last, len(data) + 2)) == wanted
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for number in (
        max(middle - 300, 1),
        *range(max(middle - 3, 1), middle + 1),
        max(middle - 5, 1),
        max(middle - 300, 1),
    ):
        assert reader.offset_of_line(number) == starts[number - 1]
    offset = 0
    for number, line in enumerate(lines, 1):
        if number in (1, 2, middle, len(lines)):
            assert reader.offset_of_line(number) == offset
            assert reader.line_at(offset) == number
            assert reader.line_at(offset + len(line)) == number
        offset += len(line) + 1
    assert reader.offset_of_line(len(lines) + 1) == len(data)
    short_enough = max(map(len, lines), default=0) < BLOCK_BYTES
    for first in (1, middle + 1):
        blocks = list(reader.blocks(first))
        assert [number for number, _ in blocks] == [reader.line_at(reader.offset_of_line(n)) for n, _ in blocks]
        if short_enough:
            rest = b"".join(line + b"\n" for line in lines[first - 1 :])
            assert b"".join(block for _, block in blocks) in (rest, rest[:-1])


@unhurried
@given(appends=APPENDS, sealed=st.booleans())
def test_each_stream_reads_as_its_plain_bytes(store: Store, appends: list[Any], sealed: bool) -> None:
    appends = grown(appends)
    with written_buffer(store, appends, seal=sealed) as buffer:
        for stream in ("out", "err"):
            with store.open(Target(buffer, stream)) as reader:
                assert_reads_as(reader, written(appends, stream))


@unhurried
@given(appends=APPENDS, sealed=st.booleans(), place=st.floats(0, 1))
def test_both_streams_read_in_order_of_arrival(store: Store, appends: list[Any], sealed: bool, place: float) -> None:
    appends = grown(appends)
    wanted = in_order_of_arrival(appends)
    with written_buffer(store, appends, seal=sealed) as buffer, closing(store.open_merged(buffer)) as merged:
        assert merged.line_count == len(wanted)
        found = [(stream, line.data) for stream, line in merged.lines(1, len(wanted) + 1, 1 << 30)]
        assert found == wanted
        first = 1 + int(place * len(wanted))
        part = [(stream, line.data) for stream, line in merged.lines(first, first + 2, 1 << 30)]
        assert part == wanted[first - 1 : first + 2]


@unhurried
@given(appends=APPENDS, place=st.floats(0, 1))
def test_a_line_of_both_streams_and_of_its_own_find_each_other(store: Store, appends: list[Any], place: float) -> None:
    appends = grown(appends)
    streams = [stream for stream, _ in in_order_of_arrival(appends)]
    with written_buffer(store, appends, seal=True) as buffer, closing(store.open_merged(buffer)) as merged:
        number = 1 + int(place * len(streams))
        before = merged.before(number)
        assert before == {stream: streams[: number - 1].count(stream) for stream in ("out", "err")}
        for stream in streams[number - 1 : number]:
            assert merged.number_of(stream, before[stream] + 1) == number


@unhurried
@given(appends=APPENDS, place=st.floats(0, 1))
def test_each_line_knows_when_it_came(store: Store, appends: list[Any], place: float) -> None:
    appends = grown(appends)
    ticks = itertools.count()
    with patch("time.monotonic_ns", lambda: next(ticks)), written_buffer(store, appends, seal=True) as buffer:
        wanted = in_order_of_arrival(appends)
        with closing(store.open_merged(buffer)) as merged:
            times = list(merged.times(1, len(wanted)))
            assert len(times) == len(wanted)
            assert times == sorted(times)
            assert all(0 < time <= len(appends) for time in times)
            first = 1 + int(place * len(wanted))
            assert list(merged.times(first, first + 2)) == times[first - 1 : first + 2]
            for only in ("out", "err"):
                own = [time for time, (stream, _) in zip(times, wanted, strict=True) if stream == only]
                assert list(merged.times(1, len(wanted), only)) == own


@unhurried
@given(piece=PIECES)
def test_a_stream_without_an_index_reads_the_same(tmp_path: Path, piece: tuple[bytes, int]) -> None:
    data = piece[0] * piece[1]
    (tmp_path / "plain").write_bytes(data)
    with StreamReader(os.open(tmp_path / "plain", os.O_RDONLY), "@cmd_a1b2c3") as reader:
        assert_reads_as(reader, data)


def test_a_reader_sees_what_has_been_written_since_when_it_is_refreshed(store: Store) -> None:
    recording = store.begin("cmd", "true", "/", "s")
    recording.append("out", b"one\ntw")
    with store.open(Target(recording.buffer, "out")) as reader:
        assert reader.line_count == 2
        recording.append("out", b"o\nthree\n" + b"x\n" * CHECKPOINT_BYTES)
        assert [line.data for line in reader.lines(1, 9)] == [b"one", b"tw"]
        assert reader.refresh()
        assert [line.data for line in reader.lines(1, 3)] == [b"one", b"two", b"three"]
        assert reader.line_count == 3 + CHECKPOINT_BYTES
        assert not reader.refresh()
        recording.seal(exit_code=0)
        assert reader.line_count == 3 + CHECKPOINT_BYTES


def test_an_empty_stream_has_no_lines(store: Store, keep: Keep) -> None:
    buffer = keep(b"out only\n")
    with store.open(Target(buffer, "err")) as reader:
        assert_reads_as(reader, b"")
    with closing(store.open_merged(buffer)) as merged:
        assert (merged.single, merged.line_count, merged.byte_count) == ("out", 1, 9)


def test_one_line_of_50_mb_is_read_fast_and_in_bounded_memory(store: Store) -> None:
    recording = store.begin("cmd", "true", "/", "s")
    recording.append("out", b"before\n")
    chunk = b"x" * (1 << 20)
    for _ in range(50):
        recording.append("out", chunk)
    recording.append("out", b"\nafter\n")
    buffer = recording.seal(exit_code=0)
    tracemalloc.start()
    began = time.thread_time()  # of this thread alone: others may need the processor
    try:
        with store.open(Target(buffer, "out")) as reader:
            before, long, after = reader.lines(1, 3)
            blocks = [(number, len(block)) for number, block in reader.blocks()]
            assert reader.line_at(reader.byte_count - 1) == 3
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (before.data, after.data) == (b"before", b"after")
    assert (long.length, long.whole, set(long.data)) == (50 << 20, False, {ord("x")})
    assert [number for number, _ in blocks] == [1, 2, 3]
    assert max(size for _, size in blocks) <= BLOCK_BYTES + 1
    assert peak < 4 << 20
    assert time.thread_time() - began < 2


def test_a_line_deep_in_a_large_stream_is_found_by_its_checkpoints(
    store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = store.begin("cmd", "true", "/", "s")
    for start in range(1, 500_001, 1000):
        recording.append("out", b"".join(b"line %d\n" % number for number in range(start, start + 1000)))
        if start % 5000 == 1:
            recording.append("err", b"at %d\n" % start)
    buffer = recording.seal(exit_code=0)
    asked: list[int] = []
    read = StreamReader.read

    def counted(self: StreamReader, offset: int, length: int) -> bytes:
        data = read(self, offset, length)
        asked.append(len(data))
        return data

    monkeypatch.setattr(StreamReader, "read", counted)
    with store.open(Target(buffer, "out")) as reader:
        assert next(iter(reader.lines(400_000, 400_000))).data == b"line 400000"
        assert reader.line_at(reader.offset_of_line(499_999)) == 499_999
        assert sum(asked) <= 6 * CHECKPOINT_BYTES
        assert reader.line_count == 500_000
    with closing(store.open_merged(buffer)) as merged:
        asked.clear()
        assert next(iter(merged.lines(500_000, 500_000)))[1].data == b"line 499900"
        assert sum(asked) <= 8 * CHECKPOINT_BYTES


def test_a_long_line_is_given_by_its_two_ends(store: Store, keep: Keep) -> None:
    buffer = keep(b"a" * 60 + b"b" * 60 + b"\n")
    with store.open(Target(buffer, "out")) as reader:
        (line,) = reader.lines(1, 1, limit=20)
    assert (line.data, line.length, line.whole) == (b"a" * 10 + b"b" * 10, 120, False)


def test_both_streams_as_one_file_are_made_anew_until_the_buffer_is_sealed(store: Store) -> None:
    recording = store.begin("cmd", "true", "/", "s")
    recording.append("out", b"1\n")
    recording.append("err", b"2")
    target = Target(recording.buffer, "all")
    assert Path(store.path(target)).read_bytes() == b"1\n2"
    recording.append("out", b"3\n4")
    assert Path(store.path(target)).read_bytes() == b"1\n3\n2\n4"
    recording.append("err", b"!\n")
    buffer = recording.seal(exit_code=0)
    assert Path(store.path(Target(buffer, "all"))).read_bytes() == b"1\n3\n2!\n4"
    assert store.path(Target(buffer, "all")) == store.path(Target(buffer, "all"))


def test_paths_of_streams_are_their_raw_bytes(store: Store, keep: Keep) -> None:
    buffer = keep(b"\xff\x00\r\n")
    assert Path(store.path(Target(buffer, "out"))).read_bytes() == b"\xff\x00\r\n"
    assert Path(store.path(Target(buffer, "all"))).read_bytes() == b"\xff\x00\r\n"
    assert Path(store.path(Target(buffer, "err"))).read_bytes() == b""


def test_a_store_that_keeps_durably_reads_the_same(tmp_path: Path) -> None:
    with Store(str(tmp_path / "durable"), Settings(durable=True)) as store:
        recording = store.begin("cmd", "true", "/", "s")
        recording.register()
        recording.append("out", b"safe\n")
        buffer = recording.seal(exit_code=0)
        with store.open(Target(buffer, "out")) as reader:
            assert_reads_as(reader, b"safe\n")


def test_a_file_cut_short_from_outside_ends_the_reading(store: Store) -> None:
    recording = store.begin("cmd", "log", "/", "s")
    recording.append("out", b"a line\n" * 100_000)
    target = store.resolve(recording.seal(exit_code=0).ref)
    with store.open(target) as reader:
        os.chmod(store.path(target), 0o600)
        os.truncate(store.path(target), 7_000)
        assert reader.offset_of_line(90_000) == reader.byte_count
        assert len(list(reader.lines(990, 1010))) <= 12
        assert list(reader.blocks(90_000)) == []


def test_closing_closes_all_that_was_opened(store: Store, keep: Keep) -> None:
    buffer = keep(b"out\n" * CHECKPOINT_BYTES, b"err\n" * CHECKPOINT_BYTES)
    assert os.path.exists(store.layout.stream(buffer.name, "lines"))
    before = open_files()
    for stream in ("out", "err"):
        store.open(Target(buffer, stream)).close()
    store.open_merged(buffer).close()
    assert open_files() == before


def test_a_closed_reader_without_an_index_is_no_work_for_the_garbage_collector(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"line\n" * 9)
    gc.disable()
    try:
        reader = StreamReader(os.open(tmp_path / "plain", os.O_RDONLY), "@tool_a1b2c3#0")
        assert reader.offset_of_line(9) == 40
        left = weakref.ref(reader)
        reader.close()
        del reader
        assert left() is None
    finally:
        gc.enable()


def test_what_cannot_be_opened_leaves_nothing_open(store: Store, keep: Keep) -> None:
    buffer = keep(b"out\n" * CHECKPOINT_BYTES, b"err\n")
    before = open_files()
    os.unlink(store.layout.stream(buffer.name, "err"))
    with pytest.raises(StoreFailed):
        store.open_merged(buffer)
    os.unlink(store.layout.stream(buffer.name, "lines"))
    os.symlink("out", store.layout.stream(buffer.name, "lines"))
    with pytest.raises(UnsafeStore):
        store.open(Target(buffer, "out"))
    assert open_files() == before
