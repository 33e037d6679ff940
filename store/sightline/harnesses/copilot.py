"""Copilot CLI, as version 1.0.102 was seen to behave: its hooks and their payloads, its settings, its limits.

VS Code reads the same files of hooks, by its documentation of November 2026; that was not tried.
"""

import os
import re
from collections.abc import Callable, Mapping

from sightline.base.records import Gap
from sightline.harnesses.base import FAILED, Hook, Json, Limit
from sightline.harnesses.claude_shaped import ClaudeShaped
from sightline.harnesses.tool_call import ToolCall, dict_of, text_of

_ENDED = re.compile(r"\n?<(?:shellId: \S+ completed|exited) with exit code (-?\d{1,10})>\s*\Z")
_LARGE = re.compile(
    r"\AOutput too large to read at once \([^()\n]*\)\. Saved to: ([^\n]+)\n.*?\n\nPreview \(first \d+ chars\):\n", re.S
)
_FILE = re.compile(r"\d+-copilot-tool-output-\d+-[0-9a-f-]{36}\.txt")


class Copilot(ClaudeShaped):
    """Commands are not rewritten, because their whole output lies in a file while hooks run."""

    name, title, seen = "copilot", "Copilot CLI", "1.0.102"
    programs = ("copilot",)
    clients = ("copilot-cli",)
    missing = "commands cannot be rewritten: a long output is kept from the file that Copilot itself writes of it"
    timeout = 20  # seconds
    runs = ("Bash", "powershell")
    own = ("sightline-", "mcp__sightline__")
    replaces = True

    limits: Mapping[str, Limit] = {"cmd": Limit(20 << 10, 890, head=500)}
    reply_bytes = 20_000  # nearly the 20 KiB that it shows

    fills = ((("version",), 1),)

    endings = (".jsonl",)
    reader = "sightline.harnesses.copilot_transcript"

    def result(self, call: ToolCall, when: str, given: Json) -> ToolCall | None:
        """It reports what the model is shown, which for a long output names a file that has the whole."""
        told = dict_of(given.get("tool_result"))
        shown = told.get("text_result_for_llm")
        if when == FAILED or not isinstance(shown, str):
            return super().result(call, when, given)
        return made_of(call, shown, failed=told.get("result_type") == "failure")

    def replacement(self, event: str, call: ToolCall, given: Json) -> Callable[[str], Json] | None:
        """A result keeps its sort, a success or a failure."""
        sort = text_of(dict_of(given.get("tool_result")).get("result_type")) or "success"
        return lambda text: {"modifiedResult": {"textResultForLlm": text, "resultType": sort}}

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """Each file of its folder of hooks counts, so ours is one of its own."""
        folder = _folder(home, environment)
        return f"{folder}/mcp-config.json", f"{folder}/hooks/sightline.json"

    def project_settings(self, project: str) -> tuple[str, str]:
        """Its MCP servers stand where other harnesses look for them, too."""
        return f"{project}/.mcp.json", f"{project}/.github/hooks/sightline.json"

    def server_entry(self, words: list[str], environment: Mapping[str, str]) -> Json:
        """It has to be told which tools of a server are offered."""
        return {"type": "local", **super().server_entry(words, environment), "tools": ["*"]}

    def hook_entry(self, hook: Hook, command: str) -> Json:
        """Its lists hold the commands themselves, without a matcher."""
        return {"type": "command", "command": command, "timeoutSec": self.timeout}

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """It has a folder for each session."""
        return [os.path.join(_folder(home, environment), "session-state")]


def made_of(call: ToolCall, shown: str, *, failed: bool) -> ToolCall:
    """Return a call with its result from an event or a session.

    Args:
        call: the call.
        shown: what the model was shown.
        failed: whether the result is marked as a failure.
    """
    call = call._replace(shown=(shown,), failed=failed)
    if call.kind != "cmd":
        return call.with_text(shown)
    text, code = exit_code_in(shown)
    call = call._replace(exit_code=code)
    if large := _LARGE.match(text):
        left = text[large.end() :]
        call = call.with_rest((left, (Gap("out", left.count("\n") + 1, None, ""),), True), HARNESS.cut)
        if _FILE.fullmatch(os.path.basename(large[1])):
            call = call.with_saved(large[1], ("", ""))
        return call
    return call.with_text(text)


def exit_code_in(shown: str) -> tuple[str, int | None]:
    """Return what a command wrote, and the exit code below it; None if there is none."""
    ended = _ENDED.search(shown)
    return (shown[: ended.start()], int(ended[1])) if ended else (shown, None)


def _folder(home: str, environment: Mapping[str, str]) -> str:
    return environment.get("COPILOT_HOME") or f"{home}/.copilot"


HARNESS = Copilot()
