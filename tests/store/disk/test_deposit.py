"""Buffers that are written sealed: what they are on disk, and what happens when that goes wrong."""

import os
from pathlib import Path

import pytest

from sightline.base.errors import StoreFailed
from sightline.base.records import DROPPED, Buffer, Gap
from sightline.disk.deposit import Deposit
from sightline.disk.index_filling import rebuild_buffers
from sightline.disk.layout import SEALED_MODE
from sightline.disk.recording import new_buffer, reserve
from sightline.store import Store


def _deposit(store: Store, *, most: int = 1 << 20) -> Deposit:
    buffer = new_buffer(reserve(store.layout, "cmd"), "cmd", "make", "/", "s", created=5.0, ended=6.0, artifact="id")
    return Deposit(store.layout, buffer, max_stream_bytes=most)


def _sealed(store: Store) -> Buffer:
    deposit = _deposit(store)
    deposit.append("out", b"1\n2")
    deposit.append("out", b"\n3")
    deposit.append("err", b"e\n")
    return deposit.seal(exit_code=1, note="merged")


def test_a_deposit_is_a_sealed_buffer_with_its_own_times(store: Store) -> None:
    buffer = _sealed(store)
    assert (buffer.state, buffer.created, buffer.ended, buffer.exit_code) == ("sealed", 5.0, 6.0, 1)
    assert (buffer.stream("out").lines, buffer.stream("err").lines) == (3, 1)
    path = Path(store.layout.stream(buffer.name, "out"))
    assert path.read_bytes() == b"1\n2\n3"
    assert path.stat().st_mode & 0o777 == SEALED_MODE
    merged = store.open_merged(buffer)
    assert merged.line_count == 4
    merged.close()


def test_an_index_made_anew_finds_it(store: Store) -> None:
    buffer = _sealed(store)
    rebuild_buffers(store.layout, store.index)
    found = store.index.buffer(buffer.name)
    assert found is not None
    assert found._replace(accessed=buffer.accessed) == buffer
    assert found.accessed > 1_000_000_000  # when it was imported, not when it was captured


def test_what_comes_after_the_limit_is_dropped_and_told(store: Store) -> None:
    deposit = _deposit(store, most=4)
    deposit.append("out", b"12345678")
    buffer = deposit.seal(exit_code=None)
    assert buffer.stream("out").bytes == 4
    assert (buffer.note, buffer.partial) == ("", DROPPED)
    assert buffer.gaps == (Gap("out", 1, 4, "bytes"),)


def test_one_that_fails_can_be_discarded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    deposit = _deposit(store)
    deposit.append("out", b"1\n")
    monkeypatch.setattr("sightline.disk.deposit.write_all", full)
    with pytest.raises(StoreFailed):
        deposit.seal(exit_code=0)
    deposit.discard()
    assert os.listdir(store.layout.buffers) == []
