"""What a command does to the file that it gets in place of a ref never reaches the stored output."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import CommandNotStarted, StoreFailed, UnsafeStore
from sightline.base.records import Buffer
from sightline.capture.result import ResultBlock, capture_result
from sightline.disk import stand_ins
from sightline.disk.stand_ins import WantedRef, stand_in_bytes, sweep_stand_ins, take_stand_ins
from sightline.log import retention
from sightline.settings.config import Settings
from sightline.store import Store, Target
from tests.each import each

PATIENCE_SECONDS = 20.0
WRITES = (
    "sed -i s/1/X/ @last",
    "perl -pi -e s/1/X/ @last",
    "cp -f /etc/hostname @last",
    "mv @last elsewhere",
    "rm @last",
    "rm -f @last",
    "echo X | tee @last",
    """sh -c 'echo X > "$0"' @last""",
    """sh -c 'echo X >> "$0"' @last""",
    "truncate -s 3 @last",
    """sh -c 'echo X | dd of="$0" conv=notrunc' @last""",
    "sort -r -o @last @last",
    """chmod u+w @last && sh -c 'echo X > "$0"' @last""",
    """python3 -c 'import sys; open(sys.argv[1], "r+").write("X")' @last""",
    "chmod 000 @last",
)
"""They change or remove the file that they are given, as far as its mode allows it."""


def _lines(agent: Any, count: int = 400) -> Buffer:
    agent.run(f"seq 1 {count}")
    return agent.newest()


def _copied(_: pytest.MonkeyPatch) -> None:
    """Small files are copied, unless the tests lie on a file system that makes clones."""


def _cloned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Act as a file system that makes clones."""
    plain = fcntl.ioctl

    def ioctl(fd: int, request: int, *more: Any) -> Any:
        if request != 0x40049409:
            return plain(fd, request, *more)
        os.write(fd, os.pread(more[0], 1 << 30, 0))
        return 0

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    monkeypatch.setattr(stand_ins, "COPY_BYTES", -1)


