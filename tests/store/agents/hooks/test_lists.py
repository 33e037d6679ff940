"""Lists of commands, each really run with and without what the hook before a command makes of it."""

import json
import os
import pwd
import shutil
import subprocess
import time
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sightline.agents.hooks.before_tool import before_tool
from sightline.agents.hooks.capture_script import script
from sightline.agents.hooks.part_files import PartFile
from sightline.capture.pipe_insertion import PIPEFAIL
from sightline.harnesses import find
from sightline.harnesses.base import KEEP
from sightline.harnesses.claude_code import HARNESS as CLAUDE
from sightline.shell_words.lexer import OPERATOR, tokens_of
from tests.each import each
from tests.store.agents.hooks.hook_kit import Harness, claude_cut, run_to_end

pytestmark = pytest.mark.usefixtures("piping")

CASES: dict[str, list[dict[str, Any]]] = tomllib.loads((Path(__file__).parent / "lists.toml").read_text())
REWRITTEN = [command for group in CASES["rewritten"] for command in group["commands"]]
ALONE = [command for group in CASES["alone"] for command in group["commands"]]
# As Claude Code does: what the command leaves in the shell is looked at after it.
RUN = 'eval "$1" < /dev/null; code=$?; pwd -P > "$2"; export -p > "$3"; set -- ; exit $code'
FILES = {
    "a.txt": "one\ntwo\nthree\n",
    "b.txt": "one\nTWO\nthree\n",
    "many.txt": "".join(f"{number}\n" for number in range(1, 5001)),
    "sub/deep.txt": "deep\n",
    "sub/act": "export ACTIVE=1\necho activated\n",
    "lib.sh": "export FROM_LIB=here\npipes() { false | cat; }\nmoves() { MOVED=1; export MOVED; }\n",
    "run.sh": '#!/bin/sh\necho "run with $#: $*"\n',
    "both.sh": "#!/bin/sh\necho out1; echo err1 >&2; echo out2; echo err2 >&2\n",
    "fail.sh": "#!/bin/sh\necho out1; echo err1 >&2; echo out2\nexit $1\n",
}


class Outcome(NamedTuple):
    """What is left of a command: its output, code and the folder that it ends in, the shell's variables, the files."""

    output: bytes
    code: int
    folder: str
    variables: str
    files: dict[str, bytes]


