"""Factory Droid, by its documentation of November 2026, not tried: its hooks and settings."""

from collections.abc import Mapping

from sightline.harnesses.claude_shaped import ClaudeShaped


class Droid(ClaudeShaped):
    """Its hooks only record."""

    name, title = "droid", "Factory Droid"
    programs = ("droid",)
    missing = "as documented, not tried: hooks look on only"
    timeout = 20  # seconds
    runs = ("Execute",)

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """It has two files."""
        return f"{home}/.factory/mcp.json", f"{home}/.factory/hooks.json"

    def project_settings(self, project: str) -> tuple[str, str]:
        """It has two files here as well."""
        return f"{project}/.factory/mcp.json", f"{project}/.factory/hooks.json"


HARNESS = Droid()
