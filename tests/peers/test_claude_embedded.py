"""Claude Code as a program embeds it, over lines of JSON: callbacks of that program decide, and it may interrupt."""

import json
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.store import Store
from tests import node_peers
from tests.faults.kill_kit import soon
from tests.peers.harnesses import NOWHERE, PATIENCE_SECONDS, Run
from tests.peers.installed import INSTALLED, sightline
from tests.peers.scripted_model import ScriptedModel, Step, Use

pytestmark = [pytest.mark.peers_node, pytest.mark.xdist_group("claude-code")]

Json = dict[str, Any]
ONE = INSTALLED["claude-code"]
COMMANDS = ("rm a; seq 3", "rm b && sh -c 'seq 1 20000; exit 3'", "echo please deny", "mkdir please-allow; seq 2")
WHOLE = "".join(f"{number}\n" for number in range(1, 20_001))


def _answer(given: Json) -> Json:
    """What the program's callback says before a tool."""
    command = str(given["tool_input"].get("command", ""))
    if "rm " in command:
        return {"updatedInput": {**given["tool_input"], "command": command.replace("rm ", "echo kept ")}}
    said = next((word for word in ("deny", "allow") if f"please {word}" in command.replace("-", " ")), "")
    return {"permissionDecision": said, "permissionDecisionReason": "so it is"} if said else {}


class Embedded:
    """A session that a program runs; its callback answers by itself."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._lines: queue.Queue[Json] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        hooks = {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["one"]}]}
        self.ask({"subtype": "initialize", "hooks": hooks})

    def _read(self) -> None:
        for line in self._process.stdout or ():
            told = json.loads(line)
            request = told.get("request", {})
            if request.get("subtype") == "hook_callback":
                said = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **_answer(request["input"])}}
                answer = {"subtype": "success", "request_id": told["request_id"], "response": said}
                self._say({"type": "control_response", "response": answer})
            self._lines.put(told)

    def _say(self, what: Json) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def ask(self, request: Json) -> None:
        """Ask for something that is no prompt."""
        self._say({"type": "control_request", "request_id": str(request["subtype"]), "request": request})

    def prompt(self, text: str) -> None:
        """Begin a turn."""
        self._say({"type": "user", "message": {"role": "user", "content": text}})

    def end_of_turn(self) -> None:
        """Wait until a turn has ended."""
        while self._lines.get(timeout=PATIENCE_SECONDS).get("type") != "result":
            pass


@contextmanager
def _embedded(home: Path, steps: list[Step], *, with_us: bool) -> Iterator[tuple[Embedded, ScriptedModel]]:
    (home / "project").mkdir(parents=True)
    with ScriptedModel(ONE.harness.dialect(), steps, ONE.tool) as model:
        run = Run(home, home / "none", model, [])
        allowed = ["Bash(echo:*)", "Bash(seq:*)", "Bash(sh:*)", "Bash(sleep:*)"]
        run.change(".claude/settings.json", {"permissions": {"allow": allowed}})
        if with_us:
            sightline(home, "install", "claude-code", "--mode", "keep")
        own = {"HTTPS_PROXY": NOWHERE, "NO_PROXY": "127.0.0.1", "TERM": "dumb", "LANG": "C.UTF-8", "SHELL": "/bin/bash"}
        words = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        process = subprocess.Popen(
            [node_peers.program(ONE.harness.package), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=run.project,
            env={"PATH": os.environ["PATH"], "HOME": str(home), **own, **ONE.harness.prepare(run)[1]},
        )
        with process:
            try:
                yield Embedded(process), model
                assert process.stdin
                process.stdin.close()
                process.wait(PATIENCE_SECONDS)
            finally:
                process.kill()


def _shell(command: str) -> Step:
    return lambda _: Use("Bash", {"description": "a step", "command": command}, ours=False)


def _of_store(home: Path, look: Callable[[Store], Any]) -> Any:
    with Store(str(home / ".local" / "state" / "sightline")) as store:
        return look(store)


def test_what_a_programs_callback_decides_is_what_happens(tmp_path: Path) -> None:
    shown = {}
    for name in ("alone", "kept"):
        with _embedded(tmp_path / name, [*map(_shell, COMMANDS)], with_us=name == "kept") as (session, model):
            session.prompt("go")
            session.end_of_turn()
        shown[name] = [(one.blocks, one.failed) for one in model.seen]
    assert shown["kept"] == shown["alone"]
    assert shown["kept"][0] == (("kept a\n1\n2\n3",), False)
    assert (tmp_path / "kept" / "project" / "please-allow").is_dir()
    made = _of_store(tmp_path / "kept", lambda store: {one.buffer.command: one.buffer for one in store.listed(9)})
    kept = made["echo kept b && sh -c 'seq 1 20000; exit 3'"]
    assert (kept.exit_code, kept.partial, kept.bytes) == (3, "", len(f"kept b\n{WHOLE}"))


def test_what_the_model_is_shown_of_an_interrupted_command_is_logged_at_the_next_prompt(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with _embedded(home, [_shell("seq 9; sleep 60")], with_us=True) as (session, model):
        session.prompt("go")
        soon(lambda: list(home.glob(".local/state/sightline/buffers/*/out")))
        session.ask({"subtype": "interrupt"})
        session.end_of_turn()
        session.prompt("and now")
        session.end_of_turn()
    ((shown,),) = [one.blocks for one in model.seen]
    views = _of_store(home, lambda store: [view_text(store, one) for one in list_views(store)])
    (buffer,) = _of_store(home, lambda store: [one.buffer for one in store.listed(9)])
    assert views == [shown]
    assert (buffer.lines, buffer.partial, buffer.exit_code) == (9, "", None)
