"""A plugin for Claude Code: one folder with the MCP server and the hooks, the same that go into settings.

A plugin cannot set permission rules; for modes that rewrite commands the person adds them by hand, as its
README says.
"""

import os
import shlex

from sightline.agents.hooks.capture_script import FILE, script
from sightline.agents.install.errors import NotOurs
from sightline.agents.install.harness_settings import NAME, hooks_content, rewrites, server_entry
from sightline.agents.install.installation import Done, SettingsChange
from sightline.agents.install.settings_file import PROGRAM_MODE, check_writable, read_settings, write_settings
from sightline.base.distribution import version
from sightline.base.regular_files import read_regular
from sightline.capture.pipe_insertion import PIPEFAIL
from sightline.harnesses.claude_code import HARNESS
from sightline.light.json_text import dumps, loads
from sightline.light.typing_names import Any

_MANIFEST = ".claude-plugin/plugin.json"
_DESCRIPTION = "Keeps every tool output whole, shows small honest views, and records what the agent saw."


def make_plugin(folder: str, mode: str, root: str, *, dry_run: bool = False) -> list[Done]:
    """Write the plugin's files.

    Args:
        folder: where the files go; it is made where it is missing.
        mode: one of MODES.
        root: the store's root where it is not the usual one, else empty.
        dry_run: whether nothing is written.

    Raises:
        NotOurs: the folder holds something that is not ours.
        SettingsUnreadable, SettingsReadOnly, SettingsBusy: it cannot be written.
    """
    if not _is_free(folder):
        raise NotOurs(f"{folder} holds something that is not ours", "name a folder that is empty, or not there yet")
    files = plugin_files(folder, mode, root)
    changes = []
    for name, text in files.items():
        found = read_settings(os.path.join(folder, name))
        found = found._replace(mode=PROGRAM_MODE) if name == FILE else found
        changes.append(SettingsChange(found, text.encode(), None))
    for change in changes:
        check_writable(change.found)
    if not dry_run:
        for change in changes:
            if change.changes:
                write_settings(change.found, change.after)
    return [Done(change) for change in changes]


def plugin_files(folder: str, mode: str, root: str) -> dict[str, str]:
    """The text of each file of the plugin in a folder, by its path within."""
    manifest = {
        "name": NAME,
        "version": version() or "0",
        "description": _DESCRIPTION,
        "author": {"name": "Sightline"},
        "license": "MIT",
        "keywords": ["audit", "tool-output", "mcp"],
    }
    hooks: dict[str, list[Any]] = {}
    for keys, value in hooks_content(HARNESS, mode, root, os.path.join(folder, FILE)).adds:
        if keys[0] == "hooks":
            hooks.setdefault(keys[1], []).append(value)
    return {
        _MANIFEST: _json(manifest),
        "hooks/hooks.json": _json({"description": f"Sightline, mode {mode}", "hooks": hooks}),
        ".mcp.json": _json({"mcpServers": {NAME: server_entry(HARNESS, root)}}),
        "README.md": _readme(folder, mode),
        **({FILE: script(root)} if rewrites(HARNESS, mode) else {}),
    }


def rules_to_add(folder: str, mode: str) -> tuple[str, ...]:
    """The permission rules that a mode needs, and that the plugin in this folder cannot set."""
    return HARNESS.allow_rules(shlex.quote(os.path.join(folder, FILE)), PIPEFAIL) if rewrites(HARNESS, mode) else ()


def _readme(folder: str, mode: str) -> str:
    rules = "".join(f"- `{rule}`\n" for rule in rules_to_add(folder, mode))
    wanted = (
        f"\nIts mode needs these rules in `/permissions`, or each command is asked about:\n\n{rules}" if rules else ""
    )
    return f"""\
# Sightline

{_DESCRIPTION}

The plugin starts the MCP server `sightline mcp`, whose tools run commands, read files, page, search and query what was
captured, and hooks in the mode `{mode}`, which record what all other tools gave. Look at it with `sightline`, and check
that it works with `sightline doctor`.

It was made by `sightline install claude-code --plugin DIR --mode {mode}` and names this machine's Python; make it anew
after moving either.
{wanted}"""


def _is_free(folder: str) -> bool:
    """Whether the folder is missing, empty, or holds a plugin of ours."""
    try:
        if not os.listdir(folder):
            return True
        return bool(loads(read_regular(os.path.join(folder, _MANIFEST))).get("name") == NAME)
    except FileNotFoundError:
        return not os.path.lexists(folder)
    except (OSError, ValueError, AttributeError):
        return False


def _json(value: Any) -> str:
    return dumps(value, ensure_ascii=False, indent=2) + "\n"
