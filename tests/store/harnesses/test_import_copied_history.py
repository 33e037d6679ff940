"""Forked, resumed and spawned sessions repeat the history of others: a call counts once, for whoever made it."""

import itertools
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.past_sessions.importer import reading_order
from sightline.harnesses.formats import find_sources
from sightline.log.session_history import events_of
from sightline.store import Store
from tests.store.harnesses.past_kit import LONG_AGO, Claude, Import, Rollout, buffers, views, write_lines
from tests.store.harnesses.test_import_opencode import SESSION, database, part

PARENT, FORK, SPAWNED, GRANDCHILD = (f"0199aaaa-0000-7000-8000-00000000000{place}" for place in range(1, 5))


def _commands(store: Store) -> dict[str, list[str]]:
    """The commands of each session, in the order of their times."""
    made: dict[str, list[str]] = {}
    for one in sorted(buffers(store), key=lambda one: one.created):
        made.setdefault(one.session.rpartition("-")[2].lstrip("0"), []).append(one.command)
    return made


def _family(use: str) -> list[Rollout]:
    """A session of three calls, one forked from it, one that it spawned, and one forked from the fork.

    Short ids are counted in each session; long ones are random.
    """
    own = [use.format(3)] * 3 if len(use) < 10 else [use.format(place) for place in range(11, 14)]
    parent = Rollout(PARENT)
    for place in range(3):
        parent.ran(use.format(place), f"make step{place}", "ok\n")
    parent.said("All three steps went well.")
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    fork = Rollout(FORK, LONG_AGO + 3600, forked_from_id=PARENT).copy(parent).ran(own[1], "make forked")
    spawned = Rollout(SPAWNED, LONG_AGO + 7200, source=spawn).copy(parent).ran(own[2], "make spawned")
    second = Rollout(GRANDCHILD, LONG_AGO + 9000, forked_from_id=FORK).copy(fork).ran(use.format(4), "make second")
    parent.ran(own[0], "make step3")  # it went on after it was forked
    return [parent, fork, spawned, second]


OF_FAMILY = {
    "1": ["make step0", "make step1", "make step2", "make step3"],
    "2": ["make forked"],
    "3": ["make spawned"],
    "4": ["make second"],
}


@pytest.mark.parametrize("use", ["call_{}", "call_{:024}"], ids=["short ids", "long ids"])
def test_rollouts_that_are_read_together_have_each_call_once(
    store: Store, imported: Import, tmp_path: Path, use: str
) -> None:
    for one in _family(use):
        one.write(tmp_path)
    assert imported(tmp_path).counts.calls == 7
    assert _commands(store) == OF_FAMILY
    said = {name: len(events_of(store, f"codex-{name}").messages) for name in (PARENT, FORK, SPAWNED, GRANDCHILD)}
    assert said == {PARENT: 1, FORK: 0, SPAWNED: 0, GRANDCHILD: 0}


@pytest.mark.parametrize("use", ["call_{}", "call_{:024}"], ids=["short ids", "long ids"])
@pytest.mark.parametrize("order", [*itertools.permutations(range(3))], ids=str)
def test_rollouts_that_are_read_one_after_the_other_have_each_call_once(
    store: Store, imported: Import, tmp_path: Path, use: str, order: tuple[int, ...]
) -> None:
    family = _family(use)
    for place in order:
        imported(family[place].write(tmp_path))
    made = {name: sorted(commands) for name, commands in _commands(store).items()}
    assert made == {name: commands for name, commands in OF_FAMILY.items() if name != "4"}


def test_a_copy_that_kept_its_times_counts_once_too(store: Store, imported: Import, tmp_path: Path) -> None:
    parent, fork = Rollout(PARENT).ran("call_1", "make"), Rollout(FORK, LONG_AGO + 3600, forked_from_id=PARENT)
    fork.lines += parent.lines
    fork.now += 9
    fork.ran("call_1", "make").ran("call_2", "ls")  # the first is a new call, though its id and command are the same
    imported(fork.write(tmp_path))
    assert _commands(store) == {"1": ["make"], "2": ["make", "ls"]}
    assert next(view.time for view, _ in views(store)) == LONG_AGO + 1


