"""Gemini CLI, as version 0.61.0 was seen to behave: its hooks and their payloads, its settings, its limits."""

import os
import re
from collections.abc import Callable, Mapping

from sightline.harnesses.base import AFTER, CONTEXT, END, PROMPT, START, Harness, Hook, Json, Limit
from sightline.light.typing_names import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sightline.harnesses.tool_call import ToolCall

_UNTRUSTED = r"(?s)<untrusted_context>\n(.*)\n</untrusted_context>"
_EXIT = r"(?m)^Exit Code: (\d+)$"
_CUT_FILE = (
    r"(?s)\nIMPORTANT: The file content has been truncated\.\nStatus: Showing lines (\d+)-\d+ of \d+ total lines\.\n"
    r".*?\n--- FILE CONTENT \(truncated\) ---\n"
)


class Gemini(Harness):
    """Commands are not rewritten: a hook gets their whole output, and they run on a terminal, which a pipe is not."""

    name, title, seen = "gemini", "Gemini CLI", "0.61.0"
    programs = ("gemini",)
    clients = ("gemini-cli-mcp-client",)
    missing = "of tools that run beside each other it tells what the model was shown when all have ended"

    hooks = (
        Hook("SessionStart", START),
        Hook("BeforeAgent", PROMPT),
        Hook("AfterTool", AFTER, ".*"),
        Hook("PreCompress", CONTEXT),
        Hook("AfterAgent", END),
        Hook("SessionEnd", END),
    )
    timeout = 20_000  # milliseconds
    runs = ("run_shell_command",)
    own = ("mcp_sightline_",)
    replaces = tells = tells_context = transcribes = True
    says = "prompt_response"

    limits = dict.fromkeys(("cmd", "file", "tool"), Limit(40_000, 40_250, head=8_000, tail=32_000))

    servers = ("mcpServers",)
    switch = (("hooksConfig", "enabled"), False)
    project_hints = ("Gemini CLI reads .gemini/ only in folders that you trust",)

    endings = (".jsonl", ".json")
    reader = "sightline.harnesses.gemini_transcript"

    def result(self, call: "ToolCall", when: str, given: Json) -> "ToolCall | None":
        """It reports what the model is shown, and what a person is; for a command, that is all that it wrote."""
        response = given.get("tool_response")
        if not isinstance(response, dict):
            return None
        error = response.get("error")
        if isinstance(error, dict) and isinstance(error.get("message"), str):  # this was shown, as it never ran
            return call._replace(kind="tool", command="", failed=True).with_text(error["message"])
        shown = _joined(response.get("llmContent"))
        if shown is None:
            return call._replace(failed=bool(error)).with_result(response.get("llmContent"))
        call = call._replace(failed=bool(error), shown=(shown,))
        if call.kind == "cmd":
            return self._ran(call, shown, response.get("returnDisplay"))
        path = call.arguments.get("file_path")
        if call.tool == "read_file" and not call.failed:
            cut = re.match(_CUT_FILE, shown)
            whole = os.path.join(call.cwd, path if isinstance(path, str) else "")
            call = call._replace(kind="file", command=whole, first=int(cut[1]) if cut else 1)
            return call.with_text(shown[cut.end() :] if cut else shown)
        inner = re.fullmatch(_UNTRUSTED, shown)
        return call.with_text(inner[1] if inner else shown)

    def _ran(self, call: "ToolCall", shown: str, display: Any) -> "ToolCall":
        code = re.search(_EXIT, shown)
        text = self.transcripts().displayed(shown, display) if isinstance(display, str) else shown
        return call.with_text(text)._replace(exit_code=int(code[1]) if code else None if call.failed else 0)

    def replacement(self, event: str, call: "ToolCall", given: Json) -> Callable[[str], Json] | None:
        """A read file stays."""
        return None if call.kind == "file" else lambda text: {"decision": "deny", "reason": text}

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """One file is for both."""
        file = f"{environment.get('GEMINI_CLI_HOME') or home}/.gemini/settings.json"
        return file, file

    def project_settings(self, project: str) -> tuple[str, str]:
        """One file is for both here as well."""
        return f"{project}/.gemini/settings.json", f"{project}/.gemini/settings.json"

    def hook_entry(self, hook: Hook, command: str) -> Json:
        """It adds a name."""
        entry = {"type": "command", "name": f"sightline-{hook.event}", "command": command, **self.time_limit}
        return {**({"matcher": hook.matcher} if hook.matcher else {}), "hooks": [entry]}

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """It has a folder for each project."""
        return [os.path.join(home, ".gemini/tmp")]


def _joined(content: Any) -> str | None:
    """Return the text that a model gets; None for content that is not only text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [one if isinstance(one, str) else one.get("text") if isinstance(one, dict) else None for one in parts]
    known = [text for text in texts if isinstance(text, str)]
    return "".join(known) if len(known) == len(parts) else None


HARNESS = Gemini()
