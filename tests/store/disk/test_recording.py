"""Captures from the first byte to the seal."""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.base.errors import StoreFailed
from sightline.base.records import DROPPED, Buffer, Gap
from sightline.disk import recording as recording_module
from sightline.disk.meta import decode_buffer, encode_buffer, read_meta
from sightline.disk.recording import reserve
from sightline.settings.config import Settings
from sightline.store import Store, Target
from tests.descriptors import open_files

Keep = Callable[..., Buffer]


def inode(store: Store, buffer: Buffer, stream: str = "out") -> int:
    return os.stat(store.layout.stream(buffer.name, stream)).st_ino


def test_a_name_that_is_taken_grows_longer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda size: b"\xab" * size)
    assert [reserve(store.layout, "cmd") for _ in range(3)] == ["cmd_ababab", "cmd_abababa", "cmd_abababab"]
    assert reserve(store.layout, "tool") == "tool_ababab"


def test_a_name_that_once_meant_something_is_never_given_again(
    store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, "urandom", lambda size: b"\xab" * size)
        buffer = keep(b"x")
        assert buffer.name == "cmd_ababab"
    store.remove(buffer, "removed")
    monkeypatch.setattr(os, "urandom", lambda size: b"\xab" * size)
    assert reserve(store.layout, "cmd") == "cmd_abababa"


