"""Events of harnesses, given to the hook as they give them, and what the store has of them afterwards."""

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

from sightline.agents.hooks.capture_script import FILE, script
from sightline.agents.hooks.event import answer_to
from sightline.base.records import Buffer, View
from sightline.harnesses import find
from sightline.harnesses.base import BEFORE
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.store import Store, Target
from tests.conftest import PATIENCE_SECONDS
from tests.faults.kill_kit import soon


def process(words: list[str], given: bytes, root: Path) -> "subprocess.CompletedProcess[bytes]":
    """A hook as a harness starts it."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "SIGHTLINE_HOME": str(root)}
    return subprocess.run(words, input=given, capture_output=True, env=environment, timeout=60)


def run_to_end(words: list[str], **how: Any) -> int:
    """Run a program that takes milliseconds, and return its exit code; it is killed where it does not end.

    `subprocess.run` with a timeout may notice the end 50 ms late.
    """
    running = subprocess.Popen(words, **how)
    too_late = threading.Timer(PATIENCE_SECONDS, running.kill)
    too_late.start()
    try:
        return running.wait()
    finally:
        too_late.cancel()


def claude_cut(text: str) -> str:
    """A failure's text as Claude Code 2.1.329 tells it: both its ends, and how much it cut between them."""
    if len(text) <= 10_000:
        return text
    return f"{text[:5_000]}\n\n... [{len(text) - 10_000} characters truncated] ...\n\n{text[-5_000:]}"


class Harness:
    """One session of one harness.

    Args:
        name: the harness.
        root: root of the store.
        cwd: the session's working directory.
    """

    def __init__(self, name: str, root: Path, cwd: Path) -> None:
        self.name, self.root, self.cwd = name, root, cwd

    def tell(self, event: str, mode: str = "keep", **given: Any) -> Any:
        """Give the hook an event; its answer, None for none."""
        data = {"session_id": "s1", "cwd": str(self.cwd), "hook_event_name": event, **given}
        words = [self.name, event, "--mode", mode]
        if find(self.name).when(event) == BEFORE:
            words += ["--through", self._script()]
        answer = answer_to(words, json.dumps(data).encode())
        return json.loads(answer) if answer else None

    def _script(self) -> str:
        """The script that `install` writes, whose path has no blanks."""
        path = self.root.parent / FILE
        if not path.exists():
            path.write_text(script())
            path.chmod(0o755)
        return str(path)

    def after(self, command: str, use: str, output: str, code: int) -> None:
        """Tell the hooks of Claude Code how a command ended."""
        told = {"tool_name": "Bash", "tool_use_id": use, "tool_input": {"command": command}}
        if code:
            self.tell("PostToolUseFailure", **told, error=f"Exit code {code}\n{output.strip()}")
        else:
            response = {"stdout": output.strip(), "stderr": "", "interrupted": False, "isImage": False}
            self.tell("PostToolUse", **told, tool_response=response)

    def buffers(self) -> list[Buffer]:
        """All buffers, oldest first, once a process that showed a list has removed what it was too slow to end."""
        with Store(str(self.root)) as store:
            found: list[Buffer] = []

            def is_settled() -> bool:
                found[:] = [item.buffer for item in store.listed(100)]
                return all(one.artifact or one.state != "running" for one in found)

            soon(is_settled)
            return sorted(found, key=lambda buffer: buffer.created)

    def views(self) -> list[tuple[View, str]]:
        """All views with their exact texts, oldest first."""
        with Store(str(self.root)) as store:
            return [(one.view, view_text(store, one)) for one in reversed(list_views(store))]

    def content(self, buffer: Buffer, stream: str = "out") -> bytes:
        """What a stream holds."""
        with Store(str(self.root)) as store, store.open(Target(buffer, stream)) as source:
            return bytes(source.read(0, buffer.stream(stream).bytes))
