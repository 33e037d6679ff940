"""Where ``capture = "off"`` holds, no file of the store ever holds a mark that every door is given."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sightline
from sightline.agents.hooks.event import answer_to
from sightline.store import Store
from sightline_tui.asking.question import History
from tests.fork_server import ForkServer
from tests.store.doors.mcp.conftest import McpClient
from tests.store.doors.proxy.proxy_kit import Client, text_result
from tests.store.harnesses.past_kit import write_lines

HALVES = "mark", "4c1d9"
MARK = "".join(HALVES)
LOUD = f"echo {MARK} $((1+1)); echo {MARK} >&2"
AGENT = {"CLAUDE_CODE_SESSION_ID": "an-agent"}


def files_with(root: Path, mark: str = MARK) -> list[str]:
    """The files below a folder whose name or bytes hold the mark."""
    found = [path for path in root.rglob("*") if path.is_file()]
    assert found
    return [str(path.relative_to(root)) for path in found if mark in str(path) or mark.encode() in path.read_bytes()]


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A folder of which nothing may be kept, with a file; the store holds one output of another folder."""
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "file").write_text(f"{MARK}\n" * 3)
    (folder / "long").write_text(f"{MARK} of a long file\n" * 3_000)
    (tmp_path / "open").mkdir()
    return folder


@pytest.fixture
def root(tmp_path: Path, private: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "root"
    root.mkdir(mode=0o700)
    (root / "config.toml").write_text(f'[directories."{private}"]\ncapture = "off"\n')
    with Store(str(root)) as store:
        recording = store.begin("cmd", "seq 3", str(tmp_path / "open"), "other")
        recording.append("out", b"1\n2\n3\n")
        recording.seal(exit_code=0)
    for name in list(os.environ):
        if name.startswith("SIGHTLINE_") or name.endswith(("SESSION_ID", "THREAD_ID")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SIGHTLINE_HOME", str(root))
    return root


@pytest.fixture
def kept(root: Path) -> str:
    with Store(str(root)) as store:
        return store.resolve("@last").ref


@pytest.mark.parametrize("agent", [{}, AGENT], ids=["person", "agent"])
def test_the_command_line_keeps_nothing(
    agent: dict[str, str], root: Path, private: Path, kept: str, fork_server: ForkServer, tmp_path: Path
) -> None:
    lines = [
        ["run", "-c", LOUD],
        ["run", "--json", "-c", LOUD],
        ["run", "--quiet", "--label", MARK, "-c", f"{LOUD}; cat long; exit 3"],
        ["run", "--", "echo", MARK],
        ["run", "-c", f"cat long | grep {MARK} | tail -1"],
        ["run", "--background", "-c", LOUD],
        ["run", "-c", f"rm -rf {MARK}"],
        ["run", "--compare", "last", "-c", LOUD],
        ["run", "-c", f"cat {kept} && echo {MARK}"],
        ["run", "-c", f"grep {MARK} {kept}"],
        ["run", "-c", f"cat @cmd_ffffff {MARK}"],
        ["capture", "--command", f"cat {MARK}"],
        ["capture", "--json", "--command", f"cat {MARK}"],
        ["capture", "-p", "--label", MARK],
        ["capture", "--tool", "fetch", "--arguments", json.dumps({"a": MARK})],
        ["read", "file"],
        ["read", "long:3-9"],
        ["read", f"no-{MARK}"],
        ["show", kept, "--search", MARK],
        ["show", f"@cmd_{MARK}"],
        ["query", f"grep {MARK} {kept}"],
        ["query", "--full", f"grep {MARK} {kept}"],
        ["query", f"nothing {MARK}"],
        ["list", "--match", MARK],
        ["list", "--json", "--match", MARK],
        ["grep", MARK],
        ["diff", kept, f"@cmd_{MARK}"],
        ["run", "-C", "../open", "-c", LOUD],
        ["run", "--json", "-C", "../open", "-c", f"rm -rf {MARK}"],
        ["run", "--background", "-C", "../open", "-c", LOUD],
    ]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(root), **agent}
    said = b""
    for words in lines:
        ran = fork_server.run(words, input=f"{MARK}\n".encode() * 9, env=environment, cwd=private, timeout=60)
        said += ran.stdout
        assert files_with(root) == [], words
    assert MARK.encode() in said
    # From elsewhere, too, and of a file that a link leads to.
    (tmp_path / "open" / "link").symlink_to(private / "file")
    for words in (
        ["run", "--json", "-C", str(private), "-c", LOUD],
        ["run", "-C", "../private", "-c", f"rm -rf {MARK}"],
        ["read", str(private / "file")],
        ["read", "link"],
    ):
        fork_server.run(words, input=b"", env=environment, cwd=tmp_path / "open", timeout=60)
        assert files_with(root) == [], words


def test_the_log_says_that_something_was_asked_and_not_kept(root: Path, private: Path, fork_server: ForkServer) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": "/", "SIGHTLINE_HOME": str(root), **AGENT}
    fork_server.run(["run", "--json", "-c", LOUD], input=b"", env=environment, cwd=private, timeout=60)
    told = fork_server.run(["views"], input=b"", env=environment, cwd=root.parent, timeout=60).stdout.decode()
    assert "run_command" in told
    assert "not all known" in told
    told = fork_server.run(["doctor"], input=b"", env=environment, cwd=root.parent, timeout=60)
    assert told.returncode == 0, told.stdout


def test_the_mcp_server_keeps_nothing(root: Path, private: Path, kept: str, fork_server: ForkServer) -> None:
    client = McpClient(fork_server, private, SIGHTLINE_HOME=str(root), name="a-client")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("run_command", {"command": LOUD}),
        ("run_command", {"command": f"cat long; echo {MARK}; exit 4"}),
        ("run_command", {"command": LOUD, "background": True}),
        ("run_command", {"command": f"git push --force {MARK}"}),
        ("run_command", {"command": LOUD, "cwd": str(private)}),
        ("run_command", {"command": LOUD, "cwd": str(private.parent / "open")}),
        ("run_command", {"command": LOUD, "nothing": MARK}),
        ("read_file", {"path": "file"}),
        ("read_file", {"path": str(private / "long"), "start_line": 2}),
        ("read_output", {"ref": kept, "search": MARK}),
        ("read_output", {"ref": MARK}),
        ("query", {"pipeline": f"grep {MARK} {kept}"}),
        ("query", {"pipeline": MARK}),
        ("list_outputs", {"match": MARK}),
        (f"no_{MARK}", {}),
    ]
    try:
        assert MARK in client.call("run_command", command=LOUD)[1]
        for tool, arguments in calls:
            client.answer(client.begin(tool, **arguments))
            assert files_with(root) == [], (tool, arguments)
    finally:
        client.end()
        assert client.process.stdout
        client.process.stdout.close()
    assert files_with(root) == []


