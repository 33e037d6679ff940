"""Cursor, by its documentation, not tried: its hooks and their payloads, its settings."""

from collections.abc import Mapping

from sightline.harnesses.base import AFTER, START, Harness, Hook, Json
from sightline.light.json_text import loads
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.harnesses.tool_call import ToolCall


class Cursor(Harness):
    """Its hooks only record."""

    name, title = "cursor", "Cursor"
    programs = ("cursor-agent", "cursor")
    missing = "as documented, not tried: hooks look on only"

    hooks = (Hook("sessionStart", START), Hook("postToolUse", AFTER))
    timeout = 20  # seconds
    runs = ("Shell",)
    own = ("MCP:sightline",)
    tells = True

    servers = ("mcpServers",)
    fills = ((("version",), 1),)

    def result(self, call: "ToolCall", when: str, given: Json) -> "ToolCall | None":
        """A command's result is an object, which may be encoded as a text."""
        output = given.get("tool_output")
        if isinstance(output, str) and output.startswith("{"):
            try:
                output = loads(output)
            except ValueError:
                return call.with_text(output)
        if call.kind == "cmd" and isinstance(output, dict):
            code, text = output.get("exitCode"), output.get("output", output.get("stdout"))
            call = call._replace(exit_code=code if isinstance(code, int) else None)
            return call.with_text(text if isinstance(text, str) else "")
        return call.with_result(output)

    def addition(self, event: str, text: str) -> Json:
        """It has another name for this."""
        return {"additional_context": text}

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """It has two files."""
        return f"{home}/.cursor/mcp.json", f"{home}/.cursor/hooks.json"

    def project_settings(self, project: str) -> tuple[str, str]:
        """It has two files here as well."""
        return f"{project}/.cursor/mcp.json", f"{project}/.cursor/hooks.json"

    def hook_entry(self, hook: Hook, command: str) -> Json:
        """Its lists hold the commands themselves."""
        return {"command": command, **self.time_limit}


HARNESS = Cursor()
