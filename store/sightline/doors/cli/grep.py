"""``sightline grep``: finds matching lines in many outputs, of this machine or of all hosts."""

from sightline.doors.cli.list import add_narrowing, match_of
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door
from sightline.verbs.grep_outputs import LIMIT, VERB, GrepRequest, grep_outputs


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Find lines in many outputs, the newest first. The options choose which outputs are read; the first line says "
        "how many these are. Exits with 1 where nothing matches.",
        "sightline grep 'connection refused' --failed --since 1d",
        "sightline grep --store fleet 'out of memory' --host 'ci-*' --since 1d",
    )
    made.add_argument(
        "pattern", metavar="PATTERN", help="a regular expression, or plain text; small letters match capitals, too"
    )
    add_narrowing(made)
    made.add_argument("--limit", type=int, default=LIMIT, metavar="N", help=f"print at most N lines (default {LIMIT})")
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    request = GrepRequest(given.pattern, match=match_of(given), limit=given.limit)
    with Door(given, as_json=given.json) as door:
        return door.answer(VERB, request.logged(), lambda: grep_outputs(door.asking, request))
