"""``sightline proxy``: stands in front of an MCP server and keeps its large results; the client starts it instead."""

import os

from sightline.base.errors import UsageError
from sightline.doors.proxy.server import ServerProcess
from sightline.doors.terminal.arguments import REMAINDER, CommandParser, Namespace, after_dashes, command_parser
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.doors.proxy.relay import Proxy
    from sightline.doors.tools.line_io import LineWriter


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Start an MCP server and pass everything between it and its client, but keep its large results: in the "
        "place of one the client gets a small view with a ref, and two more tools, read_output and query, with "
        "which it can read the rest. Configure the client with this command instead of the server's own. Where "
        "nothing can be kept, everything passes unchanged.",
        "sightline proxy -- npx -y @modelcontextprotocol/server-filesystem .",
        "sightline proxy --url https://example.org/mcp --bearer-env TOKEN",
        json=False,
        profile=True,
        usage="[options] (--url URL | -- PROGRAM ARGUMENT…)",
    )
    made.add_argument("--min-bytes", type=size, metavar="N", help="keep results of more than N bytes (default 8000)")
    made.add_argument(
        "--only", default=[], nargs="+", metavar="TOOL", help="keep the results of these tools only; a -- ends the list"
    )
    made.add_argument("--session", default="", metavar="SESSION", help="log what is shown under this session's name")
    made.add_argument(
        "--url",
        default="",
        metavar="URL",
        help="stand in front of a server over HTTP; needs the extra `http`",
    )
    made.add_argument(
        "--bearer-env",
        default="",
        metavar="VARIABLE",
        help="send that server the bearer token which this variable holds",
    )
    made.add_argument(
        "argv", nargs=REMAINDER, metavar="-- PROGRAM ARGUMENT…", help="start this server; all that follows is for it"
    )
    return made


def main(given: Namespace) -> int:
    """Serve until one side leaves, and return the server's exit code.

    Raises:
        UsageError: there is no server, or two, or an option that does not go with it.
    """
    argv = after_dashes(given.argv)
    if bool(given.url) == bool(argv):
        hint = "write -- before the server's command" if given.only and not given.url else "not both of them"
        raise UsageError("give a server: either -- PROGRAM ARGUMENT… or --url URL", hint)
    if given.bearer_env and not given.url:
        raise UsageError("--bearer-env needs --url", "a server that is started here has all variables anyway")
    given.only = [tool for word in given.only for tool in word.split(",") if tool]
    return _url(given) if given.url else _stdio(given, argv)


def size(text: str) -> int:
    """Read a number of bytes, 0 or more. Raises ValueError."""
    number = int(text)
    if number < 0:
        raise ValueError("it is a number of bytes from 0 on")
    return number


def _stdio(given: Namespace, argv: list[str]) -> int:
    server = ServerProcess(argv)
    try:
        client, proxy = _between(given)  # while the server starts, everything that is loaded late gets loaded here
        from sightline.doors.proxy.stdio import serve
    except BaseException:
        server.end()
        raise
    return serve(server, proxy, client)


def _url(given: Namespace) -> int:
    from sightline.doors.proxy.http import serve_url  # loads the official SDK, which takes a second

    client, proxy = _between(given)
    return serve_url(given.url, proxy, client, token=_token(given.bearer_env))


def _between(given: Namespace) -> "tuple[LineWriter, Proxy | None]":
    """Return the writer to the client, and what handles the lines."""
    from sightline.doors.proxy.relay import proxy_to  # 30 ms, while the server starts
    from sightline.doors.tools.line_io import LineWriter

    client = LineWriter(1)
    kept = {"profile": given.profile, "session": given.session, "min_bytes": given.min_bytes, "only": given.only}
    return client, proxy_to(client, **kept)


def _token(variable: str) -> str:
    if variable and not os.environ.get(variable):
        raise UsageError(f"--bearer-env: there is no variable {variable}", "name the one that holds the token")
    return os.environ.get(variable, "")
