"""pi, as version 1.6.0 was seen to behave: its extension and what it reports, its settings, its limits."""

import os
import re
from collections.abc import Callable, Mapping

from sightline.base.records import Gap
from sightline.harnesses.base import AFTER, Hook, Json, Limit
from sightline.harnesses.hook_plugin import PluginHarness
from sightline.harnesses.tool_call import ToolCall, shown_of
from sightline.light.typing_names import Any

_EVENT = "tool_result"
_OF_PROGRAM = "a tool of pi got this result for a program, which chose what to show"
_NOTHING = "(no output)"  # how pi names an empty output to its model
_ENDED = re.compile(
    r"(?:\A|\n\n)(?:Command exited with code (\d\d?|1\d\d|2[0-4]\d|25[0-5])"
    r"|Command aborted|Command timed out after \S+ seconds"
    r"(?:\. The shell exited with code \d{1,10} after \S+ seconds, but background processes [^\n]*)?)\Z"
)
_SHOWING = re.compile(r"\n\n\[Showing (?:lines ([1-9]\d{0,11})-|last )[^\n\[\]]* Full output: ([^\n\]]+)\]\Z")
_FILE = re.compile(r"pi-(?:bash|powershell)-[0-9a-f]{8,64}\.log")
_READ_ON = re.compile(r"\n\n\[[^\n]* Use offset=\d+ to continue\.\]\Z")
_TAIL_CHARACTERS = 500
_EXTENSION = """
export default function (pi) {
  pi.on("tool_result", async (event, ctx) => {
    try {
      const answer = await ask({
        session_id: ctx.sessionManager.getSessionId(),
        tool_use_id: event.toolCallId,
        parent_tool_use_id: event.parentToolCallId,
        tool_name: event.toolName,
        tool_input: event.input ?? {},
        cwd: ctx.cwd,
        content: event.content,
        details: event.details,
        is_error: event.isError,
      })
      const text = [answer.output, answer.append].filter((one) => typeof one === "string").join("\\n\\n")
      if (!text) return
      const block = { type: "text", text }
      if (typeof answer.output === "string") return { content: [block] }
      const [last] = event.content.slice(-1)
      if (last?.type !== "text") return { content: [...event.content, block] }
      return { content: [...event.content.slice(0, -1), { ...last, text: `${last.text}\\n\\n${text}` }] }
    } catch {
      // the tool's result stays as it is
    }
  })
}
"""


class Pi(PluginHarness):
    """An extension runs the hooks. Commands are not rewritten, because pi keeps their whole output in a file."""

    name, title, seen = "pi", "pi", "1.6.0"
    programs = ("pi",)
    missing = "commands are not rewritten: a long output is kept from the file that pi itself writes of it"

    hooks = (Hook(_EVENT, AFTER),)
    runs = ("bash", "powershell")
    own = ("mcp__sightline__",)
    script = _EXTENSION

    limits: Mapping[str, Limit] = {
        "cmd": Limit(50 << 10, 50 << 10, tail=40 << 10),
        "file": Limit(50 << 10, 50 << 10, head=40 << 10),
    }

    servers = ("mcpServers",)
    plugin_file = "sightline.ts"

    endings = (".jsonl",)
    reader = "sightline.harnesses.pi_transcript"

    def result(self, call: ToolCall, when: str, given: Json) -> ToolCall | None:
        """It reports what the model is shown, which for a long output names the file with the whole."""
        content = given.get("content")
        if not isinstance(content, list):
            return None
        made = made_of(call, content, failed=given.get("is_error") is True)
        return made if self.shows(given) else made._replace(shown=("",), unknown=_OF_PROGRAM)

    def shows(self, given: Json) -> bool:
        """A tool may call others, as ``codemode`` does, whose results it alone gets."""
        return not given.get("parent_tool_use_id")

    def replacement(self, event: str, call: ToolCall, given: Json) -> Callable[[str], Json] | None:
        """The extension puts the text there."""
        return (lambda text: {"output": text}) if self.shows(given) else None

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """The extension is a file of its own; versions before 1.0 do not read the one of servers."""
        folder = _folder(home, environment)
        return f"{folder}/mcp.json", f"{folder}/extensions/{self.plugin_file}"

    def project_settings(self, project: str) -> tuple[str, str]:
        """The extension is a file of its own here as well."""
        return f"{project}/.pi/mcp.json", f"{project}/.pi/extensions/{self.plugin_file}"

    def server_entry(self, words: list[str], environment: Mapping[str, str]) -> Json:
        """Unless told so it offers a server's tools only to programs that its model writes."""
        return {**super().server_entry(words, environment), "exposure": "direct"}

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """It has a folder for each working directory."""
        return [os.path.join(_folder(home, environment), "sessions")]


def made_of(call: ToolCall, content: list[Any], *, failed: bool) -> ToolCall:
    """Return a call with its result from an event or a session.

    Args:
        call: the call.
        content: its blocks of text and images.
        failed: whether the result is marked as an error.
    """
    shown = shown_of(content)
    call = call._replace(shown=shown, failed=failed)
    text = shown[0] if len(shown) == 1 else ""
    if call.kind == "cmd" and len(shown) == 1:
        return _ran(call, text, failed=failed)
    path = call.arguments.get("path") if call.tool == "read" and isinstance(call.arguments, dict) else None
    is_text = len(content) == 1 and isinstance(content[0], dict) and content[0].get("type") == "text"
    if isinstance(path, str) and is_text and not failed and not _READ_ON.search(text):
        first = call.arguments.get("offset")
        call = call._replace(kind="file", command=os.path.join(call.cwd, os.path.expanduser(path)))
        return call._replace(first=first if isinstance(first, int) and first > 0 else 1).with_text(text)
    return call.with_result(content) or call


def _ran(call: ToolCall, text: str, *, failed: bool) -> ToolCall:
    ended = _ENDED.search(text) if failed else None
    code = int(ended[1]) if ended and ended[1] else None if failed else 0
    call = call._replace(exit_code=code)
    if failed and not ended:
        return call.with_text(text)  # it never ran, and the text says why
    output = text[: ended.start()] if ended else text
    if cut := _SHOWING.search(output):
        left, missing = output[: cut.start()], int(cut[1]) - 1 if cut[1] else None
        gap = Gap("out", 0, missing, "lines" if cut[1] else "")
        call = call.with_rest((left, (gap,), True), HARNESS.cut)
        if _FILE.fullmatch(os.path.basename(cut[2])):
            call = call.with_saved(cut[2], ("", ""), tail=left[-_TAIL_CHARACTERS:])
        return call
    return call.with_text("" if output == _NOTHING else output)


def _folder(home: str, environment: Mapping[str, str]) -> str:
    return environment.get("PI_CODING_AGENT_DIR") or f"{home}/.pi/agent"


HARNESS = Pi()
