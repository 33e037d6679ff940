"""``sightline diff``: compares two buffers as ``query 'diff -u …'`` does, with refs for names."""

import os

from sightline.base.refs import are_of_two_hosts, format_ref
from sightline.doors.terminal.arguments import YES_OR_NO, CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door
from sightline.light.late_imports import late_modules
from sightline.verbs.query import VERB, query
from sightline.verbs.reply import Reply
from sightline.verbs.requests import QueryRequest

with late_modules(globals()):
    from sightline.doors.cli import full_answer


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Compare two outputs line by line. On a terminal it prints all differences; into a pipe it prints as many "
        "as an agent gets.",
        "sightline diff @last~1 @last",
        "sightline diff @last~1 @last --volatile",
        profile=True,
    )
    made.add_argument("a", metavar="REF", help="the older output, whose lines are marked with -")
    made.add_argument("b", metavar="REF", help="the newer output, whose lines are marked with +")
    made.add_argument(
        "--volatile",
        action=YES_OR_NO,
        help="ignore what differs in every run: times, numbers, hashes, and the names of the project's and the home "
        "folder; outputs of two hosts are compared so unless you say --no-volatile",
    )
    made.add_argument("--full", action="store_true", help="print all differences, also into a pipe")
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Print the differences, and return 0 if there are none and 1 if there are some, as diff(1) does."""
    door = Door(given, as_json=given.json, profile=given.profile)
    full = full_answer.FullAnswer(as_json=given.json) if given.full or (os.isatty(1) and not given.json) else None

    def call() -> Reply:
        sides = [door.asking.resolve_whole(ref) for ref in (given.a, given.b)]
        if given.volatile or (given.volatile is None and are_of_two_hosts(*(side.buffer.name for side in sides))):
            from sightline.verbs.run_comparison import comparison_reply  # 30 ms: most differences come from diff itself

            return comparison_reply(
                door.asking, *sides, verb=VERB, request={"diff": [given.a, given.b], "volatile": True}
            )
        names = [format_ref(side.buffer.name, side.stream) for side in sides]
        labels = " ".join(f"--label '{name}'" for name in names)
        pipeline = f"diff -u {labels} {' '.join(names)}"
        return query(door.asking, QueryRequest(pipeline, sink=full))

    def finish(reply: Reply) -> None:
        if full and "volatile" not in reply.shows.request:
            full.finish(door, reply)
        else:
            door.deliver(reply)

    with door:
        return door.answer(VERB, {"diff": [given.a, given.b]}, call, finish)
