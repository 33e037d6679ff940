"""Files captured as immutable versions, and what comes through a pipe."""

import errno
import mmap
import os
import time
from pathlib import Path

import pytest

from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer
from sightline.capture import file as file_module
from sightline.capture.file import FileNotReadable, capture_file, changed_since
from sightline.capture.recorder import Unkept, capture_stdin
from sightline.settings.config import Settings
from sightline.store import Store, Target


def text_of(store: Store, buffer: Buffer) -> bytes:
    return Path(store.path(Target(buffer, "out"))).read_bytes()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "notes.txt"
    made.write_bytes(b"one\n")
    os.utime(made, (1000, 1000))
    return made


def test_an_unchanged_file_keeps_its_ref(store: Store, file: Path) -> None:
    first = capture_file(store, str(file), "s")
    assert (first.kind, first.command, first.state, text_of(store, first)) == ("file", str(file), "sealed", b"one\n")
    assert capture_file(store, str(file), "other") == first
    (file.parent / "link").symlink_to(file)
    assert capture_file(store, str(file.parent / "link"), "s") == first


def test_a_changed_file_is_a_new_version_and_the_old_one_stays(store: Store, file: Path) -> None:
    first = capture_file(store, str(file), "s")
    file.write_bytes(b"two!\n")
    second = capture_file(store, str(file), "s")
    assert second.name != first.name
    assert (text_of(store, first), text_of(store, second)) == (b"one\n", b"two!\n")
    file.unlink()
    with pytest.raises(FileNotReadable, match="no such file"):
        capture_file(store, str(file), "s")
    assert text_of(store, store.resolve(second.ref).buffer) == b"two!\n"


def test_a_touched_file_with_the_same_bytes_keeps_its_ref(store: Store, file: Path) -> None:
    first = capture_file(store, str(file), "s")
    os.utime(file, (2000, 2000))
    assert capture_file(store, str(file), "s").name == first.name
    replacement = file.with_suffix(".new")
    replacement.write_bytes(b"one\n")
    replacement.rename(file)
    assert capture_file(store, str(file), "s").name == first.name


def test_a_version_whose_kept_bytes_are_gone_or_changed_is_captured_anew(store: Store, file: Path) -> None:
    first = capture_file(store, str(file), "s")
    kept = Path(store.path(Target(first, "out")))
    kept.unlink()
    second = capture_file(store, str(file), "s")
    assert second.name != first.name
    os.chmod(kept := store.path(Target(second, "out")), 0o600)
    Path(kept).write_bytes(b"on")  # what is left of it is not what the file has
    third = capture_file(store, str(file), "s")
    assert third.name not in (first.name, second.name)
    assert text_of(store, third) == file.read_bytes()


