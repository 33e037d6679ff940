"""An index that is gone, damaged or locked, views that it never learned of, and a clock that is set back."""

import os
import random
import re
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer, Session, Shown
from sightline.capture.command import CommandCapture
from sightline.disk import database, index_filling
from sightline.disk.index_filling import rebuild_buffers
from sightline.disk.layout import Layout
from sightline.doors.cli.main import main
from sightline.doors.doctor.doctor import examine
from sightline.doors.tools import index_thread
from sightline.log.log import verify
from sightline.log.log_index import list_views, rebuild_views
from sightline.log.notes import list_notes, write_note
from sightline.log.view_text import view_text
from sightline.log.views import Shows, Traced, append_view, index_soon, index_view, record_shown, record_view
from sightline.settings.config import Settings
from sightline.shape.segments import Segment
from sightline.store import Store
from sightline.verbs.previous_run import previous_run

ASKING = Session("mine", "shell", "", "", "/", 1.0)
OUTPUTS = 5
PATIENCE_SECONDS = 30.0


@pytest.fixture
def root(tmp_path: Path, keep: Callable[..., Buffer], store: Store) -> str:
    """A store with outputs, each of them shown once; nobody has it open."""
    for number in range(OUTPUTS):
        buffer = keep(b"%d\n" % number * 50)
        shown(store, f"text {number}", buffer)
    store.close()
    return store.root


def shows(*buffers: Buffer) -> Shows:
    return Shows("read_output", {"ref": "@x"}, refs=tuple(buffer.name for buffer in buffers))


def shown(store: Store, text: str, *buffers: Buffer) -> str:
    return record_view(store, ASKING, shows(*buffers), (Segment(text),)).id


def texts(store: Store) -> list[str]:
    """What was shown, the first first, as lists know it."""
    return [view_text(store, one) for one in list_views(store)][::-1]


def levels(store: Store) -> set[str]:
    return {finding.level for finding in examine(store)}


def is_whole(root: str) -> None:
    """All that was kept and shown is there, and nothing is left to be mended."""
    with Store(root, Settings()) as store:
        assert len(store.listed(99)) == OUTPUTS
        assert texts(store)[:OUTPUTS] == [f"text {number}" for number in range(OUTPUTS)]
        assert levels(store) <= {"ok", "note"}


# damaged


def test_an_index_that_is_gone_is_made_anew(root: str) -> None:
    for file in os.listdir(root):
        if file.startswith("index.sqlite"):
            os.unlink(os.path.join(root, file))
    is_whole(root)


@pytest.mark.parametrize("size", [0, 99, 20_000])
def test_an_index_that_was_cut_short_is_made_anew(root: str, size: int) -> None:
    os.truncate(os.path.join(root, "index.sqlite"), size)
    with Store(root, Settings()) as store:
        _ = levels(store)
    is_whole(root)