@pytest.mark.parametrize("size", [1, 4096, (1 << 20) - 1, 1 << 20, 3_500_001])
def test_the_hash_is_that_of_the_whole_stream(store: Store, size: int) -> None:
    data = (b"0123456789\n" * (size // 11 + 1))[:size]
    recording = store.begin("cmd", "true", "/", "s")
    for start in range(0, size, 300_000):
        recording.append("out", memoryview(data)[start : start + 300_000])
    info = recording.seal(exit_code=0).stream("out")
    assert info == (size, data.count(b"\n") + (not data.endswith(b"\n")), hashlib.sha256(data).hexdigest(), "")


def test_a_sealed_stream_is_read_only_and_an_empty_one_has_no_file(store: Store, keep: Keep) -> None:
    buffer = keep(b"bytes")
    assert stat.S_IMODE(os.stat(store.layout.stream(buffer.name, "out")).st_mode) == 0o400
    assert sorted(os.listdir(store.layout.folder(buffer.name))) == ["meta.json", "order", "out"]
    assert buffer.streams.keys() == {"out"}
    assert os.listdir(store.layout.live) == []


def test_bytes_are_in_the_file_as_soon_as_they_are_taken(store: Store) -> None:
    recording = store.begin("cmd", "true", "/", "s")
    recording.append("out", b"at once")
    assert Path(store.layout.stream(recording.name, "out")).read_bytes() == b"at once"
    recording.append("out", b"")
    assert recording.progress("out") == (7, 0)
    recording.discard()
    assert os.listdir(store.layout.buffers) == os.listdir(store.layout.live) == []


def test_identical_streams_share_their_storage(store: Store, keep: Keep) -> None:
    large, small = b"x" * 4096, b"x" * 4095
    first, second, third = keep(large, small), keep(large), keep(b"y", large)
    assert inode(store, first) == inode(store, second) == inode(store, third, "err")
    assert inode(store, keep(small)) != inode(store, first, "err")
    store.remove(first, "removed")
    with store.open(Target(second, "out")) as reader:
        assert reader.read(0, 5000) == large


@pytest.mark.parametrize("failing", ["link", "replace"])
def test_where_links_run_out_the_copy_stays(
    store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    first = keep(b"x" * 5000)
    real = os.replace

    def fails(source: str, target: str, **_: object) -> None:
        if target.endswith("meta.json"):
            return real(source, target)
        raise OSError(errno.EMLINK, "Too many links")

    monkeypatch.setattr(os, failing, fails)
    second = keep(b"x" * 5000)
    assert inode(store, first) != inode(store, second)
    assert sorted(os.listdir(store.layout.folder(second.name))) == ["meta.json", "order", "out"]


def test_a_stream_that_was_changed_is_not_shared(store: Store, keep: Keep) -> None:
    first = keep(b"x" * 5000)
    os.chmod(store.layout.stream(first.name, "out"), 0o600)
    assert inode(store, keep(b"x" * 5000)) != inode(store, first)


def test_what_comes_after_the_limit_of_a_stream_is_dropped_and_told(tmp_path: Path) -> None:
    with Store(str(tmp_path / "root"), Settings(max_stream_bytes=10)) as store:
        recording = store.begin("cmd", "true", "/", "s")
        recording.append("out", b"1234\n678")
        recording.append("out", b"9\nXYZ\n")
        recording.append("out", b"more")
        recording.append("err", b"short")
        buffer = recording.seal(exit_code=0, note="merged")
        assert Path(store.path(Target(buffer, "out"))).read_bytes() == b"1234\n6789\n"
        assert buffer.stream("out")[:2] == (10, 2)
        assert (buffer.note, buffer.partial) == ("merged", DROPPED)
        assert buffer.gaps == (Gap("out", 2, 8, "bytes"),)
        assert buffer.lost == "dropped past max_stream_bytes; missing: 8 bytes at the end of out"


def test_a_record_is_read_as_it_was_written(store: Store) -> None:
    recording = store.begin("cmd", "echo \udcff é", "/tmp/\udcfe", "s", label="bad \udcfd", artifact="cmd-1.txt")
    recording.append("err", b"x\n")
    recording.append("part.3", b"y")
    buffer = recording.seal(exit_code=None, signal=9, timed_out=True, note="n", mimes={"part.3": "text/plain"})
    assert (buffer.command, buffer.cwd, buffer.label) == ("echo \\xff é", "/tmp/\\xfe", "bad \\xfd")
    assert read_meta(store.layout, buffer.name)._replace(accessed=0) == buffer._replace(accessed=0)
    assert store.index.buffer(buffer.name) == buffer
    assert decode_buffer(encode_buffer(buffer)).streams["part.3"].mime == "text/plain"


def test_an_exit_code_that_is_a_truth_value_is_kept_as_the_number_that_it_equals(store: Store) -> None:
    recording = store.begin("cmd", "make", "/", "s")
    recording.register()
    sealed = recording.seal(exit_code=True, signal=False)
    amended = store.amend(sealed.name, exit_code=False)
    for buffer, code in ((sealed, 1), (amended, 0)):
        assert [(type(one), one) for one in (buffer.exit_code, buffer.signal)] == [(int, code), (int, 0)]
    known = [one._replace(accessed=0) for one in (amended, read_meta(store.layout, sealed.name))]
    assert known[0] == known[1]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"streams": 3}', b"\xff", b'{"streams": {"out": {}}}'])
def test_anything_else_is_no_record(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_buffer(data)


def test_half_a_surrogate_pair_in_a_command_can_be_stored(store: Store) -> None:
    recording = store.begin("cmd", json.loads('"echo \\ud800"'), "/", "s")
    recording.register()
    assert recording.seal(exit_code=0).command == "echo \\ud800"


def test_bytes_that_were_not_taken_are_not_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = store.begin("cmd", "true", "/", "s")
    recording.append("out", b"taken")
    write, room = os.write, [3]

    def nearly_full(fd: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, bytes(data)[: room.pop()])

    monkeypatch.setattr(os, "write", nearly_full)
    with pytest.raises(StoreFailed, match="storing failed") as told:
        recording.append("out", b"not taken")
    monkeypatch.undo()
    assert "disk is full" in told.value.message
    assert Path(store.layout.stream(recording.name, "out")).read_bytes() == b"taken"
    recording.discard()


@pytest.mark.parametrize("failing", ["rename", "write", "replace"])
def test_a_capture_that_cannot_begin_leaves_nothing_behind(
    store: Store, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    before = open_files()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, failing, full)
        with pytest.raises(StoreFailed):
            store.begin("cmd", "true", "/", "s")
    assert os.listdir(store.layout.buffers) == os.listdir(store.layout.live) == []
    assert open_files() == before


def test_a_seal_that_fails_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = store.begin("cmd", "true", "/", "s")
    recording.append("out", b"x" * 2_000_000)
    recording.append("err", b"y" * 2_000_000)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(recording_module, "write_meta", full)
    with pytest.raises(StoreFailed):
        recording.seal(exit_code=0)
    recording.discard()
    assert os.listdir(store.layout.buffers) == []


def test_a_pin_given_while_it_runs_outlasts_the_seal(store: Store) -> None:
    recording = store.begin("cmd", "true", "/", "s")
    recording.register()
    store.amend(recording.name, pinned=True)
    store.touch(recording.name)
    touched = store.resolve(recording.buffer.ref).buffer.accessed
    buffer = recording.seal(exit_code=0)
    assert (buffer.pinned, buffer.accessed) == (True, touched)
    assert read_meta(store.layout, buffer.name).pinned
    assert store.index.buffer(buffer.name) == buffer
