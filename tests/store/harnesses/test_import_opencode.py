"""Sessions of opencode, exported and in its database: both read alike, and no call is taken for another."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sightline.audit.finding_kinds import CUT
from sightline.audit.findings import audited
from sightline.base.project import ALL
from sightline.store import Store
from tests.store.harnesses.past_kit import Import, buffers, read, views

SESSION = "ses_0000000000000000000000000a"
INFO = {
    "id": SESSION,
    "projectID": "p",
    "directory": "/w/app",
    "version": "1.2.26",
    "time": {"created": 1_700_000_000_000},
}
USER = {"role": "user", "time": {"created": 1_700_000_000_000}}
AGENT = {"role": "assistant", "time": {"created": 1_700_000_001_000, "completed": 1_700_000_009_000}}


def part(place: int, command: str, out: str, code: int = 0, **more: str) -> dict[str, Any]:
    """A command that ended."""
    time = {"start": 1_700_000_002_000, "end": 1_700_000_003_000}
    state = {"status": "completed", "input": {"command": command}, "output": out, "time": time}
    state["metadata"] = {"output": out, "exit": code, "truncated": False}
    return {
        "id": f"prt_{place:026}",
        "type": "tool",
        "tool": "bash",
        "callID": f"call_{place:024}",
        "state": state,
        **more,
    }


def text(place: int, words: str) -> dict[str, Any]:
    return {
        "id": f"prt_{place:026}",
        "type": "text",
        "text": words,
        "time": {"start": 1_700_000_004_000, "end": 1_700_000_009_000},
    }


def export(path: Path, *parts: dict[str, Any]) -> Path:
    """What `opencode export` writes."""
    messages = [{"info": USER, "parts": [text(0, "make it")]}, {"info": AGENT, "parts": list(parts)}]
    path.write_text(json.dumps({"info": INFO, "messages": messages}))
    return path


def database(path: Path, *parts: dict[str, Any]) -> Path:
    """The same session in opencode's database."""
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE session (id, directory, version, time_created)")
    made.execute("CREATE TABLE message (id, session_id, data)")
    made.execute("CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data)")
    made.execute("INSERT INTO session VALUES (?, '/w/app', '1.2.26', 1700000000000)", (SESSION,))
    for name, about in (("m1", USER), ("m2", AGENT)):
        made.execute("INSERT INTO message VALUES (?, ?, ?)", (name, SESSION, json.dumps(about)))
    for at, one in enumerate((text(0, "make it"), *parts)):
        row = (one["id"], "m2" if at else "m1", SESSION, at, at, json.dumps({**one, "id": None}))
        made.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    made.commit()
    made.close()
    return path


def _told(store: Store) -> list[tuple[Any, ...]]:
    outputs = [
        (one.command, one.cwd, one.exit_code, one.created, one.session, read(store, one)) for one in buffers(store)
    ]
    return [*outputs, *((view.request, shown) for view, shown in views(store))]


def test_an_exported_session_is_read_as_the_one_in_the_database(store: Store, imported: Import, tmp_path: Path) -> None:
    parts = (part(1, "make", "ok\n"), text(2, "It builds."), part(3, "make test", "1 failed\n", 2))
    assert imported(export(tmp_path / "session.json", *parts)).counts.calls == 2
    told = _told(store)
    assert [one[:3] for one in told[:2]] == [("make", "/w/app", 0), ("make test", "/w/app", 2)]
    again = imported(database(tmp_path / "opencode.db", *parts)).counts
    assert (again.calls, again.known) == (0, 2)
    assert _told(store) == told


def test_calls_that_share_an_id_are_told_apart_by_their_parts(store: Store, imported: Import, tmp_path: Path) -> None:
    for place, word in enumerate(("REDACTED", "a-word-that-stands-for-every-id")):
        parts = (part(at, f"make {word} {at % 2}", f"{at}\n", callID=word) for at in range(4))
        path = export(tmp_path / f"{place}.json", *parts)
        path.write_text(path.read_text().replace("ses_0", f"ses_{place}").replace("prt_0", f"prt_{place}"))
        assert imported(path).counts.calls == 4
        assert imported(path).counts.calls == 0
    assert len(buffers(store)) == len(views(store)) == 8