@pytest.mark.parametrize("seed", range(6))
def test_random_bytes_in_the_index_are_told_and_mended(
    root: str, seed: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    random_ = random.Random(seed)
    path = os.path.join(root, "index.sqlite")
    with open(path, "r+b") as file:
        for _ in range(1 + 5 * seed):
            file.seek(random_.randrange(0 if seed % 2 else 100, os.path.getsize(path)))
            file.write(random_.randbytes(random_.choice((1, 40, 4096))))
    monkeypatch.setenv("SIGHTLINE_HOME", root)
    for words in (["list"], ["views"]):
        if main(words):
            assert "`sightline doctor` makes it anew" in capfd.readouterr().err
    main(["doctor"])
    with Store(root, Settings()) as store:
        assert {item.buffer.command for item in store.listed(99)} == {"true"}
        assert set(texts(store)) >= {f"text {number}" for number in range(OUTPUTS)}
        assert levels(store) <= {"ok", "note"}


NO_RECORDS = ["buffers SET streams = '{'", "buffers SET streams = '[[1]]'", "views SET record = 7"]


@pytest.mark.parametrize("column", NO_RECORDS)
def test_a_damaged_row_is_left_out_and_the_next_command_makes_the_index_anew(
    root: str, column: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(os.path.join(root, "index.sqlite"))) as connection:
        connection.execute(f"UPDATE {column}")
        connection.commit()
    monkeypatch.setenv("SIGHTLINE_HOME", root)
    assert (main(["list"]), main(["views"])) == (0, 0)
    assert "rows of the index were damaged" in capfd.readouterr().err
    is_whole(root)


# locked


@pytest.fixture
def locked(root: str) -> Iterator[sqlite3.Connection]:
    """Another process has the index to itself."""
    with closing(sqlite3.connect(os.path.join(root, "index.sqlite"), check_same_thread=False)) as connection:
        connection.isolation_level = None
        connection.execute("BEGIN EXCLUSIVE")
        yield connection


def test_what_is_only_shown_does_not_wait_for_a_locked_index(
    root: str, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "HURRIED_SECONDS", 0.01)
    with Store(root, Settings()) as store:
        buffer = store.listed(1)[0].buffer
        assert shown(store, "late", buffer) == f"mine:{OUTPUTS + 1}"
        store.touch(buffer.name)
        assert "late" not in texts(store)
        locked.execute("COMMIT")
    is_whole(root)
    with Store(root, Settings()) as store:
        assert texts(store)[-1] == "late"


def test_a_capture_waits_for_a_locked_index_and_is_kept(
    root: str, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "HURRIED_SECONDS", 0.01)
    with Store(root, Settings()) as store:
        capture = CommandCapture(store, ["echo", "kept"], command="echo kept", session="s")
        release = threading.Timer(0.1, locked.execute, ("COMMIT",))
        release.start()
        captured = capture.run()
        release.join()
        assert captured.buffer
        assert store.listed(1)[0].buffer == captured.buffer


def test_the_output_of_a_command_outlasts_an_index_that_stays_locked(root: str, locked: sqlite3.Connection) -> None:
    with Store(root, Settings(), patience=0.02) as store:
        captured = CommandCapture(store, ["echo", "given"], command="echo given", session="s").run()
        locked.execute("COMMIT")
        assert captured.buffer
        assert captured.buffer.state == "sealed"
        assert store.listed(1)[0].buffer.streams == captured.buffer.streams
        assert levels(store) <= {"ok", "note"}


# a server, whose changes of the index wait


def captured_in(store: Store, word: str) -> Buffer:
    captured = CommandCapture(store, ["echo", word], command=f"echo {word}", session="s").run()
    assert captured.buffer
    return captured.buffer


def sealed_at_once(store: Store, many: int) -> list[Buffer]:
    """Outputs of which none had to use the index, so that all wait for it."""
    recordings = [store.begin("cmd", f"echo {number}", "/", "s") for number in range(many)]
    return [recording.seal(exit_code=0) for recording in recordings]


def test_whoever_uses_the_index_finds_what_waited_for_it(root: str) -> None:
    with Store(root, Settings()) as server, Store(root, Settings()) as other:
        server.access.let_wait(lambda: None)
        before = server.listed(1)[0].buffer
        made = captured_in(server, "waits")
        reading = shows(before)._replace(records=(before,))  # which need not be looked up
        index_soon(server, append_view(server, ASKING, reading, (Segment("waits"),)), [before.name])
        assert server.access.index_behind.buffer(made.name) is None
        assert other.listed(1)[0].buffer.streams == made.streams, "others list it"
        assert other.resolve(made.ref).buffer.streams == made.streams
        assert "waits" in texts(other), "and views are found in the log"
        assert [item.buffer.name for item in server.listed(2)] == [before.name, made.name]
        assert texts(server)[-1] == "waits"
        assert levels(server) == {"ok"}
    assert not os.listdir(Layout(root).live)


def test_a_change_that_another_made_first_is_not_made_twice(root: str) -> None:
    with Store(root, Settings()) as server, Store(root, Settings()) as other:
        server.access.let_wait(lambda: None)
        made = captured_in(server, "pinned meanwhile")
        other.resolve(made.ref)
        other.index.put_buffer(made._replace(pinned=True))
        assert server.listed(1)[0].buffer.pinned
    with Store(root, Settings()) as store:
        rebuild_buffers(store.layout, store.index)
        assert store.resolve(made.ref).buffer.pinned, "its record on disk says so, too"


def test_what_waits_in_a_transaction_is_not_lost_with_it(root: str) -> None:
    with Store(root, Settings()) as server:
        server.access.let_wait(lambda: None)
        made = captured_in(server, "waits")
        with pytest.raises(RuntimeError), server.access.index_behind.transaction():
            assert server.index.buffer(made.name) is None
            raise RuntimeError("undoes the transaction")
        assert server.listed(1)[0].buffer == made


def test_what_waits_for_an_index_that_stays_locked_is_left_to_whoever_looks_next(
    root: str, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "HURRIED_SECONDS", 0.01)
    with Store(root, Settings()) as server:
        server.access.let_wait(lambda: None)
        made = captured_in(server, "waits")
        index_soon(server, append_view(server, ASKING, shows(made), (Segment("waits"),)), [made.name])
        assert server.index.buffer(made.name) is None
        locked.execute("COMMIT")
        assert server.listed(1)[0].buffer.streams == made.streams
        assert texts(server)[-1] == "waits"


def test_what_waits_for_a_locked_index_is_made_once_it_is_free(
    root: str, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "HURRIED_SECONDS", 0.01)
    with Store(root, Settings()) as server:
        server.access.let_wait(lambda: None)
        before = server.index.listed(1)[0].buffer
        made = captured_in(server, "waits")
        reading = shows(before)._replace(records=(before,))
        index_soon(server, append_view(server, ASKING, reading, (Segment("waits"),)), [before.name])
        assert server.index.buffer(made.name) is None
        assert server.access.is_behind
        locked.execute("COMMIT")
        assert server.index.newest_command(0, None) == made
        assert [item.buffer.name for item in server.index.listed(2)] == [before.name, made.name]
        assert not server.access.is_behind
    assert not os.listdir(Layout(root).live)


def test_a_server_that_ends_leaves_to_others_what_waits_for_a_locked_index(
    root: str, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "HURRIED_SECONDS", 0.01)
    with Store(root, Settings()) as server:
        server.access.let_wait(lambda: None)
        made = captured_in(server, "waits")
    locked.execute("COMMIT")
    with Store(root, Settings()) as store:
        assert store.resolve("@last").buffer.name == made.name
        assert not store.listed(1)[0].buffer.pinned
    assert not os.listdir(Layout(root).live)


def test_a_run_that_waits_for_a_locked_index_is_compared_with_the_one_before(
    root: str, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "HURRIED_SECONDS", 0.01)
    locked.execute("COMMIT")
    with Store(root, Settings()) as server:
        first = captured_in(server, "again")
        server.access.let_wait(lambda: None)
        locked.execute("BEGIN EXCLUSIVE")
        assert previous_run(server, captured_in(server, "again")) == first
        locked.execute("COMMIT")


def test_the_newest_output_is_that_of_a_server_that_has_not_told_the_index(root: str) -> None:
    with Store(root, Settings()) as server, Store(root, Settings()) as other:
        server.access.let_wait(lambda: None)
        made = sealed_at_once(server, 4)
        newest = [other.resolve(ref).buffer.name for ref in ("@last", "@last~1", "@last~2", "@last~3")]
        assert newest == [buffer.name for buffer in made][::-1]


def test_the_newest_output_is_not_guessed_while_the_index_is_locked(
    root: str, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "HURRIED_SECONDS", 0.01)
    with Store(root, Settings()) as server, Store(root, Settings()) as other:
        server.access.let_wait(lambda: None)
        made = captured_in(server, "waits")
        for store in (server, other):
            with pytest.raises(StoreFailed, match="the newest output is not known"):
                store.resolve("@last")
        locked.execute("COMMIT")
        assert other.resolve("@last").buffer.name == server.resolve("@last").buffer.name == made.name


@pytest.mark.parametrize("reason", ["removed", "evicted"])
def test_what_another_has_removed_does_not_come_back_with_what_waits(root: str, reason: str) -> None:
    with Store(root, Settings()) as server, Store(root, Settings()) as other:
        server.access.let_wait(lambda: None)
        gone, kept = sealed_at_once(server, 2)
        assert other.remove(other.resolve(gone.ref).buffer, reason)
        assert not server.index.has(gone.name)
        assert server.index.buffer(kept.name) == kept
        assert levels(server) == {"ok"}


def test_a_removed_output_is_not_taken_from_a_folder_that_is_left(root: str) -> None:
    with Store(root, Settings()) as server, Store(root, Settings()) as other:
        server.access.let_wait(lambda: None)
        made = captured_in(server, "gone")
        Path(other.layout.tombstone(made.name)).write_text("{}")  # as `remove` does before the folder goes
        assert other.access.take_in_sealed()
        assert not other.index.knows(made.name)


def test_what_others_say_of_a_session_outlasts_what_waits(root: str) -> None:
    with Store(root, Settings()) as server, Store(root, Settings()) as other:
        server.access.let_wait(lambda: None)
        asking = ASKING._replace(name="new")
        index_soon(server, append_view(server, asking, shows(), (Segment("first"),)))
        assert "first" in texts(other)
        other.index.put_session(asking._replace(title="what a person calls it"))
        found = server.index.session("new")
        assert found and found.title == "what a person calls it"


def test_what_comes_while_others_are_evicted_is_in_the_index_at_the_end(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    evicting, go_on = threading.Event(), threading.Event()

    def evict(store: Store) -> None:
        if not evicting.is_set():
            store.access.settle()
            evicting.set()
            go_on.wait()

    monkeypatch.setattr(index_thread, "keep_within_limits", evict)
    with Store(root, Settings()) as server:
        indexing = index_thread.IndexThread(server)
        captured_in(server, "one")
        evicting.wait()
        made = captured_in(server, "two")
        go_on.set()
        indexing.finish()
        assert server.access.index_behind.buffer(made.name) == made
        late = captured_in(server, "ends after that")
        indexing.settle()
        assert server.access.index_behind.buffer(late.name) == late


def test_a_server_tries_again_until_a_locked_index_is_free(
    root: str,
    locked: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
    until: Callable[[Callable[[], object]], None],
) -> None:
    tried = threading.Event()

    def settle(store: Store) -> None:
        store.access.settle()
        tried.set()

    monkeypatch.setattr(database, "HURRIED_SECONDS", 0.01)
    monkeypatch.setattr(index_thread, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(index_thread, "keep_within_limits", settle)
    with Store(root, Settings()) as server:
        indexing = index_thread.IndexThread(server)
        made = captured_in(server, "waits")
        tried.wait()
        assert server.access.index_behind.buffer(made.name) is None
        locked.execute("COMMIT")
        until(lambda: server.access.index_behind.buffer(made.name) == made)
        indexing.finish()


DIES = """
import os, sys
from sightline import Store
from sightline.capture.command import CommandCapture
from sightline.log.views import Shows, append_view, index_soon
from sightline.base.records import Session
from sightline.shape.segments import Segment
store = Store(sys.argv[1])
store.access.let_wait(lambda: None)
made = CommandCapture(store, ["echo", "kept"], command="echo kept", session="s").run().buffer
shows = Shows("run_command", {}, refs=(made.name,))
index_soon(store, append_view(store, Session("s", "", "", "", "/", 1.0), shows, (Segment("shown"),)), [made.name])
print(made.name, flush=True)
os._exit(9)
"""


def test_what_waited_in_a_process_that_died_is_found(
    root: str, python: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    told, _ = python(DIES, root).communicate()
    with Store(root, Settings()) as store:
        found = store.listed(1)[0].buffer
        assert (found.name, found.state, found.exit_code) == (told.decode().strip(), "sealed", 0)
        assert texts(store)[-1] == "shown"
        assert levels(store) <= {"ok", "note"}


# views that were logged by a writer that died before it indexed them


def test_whoever_looks_next_finds_what_was_logged_and_not_indexed(root: str) -> None:
    with Store(root, Settings()) as dies:
        buffer = dies.listed(1)[0].buffer
        for text in ("one", "two"):
            append_view(dies, ASKING, shows(buffer), (Segment(text),))
        append_view(dies, ASKING._replace(name="other"), shows(buffer), (Segment("of a new session"),))
    with Store(root, Settings()) as store:
        assert texts(store)[OUTPUTS:] == ["one", "two", "of a new session"]
        assert store.index.session("other") == ASKING._replace(name="other")
        assert len(list_views(store, buffer=buffer.name)) == 4
    is_whole(root)


def test_of_one_session_it_is_found_at_once(root: str) -> None:
    with Store(root, Settings()) as dies, Store(root, Settings()) as store:
        assert len(texts(store)) == OUTPUTS  # all have been compared just now
        append_view(dies, ASKING, shows(), (Segment("late"),))
        assert len(list_views(store, session="mine")) == OUTPUTS + 1


def test_what_follows_a_view_in_the_log_is_found_with_it(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(root, Settings()) as dies:
        buffer = dies.listed(1)[0].buffer
        with monkeypatch.context() as patched:
            patched.setattr(type(dies.index), "put_view", lambda *_: None)
            patched.setattr(type(dies.index), "amend_view", lambda *_: None)
            patched.setattr(type(dies.index), "put_note", lambda *_: None)
            patched.setattr(type(dies.index), "advance", lambda *_: None)
            view = record_view(dies, ASKING, shows(buffer), (Segment("late"),))
            record_shown(dies, view, Traced((Shown(buffer.name, "out", 3, 7),)))
            write_note(dies, ASKING, dies.resolve(f"{buffer.ref}:2"), "look")
    with Store(root, Settings()) as store:
        (found,) = list_views(store, buffer=buffer.name)[:1]
        assert found.view.shown == (Shown(buffer.name, "out", 3, 7),)
        assert [note.text for note in list_notes(store)] == ["look"]


def test_a_living_writer_that_indexes_later_than_who_looked_is_not_told_twice(root: str) -> None:
    with Store(root, Settings()) as writer, Store(root, Settings()) as looks:
        appended = [append_view(writer, ASKING, shows(), (Segment(text),)) for text in ("one", "two")]
        assert texts(looks)[OUTPUTS:] == ["one", "two"]
        for one in reversed(appended):
            index_view(writer, one)
        assert texts(writer)[OUTPUTS:] == ["one", "two"]
        assert looks.index.newest_view() == OUTPUTS + 2
        shown(writer, "three")
        assert writer.index.indexed_bytes("mine") == os.path.getsize(writer.layout.audit_file("mine"))


# a clock that is set back


def test_a_clock_that_is_set_back_changes_no_order(
    store: Store, keep: Callable[..., Buffer], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(2_000_000_000, 0, -1_000_000))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    made = [keep(b"%d" % number * 50) for number in range(3)]
    assert len({buffer.name for buffer in made}) == 3
    assert all(buffer.ended is not None and buffer.ended >= buffer.created for buffer in made)
    store.touch(made[0].name)
    order = [made[0].name, made[2].name, made[1].name]
    assert [item.buffer.name for item in store.listed(9)] == order
    ids = [shown(store, f"text {number}", made[number]) for number in (1, 0, 2)]
    assert [one.view.id for one in list_views(store)] == ids[::-1]
    assert rebuild_views(store) == 3
    assert [one.view.id for one in list_views(store)] == ids[::-1]
    assert verify(store.layout.audit_file("mine")) == 4
    assert [buffer.name for buffer in store.index.least_used(9)] == order[::-1]


@pytest.mark.parametrize("created", ['"abc"', "1e30", "1" + "0" * 30, "null", "[1]"])
def test_a_record_without_a_time_holds_up_no_other(store: Store, keep: Callable[..., Buffer], created: str) -> None:
    whole, spoiled = keep(b"a\n"), keep(b"b\n")
    meta = Path(store.layout.meta(spoiled.name))
    meta.chmod(0o600)
    meta.write_text(re.sub(r'"created": ?[^,]+', f'"created":{created}', meta.read_text()))
    store.access.start_anew()
    rebuilt = rebuild_buffers(store.layout, store.index)
    assert (rebuilt.buffers, rebuilt.unreadable) == (1, [spoiled.name])
    assert store.resolve(whole.ref).buffer.name == whole.name


def _lost(store: Store) -> None:
    """The index is gone, as when somebody has removed its file."""
    store.access.start_anew()
    store.close()


def _names(store: Store) -> list[str]:
    return [item.buffer.name for item in store.listed(9)]


def test_a_filling_that_was_broken_off_is_done_by_the_next_to_look(
    store: Store, keep: Callable[..., Buffer], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [keep(b"%d\n" % number).name for number in range(3)]
    _lost(store)

    def killed(*_: object, **__: object) -> Buffer:
        raise KeyboardInterrupt

    with monkeypatch.context() as during, Store(store.root, Settings()) as first:
        during.setattr(index_filling, "read_meta", killed)
        with pytest.raises(KeyboardInterrupt):
            first.listed(9)
    with Store(store.root, Settings()) as other:
        assert _names(other) == kept[::-1]


class _Filling:
    """Another that fills the index, and stands still in the midst of it until it is let go on."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.listed: list[list[str]] = []
        self._root = store.root
        read_meta = index_filling.read_meta

        def slowly(layout: Layout, name: str, **known: bool) -> Buffer:
            self.begun.set()
            assert self.go_on.wait(PATIENCE_SECONDS)
            return read_meta(layout, name, **known)

        monkeypatch.setattr(index_filling, "read_meta", slowly)
        self._lookers: list[threading.Thread] = []
        self.look()
        assert self.begun.wait(PATIENCE_SECONDS)

    def look(self) -> None:
        """One more who needs the index."""

        def look() -> None:
            with Store(self._root, Settings()) as other:
                self.listed.append(_names(other))

        self._lookers.append(threading.Thread(target=look))
        self._lookers[-1].start()

    def end(self) -> list[list[str]]:
        """What each of them has found in the end."""
        self.go_on.set()
        for looker in self._lookers:
            looker.join(PATIENCE_SECONDS)
        return self.listed


def test_who_looks_while_another_fills_the_index_waits_for_all_of_it(
    store: Store, keep: Callable[..., Buffer], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [keep(b"%d\n" % number).name for number in range(3)]
    _lost(store)
    filling = _Filling(store, monkeypatch)
    filling.look()
    with Store(store.root, Settings(), patience=0.01) as hurried, pytest.raises(StoreFailed, match="making it anew"):
        hurried.listed(9)
    assert filling.end() == [kept[::-1]] * 2


def test_what_is_captured_while_another_fills_the_index_is_the_newest_in_it(
    store: Store, keep: Callable[..., Buffer], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [keep(b"%d\n" % number).name for number in range(3)]
    _lost(store)
    filling = _Filling(store, monkeypatch)
    new = []
    with Store(store.root, Settings(), waits=False) as captures:
        for number in (3, 4):
            recording = captures.begin("cmd", "true", "/", "mine")
            recording.register()
            recording.append("out", b"%d\n" % number)
            new.append(recording.seal(exit_code=0))
            shown(captures, f"text {number}", new[-1])
        list_views(captures)
        assert captures.index.is_unfilled()
    assert filling.end() == [[one.name for one in reversed(new)] + kept[::-1]]
    with Store(store.root, Settings()) as other:
        assert [other.resolve(one.ref).buffer for one in new] == new
        assert [view.view.refs for view in list_views(other)] == [(new[1].name,), (new[0].name,)]
        totals = other.index.totals()
        assert (totals.buffers, totals.bytes) == (5, sum(item.buffer.bytes for item in other.listed(9)))
        assert other.index.is_sound()


def test_who_only_captures_leaves_a_large_index_to_be_filled_by_nobody_that_waits(
    store: Store, keep: Callable[..., Buffer], until: Callable[[Callable[[], object]], None]
) -> None:
    kept = keep(b"kept\n")
    for number in range(2_500):
        Path(store.layout.buffers, f"cmd_{number:08x}").mkdir()
    _lost(store)
    with Store(store.root, Settings(), waits=False) as captures:
        recording = captures.begin("cmd", "true", "/", "mine")
        recording.append("out", b"new\n")
        new = recording.seal(exit_code=0)
        until(lambda: not captures.index.is_unfilled())
        assert _names(captures) == [new.name, kept.name]


def test_what_is_captured_while_the_index_is_locked_is_sealed_and_listed_later(
    store: Store, keep: Callable[..., Buffer]
) -> None:
    before = keep(b"before\n")
    with Store(store.root, Settings(), patience=0.01) as hurried:
        recording = hurried.begin("cmd", "true", "/", "mine")
        recording.append("out", b"kept\n")
        with closing(sqlite3.connect(store.layout.index, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            sealed = recording.seal(exit_code=3)
        assert (sealed.state, sealed.exit_code) == ("sealed", 3)
    assert _names(store) == [sealed.name, before.name]
    assert store.resolve(sealed.ref).buffer == sealed._replace(accessed=sealed.ended)
    assert not os.listdir(store.layout.live)
