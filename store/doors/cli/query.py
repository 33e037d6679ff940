"""``sightline query``: ordinary Unix filters over refs, read-only."""

from sightline.doors.cli.arguments import parser
from sightline.doors.cli.full import FullAnswer
from sightline.doors.cli.output import Door
from sightline.verbs.query import VERB, Request, query


def main(name: str, words: list[str]) -> int:
    """Run the command line; its exit code."""
    made = parser(
        name,
        "Ask a question of captured outputs with grep, sed, awk, sort, jq and the like, joined by pipes. It can write "
        "nothing. Prints at most 100 lines and 8,000 bytes, as an agent gets them.",
        example="sightline query 'grep FAILED @last | sort | uniq -c'",
        profile=True,
    )
    made.add_argument("pipeline", metavar="PIPELINE", help="one argument: put it in quotes")
    made.add_argument("--full", action="store_true", help="print the whole answer as it comes")
    given = made.parse_args(words)
    door = Door(as_json=given.json, profile=given.profile)
    full = FullAnswer(as_json=given.json) if given.full else None
    request = Request(given.pipeline, sink=full)
    finish = (lambda reply: full.finish(door, reply)) if full else None
    try:
        return door.answer(VERB, request.logged(), lambda: query(door.asking, request), finish)
    finally:
        door.close()
