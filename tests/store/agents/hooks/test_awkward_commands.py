"""Commands as agents write them, each really run with and without what the hook before a command makes of it."""

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sightline.agents.hooks.before_tool import before_tool
from sightline.agents.hooks.capture_script import FILE, script
from sightline.capture.pipe_insertion import PIPEFAIL
from sightline.harnesses.base import KEEP
from sightline.harnesses.claude_code import HARNESS as CLAUDE
from sightline.shell_words.lexer import OPERATOR, tokens_of
from sightline.store import Store, Target
from tests.each import each
from tests.store.agents.hooks.hook_kit import run_to_end

pytestmark = pytest.mark.usefixtures("piping")

CASES: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "commands.toml").read_text(encoding="utf-8")
)
REWRITTEN = [command for group in CASES["rewritten"] for command in group["commands"]]
ALONE = [command for group in CASES["alone"] for command in group["commands"]]
SHELLS = [
    pytest.param(shell, marks=pytest.mark.skipif(not shutil.which(shell), reason=f"there is no {shell}"))
    for shell in ("bash", "zsh")
]
# As the harness does: the command is evaluated with nothing to read, and what folder it ends in is kept.
HARNESS = 'eval "$1" < /dev/null; code=$?; pwd -P > "$2"; exit $code'


class Outcome(NamedTuple):
    """What a harness, and the next command, sees of a command."""

    output: bytes
    code: int
    folder: str
    files: dict[str, bytes]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The root of the store that the hook and what it puts in use."""
    root = str(tmp_path / "store")
    (tmp_path / FILE).write_text(script(root))
    (tmp_path / FILE).chmod(0o755)
    monkeypatch.setenv("SIGHTLINE_HOME", root)
    for name in ("SHELLOPTS", "BASHOPTS", "CLAUDE_CODE_SHELL"):
        monkeypatch.delenv(name, raising=False)
    return root


def own_script() -> str:
    """The script beside the store of the environment."""
    return os.path.join(os.path.dirname(os.environ["SIGHTLINE_HOME"]), FILE)


def rewritten(command: str, use: str, through: str = "", **more: Any) -> str:
    """What the hook makes of a command."""
    given = {"tool_name": "Bash", "tool_use_id": use, "session_id": "s", "cwd": "/", **more}
    given["tool_input"] = {"command": command, "description": "kept as it is", **more.get("tool_input", {})}
    answer = before_tool(CLAUDE, "PreToolUse", KEEP, given, through or own_script())
    if answer is None:
        return command
    (made,) = answer.values()
    assert set(made) == {"hookEventName", "updatedInput"}  # no word of permission
    assert made["updatedInput"] == {**given["tool_input"], "command": made["updatedInput"]["command"]}
    return str(made["updatedInput"]["command"])


def run(shell: str, command: str, place: Path) -> Outcome:
    """Run a command in a folder of its own."""
    folder = place / "folder"
    shutil.rmtree(place, ignore_errors=True)
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    (folder / "b.txt").write_text("one\nTWO\nthree\n")
    (folder / "c d.txt").write_text("spaced\n")
    (folder / "many.txt").write_text("".join(f"{number}\n" for number in range(1, 5001)))
    (folder / "sub" / "deep.txt").write_text("deep\n")
    (folder / "run.sh").write_text('#!/bin/sh\necho "run with $#: $*"\n')
    (folder / "run.sh").chmod(0o755)
    with (place / "output").open("wb") as output:
        code = run_to_end(
            [shell, "-c", HARNESS, shell, command, str(place / "pwd")],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            env={**os.environ, "PWD": str(folder), "LC_ALL": "C.UTF-8"},
        )
    ended = (place / "pwd").read_text().strip() if (place / "pwd").exists() else ""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return Outcome((place / "output").read_bytes(), code, ended, files)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("group", CASES["rewritten"], ids=lambda group: str(group["what"]))
def test_a_rewritten_command_does_what_it_did(
    group: dict[str, Any], shell: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes in the same order, the same code, the same folder and files; and all of it comes to be kept.

    One of each group is kept by our program, which takes long to start; what counts of the others is the shell.
    """
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    tee = tmp_path / "tee"
    tee.write_text('#!/bin/sh\nexec tee "$0.$1"\n')
    tee.chmod(0o755)
    for number, command in enumerate(group["commands"]):
        is_ours = number == 0 and shell == "bash"
        made = rewritten(command, f"use_of_the_call_{number:04}", "" if is_ours else str(tee))
        if shell == "bash":
            assert made != command, command
        plain = run(shell, command, tmp_path / "run")
        assert run(shell, made, tmp_path / "run") == plain, (command, made)
        if made.startswith(PIPEFAIL) and " 2>&1 | " in made:
            use = f"use_of_the_call_{number:04}"
            found = kept(store, f"claude-code-s:{use}") if is_ours else Path(f"{tee}.{use}").read_bytes()
            # Of a signal the shell itself speaks, and not through the pipe.
            assert found == plain.output or (plain.code > 128 and plain.output.startswith(found)), command
    assert not os.path.exists(os.path.join(store, "hooks.log"))