def test_a_second_write_within_the_clocks_step_is_seen(store: Store, file: Path) -> None:
    now = time.time() + 60  # a machine may be slow: to it the file is fresh for as long as the test takes
    file.write_bytes(b"aaa\n")
    os.utime(file, (now, now))
    first = capture_file(store, str(file), "s")
    file.write_bytes(b"bbb\n")
    os.utime(file, (now, now))
    second = capture_file(store, str(file), "s")
    assert (text_of(store, first), text_of(store, second)) == (b"aaa\n", b"bbb\n")


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time has passed since all writes, on a file system that notes them."""
    monkeypatch.setattr(file_module.time, "time", lambda now=time.time: now() + 3600)
    monkeypatch.setattr(file_module, "file_system", lambda _: "ext4")


@pytest.mark.usefixtures("settled")
def test_bytes_written_over_in_place_under_the_old_time_are_a_new_version(store: Store, file: Path) -> None:
    first = capture_file(store, str(file), "s")
    assert not first.origin.endswith(":fresh")
    with open(file, "r+b") as writer:
        writer.write(b"two\n")
    os.utime(file, (1000, 1000))
    second = capture_file(store, str(file), "s")
    assert (text_of(store, first), text_of(store, second)) == (b"one\n", b"two\n")


@pytest.mark.usefixtures("settled")
def test_a_file_that_nobody_touched_is_not_read_again(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = capture_file(store, str(file), "s")
    monkeypatch.setattr(os, "pread", lambda *_: pytest.fail("it was read"))
    assert capture_file(store, str(file), "s") == first


def test_a_file_that_was_written_a_moment_before_it_was_read_is_compared_once_and_then_known_by_its_times(
    store: Store, file: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = capture_file(store, str(file), "s")
    assert first.origin.endswith(":fresh")
    request.getfixturevalue("settled")
    assert changed_since(store, first) == ""
    known = store.resolve(first.ref).buffer
    assert not known.origin.endswith(":fresh")
    with monkeypatch.context() as unread:
        unread.setattr(os, "pread", lambda *_: pytest.fail("it was read again"))
        assert changed_since(store, known) == ""
    file.write_bytes(b"two\n")
    assert "the file has changed since" in changed_since(store, known)


def test_where_nothing_can_be_kept_of_a_file_it_is_compared_each_time(
    store: Store, file: Path, settled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = capture_file(store, str(file), "s")
    os.utime(file, (2000, 2000))

    def refuse(*_: object, **__: object) -> Buffer:
        raise StoreFailed("read-only")

    monkeypatch.setattr(store, "amend", refuse)
    assert changed_since(store, first) == changed_since(store, first) == ""


def test_bytes_written_through_a_mapping_are_a_new_version(store: Store, file: Path) -> None:
    with open(file, "r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
        mapped[0:3] = b"two"
        first = capture_file(store, str(file), "s")
        mapped[0:3] = b"six"  # to the same page, which leaves no trace in the file's times
        second = capture_file(store, str(file), "s")
    assert (text_of(store, first), text_of(store, second)) == (b"two\n", b"six\n")


def test_on_a_file_system_that_may_not_note_changes_the_bytes_are_compared(
    store: Store, file: Path, settled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_module, "file_system", lambda _: "fuse.sshfs")
    assert capture_file(store, str(file), "s").origin.endswith(":fresh")


def test_an_unchanged_file_whose_secrets_are_hidden_keeps_its_ref(store: Store, file: Path) -> None:
    secret = "gh" + "p_" + "k" * 36
    file.write_text(f"token {secret}\n")
    settings = Settings(redact_known=True)
    with Store(store.root, settings) as hiding:
        first = capture_file(hiding, str(file), "s")
        assert secret.encode() not in text_of(hiding, first)
        assert capture_file(hiding, str(file), "s").name == first.name
        assert changed_since(hiding, first) == ""
        file.write_text(f"other {secret}\n")
        assert capture_file(hiding, str(file), "s").name != first.name


def test_a_version_tells_whether_the_file_has_changed_since(store: Store, file: Path) -> None:
    first = capture_file(store, str(file), "s")
    assert changed_since(store, first) == ""
    os.utime(file, (2000, 2000))
    assert changed_since(store, first) == ""
    file.write_bytes(b"two\n")
    assert changed_since(store, first) == "the file has changed since; read_file keeps it as it is now"
    second = capture_file(store, str(file), "s")
    assert changed_since(store, first) == f"the file has changed since; newer: {second.ref}"
    assert changed_since(store, second) == ""
    file.write_bytes(b"one\n")
    assert changed_since(store, first) == "", "its bytes are back"
    file.unlink()
    assert "cannot be read any more" in changed_since(store, second)


def test_an_empty_file_is_a_version_too(store: Store, file: Path) -> None:
    file.write_bytes(b"")
    empty = capture_file(store, str(file), "s")
    assert (empty.bytes, empty.lines, text_of(store, empty)) == (0, 0, b"")
    assert capture_file(store, str(file), "s").name == empty.name


@pytest.mark.parametrize(
    ("name", "told"), [("folder", "is a folder"), ("fifo", "not a regular file"), ("missing", "no such file")]
)
def test_only_a_regular_file_is_captured(store: Store, tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(FileNotReadable, match=told) as raised:
        capture_file(store, str(tmp_path / name), "s")
    assert str(tmp_path / name) in raised.value.message
    assert os.listdir(store.layout.buffers) == []


@pytest.mark.parametrize(("writes", "note"), [(1, ""), (9, "changed while it was read")])
def test_a_file_that_changes_while_it_is_read_is_read_again(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch, writes: int, note: str
) -> None:
    pread, left = os.pread, [writes]

    def changing(fd: int, length: int, offset: int) -> bytes:
        data = pread(fd, length, offset)
        if left[0] and not data and length == file_module._COPY_BYTES:
            left[0] -= 1
            with open(file, "ab") as more:
                more.write(b"more\n")
        return data

    monkeypatch.setattr(os, "pread", changing)
    buffer = capture_file(store, str(file), "s")
    assert buffer.note == note
    assert text_of(store, buffer) == b"one\n" + b"more\n" * (1 if writes == 1 else 2)
    assert len(os.listdir(store.layout.buffers)) == 1


def through_a_pipe(data: bytes) -> int:
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    return read


def test_standard_input_is_kept_and_passed_on(store: Store) -> None:
    fd, passed = through_a_pipe(b"piped\nin"), bytearray()
    buffer = capture_stdin(store, fd, command="make", cwd="/", session="s", exit_code=2, pass_on=passed.extend)
    os.close(fd)
    assert (buffer.exit_code, buffer.lines, text_of(store, buffer)) == (2, 2, b"piped\nin")
    assert passed == b"piped\nin"


def test_where_storing_fails_everything_is_still_passed_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fd, passed = through_a_pipe(b"piped\nin"), bytearray()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    unkept = capture_stdin(store, fd, command="make", cwd="/", session="s", pass_on=passed.extend)
    os.close(fd)
    assert isinstance(unkept, Unkept)
    assert unkept.out == b"piped\nin"
    assert unkept.error
    assert passed == b"piped\nin"
    assert os.listdir(store.layout.buffers) == []


def test_a_reader_that_goes_leaves_what_came_so_far(store: Store) -> None:
    fd = through_a_pipe(b"piped\n")

    def gone(data: bytes) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        capture_stdin(store, fd, command="make", cwd="/", session="s", pass_on=gone)
    os.close(fd)
    assert [item.buffer.state for item in store.listed(9)] == ["interrupted"]


def test_a_file_that_fails_while_it_is_read_leaves_nothing(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "pread", broken)
    with pytest.raises(FileNotReadable, match="input/output error"):
        capture_file(store, str(file), "s")
    assert os.listdir(store.layout.buffers) == os.listdir(store.layout.live) == []


def test_of_a_file_beyond_the_limit_only_what_is_kept_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = tmp_path / "sparse"
    with open(sparse, "wb") as made:
        made.truncate(1 << 40)
    read = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: read.append(at + size) or pread(fd, size, at))
    with Store(str(tmp_path / "root"), Settings(max_stream_bytes=10_000)) as store:
        buffer = capture_file(store, str(sparse), "s")
        assert buffer.bytes == 10_000
        assert buffer.note == f"dropped past max_stream_bytes: {(1 << 40) - 10_000:,} B of out"
        assert max(read) == 10_001
        exact = tmp_path / "exact"
        exact.write_bytes(b"x" * 10_000)
        assert capture_file(store, str(exact), "s").note == ""
