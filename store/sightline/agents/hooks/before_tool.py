"""Before a shell command: rewrites it so that its whole output is kept, or leaves it alone."""

import os
import time

from sightline.agents.hooks.command_line import on_path
from sightline.agents.hooks.other_hooks import is_stopped, may_be_changed
from sightline.agents.hooks.pending_commands import LONG_USE, PendingCommand, forget, is_use, key_of, remember
from sightline.capture.pipe_insertion import InsertionRules, insert
from sightline.harnesses.base import BASH, BEFORE, SHAPE, Harness
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any
from sightline.settings.config import default_root, load_settings
from sightline.shell_words import LONGEST_COMMAND
from sightline.shell_words.quoting import quoted

if TYPE_CHECKING:
    from sightline.capture.list_insertion import ListPart

_LEFT_ALONE_KEYS = ("run_in_background",)
"""The field of a tool's input that runs a command in the background, see `background_commands`."""


def before_tool(harness: Harness, event: str, mode: str, given: dict[str, Any], through: str) -> dict[str, Any] | None:
    """The hook's answer: the tool's input with the command rewritten; None if the command is left alone.

    It leaves permission out, so that the person's own rules decide.

    Args:
        harness: the harness.
        event: the harness' name for the event.
        mode: one of MODES.
        given: the event.
        through: the script to put into the command, which the harness' rules allow; empty for none.
    """
    tool_input, use = given.get("tool_input"), given.get("tool_use_id")
    if not harness.rewrites or given.get("tool_name") not in harness.runs or not isinstance(tool_input, dict):
        return None
    if isinstance(use, str) and 0 < len(use) < LONG_USE:  # a model's server may have given it to an earlier call
        from sightline.agents.hooks.hook_session import note_begun, session_of  # most ids are long

        session = session_of(harness.name, str(given.get("session_id", "")), "", given.get("agent_id"))
        note_begun(default_root(), session.name, event, use)
    command = tool_input.get("command")
    if not harness.may_rewrite(given) or not any(one.when == BEFORE and mode in one.modes for one in harness.hooks):
        return None  # 0.2.0 has installed this hook in modes that rewrite nothing now
    if not isinstance(command, str) or len(command) > LONGEST_COMMAND or not is_use(use):
        return None
    if any(tool_input.get(key) for key in _LEFT_ALONE_KEYS):
        return None
    harness_session = str(given.get("session_id", ""))
    if is_stopped(harness_session) or may_be_changed(harness, event, given):
        return None
    key = key_of(str(use), harness_session)
    inserted = rewritten(harness, command, key, through, harness.shell(given))
    if inserted and harness.shell_start and (inserted.filtered or inserted.parts):
        return None  # its output is kept without a pipe, which is there for nothing but a view in its place
    settings = load_settings(os.path.join(default_root(), "config.toml"))
    if inserted is None or not settings.captures(str(given.get("cwd", "")) or os.getcwd()):
        return None
    if inserted.parts and settings.redacts:
        return None  # parts are first written to files of their own, in which no secret would be hidden
    forget(key)  # a model's server may number its calls from 0 in each turn
    remember(
        PendingCommand(
            use=str(use),
            harness=harness.name,
            session=harness_session,
            command=command,
            kept=inserted.kept,
            merged=inserted.merged,
            filtered=inserted.filtered,
            shape=mode == SHAPE and not (inserted.filtered or inserted.parts),
            parts=inserted.parts,
            past=not (harness.joins or inserted.merged),
            agent=str(given.get("agent_id") or ""),
            cwd=str(given.get("cwd") or ""),
            written=time.time(),
        ),
        settings,
    )
    return harness.rewriting(event, {**tool_input, "command": inserted.command})


def rewritten(harness: Harness, command: str, key: str, through: str, shell: str) -> "Rewritten | None":
    """A command with our capture in it; None if it must be left alone."""
    if "SHELLOPTS" in os.environ or "BASHOPTS" in os.environ:
        return None  # exported, they pass our options on to every shell below
    if not through or not os.access(through, os.X_OK):
        return None  # without a reader the pipe would break and end the command
    return put_in(harness, command, f"{quoted(through)} {key}", shell)


class Rewritten(NamedTuple):
    """A command with our capture in it.

    Attributes:
        command: the command line to run.
        kept: the command, or the part of it, whose output is kept.
        merged: whether that output has both streams.
        filtered: whether filters come after it.
        parts: the parts of a list with pipes of their own; else empty.
    """

    command: str
    kept: str
    merged: bool
    filtered: bool
    parts: "tuple[ListPart, ...]" = ()


def put_in(harness: Harness, command: str, piped: str, shell: str) -> Rewritten | None:
    """A command with a program put into it; None if it must be left alone.

    Args:
        harness: the harness that runs it.
        command: the command line.
        piped: the program that gets the output, with its arguments.
        shell: the shell that runs it, as `Harness.shell` tells it.
    """
    rules = _rules(harness, shell)
    one = insert(command, piped if rules.joins else f"{piped}.1", rules)
    if one is not None and (rules.joins or one.merged or one.filtered):
        return Rewritten(*one)
    from sightline.capture.list_insertion import LeftAlone, ListPart, insert_list  # single commands rarely need it

    if one is not None:  # kept as a list of one part, since the output must be compared with what the harness tells
        parts = (ListPart(one.kept, "", 1, silent=False),)
        return Rewritten(one.command, command, one.merged, filtered=False, parts=parts)

    try:
        made = insert_list(command, piped, rules)
    except LeftAlone:
        return None
    if made.kept:
        return Rewritten(made.command, made.kept, made.merged, filtered=True)
    if made.is_one and (rules.joins or made.merged):
        return Rewritten(made.command, command, made.merged, filtered=False)
    return Rewritten(made.command, command, made.merged, filtered=False, parts=made.parts)


def why_left_alone(harness: Harness, command: str) -> str:
    """Why a command gets no pipe of ours; empty if it gets one."""
    from sightline.capture.list_insertion import LeftAlone, insert_list  # no event asks

    rules = _rules(harness, harness.shell({}))
    if not harness.rewrites:
        return f"{harness.title} does not let hooks rewrite commands"
    if insert(command, "cat", rules) is not None:
        return ""
    try:
        insert_list(command, "cat", rules)
    except LeftAlone as reason:
        return str(reason)
    return ""


def _rules(harness: Harness, shell: str) -> InsertionRules:
    rules = InsertionRules(lambda name: bool(on_path(name)), harness.judged, shell == BASH, harness.joins)
    return rules if shell else rules._replace(pipefail="")
