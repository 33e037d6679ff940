"""Sessions that real harnesses wrote: what is imported of them is what their model was sent."""

import hashlib
import json
from pathlib import Path

import pytest

from sightline.base.records import Buffer
from sightline.doors.doctor.doctor import examine
from sightline.store import Store
from tests.store.harnesses.past_kit import HARNESSES, RECORDED, Import, buffers, read, recorded, views

pytestmark = pytest.mark.parametrize("harness", HARNESSES)

SESSIONS = {"claude-code": 2, "codex": 1, "gemini": 1, "opencode": 1}
PARTIAL = {
    "claude-code": {"seq -f 'line %g of many' 1 1800; exit 4", "/home/user/project/notes.txt"},
    "codex": {"seq -f 'line %g of many' 1 3900; exit 4"},
    "gemini": {"/home/user/project/notes.txt"},
    "opencode": {"/home/user/project/notes.txt"},
}
CHANGES = {"claude-code": 2, "codex": 0, "gemini": 1, "opencode": 1}
"""Calls that changed a file, of whose results no buffers are made."""

MORE = {"claude-code": 0, "codex": 1, "gemini": 0, "opencode": 0}
"""Calls that showed more of a command that went on, whose buffer they share."""

MANY = {"claude-code": 1800, "gemini": 2400, "opencode": 2300}


@pytest.fixture
def kept(harness: str, store: Store, imported: Import, tmp_path: Path) -> list[Buffer]:
    """The buffers of a recorded session."""
    importer = imported(recorded(harness, tmp_path))
    assert not importer.troubles
    assert importer.counts.sessions == SESSIONS[harness]
    return buffers(store)


def test_every_view_is_what_the_model_was_sent(harness: str, store: Store, kept: list[Buffer]) -> None:
    shown = json.loads((RECORDED / harness / "seen.json").read_text())["shown"]
    assert sorted(hashlib.sha256(text.encode()).hexdigest() for _, text in views(store)) == sorted(
        one["sha256"] for one in shown
    )
    assert len(kept) == len(shown) - CHANGES[harness] - MORE[harness]


def test_times_and_places_are_those_of_the_session(harness: str, store: Store, kept: list[Buffer]) -> None:
    begun = min(buffer.created for buffer in kept)
    assert all(buffer.ended and begun <= buffer.created <= buffer.ended < begun + 60 for buffer in kept)
    assert all(begun <= view.time < begun + 60 for view, _ in views(store))
    assert {buffer.cwd for buffer in kept} == {"/home/user/project"}
    for session in store.index.sessions():
        assert session.harness == harness
        assert begun - 60 < session.started < begun + 60


def test_commands_have_their_output_and_exit_code(harness: str, store: Store, kept: list[Buffer]) -> None:
    by_command = {buffer.command: buffer for buffer in kept if buffer.kind == "cmd"}
    assert read(store, by_command["echo hello; echo oops >&2"]).split() == [b"hello", b"oops"]
    assert by_command["echo hello; echo oops >&2"].exit_code == 0
    assert {buffer.exit_code for command, buffer in by_command.items() if "exit 3" in command} == {3}


def test_what_was_too_long_to_show_is_there_whole_where_the_harness_kept_it(
    harness: str, store: Store, kept: list[Buffer]
) -> None:
    if harness not in MANY:
        pytest.skip("it keeps no more than 64 KiB")
    (buffer,) = [one for one in kept if one.command == f"seq -f 'line %g of many' 1 {MANY[harness]}"]
    assert read(store, buffer).split(b"\n")[: buffer.lines] == [
        b"line %d of many" % number for number in range(1, MANY[harness] + 1)
    ]
    (view,) = [view for view, _ in views(store) if view.refs == (buffer.name,)]
    assert view.truncated
    assert 100 < view.lines_shown < buffer.lines


def test_what_is_not_whole_says_so(harness: str, kept: list[Buffer]) -> None:
    assert {buffer.command for buffer in kept if buffer.is_partial} == PARTIAL[harness]
    assert all(buffer.partial and "partial" not in buffer.note for buffer in kept if buffer.is_partial)


def test_a_mark_of_the_harness_is_no_line_of_what_a_command_wrote(
    harness: str, store: Store, kept: list[Buffer]
) -> None:
    lines = [line for buffer in kept if "of many" in buffer.command for line in read(store, buffer).splitlines()]
    assert lines
    assert [line for line in lines if b"truncated" in line or b"..." in line or "…".encode() in line] == []


def test_a_second_run_adds_nothing(harness: str, store: Store, imported: Import, tmp_path: Path) -> None:
    place = recorded(harness, tmp_path)
    first = imported(place).counts
    before = buffers(store)
    again = imported(place).counts
    assert (again.calls, again.transcripts, again.unchanged) == (0, 0, first.transcripts)
    assert buffers(store) == before


def test_a_second_run_adds_nothing_though_its_ledger_is_lost(
    harness: str, store: Store, imported: Import, tmp_path: Path
) -> None:
    place = recorded(harness, tmp_path)
    first = imported(place).counts
    Path(store.layout.imports).unlink()
    again = imported(place).counts
    assert (again.calls, again.known) == (0, first.calls)


def test_the_store_is_sound_afterwards(harness: str, store: Store, kept: list[Buffer]) -> None:
    assert {finding.level for finding in examine(store, rebuild=True)} <= {"ok", "note", "mended"}
    assert len(views(store)) == len(kept) + CHANGES[harness] + MORE[harness]
    assert [finding.text for finding in examine(store) if finding.level in ("mended", "problem")] == []


def test_what_a_later_call_showed_of_a_command_was_seen_of_that_command(
    harness: str, store: Store, kept: list[Buffer]
) -> None:
    if not MORE[harness]:
        pytest.skip("no command of it went on after its call")
    (buffer,) = [one for one in kept if one.command == "sleep 3; echo late"]
    (view,) = [view for view, _ in views(store) if json.loads(view.request)["tool"] == "write_stdin"]
    assert view.refs == (buffer.name,)
    assert [(one.first, one.last) for one in (*view.shown, *view.matched)] == [(1, 1)]
    assert not [one for one in kept if "write_stdin" in one.command]


def test_a_short_output_is_known_to_have_been_shown_whole(harness: str, store: Store, kept: list[Buffer]) -> None:
    (buffer,) = [one for one in kept if one.kind == "cmd" and "exit 3" in one.command]
    (view,) = [view for view, _ in views(store) if view.refs == (buffer.name,)]
    assert not view.truncated
    assert sum(one.last - one.first + 1 for one in view.shown) == buffer.lines > 0
    assert view.matched == ()
