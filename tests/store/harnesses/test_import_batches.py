"""Many calls are written by a process beside the one that reads: what comes of it is what it would be without."""

import itertools
import json
import os
import signal
import sqlite3
from pathlib import Path

import pytest

from sightline.agents.past_sessions import batches as past_batch
from sightline.agents.past_sessions import importer as import_past
from sightline.base.errors import StoreFailed
from sightline.disk.index import Index
from sightline.harnesses.formats import find_sources
from sightline.log import log
from sightline.store import Store
from tests.store.harnesses.past_kit import Claude, Import, buffers, read, recorded, views, write_lines

CALLS = 40


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of seven calls; each of two or more goes to the other process."""
    monkeypatch.setattr("sightline.agents.past_sessions.importer.BATCH_CALLS", 7)
    monkeypatch.setattr(past_batch, "WORTH_CALLS", 2)


@pytest.fixture
def transcripts(tmp_path: Path) -> Path:
    """Two sessions, of which the second was forked from the first, and begins with all its calls."""
    first, fork = Claude("5e551011"), Claude("5e552022")
    lines = [one for number in range(CALLS) for one in first.ran(number, f"{number}\n")]
    more = [one for number in range(CALLS + 5) for one in fork.ran(number, f"{number}\n")]
    write_lines(tmp_path / "5e551011.jsonl", *lines)
    write_lines(tmp_path / "5e552022.jsonl", *more)
    return tmp_path


@pytest.mark.parametrize("worth", [2, 1_000])
def test_all_calls_come_once_and_in_their_order(
    worth: int, store: Store, imported: Import, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past_batch, "WORTH_CALLS", worth)
    assert imported(transcripts).counts.calls == CALLS + 5
    found = buffers(store)
    assert sorted(int(read(store, buffer)) for buffer in found) == list(range(CALLS + 5))
    assert len(views(store)) == CALLS + 5
    for session in {buffer.session for buffer in found}:
        path = store.layout.audit_file(session)
        beside = 2  # the header, and that the transcript tells of the context from its beginning on
        assert log.verify(path) == beside + sum(buffer.session == session for buffer in found)
        shown = [int(entry["text"][0]) for _, entry in log.read_all(path) if "text" in entry]
        assert shown == sorted(shown)
    again = imported(transcripts).counts
    assert (again.calls, again.unchanged) == (0, 2)


def test_a_disk_that_is_full_half_way_leaves_nothing_half_done(
    store: Store, imported: Import, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int, data: bytes) -> None:
        if data == b"17\n":
            raise OSError(28, "No space left on device")
        os.write(fd, data)

    with monkeypatch.context() as patched:
        patched.setattr("sightline.disk.buffer_writer.write_all", full)
        with pytest.raises(StoreFailed, match="the disk is full"):
            imported(transcripts)
    kept = buffers(store)
    assert sorted(os.listdir(store.layout.buffers)) == sorted(buffer.name for buffer in kept)
    assert len(views(store)) == len(kept) < CALLS
    counts = imported(transcripts).counts
    assert (counts.unchanged, counts.calls) == (0, CALLS + 5 - len(kept))


@pytest.mark.parametrize("said", [b"", b"\x80\x05]\x94"])
def test_a_writer_that_is_killed_is_told(
    said: bytes, store: Store, imported: Import, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("pickle.dumps", lambda _: said)  # it comes no further
        with pytest.raises(StoreFailed, match="has ended"):
            imported(transcripts)
    assert imported(transcripts).counts.calls == CALLS + 5


@pytest.mark.parametrize("worth", [2, 1_000])
def test_what_nobody_expected_is_told_and_what_was_written_before_it_stays(
    worth: int, store: Store, imported: Import, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(fd: int, data: bytes) -> None:
        if data == b"17\n":
            raise ZeroDivisionError("a mistake of ours")
        os.write(fd, data)

    monkeypatch.setattr(past_batch, "WORTH_CALLS", worth)
    with monkeypatch.context() as patched:
        patched.setattr("sightline.disk.buffer_writer.write_all", broken)
        with pytest.raises(StoreFailed, match="ZeroDivisionError: a mistake of ours"):
            imported(transcripts)
    kept = buffers(store)
    assert 7 < len(kept) == len(views(store)) < CALLS
    assert imported(transcripts).counts.calls == CALLS + 5 - len(kept)


def test_without_room_for_another_process_this_one_writes(
    store: Store, imported: Import, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    assert imported(transcripts).counts.calls == CALLS + 5


@pytest.mark.parametrize(
    ("where", "what"),
    [(past_batch.Writings, "first"), (import_past, "log_past_views"), (Index, "put_views")],
    ids=["written", "not logged", "logged"],
)
@pytest.mark.parametrize("nth", [1, 4])
@pytest.mark.parametrize("listed", [False, True], ids=["", "listed first"])
def test_killed_half_way_it_is_completed_by_the_next_run(
    listed: bool, nth: int, where: object, what: str, store: Store, imported: Import, transcripts: Path
) -> None:
    calls, whole = itertools.count(1), getattr(where, what)

    def killed(*given: object) -> object:
        if next(calls) == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(*given)

    process = os.fork()
    if not process:
        setattr(where, what, killed)
        import_past.Importer(store).run(find_sources(str(transcripts)))
        os._exit(0)
    assert os.waitpid(process, 0)[1] == signal.SIGKILL
    if listed:
        views(store)
    imported(transcripts)
    assert sorted(int(read(store, buffer)) for buffer in buffers(store)) == list(range(CALLS + 5))
    assert len({view.refs for view, _ in views(store)}) == len(views(store)) == CALLS + 5
    for file in os.listdir(store.layout.audit):
        assert log.verify(os.path.join(store.layout.audit, file)) > 1


@pytest.mark.parametrize(
    "error", [sqlite3.OperationalError("disk I/O error"), KeyboardInterrupt()], ids=["disk", "key"]
)
@pytest.mark.parametrize("what", ["add_buffers", "put_views"])
def test_what_ended_while_it_was_indexed_is_completed_by_the_next_run(
    what: str, error: BaseException, store: Store, imported: Import, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(Index, what, broken)
    with pytest.raises(type(error)):
        imported(transcripts)
    monkeypatch.undo()
    imported(transcripts)
    assert sorted(int(read(store, buffer)) for buffer in buffers(store)) == list(range(CALLS + 5))
    assert len({view.refs for view, _ in views(store)}) == len(views(store)) == CALLS + 5
    assert len(os.listdir(store.layout.buffers)) == CALLS + 5


def test_identical_outputs_of_a_batch_share_their_storage(store: Store, imported: Import, tmp_path: Path) -> None:
    session, text = Claude(), "a line\n" * 1_000
    write_lines(tmp_path / "5e551011.jsonl", *(one for number in range(9) for one in session.ran(number, text)))
    imported(tmp_path)
    found = [os.stat(store.layout.stream(buffer.name, "out")) for buffer in buffers(store)]
    assert len(found) == 9
    assert {status.st_nlink for status in found} == {9}
    assert not [name for _, _, names in os.walk(store.layout.buffers) for name in names if name.endswith(".tmp")]


@pytest.mark.parametrize("worth", [1, 1_000])
def test_what_a_call_of_a_later_batch_showed_of_a_command_was_seen_of_that_command(
    worth: int, store: Store, imported: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_past, "BATCH_CALLS", 1)
    monkeypatch.setattr(past_batch, "WORTH_CALLS", worth)
    imported(recorded("codex", tmp_path))
    [ran] = [one for one in buffers(store) if one.command == "sleep 3; echo late"]
    [more] = [view for view, _ in views(store) if json.loads(view.request)["tool"] == "write_stdin"]
    assert more.refs == (ran.name,)
    assert [(one.first, one.last) for one in (*more.shown, *more.matched)] == [(1, 1)]
