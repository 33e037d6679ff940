"""Qwen Code, as 0.15.10 and 0.24.4 were seen to behave: its hooks and their payloads, its settings, its limits."""

import os
import re
from collections.abc import Mapping

from sightline.harnesses.base import FAILED, Json
from sightline.harnesses.claude_shaped import ClaudeShaped
from sightline.harnesses.tool_call import ToolCall, open_beside, own_file

_EXIT = r"(?m)^Exit Code: (\d+)\nSignal: (?:0|\(none\))$"
_SAVED = r"(?m)^The full output has been saved to: (.+)$"
_LARGEST_BYTES = 256 << 20  # a hook has only seconds
_EMPTY = "(empty)"
_MAY_END_EARLY = "Qwen Code may have lost its end, as it does with some long outputs"
_TERMINAL_LINES = range(9_990, 10_100)
"""Numbers of lines that may be all that is left of more: 0.15.10 keeps what a terminal holds, 10,000 and a screen."""


class Qwen(ClaudeShaped):
    """Its manual says that a hook's answer can change a tool's input; it was seen to run the command unchanged."""

    name, title, seen = "qwen", "Qwen Code", "0.24.4"
    programs = ("qwen",)
    missing = "it may lose the end of a long output, and hooks cannot rewrite the command"
    timeout = 20_000  # milliseconds
    runs = ("run_shell_command",)
    switch = (("disableAllHooks",), True)
    endings = (".jsonl",)
    reader = "sightline.harnesses.qwen_transcript"

    def call_of(self, given: Json) -> ToolCall | None:
        """Its hooks are told an id of their own, and newer ones the model's, too, which stands in its chats."""
        return super().call_of({**given, "tool_use_id": given.get("tool_call_id") or given.get("tool_use_id")})

    def result(self, call: ToolCall, when: str, given: Json) -> ToolCall | None:
        """It reports what the model is shown, whether it is called an error or not."""
        response = given.get("error") if when == FAILED else given.get("tool_response")
        shown = response.get("llmContent") if isinstance(response, dict) else response
        call = call._replace(failed=when == FAILED)
        return made_of(call, shown) if isinstance(shown, str) else super().result(call, when, given)

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """One file is for both."""
        return f"{home}/.qwen/settings.json", f"{home}/.qwen/settings.json"

    def project_settings(self, project: str) -> tuple[str, str]:
        """One file is for both here as well."""
        return f"{project}/.qwen/settings.json", f"{project}/.qwen/settings.json"

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """Return the folder of its chats, one below it for each project."""
        return [f"{home}/.qwen/projects"]


def made_of(call: ToolCall, shown: str) -> ToolCall:
    """Return a call with its result.

    Args:
        call: the call.
        shown: what the model was shown. Of a command that is its output between lines about it, or, if it is long, both
            ends of that and the name of a file that has all of it.
    """
    call = call.with_text(shown)._replace(shown=(shown,))
    if call.kind != "cmd":
        return call
    found = re.search(_SAVED, shown)
    whole = _read(found[1]) if found else None
    told = shown if whole is None else whole
    head = f"Command: {call.command}\nDirectory: "
    begin = told.find("\nOutput: ", told.find(head) + len(head))
    end = told.rfind("\nError: ")
    if head not in told or not 0 < begin < end:
        return call._replace(partial=HARNESS.cut) if found else call
    output, code = told[begin + len("\nOutput: ") : end], re.search(_EXIT, told[end:])
    call = call._replace(exit_code=int(code[1]) if code else None)
    if found and whole is None:
        return call.with_rest(HARNESS.transcripts().left_of(output, call.stream), HARNESS.cut)
    call = call.with_text("" if output == _EMPTY else output)
    is_cut = output.count("\n") in _TERMINAL_LINES
    return call._replace(partial=HARNESS.cut if is_cut else _MAY_END_EARLY if found else "")


def _read(path: str) -> str | None:
    """Return a file of its own with all of a command's output; None without it."""
    file = own_file(path, ("tmp", "", ""))
    try:
        fd = open_beside(file) if file else -1
    except OSError:
        return None
    if fd < 0:
        return None
    with open(fd, "rb") as opened:
        is_small = os.fstat(fd).st_size <= _LARGEST_BYTES
        return opened.read().decode(errors="replace") if is_small else None


HARNESS = Qwen()
