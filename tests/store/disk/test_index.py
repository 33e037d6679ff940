"""The index: order of use, pages, totals; broken, gone, shared by many processes."""

import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.base.records import Buffer, IndexedView, Note, Session, StreamInfo, View
from sightline.disk import schema
from sightline.disk.database import HURRIED_SECONDS, WAL_KEPT_BYTES, Database
from sightline.disk.index import Index
from sightline.disk.recording import new_buffer
from sightline.disk.rows import StoreTotals
from sightline.settings.config import Settings
from sightline.store import Store
from tests.each import each
from tests.examples import examples

Keep = Callable[..., Buffer]
Python = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = Index(Database(str(tmp_path / "index.sqlite")))
    yield made
    made.close()


def record(name: str, size: int = 0, **fields: Any) -> Buffer:
    streams = {"out": StreamInfo(size, 1, "ab" * 32)} if size else {}
    made = new_buffer(name, name.partition("_")[0], "x", "/", "s", state="sealed", streams=streams)
    return made._replace(**fields)


def names(index: Index) -> list[str]:
    return [item.buffer.name for item in index.listed(100)]


def test_the_list_goes_by_use_whatever_the_clock_says(
    store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = keep(b"1"), keep(b"2")
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    third = keep(b"3")
    store.touch(first.name)
    assert names(store.index) == [first.name, third.name, second.name]
    assert [buffer.name for buffer in store.index.least_used(9)] == [second.name, third.name, first.name]


def test_a_record_that_is_replaced_keeps_its_place(index: Index) -> None:
    for name in ("cmd_aaaaaa", "cmd_bbbbbb"):
        index.put_buffer(record(name))
    index.put_buffer(record("cmd_aaaaaa", 5, pinned=True))
    assert names(index) == ["cmd_bbbbbb", "cmd_aaaaaa"]
    assert [buffer.name for buffer in index.least_used(9)] == ["cmd_bbbbbb"]


@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_pages_give_each_buffer_once_while_others_are_used(index: Index, limit: int) -> None:
    for number in range(20):
        index.put_buffer(record(f"cmd_{number:06x}", session="even" if number % 2 == 0 else "odd"))
    seen, before = [], None
    while page := index.listed(limit, before=before, session="even"):
        seen += [item.buffer.name for item in page]
        before = page[-1].used
        index.touch(seen[0], 1.0)
    assert seen == [f"cmd_{number:06x}" for number in range(18, -1, -2)]


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["put", "evict", "forget", "touch"]),
        st.integers(0, 4),
        st.integers(0, 100),
        st.sampled_from(["running", "sealed", "interrupted"]),
    ),
    max_size=30,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=ACTIONS)
def test_totals_are_what_counting_gives(index: Index, actions: list[tuple[str, int, int, str]]) -> None:
    for _, known in index.numbered_after(0, 100):
        index.forget_buffer(known.name)
    model: dict[str, Buffer] = {}
    for action, number, size, state in actions:
        name = f"cmd_00000{number}"
        if action == "put":
            model[name] = record(name, size, state=state)
            index.put_buffer(model[name])
        elif action == "evict" and name in model:
            model[name] = model[name]._replace(state="evicted")
            index.put_buffer(model[name])
            index.forget_hashes(name)
        elif action == "forget":
            model.pop(name, None)
            index.forget_buffer(name)
        elif action == "touch":
            index.touch(name, 1.0)
        held = [buffer for buffer in model.values() if buffer.state != "evicted"]
        assert index.totals() == StoreTotals(len(held), sum(buffer.bytes for buffer in held))
    assert {buffer.name for _, buffer in index.numbered_after(0, 100)} == set(model)


def test_a_hash_finds_only_what_has_its_bytes(index: Index) -> None:
    index.put_buffer(record("cmd_aaaaaa", 5))
    index.put_buffer(record("cmd_bbbbbb", 5))
    assert index.with_hash("abab") == [("ab" * 32, "cmd_bbbbbb", "out"), ("ab" * 32, "cmd_aaaaaa", "out")]
    index.put_buffer(record("cmd_bbbbbb", 5, state="evicted"))
    assert [name for _, name, _ in index.with_hash("abab")] == ["cmd_aaaaaa"]
    assert index.with_hash("abac") == []