def test_sessions_whose_ids_are_one_word_are_told_apart_by_their_files(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    for place in range(3):
        one = part(1, "make", f"{place}\n", id="REDACTED", callID="REDACTED")
        path = export(tmp_path / f"{place}.json", one)
        path.write_text(path.read_text().replace(SESSION, "REDACTED"))
    for _ in range(2):
        imported(tmp_path)
    assert sorted(read(store, one) for one in buffers(store)) == [b"0\n", b"1\n", b"2\n"]
    assert len(store.index.sessions()) == 3


def test_parts_whose_own_ids_are_one_word_are_told_apart_by_their_place(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    path = export(
        tmp_path / "one.json", *(part(at, "make", "ok\n", id="REDACTED", callID="REDACTED") for at in range(3))
    )
    assert imported(path).counts.calls == 3
    path.write_text(path.read_text() + " ")
    assert imported(path).counts.known == 3
    assert len(buffers(store)) == 3


def _cut(lines: int, shown: int, **more: Any) -> tuple[dict[str, Any], str]:
    """A command whose reply was cut to its last lines, and its whole output, of which no file is left."""
    out = "".join(f"line {at} of a long output\n" for at in range(lines))
    ran = part(1, "npm test", "...output truncated...\n\nFull output saved to: /gone/tool-output/tool_a\n\n")
    ran["state"]["output"] += "".join(out.splitlines(keepends=True)[-shown:])
    preview = out if len(out) < 30_000 else f"...\n\n{out[-30_000:]}"
    ran["state"]["metadata"] = {"output": preview, "exit": 1, "truncated": True, "outputPath": "/gone/tool_a", **more}
    return ran, out


def test_of_a_cut_reply_and_its_preview_the_longer_one_is_the_output(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    ran, out = _cut(3000, 2000)
    imported(export(tmp_path / "a.json", ran))
    (made,) = buffers(store)
    assert read(store, made).decode() == "".join(out.splitlines(keepends=True)[-2000:])
    assert made.partial
    assert [(one.after, one.missing) for one in made.gaps] == [(0, None)]
    ((view, _),) = views(store)
    assert [(one.first, one.last) for one in (*view.shown, *view.matched)] == [(1, 2000)]


def test_a_preview_below_its_limit_is_the_whole_output(store: Store, imported: Import, tmp_path: Path) -> None:
    ran, out = _cut(500, 20)
    imported(export(tmp_path / "a.json", ran))
    (made,) = buffers(store)
    assert (read(store, made).decode(), made.partial) == (out, "")
    ((view, _),) = views(store)
    assert [(one.first, one.last) for one in view.matched] == [(481, 500)]


def test_a_long_output_that_was_shown_whole_is_no_preview(store: Store, imported: Import, tmp_path: Path) -> None:
    out = "".join(f"line {at} of a long output\n" for at in range(1200))
    ran = part(1, "npm test", out)
    ran["state"]["metadata"]["output"] = f"...\n\n{out[-30_000:]}"
    imported(export(tmp_path / "a.json", ran))
    (made,) = buffers(store)
    assert (read(store, made).decode(), made.partial) == (out, "")


@pytest.mark.parametrize(
    ("why", "failed"),
    [
        ("shell tool terminated command after exceeding timeout 600000 ms. If", True),
        ("User aborted the command", False),
    ],
)
def test_a_command_that_opencode_ended_has_failed_if_it_took_too_long(
    store: Store, imported: Import, tmp_path: Path, why: str, failed: bool
) -> None:
    ran = part(1, "brew install x", f"one\n\n\n<shell_metadata>\n{why}\n</shell_metadata>")
    ran["state"]["metadata"] = {"output": "one\n", "exit": None}
    imported(export(tmp_path / "a.json", ran))
    (made,) = buffers(store)
    assert (read(store, made), made.timed_out, made.failed) == (b"one\n", failed, failed)


@pytest.mark.parametrize("told", ["/gone/tool-output/tool_a", "/gone/tool-output/REDACTED"])
@pytest.mark.parametrize("lines", [3000, 300], ids=["kept in part", "kept whole"])
def test_a_cut_output_was_read_again_where_its_file_was(
    store: Store, imported: Import, tmp_path: Path, told: str, lines: int
) -> None:
    ran, _ = _cut(lines, 100, outputPath=told)
    head = part(2, "", "1: the cause\n")
    head |= {"tool": "read", "state": {**head["state"], "metadata": {}}}
    head["state"]["input"] = {"filePath": "/gone/tool-output/tool_a", "offset": 1, "limit": 80}
    imported(export(tmp_path / "a.json", ran, head))
    made, reading = buffers(store)
    assert [view.refs for view, _ in views(store)] == [(made.name,), (made.name, reading.name)]
    assert read(store, reading, "part.0") == b"1: the cause\n"
    assert [one for one in audited(store, ALL).found if one.kind == CUT] == []
