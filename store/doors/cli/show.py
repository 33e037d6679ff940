"""``sightline show``: part of a buffer, as read_output gives it to an agent."""

from sightline.doors.cli.arguments import parser, seconds
from sightline.doors.cli.output import Door
from sightline.profile import DEFAULT
from sightline.verbs.read_output import VERB, Request, read_output


def main(name: str, words: list[str]) -> int:
    """Run the command line; its exit code."""
    made = parser(
        name,
        "Show part of a buffer: lines, bytes, the lines that match, a JSON value, or what a running one wrote since.",
        example="sightline show @last --search 'error|warning' --context 2",
        profile=True,
    )
    made.add_argument("ref", metavar="REF", help="@cmd_a1b2c3, @cmd_a1b2c3.err:10-40, @last, …")
    made.add_argument("--lines", default="", metavar="A-B", help="these lines, from 1, inclusive")
    made.add_argument("--offset", type=int, metavar="N", help="a page of bytes from here on")
    made.add_argument(
        "--limit", type=int, metavar="N", help=f"bytes of the page (default {DEFAULT.reading.page_bytes:,})"
    )
    made.add_argument("--search", default="", metavar="PATTERN", help="a regular expression, literal if it is none")
    made.add_argument("--context", type=int, default=0, metavar="N", help="lines around each match")
    made.add_argument("--case", action="store_true", help="tell capital from small letters")
    made.add_argument("--ignore-case", action="store_true", help="do not (default, but in profiles that say otherwise)")
    made.add_argument("--stream", default="", metavar="S", help="out, err or all")
    made.add_argument("--wait", type=seconds, metavar="S", help="wait for new lines of a running buffer, or its end")
    made.add_argument("--path", default="", metavar="PATH", help="the value at a JSON path: '$.items[0].name'")
    made.add_argument("--schema", action="store_true", help="the skeleton of JSON: types for values, one for all items")
    given = made.parse_args(words)
    if given.case and given.ignore_case:
        made.error("--case and --ignore-case do not go together")
    request = Request(
        ref=given.ref,
        lines=given.lines,
        offset=given.offset,
        limit=given.limit,
        search=given.search,
        context=given.context,
        ignore_case=given.ignore_case or (False if given.case else None),
        stream=given.stream,
        wait=given.wait,
        path=given.path,
        schema=given.schema,
    )
    door = Door(as_json=given.json, profile=given.profile)
    try:
        return door.answer(VERB, request.logged(), lambda: read_output(door.asking, request))
    finally:
        door.close()
