"""The bare command ``sightline``: opens the inspector; no other function of the store knows the screen."""

import os
from types import ModuleType

from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store
from sightline.store import STORE_VARIABLE


def parser() -> CommandParser:
    """Declare what the command takes."""
    made = CommandParser(
        prog="sightline",
        usage="sightline [REF] [--project DIR | --all] [--read-only] [--store URL [--offline]]",
        description="Open the inspector, in a terminal.",
    )
    made.add_argument("ref", nargs="?", metavar="REF", help="the output that is shown first")
    made.add_argument("--project", metavar="DIR", help="show what was run in that folder or repository")
    made.add_argument("--all", action="store_true", help="show what was run in any project")
    made.add_argument(
        "--read-only", action="store_true", help="delete, pin, write and send nothing, and start no other program"
    )
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Open the inspector in this terminal, and return its exit code."""
    opened = None
    if given.ref and "@" not in given.ref:
        parser().error(f"the inspector does not know {given.ref!r}")
    if given.project == "":
        parser().error("--project takes a folder")
    if given.store or os.environ.get(STORE_VARIABLE):
        from sightline.log.store_kinds import opener_of  # few commands read more than this machine's store

        opened = opener_of(given.store, offline=given.offline)
    elif given.offline:
        parser().error("--offline says how a shared place is read, and none is named")
    shown = {"folder": given.project or "", "everything": given.all, "read_only": given.read_only}
    return int(inspector().run(None, given.ref, **shown, opened=opened))


def inspector() -> ModuleType:
    """Import the inspector: `run` opens it in this terminal, `serve` in a browser."""
    import sightline_tui as tui  # imported inside a function, so that no other command loads it

    return tui