def ruin(path: str, how: str) -> None:
    if how == "deleted":
        os.unlink(path)
    elif how == "emptied":
        os.truncate(path, 0)
    elif how == "cut":
        os.truncate(path, 1500)
    elif how == "foreign":
        Path(path).write_bytes(b"no database at all\n" * 500)
    elif how == "stripped":
        with sqlite3.connect(path) as connection:
            connection.execute("DROP TABLE totals")
        connection.close()


@pytest.mark.parametrize("how", ["deleted", "emptied", "cut", "foreign", "stripped"])
def test_a_ruined_index_is_made_anew_from_the_folders(tmp_path: Path, how: str) -> None:
    with Store(str(tmp_path / "root"), Settings()) as store:
        kept = []
        for number in range(4):
            recording = store.begin("cmd", f"echo {number}", "/", "s")
            recording.append("out", b"%d\n" % number * 3000)
            kept.append(recording.seal(exit_code=number))
        store.remove(kept[1], "evicted")
        store.remove(kept[2], "removed")
        totals = store.index.totals()
    ruin(store.layout.index, how)
    with Store(str(tmp_path / "root"), Settings()) as store:
        assert [(item.buffer.name, item.buffer.state) for item in store.listed(9)] == [
            (kept[3].name, "sealed"),
            (kept[1].name, "evicted"),
            (kept[0].name, "sealed"),
        ]
        assert store.index.totals() == totals
        assert store.resolve(kept[0].ref).buffer.streams == kept[0].streams
        assert store.index.with_hash(kept[1].stream("out").sha256) == []
    assert any("broken" in file for file in os.listdir(store.root)) == (how in ("cut", "foreign", "stripped"))


def test_several_that_find_it_broken_make_one_new_index(tmp_path: Path, python: Python) -> None:
    with Store(str(tmp_path / "root"), Settings()) as store:
        recording = store.begin("cmd", "x", "/", "s")
        recording.seal(exit_code=0)
    ruin(store.layout.index, "foreign")
    code = "import sys\nfrom sightline.store import Store\nsys.stdin.read(1)\nwith Store(sys.argv[1]) as store:\n"
    code += "    r = store.begin('cmd', 'y', '/', 's')\n    r.register()\n    r.seal(exit_code=0)\n"
    others = [python(code, store.root) for _ in range(6)]
    for other in others:
        assert other.stdin
        other.stdin.write(b"x")
        other.stdin.flush()
    for other in others:
        other.communicate()
        assert other.returncode == 0
    with Store(str(tmp_path / "root"), Settings()) as store:
        assert len(store.listed(99)) == 7
    assert sum("broken" in file for file in os.listdir(store.root)) == 1


def test_an_index_whose_bytes_are_all_in_the_write_ahead_file_is_not_made_anew(store: Store, keep: Keep) -> None:
    buffer = keep(b"x")
    with Store(store.root, Settings()) as other:
        assert not other.index.is_unfilled()
        assert not other.index.views_stale()
        assert other.resolve(buffer.ref).buffer == buffer


def test_a_removal_that_was_cut_short_is_not_undone_by_rebuilding(store: Store, keep: Keep) -> None:
    buffer = keep(b"to be removed\n")
    data = Path(store.layout.meta(buffer.name)).read_bytes()
    store.remove(buffer, "removed")
    os.mkdir(store.layout.folder(buffer.name))
    Path(store.layout.meta(buffer.name)).write_bytes(data)
    os.unlink(store.layout.index)
    store.close()
    assert store.listed(9) == []
    assert os.listdir(store.layout.buffers) == []


CAPTURE_SOME = """
import sys
from sightline.store import Store
with Store(sys.argv[1]) as store:
    for number in range(int(sys.argv[2])):
        recording = store.begin("cmd", f"echo {number}", "/", "s")
        recording.register()
        recording.append("out", b"%d\\n" % number)
        print(recording.seal(exit_code=0).name)
        store.touch(recording.name)
"""


