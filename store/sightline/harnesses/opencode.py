"""opencode, as version 1.18.33 was seen to behave: its plugin and what it reports, its settings, its limits."""

import os
from collections.abc import Callable, Mapping

from sightline.harnesses.base import AFTER, Hook, Json, Limit
from sightline.harnesses.hook_plugin import PluginHarness
from sightline.harnesses.tool_call import ToolCall, dict_of, text_of

_TAIL_CHARACTERS = 500
_EVENT = "tool.execute.after"
_PLUGIN = """
export const Sightline = async ({ directory }) => ({
  "tool.execute.after": async (input, output) => {
    try {
      const answer = await ask({
        session_id: input.sessionID,
        tool_use_id: input.callID,
        tool_name: input.tool,
        tool_input: input.args ?? {},
        cwd: directory,
        output: output.output,
        content: output.content,
        metadata: output.metadata,
      })
      const text = [answer.output, answer.append].filter((one) => typeof one === "string")
      if (Array.isArray(output.content)) {
        if (typeof answer.output === "string") output.content.length = 0
        for (const one of text) output.content.push({ type: "text", text: one })
      } else if (text.length) {
        if (typeof answer.output !== "string") text.unshift(output.output ?? "")
        output.output = text.join("\\n\\n")
      }
    } catch {
      // the tool's result stays as it is
    }
  },
})
"""


class Opencode(PluginHarness):
    """A plugin runs the hooks. Commands are not rewritten, because opencode keeps their whole output in a file."""

    name, title, seen = "opencode", "opencode", "1.18.33"
    programs = ("opencode",)
    missing = "a tool that fails is not told to plugins"

    hooks = (Hook(_EVENT, AFTER),)
    runs = ("bash",)
    own = ("sightline_",)
    script = _PLUGIN

    limits = dict.fromkeys(("cmd", "file", "tool"), Limit(50 << 10, 50 << 10))
    reply_bytes, reply_lines = 50_000, 1_990  # nearly the 50 KiB and 2,000 lines that it shows

    servers = ("mcp",)
    plugin_file = "sightline.js"

    endings = (".db", ".json")
    reader = "sightline.harnesses.opencode_transcript"

    def result(self, call: ToolCall, when: str, given: Json) -> ToolCall | None:
        """It reports what the model is shown, with metadata: the text of a file, or the place of a long output."""
        about = dict_of(given.get("metadata"))
        if isinstance(content := given.get("content"), list):
            texts = [text for one in content if isinstance(text := dict_of(one).get("text"), str)]
            shown = ("\n\n".join(texts),) if len(texts) == len(content) else ()
            made = call.with_result({"content": content})
            return made._replace(shown=shown) if made else None
        output, code, display = text_of(given.get("output")), about.get("exit"), dict_of(about.get("display"))
        call = call._replace(shown=(output,))
        if isinstance(display.get("text"), str) and display.get("type") == "file":
            first, path = display.get("lineStart"), text_of(display.get("path"))
            call = call._replace(kind="file" if path else "tool", command=path)
            return call._replace(first=first if isinstance(first, int) else 1).with_text(display["text"])
        call = call._replace(exit_code=code if call.kind == "cmd" and isinstance(code, int) else None)
        path = text_of(about.get("outputPath"))
        if about.get("truncated"):
            call = call.with_rest(self.transcripts().left_of(output, call.stream), self.cut)
        else:
            call = call.with_text(output)
        if about.get("truncated") or path:
            ends, tail = ("opencode", "tool-output", ""), output[-_TAIL_CHARACTERS:]
            call = call._replace(partial=self.cut).with_saved(path, ends, tail=tail)
        return call

    def replacement(self, event: str, call: ToolCall, given: Json) -> Callable[[str], Json] | None:
        """The plugin puts the text there."""
        return lambda text: {"output": text}

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """The plugin is a file of its own."""
        folder = f"{environment.get('XDG_CONFIG_HOME') or f'{home}/.config'}/opencode"
        return _settings(folder), f"{folder}/plugins/{self.plugin_file}"

    def project_settings(self, project: str) -> tuple[str, str]:
        """The plugin is a file of its own here as well."""
        return _settings(project), f"{project}/.opencode/plugins/{self.plugin_file}"

    def server_entry(self, words: list[str], environment: Mapping[str, str]) -> Json:
        """It has other names for this."""
        told = {"environment": environment} if environment else {}
        return {"type": "local", "command": words, **told, "enabled": True}

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """It has one database."""
        return [os.path.join(environment.get("XDG_DATA_HOME", "") or f"{home}/.local/share", "opencode/opencode.db")]


def _settings(folder: str) -> str:
    """Return the settings' file, which has two names; both are read, so the existing one will do."""
    commented = f"{folder}/opencode.jsonc"
    return commented if os.path.lexists(commented) else f"{folder}/opencode.json"


HARNESS = Opencode()
