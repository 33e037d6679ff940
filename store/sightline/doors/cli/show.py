"""``sightline show``: shows a part of a buffer, as read_output shows it to an agent."""

from sightline.doors.terminal.arguments import (
    CommandParser,
    Namespace,
    add_arguments,
    add_store,
    command_parser,
    request_of,
)
from sightline.doors.terminal.output import Door
from sightline.verbs.read_output import VERB, read_output
from sightline.verbs.requests import ReadRequest


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Show a view of an output, its failures first, or a part of it: lines, bytes, lines that match, or a JSON "
        "value. Of a running command, --wait shows what it has written since.",
        "sightline show @last",
        "sightline show @last --lines 40-80",
        "sightline show @last --search 'error|warning' --context 2",
        "sightline show @tool_d4e5f6 --path '$.items[0]'",
        profile=True,
    )
    add_arguments(made, ReadRequest)
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    request = request_of(ReadRequest, given)
    with Door(given, as_json=given.json, profile=given.profile) as door:
        return door.answer(VERB, request.logged(), lambda: read_output(door.asking, request))
