"""VS Code, by its documentation, not tried: its settings of MCP servers; its hooks are not used."""

import sys
from collections.abc import Mapping

from sightline.harnesses.base import Harness, Json


class VSCode(Harness):
    """Only the MCP server is installed."""

    name, title = "vscode", "VS Code"
    programs = ("code", "codium")
    missing = "no hooks: the MCP server only"

    servers = ("servers",)

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """They lie in the platform's folder of settings."""
        config = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
        if sys.platform == "darwin":
            config = f"{home}/Library/Application Support"
        return f"{config}/Code/User/mcp.json", ""

    def project_settings(self, project: str) -> tuple[str, str]:
        """They lie in the folder."""
        return f"{project}/.vscode/mcp.json", ""

    def server_entry(self, words: list[str], environment: Mapping[str, str]) -> Json:
        """It adds the type of the connection."""
        return {"type": "stdio", **super().server_entry(words, environment)}


HARNESS = VSCode()
