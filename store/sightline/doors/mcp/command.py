"""``sightline mcp``: serves MCP on standard input and output, or on HTTP."""

import os
import sys

from sightline.base.errors import UsageError
from sightline.doors.mcp.signals import EndAsked, ignore_signals, raise_signals
from sightline.doors.mcp.stdio import StdioServer
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser, seconds
from sightline.doors.tools.service import Service
from sightline.doors.tools.tools import PATIENCE_SECONDS, Options
from sightline.light.typing_names import Any
from sightline.verbs.next_call import TOOLS

_HTTP_DEFAULTS: dict[str, Any] = {"host": "127.0.0.1", "port": 8423, "no_token": False}


_SHARED = ("read_output", "query", "list_outputs")
"""Tools that work on other hosts' outputs; only a host itself can run a command or read a file."""


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Serve the agent's tools over MCP, on standard input and output or, with --http, over HTTP. "
        f"The tools are {', '.join(TOOLS)}.",
        "claude mcp add sightline -- sightline mcp --root .",
        "sightline mcp --http --port 8423",
        json=False,
        profile=True,
    )
    made.add_argument("--tools", default="", metavar="TOOL,…", help="offer these tools only")
    made.add_argument("--read-only", action="store_true", help="offer no run_command")
    made.add_argument(
        "--root",
        default="",
        metavar="FOLDER",
        help="keep read_file and cwd below this folder; a command itself can go anywhere",
    )
    made.add_argument(
        "--store",
        default="",
        metavar="URL",
        help="read the outputs that hosts have shipped to this database; the word fleet stands for the one in "
        f"config.toml, [fleet] store; the tools are then {', '.join(_SHARED)}",
    )
    made.add_argument("--offline", action="store_true", help="with --store, use only what was read before")
    made.add_argument("--session", default="", metavar="NAME", help="log all views in one session of this name")
    made.add_argument(
        "--patience",
        type=seconds,
        default=PATIENCE_SECONDS,
        metavar="SECONDS",
        help="answer that a command is still running after this time (default 50), before the client gives up",
    )
    made.add_argument("--http", action="store_true", help="serve Streamable HTTP; needs the extra `http`")
    made.add_argument(
        "--host",
        default=_HTTP_DEFAULTS["host"],
        metavar="ADDRESS",
        help="with --http, listen on this address (default 127.0.0.1)",
    )
    made.add_argument(
        "--port",
        type=int,
        default=_HTTP_DEFAULTS["port"],
        metavar="N",
        help="with --http, listen on this port (default 8423; 0 takes a free one)",
    )
    made.add_argument(
        "--no-token", action="store_true", help="with --http, ask for no bearer token; on a loopback address only"
    )
    return made


def main(given: Namespace) -> int:
    """Serve until the client leaves, and return the exit code."""
    options = _options(given)
    if given.http:
        from sightline.doors.mcp.http import serve_http  # loads the official SDK, which takes a second

        return serve_http(options, host=given.host, port=given.port, with_token=not given.no_token)
    for option in ("host", "port", "no_token"):
        if getattr(given, option) != _HTTP_DEFAULTS[option]:
            raise UsageError(f"--{option.replace('_', '-')} needs --http", "give --http, too, or leave this out")
    return _serve_stdio(options)


def _options(given: Namespace) -> Options:
    named = [word for word in given.tools.replace(",", " ").split() if word]
    if strangers := [word for word in named if word not in TOOLS]:
        raise UsageError(f"--tools: there is no tool {', '.join(strangers)}", f"there are {', '.join(TOOLS)}")
    tools = tuple(
        tool
        for tool in TOOLS
        if tool in (named or TOOLS)
        and not (given.read_only and tool == "run_command")
        and (tool in _SHARED or not given.store)
    )
    if not tools:
        raise UsageError("these options leave no tool to offer", "leave --read-only out, or name other --tools")
    if given.profile:
        from sightline.base.profile import load_profile  # 2 ms; few calls name a profile

        load_profile(given.profile, "--profile")  # so that a wrong name is reported before any client waits
    return Options(
        tools=tools,
        profile=given.profile,
        session=given.session,
        root=_enter(given.root) if given.root else "",
        patience_secs=given.patience,
        store=given.store,
        offline=given.offline,
    )


def _enter(root: str) -> str:
    """Resolve the folder, and enter it unless the working directory lies in it already. Raises UsageError."""
    real = os.path.realpath(os.path.expanduser(root))
    if not os.path.isdir(real):
        raise UsageError(f"--root: there is no folder {root}", "name a folder that exists")
    here = os.path.realpath(os.getcwd())
    if here != real and not here.startswith(real.rstrip("/") + "/"):
        os.chdir(real)
    return real


def _serve_stdio(options: Options) -> int:
    if os.isatty(0):
        told = "an MCP client starts this and speaks to it on standard input; `sightline mcp --help` tells how"
        print(told, file=sys.stderr)
    source, sink = _own_streams()
    server = StdioServer(Service(options), source, sink)
    wait = True
    try:
        server.serve(raise_signals())
        ignore_signals()
    except EndAsked:
        wait = False
        ignore_signals()
    server.close(wait=wait)
    return 0


def _own_streams() -> tuple[int, int]:
    """Reserve standard input and output for the protocol, so that nothing else in this process can read or write
    them."""
    source, sink = os.dup(0), os.dup(1)
    for fd in (source, sink):
        os.set_blocking(fd, True)  # a former owner of the descriptor may have made it non-blocking
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdout.flush()
    os.dup2(2, 1)
    return source, sink