def test_python_keeps_nothing(root: Path, private: Path, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(private)
    assert MARK in str(sightline.run_command(LOUD))
    for call in (
        lambda: sightline.run_command(["echo", MARK], label=MARK),
        lambda: sightline.run_command(f"rm -rf {MARK}"),
        lambda: sightline.read_file("file"),
        lambda: sightline.read_output(kept, search=MARK),
        lambda: sightline.query(f"grep {MARK} {kept}"),
        lambda: sightline.list_outputs(MARK),
    ):
        call()
        assert files_with(root) == []
    with Store() as store:
        History(store).add(MARK)
    assert files_with(root) == []


def test_a_proxy_keeps_nothing(root: Path, private: Path, fork_server: ForkServer) -> None:
    client = Client(fork_server, private, [], [], SIGHTLINE_HOME=str(root))
    try:
        for size in (1, 5_000):
            assert MARK in json.dumps(client.call(text_result(f"{MARK}\n" * size), arguments={"a": MARK}))
            assert files_with(root) == []
        client.close()
    finally:
        client.end()
    assert files_with(root) == []


def _tools(cwd: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Events of a turn in which Claude Code runs a command, a list, one in the background, and reads a file."""
    yield "SessionStart", {"source": "startup"}
    yield "UserPromptSubmit", {"prompt": MARK}
    for number, command in enumerate((LOUD, f"{LOUD} | tail -3", f"cd /tmp && {LOUD}; ls", f"sleep 9 # {MARK}")):
        tool = {
            "tool_name": "Bash",
            "tool_use_id": f"toolu_{number:030}",
            "tool_input": {"command": command, "run_in_background": number == 3},
        }
        response = {"stdout": MARK, "stderr": MARK, "interrupted": False, "isImage": False}
        yield "PreToolUse", tool
        yield "PostToolUse", {**tool, "tool_response": response}
        yield "PostToolBatch", {"tool_calls": [{**tool, "tool_response": MARK}]}
        yield "PostToolUseFailure", {**tool, "error": f"Exit code 3\n{MARK}"}
    file = {"filePath": str(cwd / "file"), "content": f"{MARK}\n", "startLine": 1}
    tool = {"tool_name": "Read", "tool_use_id": "toolu_" + "9" * 30, "tool_input": {"file_path": str(cwd / "file")}}
    yield "PostToolUse", {**tool, "tool_response": {"type": "text", "file": file}}
    yield "PostToolBatch", {"tool_calls": [{**tool, "tool_response": MARK}]}
    yield "Stop", {"last_assistant_message": MARK}


def test_hooks_keep_nothing(root: Path, private: Path, closing_stores: None) -> None:
    for mode in ("keep", "shape"):
        for event, given in _tools(private):
            told = {"session_id": "s1", "cwd": str(private), "hook_event_name": event, **given}
            answer_to(["claude-code", event, "--mode", mode], json.dumps(told).encode())
            assert files_with(root) == [], (event, given)


def test_an_import_keeps_nothing(root: Path, private: Path, fork_server: ForkServer, tmp_path: Path) -> None:
    base = {"cwd": str(private), "sessionId": "s1", "timestamp": "2026-01-02T03:04:05Z", "version": "2.1.0"}
    use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": LOUD}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": MARK}
    transcript = write_lines(
        tmp_path / "home" / ".claude" / "projects" / "x" / "s1.jsonl",
        {**base, "type": "user", "uuid": "u0", "message": {"role": "user", "content": MARK}},
        {**base, "type": "assistant", "uuid": "u1", "message": {"role": "assistant", "id": "m1", "content": [use]}},
        {**base, "type": "user", "uuid": "u2", "message": {"role": "user", "content": [result]}},
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "SIGHTLINE_HOME": str(root)}
    ran = fork_server.run(["import", str(transcript)], input=b"", env=environment, cwd=tmp_path / "open", timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert files_with(root) == []
