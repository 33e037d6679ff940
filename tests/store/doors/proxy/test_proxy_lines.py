"""Lines on their way: what comes out is what went in, whole where they are read, else in pieces."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.doors.tools.line_io import LEFT_SECONDS, PassingLines
from tests.store.doors.proxy.proxy_kit import PATIENCE_SECONDS


def passed(data: bytes, folder: Path, *, read: bool, limit: int) -> list[bytes | list[bytes]]:
    (folder / "in").write_bytes(data)
    fd = os.open(folder / "in", os.O_RDONLY)
    lines = PassingLines(fd, lambda: read, limit=limit)
    found: list[bytes | list[bytes]] = []
    while (line := lines.next()) is not None:
        found.append(line if isinstance(line, bytes) else list(line))
    os.close(fd)
    return found


def joined(found: list[bytes | list[bytes]]) -> bytes:
    return b"".join(line if isinstance(line, bytes) else b"".join(line) for line in found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines")


@given(
    st.lists(st.sampled_from([b"", b"a", b"b" * 100, b"c" * 70_000, b"d" * 200_000]), max_size=6),
    st.booleans(),
    st.booleans(),
)
@settings(deadline=None)
def test_what_comes_out_is_what_went_in(folder: Path, lines: list[bytes], ended: bool, read: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    found = passed(data, folder, read=read, limit=150_000)
    assert joined(found) == data
    whole = [line for line in found if isinstance(line, bytes)]
    assert all(line.endswith(b"\n") for line in whole[:-1])


def test_a_line_is_whole_where_it_is_read_and_comes_in_pieces_where_it_is_not(folder: Path) -> None:
    data = b"x" * 300_000 + b"\nnext\n"
    assert passed(data, folder, read=True, limit=1 << 20) == [data[:300_001], b"next\n"]
    pieces, following = passed(data, folder, read=False, limit=1 << 20)
    assert isinstance(pieces, list)
    assert following == b"next\n"
    assert max(map(len, pieces)) <= 1 << 17


def test_a_line_over_the_limit_comes_in_pieces_all_the_same(folder: Path) -> None:
    data = b"x" * 300_000
    (pieces,) = passed(data, folder, read=True, limit=100_000)
    assert isinstance(pieces, list)
    assert max(map(len, pieces)) < 300_000


@pytest.mark.parametrize("size", [0, 4, 60_000, 65_536, 70_000, 200_000])
@pytest.mark.parametrize("read", [True, False])
def test_a_writer_that_has_ended_is_read_to_its_end_although_another_could_write(read: bool, size: int) -> None:
    (source, sink), (ended, end) = os.pipe(), os.pipe()
    lines = PassingLines(source, lambda: read, limit=150_000, ended=ended)
    found: list[bytes | list[bytes]] = []

    def take() -> None:
        while (line := lines.next()) is not None:
            found.append(line if isinstance(line, bytes) else list(line))

    taking = threading.Thread(target=take, daemon=True)
    taking.start()
    words = b"first\n" + b"x" * size
    with open(sink, "wb", buffering=0) as there:
        for at in range(0, len(words), 50_000):
            there.write(words[at : at + 50_000])
        os.write(end, b"\0")
        taking.join(PATIENCE_SECONDS)
    assert (joined(found), taking.is_alive()) == (words, False)
    assert lines.next() is None
    for fd in (source, ended, end):
        os.close(fd)


def test_one_who_writes_on_does_not_hold_what_has_ended() -> None:
    (source, sink), (ended, end) = os.pipe(), os.pipe()
    lines = PassingLines(source, lambda: True, ended=ended)
    os.write(end, b"\0")
    found = list[bytes]()
    is_over = threading.Event()

    def write() -> None:
        while not is_over.wait(LEFT_SECONDS / 5):
            os.write(sink, b"more\n")

    writing = threading.Thread(target=write)
    writing.start()
    try:
        while (line := lines.next()) is not None and len(found) < 50:
            found.append(line if isinstance(line, bytes) else b"".join(line))
    finally:
        is_over.set()
        writing.join(PATIENCE_SECONDS)
    assert len(found) < 50
    assert set(found) <= {b"more\n"}
    for fd in (source, sink, ended, end):
        os.close(fd)


def test_a_line_is_handed_out_before_the_next_one_has_come() -> None:
    source, sink = os.pipe()
    lines = PassingLines(source, lambda: True)
    found: list[bytes | Iterator[bytes] | None] = []
    for data in (b"one\ntw", b"o\n", b"three\n"):
        os.write(sink, data)
        thread = threading.Thread(target=lambda: found.append(lines.next()))
        thread.start()
        thread.join(20)
    os.close(sink)
    assert [*found, lines.next()] == [b"one\n", b"two\n", b"three\n", None]
    os.close(source)
