"""``sightline serve``: opens the inspector in a browser, for whoever has the link."""

import contextlib
import os

from sightline.base.distribution import install_extra
from sightline.base.errors import SightlineError, UsageError
from sightline.doors.cli.inspector import inspector
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import dim, write_err, write_out
from sightline.log.store_kinds import opener_of
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
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    if not 0 <= given.port <= 65_535:
        raise UsageError(f"there is no port {given.port}", "give a number from 0 to 65535")
    if given.store:
        os.environ[STORE_VARIABLE] = given.store  # each process that shows the inspector reads it
    with contextlib.ExitStack() as held:
        local = held.enter_context(Store())
        opened = opener_of()
        store: Reading = held.enter_context(opened(local)) if opened else local
        if given.ref:
            store.resolve(given.ref, prefixes=True)
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
    return int(serve(given.host, given.port, [*words, *([given.ref] if given.ref else [])], _say))


def _say(link: str) -> None:
    write_out(f"{link}\n")
    write_err(dim("The inspector is served there until you press Ctrl+C.") + "\n")
