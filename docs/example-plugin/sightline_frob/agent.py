"""Frob's own agent: it takes MCP servers, and is told of the result of each command."""

from collections.abc import Mapping

from sightline.harnesses.base import AFTER, Harness, Hook, Json
from sightline.harnesses.tool_call import ToolCall


class FrobAgent(Harness):
    """Its hooks get one JSON object: ``tool_name``, ``tool_input``, ``output``."""

    name, title = "frob-agent", "Frob"
    programs = ("frob-agent",)
    hooks = (Hook("AfterTool", AFTER),)
    runs = ("shell",)
    servers = ("mcpServers",)

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """One file has both."""
        return f"{home}/.frob/settings.json", f"{home}/.frob/settings.json"

    def project_settings(self, project: str) -> tuple[str, str]:
        """Likewise."""
        return f"{project}/.frob/settings.json", f"{project}/.frob/settings.json"

    def result(self, call: ToolCall, when: str, given: Json) -> ToolCall | None:
        """What a command wrote is a text."""
        return call.with_result(given.get("output"))


HARNESS = FrobAgent()