def _linked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Act as a file system without clones that has a large file."""
    plain = fcntl.ioctl

    def ioctl(fd: int, request: int, *more: Any) -> Any:
        if request == 0x40049409:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return plain(fd, request, *more)

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    monkeypatch.setattr(stand_ins, "COPY_BYTES", -1)


@each("make", [_copied, *([_cloned] if sys.platform != "darwin" else [])])
def test_no_command_changes_a_stored_output(
    agent: Any, monkeypatch: pytest.MonkeyPatch, make: Callable[[pytest.MonkeyPatch], None]
) -> None:
    make(monkeypatch)
    for command in WRITES:
        buffer = _lines(agent)
        path = agent.store.path(Target(buffer, "out"))
        before, bytes_before = os.stat(path), agent.raw(buffer)
        agent.run(command, acknowledge_risk=True)
        after = os.stat(path)
        assert agent.raw(buffer) == bytes_before, command
        assert (after.st_mode, after.st_mtime_ns, after.st_ino) == (before.st_mode, before.st_mtime_ns, before.st_ino)
        assert "altered" not in agent.told
        assert not os.listdir(agent.store.layout.refs)


@pytest.mark.skipif(sys.platform == "darwin", reason="files are always cloned there")
def test_reply_says_that_a_command_changed_an_output_for_which_only_a_link_was_possible(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _linked(monkeypatch)
    told = 0
    for command in WRITES:
        buffer = _lines(agent)
        path, before = agent.store.path(Target(buffer, "out")), agent.raw(buffer)
        agent.run(command, acknowledge_risk=True)
        is_changed = Path(path).read_bytes() != before
        assert is_changed == (f"{buffer.ref}: out was changed" in agent.told), command
        assert os.stat(path).st_mode & 0o777 == 0o400
        told += is_changed
    assert told >= 1  # chmod u+w … && echo > works for anyone


def test_stand_in_has_the_mode_and_the_time_of_the_stored_file(agent: Any) -> None:
    path = agent.store.path(Target(_lines(agent), "out"))
    script = "import os, sys; found = os.stat(sys.argv[1]); print(oct(found.st_mode & 0o777), found.st_mtime_ns)"
    told = agent.run(argv=(sys.executable, "-c", script, "@last")).text
    assert told == f"0o400 {os.stat(path).st_mtime_ns}\n"


def test_equal_commands_give_equal_replies(agent: Any) -> None:
    ref = _lines(agent).ref
    first, again = (agent.run(f"echo {ref} {ref}.err; wc -l {ref}") for _ in range(2))
    assert first.text == again.text
    assert f"/refs/{ref} " in first.text
    assert f"/refs/{ref}.err\n" in first.text


def test_change_of_a_stand_in_is_not_seen_by_the_next_command(agent: Any) -> None:
    buffer = _lines(agent)
    assert agent.run(f"sed -i s/1/X/ {buffer.ref}; head -n 1 {buffer.ref}").text == "X\n"
    assert agent.run(f"cp {buffer.ref} seen; head -n 1 seen").text == "1\n"


def test_empty_stream_has_a_file_of_its_own(agent: Any, tmp_path: Path) -> None:
    agent.run("true")
    assert agent.run("stat -c %F @last.err 2>/dev/null || stat -f %HT @last.err").text.lower().startswith("regular")
    agent.run("rm -f @last~1.err", acknowledge_risk=True)
    assert os.path.exists(os.devnull)


def test_stand_ins_are_made_of_both_streams_and_of_json_lines(agent: Any) -> None:
    agent.run("echo out; echo err >&2")
    both = agent.newest().ref
    block = ResultBlock([b'{"error": [1, 2]}'], "application/json")
    result = capture_result(agent.store, [block], command="t {}", cwd="/", session="s").ref
    for ref in (f"{both}.all", f"{both}.err", result):
        path = Path(agent.store.local_copy(agent.store.resolve(ref)))
        before = path.read_bytes()
        assert agent.run(f"echo changed >&2; perl -pi -e 's/[er1]/X/' {ref}; cat {ref}").text.count("X")
        assert path.read_bytes() == before


def test_nothing_is_left_of_a_command_that_does_not_run(agent: Any) -> None:
    ref = _lines(agent).ref
    assert "pending_ack" in agent.run(f"rm -rf {ref}").fields
    assert not os.path.exists(agent.store.layout.refs)
    with pytest.raises(CommandNotStarted):
        agent.run(argv=("no-such-program", ref))
    assert not os.listdir(agent.store.layout.refs)


def test_command_does_not_run_without_room_for_a_stand_in(
    agent: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ref = _lines(agent).ref

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr(stand_ins, "new_file", full)
    with pytest.raises(StoreFailed, match=f"{ref} cannot be made: the disk is full"):
        agent.run(f"touch ran; cat {ref}")
    assert not (tmp_path / "ran").exists()


def test_file_that_cannot_be_copied_for_lack_of_room_is_linked(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = _lines(agent)

    def full(fd: int, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    given = WantedRef(buffer.ref, agent.store.path(Target(buffer, "out")))
    plain = stand_ins.write_all
    monkeypatch.setattr(
        stand_ins, "write_all", lambda fd, data: full(fd, data) if data.startswith(b"1\n") else plain(fd, data)
    )
    made = take_stand_ins(agent.store.layout, [given])
    try:
        assert os.path.samefile(made.paths[buffer.ref], given.path)
    finally:
        made.release()


def test_store_that_cannot_be_written_to_has_its_stand_ins_elsewhere(
    agent: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ref = _lines(agent).ref
    refs, plain = agent.store.layout.refs, stand_ins.make_folder

    def read_only(path: str) -> None:
        if path == refs:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        plain(path)

    monkeypatch.setattr(stand_ins, "make_folder", read_only)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told = agent.run(f"echo {ref}; cp {ref} seen; wc -l < seen").text
    assert told.split() == [told.split()[0], "400"]
    assert told.startswith(f"{tmp_path}/sightline-")
    folder = Path(told.split()[0]).parent
    assert not os.listdir(folder)
    folder.chmod(0o777)
    with pytest.raises(UnsafeStore, match="not a private folder"):
        agent.run(f"echo {ref} there")


@pytest.fixture
def taken(store: Store, agent: Any) -> Iterator[Callable[..., Any]]:
    """Takes a stand-in of an output of three bytes, as a command that runs would."""
    made = list[Any]()
    agent.run("echo ab")
    target = store.resolve("@last")

    def take(**more: Any) -> Any:
        made.append(take_stand_ins(store.layout, [WantedRef("@x", store.path(target), **more)]))
        return made[-1]

    yield take
    for one in made:
        one.release()


def test_commands_that_only_read_share_a_stand_in_and_the_last_removes_it(taken: Any, store: Store) -> None:
    one, other = taken(only_read=True), taken(only_read=True)
    assert one.paths == other.paths
    one.release()
    assert Path(other.paths["@x"]).read_bytes() == b"ab\n"
    other.release()
    assert not os.listdir(store.layout.refs)


def test_command_that_may_write_shares_its_stand_in_with_nobody(taken: Any, store: Store) -> None:
    paths = [taken(only_read=only_read).paths["@x"] for only_read in (True, False, False, True)]
    assert [os.path.relpath(path, store.layout.refs) for path in paths] == ["@x", "2/@x", "3/@x", "@x"]
    assert paths[0].endswith("refs/@x")


def test_stand_in_that_changed_in_spite_of_that_is_not_shared(taken: Any) -> None:
    one = taken(only_read=True)
    os.unlink(one.paths["@x"])
    Path(one.paths["@x"]).write_text("changed")
    other = taken(only_read=True)
    assert one.paths != other.paths
    assert Path(other.paths["@x"]).read_bytes() == b"ab\n"


def test_leftovers_of_killed_processes_count_as_bytes_until_they_are_swept(taken: Any, store: Store) -> None:
    taken()
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    script = f"""
from sightline.disk.layout import Layout
from sightline.disk.stand_ins import WantedRef, take_stand_ins
made = take_stand_ins(Layout({store.root!r}), [WantedRef("@y", {store.path(store.resolve("@last"))!r})])
open(made.folder + "/beside", "w").write("12345")
{code}
"""
    ended = subprocess.run([sys.executable, "-c", script], check=False, timeout=PATIENCE_SECONDS)
    assert ended.returncode == -signal.SIGKILL
    assert stand_in_bytes(store.layout) > 5 + 3 + 3
    sweep_stand_ins(store.layout)
    assert sorted(name for name in os.listdir(store.layout.refs) if name[0] != ".") == ["@x", "beside"]


def test_leftovers_go_with_the_output_that_is_removed(taken: Any, store: Store) -> None:
    made = taken()
    made.hand_over()  # as the end of a process does
    assert retention.remove(store, [store.resolve("@last").buffer]) == 1
    assert not os.listdir(store.layout.refs)


def test_stand_ins_count_for_the_limit_of_bytes(taken: Any, store: Store) -> None:
    buffer = store.resolve("@last").buffer
    held = store.index.totals().bytes
    tight = Store(store.root, Settings(max_bytes=held + 1000, max_buffers=1000))
    with tight:
        assert tight.limits.over() == []
        made = taken()
        Path(made.folder, "beside").write_bytes(bytes(2000))
        tight.index.touch(buffer.name, time.time())
        assert len(tight.limits.over()) == 0  # the newest is never evicted for its bytes
        assert stand_in_bytes(store.layout) > 2000
        made.release()
    retention.collect(store)
    assert not os.listdir(store.layout.refs)


@each(
    "text", ["", "{}", '[["@x"]]', "[[1,2,3,4,5,6]]", '[["../x",true,false,1,1,1]]\n' + "9" * 500, "\xff", "[" * 9999]
)
def test_use_file_that_is_none_of_ours_harms_nothing(store: Store, text: str) -> None:
    os.makedirs(store.layout.refs, 0o700, exist_ok=True)
    beside = Path(store.root, "x")
    beside.write_text("kept")
    Path(store.layout.refs, ".use-1").write_bytes(text.encode("latin-1"))
    sweep_stand_ins(store.layout)
    assert not os.listdir(store.layout.refs)
    assert beside.read_text() == "kept"


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _waits_for(gate: Path) -> str:
    os.mkfifo(gate)
    return f"read _ < {gate}"


@each(
    "how",
    ["(SCRIPT) &", "nohup sh -c 'cat \"$0\" - < GATE > SEEN' {} > /dev/null 2>&1 &", "exec 99>&-; (SCRIPT) &"],
)
def test_stand_in_stays_until_what_the_command_left_running_has_ended(agent: Any, tmp_path: Path, how: str) -> None:
    ref = _lines(agent).ref
    gate, seen = (tmp_path / f"{name}{len(how)}" for name in ("gate", "seen"))
    os.mkfifo(gate)
    script = how.replace("SCRIPT", "read _ < GATE; cat {} > SEEN").replace("GATE", str(gate)).replace("SEEN", str(seen))
    agent.run(script.format(ref))
    assert os.listdir(agent.store.layout.refs)
    gate.write_text("\n")
    _until(lambda: not os.listdir(agent.store.layout.refs))
    assert len(seen.read_text().split()) == 400


def test_running_output_can_be_followed(agent: Any, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    agent.run(f"echo first; {_waits_for(gate)}; echo second", background=True)
    target = agent.store.resolve("@last")
    _until(lambda: bool(agent.store.with_progress(target.buffer).bytes))
    follower = int(agent.run(f"tail -f {target.ref} > followed & echo $!").text)
    gate.write_text("\n")
    _until(lambda: (tmp_path / "followed").read_text() == "first\nsecond\n")
    os.kill(follower, signal.SIGTERM)
    _until(lambda: not os.listdir(agent.store.layout.refs))


def test_running_output_that_a_command_cut_short_is_altered_at_its_end(agent: Any, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    agent.run(f"echo captured; {_waits_for(gate)}", background=True)
    ref = agent.store.resolve("@last").buffer.ref
    _until(lambda: bool(agent.store.resolve(ref).buffer.bytes))
    agent.run(argv=("truncate", "-s", "3", ref), acknowledge_risk=True)
    gate.write_text("\n")
    _until(lambda: agent.store.resolve(ref).buffer.state == "sealed")
    assert agent.store.resolve(ref).buffer.altered == "out was changed after its capture: 3 B instead of 9 B"


def test_command_in_the_background_keeps_its_stand_ins(agent: Any, tmp_path: Path) -> None:
    ref = _lines(agent).ref
    gate = tmp_path / "gate"
    agent.run(f"{_waits_for(gate)}; wc -l {ref}", background=True)
    assert os.listdir(agent.store.layout.refs)
    sweep_stand_ins(agent.store.layout)
    gate.write_text("\n")
    _until(lambda: agent.store.resolve("@last").buffer.state == "sealed")
    assert b"400 " in agent.raw(agent.newest())
    _until(lambda: not os.listdir(agent.store.layout.refs))


def test_link_that_takes_the_place_of_a_stored_file_is_not_followed(agent: Any, tmp_path: Path) -> None:
    buffer = _lines(agent)
    path = Path(agent.store.path(Target(buffer, "out")))
    path.unlink()
    (tmp_path / "secret").write_text("secret")
    path.symlink_to(tmp_path / "secret")
    with pytest.raises(UnsafeStore):
        agent.run(f"cp {buffer.ref} seen")
