"""Two versions of Sightline on one store: what a newer one adds is kept, what an older one made is migrated."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.past_sessions.importer import ImportLedger
from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.report.report import gather
from sightline.audit.timeline import calls_of
from sightline.audit.verdict import verdict_of
from sightline.base.errors import OfNewerVersion
from sightline.base.records import Buffer, Gap, Session
from sightline.disk import schema
from sightline.disk.index_filling import rebuild_buffers
from sightline.disk.meta import FORMAT, read_meta
from sightline.disk.recovery import adopt_dead
from sightline.doors.doctor.doctor import examine
from sightline.harnesses.formats import TranscriptSource
from sightline.log import log
from sightline.log.log_index import list_views, rebuild_views
from sightline.log.retention import purge_gone, remove
from sightline.log.view_text import TextGone, view_text
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.faults.fault_kit import run

Python = Callable[..., "subprocess.Popen[bytes]"]
Keep = Callable[..., Buffer]

SCHEMAS = Path(__file__).parent / "schemas"
MADE = sorted(version for path in SCHEMAS.glob("*.sql") if (version := int(path.stem)) < schema.VERSION)
AGENT = Session("agent", "shell", "", "", "/", 1.0)
HASH = "5" * 64
ROWS = f"""
INSERT INTO buffers (number, name, kind, state, command, cwd, session, created, ended, accessed, exit_code, signal,
    timed_out, label, pinned, artifact, note, origin, streams, bytes, used)
VALUES (1, 'cmd_00000a', 'cmd', 'evicted', 'make', '/', 'agent', 1.0, 2.0, 2.0, 3, 0, 0, 'old', 0,
    '', '', '', '{{"out": [5, 1, "{HASH}", ""]}}', 5, 1);
INSERT INTO sessions (name, harness, harness_id, client, cwd, started) VALUES ('agent', 'shell', '', '', '/', 1.0);
INSERT INTO views VALUES (1, 'agent', 1, 2.0, 'run_command',
    '{{"time": 2.0, "verb": "run_command", "request": "{{}}", "refs": ["cmd_00000a"], "shown": [], "lines_shown": 0,
       "lines_total": 1, "bytes_shown": 0, "bytes_total": 5, "exit_code": 3, "truncated": false, "text_sha256": ""}}',
    200, 300);
INSERT INTO views_of VALUES ('cmd_00000a', 1);
"""


def wrong(store: Store) -> list[str]:
    return [finding.text for finding in examine(store) if finding.level in ("problem", "mended")]


# an index that an older version made


def test_every_version_of_the_index_so_far_is_tested() -> None:
    assert list(range(1, schema.VERSION)) == MADE == sorted(schema.MIGRATIONS)


def made_by(version: int, root: str) -> None:
    """An index as a version made it, in a store without outputs."""
    with Store(root):
        pass
    connection = sqlite3.connect(os.path.join(root, "index.sqlite"))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript((SCHEMAS / f"{version}.sql").read_text() + ROWS)
    connection.close()


def structure(path: str) -> dict[str, Any]:
    """Tables with their columns, indexes and triggers, wherever in the file they stand."""
    with sqlite3.connect(path) as connection:
        found: dict[str, Any] = {}
        for kind, name, sql in connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
        ):
            found[name] = " ".join(sql.split())
            if kind == "table":
                found[name] = {row[1:] for row in connection.execute(f"PRAGMA table_info({name})")}
        found["version"] = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return found


def sound(root: str, fresh: Path) -> None:
    with Store(str(fresh)) as new:
        assert new.index.totals().buffers == 0
    with Store(root) as store:
        [listed] = store.index.listed(5)
        assert (listed.buffer.label, listed.buffer.stream("out").sha256) == ("old", HASH)
        assert [session.name for session in store.index.sessions()] == ["agent"]
        assert [indexed.view.id for indexed in store.index.views()] == ["agent:1"]
    assert structure(os.path.join(root, "index.sqlite")) == structure(str(fresh / "index.sqlite"))
    assert not [name for name in os.listdir(root) if "broken" in name]


@pytest.mark.parametrize("version", MADE)
def test_an_index_of_an_older_version_is_migrated_with_all_it_has(tmp_path: Path, version: int) -> None:
    made_by(version, str(tmp_path / "root"))
    sound(str(tmp_path / "root"), tmp_path / "fresh")


MIGRATE = """
import sys
from sightline.disk.sqlite import sqlite3
from sightline.store import Store
class Halting(sqlite3.Connection):
    changed = False
    def execute(self, statement, *values):
        if self.changed and sys.argv[2] == "halt":
            sys.argv[2] = "go"
            print("half", flush=True)
            sys.stdin.readline()
        self.changed = self.changed or statement.split()[0] in ("ALTER", "CREATE", "DROP", "INSERT", "UPDATE")
        return super().execute(statement, *values)
