"""Recognises our own entries in a harness' settings, whichever version wrote them and wherever it was installed."""

import os
import re
import shlex
from collections.abc import Mapping

from sightline.agents.hooks.capture_script import is_rule, is_script
from sightline.agents.hooks.command_line import HookLine, read_line
from sightline.capture.pipe_insertion import PIPEFAIL
from sightline.harnesses import known
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

MODULE = "sightline.doors.cli.main"
_PLUGIN_MARKS = ("// Written by `sightline install", "# Written by `sightline install")
_ASSIGNMENTS = re.compile(r"""(?:[A-Za-z_][A-Za-z0-9_]*=(?:'[^']*'|"[^"]*"|[^\s'"])* +)*""")
_OPTION_RULE = f"Bash({PIPEFAIL})"


class ServerEntry(NamedTuple):
    """An MCP server as settings describe it.

    Attributes:
        words: the command and its arguments.
        environment: the variables that it is started with.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str]


def server_of(value: Any) -> ServerEntry | None:
    """The server that an entry in settings describes; None for one that is not started by a command."""
    if not isinstance(value, dict):
        return None
    command, arguments = value.get("command"), value.get("args") or []
    environment = value.get("env") or value.get("environment") or {}
    lists = isinstance(arguments, list) and isinstance(environment, dict)
    words: list[Any] = command if isinstance(command, list) else [command, *arguments] if lists else []
    if not words or not lists or not all(isinstance(word, str) for word in words):
        return None
    return ServerEntry(tuple(words), {str(name): str(text) for name, text in environment.items()})


def is_our_server(value: Any) -> bool:
    """Whether it starts `sightline mcp`."""
    server = server_of(value)
    if server is None:
        return False
    words = list(server.words)
    if MODULE in words:
        return words[words.index(MODULE) + 1 :][:1] == ["mcp"]
    return os.path.basename(words[0]) == "sightline" and words[1:2] == ["mcp"]


def hook_of(value: Any) -> HookLine | None:
    """The hook of ours that an element of a harness' settings runs; None for a hook that is not ours."""
    command = value.get("command") if isinstance(value, dict) else None
    return read_line(without_assignments(command)) if isinstance(command, str) else None


def plugin_hook(text: str) -> tuple[HookLine, str] | None:
    """The hook that a plugin of ours runs, with its command line; None where it runs no hook."""
    if not text.startswith(_PLUGIN_MARKS):
        return None
    for harness in known().values():
        if harness.plugin_file and (words := harness.plugin_words(text)):
            command = shlex.join(words)
            line = read_line(command)
            return (line, command) if line else None
    return None


def without_assignments(command: str) -> str:
    """A command line without the variables that it sets."""
    found = _ASSIGNMENTS.match(command)
    return command[found.end() :] if found else command


def hook_environment(command: str) -> dict[str, str]:
    """The variables that a hook's command line sets."""
    lead = command[: len(command) - len(without_assignments(command))]
    return dict(word.split("=", 1) for word in shlex.split(lead))


def is_ours(value: Any) -> bool:
    """Whether a value in settings is one that we wrote: a server, a hook, a rule, or a whole file."""
    if isinstance(value, str):
        return is_rule(value) or value == _OPTION_RULE or is_script(value) or value.startswith(_PLUGIN_MARKS)
    return is_our_server(value) or hook_of(value) is not None
