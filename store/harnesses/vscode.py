"""VS Code, as its documentation says, which was not tried: its settings of MCP servers; hooks of it are not used."""

import sys
from collections.abc import Mapping

from sightline.harnesses.base import Harness, Json


class VSCode(Harness):
    """The MCP server only."""

    name, title = "vscode", "VS Code"
    programs = ("code", "codium")
    missing = "no hooks: the MCP server only"

    servers = ("servers",)

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """In the platform's folder of settings."""
        config = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
        if sys.platform == "darwin":
            config = f"{home}/Library/Application Support"
        return f"{config}/Code/User/mcp.json", ""

    def project_settings(self, project: str) -> tuple[str, str]:
        """Of a folder."""
        return f"{project}/.vscode/mcp.json", ""

    def server_entry(self, words: list[str], environment: Mapping[str, str]) -> Json:
        """With the type of the connection."""
        return {"type": "stdio", **super().server_entry(words, environment)}


HARNESS = VSCode()
