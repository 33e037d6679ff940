"""``sightline show``: part of a buffer, as read_output gives it to an agent."""

from sightline.doors.cli.arguments import ArgumentParser, Namespace, command_parser, seconds
from sightline.doors.cli.output import Door
from sightline.profile import DEFAULT
from sightline.verbs.read_output import VERB, Request, read_output


def parser(name: str) -> ArgumentParser:
    """What the command takes."""
    made = command_parser(
        name,
        "Show a buffer: a view of it, failures first. Or a part: lines, bytes, the lines that match, a JSON value, or "
        "what a running one wrote since.",
        "sightline show @last",
        "sightline show @last --lines 40-80",
        "sightline show @last --search 'error|warning' --context 2",
        "sightline show @tool_d4e5f6 --path '$.items[0]'",
        profile=True,
    )
    made.add_argument(
        "ref",
        metavar="REF",
        help="the buffer: @last, @cmd_a1b2c3, its errors @cmd_a1b2c3.err, lines of it @cmd_a1b2c3:10-40",
    )
    made.add_argument("--lines", default="", metavar="A-B", help="show these lines, counted from 1, the last included")
    made.add_argument(
        "--offset",
        type=int,
        metavar="N",
        help="show a page of bytes from byte N on, where lines are too long to count by",
    )
    made.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help=f"show at most N bytes in that page (default {DEFAULT.reading.page_bytes:,})",
    )
    made.add_argument(
        "--search",
        default="",
        metavar="PATTERN",
        help="show the lines that match this regular expression, or hold this text where it is none",
    )
    made.add_argument(
        "--context", type=int, default=0, metavar="N", help="show N lines before and after each match, too"
    )
    case = made.add_mutually_exclusive_group()
    case.add_argument(
        "--case", action="store_true", help="let --search match only the case that is typed: Error, and not error"
    )
    case.add_argument(
        "--ignore-case", action="store_true", help="let it match either case, which only some profiles do not"
    )
    made.add_argument(
        "--stream", default="", metavar="STREAM", help="show out, err, or all, which has both in the order they came"
    )
    made.add_argument(
        "--wait",
        type=seconds,
        metavar="SECONDS",
        help="of a running buffer, wait this long for its end, or for new lines and 2 s of quiet",
    )
    made.add_argument("--until", default="", metavar="PATTERN", help="wait until a line matches, however quiet it is")
    made.add_argument(
        "--verbosity",
        default="",
        metavar="MODE",
        help="how much of it the view shows: silent, concise, normal, verbose, full or auto",
    )
    made.add_argument(
        "--path",
        default="",
        metavar="JSONPATH",
        help="show the value at this place of a JSON result, such as '$.items[0].name'",
    )
    made.add_argument(
        "--schema",
        action="store_true",
        help="show the shape of a JSON result: types instead of values, one item instead of all",
    )
    return made


def main(given: Namespace) -> int:
    """Run the command; its exit code."""
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
        verbosity=given.verbosity,
        until=given.until,
    )
    door = Door(as_json=given.json, profile=given.profile)
    try:
        return door.answer(VERB, request.logged(), lambda: read_output(door.asking, request))
    finally:
        door.close()
