"""Where each harness has its settings, for a person and for a project."""

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from sightline.doors.hooks.opencode import FILE as PLUGIN

USER, PROJECT = "user", "project"
SCOPES = (USER, PROJECT)
"""For all that a person does, or in one folder only."""


class Where(NamedTuple):
    """Whose settings, and of which project.

    Attributes:
        home: the person's home.
        project: the project's folder.
        environment: variables by which harnesses are told of other places.
    """

    home: str
    project: str
    environment: Mapping[str, str]


class Places(NamedTuple):
    """The files of one harness in one scope; empty for what it has no file for.

    Attributes:
        servers: where it lists MCP servers.
        hooks: where it lists hooks, which may be the same file; of opencode, the plugin itself.
    """

    servers: str
    hooks: str = ""

    @property
    def all(self) -> list[str]:
        """Each file once."""
        return list(dict.fromkeys(path for path in self if path))


def places_of(harness: str, scope: str, where: Where) -> Places:
    """Where a harness has its settings.

    Args:
        harness: its name.
        scope: one of SCOPES.
        where: whose.
    """
    return (_in_project if scope == PROJECT else _of_user)(harness, where)


def coincide(one: Places, other: Places) -> bool:
    """Whether two scopes share a file, as they do in a person's home."""
    return bool({os.path.realpath(path) for path in one.all} & {os.path.realpath(path) for path in other.all})


def _of_user(harness: str, where: Where) -> Places:
    environment, home = where.environment, where.home
    config = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    match harness:
        case "claude-code":
            told = environment.get("CLAUDE_CONFIG_DIR")
            return Places(f"{told or home}/.claude.json", f"{told or home + '/.claude'}/settings.json")
        case "codex":
            folder = environment.get("CODEX_HOME") or f"{home}/.codex"
            return Places(f"{folder}/config.toml", f"{folder}/hooks.json")
        case "gemini":
            folder = f"{environment.get('GEMINI_CLI_HOME') or home}/.gemini"
            return Places(f"{folder}/settings.json", f"{folder}/settings.json")
        case "opencode":
            return Places(_opencode(f"{config}/opencode"), f"{config}/opencode/plugins/{PLUGIN}")
        case "cursor":
            return Places(f"{home}/.cursor/mcp.json", f"{home}/.cursor/hooks.json")
    if sys.platform == "darwin":
        config = f"{home}/Library/Application Support"
    return Places(f"{config}/Code/User/mcp.json")


def _in_project(harness: str, where: Where) -> Places:
    project = where.project
    match harness:
        case "claude-code":
            return Places(f"{project}/.mcp.json", f"{project}/.claude/settings.json")
        case "codex":
            return Places(f"{project}/.codex/config.toml", f"{project}/.codex/hooks.json")
        case "gemini":
            return Places(f"{project}/.gemini/settings.json", f"{project}/.gemini/settings.json")
        case "opencode":
            return Places(_opencode(project), f"{project}/.opencode/plugins/{PLUGIN}")
        case "cursor":
            return Places(f"{project}/.cursor/mcp.json", f"{project}/.cursor/hooks.json")
    return Places(f"{project}/.vscode/mcp.json")


def _opencode(folder: str) -> str:
    """Its settings' file has two names; both are read, so the one that is there will do."""
    commented = f"{folder}/opencode.jsonc"
    return commented if os.path.lexists(commented) else f"{folder}/opencode.json"
