"""Many calls are written by a process beside the one that reads: what comes of it is what it would be without."""

import os
from pathlib import Path

import pytest
from past_kit import Claude, Import, buffers, read, views, write_lines
from sightline.store.audit import log
from sightline.store.errors import StoreFailed
from sightline.store.store import Store
from sightline.store.tools import past_batch

CALLS = 40


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of seven calls; each of two or more goes to the other process."""
    monkeypatch.setattr("sightline.store.tools.import_past._BATCH_CALLS", 7)
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
        assert log.verify(path) == 1 + sum(buffer.session == session for buffer in found)
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
        patched.setattr("sightline.store.disk.deposit.write_all", full)
        with pytest.raises(StoreFailed, match="No space left"):
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
    def killed(_store: object, _calls: object, to: int) -> None:
        os.write(to, said)
        os._exit(1)

    with monkeypatch.context() as patched:
        patched.setattr(past_batch, "_write", killed)
        with pytest.raises(StoreFailed, match="has ended"):
            imported(transcripts)
    assert imported(transcripts).counts.calls == CALLS + 5


def test_without_room_for_another_process_this_one_writes(
    store: Store, imported: Import, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    assert imported(transcripts).counts.calls == CALLS + 5
