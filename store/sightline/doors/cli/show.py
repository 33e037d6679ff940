"""``sightline show``: shows a part of a buffer, as read_output shows it to an agent."""

from sightline.base.profile import DEFAULT
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser, seconds
from sightline.doors.terminal.output import Door
from sightline.verbs.read_output import VERB, ReadRequest, read_output


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
    made.add_argument(
        "ref",
        metavar="REF",
        help=(
            "the output: @last or @cmd_a1b2c3; @cmd_a1b2c3.err is its standard error, @cmd_a1b2c3:10-40 some of its "
            "lines"
        ),
    )
    made.add_argument("--lines", default="", metavar="A-B", help="show lines A to B, counted from 1")
    made.add_argument(
        "--offset",
        type=int,
        metavar="N",
        help="show a page of bytes that begins at byte N, for output whose lines are very long",
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
        help="show the lines that match this regular expression; what is not a valid one is looked for as text",
    )
    made.add_argument(
        "--context", type=int, default=0, metavar="N", help="also show N lines before and after each match"
    )
    case = made.add_mutually_exclusive_group()
    case.add_argument(
        "--case",
        action="store_true",
        help="search for capital and small letters as typed, so that Error does not match error",
    )
    case.add_argument(
        "--ignore-case",
        action="store_true",
        help="search without regard to capital and small letters, as most profiles do anyway",
    )
    made.add_argument(
        "--stream",
        default="",
        metavar="STREAM",
        help="show this stream: out, err, or all, which is both in the order they came",
    )
    made.add_argument(
        "--wait",
        type=seconds,
        metavar="SECONDS",
        help="wait up to this long for a running command to end, or to write lines and be quiet for 2 s",
    )
    made.add_argument(
        "--until", default="", metavar="PATTERN", help="wait until a line matches, however quiet the command is"
    )
    made.add_argument(
        "--verbosity",
        default="",
        metavar="MODE",
        help="show less or more in the view: silent, concise, normal, verbose, full or auto",
    )
    made.add_argument(
        "--path",
        default="",
        metavar="JSONPATH",
        help="show the value at this path of a JSON result, such as '$.items[0].name'",
    )
    made.add_argument(
        "--schema",
        action="store_true",
        help="show the structure of a JSON result: types instead of values, one item instead of all",
    )
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    request = ReadRequest(
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
    door = Door(given, as_json=given.json, profile=given.profile)
    try:
        return door.answer(VERB, request.logged(), lambda: read_output(door.asking, request))
    finally:
        door.close()
