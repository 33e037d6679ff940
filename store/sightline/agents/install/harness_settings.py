"""Where each harness keeps its settings, and which entries of ours go there: server, hooks, permission rules."""

import os
import shlex
import sys
from collections.abc import Mapping

from sightline.agents.hooks.capture_script import FILE, script
from sightline.agents.hooks.command_line import hook_line, hook_words
from sightline.agents.install.own_entries import MODULE, is_ours
from sightline.agents.install.settings_text import Add, Put, SettingsEntries
from sightline.capture.pipe_insertion import PIPEFAIL
from sightline.harnesses import known
from sightline.harnesses.base import BEFORE, Harness, Hook
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.settings.config import default_root

USER, PROJECT = "user", "project"
SCOPES = (USER, PROJECT)
"""The scopes of an installation: everything that a person does, or one folder."""


def installable() -> dict[str, Harness]:
    """The harnesses whose settings, or folders for plugins, are known, by name."""
    return {name: one for name, one in known().items() if one.servers or one.plugin_file}


class Where(NamedTuple):
    """Whose settings, and of which project.

    Attributes:
        home: the person's home.
        project: the project's folder.
        environment: the variables that may move a harness' settings elsewhere.
    """

    home: str
    project: str
    environment: Mapping[str, str]


def here() -> Where:
    """Return the person's home, and the current folder as the project."""
    return Where(os.path.expanduser("~"), os.getcwd(), os.environ)


def told_root() -> str:
    """Return the store's root if a variable names it, since harnesses start servers without it; else empty."""
    root = default_root()
    return root if root != default_root({}) else ""


class SettingsPlaces(NamedTuple):
    """The settings files of one harness in one scope; an empty path where it has no such file.

    Attributes:
        servers: the file that lists MCP servers.
        hooks: the file that lists hooks, which may be the same, or the plugin that runs them.
    """

    servers: str
    hooks: str = ""

    @property
    def all(self) -> list[str]:
        """Each file once."""
        return list(dict.fromkeys(path for path in self if path))


def places_of(harness: Harness, scope: str, where: Where) -> SettingsPlaces:
    """Where a harness has its settings.

    Args:
        harness: which one.
        scope: one of SCOPES.
        where: whose.
    """
    if scope == PROJECT:
        return SettingsPlaces(*harness.project_settings(where.project))
    return SettingsPlaces(*harness.user_settings(where.home, where.environment))


def coincide(one: SettingsPlaces, other: SettingsPlaces) -> bool:
    """Whether two scopes share a file, as they do in a person's home."""
    return bool({os.path.realpath(path) for path in one.all} & {os.path.realpath(path) for path in other.all})


NAME = "sightline"
"""The name of our MCP server in every harness."""

SERVER_WORDS = (sys.executable, "-E", "-P", "-m", MODULE, "mcp")
"""The interpreter by its whole path, since harnesses start servers with a PATH of their own; ``-E`` and ``-P`` keep out
what a project has in ``PYTHONPATH`` or beside it."""

_PATHS_HINT = "these files name paths of this machine: keep them out of version control"


class SettingsTarget(NamedTuple):
    """A file, and the entries of ours that it is to have.

    Attributes:
        path: where it lies.
        content: the entries.
    """

    path: str
    content: SettingsEntries


def targets_of(harness: Harness, mode: str, places: SettingsPlaces, root: str) -> list[SettingsTarget]:
    """The files of a harness, each with the entries of ours that it is to have.

    Args:
        harness: which one.
        mode: one of MODES.
        places: where the files lie.
        root: the store's root where it is not the usual one, for which servers and hooks are given it; else empty.
    """
    servers = Put((*harness.servers, NAME), server_entry(harness, root))
    content = SettingsEntries(harness.servers_form, is_ours, (servers,))
    listed = [SettingsTarget(places.servers, content)] if places.servers else []
    if not places.hooks:
        return listed
    if harness.plugin_file:
        (hook,) = harness.hooks
        text = harness.plugin(hook_words(harness.name, hook.event, mode), root)
        return [*listed, SettingsTarget(places.hooks, SettingsEntries("text", is_ours, text=text))]
    entry = os.path.join(os.path.dirname(places.hooks), FILE)
    hooks = hooks_content(harness, mode, root, entry)
    if places.hooks == places.servers:
        return [SettingsTarget(places.servers, hooks._replace(puts=(servers,)))]
    targets = listed
    if any(hook.when == BEFORE for hook in harness.hooks):  # before the hooks that name the script
        text = script(root) if rewrites(harness, mode) else ""  # an earlier version, or another mode, may have left it
        targets.append(SettingsTarget(entry, SettingsEntries("text", is_ours, text=text, is_program=True)))
    return [*targets, SettingsTarget(places.hooks, hooks)]


def rewrites(harness: Harness, mode: str) -> bool:
    """Whether the hooks of a mode put our script into commands."""
    return any(hook.when == BEFORE and mode in hook.modes for hook in harness.hooks)


def server_entry(harness: Harness, root: str) -> dict[str, Any]:
    """The MCP server as a harness' settings have it."""
    return harness.server_entry(list(SERVER_WORDS), {"SIGHTLINE_HOME": root} if root else {})


def hooks_content(harness: Harness, mode: str, root: str, entry: str) -> SettingsEntries:
    """The hooks of a mode, and the permission rules that they need.

    Args:
        harness: which one.
        mode: one of MODES.
        root: as for `targets_of`.
        entry: path of the script that hooks put into commands.
    """
    adds = [
        Add(("hooks", hook.event), _hook(harness, hook, mode, root, entry))
        for hook in harness.hooks
        if mode in hook.modes
    ]
    sweeps: tuple[tuple[str, ...], ...] = (("hooks",),)
    if rules := harness.allow_rules(shlex.quote(entry), PIPEFAIL):
        sweeps = (*sweeps, harness.rules)
        if rewrites(harness, mode):
            adds += [Add(harness.rules, rule) for rule in rules]
    # Rewritten commands run in a shell that knows nothing of a hook's own variables.
    sets = (((*harness.variables, "SIGHTLINE_HOME"), root),) if root and harness.variables else ()
    return SettingsEntries("json", is_ours, adds=tuple(adds), sweeps=sweeps, fills=harness.fills, sets=sets)


def hints_for(harness: Harness, scope: str) -> tuple[str, ...]:
    """What else the person should know or do, in sentences."""
    return (*harness.hints, *harness.project_hints, _PATHS_HINT) if scope == PROJECT else harness.hints


def _hook(harness: Harness, hook: Hook, mode: str, root: str, through: str) -> dict[str, Any]:
    line = hook_line(harness.name, hook.event, mode, through if hook.when == BEFORE else "")
    return harness.hook_entry(hook, (f"SIGHTLINE_HOME={shlex.quote(root)} " if root else "") + line)
