"""``sightline query``: ordinary Unix filters over refs, read-only."""

from sightline.doors.cli.arguments import ArgumentParser, Namespace, command_parser
from sightline.doors.cli.full import FullAnswer
from sightline.doors.cli.output import Door
from sightline.verbs.query import VERB, Request, query


def parser(name: str) -> ArgumentParser:
    """What the command takes."""
    made = command_parser(
        name,
        "Ask a question of captured outputs with grep, sed, awk, sort, jq and the like, joined by pipes. It can write "
        "nothing. Prints at most 100 lines and 8,000 bytes, as an agent gets them.",
        "sightline query 'grep -n FAILED @last'",
        "sightline query 'grep FAILED @last | sort | uniq -c'",
        "sightline query 'jq -r .items[].name @tool_d4e5f6' --full",
        profile=True,
    )
    made.add_argument(
        "pipeline", metavar="PIPELINE", help="the programs and the refs they read, in quotes as one argument"
    )
    made.add_argument("--full", action="store_true", help="print the whole answer as it comes")
    return made


def main(given: Namespace) -> int:
    """Run the command; its exit code."""
    door = Door(as_json=given.json, profile=given.profile)
    full = FullAnswer(as_json=given.json) if given.full else None
    request = Request(given.pipeline, sink=full)
    finish = (lambda reply: full.finish(door, reply)) if full else None
    try:
        return door.answer(VERB, request.logged(), lambda: query(door.asking, request), finish)
    finally:
        door.close()
