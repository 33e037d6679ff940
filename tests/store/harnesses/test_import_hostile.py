"""Transcripts that are damaged, or made to do harm: they are read as far as they can be, and reach nothing else."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.agents.past_sessions.importer import Importer
from sightline.harnesses import transcript
from sightline.harnesses.formats import find_sources
from sightline.settings.config import Settings
from sightline.store import Store
from tests.examples import examples
from tests.store.harnesses.past_kit import HARNESSES, Claude, Import, buffers, line, read, recorded, views, write_lines

CALLS = 6


def _lines() -> list[bytes]:
    claude = Claude()
    return [line(record) for number in range(CALLS) for record in claude.ran(number, f"output {number}\n")]


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
_DAMAGE = st.one_of(
    st.binary(max_size=60).map(lambda data: data.replace(b"\n", b"") + b"\n"),
    _VALUES.map(line),
    st.builds(
        lambda kind, value, name: line({"type": kind, "sessionId": "5e551011", name: value}),
        st.sampled_from(["user", "assistant", "system", "nonsense"]),
        _VALUES,
        st.sampled_from(["message", "toolUseResult", "timestamp", "cwd", "uuid"]),
    ),
    st.builds(
        lambda content: line({"type": "user", "sessionId": "5e551011", "message": {"content": content}}), _VALUES
    ),
)


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damage=_DAMAGE, at=st.integers(1, 2 * CALLS))
def test_no_damaged_line_keeps_the_others_from_coming(
    tmp_path_factory: pytest.TempPathFactory, damage: bytes, at: int
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    lines = _lines()
    path = write_lines(folder / "s.jsonl", *lines[:at], damage, *lines[at:])
    with Store(str(folder / "store"), Settings()) as store:
        Importer(store).run(find_sources(str(path)))
        assert {f"output {number}\n".encode() for number in range(CALLS)} <= {
            read(store, buffer) for buffer in buffers(store) if buffer.kind == "cmd"
        }


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("harness", [name for name in HARNESSES if name != "opencode"])
def test_no_change_of_a_recorded_line_is_fatal(
    tmp_path_factory: pytest.TempPathFactory, harness: str, data: st.DataObject
) -> None:
    """A value anywhere in a record is another one; everything but that line's call comes."""
    folder = tmp_path_factory.mktemp("changed")
    path = max(recorded(harness, folder).rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    lines = path.read_bytes().splitlines(keepends=True)
    at = data.draw(st.integers(1, len(lines) - 1))
    record = json.loads(lines[at])
    _change(record, data)
    path.write_bytes(b"".join([*lines[:at], line(record), *lines[at + 1 :]]))
    with Store(str(folder / "store"), Settings()) as store:
        importer = Importer(store)
        importer.run(find_sources(str(path)))
        whole = {"claude-code": 11, "codex": 6, "gemini": 10}[harness]
        assert importer.counts.calls >= whole - 3


def _change(value: Any, data: st.DataObject) -> None:
    """Replace a value somewhere below."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = data.draw(st.sampled_from(keys))
    if isinstance(value[key], dict | list) and value[key] and data.draw(st.booleans()):
        _change(value[key], data)
    else:
        value[key] = data.draw(_VALUES)


def test_damaged_and_unknown_records_are_told_with_their_lines(imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    unknown = {"type": "brand-new", "sessionId": "5e551011", "message": {}}
    aside = {"type": "file-history-delta", "messageId": "m", "snapshotMessageId": "n", "trackingPath": "/a"}
    path = write_lines(
        tmp_path / "s.jsonl",
        *claude.ran(1, "one\n"),
        b'{"type": "us\n',
        unknown,
        b"[1]\n",
        b"\xff\xfe\n",
        b"\n",
        aside,
    )
    importer = imported(path)
    assert [(told.line, told.text) for told in importer.troubles] == [
        (3, "not JSON"),
        (4, "a record of an unknown sort: 'brand-new'"),
        (5, "not a JSON object"),
        (6, "not JSON"),
    ]
    assert {told.path for told in importer.troubles} == {str(path)}
    assert (importer.counts.calls, importer.counts.damaged, importer.counts.unknown) == (1, 3, 1)


def test_what_is_nested_too_deeply_is_told(imported: Import, tmp_path: Path) -> None:
    deep = b'{"type":"user","sessionId":"x","message":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    importer = imported(write_lines(tmp_path / "s.jsonl", *Claude().ran(1, "one\n"), deep))
    assert importer.counts.calls == 1
    assert [told.text for told in importer.troubles] == [transcript.TOO_DEEP]


def test_a_line_that_never_ends_is_not_held(imported: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "LINE_BYTES", 1 << 16)
    claude = Claude()
    path = write_lines(tmp_path / "s.jsonl", *claude.ran(1, "one\n"), b"x" * 300_000 + b"\n", *claude.ran(2, "two\n"))
    importer = imported(path)
    assert importer.counts.calls == 2
    assert [told.line for told in importer.troubles] == [3]


@pytest.mark.parametrize(
    "named",
    [
        "/etc/passwd",
        "../../secret.txt",
        "../secret.txt",
        "tool-results/../../secret.txt",
        "..",
        "",
        "link.txt",
        "folder",
        "pipe",
        "nul\0.txt",
    ],
)
def test_a_path_in_a_transcript_leads_nowhere_else(store: Store, imported: Import, tmp_path: Path, named: str) -> None:
    project = tmp_path / "project"
    kept = project / "5e551011/tool-results"
    kept.mkdir(parents=True)
    for place in (tmp_path, project, kept.parent):
        (place / "secret.txt").write_text("secret")
    (kept / "link.txt").symlink_to(tmp_path / "secret.txt")
    (kept / "folder").mkdir()
    os.mkfifo(kept / "pipe")
    claude = Claude()
    told = {"stdout": "shown", "stderr": "", "persistedOutputPath": named, "persistedOutputSize": 6}
    imported(write_lines(project / "5e551011.jsonl", claude.use(1, "make"), claude.result(1, "shown", told)))
    (buffer,) = buffers(store)
    assert read(store, buffer) == b"shown"
    assert buffer.is_partial == bool(named)


@pytest.mark.parametrize("session", ["../../elsewhere", "..", "/etc", ".", "a/b"])
def test_a_session_s_name_leads_nowhere_else(store: Store, imported: Import, tmp_path: Path, session: str) -> None:
    elsewhere = tmp_path / "elsewhere/tool-results"
    elsewhere.mkdir(parents=True)
    (elsewhere / "a.txt").write_text("secret")
    claude = Claude(session)
    told = {"stdout": "shown", "stderr": "", "persistedOutputPath": "/x/a.txt"}
    path = tmp_path / "projects/one/s.jsonl"
    imported(write_lines(path, claude.use(1, "make"), claude.result(1, "shown", told)))
    (buffer,) = buffers(store)
    assert read(store, buffer) == b"shown"
    assert {path.parent for path in Path(store.root).rglob("*.jsonl")} == {Path(store.layout.audit)}


def test_a_folder_of_results_behind_a_link_is_not_followed(store: Store, imported: Import, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.txt").write_text("secret")
    project = tmp_path / "project"
    (project / "5e551011").mkdir(parents=True)
    (project / "5e551011/tool-results").symlink_to(elsewhere)
    claude = Claude()
    told = {"stdout": "shown", "stderr": "", "persistedOutputPath": "/x/a.txt"}
    imported(write_lines(project / "5e551011.jsonl", claude.use(1, "make"), claude.result(1, "shown", told)))
    assert read(store, buffers(store)[0]) == b"shown"


def test_links_below_a_folder_are_not_transcripts(imported: Import, tmp_path: Path) -> None:
    real = write_lines(tmp_path / "real/s.jsonl", *Claude().ran(1, "one\n"))
    (tmp_path / "given").mkdir()
    (tmp_path / "given/s.jsonl").symlink_to(real)
    assert imported(tmp_path / "given").counts.transcripts == 0


def test_texts_that_no_file_can_hold_are_kept_as_escapes(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    told = {"stdout": "half \udc80 a pair\0\n", "stderr": ""}
    use = claude.use(1, "printf 'a\0b' \udc80", input={"command": "printf 'a\0b' \udc80", "\udcff": ["\udc81"]})
    imported(write_lines(tmp_path / "s.jsonl", use, claude.result(1, "half \udc80 a pair\0", told)))
    (buffer,) = buffers(store)
    assert read(store, buffer) == b"half \\udc80 a pair\0\n"
    assert "\0" not in buffer.command
    assert [text for _, text in views(store)] == ["half \\udc80 a pair\0"]


def test_an_id_that_comes_twice_is_one_call(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    first = claude.ran(1, "first\n")
    importer = imported(write_lines(tmp_path / "s.jsonl", *first, *first, *claude.ran(1, "again\n")))
    assert [read(store, buffer) for buffer in buffers(store)] == [b"first\n"]
    assert importer.counts.known == 2


def test_a_clock_that_went_backwards_does_no_harm(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    use, result = claude.ran(1, "one\n")
    result["timestamp"] = "1999-01-01T00:00:00.000Z"
    odd = claude.ran(2, "two\n")
    odd[1]["timestamp"] = "not a time"
    imported(write_lines(tmp_path / "s.jsonl", use, result, *odd))
    assert len(buffers(store)) == 2
    assert all(buffer.ended and buffer.ended >= buffer.created for buffer in buffers(store))


def test_a_result_without_its_call_is_kept_all_the_same(store: Store, imported: Import, tmp_path: Path) -> None:
    imported(write_lines(tmp_path / "s.jsonl", Claude().result(1, "of nobody knows what")))
    (buffer,) = buffers(store)
    assert (buffer.kind, buffer.command) == ("tool", "tool")


def test_files_that_are_no_transcripts_are_counted(imported: Import, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"model": "x"}')
    (tmp_path / "tool.json").write_text('[{"type": "text", "text": "a result"}]')
    (tmp_path / "log.jsonl").write_text('{"level": "info"}\n')
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    counts = imported(tmp_path).counts
    assert (counts.transcripts, counts.foreign, counts.damaged) == (0, 3, 1)


def test_a_database_that_only_looks_like_one_of_opencode_s_is_none(imported: Import, tmp_path: Path) -> None:
    """A view can compute for ever, and one of another program has other tables."""
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS session_id FROM n"
    for name, statement in (("endless", f"CREATE VIEW part AS {endless}"), ("other", "CREATE TABLE x (y)")):
        with sqlite3.connect(tmp_path / f"{name}.db") as database:
            database.execute(statement)
            database.execute("CREATE TABLE session (id)")
        database.close()
    assert imported(tmp_path).counts.foreign == 2


@pytest.mark.parametrize("data", ["not JSON", "[]", '{"type": "tool"}', '{"type": "tool", "state": []}'])
def test_a_damaged_part_of_a_database_keeps_no_other_from_coming(imported: Import, tmp_path: Path, data: str) -> None:
    place = recorded("opencode", tmp_path)
    with sqlite3.connect(place / "opencode.db") as database:
        database.execute("UPDATE part SET data = ? || '\"tool\"' WHERE data LIKE '%exit 3%'", (data,))
    database.close()
    importer = imported(place)
    assert importer.counts.calls == 8
    assert importer.counts.damaged == 1
    assert "prt_" in importer.troubles[0].text


def test_numbers_that_no_table_holds_are_left_out(store: Store, imported: Import, tmp_path: Path) -> None:
    stamp = "2026-01-01T00:00:00Z"
    call = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "x"}', "call_id": "c" * 5000}
    item = {"type": "CommandExecution", "id": "c" * 5000, "aggregated_output": "x", "exit_code": 10**30}
    shown = {"type": "function_call_output", "call_id": "c" * 5000, "output": "x"}
    path = write_lines(
        tmp_path / "rollout.jsonl",
        {"timestamp": stamp, "type": "session_meta", "payload": {"id": "i" * 9000, "cwd": "/" + "d" * 9000}},
        {"timestamp": stamp, "type": "response_item", "payload": call},
        {"timestamp": stamp, "type": "event_msg", "payload": {"type": "item_completed", "item": item}},
        {"timestamp": "0001-01-01T00:00:00Z", "type": "response_item", "payload": shown},
    )
    assert imported(path).counts.calls == 1
    (buffer,) = buffers(store)
    assert buffer.exit_code is None
    assert buffer.ended == buffer.created == 1767225600.0
    assert max(len(buffer.artifact), len(buffer.session)) <= 200
    Path(store.layout.imports).unlink()
    assert imported(path).counts.known == 1
