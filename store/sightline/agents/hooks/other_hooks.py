"""Finds out whether a hook of somebody else may change or allow a command; then ours must not rewrite it.

Harnesses run hooks side by side, and the last answer counts: ours could take the place of theirs, or what they allow be
the command that we have made.
"""

import os

from sightline.agents.hooks.command_line import read_line
from sightline.agents.hooks.pending_commands import is_use
from sightline.base.private_files import open_private
from sightline.base.regular_files import read_regular
from sightline.harnesses.base import Harness
from sightline.light.json_text import loads
from sightline.light.late_pattern import late_pattern
from sightline.light.library import suppress
from sightline.light.typing_names import Any, Iterator
from sightline.settings.config import HOOKS, default_root

_CHANGING = (b"updatedInput", b"allow")
_LOCAL = ".local.json"
_STOPPED = ".alone"
_ASSIGNED = late_pattern(
    r"^SIGHTLINE_HOME=(?:'[^']*'|\"[^\"]*\"|[^\s'\"])* "
)  # as `install` writes it before our own hooks


def may_be_changed(harness: Harness, event: str, given: dict[str, Any]) -> bool:
    """Whether another hook before this call may print ``updatedInput`` or ``allow``; those that only log do not.

    What a hook prints is looked for in its command line and in the scripts that it names. A hook of which neither is
    text counts.

    Args:
        harness: the harness.
        event: its name of the event before a tool.
        given: the event.
    """
    cwd = str(given.get("cwd") or "") or os.getcwd()
    paths = {harness.user_settings(os.path.expanduser("~"), os.environ)[1], harness.project_settings(cwd)[1]}
    paths |= {path.removesuffix(".json") + _LOCAL for path in paths if path.endswith(".json")}
    return any(_may_change(one, cwd) for path in paths if path for one in _others(path, event))


def stop_rewriting(session: str) -> None:
    """Rewrite nothing more in a session in which another command ran than the one that we had made."""
    if is_use(session):
        with suppress(OSError):
            os.close(open_private(_stopped(session), os.O_WRONLY | os.O_CREAT))
    from sightline.agents.hooks.error_log import log_error  # loaded only then

    log_error(("rewriting", session), RuntimeError("another command ran than ours, so no more is rewritten"))


def is_stopped(session: str) -> bool:
    """Whether that has happened in a session."""
    return os.path.exists(_stopped(session))


def _stopped(session: str) -> str:
    return os.path.join(default_root(), HOOKS, session + _STOPPED)


def _others(path: str, event: str) -> Iterator[str]:
    """The command lines of hooks of others for an event; an empty one where a hook is no command."""
    try:
        told = loads(read_regular(path))
    except (OSError, ValueError):
        return
    hooks = told.get("hooks") if isinstance(told, dict) else None
    groups = hooks.get(event) if isinstance(hooks, dict) else None
    for group in groups if isinstance(groups, list) else ():
        for one in group.get("hooks", ()) if isinstance(group, dict) else ():
            command = one.get("command") if isinstance(one, dict) else None
            if not isinstance(command, str):
                yield ""
            elif read_line(_ASSIGNED.sub("", command)) is None:
                yield command


def _may_change(command: str, cwd: str) -> bool:
    import shlex  # few people have such hooks

    try:
        words = [os.path.expandvars(os.path.expanduser(word)) for word in shlex.split(command)]
    except ValueError:
        return True
    texts = [command.encode()]
    for word in words:
        with suppress(OSError):
            texts.append(read_regular(os.path.join(cwd, word)))
    scripts = [text for text in texts[1:] if b"\0" not in text]
    return not scripts or any(sign in text for text in (texts[0], *scripts) for sign in _CHANGING)