def test_many_processes_capture_into_one_store(tmp_path: Path, python: Python) -> None:
    root = str(tmp_path / "root")
    writers = [python(CAPTURE_SOME, root, "10") for _ in range(16)]
    told = [writer.communicate()[0].decode().split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 16
    made = [name for some in told for name in some]
    assert len(made) == len(set(made)) == 160
    with Store(root, Settings()) as store:
        assert {item.buffer.name for item in store.listed(1000)} == set(made)
        assert store.index.totals() == StoreTotals(160, 320)
        assert all(item.buffer.state == "sealed" for item in store.listed(1000))


def test_an_older_index_is_led_to_the_newest_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "index.sqlite")
    Database(path).close()
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 2)
    monkeypatch.setitem(schema.MIGRATIONS, schema.VERSION - 2, "CREATE TABLE one (x);\nCREATE TABLE two (x);")
    monkeypatch.setitem(schema.MIGRATIONS, schema.VERSION - 1, "INSERT INTO one VALUES (7);")
    for _ in range(2):
        database = Database(path)
        assert database.rows("SELECT x FROM one") == [(7,)]
        assert database.row("PRAGMA user_version") == (schema.VERSION,)
        database.close()


def test_a_transaction_that_fails_changes_nothing(index: Index) -> None:
    with pytest.raises(ZeroDivisionError), index.transaction():
        index.put_buffer(record("cmd_aaaaaa", 5))
        raise ZeroDivisionError
    assert index.totals() == StoreTotals(0, 0)


def test_a_request_is_confirmed_once_and_in_time(index: Index) -> None:
    index.put_ack("@ack_1", "rm", "s", created=10.0, keep_after=0.0)
    assert index.take_ack("@ack_1", keep_after=11.0) is None
    index.put_ack("@ack_2", "rm", "s", created=20.0, keep_after=15.0)
    assert index.take_ack("@ack_2", keep_after=15.0) == "rm"
    assert index.take_ack("@ack_2", keep_after=15.0) is None


def test_an_index_of_before_there_were_notes_takes_them(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite")
    schema_1 = Path(__file__).parents[2] / "faults" / "schemas" / "1.sql"
    with sqlite3.connect(path) as connection:
        connection.executescript(schema_1.read_text())
        connection.execute(
            "INSERT INTO sessions (name, harness, harness_id, client, cwd, started)"
            " VALUES ('old', 'shell', '', '', '/', 1.0)"
        )
    connection.close()
    index = Index(Database(path))
    assert index.sessions() == [Session("old", "shell", "", "", "/", 1.0)]
    note = Note("old:3", "old", 2.0, "@cmd_a1b2c3:1-2", "look")
    index.put_note(note, "cmd_a1b2c3")
    index.put_derived("cmd_a1b2c3", "key", "value")
    assert (index.note("old:3"), index.notes(buffer="cmd_a1b2c3")) == (note, [note])
    assert index.derived("cmd_a1b2c3", "key") == "value"
    index.close()


def _steps(index: Index, ask: Callable[[], object]) -> int:
    """How many hundreds of steps SQLite takes to answer."""
    steps: list[None] = []
    connection = index._db._connection
    connection.set_progress_handler(lambda: steps.append(None), 100)
    ask()
    connection.set_progress_handler(None, 0)
    return len(steps)


def test_what_was_evicted_is_not_looked_at_when_something_must_go(index: Index) -> None:
    with index.transaction():
        for number in range(500):
            index.put_buffer(record(f"cmd_{number:06}", state="evicted"))
        index.put_buffer(record("cmd_aaaaaa"))
    assert [buffer.name for buffer in index.least_used(1)] == ["cmd_aaaaaa"]
    assert _steps(index, lambda: index.least_used(1)) < 3


def test_a_session_s_other_views_are_not_looked_at_for_those_of_one_buffer(index: Index) -> None:
    with index.transaction():
        for number in range(500):
            index.put_view(IndexedView(_view(number, "cmd_aaaaaa" if number == 7 else "cmd_bbbbbb"), 0, 1))
    assert [one.view.number for one in index.views(buffer="cmd_aaaaaa", session="s")] == [7]
    assert _steps(index, lambda: index.views(buffer="cmd_aaaaaa", session="s")) < 3


@each("order", permutations((1, 2, 3, 4)))
def test_a_log_is_indexed_as_far_as_all_before_is_whichever_view_came_first(
    index: Index, order: tuple[int, ...]
) -> None:
    session = "s" + "".join(map(str, order))
    for at, number in enumerate(order):
        index.put_view(IndexedView(_view(number, "cmd_aaaaaa")._replace(session=session), 10 + number * 5, 5))
        whole = next(after for after in range(5) if after + 1 not in order[: at + 1])
        assert index.indexed_bytes(session) == (15 + whole * 5 if whole else 0)


def test_the_views_of_a_buffer_come_oldest_first_however_many_there_are(index: Index) -> None:
    with index.transaction():
        for number in range(600):
            index.put_view(IndexedView(_view(number, "cmd_aaaaaa" if number % 2 else "cmd_bbbbbb"), 0, 1))
    for session in ("s", None):
        found = [one.view.number for one in index.views_of("cmd_aaaaaa", session=session)]
        assert found == list(range(1, 600, 2))
    assert list(index.views_of("cmd_aaaaaa", session="other")) == []


def _view(number: int, name: str) -> View:
    return View(f"s:{number}", "s", number, 1.0, "read_output", "{}", (name,), (), 0, 0, 0, 0, None, False, "")


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    used=st.lists(st.integers(0, 30), max_size=8), runs=st.lists(st.lists(st.integers(0, 30), max_size=5), max_size=3)
)
def test_what_is_imported_stands_below_what_was_used_later(
    tmp_path_factory: pytest.TempPathFactory, used: list[int], runs: list[list[int]]
) -> None:
    index = Index(Database(str(tmp_path_factory.mktemp("placed") / "index.sqlite")))
    for at, when in enumerate(sorted(used)):
        index.put_buffer(record(f"cmd_{at:06}", accessed=float(when)))
    for run, times in enumerate(runs):
        imported = {f"tool_{run}{at:05}": float(when) for at, when in enumerate(times)}
        for name, when in imported.items():
            index.put_buffer(record(name, artifact=name, created=when, ended=when, accessed=99.0))
        index.place(imported)
    listed = index.listed(100)
    index.close()
    times = [buffer.ended if buffer.artifact else buffer.accessed for buffer in (item.buffer for item in listed)]
    assert times == sorted(times, key=float, reverse=True)
    assert len(listed) == len(used) + sum(map(len, runs))
    assert len({item.used for item in listed}) == len(listed)


