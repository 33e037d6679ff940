"""``sightline kill``: ends running commands, with all that they started."""

from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door
from sightline.verbs.kill import KillRequest, kill

VERB = "kill"


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "End commands that are still running, and all that they started: each is asked to end, and killed after 2 "
        "s. What they wrote is kept.",
        "sightline kill @last",
        profile=True,
    )
    made.add_argument("refs", nargs="+", metavar="REF", help="the commands: @last, @cmd_a1b2c3")
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    door = Door(as_json=given.json, profile=given.profile)
    order, request = KillRequest(tuple(given.refs)), {"refs": given.refs}
    with door:
        return door.answer(VERB, request, lambda: kill(door.asking, order, verb=VERB, request=request))
