"""Runs over what was imported before: only what is new comes, whatever has happened to the transcript or the store."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.past_sessions.follower import Follower
from sightline.agents.past_sessions.importer import Importer
from sightline.audit.accounting import alone_of
from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer, Session
from sightline.harnesses.formats import find_sources
from sightline.log.repair import rebuild_index
from sightline.log.retention import enforce_limits, remove, remove_session
from sightline.log.views import Shows, record_view
from sightline.settings.config import Settings
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.store.harnesses.past_kit import Claude, Import, buffers, line, read, views, write_lines

OLD = 1_700_000_000


def _outputs(store: Store) -> list[bytes]:
    return [read(store, buffer) for buffer in buffers(store) if buffer.state == "sealed"]


def test_of_a_transcript_that_grew_only_the_new_calls_come(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    path = write_lines(tmp_path / "s.jsonl", *claude.ran(1, "one\n"))
    imported(path)
    with path.open("ab") as file:
        file.write(b"".join(map(line, claude.ran(2, "two\n"))))
    counts = imported(path).counts
    assert (counts.calls, counts.known) == (1, 1)
    assert _outputs(store) == [b"one\n", b"two\n"]
    assert len(views(store)) == 2


def test_a_line_that_is_being_written_waits_for_its_end(store: Store, imported: Import, tmp_path: Path) -> None:
    use, result = map(line, Claude().ran(1, "one\n"))
    path = write_lines(tmp_path / "s.jsonl", use, result[:-20])
    counts = imported(path).counts
    assert (counts.calls, counts.damaged) == (0, 0)
    write_lines(path, use, result)
    assert imported(path).counts.calls == 1


def test_a_line_that_nobody_will_end_is_told(store: Store, imported: Import, tmp_path: Path) -> None:
    use, result = map(line, Claude().ran(1, "one\n"))
    path = write_lines(tmp_path / "s.jsonl", use, result, use[:-20])
    os.utime(path, (OLD, OLD))
    importer = imported(path)
    assert [(told.line, told.text) for told in importer.troubles] == [(3, "the line ends in the middle")]
    assert importer.counts.calls == 1
    assert imported(path).counts.unchanged == 1


def test_a_transcript_that_was_rotated_or_moved_brings_nothing_twice(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    claude = Claude()
    path = write_lines(tmp_path / "s.jsonl", *claude.ran(1, "one\n"))
    imported(path)
    path.rename(tmp_path / "s.old.jsonl")
    write_lines(path, *claude.ran(2, "two\n"))
    assert imported(tmp_path).counts.calls == 1
    assert sorted(_outputs(store)) == [b"one\n", b"two\n"]


@pytest.mark.parametrize("reason", ["evicted", "removed", "purged", "session"])
def test_what_went_does_not_come_back(store: Store, imported: Import, tmp_path: Path, reason: str) -> None:
    claude = Claude()
    path = write_lines(tmp_path / "s.jsonl", *claude.ran(1, "one\n"))
    imported(path)
    (buffer,) = buffers(store)
    if reason == "evicted":
        store.remove(buffer, "evicted")
    elif reason == "session":
        (session,) = store.index.sessions()
        remove_session(store, session)
    else:
        remove(store, [buffer], purge=reason == "purged")
    with path.open("ab") as file:
        file.write(b"".join(map(line, claude.ran(2, "two\n"))))
    counts = imported(path).counts
    assert (counts.calls, counts.known) == (1, 1)
    assert _outputs(store) == [b"two\n"]


def test_an_index_made_anew_knows_what_was_imported(store: Store, imported: Import, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", *Claude().ran(1, "one\n"))
    imported(path)
    store.close()
    Path(store.layout.index).unlink()
    Path(store.layout.imports).unlink()
    assert imported(path).counts.known == 1
    assert _outputs(store) == [b"one\n"]


def test_a_call_that_was_recorded_as_it_happened_does_not_come(store: Store, imported: Import, tmp_path: Path) -> None:
    session = Session("claude-code-5e551011", "claude-code", "5e551011", "claude-code 2.1.329", "/", 1.0)
    use = "01Abcdefghijklmnopqrst"
    request = {"command": "./step", "caller": {"tool_use": f"toolu_{use}"}}
    record_view(store, session, Shows("run_command", request), [Segment("one")])
    claude = Claude()
    counts = imported(write_lines(tmp_path / "s.jsonl", *claude.ran(use, "one\n"), *claude.ran(2, "two\n"))).counts
    assert (counts.calls, counts.known) == (1, 1)
    assert [view.number for view, _ in views(store)] == [1, 2]
    assert store.index.session("claude-code-5e551011") == session


@pytest.mark.parametrize(("late", "calls"), [(0.0, 1), (3600.0, 3)])
def test_a_call_that_was_recorded_without_an_id_does_not_come_either(
    late: float, calls: int, store: Store, imported: Import, tmp_path: Path
) -> None:
    """Hooks of Gemini CLI are told none: such a call is known by its tool, its command and its time."""
    session = Session("gemini-5e55", "gemini", "5e55", "", "/", 1.0)
    caller = {"client": "gemini", "harness_session": "5e55"}
    for command in ("make", "make", "other"):
        request = {"tool": "run_shell_command", "command": command, "caller": caller}
        record_view(store, session, Shows("tool", request), [Segment("one")])
    result = [{"functionResponse": {"response": {"output": "one"}}}]
    stamp = datetime.fromtimestamp(time.time() + late, UTC).isoformat()
    made = {"name": "run_shell_command", "args": {"command": "make"}, "result": result, "timestamp": stamp}
    tools = [{**made, "id": f"run_shell_command_{number}", "status": "success"} for number in range(3)]
    header = {"sessionId": "5e55", "projectHash": "abc", "startTime": stamp}
    path = write_lines(tmp_path / "p/chats/s.jsonl", header, {"id": "m", "type": "gemini", "toolCalls": tools})
    assert imported(path).counts.calls == calls
    os.unlink(store.layout.imports)  # it is read again
    assert imported(path).counts.calls == 0


def test_calls_of_a_session_that_was_forked_come_once(store: Store, imported: Import, tmp_path: Path) -> None:
    """The fork begins with the lines of the first session, under its own name and with the same ids."""
    first, fork = Claude("5e551011"), Claude("5e552022")
    write_lines(tmp_path / "5e551011.jsonl", *first.ran(1, "one\n"))
    write_lines(tmp_path / "5e552022.jsonl", *fork.ran(1, "one\n"), *fork.ran(2, "two\n"))
    assert imported(tmp_path).counts.calls == 2
    assert sorted(_outputs(store)) == [b"one\n", b"two\n"]


def test_calls_that_sightline_itself_answered_are_left_to_its_log(imported: Import, tmp_path: Path) -> None:
    response = [{"functionResponse": {"response": {"output": "seen"}}}]
    call = {"id": "1", "name": "mcp_sightline_run_command", "args": {"command": "x"}, "result": response}
    message = {"id": "m", "type": "gemini", "toolCalls": [{**call, "status": "success"}]}
    header = {"sessionId": "5e55", "projectHash": "abc", "startTime": "2026-01-01T00:00:00Z"}
    counts = imported(write_lines(tmp_path / "p/chats/session.jsonl", header, message)).counts
    assert (counts.calls, counts.own) == (0, 1)


def test_where_capturing_is_off_nothing_is_imported(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", *Claude(cwd="/private/work").ran(1, "one\n"))
    with Store(str(tmp_path / "store"), Settings(capture_off=("/private",))) as store:
        importer = Importer(store)
        assert importer.run(find_sources(str(path))).off == 1
        assert not buffers(store)
        assert not views(store)


def test_imported_outputs_stand_where_their_time_puts_them(
    store: Store, imported: Import, tmp_path: Path, keep: Any
) -> None:
    now = keep(b"now\n", command="now")
    write_lines(tmp_path / "b.jsonl", *Claude("b0").ran("b", "later\n"))
    claude = Claude("a0")
    early = [
        {**record, "timestamp": f"2025-01-01T00:0{at}:00.000Z"} for at, record in enumerate(claude.ran("a", "early\n"))
    ]
    write_lines(tmp_path / "a.jsonl", *early)
    imported(tmp_path)
    assert [read(store, buffer) for buffer in buffers(store)] == [b"early\n", b"later\n", b"now\n"]
    assert store.resolve("@last").buffer.name == now.name


def test_what_is_over_the_limits_goes_oldest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.agents.past_sessions.importer.SETTLE_BUFFERS", 4)
    for number in range(6):
        claude = Claude(f"session{number}")
        lines = [
            {**record, "timestamp": f"2026-01-0{number + 1}T00:00:{at:02}Z"}
            for step in range(4)
            for at, record in enumerate(claude.ran(f"{number}-{step}", f"{number} {step}\n"))
        ]
        path = write_lines(tmp_path / f"{number}.jsonl", *lines)
        os.utime(path, (OLD + number, OLD + number))
    with Store(str(tmp_path / "store"), Settings(max_buffers=9)) as store:
        importer = Importer(store)
        counts = importer.run(find_sources(str(tmp_path)))
        left = [output.decode().split()[0] for output in _outputs(store)]
        assert sorted(set(left)) == ["3", "4", "5"]
        assert len(left) == 9
        assert counts.left_out == 2
        again = Importer(store).run(find_sources(str(tmp_path)))
        assert again.unchanged == 4


def test_what_was_imported_from_long_ago_stays_when_the_index_is_made_anew(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    """It counts as used when it came: its age is not that of the calls."""
    imported(write_lines(tmp_path / "s.jsonl", *Claude().ran(1, "one\n")))
    kept = [buffer.name for buffer in buffers(store)]
    rebuild_index(store)
    assert enforce_limits(store).evicted == []
    assert [buffer.name for buffer in buffers(store)] == kept != []


def test_a_full_disk_leaves_nothing_half_done(
    store: Store, imported: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_lines(tmp_path / "s.jsonl", *Claude().ran(1, "one\n"))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("sightline.log.log.write_all", full)
        with pytest.raises(StoreFailed):
            imported(path)
    assert not buffers(store)
    assert not os.listdir(store.layout.buffers)
    assert imported(path).counts.calls == 1


def test_a_session_that_goes_on_is_followed(store: Store, tmp_path: Path) -> None:
    claude = Claude()
    use, result = map(line, claude.ran(1, "one\n"))
    path = write_lines(tmp_path / "s.jsonl", use)
    importer = Importer(store)
    importer.run(find_sources(str(tmp_path)))
    follower = Follower(importer, [str(tmp_path)])
    assert follower.catch_up() == 0
    with path.open("ab") as file:
        file.write(result[:30])
        file.flush()
        assert follower.catch_up() == 0
        file.write(result[30:])
        file.flush()
        assert follower.catch_up() == 1
    assert follower.catch_up() == 0
    write_lines(tmp_path / "new/t.jsonl", *Claude("5e552022").ran(2, "two\n"))
    assert follower.catch_up() == 1
    replaced = tmp_path / "other.tmp"
    write_lines(replaced, *Claude().ran(3, "three\n"))
    replaced.replace(path)
    assert follower.catch_up() == 1
    follower.close()
    assert _outputs(store) == [b"one\n", b"two\n", b"three\n"]


def test_what_waits_for_its_end_is_taken_as_it_is_when_all_is_quiet(store: Store, tmp_path: Path) -> None:
    shown = "Process running with session ID 7\nOutput:\nso far\n"
    stamp = datetime.now(UTC).isoformat()
    call = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "serve"}', "call_id": "c"}
    write_lines(
        tmp_path / "rollout.jsonl",
        {"timestamp": stamp, "type": "session_meta", "payload": {"id": "0199", "cwd": "/repo"}},
        {"timestamp": stamp, "type": "response_item", "payload": call},
        {
            "timestamp": stamp,
            "type": "response_item",
            "payload": {"type": "function_call_output", "call_id": "c", "output": shown},
        },
    )
    follower = Follower(Importer(store), [str(tmp_path)])
    assert follower.catch_up() == 0
    assert follower.catch_up(now=time.time() + 3600) == 1
    follower.close()


def test_nothing_is_said_to_be_saved_in_sessions_of_the_past(store: Store, imported: Import, tmp_path: Path) -> None:
    imported(write_lines(tmp_path / "s.jsonl", *Claude().ran(1, "line\n" * 20_000)))
    ((view, _),) = views(store)
    assert alone_of(view, failed=False) is None


def test_limits_hold_after_an_import_as_ever(store: Store, imported: Import, tmp_path: Path) -> None:
    imported(write_lines(tmp_path / "s.jsonl", *Claude().ran(1, "one\n")))
    assert enforce_limits(store).evicted == []  # it is as if it had been used when it was imported
    buffer: Buffer = buffers(store)[0]
    assert buffer.created < time.time() - 3600


@pytest.mark.parametrize("again", ["./two", "./one"])
@pytest.mark.parametrize("by_hook", [False, True])
def test_calls_to_which_a_model_s_server_gave_one_id_come_each_by_itself(
    by_hook: bool, again: str, store: Store, imported: Import, tmp_path: Path
) -> None:
    """It numbers them from 0 in each turn. What a hook has recorded does not come again, and stands for one alone."""
    claude = Claude()
    first, second = claude.ran(0, "one\n", "./one"), claude.ran(0, "two\n", again)
    second = [{**record, "uuid": f"{record['uuid']}-again"} for record in second]
    path = write_lines(tmp_path / "s.jsonl", *first, *second)
    if by_hook:
        caller = {"client": "claude-code", "harness_session": claude.common["sessionId"], "tool_use": "toolu_0"}
        session = Session("claude-code-5e551011", "claude-code", "5e551011", "", "/", OLD)
        shows = Shows(verb="tool", request={"tool": "Bash", "command": again, "caller": caller}, refs=())
        record_view(store, session, shows, (Segment("two"),))
        for records, ago in ((first, 600), (second, 0)):
            for later, record in enumerate(records):
                record["timestamp"] = datetime.fromtimestamp(time.time() - ago + later, UTC).isoformat()
        write_lines(path, *first, *second)
    counts = imported(path).counts
    assert (counts.calls, counts.known) == ((1, 1) if by_hook else (2, 0))
    assert _outputs(store) == ([b"one\n"] if by_hook else [b"one\n", b"two\n"])
    path.write_bytes(path.read_bytes() + line({"type": "user", "uuid": "later"}))
    assert imported(path).counts.calls == 0


def test_calls_that_a_transcript_knows_by_that_id_alone_come_each_by_itself_and_once(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    def item(second: int, **payload: Any) -> dict[str, Any]:
        stamp = f"2026-01-02T00:00:{second:02}.000Z"
        return {"timestamp": stamp, "type": "response_item", "payload": {"call_id": "call_0", **payload}}

    meta = {"type": "session_meta", "timestamp": "2026-01-02T00:00:00.000Z", "payload": {"id": "s1", "cwd": "/"}}
    lines: list[Any] = [meta]
    for second, word in ((1, "one"), (3, "two")):
        arguments = f'{{"cmd": "echo {word}"}}'
        lines.append(item(second, type="function_call", name="exec_command", arguments=arguments))
        output = f"Process exited with code 0\nOutput:\n{word}\n"
        lines.append(item(second + 1, type="function_call_output", output=output))
    path = write_lines(tmp_path / "rollout-s1.jsonl", *lines)
    assert imported(path).counts.calls == 2
    path.write_bytes(path.read_bytes() + line({"type": "world_state", "payload": {}}))
    assert imported(path).counts.calls == 0
    assert [(one.command, read(store, one)) for one in buffers(store)] == [
        ("echo one", b"one\n"),
        ("echo two", b"two\n"),
    ]
