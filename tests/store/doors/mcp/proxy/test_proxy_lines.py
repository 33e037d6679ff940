"""Lines on their way: what comes out is what went in, whole where they are read, else in pieces."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sightline.store.doors.mcp.proxy_lines import PassingLines


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
