"""``sightline proxy``: an MCP server with its large results kept; the client starts this in the server's place."""

import os
import signal
from typing import Any, NoReturn

from sightline.store.audit.sessions import working_directory
from sightline.store.doors.cli.arguments import parser
from sightline.store.doors.cli.output import tell_error
from sightline.store.errors import StoreFailed, UsageError
from sightline.store.profile import load_profile
from sightline.store.store import Store

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
    made.add_argument("--min-bytes", type=_size, metavar="N", help="keep results of more bytes than N (default 8000)")
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
    return _proxy(given, argv)


def _size(text: str) -> int:
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


def _proxy(given: Any, argv: list[str]) -> int:
    keeps = _can_keep(given.profile)
    if given.url:
        return _serve_url(given, keeps)
    if not keeps:
        _become(argv)
    from sightline.store.doors.mcp.proxy_stdio import Server, serve

    server = Server(argv)
    from sightline.store.doors.mcp.proxy import make_proxy  # loaded while the server starts
    from sightline.store.doors.mcp.wire import LineWriter

    client = LineWriter(1)
    return serve(server, make_proxy(client, **_options(given)), client)


def _serve_url(given: Any, keeps: bool) -> int:
    # All of this is loaded here only: the SDK takes longer than everything else.
    from sightline.store.doors.mcp.proxy import make_proxy
    from sightline.store.doors.mcp.proxy_http import serve_url
    from sightline.store.doors.mcp.wire import LineWriter

    client = LineWriter(1)
    proxy = make_proxy(client, **_options(given)) if keeps else None
    return serve_url(given.url, proxy, client, token=_token(given.bearer_env))


def _token(variable: str) -> str:
    if variable and not os.environ.get(variable):
        raise UsageError(f"--bearer-env: there is no variable {variable}", "name the one that holds the token")
    return os.environ.get(variable, "")


def _options(given: Any) -> dict[str, Any]:
    return {"profile": given.profile, "session": given.session, "min_bytes": given.min_bytes, "only": given.only}


def _can_keep(profile: str) -> bool:
    """Whether there is a store, and something may be kept here; a store that is out of order costs no server."""
    try:
        with Store() as store:
            load_profile(profile or store.settings.profile, "--profile" if profile else "profile")
            return store.settings.captures(working_directory())
    except StoreFailed as error:
        tell_error(error)
        return False


def _become(argv: list[str]) -> NoReturn:
    """Nothing can be kept: be the server itself."""
    from sightline.store.capture.spawn import RESTORED_SIGNALS, not_started

    for number in RESTORED_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - no shell is wanted
    except (OSError, ValueError) as error:
        raise not_started(argv[0], None, error) from error