def test_a_spawned_session_without_copied_history_has_its_own_calls(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    Rollout(PARENT).ran("call_1", "make").write(tmp_path)
    Rollout(SPAWNED, LONG_AGO + 60, source=spawn).ran("call_1", "ls").ran("call_2", "make").write(tmp_path)
    imported(tmp_path)
    assert _commands(store) == {"1": ["make"], "3": ["ls", "make"]}


def _forked(lines: list[dict[str, Any]], session: str, origin: str) -> list[dict[str, Any]]:
    """Lines as a fork repeats them."""
    return [
        {**one, "sessionId": session, "forkedFrom": {"sessionId": origin, "messageUuid": one["uuid"]}} for one in lines
    ]


@pytest.mark.parametrize("order", [(0, 1), (1, 0), None], ids=["origin first", "fork first", "together"])
@pytest.mark.parametrize("has_new_ids", [False, True])
def test_a_fork_of_claude_code_leaves_the_calls_with_their_session(
    store: Store, imported: Import, tmp_path: Path, order: tuple[int, ...] | None, has_new_ids: bool
) -> None:
    claude, fork = Claude("5e551011"), Claude("5e552022")
    shared = [line for place in range(4) for line in claude.ran(place, "ok\n", f"make step{place}")]
    copies = _forked(shared, "5e552022", "5e551011")
    if has_new_ids:
        copies = [{**one, "uuid": f"copy of {one['uuid']}"} for one in copies]
    fork.minute = 600
    paths = (
        write_lines(tmp_path / "5e551011.jsonl", *shared, *claude.ran("of the first", "ok\n", "make more")),
        write_lines(tmp_path / "5e552022.jsonl", *copies, *fork.ran("of the fork", "ok\n", "make forked")),
    )
    for path in [paths[place] for place in order] if order else [tmp_path]:
        imported(path)
    assert _commands(store) == {
        "5e551011": [*(f"make step{place}" for place in range(4)), "make more"],
        "5e552022": ["make forked"],
    }


@pytest.mark.parametrize("newest", ["5e551011", "5e552022"])
def test_a_resumed_session_of_an_older_claude_code_has_only_its_own_calls(
    store: Store, imported: Import, tmp_path: Path, newest: str
) -> None:
    first, resumed = Claude("5e551011"), Claude("5e552022")
    write_lines(tmp_path / "5e551011.jsonl", *first.ran(1, "one\n", "make one"))
    write_lines(tmp_path / "5e552022.jsonl", *resumed.ran(1, "one\n", "make one"), *resumed.ran(2, "two\n", "make two"))
    (tmp_path / f"{newest}.jsonl").touch()
    assert imported(tmp_path).counts.calls == 2
    assert _commands(store) == {"5e551011": ["make one"], "5e552022": ["make two"]}


@pytest.mark.parametrize("parent", ["parentSession", "branchedFrom"])
def test_a_fork_of_pi_and_one_of_opencode_repeat_no_call(
    store: Store, imported: Import, tmp_path: Path, parent: str
) -> None:
    def entry(place: int, **message: Any) -> dict[str, Any]:
        return {"type": "message", "id": f"e{place}", "timestamp": "2026-06-01T10:00:00Z", "message": message}

    def ran(place: int) -> list[dict[str, Any]]:
        call = {"type": "toolCall", "id": f"call{place}", "name": "bash", "arguments": {"command": f"make {place}"}}
        text = [{"type": "text", "text": "ok"}]
        result = entry(
            place + 50, role="toolResult", toolCallId=f"call{place}", toolName="bash", content=text, isError=False
        )
        return [entry(place, role="assistant", content=[call]), result]

    header = {"type": "session", "id": "0199", "timestamp": "2026-06-01T10:00:00Z", "cwd": "/w"}
    origin = write_lines(tmp_path / "pi/2026_0199.jsonl", header, *ran(1))
    forked = {**header, "id": "0200", parent: str(origin)}
    write_lines(tmp_path / "pi/2026_0200.jsonl", forked, *ran(1), *ran(2))
    imported(tmp_path)
    assert _commands(store) == {"199": ["make 1"], "200": ["make 2"]}

    path = database(tmp_path / "opencode.db", part(1, "make", "ok\n"))
    made = sqlite3.connect(path)
    made.execute("INSERT INTO session VALUES ('ses_fork', '/w/app', '1.2.26', 1700000009000)")
    copied = json.dumps(part(1, "make", "ok\n"))
    made.execute("INSERT INTO part VALUES ('prt_9', 'm9', 'ses_fork', 9, 9, ?)", (copied,))
    made.commit()
    made.close()
    imported(path)
    assert [one.session for one in buffers(store) if one.command == "make"] == [f"opencode-{SESSION}"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["origin first", "fork first"])
def test_a_fork_of_qwen_code_leaves_the_calls_with_their_session(
    store: Store, imported: Import, tmp_path: Path, order: tuple[int, int]
) -> None:
    def ran(session: str, place: int, **more: Any) -> list[dict[str, Any]]:
        about = {
            "sessionId": session,
            "timestamp": f"2026-06-01T10:00:0{place}Z",
            "cwd": "/w",
            "version": "0.24.4",
            **more,
        }
        call = {
            "functionCall": {"id": f"call{place}", "name": "run_shell_command", "args": {"command": f"make {place}"}}
        }
        answer = {"functionResponse": {"id": f"call{place}", "name": "run_shell_command", "response": {"output": "ok"}}}
        return [
            {"uuid": f"a{place}", "type": "assistant", "message": {"parts": [call]}, **about},
            {"uuid": f"r{place}", "type": "tool_result", "message": {"parts": [answer]}, **about},
        ]

    copies = ran("0200", 1, forkedFrom={"sessionId": "0199", "messageUuid": "a1"})
    paths = (
        write_lines(tmp_path / "0199.jsonl", *ran("0199", 1)),
        write_lines(tmp_path / "0200.jsonl", *copies, *ran("0200", 2)),
    )
    for place in order:
        imported(paths[place])
    assert _commands(store) == {"199": ["make 1"], "200": ["make 2"]}


def test_transcripts_are_read_newest_first_but_copies_after_their_origins(tmp_path: Path) -> None:
    for place, one in enumerate(_family("call_{}")):
        one.write(tmp_path).rename(tmp_path / f"{place}.jsonl")
    other = write_lines(tmp_path / "4.jsonl", *Claude().ran(1, "ok\n"))
    ordered = [Path(one.path).stem for one in reading_order(find_sources(str(tmp_path)))]
    assert (ordered[0], ordered.index("0") < ordered.index("1") < ordered.index("3")) == (other.stem, True)
