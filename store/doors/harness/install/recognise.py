"""What in a harness' settings is ours, whichever version of us, in whichever place, wrote it."""

import os
import re
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from sightline.store.doors.harness.line import HookLine, read_line

MODULE = "sightline.store.doors.cli.main"
PLUGIN_MARK = "written by `sightline install"
"""Stands in the first line of a file that is ours whole."""

_ASSIGNMENTS = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*=(?:'[^']*'|[^\s'\"]*)+ +)*")
_CAPTURE_RULE = re.compile(r"Bash\((?P<program>\S.*) capture:\*\)")

_PLUGIN_MODE = re.compile(re.escape(PLUGIN_MARK) + r" \S+ --mode (\w+)`")


class Server(NamedTuple):
    """An MCP server as settings have it.

    Attributes:
        words: the command and its arguments.
        environment: variables that it is given.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str]


def server_of(value: Any) -> Server | None:
    """The server that a member of a harness' settings says; None where it says none that is started by a command."""
    if not isinstance(value, dict):
        return None
    command, arguments = value.get("command"), value.get("args") or []
    environment = value.get("env") or value.get("environment") or {}
    lists = isinstance(arguments, list) and isinstance(environment, dict)
    words: list[Any] = command if isinstance(command, list) else [command, *arguments] if lists else []
    if not words or not lists or not all(isinstance(word, str) for word in words):
        return None
    return Server(tuple(words), {str(name): str(text) for name, text in environment.items()})


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
    """The hook of ours that an element of a harness' settings runs; None where it is not ours."""
    command = value.get("command") if isinstance(value, dict) else None
    return read_line(without_assignments(command)) if isinstance(command, str) else None


def mode_of(value: Any) -> str:
    """The mode that a hook, or a whole file, of ours was installed in; empty where it has none."""
    if isinstance(value, str):
        told = _PLUGIN_MODE.search(value[:200])
        return told[1] if told else ""
    line = hook_of(value)
    return line.mode if line else ""


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
        rule = _CAPTURE_RULE.fullmatch(value)
        return (rule is not None and os.path.basename(rule["program"]) == "sightline") or PLUGIN_MARK in value[:200]
    return is_our_server(value) or hook_of(value) is not None
