"""``sightline proxy``: an MCP server with its large results kept; the client starts this in the server's place."""

import os
from typing import TYPE_CHECKING, Any

from sightline.doors.cli.arguments import parser
from sightline.doors.proxy.server import Server
from sightline.errors import UsageError

if TYPE_CHECKING:
    from sightline.doors.mcp.lines import LineWriter
    from sightline.doors.proxy.relay import Proxy

_WITH_VALUE = ("--min-bytes", "--profile", "--session", "--url", "--bearer-env")


def main(name: str, words: list[str]) -> int:
    """Run the command line; the server's exit code."""
    made = parser(
        name,
        "Run an MCP server and pass everything through, but keep its large results: the client gets a small honest "
        "view with a ref, and two more tools, read_output and query, to read on. Give the client this command in the "
        "place of the server's own. Where nothing can be kept, everything passes as it is.",
        example="sightline proxy -- npx -y @modelcontextprotocol/server-filesystem .",
        json=False,
        profile=True,
    )
    made.add_argument("--min-bytes", type=size, metavar="N", help="keep results of more bytes than N (default 8000)")
    made.add_argument("--only", default="", metavar="TOOL…", help="keep those of these tools only; all others pass")
    made.add_argument("--session", default="", metavar="S", help="log under this session's name")
    made.add_argument("--url", default="", metavar="URL", help="a server over HTTP; needs sightline[http]")
    made.add_argument("--bearer-env", default="", metavar="VAR", help="the variable that holds the URL's bearer token")
    made.add_argument("argv", nargs="*", metavar="-- COMMAND…", help="the server and its arguments")
    own, argv = _split(words)
    given = made.parse_args(own)
    if bool(given.url) == bool(argv):
        made.error("give a server: either -- COMMAND… or --url URL")
    if given.bearer_env and not given.url:
        made.error("--bearer-env goes with --url")
    given.only = given.only.replace(",", " ").split()
    return _url(given) if given.url else _stdio(given, argv)


def size(text: str) -> int:
    """A number of bytes from 0 on. Raises ValueError."""
    size = int(text)
    if size < 0:
        raise ValueError("it is a number of bytes from 0 on")
    return size


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Our own words, the tools of ``--only`` as one word, and the server's, which begin after ``--``.

    Without that mark they begin with the first word that is neither an option nor an option's value.
    """
    own: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return own, words[at + 1 :]
        if word == "--only" and "--" in words[at:]:
            end = next(place for place in range(at + 1, len(words)) if words[place].startswith("-"))
            own.append(f"--only={','.join(words[at + 1 : end])}")
            at = end
        elif not word.startswith("-"):
            return own, words[at:]
        else:
            taken = 2 if word in (*_WITH_VALUE, "--only") else 1
            own += words[at : at + taken]
            at += taken
    return own, []


def _stdio(given: Any, argv: list[str]) -> int:
    server = Server(argv)
    try:
        from sightline.doors.proxy.stdio import serve  # all that follows is loaded while the server starts

        client, proxy = _between(given)
    except BaseException:
        server.end()
        raise
    return serve(server, proxy, client)


def _url(given: Any) -> int:
    from sightline.doors.proxy.http import serve_url  # with the official SDK, which takes longer than all else

    client, proxy = _between(given)
    return serve_url(given.url, proxy, client, token=_token(given.bearer_env))


def _between(given: Any) -> "tuple[LineWriter, Proxy | None]":
    """What writes to the client, and what becomes of the lines."""
    from sightline.doors.mcp.lines import LineWriter  # with what follows, while the server starts
    from sightline.doors.proxy.relay import proxy_to

    client = LineWriter(1)
    kept = {"profile": given.profile, "session": given.session, "min_bytes": given.min_bytes, "only": given.only}
    return client, proxy_to(client, **kept)


def _token(variable: str) -> str:
    if variable and not os.environ.get(variable):
        raise UsageError(f"--bearer-env: there is no variable {variable}", "name the one that holds the token")
    return os.environ.get(variable, "")