def test_the_write_ahead_file_shrinks_once_nobody_reads_any_more(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite")
    writing, reading = Database(path), Database(path)
    reading.execute("BEGIN")
    reading.rows("SELECT * FROM totals")  # what stood there then is kept for it
    for number in range(8):
        writing.execute("INSERT INTO acks VALUES (?, ?, '', 0)", (str(number), "x" * (1 << 20)))
    assert os.path.getsize(path + "-wal") > 2 * WAL_KEPT_BYTES
    reading.execute("COMMIT")
    for number in range(3):  # one copies all of it into the database, one begins it anew
        writing.execute("UPDATE totals SET views_stale = ?", (number,))
    assert os.path.getsize(path + "-wal") <= WAL_KEPT_BYTES
    reading.close()
    writing.close()


WRITE_AND_END = """
import os, sys
from sightline.disk.database import Database
for number in range(int(sys.argv[2])):
    if not os.fork():
        database = Database(sys.argv[1])
        database.execute("INSERT INTO acks VALUES (?, ?, '', 0)", (str(number), "x" * 60_000))
        database.leave()
        del database
        os._exit(0)
    os.wait()
"""


def test_processes_that_end_leave_a_write_ahead_file_that_stays_small(tmp_path: Path, python: Python) -> None:
    path, writers = str(tmp_path / "index.sqlite"), 60
    assert python(WRITE_AND_END, path, str(writers)).wait() == 0
    assert 0 < os.path.getsize(path + "-wal") < 2 << 20 < writers * 60_000
    database = Database(path)
    assert database.rows("SELECT COUNT(*), SUM(LENGTH(request)) FROM acks") == [(writers, writers * 60_000)]
    database.close()
    assert not os.path.exists(path + "-wal")


def test_work_that_is_hurried_stays_so_after_more_of_it_within(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "hurried"), patience=30.0)
    with database.hurried():
        with database.hurried():
            pass
        assert database.row("PRAGMA busy_timeout") == (HURRIED_SECONDS * 1000,)
    assert database.row("PRAGMA busy_timeout") == (30_000,)
    database.close()
