"""Where things lie: private, never through links, whole or not at all."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sightline.base.errors import UnsafeStore
from sightline.base.private_files import remove_folder, write_all, write_atomically
from sightline.base.records import Buffer
from sightline.disk.layout import Layout
from sightline.log import log
from sightline.settings.config import Settings
from sightline.store import Store, Target

Keep = Callable[..., Buffer]

MAKE_A_STORE = """
import os, sys
os.umask(int(sys.argv[2], 8))
from sightline.log import log
from sightline.store import Store
with Store(sys.argv[1]) as store:
    running = store.begin("cmd", "x", "/", "s")
    running.register()
    running.append("out", b"x" * 100_000)
    running.append("err", b"y")
    print(running.name, flush=True)
    sealed = store.begin("cmd", "x", "/", "s")
    sealed.append("out", b"sealed\\n")
    sealed.append("err", b"z")
    buffer = sealed.seal(exit_code=0)
    store.path(store.resolve(buffer.ref + ".all"))
    store.remove(store.begin("cmd", "y", "/", "s").seal(exit_code=0), "removed")
    log.append(store.layout.audit_file("s"), {"kind": "session"}, {"kind": "view", "text": ["t"]})
    for folder, folders, files in os.walk(store.root):
        for path in [folder + "/", *(os.path.join(folder, name) for name in files)]:
            print(oct(os.stat(path).st_mode & 0o7777)[2:], path.removeprefix(store.root + "/"))
    running.discard()
"""


@pytest.mark.parametrize("umask", ["000", "022", "777"])
def test_everything_is_private_whatever_the_umask(tmp_path: Path, umask: str) -> None:
    command = [sys.executable, "-c", MAKE_A_STORE, str(tmp_path / "root"), umask]
    name, *found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    modes = {path: mode for mode, _, path in (line.partition(" ") for line in found)}
    assert {f"live/{name}", f"buffers/{name}/order", f"buffers/{name}/lines", "index.sqlite-wal"} <= set(modes)
    for path, mode in modes.items():
        sealed = path.endswith(("/out", "/err", "/all")) and name not in path
        assert mode == ("700" if path.endswith("/") or not path else "400" if sealed else "600"), path


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Path]:
    """A file that is none of ours, and must stay as it is."""
    file = tmp_path / "other"
    file.write_bytes(b"not ours\n")
    yield file
    assert file.read_bytes() == b"not ours\n"


def replace_by_link(path: str, target: Path) -> None:
    Path(path).unlink(missing_ok=True)
    Path(path).symlink_to(target)


@pytest.mark.parametrize("file", ["out", "lines", "order"])
def test_a_linked_stream_is_refused(store: Store, keep: Keep, other: Path, file: str) -> None:
    buffer = keep(b"a\n", b"b\n")
    replace_by_link(store.layout.stream(buffer.name, file), other)
    with pytest.raises(UnsafeStore):
        store.open_merged(buffer).close()


@pytest.mark.parametrize("stream", ["out", "all"])
def test_a_linked_stream_is_not_handed_on_as_a_path(store: Store, keep: Keep, other: Path, stream: str) -> None:
    buffer = keep(b"a\n", b"b\n")
    replace_by_link(store.layout.stream(buffer.name, stream), other)
    with pytest.raises(UnsafeStore):
        store.path(Target(buffer, stream))


def test_a_linked_record_is_refused(store: Store, keep: Keep, other: Path) -> None:
    buffer = keep(b"a\n")
    store.index.forget_buffer(buffer.name)
    replace_by_link(store.layout.meta(buffer.name), other)
    with pytest.raises(UnsafeStore):
        store.resolve(buffer.ref)


def test_a_linked_folder_is_refused_and_never_emptied(store: Store, keep: Keep, tmp_path: Path, other: Path) -> None:
    buffer = keep(b"a\n")
    os.rename(store.layout.folder(buffer.name), tmp_path / "moved")
    replace_by_link(store.layout.folder(buffer.name), tmp_path / "moved")
    for refused in (
        lambda: store.open(Target(buffer, "out")).close(),
        lambda: store.path(Target(buffer, "out")),
        lambda: remove_folder(store.layout.folder(buffer.name)),
    ):
        with pytest.raises(UnsafeStore):
            refused()
    assert (tmp_path / "moved" / "out").read_bytes() == b"a\n"


def test_a_linked_marker_log_or_tombstone_is_refused(store: Store, other: Path) -> None:
    replace_by_link(store.layout.audit_file("s"), other)
    with pytest.raises(UnsafeStore):
        log.append(store.layout.audit_file("s"), {}, {})
    replace_by_link(store.layout.tombstone("cmd_aaaaaa"), other)
    with pytest.raises(UnsafeStore):
        store.resolve("@cmd_aaaaaa")
    replace_by_link(store.layout.marker("cmd_aaaaaa"), other)
    with pytest.raises(UnsafeStore):
        store.listed(1)


@pytest.mark.parametrize("part", ["buffers", "live", "audit", "tombstones"])
def test_a_linked_or_foreign_folder_of_the_root_is_refused(tmp_path: Path, part: str) -> None:
    root = tmp_path / "root"
    Store(str(root), Settings()).close()
    (root / part).rmdir()
    (root / part).symlink_to(tmp_path)
    with pytest.raises(UnsafeStore):
        Store(str(root), Settings())
    (root / part).unlink()
    (root / part).write_bytes(b"")
    with pytest.raises(UnsafeStore):
        Store(str(root), Settings())


def test_a_linked_index_is_refused(tmp_path: Path, other: Path) -> None:
    with Store(str(tmp_path / "root"), Settings()) as store:
        replace_by_link(store.layout.index, other)
        with pytest.raises(UnsafeStore):
            store.index.totals()


def test_a_root_that_was_open_to_others_is_closed(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir(mode=0o755)
    Store(str(tmp_path / "root"), Settings()).close()
    assert stat.S_IMODE((tmp_path / "root").stat().st_mode) == 0o700


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "meta.json"
    write_atomically(str(path), b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["meta.json"]
    write_atomically(str(path), b"new", durable=True)
    assert path.read_bytes() == b"new"


def test_files_that_a_dead_writer_left_half_written_are_no_streams(store: Store, keep: Keep) -> None:
    buffer = keep(b"a\n")
    folder = Path(store.layout.folder(buffer.name))
    (folder / "meta.json.77.abcdef.tmp").write_bytes(b'{"half')
    (folder / "out.77.tmp").write_bytes(b"half")
    (Path(store.layout.live) / f".{buffer.name}.77").write_bytes(b"")
    os.unlink(store.layout.index)
    store.close()
    assert store.resolve(buffer.ref).buffer.streams == buffer.streams
    assert [item.buffer.name for item in store.listed(9)] == [buffer.name]


def test_the_root_may_itself_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Layout(str(tmp_path / "link")).root == str(tmp_path / "real")


@pytest.mark.parametrize("size", [0, 65_535, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("kind", [bytes, memoryview])
def test_all_is_written_even_if_the_system_takes_less_at_once(
    kind: Callable[[bytes], bytes | memoryview], size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, write = os.urandom(size), os.write
    monkeypatch.setattr(os, "write", lambda fd, piece: write(fd, piece[:50_000]))
    with open(tmp_path / "file", "wb") as file:
        write_all(file.fileno(), kind(data))
    assert (tmp_path / "file").read_bytes() == data
