"""``sightline serve``: opens the inspector in a browser, for whoever has the link."""

import contextlib
import os

from sightline.base.distribution import install_extra
from sightline.base.errors import SightlineError, UsageError
from sightline.doors.cli.inspector import inspector
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import dim, write_err, write_out
from sightline.log.store_kinds import full_address, opener_of
from sightline.store import STORE_VARIABLE, Reading, Store


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Open the inspector in a browser, on this machine only. It prints a link with a token; requests without "
        "that token are refused. It needs the extra `web`. To listen on an address "
        "that others can reach, set SIGHTLINE_SERVE_TOKEN to a long secret of yours, and put a proxy or a tunnel in "
        "front, because the connection is not encrypted. Several people may open it at once; with "
        "--read-only, they can look at all of it and change nothing.",
        "sightline serve",
        "sightline serve @last --port 8080",
        "sightline serve --store fleet --read-only",
        "sightline serve --read-only",
        "sightline serve --store fleet --read-only --sign-in X-Forwarded-User --socket /run/sightline/page.sock",
        json=False,
    )
    made.add_argument("ref", nargs="?", metavar="REF", help="open this output instead of the list")
    made.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="listen on this address (default 127.0.0.1)"
    )
    made.add_argument(
        "--port", type=int, default=8000, metavar="N", help="listen on this port (default 8000; 0 takes a free one)"
    )
    made.add_argument(
        "--store",
        default="",
        metavar="URL",
        help="show the outputs that hosts have shipped to this database; the word fleet stands for the one in "
        "config.toml, [fleet] store (default: SIGHTLINE_STORE, else this machine's store)",
    )
    made.add_argument("--project", default="", metavar="DIR", help="show what was run in that folder or repository")
    made.add_argument("--all", action="store_true", help="show what was run in any project")
    made.add_argument(
        "--read-only",
        action="store_true",
        help="let nobody who has the link delete, pin, write or send anything, or start a pager or an editor",
    )
    made.add_argument(
        "--sign-in",
        default="",
        metavar="HEADER",
        help="in place of a link with a token, let in whom a trusted proxy names in this header, such as "
        "X-Forwarded-User; each reads the fleet of --store with the database role of that name",
    )
    made.add_argument(
        "--proxy",
        default="",
        metavar="ADDRESS,…",
        help="trust the header from these addresses, together with the secret of SIGHTLINE_PROXY_SECRET in the header "
        "X-Sightline-Proxy",
    )
    made.add_argument(
        "--socket", default="", metavar="PATH", help="listen on this Unix socket, where the header is trusted as it is"
    )
    made.add_argument(
        "--public", default="", metavar="NAME", help="the name under which the proxy shows the page: sightline.example"
    )
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    if not 0 <= given.port <= 65_535:
        raise UsageError(f"there is no port {given.port}", "give a number from 0 to 65535")
    _check_sign_in(given)
    if given.store:
        os.environ[STORE_VARIABLE] = given.store  # each process that shows the inspector reads it
    if given.sign_in:
        with Store() as local:  # no role of ours opens the fleet: each reader's own does
            os.environ[STORE_VARIABLE] = full_address(local, os.environ[STORE_VARIABLE])
    else:
        _try_to_open(given.ref)
    try:
        serve = inspector().serve
    except ModuleNotFoundError as error:
        raise SightlineError(
            f"the inspector in a browser needs a package that is not installed: {error.name}",
            install_extra("web"),
        ) from error
    words = ["--read-only"] if given.read_only else []
    words += ["--project", os.path.realpath(given.project)] if given.project else []
    words += ["--all"] if given.all else []
    if given.sign_in:
        where = inspector().Proxied(given.sign_in, given.proxy, given.public, given.socket, given.host, given.port)
        return int(inspector().serve_behind_proxy(where, words, _say_where))
    return int(serve(given.host, given.port, [*words, *([given.ref] if given.ref else [])], _say))


def _try_to_open(ref: str | None) -> None:
    """Open what the page will show, and close it again, so that what is wrong is said here. Raises SightlineError."""
    with contextlib.ExitStack() as held:
        local = held.enter_context(Store())
        opened = opener_of()
        store: Reading = held.enter_context(opened(local)) if opened else local
        if ref:
            store.resolve(ref, prefixes=True)


def _check_sign_in(given: Namespace) -> None:
    """Raise UsageError for options that belong to others which are not given."""
    if not given.sign_in:
        if given.proxy or given.socket or given.public:
            raise UsageError("--proxy, --socket and --public belong to --sign-in", "give --sign-in HEADER, too")
        return
    if not given.read_only:
        raise UsageError("readers who are signed in could change what others see", "give --read-only, too")
    if not (given.store or os.environ.get(STORE_VARIABLE)):
        raise UsageError("readers are signed in with their roles of a fleet, and none is named", "give --store URL")
    if given.ref:
        raise UsageError("a page for many readers opens on no output", "link to it: /o/HOST/cmd_a1b2c3")


def _say_where(place: str) -> None:
    write_out(f"{place}\n")
    write_err(dim("The page is served there, for the proxy in front of it, until you press Ctrl+C.") + "\n")


def _say(link: str) -> None:
    write_out(f"{link}\n")
    write_err(dim("The inspector is served there until you press Ctrl+C.") + "\n")
