"""``sightline views show``: prints the exact text of a reply."""

import os

from sightline.doors.cli.views import as_data
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door, print_json, write_out
from sightline.log.log_index import find_view
from sightline.log.view_text import view_text
from sightline.shape.clean import clean_text
from sightline.verbs.printable_text import printable


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Print the exact text of a reply, as it was sent. Where a part of it is not known, a line above it says why.",
        "sightline views show shell-4711-a1b2c3:3",
    )
    made.add_argument("id", metavar="ID", help="the id of the reply, which `sightline views` lists")
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    with Door(given) as door:
        door.store.bring_up_to_date()
        indexed = find_view(door.store, given.id)
        text = view_text(door.store, indexed)
        if given.json:
            print_json({**as_data(indexed.view), "text": text})
            return 0
        if indexed.view.unknown:
            write_out(printable(f"[not all of this text is known: {indexed.view.unknown}]") + "\n")
        write_out(_for_terminal(text) if os.isatty(1) else text)
        return 0


def _for_terminal(text: str) -> str:
    """Clean a view's text of control sequences that a profile for agents has left in it, for a terminal."""
    return clean_text(text.encode(errors="surrogateescape"))
