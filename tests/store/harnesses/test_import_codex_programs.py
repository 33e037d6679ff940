"""Programs of Codex' models whose commands stand in no record but the program itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.audit.evidence.session_evidence import evidence_of
from sightline.harnesses.codex_program import calls_in, results_in
from sightline.store import Store
from tests.store.harnesses.past_kit import Import, Rollout, buffers, read, views

SESSION = "0199aaaa-0000-7000-8000-000000000002"
DONE = "Script completed\nWall time 0.1 seconds\nOutput:\n"


class Programs(Rollout):
    """A rollout whose commands are run by programs."""

    def program(self, use: str, text: str, *blocks: str) -> "Programs":
        """Add a program, and the blocks of its result; without blocks it goes on in cell 7."""
        self.lines.append(self.line("response_item", type="custom_tool_call", name="exec", input=text, call_id=use))
        return self._answer("custom_tool_call_output", use, blocks)

    def waited(self, use: str, *blocks: str) -> "Programs":
        """Add a call that waits for cell 7."""
        about = {"name": "wait", "arguments": json.dumps({"cell_id": "7"}), "call_id": use}
        self.lines.append(self.line("response_item", type="function_call", **about))
        return self._answer("function_call_output", use, blocks)

    def asked_more(self, use: str, number: int, result: str) -> "Programs":
        """Add a call without a program that asks for more of a command."""
        about = {"name": "write_stdin", "arguments": json.dumps({"session_id": number}), "call_id": use}
        self.lines.append(self.line("response_item", type="function_call", **about))
        self.now += 1
        self.lines.append(self.line("response_item", type="function_call_output", call_id=use, output=result))
        return self

    def _answer(self, kind: str, use: str, blocks: tuple[str, ...]) -> "Programs":
        self.now += 1
        output: Any = [{"type": "input_text", "text": text} for text in (DONE, *blocks)]
        running = "Script running with cell ID 7\nWall time 10.0 seconds\nOutput:\n"
        self.lines.append(self.line("response_item", type=kind, call_id=use, output=output if blocks else running))
        return self


def test_commands_of_programs_have_what_these_showed_of_them(store: Store, imported: Import, tmp_path: Path) -> None:
    both = """const rs = await Promise.all([
      tools.exec_command({cmd:"make lint", workdir:"/repo/sub"}), tools.exec_command({"cmd":'make test | tee "a b"'})
    ]); rs.forEach((r,i)=>text(`---${i+1}---\\n${r.output}\\nexit=${r.exit_code}`))"""
    rollout = Programs(SESSION).program("c1", both, "---1---\nclean\n\nexit=0", "---2---\n1 failed\n\nexit=2")
    imported(
        rollout.program("c2", "const r = await tools.exec_command({cmd: `ls`}); text(r.output)", "a\n").write(tmp_path)
    )
    made = {one.command: one for one in buffers(store) if one.kind == "cmd"}
    assert [(one.command, one.exit_code, read(store, one)) for one in made.values()] == [
        ("make lint", 0, b"clean\n"),
        ('make test | tee "a b"', 2, b"1 failed\n"),
        ("ls", None, b"a\n"),
    ]
    assert (made["make lint"].cwd, made["ls"].cwd) == ("/repo/sub", "/repo")
    assert not any(one.partial for one in made.values())
    assert len(views(store)) == 2


def test_a_command_that_outlives_its_program_ends_in_a_later_one(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    went_on, ended = ({"session_id": 5, "output": "1 ok\n"}, {"exit_code": 3, "output": "2 failed\n"})
    rollout = Programs(SESSION).program("c1", 'text(JSON.stringify(await tools.exec_command({cmd:"make"})))')
    rollout.waited("c2", json.dumps(went_on))
    rollout.program(
        "c3", "const r=await tools.write_stdin({session_id:5,chars:''});text(JSON.stringify(r))", json.dumps(ended)
    )
    imported(rollout.write(tmp_path))
    (made,) = (one for one in buffers(store) if one.kind == "cmd")
    assert (made.exit_code, read(store, made), made.partial) == (3, b"1 ok\n2 failed\n", "")
    shown = [(one.first, one.last) for view, _ in views(store) for one in view.shown if one.buffer == made.name]
    assert shown == [(1, 2)]


def test_a_command_that_outlives_its_program_ends_in_a_call_without_a_program(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    went_on = json.dumps({"session_id": 5, "output": "1 ok\n"})
    rollout = Programs(SESSION).program("c1", 'text(JSON.stringify(await tools.exec_command({cmd:"make"})))', went_on)
    rollout.asked_more("c2", 5, "Process running with session ID 5\nOutput:\n")
    rollout.asked_more("c3", 5, "Process exited with code 2\nOutput:\n2 failed\n")
    imported(rollout.write(tmp_path))
    (made,) = (one for one in buffers(store) if one.kind == "cmd")
    assert (made.exit_code, read(store, made), made.partial) == (2, b"1 ok\n2 failed\n", "")
    assert [made.name in view.refs for view, _ in views(store)] == [True] * 3  # so that each reply is about it


def test_a_command_whose_output_stands_between_others_is_known_to_have_run(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    text = 'const a=await tools.exec_command({cmd:"x"}), b=await tools.exec_command({cmd:"y"}); text(a.output+b.output)'
    imported(Programs(SESSION).program("c1", text, "one\ntwo\n").write(tmp_path))
    assert [(one.command, one.exit_code, bool(one.partial), one.lines) for one in buffers(store)][1:] == [
        ("x", None, True, 0),
        ("y", None, True, 0),
    ]


def test_a_claim_rests_on_tests_that_a_program_ran_and_not_on_what_its_patch_changed_since(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    patched = json.dumps("*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch")
    patch = f"const patch = {patched};\ntext(await tools.apply_patch(patch));"
    run = "const r = await tools.exec_command({cmd:'pytest'}); text(r.output)"
    rollout = Programs(SESSION).program("c1", run, "==== 3 passed in 0.1s ====\n")
    for use, words in enumerate(("All tests pass.", "The tests all pass.")):
        rollout.now += 1
        rollout.said(words).program(f"p{use}", patch, "{}")
    imported(rollout.write(tmp_path))
    (session,) = store.index.sessions()
    found = evidence_of(store, session)
    assert [one.verdict for one in found.claims] == ["supported", "stale"]
    assert {one.path for one in found.edits} == {"/repo/src/a.py"}


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_command_line_in_a_program_is_read_as_json_has_it(command: str, folder: str) -> None:
    program = f"const r = await tools.exec_command({{cmd:{json.dumps(command)},workdir:{json.dumps(folder)}}});"
    ((tool, arguments),) = calls_in(program)
    assert tool == "exec_command"
    assert json.dumps(arguments) == json.dumps({"cmd": command, "workdir": folder}) or not command.isascii()


@pytest.mark.parametrize(
    ("program", "blocks", "expected"),
    [
        (
            "text(r.output); if(r.session_id) text(`SESSION_ID=${r.session_id}`)",
            ["a\n", "SESSION_ID=4"],
            ("a\n", None, "4"),
        ),
        ("text(r.output); text(`EXIT_CODE=${r.exit_code}`)", ["a\n", "EXIT_CODE=1"], ("a\n", 1, "")),
        ("text(r.output)", ["exit=1"], ("exit=1", None, "")),
    ],
)
def test_what_a_program_puts_around_an_output_is_no_part_of_it(
    program: str, blocks: list[str], expected: tuple[str, int | None, str]
) -> None:
    (found,) = results_in(program, [DONE, *blocks], 1) or ()
    assert (found.output, found.exit_code, found.goes_on) == expected