connect = sqlite3.connect
sqlite3.connect = lambda *path, **more: connect(*path, **{**more, "factory": Halting})
with Store(sys.argv[1]) as store:
    store.index.totals()
print("done", flush=True)
"""


@pytest.mark.parametrize("version", MADE)
def test_a_migration_that_is_killed_has_not_happened(tmp_path: Path, python: Python, version: int) -> None:
    root = str(tmp_path / "root")
    made_by(version, root)
    migrating = python(MIGRATE, root, "halt")
    assert migrating.stdout
    assert migrating.stdout.readline() == b"half\n"
    migrating.kill()
    migrating.wait()
    sound(root, tmp_path / "fresh")


def test_two_that_migrate_at_once_wait_for_each_other(tmp_path: Path, python: Python) -> None:
    root = str(tmp_path / "root")
    made_by(MADE[0], root)
    first = python(MIGRATE, root, "halt")
    assert first.stdin
    assert first.stdout
    assert first.stdout.readline() == b"half\n"
    second = python(MIGRATE, root, "go")
    first.stdin.write(b"\n")
    first.stdin.flush()
    assert second.stdout
    assert (first.stdout.readline(), second.stdout.readline()) == (b"done\n", b"done\n")
    sound(root, tmp_path / "fresh")


# what a newer version has added


@pytest.fixture
def newer(store: Store, keep: Keep) -> Buffer:
    """A buffer, a session and a view with more to them than this version knows, in an index that has more, too."""
    buffer = keep(b"one\ntwo\n", session="agent")
    with store.index.transaction():
        record_view(store, AGENT, Shows("run_command", {}, (buffer.name,)), (Segment("one\n"),))
    path = Path(store.layout.meta(buffer.name))
    fields = json.loads(path.read_bytes())
    fields |= {"mood": "calm", "streams": {"out": {**fields["streams"]["out"], "entropy": 1.5}}}
    path.write_text(json.dumps(fields))
    header = {"kind": "session", "session": {**AGENT._asdict(), "name": "newer", "mood": "calm"}}
    with open(store.layout.audit_file("agent")) as file:
        view = {name: value for name, value in json.loads(file.readlines()[1]).items() if name not in log.TIES}
    log.append_all(
        store.layout.audit_file("newer"),
        header,
        [
            log.Encoded.of({**view, "shown": [[buffer.name, "out", 1, 1, "by heart"]], "mood": "calm"}),
            log.Encoded.of({"kind": "glance", "time": 3.0, "at": [1, 2]}),
        ],
    )
    store.close()
    connection = sqlite3.connect(store.layout.index)
    for table in ("buffers", "hashes", "views", "views_of", "sessions", "acks", "notes", "derived", "totals", "logs"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")
    connection.execute("CREATE TABLE moods (name TEXT)")
    connection.execute("UPDATE buffers SET streams = replace(streams, ']', ', 1.5]')")
    connection.execute("""UPDATE views SET record = replace(record, '"verb"', '"mood": "calm", "verb"')""")
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.commit()
    connection.close()
    return buffer


def test_beside_a_newer_version_all_goes_on(store: Store, newer: Buffer) -> None:
    assert [item.buffer.name for item in store.listed(5)] == [newer.name]
    captured = run(store, "seq 3000; echo err >&2")
    assert captured.buffer
    assert captured.buffer.state == "sealed"
    with store.index.transaction():
        record_view(store, AGENT, Shows("query", {}, (newer.name,)), (Segment("two\n"),))
    store.index.put_ack("@ack_1", "{}", "agent", 1.0, 0.0)
    store.index.put_derived(newer.name, "key", "value")
    views = list_views(store)
    assert sorted(indexed.view.id for indexed in views) == ["agent:1", "agent:2", "newer:1"]
    assert {one.first for indexed in views for one in indexed.view.shown} == {1}
    assert rebuild_views(store) == 3
    assert {session.name for session in store.index.sessions()} >= {"agent", "newer"}
    assert wrong(store) == []
    with Store(store.root) as again:
        assert [finding.level for finding in examine(again, rebuild=True) if finding.level == "problem"] == []
        assert {item.buffer.name for item in again.listed(5)} == {newer.name, captured.buffer.name}


def test_what_a_newer_version_has_added_to_a_record_stays(store: Store, newer: Buffer) -> None:
    store.amend(newer.name, pinned=True)
    fields = json.loads(Path(store.layout.meta(newer.name)).read_bytes())
    assert (fields["pinned"], fields["mood"], fields["streams"]["out"]["entropy"]) == (True, "calm", 1.5)
    remove(store, [newer])
    fields = json.loads(Path(store.layout.tombstone(newer.name)).read_bytes())
    assert (fields["reason"], fields["mood"], fields["streams"]["out"]["entropy"]) == ("removed", "calm", 1.5)


# what a newer version has changed


def change_format(store: Store, name: str) -> bytes:
    path = Path(store.layout.meta(name))
    data = json.dumps({"format": FORMAT + 1, "name": name, "all": "else is other"}).encode()
    path.write_bytes(data)
    return data


def test_a_record_of_a_newer_form_is_left_alone_and_named(store: Store, keep: Keep) -> None:
    buffer = keep(b"kept\n")
    data = change_format(store, buffer.name)
    with pytest.raises(OfNewerVersion, match="newer Sightline"):
        store.amend(buffer.name, pinned=True)
    notes = [finding.text for finding in examine(store, rebuild=True) if finding.level == "note"]
    assert any(f"the record of @{buffer.name} was written by a newer Sightline" in note for note in notes)
    assert store.listed(5) == []
    with pytest.raises(OfNewerVersion, match="newer Sightline") as told:
        store.resolve(buffer.ref)
    assert "upgrade" in told.value.hint
    assert Path(store.layout.meta(buffer.name)).read_bytes() == data
    assert Path(store.layout.stream(buffer.name, "out")).read_bytes() == b"kept\n"


def dead_capture(store: Store) -> str:
    recording = store.begin("cmd", "make", "/", "s")
    recording.register()
    recording.append("out", b"so far\n")
    recording.abandon()
    return recording.name


def test_a_capture_that_a_newer_version_left_is_left_to_it(store: Store) -> None:
    name = dead_capture(store)
    data = change_format(store, name)
    assert adopt_dead(store.layout, store.index) == ([], [])
    assert Path(store.layout.meta(name)).read_bytes() == data
    assert os.path.exists(store.layout.marker(name))


def test_a_dead_capture_keeps_its_bytes_though_its_record_is_damaged(store: Store) -> None:
    name = dead_capture(store)
    Path(store.layout.meta(name)).write_bytes(b"")
    assert adopt_dead(store.layout, store.index) == ([], [])
    os.utime(store.layout.folder(name), (1, 1))  # else it could be one that is just being made
    assert any("what could be of it is in a new one" in finding.text for finding in examine(store))
    assert Path(store.layout.stream(name, "out")).read_bytes() == b"so far\n"
    assert store.resolve("@" + name).buffer.state == "interrupted"


def test_lines_of_a_newer_form_in_a_log_are_kept_and_named(store: Store, keep: Keep) -> None:
    buffer = keep(b"one\n", session="agent")
    for text in ("one\n", "two\n"):
        with store.index.transaction():
            record_view(store, AGENT, Shows("run_command", {}, (buffer.name,)), (Segment(text),))
    path = Path(store.layout.audit_file("agent"))
    lines = path.read_text().splitlines()
    lines[1] = lines[1].replace(f'"v":{log.FORMAT}', f'"v":{log.FORMAT + 1}')
    path.write_text("\n".join(lines) + "\n")
    findings = {finding.text: finding.level for finding in examine(store)}
    [told] = [text for text in findings if "agent.jsonl:2 was written by a newer Sightline" in text]
    assert findings[told] == "note"
    assert log.blank(str(path), lambda _: True) == 2
    assert f'"v":{log.FORMAT + 1}' in path.read_text().splitlines()[1]
    assert "one" not in path.read_text()


def log_as_newer(store: Store, name: str, text: list[Any], version: int = log.FORMAT) -> None:
    """Log a view of a buffer as a version would whose texts are other than ours."""
    path = store.layout.audit_file("agent")
    with store.index.transaction():
        record_view(store, AGENT, Shows("run_command", {}, (name,)), (Segment("one\n"),))
    with open(path) as file:
        header, view = (
            {key: value for key, value in entry.items() if key not in log.TIES} for entry in map(json.loads, file)
        )
    Path(path).unlink()
    log.append_all(path, header, [log.Encoded.of({**view, "text": text})])
    first, second = Path(path).read_text().splitlines()
    Path(path).write_text(first + "\n" + second.replace(f'"v":{log.FORMAT},', f'"v":{version},') + "\n")
    store.access.start_anew()
    rebuild_buffers(store.layout, store.index)
    assert rebuild_views(store) == 1


@pytest.mark.parametrize(
    ("pieces", "version"),
    [
        ('[{"of": "another kind"}]', log.FORMAT + 1),
        ('[["@NAME", 1, 1, 99]]', log.FORMAT),
        ('[["@NAME", 1, 1, "csi/99"]]', log.FORMAT),
    ],
    ids=["form", "cleaning", "profile's cleaning"],
)
def test_a_text_that_only_a_newer_version_can_render_is_named_and_stops_nothing(
    store: Store, keep: Keep, pieces: str, version: int
) -> None:
    buffer = keep(b"one\ntwo\n", session="agent")
    log_as_newer(store, buffer.name, json.loads(pieces.replace("NAME", buffer.name)), version)
    [indexed] = list_views(store)
    with pytest.raises(OfNewerVersion, match="newer Sightline"):
        view_text(store, indexed)
    assert wrong(store) == []
    coverage_of(store, buffer)
    assert [call.view.id for call in calls_of(store)] == ["agent:1"]
    assert "newer Sightline" in gather(store, session="agent").calls[0].why
    remove(store, [buffer])
    with pytest.raises((OfNewerVersion, TextGone)):
        view_text(store, indexed)


def test_what_a_newer_version_left_of_a_buffer_is_left_alone_and_named(store: Store, keep: Keep) -> None:
    buffer = keep(b"one\n", session="agent")
    with store.index.transaction():
        record_view(store, AGENT, Shows("run_command", {}, (buffer.name,)), (Segment("one\n"),))
    remove(store, [buffer])
    path = Path(store.layout.tombstone(buffer.name))
    path.write_text(json.dumps({"format": FORMAT + 1, "name": buffer.name, "all": "else is other"}))
    data = path.read_bytes()
    with pytest.raises(OfNewerVersion, match=f"what is left of @{buffer.name} was written by a newer Sightline"):
        store.resolve(buffer.ref)
    with pytest.raises(OfNewerVersion):
        purge_gone(store, [buffer.name])
    assert wrong(store) == []
    assert [finding.level for finding in examine(store, rebuild=True) if finding.level == "problem"] == []
    assert verdict_of(store).gone == 0
    assert path.read_bytes() == data


def test_what_a_newer_version_imported_is_left_to_it(store: Store, tmp_path: Path) -> None:
    path, source = Path(store.layout.imports), TranscriptSource(str(tmp_path / "a"), 1, (1, 2, 3), 1.0)
    path.write_text(json.dumps({"format": 2, "files": [["all", "is", "other"]]}))
    data = path.read_bytes()
    ledger = ImportLedger(store.layout)
    ledger.put(source, set())
    ledger.save()
    assert path.read_bytes() == data
    assert not ImportLedger(store.layout).has(source)


@pytest.fixture
def unusable(store: Store, keep: Keep) -> bytes:
    """An index in which a newer version calls something by another name; what its file holds."""
    keep(b"kept\n")
    store.close()
    connection = sqlite3.connect(store.layout.index)
    connection.execute("ALTER TABLE buffers RENAME COLUMN label TO title")
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return Path(store.layout.index).read_bytes()


def test_an_index_that_only_a_newer_version_can_use_is_left_to_it(store: Store, unusable: bytes) -> None:
    with pytest.raises(OfNewerVersion, match="the index was written by a newer Sightline"):
        store.listed(5)
    captured = run(store, "echo out")
    assert captured.unkept
    assert captured.unkept.out == b"out\n"
    assert "newer Sightline" in str(captured.unkept.error)
    assert Path(store.layout.index).read_bytes() == unusable
    assert not [name for name in os.listdir(store.root) if "broken" in name]


# what version 0.1.0 knew of buffers that are not whole


@pytest.mark.parametrize(
    ("note", "partial", "rest", "gaps"),
    [
        ("partial: cut by Claude Code", "cut by Claude Code", "", ()),
        ("merged; partial: cut by Claude Code", "cut by Claude Code", "merged", ()),
        ("the tool reported an error; partial: cut by Codex", "cut by Codex", "the tool reported an error", ()),
        ("partial: lines 3-9 of 20; the tool reported an error", "lines 3-9 of 20", "the tool reported an error", ()),
        (
            "merged; dropped past max_stream_bytes: 1,234 B of out; redacted: 2",
            "dropped past max_stream_bytes",
            "merged; redacted: 2",
            (Gap("out", 1, 1234, "bytes"),),
        ),
        ("merged; cut by filter", "", "merged; cut by filter", ()),
    ],
)
def test_what_an_older_version_noted_of_a_buffer_that_is_not_whole_is_read_as_partial(
    note: str, partial: str, rest: str, gaps: tuple[Gap, ...], tmp_path: Path
) -> None:
    root = str(tmp_path / "root")
    with Store(root) as store:
        recording = store.begin("cmd", "make", "/", "s")
        recording.append("out", b"hello\n")
        buffer = recording.seal(exit_code=1)
        meta = Path(store.layout.meta(buffer.name))
        fields = json.loads(meta.read_text())
        del fields["partial"], fields["gaps"]
        meta.write_text(json.dumps({**fields, "note": note}))
        store.index._db.execute("UPDATE buffers SET note = ?", (note,))
    for rebuilt in (False, True):
        if rebuilt:
            os.remove(os.path.join(root, "index.sqlite"))
        with Store(root) as store:
            read = store.resolve(buffer.ref).buffer
            assert (read.partial, read.note, read.gaps, read.is_partial) == (partial, rest, gaps, bool(partial))


def test_an_older_version_finds_in_the_note_that_a_buffer_is_partial(tmp_path: Path) -> None:
    with Store(str(tmp_path / "root")) as store:
        recording = store.begin("cmd", "make", "/", "s")
        recording.append("out", b"1\n2\n")
        gaps = (Gap("out", 1, 7, "characters"), Gap("out", 2))
        buffer = recording.seal(exit_code=1, note="merged", partial="cut by Claude Code", gaps=gaps)
        fields = json.loads(Path(store.layout.meta(buffer.name)).read_text())
        assert fields["note"] == "partial: cut by Claude Code; merged"
        assert store.index._db.row("SELECT note FROM buffers") == (fields["note"],)
        assert read_meta(store.layout, buffer.name)._replace(accessed=buffer.accessed) == buffer
        assert store.index.buffer(buffer.name) == buffer