@pytest.mark.parametrize(("signal", "word"), [("KILL", "Killed"), ("SEGV", "Segmentation fault")])
def test_of_a_killed_command_only_what_the_shell_itself_says_is_worded_otherwise(
    signal: str, word: str, store: str, tmp_path: Path
) -> None:
    """It names the pipeline, and numbers of processes, which are never the same."""
    command = f"sh -c 'kill -{signal} $$'"
    plain, piped = (run("bash", one, tmp_path / "run") for one in (command, rewritten(command, "use-0")))
    assert piped._replace(output=b"") == plain._replace(output=b"")
    assert word in plain.output.decode()
    assert word in piped.output.decode()


def kept(root: str, key: str) -> bytes:
    """What the store has of a command."""
    with Store(root) as store:
        buffer = store.index.of_artifact(key)
        assert buffer is not None
        assert buffer.state == "sealed"
        assert "merged" in buffer.note
        with store.open(Target(buffer, "out")) as stream:
            return stream.read(0, buffer.bytes)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_is_not_surely_safe_is_left_alone(shell: str, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    assert [command for command in ALONE if rewritten(command, "use_of_the_only_call") != command] == []
    assert not os.path.exists(os.path.join(store, "hooks"))  # nothing is remembered of them


def test_there_are_enough_of_them() -> None:
    assert len(set(REWRITTEN + ALONE)) == len(REWRITTEN + ALONE) >= 150
    assert len(ALONE) >= 40


def test_a_command_in_the_background_is_left_alone(store: str) -> None:
    assert rewritten("echo hi", "use_of_the_only_call", tool_input={"run_in_background": True}) == "echo hi"


@pytest.mark.parametrize("use", ["", "a b", "a;b", "../x", "$(x)", "x" * 200, None, 7])
def test_an_id_that_is_no_plain_word_is_never_put_into_a_command(use: Any, store: str) -> None:
    assert rewritten("echo hi", use) == "echo hi"


def test_a_shell_whose_settings_are_handed_on_is_left_alone(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELLOPTS", "braceexpand")
    assert rewritten("echo hi", "use_of_the_only_call") == "echo hi"


def test_where_nothing_may_be_kept_nothing_is_rewritten(store: str, tmp_path: Path) -> None:
    os.mkdir(store)
    Path(store, "config.toml").write_text(f'[directories."{tmp_path}"]\ncapture = "off"\n')
    assert rewritten("echo hi", "use_of_the_only_call", cwd=str(tmp_path)) == "echo hi"
    assert rewritten("echo hi", "use_of_the_only_call", cwd="/") != "echo hi"


# The harness' judging of commands, as observed: each part of a line is held against the rules, redirections left out.


def parts(command: str) -> Iterator[str]:
    """The commands between operators."""
    words: list[str] = []
    skip = False
    for token in tokens_of(command).tokens:
        if token.kind == OPERATOR and token.text not in (">", ">>", "<", "<<", "<<-", ">&", "<<<"):
            yield " ".join(words)
            words = []
        elif token.kind == OPERATOR:
            skip = True
            if words and words[-1] in ("0", "1", "2"):
                words.pop()
        elif not skip:
            words.append(token.text)
        else:
            skip = False
    yield " ".join(words)


def outcome(command: str, allow: list[str], deny: list[str]) -> str:
    """What becomes of it."""
    found = [part for part in parts(command) if part]
    if any(matches(part, rule) for part in found for rule in deny):
        return "denied"
    return "runs" if all(any(matches(part, rule) for rule in allow) for part in found) else "asks"


def matches(part: str, rule: str) -> bool:
    """Whether a rule, ``Bash(TEXT)`` or ``Bash(PREFIX:*)``, is for a part."""
    text = rule.removeprefix("Bash(").removesuffix(")")
    return part.startswith(text.removesuffix(":*")) if text.endswith(":*") else part == text


@each("command", REWRITTEN)
def test_the_persons_rules_decide_as_they_did(command: str, store: str) -> None:
    made = rewritten(command, "use_of_the_only_call")
    own = list(CLAUDE.allow_rules(own_script(), PIPEFAIL))
    first, *_, last = [*(part for part in parts(command) if part)] * 2
    every = [f"Bash({part})" for part in parts(command) if part]
    for allow, deny in (
        ([], []),
        (every, []),
        ([f"Bash({first})"], []),
        ([f"Bash({first.split()[0]}:*)"], []),
        (every, [f"Bash({first.split()[0]}:*)"]),
        (every, [f"Bash({last})"]),
    ):
        assert outcome(made, allow + own, deny) == outcome(command, allow, deny), (made, allow, deny)


@pytest.mark.parametrize("option", ["set -o pipefail", "set -euo pipefail", "set -e -o pipefail", "set -o  pipefail"])
@pytest.mark.parametrize("join", ["; ", " && ", "\n"])
def test_our_rules_allow_no_option_that_others_set(option: str, join: str) -> None:
    own, command = list(CLAUDE.allow_rules("/h/script", PIPEFAIL)), f"{option}{join}ls"
    assert outcome(command, ["Bash(ls)", *own], []) == "asks"
    assert outcome(f"{PIPEFAIL}{join}ls", ["Bash(ls)", *own], []) == "runs"


@each("command", REWRITTEN)
def test_the_persons_own_text_stands_in_it_untouched(command: str, store: str) -> None:
    made = rewritten(command, "use_of_the_only_call").removeprefix(f"{PIPEFAIL}; ")
    before, put_in, after = made.partition(f" | {own_script()} use_of_the_only_call")
    assert put_in
    assert before + after == command or before.removesuffix(" 2>&1") + after == command
