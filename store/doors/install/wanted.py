"""What each harness' settings are to have from us: the MCP server, the hooks of a mode, and the rules they need."""

import json
import os
import shlex
import sys
from typing import Any, NamedTuple

from sightline.doors.hooks.entry import FILE, script
from sightline.doors.hooks.facts import BEFORE, HARNESSES, Hook, allow_rules
from sightline.doors.hooks.line import hook_line
from sightline.doors.install.content import Add, Content, Put
from sightline.doors.install.places import PROJECT, Places
from sightline.doors.install.recognise import MODULE, is_ours

NAME = "sightline"
"""Of the server, in every harness."""

SERVER_WORDS = (sys.executable, "-E", "-P", "-m", MODULE, "mcp")
"""The interpreter by its whole path, since harnesses start servers with a PATH of their own; ``-E`` and ``-P`` keep out
what a project has in ``PYTHONPATH`` or beside it."""

_SERVERS = {
    "claude-code": ("mcpServers",),
    "codex": ("mcp_servers",),
    "gemini": ("mcpServers",),
    "opencode": ("mcp",),
    "cursor": ("mcpServers",),
    "vscode": ("servers",),
}
_HINTS = {
    "claude-code": (
        "to let it read outputs without asking, allow mcp__sightline__read_output and mcp__sightline__query in "
        "/permissions",
    ),
    "codex": (
        "Codex runs hooks only once you trust them: type /hooks in it",
        'default_tools_approval_mode = "approve" below [mcp_servers.sightline] lets run_command run without asking; '
        "its commands then stand outside of Codex' sandbox",
        "of a model that Codex does not know it shows 12,000 bytes of a result; tool_output_token_limit = 10000 at the "
        "top of config.toml makes that 40,000",
    ),
}
_PROJECT_HINTS = {
    "claude-code": (
        "Claude Code asks once whether the server of this folder may be started",
        "Claude Code runs the hooks of a folder at once, but heeds its rules only when you trust it: start claude here "
        "once, or it asks about every command in the modes keep and shape",
    ),
    "codex": ("Codex reads .codex/ only in folders that you trust",),
    "gemini": ("Gemini CLI reads .gemini/ only in folders that you trust",),
}
_PATHS_HINT = "these files name paths of this machine: keep them out of version control"


class Target(NamedTuple):
    """A file, and what it is to have.

    Attributes:
        path: where it lies.
        content: what it is to have.
    """

    path: str
    content: Content


def targets_of(harness: str, mode: str, places: Places, root: str) -> list[Target]:
    """What a harness' files are to have.

    Args:
        harness: its name.
        mode: one of MODES.
        places: where they lie.
        root: the store's root where it is not the usual one, for which servers and hooks are given it; else empty.
    """
    servers = Put((*_SERVERS[harness], NAME), server_entry(harness, root))
    if harness == "opencode":
        content = Content("text", is_ours, text=_opencode_plugin(mode, root))
        return [Target(places.servers, Content("json", is_ours, (servers,))), Target(places.hooks, content)]
    if not places.hooks:
        return [Target(places.servers, Content("json", is_ours, (servers,)))]
    entry = os.path.join(os.path.dirname(places.hooks), FILE)
    hooks = hooks_content(harness, mode, root, entry)
    if places.hooks == places.servers:
        return [Target(places.servers, hooks._replace(puts=(servers,)))]
    form = "toml" if harness == "codex" else "json"
    targets = [Target(places.servers, Content(form, is_ours, (servers,)))]
    if rewrites(harness, mode):  # before the hooks that name it
        targets.append(Target(entry, Content("text", is_ours, text=script(root), is_program=True)))
    return [*targets, Target(places.hooks, hooks)]


def rewrites(harness: str, mode: str) -> bool:
    """Whether hooks of a mode put our script into commands."""
    return any(hook.when == BEFORE and mode in hook.modes for hook in HARNESSES[harness].hooks)


def server_entry(harness: str, root: str) -> dict[str, Any]:
    """The MCP server as a harness' settings have it."""
    program, *arguments = SERVER_WORDS
    environment = {"SIGHTLINE_HOME": root} if root else {}
    if harness == "opencode":
        told = {"environment": environment} if environment else {}
        return {"type": "local", "command": [program, *arguments], **told, "enabled": True}
    entry: dict[str, Any] = {"command": program, "args": arguments}
    if harness in ("claude-code", "vscode"):
        entry = {"type": "stdio", **entry}
    if environment:
        entry["env"] = environment
    if harness == "codex":
        entry["required"] = True  # without it, Codex begins without a server that takes longer than a second to start
    return entry


def hooks_content(harness: str, mode: str, root: str, entry: str) -> Content:
    """The hooks of a mode, and the rules that they need.

    Args:
        harness: its name.
        mode: one of MODES.
        root: as for `targets_of`.
        entry: where the script lies that hooks put into commands.
    """
    facts = HARNESSES[harness]
    adds = [
        Add(("hooks", hook.event), _hook(harness, hook, mode, root, entry))
        for hook in facts.hooks
        if mode in hook.modes
    ]
    sweeps: tuple[tuple[str, ...], ...] = (("hooks",),)
    own, *shared = allow_rules(harness, shlex.quote(entry)) or ("",)
    if own:
        allow = ("permissions", "allow")
        sweeps = (*sweeps, allow)
        if rewrites(harness, mode):
            adds += [Add(allow, own), *(Add(allow, rule, shared=True) for rule in shared)]
    fills = ((("version",), 1),) if harness == "cursor" else ()
    # Rewritten commands run in a shell that knows nothing of a hook's own variables.
    sets = ((("env", "SIGHTLINE_HOME"), root),) if root and harness == "claude-code" else ()
    return Content("json", is_ours, adds=tuple(adds), sweeps=sweeps, fills=fills, sets=sets)


def hints_for(harness: str, scope: str) -> tuple[str, ...]:
    """What a person should know or do beside, in sentences."""
    told = _HINTS.get(harness, ())
    if scope == PROJECT:
        told = (*told, *_PROJECT_HINTS.get(harness, ()), _PATHS_HINT)
    return told


def _opencode_plugin(mode: str, root: str) -> str:
    from sightline.doors.hooks.opencode import plugin_text  # of no other harness

    told = f"\nprocess.env.SIGHTLINE_HOME ??= {json.dumps(root)}\n" if root else ""
    return plugin_text(mode) + told


def _hook(harness: str, hook: Hook, mode: str, root: str, through: str) -> dict[str, Any]:
    line = hook_line(harness, hook.event, mode, through if hook.when == BEFORE else "")
    command = (f"SIGHTLINE_HOME={shlex.quote(root)} " if root else "") + line
    timeout = HARNESSES[harness].timeout
    limit = {"timeout": timeout} if timeout else {}
    if harness == "cursor":  # its lists hold the commands themselves
        return {"command": command, **limit}
    named = {"name": f"sightline-{hook.event}"} if harness == "gemini" else {}
    entry = {"type": "command", **named, "command": command, **limit}
    return {**({"matcher": hook.matcher} if hook.matcher else {}), "hooks": [entry]}