class Bench:
    """A folder in which commands run, and what hooks put into them.

    Args:
        place: where it may be made.
        capture: text of the script that is put in.
    """

    def __init__(self, place: Path, capture: str) -> None:
        self._place = place
        self.script = place / "sightline-capture"
        self.script.write_text(capture)
        self.script.chmod(0o755)

    def rewritten(self, command: str, use: str) -> str:
        """What the hook makes of a command."""
        told = {
            "tool_name": "Bash",
            "tool_use_id": use,
            "session_id": "s1",
            "cwd": "/",
            "tool_input": {"command": command},
        }
        answer = before_tool(CLAUDE, "PreToolUse", KEEP, told, str(self.script))
        return str(answer["hookSpecificOutput"]["updatedInput"]["command"]) if answer else command

    def run(self, command: str, shell: str = "bash") -> Outcome:
        """Run a command in a folder that is made anew."""
        folder = self._place / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "sub").mkdir(parents=True)
        for name, text in FILES.items():
            (folder / name).write_text(text)
            if name.endswith(".sh"):
                (folder / name).chmod(0o755)
        told, variables, output = (self._place / name for name in ("pwd", "env", "output"))
        for file in (told, variables):
            file.write_text("")
        with output.open("wb") as out:
            code = run_to_end(
                [shell, "-c", RUN, shell, command, str(told), str(variables)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=folder,
                env={**os.environ, "PWD": str(folder), "HOME": str(self._place), "LC_ALL": "C.UTF-8"},
            )
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        return Outcome(output.read_bytes(), code, told.read_text(), variables.read_text(), files)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of the store that the hook and what it puts in use."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "store"))
    monkeypatch.setenv("SHELL", "/bin/bash")
    for name in ("SHELLOPTS", "BASHOPTS", "CLAUDE_CODE_SHELL", "CDPATH"):
        monkeypatch.delenv(name, raising=False)
    _log_in_with("/bin/bash", monkeypatch)
    return tmp_path / "store"


def _log_in_with(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    account = pwd.getpwuid(os.getuid())
    monkeypatch.setattr(pwd, "getpwuid", lambda _: pwd.struct_passwd((*account[:6], shell)))


@pytest.mark.parametrize("group", CASES["rewritten"], ids=lambda group: str(group["what"]))
def test_a_list_does_what_it_did_and_is_kept_whole(group: dict[str, Any], root: Path, tmp_path: Path) -> None:
    bench, claude = Bench(tmp_path, script(str(root))), Harness("claude-code", root, tmp_path)
    for number, command in enumerate(group["commands"]):
        use = f"use_of_the_call_{number:04}"
        made = bench.rewritten(command, use)
        assert made != command, command
        plain = bench.run(command)
        assert bench.run(made) == plain, (command, made)
        claude.after(command, use, plain.output.decode(errors="replace"), plain.code)
        (buffer,) = [one for one in claude.buffers() if one.artifact == f"claude-code-s1:{use}"]
        assert buffer.command == command
        assert buffer.exit_code == plain.code
        if "filters" not in group["what"] and not buffer.partial:
            told = plain.output.decode(errors="replace").encode()  # as the harness tells it, which writes text
            assert claude.content(buffer).strip() in (plain.output.strip(), told.strip()), command
    assert not (root / "hooks.log").exists()
    assert [name for name in os.listdir(root / "hooks") if name.endswith((".part", ".json"))] == []


PASSES_ON = "#!/bin/sh\nexec cat\n"
"""A program in the pipes that only passes on: what counts is the shell."""


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")
@pytest.mark.parametrize("group", CASES["rewritten"], ids=lambda group: str(group["what"]))
def test_a_list_does_what_it_did_in_zsh(
    group: dict[str, Any], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    bench = Bench(tmp_path, PASSES_ON)
    for command in group["commands"]:
        made = bench.rewritten(command, "use_of_the_only_call")
        if made != command:
            assert bench.run(made, "zsh") == bench.run(command, "zsh"), (command, made)


def test_a_list_does_what_it_did_in_a_shell_of_any_other_kind(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex runs commands with a person's login shell, which may be any sh."""
    _log_in_with("/bin/sh", monkeypatch)
    bench, changed = Bench(tmp_path, PASSES_ON), 0
    for command in REWRITTEN:
        if made := codex(bench, command, "use_of_the_only_call"):
            changed += 1
            assert bench.run(made, "sh") == bench.run(command, "sh"), (command, made)
    assert changed


def test_each_part_of_a_long_list_that_fails_is_there_with_its_lines_and_how_it_ended(
    root: Path, tmp_path: Path
) -> None:
    bench, claude = Bench(tmp_path, script(str(root))), Harness("claude-code", root, tmp_path)
    slow = "sh -c 'sleep 0.5; seq 1 9000; exit 3'"
    command = f"cat a.txt && {slow} || {slow}; cat missing"
    bench.rewritten(command, "use_of_the_only_call")
    outcome = bench.run(bench.rewritten(command, "use_of_the_only_call"))
    claude.after(command, "use_of_the_only_call", claude_cut(outcome.output.decode()), outcome.code)
    (buffer,) = claude.buffers()
    assert claude.content(buffer) == outcome.output
    assert buffer.partial == ""
    assert "1-3 cat a.txt exit 0, 4-9003 sh -c 'sleep 0.5; seq" in buffer.note
    assert "18004-18004 cat missing exit " in buffer.note
    assert buffer.lines == 3 + 9000 + 9000 + 1


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("source ./lib.sh; seq 1 9000; ./fail.sh 3", ""),
        ("source sub/act; seq 1 9000; ./fail.sh 3", "begins otherwise than"),
        ("cd nosuch; seq 1 9000; ./fail.sh 3", "begins otherwise than"),
        ("seq 1 9000; cd nosuch", "what cd nosuch may have written is not in it"),
        ("seq 1 9000; cd sub && ../fail.sh 3", ""),
        ("seq 1 9000; exit 5", ""),
        ("seq 1 9000; ./fail.sh 3; exit", ""),
        ("seq 1 9000; exit nothing", "what exit nothing may have written is not in it"),
        ("seq 1 9000; kill -0 nobody", "what kill -0 nobody may have written is not in it"),
        ("seq 1 9000; grep nothing a.txt missing", "what grep nothing a.txt missing may have written"),
    ],
)
def test_what_may_be_missing_of_a_list_that_was_cut_is_said(command: str, why: str, root: Path, tmp_path: Path) -> None:
    bench, claude = Bench(tmp_path, script(str(root))), Harness("claude-code", root, tmp_path)
    outcome = bench.run(bench.rewritten(command, "use_of_the_only_call"))
    claude.after(command, "use_of_the_only_call", claude_cut(outcome.output.decode()), outcome.code)
    (buffer,) = claude.buffers()
    assert why in buffer.partial
    assert bool(buffer.partial) == bool(why) == bool(buffer.gaps)
    if not why:
        assert claude.content(buffer) == outcome.output


SET_UP = """
mise() {
  local command="${1:-}"
  if [ "$#" = 0 ]; then command mise; return; fi
  shift
  case "$command" in
    deactivate | shell | sh) eval "$(command mise "$command" "$@")"; return $? ;;
  esac
  command mise "$command" "$@"
}
conda() { case "$1" in activate) export ACTIVE="$2" ;; *) command conda "$@" ;; esac; }
"""
MISE = '#!/bin/sh\n[ "$1" = shell ] && echo "export TOOL=$2" && exit\nshift\nexec "$@"\n'


def _with_managers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have mise and conda as a person's shell has them: programs, and functions in front of these."""
    for name in ("bin/mise", "bin/conda", "set-up"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(SET_UP if name == "set-up" else MISE)
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("BASH_ENV", str(folder / "set-up"))


@pytest.mark.parametrize(
    ("command", "pipes"),
    [
        ("mise run ./run.sh && mise exec ./fail.sh 3", 2),
        ("mise r ./fail.sh 3; mise x ./both.sh", 2),
        ("mise run ./fail.sh 3 || cat a.txt", 2),
        ("cd sub && mise exec ../fail.sh 3", 1),
        ("command mise exec ./fail.sh 3; ls", 2),
        ("conda run ./fail.sh 3 && ls; cat a.txt", 3),
        ("mise shell x && sh -c 'echo $TOOL'", 1),
        ("mise shell x; mise run ./fail.sh 3", 1),
        ("conda activate x && conda run sh -c 'echo $ACTIVE'", 1),
    ],
)
def test_what_version_managers_only_run_is_kept_and_what_they_change_stays_in_the_shell(
    command: str, pipes: int, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, claude = Bench(tmp_path, script(str(root))), Harness("claude-code", root, tmp_path)
    _with_managers(tmp_path, monkeypatch)
    made = bench.rewritten(command, "use_of_the_only_call")
    assert made.count(str(bench.script)) == pipes
    plain = bench.run(command)
    assert bench.run(made) == plain
    claude.after(command, "use_of_the_only_call", plain.output.decode(), plain.code)
    (buffer,) = claude.buffers()
    assert claude.content(buffer) == plain.output
    assert buffer.partial == ""


def test_what_is_not_surely_safe_is_left_alone(root: Path, tmp_path: Path) -> None:
    bench = Bench(tmp_path, script())
    assert [command for command in ALONE if bench.rewritten(command, "use_of_the_only_call") != command] == []


def test_there_are_enough_of_them() -> None:
    assert len(set(REWRITTEN + ALONE)) == len(REWRITTEN + ALONE)
    assert len(REWRITTEN) >= 200
    assert len(ALONE) >= 60


@each("command", REWRITTEN)
def test_the_persons_own_text_stands_in_it_untouched(command: str, root: Path, tmp_path: Path) -> None:
    bench = Bench(tmp_path, script())
    made = bench.rewritten(command, "use_of_the_only_call")
    for added in (
        f"{PIPEFAIL}; ",
        f"{PIPEFAIL} && ",
        f" | {bench.script} use_of_the_only_call.N",
        f" | {bench.script} use_of_the_only_call",
    ):
        for number in range(1, 9):
            made = made.replace(added.replace("N", str(number)), "")
    rest = iter(made.replace(" 2>&1", ""))
    assert "".join(char for char in command.replace(" 2>&1", "") if char == next(rest)) == command.replace(" 2>&1", "")


# Any list of such parts and operators, whether it is rewritten or not, does what it did.

ATOMS = (
    *("cat a.txt", "cat missing", "./fail.sh 3", "./fail.sh 0", "./both.sh", "./both.sh 2>err", "./both.sh >out 2>&1"),
    *("echo word", "printf x", "true", "false", "cd sub", "cd nosuch", "export A=1", "A=2", 'sh -c "exit 5"', "pwd"),
    *("[ -f a.txt ]", "[ -f none ]", "exit 4", "exit", ". ./lib.sh", "pipes", "moves", "nosuchprogram", "./run.sh $A"),
    *("cat many.txt | head -2", "./fail.sh 3 | tail -1", "./fail.sh 7 2>&1 | cat", "A=$(cat a.txt)", "grep one a.txt"),
    *("(cd sub; ls)", "{ ls; }", "ls >> log", "cat < b.txt", "rm -f a.txt", "A=$(false | true)", "set -e", "echo $?"),
    *("time -p true", "! cat a.txt", "seq 1 2000", "unset A", "readonly A", "umask 077", "conda activate x"),
    *("mise run ./fail.sh 3", "mise x ./both.sh", "mise shell x", "mise exec ./run.sh | cat", "conda run ./fail.sh 0"),
    *("command mise exec ./fail.sh 2", "sh -c 'echo $TOOL $ACTIVE'"),
)
OPERATORS = (" && ", " || ", "; ", "\n", ";", " &&\n")
LISTS = st.tuples(
    st.sampled_from(ATOMS),
    st.lists(st.tuples(st.sampled_from(OPERATORS), st.sampled_from(ATOMS)), min_size=1, max_size=5),
).map(lambda made: made[0] + "".join(operator + atom for operator, atom in made[1]))


@pytest.fixture
def plain_bench(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    _with_managers(tmp_path, monkeypatch)
    return Bench(tmp_path, PASSES_ON)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(LISTS)
@example(". ./lib.sh && pipes; ./fail.sh 3 && ls; pipes")
@example("nosuchprogram && ./fail.sh 3; ./fail.sh 3")
@example("nosuchprogram || ./fail.sh 3 && ./fail.sh 4")
@example("./fail.sh 3 && . ./lib.sh; pipes")
@example("mise shell x; mise run ./fail.sh 3 || sh -c 'echo $TOOL'; mise x ./both.sh")
@example("./fail.sh 3 | tail -1 && ./fail.sh 3; ./fail.sh 0 2>&1 | cat || ./fail.sh 7 2>&1 | cat")
def test_any_list_does_what_it_did(plain_bench: Bench, command: str) -> None:
    made = plain_bench.rewritten(command, "use_of_the_only_call")
    if made != command:
        assert _unnumbered(plain_bench.run(made)) == _unnumbered(plain_bench.run(command)), (command, made)


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(LISTS)
@example("cd sub && ./fail.sh 3; pipes")
@example("seq 1 2000 && ./fail.sh 3 || cat a.txt")
def test_any_list_does_what_it_did_in_zsh(plain_bench: Bench, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    made = plain_bench.rewritten(command, "use_of_the_only_call")
    if made != command:
        assert _unnumbered(plain_bench.run(made, "zsh")) == _unnumbered(plain_bench.run(command, "zsh")), command


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(LISTS)
@example("cat many.txt | head -2; ./fail.sh 3 | tail -1")
@example("cd sub && ls; ./fail.sh 7 2>&1 | cat")
def test_any_list_does_what_it_did_in_a_shell_of_any_other_kind(
    plain_bench: Bench, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    _log_in_with("/bin/sh", monkeypatch)
    made = codex(plain_bench, command, "use_of_the_only_call")
    if made is not None:
        assert _unnumbered(plain_bench.run(made, "sh")) == _unnumbered(plain_bench.run(command, "sh")), command


def _unnumbered(outcome: Outcome) -> Outcome:
    return outcome._replace(output=outcome.output.replace(b"real 0.01", b"real 0.00"))


CODEX = {"tool_name": "Bash", "session_id": "s1", "cwd": "/", "permission_mode": "bypassPermissions"}


def codex(bench: Bench, command: str, use: str, **more: Any) -> str | None:
    """What the hook of Codex makes of a command; None where it leaves it alone."""
    harness = find("codex")
    assert harness is not None
    told = {**CODEX, "tool_use_id": use, "tool_input": {"command": command}, **more}
    answer = before_tool(harness, "PreToolUse", KEEP, told, str(bench.script))
    if answer is None:
        return None
    made = answer["hookSpecificOutput"]
    assert made["permissionDecision"] == "allow", "or it would not be rewritten"
    return str(made["updatedInput"]["command"])


@pytest.mark.parametrize(
    ("login", "model", "is_rewritten"),
    [("/bin/bash", "", True), ("/usr/bin/zsh", "", True), ("/bin/sh", "", False), ("/bin/bash", "/bin/sh", False)],
)
def test_in_codex_nothing_is_put_in_that_the_shell_may_not_know(
    login: str, model: str, is_rewritten: bool, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not every sh has the option that passes exit codes on, and where it is missing the command would not run."""
    _log_in_with(login, monkeypatch)
    arguments = json.dumps({"cmd": "cat a.txt", **({"shell": model} if model else {})})
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_text(
        json.dumps({"payload": {"arguments": arguments, "call_id": "use_of_the_only_call"}}, separators=(",", ":"))
    )
    for command in ("cat a.txt", "cat a.txt; cat b.txt"):
        made = codex(Bench(tmp_path, script()), command, "use_of_the_only_call", transcript_path=str(rollout))
        assert bool(made) == is_rewritten
    assert codex(Bench(tmp_path, script()), "seq 9 | tail -1", "use_of_the_only_call", transcript_path=str(rollout))


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan", "", None])
def test_in_codex_nothing_is_rewritten_that_a_person_may_be_asked_about(
    mode: str | None, root: Path, tmp_path: Path
) -> None:
    assert codex(Bench(tmp_path, script()), "cat a.txt", "use_of_the_only_call", permission_mode=mode) is None


@pytest.mark.parametrize(
    "command", ["cat a.txt", "cd sub && cat deep.txt", "cat a.txt && cat b.txt", "seq 9 | tail -1"]
)
def test_in_codex_nothing_is_put_in_that_its_rules_are_not_held_against(
    command: str, root: Path, tmp_path: Path
) -> None:
    made = codex(Bench(tmp_path, script()), command, "use_of_the_only_call")
    assert made is not None
    operators = {token.text for token in tokens_of(made).tokens if token.kind == OPERATOR}
    assert operators <= {"|", ";", "&&"}
    assert codex(Bench(tmp_path, script()), "python3 - <<'EOF'\nprint(1)\nEOF", "use_of_the_only_call") is None


def test_of_a_long_output_in_codex_all_is_kept_but_for_what_went_past_the_pipe(root: Path, tmp_path: Path) -> None:
    bench, harness = Bench(tmp_path, script(str(root))), Harness("codex", root, tmp_path)
    for number, (command, missing) in enumerate({"seq 1 30000": "standard error", "seq 1 30000 2>&1": ""}.items()):
        made = codex(bench, command, f"use_of_the_call_{number:04}")
        assert made is not None
        outcome = bench.run(made)
        cut = "Warning: truncated output \nTotal output lines: 30000\n\n1\n…9 tokens truncated…"
        called = {
            "tool_name": "Bash",
            "tool_use_id": f"use_of_the_call_{number:04}",
            "tool_input": {"command": command},
        }
        harness.tell("PostToolUse", **called, tool_response=cut)
        (buffer,) = [one for one in harness.buffers() if one.command == command]
        assert harness.content(buffer) == outcome.output
        assert missing in buffer.partial
        assert bool(missing) == bool(buffer.partial)


def test_a_list_that_a_person_breaks_off_is_there_at_the_next_prompt(root: Path, tmp_path: Path) -> None:
    bench, claude = Bench(tmp_path, script(str(root))), Harness("claude-code", root, tmp_path)
    bench.run(bench.rewritten("cat a.txt; ./fail.sh 3", "use_of_the_only_call"))
    claude.tell("UserPromptSubmit", prompt="go on", session_id="another")
    assert claude.buffers() == []
    claude.tell("UserPromptSubmit", prompt="go on")
    (buffer,) = claude.buffers()
    assert claude.content(buffer) == b"one\ntwo\nthree\nout1\nerr1\nout2\n"
    assert (buffer.command, buffer.exit_code, buffer.partial) == (
        "cat a.txt; ./fail.sh 3",
        None,
        "its end was not told",
    )
    assert os.listdir(root / "hooks") == []


def test_a_list_that_still_runs_at_a_prompt_loses_nothing_that_comes_later(root: Path, tmp_path: Path) -> None:
    """A helper may run it, or a person may write while it runs."""
    bench, claude = Bench(tmp_path, script(str(root))), Harness("claude-code", root, tmp_path)
    bench.rewritten("cat a.txt; cat b.txt", "use_of_the_only_call")
    first, second = PartFile("use_of_the_only_call", 1), PartFile("use_of_the_only_call", 2)
    first.take("out", memoryview(b"one\n"))
    first.end(0, cut=False, left_open=False)
    second.take("out", memoryview(b"two\n"))
    claude.tell("UserPromptSubmit", prompt="go on")
    assert claude.buffers() == []
    second.take("out", memoryview(b"three\n"))
    second.end(0, cut=False, left_open=False)
    claude.after("cat a.txt; cat b.txt", "use_of_the_only_call", "one\ntwo\nthree\n", 0)
    (buffer,) = claude.buffers()
    assert (claude.content(buffer), buffer.exit_code, buffer.partial) == (b"one\ntwo\nthree\n", 0, "")
    assert not [name for name in os.listdir(root / "hooks") if name.endswith((".part", ".json"))]


def test_a_list_between_two_of_its_parts_is_not_taken_for_one_that_was_broken_off(root: Path, tmp_path: Path) -> None:
    """No part is written then, but the shell goes on with the next."""
    bench, claude = Bench(tmp_path, script(str(root))), Harness("claude-code", root, tmp_path)
    bench.rewritten("cat a.txt; cat b.txt", "use_of_the_only_call")
    with subprocess.Popen(["/bin/sh", "-c", "read next"], stdin=subprocess.PIPE) as shell:
        first = PartFile("use_of_the_only_call", 1, shell.pid)
        first.take("out", memoryview(b"one\n"))
        first.end(0, cut=False, left_open=False)
        claude.tell("UserPromptSubmit", prompt="go on")
        assert claude.buffers() == []
        shell.communicate(b"\n")
    claude.tell("UserPromptSubmit", prompt="go on")
    (buffer,) = claude.buffers()
    assert (claude.content(buffer), buffer.partial) == (b"one\n", "its end was not told")


def test_a_shell_that_a_harness_uses_for_all_commands_is_not_waited_for_for_ever(root: Path, tmp_path: Path) -> None:
    bench, claude = Bench(tmp_path, script(str(root))), Harness("claude-code", root, tmp_path)
    bench.rewritten("cat a.txt; cat b.txt", "use_of_the_only_call")
    first = PartFile("use_of_the_only_call", 1, os.getpid())
    first.take("out", memoryview(b"one\n"))
    first.end(0, cut=False, left_open=False)
    claude.tell("UserPromptSubmit", prompt="go on")
    assert claude.buffers() == []
    long_ago = time.time() - 3600
    os.utime(root / "hooks" / "use_of_the_only_call.0.part", (long_ago, long_ago))
    claude.tell("UserPromptSubmit", prompt="go on")
    assert [claude.content(buffer) for buffer in claude.buffers()] == [b"one\n"]


def test_what_is_left_of_a_list_is_not_taken_for_the_output_of_another_with_the_same_id(
    root: Path, tmp_path: Path
) -> None:
    """A model's server may number its calls from 0 in each session."""
    bench, claude = Bench(tmp_path, script(str(root))), Harness("claude-code", root, tmp_path)
    bench.run(bench.rewritten("cat a.txt; cat b.txt", "call_0"))
    command = "cat a.txt; cat many.txt"
    outcome = bench.run(bench.rewritten(command, "call_0"))
    called = {"tool_name": "Bash", "tool_use_id": "call_0", "tool_input": {"command": command}}
    cut = {"stdout": "one\ntwo\nthree", "stderr": "", "interrupted": False, "persistedOutputPath": "/nowhere"}
    claude.tell("PostToolUse", **called, tool_response=cut)
    (buffer,) = claude.buffers()
    assert claude.content(buffer) == outcome.output


def test_where_secrets_are_hidden_no_part_lies_in_a_file_of_its_own(root: Path, tmp_path: Path) -> None:
    bench = Bench(tmp_path, script(str(root)))
    root.mkdir()
    (root / "config.toml").write_text("[redact]\nknown = true\n")
    assert bench.rewritten("cat a.txt; cat b.txt", "use_of_the_only_call") == "cat a.txt; cat b.txt"
    assert bench.rewritten("cd sub && cat deep.txt", "use_of_the_only_call") != "cd sub && cat deep.txt"


def test_a_list_of_which_one_part_writes_is_there_while_it_runs_and_in_shape_shown_as_a_view(
    root: Path, tmp_path: Path
) -> None:
    bench, claude = Bench(tmp_path, script(str(root))), Harness("claude-code", root, tmp_path)
    command = "cd sub && sh -c 'seq 1 9000; exit 3'"
    told = {"tool_name": "Bash", "tool_use_id": "use_of_the_only_call", "session_id": "s1", "cwd": "/"}
    answer = before_tool(CLAUDE, "PreToolUse", "shape", told | {"tool_input": {"command": command}}, str(bench.script))
    assert answer is not None
    outcome = bench.run(answer["hookSpecificOutput"]["updatedInput"]["command"])
    (buffer,) = claude.buffers()
    assert (buffer.command, buffer.lines) == (command, 9000)
    assert outcome.code == 3
    assert buffer.ref.encode() in outcome.output
    assert len(outcome.output) < 9_000
