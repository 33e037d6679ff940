"""Before a shell command: it is rewritten so that what it writes is kept whole, or left alone."""

import os
import shlex
from typing import Any

from sightline.capture.pipe_insertion import Inserted, Rules, insert
from sightline.config import default_root, load_settings
from sightline.doors.hooks.command_line import capture_program, on_path
from sightline.doors.hooks.pending_commands import PendingCommand, is_use, remember
from sightline.harnesses.base import SHAPE, Harness

_LEFT_ALONE_KEYS = ("run_in_background",)
"""Of a tool's input: what is run so has its answer long before it ends, see `background_commands`."""

_DISTURBING = (
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONVERBOSE",
    "PYTHONPROFILEIMPORTTIME",
    "PYTHONWARNINGS",
    "PYTHONDEVMODE",
)
"""With these a Python program may not start, or says more than its own: what stands in a pipe must do neither."""

_OLD_WORDS = "capture --hook"


def before_tool(
    harness: Harness, event: str, mode: str, given: dict[str, Any], through: str = ""
) -> dict[str, Any] | None:
    """The hook's answer: the tool's input with the command rewritten; None where it is left alone.

    It says nothing of permission, so that the person's own rules decide.

    Args:
        harness: the harness.
        event: its name of the event.
        mode: one of MODES.
        given: what the event says.
        through: the script that is put into the command, which the harness' rules allow; empty where they were written
            by 0.1.0 and allow ``sightline capture``.
    """
    tool_input, use = given.get("tool_input"), given.get("tool_use_id")
    if not harness.rewrites or given.get("tool_name") not in harness.runs or not isinstance(tool_input, dict):
        return None
    command = tool_input.get("command")
    if not isinstance(command, str) or not is_use(use) or any(tool_input.get(key) for key in _LEFT_ALONE_KEYS):
        return None
    inserted = rewritten(harness, command, str(use), through)
    if inserted is None or not _captures(str(given.get("cwd", ""))):
        return None
    remember(
        PendingCommand(
            use=str(use),
            harness=harness.name,
            session=str(given.get("session_id", "")),
            command=command,
            kept=inserted.kept,
            merged=inserted.merged,
            filtered=inserted.filtered,
            shape=mode == SHAPE and not inserted.filtered,
        )
    )
    updated = {**tool_input, "command": inserted.command}
    return {"hookSpecificOutput": {"hookEventName": event, "updatedInput": updated}}


def rewritten(harness: Harness, command: str, use: str, through: str = "") -> Inserted | None:
    """A command with our capture put in; None where it must be left alone."""
    if "SHELLOPTS" in os.environ or "BASHOPTS" in os.environ:
        return None  # exported, they hand what we set on to every shell below
    if not through and any(name in os.environ for name in _DISTURBING):
        return None
    program = through or capture_program()
    if not os.access(program, os.X_OK):
        return None  # without a reader the pipe would break, and the command with it
    piped = shlex.quote(program) + ("" if through else f" {_OLD_WORDS}")
    return insert(command, f"{piped} {use}", Rules(lambda name: bool(on_path(name)), harness.judged, _is_bash()))


def _is_bash() -> bool:
    """Whether the harness runs commands with bash; it may be zsh."""
    shell = os.environ.get("CLAUDE_CODE_SHELL") or os.environ.get("SHELL", "")
    return os.path.basename(shell).startswith("bash")


def _captures(cwd: str) -> bool:
    return load_settings(os.path.join(default_root(), "config.toml")).captures(cwd or os.getcwd())
