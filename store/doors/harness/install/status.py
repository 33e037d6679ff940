"""What of ours a harness' settings have, as they are on disk now."""

from typing import Any, NamedTuple

from sightline.store.doors.harness.facts import DEFAULT_MODE
from sightline.store.doors.harness.install.content import of_ours
from sightline.store.doors.harness.install.files import read_settings
from sightline.store.doors.harness.install.places import Places
from sightline.store.doors.harness.install.planning import is_filled, plan_install, telling
from sightline.store.doors.harness.install.recognise import Server, hook_of, is_our_server, plugin_hook, server_of
from sightline.store.doors.harness.install.wanted import targets_of
from sightline.store.doors.harness.line import HookLine


class Status(NamedTuple):
    """What is installed of one harness in one scope.

    Attributes:
        mode: of the hooks; empty where there are none of ours.
        server: the MCP server; None where it is not there.
        hooks: command lines of the hooks, by event, in their order.
        paths: the files that have something of ours.
        stale: files that are not as this version of us would have them.
    """

    mode: str = ""
    server: Server | None = None
    hooks: tuple[tuple[str, str], ...] = ()
    paths: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def installed(self) -> bool:
        """Whether there is anything of ours."""
        return bool(self.paths)


def status_of(harness: str, places: Places, root: str) -> Status:
    """Look into a harness' settings.

    Args:
        harness: its name.
        places: where they lie.
        root: the store's root where it is not the usual one, else empty.

    Raises:
        SettingsUnreadable, SettingsInvalid, SettingsUnexpected: they tell nothing.
    """
    targets = targets_of(harness, DEFAULT_MODE, places, root)
    server, paths = None, []
    hooks: list[tuple[HookLine, str]] = []
    for path, content in targets:
        found = read_settings(path)
        if not is_filled(found.text):
            continue
        with telling(path):
            ours = of_ours(found.text, content)
        if ours:
            paths.append(path)
        for value in ours:
            server = server_of(value) if is_our_server(value) else server
            hooks += _hooks_in(value)
    mode = hooks[0][0].mode if hooks else ""
    stale = _stale(harness, mode or DEFAULT_MODE, places, root) if paths else ()
    return Status(mode, server, tuple((line.event, command) for line, command in hooks), tuple(paths), stale)


def _hooks_in(value: Any) -> list[tuple[HookLine, str]]:
    """The hooks that a value of ours runs: a hook, a group of them, or a plugin."""
    if isinstance(value, str):
        return [hook] if (hook := plugin_hook(value)) else []
    commands = [value, *value.get("hooks", ())] if isinstance(value, dict) else []
    return [(line, one["command"]) for one in commands if (line := hook_of(one)) is not None]


def _stale(harness: str, mode: str, places: Places, root: str) -> tuple[str, ...]:
    changes = [
        plan_install(read_settings(path), content, None) for path, content in targets_of(harness, mode, places, root)
    ]
    return tuple(change.found.path for change in changes if change.changes)
