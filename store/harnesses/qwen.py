"""Qwen Code, as 0.15.10 and 0.24.4 were seen to behave: its hooks and their payloads, its settings, its limits."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sightline.harnesses.base import FAILED, Json
from sightline.harnesses.claude_shaped import ClaudeShaped

if TYPE_CHECKING:
    from sightline.harnesses.tool_call import ToolCall

_EXIT = r"(?m)^Exit Code: (\d+)$"
_SAVED = r"\nOutput too long and was saved to: [^\n]*\Z"
_TERMINAL_LINES = 10_000
"""Of a command's output it keeps about this many of the last lines on its terminal, not always the very last."""


class Qwen(ClaudeShaped):
    """Its manual says that a hook's answer can change a tool's input; it was seen to run the command unchanged."""

    name, title, seen = "qwen", "Qwen Code", "0.24.4"
    programs = ("qwen",)
    missing = "of a long output it has only a part itself, and hooks cannot rewrite the command"
    timeout = 20_000  # milliseconds
    runs = ("run_shell_command",)
    switch = (("disableAllHooks",), True)

    def result(self, call: "ToolCall", when: str, given: Json) -> "ToolCall | None":
        """It reports what the model is shown, and what a person is; for a command, that is what its terminal has."""
        response = given.get("tool_response")
        shown = response.get("llmContent") if isinstance(response, dict) else None
        if when == FAILED or not isinstance(response, dict) or not isinstance(shown, str):
            return super().result(call, when, given)
        display, code = response.get("returnDisplay"), re.search(_EXIT, shown)
        if call.kind != "cmd" or not isinstance(display, str):
            return call.with_text(shown)._replace(shown=(shown,))
        text = re.sub(_SAVED, "", display)
        is_cut = text != display or text.count("\n") >= _TERMINAL_LINES
        call = call.with_text(text)._replace(shown=(shown,), exit_code=int(code[1]) if code else None)
        return call._replace(partial=self.cut) if is_cut else call

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """One file is for both."""
        return f"{home}/.qwen/settings.json", f"{home}/.qwen/settings.json"

    def project_settings(self, project: str) -> tuple[str, str]:
        """One file is for both here as well."""
        return f"{project}/.qwen/settings.json", f"{project}/.qwen/settings.json"


HARNESS = Qwen()
