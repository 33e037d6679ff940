"""Which entries of ours are in a harness' settings on disk."""

from sightline.agents.hooks.command_line import HookLine
from sightline.agents.install.harness_settings import SettingsPlaces, targets_of
from sightline.agents.install.installation import is_filled, plan_install, telling
from sightline.agents.install.jsonc import find, parse
from sightline.agents.install.own_entries import ServerEntry, hook_of, is_our_server, plugin_hook, server_of
from sightline.agents.install.settings_file import read_settings
from sightline.agents.install.settings_text import SettingsEntries, of_ours, with_ours
from sightline.harnesses.base import DEFAULT_MODE, Harness
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any


class Status(NamedTuple):
    """What is installed of one harness in one scope.

    Attributes:
        mode: the mode of our hooks; empty where there are none.
        server: our MCP server; None where it is not there.
        hooks: command lines of the hooks, by event, in their order.
        paths: the files that have entries of ours.
        stale: files that this version would write differently.
        former: whether an earlier version wrote some of it, which goes on working.
        strange: whether it starts another program than this version would.
        off: the setting that turns all hooks off; empty where they are on.
    """

    mode: str = ""
    server: ServerEntry | None = None
    hooks: tuple[tuple[str, str], ...] = ()
    paths: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    former: bool = False
    strange: bool = False
    off: str = ""

    @property
    def installed(self) -> bool:
        """Whether there is any entry of ours."""
        return bool(self.paths)


def status_of(harness: Harness, places: SettingsPlaces, root: str) -> Status:
    """Read what a harness' settings have of ours.

    Args:
        harness: which one.
        places: where the settings files lie.
        root: the store's root where it is not the usual one, else empty.

    Raises:
        SettingsUnreadable, SettingsInvalid, SettingsUnexpected: the settings cannot be understood.
    """
    texts: list[tuple[str, SettingsEntries]] = []
    paths = []
    off = ""
    for path, content in targets_of(harness, DEFAULT_MODE, places, root):
        text = read_settings(path).text
        with telling(path):
            if is_filled(text) and of_ours(text, content):
                paths.append(path)
                texts.append((text, content))
                if content.form != "text":
                    off = off or _turned_off(harness, text)
    if not paths:
        return Status()
    server, hooks = _started(texts)
    mode = hooks[0][0].mode if hooks else ""
    targets = targets_of(harness, mode or DEFAULT_MODE, places, root)
    fresh_server, fresh_hooks = _started([(with_ours("", content)[0], content) for _, content in targets])
    stale = [path for path, content in targets if plan_install(read_settings(path), content, None).changes]
    return Status(
        mode,
        server,
        tuple((line.event, command) for line, command in hooks),
        tuple(paths),
        tuple(stale),
        former=not all(_is_wanted(harness, line) for line, _ in hooks),
        strange=server not in (None, fresh_server) or not set(hooks) <= set(fresh_hooks),
        off=off,
    )


def _started(texts: list[tuple[str, SettingsEntries]]) -> tuple[ServerEntry | None, list[tuple[HookLine, str]]]:
    """The server and the hooks that settings tell a harness to start."""
    values = [value for text, content in texts for value in of_ours(text, content)]
    servers = [server_of(value) for value in values if is_our_server(value)]
    return (servers[-1] if servers else None), [hook for value in values for hook in _hooks_in(value)]


def _is_wanted(harness: Harness, line: HookLine) -> bool:
    """Whether a hook does anything in its mode; 0.2.0 had Claude Code's commands rewritten in the mode keep."""
    return any(hook.event == line.event and line.mode in hook.modes for hook in harness.hooks)


def _turned_off(harness: Harness, text: str) -> str:
    if harness.switch is None:
        return ""
    keys, off = harness.switch
    node = find(parse(text), keys)
    return ".".join(keys) if node is not None and node.value is off else ""


def _hooks_in(value: Any) -> list[tuple[HookLine, str]]:
    """The hooks that a value of ours runs: a hook, a group of them, or a plugin."""
    if isinstance(value, str):
        return [hook] if (hook := plugin_hook(value)) else []
    commands = [value, *value.get("hooks", ())] if isinstance(value, dict) else []
    return [(line, one["command"]) for one in commands if (line := hook_of(one)) is not None]
