"""``sightline list``: lists buffers, the most recently used first."""

import os

from sightline.doors.terminal.arguments import (
    CommandParser,
    Namespace,
    add_arguments,
    add_store,
    command_parser,
    request_of,
)
from sightline.doors.terminal.output import Door, json_text, write_err, write_out
from sightline.light.late_imports import late_modules
from sightline.log.views import Shows
from sightline.shape.segments import Segment
from sightline.verbs.delivery import deliver
from sightline.verbs.list_outputs import VERB, as_data, find_buffers_and_reach, list_outputs
from sightline.verbs.reply import Reply
from sightline.verbs.requests import ListRequest

with late_modules(globals()):
    from sightline.audit import buffer_filter  # 30 ms: only the help names all words
    from sightline.base import time_words


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        _description,
        "sightline list",
        "sightline list --match 'pytest exit:!0 since:1h'",
        "sightline list --store fleet --host 'ci-*' --failed --since 1d",
    )
    add_narrowing(made)
    add_arguments(made, ListRequest, without=("match",))
    add_store(made)
    return made


def _description() -> str:
    examples = " ".join(word.example for word in buffer_filter.WORDS.values())
    return (
        "List captured outputs, the most recently used first: ref, state, lines, size, age and command. --match takes "
        f"words that are looked for in command, ref and label, and these filters: ! (a failure that no agent saw), "
        f"{examples}."
    )


def add_narrowing(made: CommandParser) -> None:
    """Declare the options that narrow the outputs; see `match_of`."""
    made.add_argument("--match", default="", metavar="TEXT", help="only outputs that match these words and filters")
    made.add_argument(
        "--host", default="", metavar="GLOB", help="only those of hosts of this name, such as 'ci-*'; with --store"
    )
    made.add_argument("--failed", action="store_true", help="only those that failed, as --match is:failed does")
    made.add_argument("--since", default="", metavar="TIME", help=f"only those captured after this: {time_words.TAKES}")


def match_of(given: Namespace) -> str:
    """Write the narrowing options as a text for --match."""
    words = [given.match] if given.match else []
    words += [f"host:{given.host}"] if given.host else []
    words += ["is:failed"] if given.failed else []
    words += [f"since:{'T'.join(given.since.split())}"] if given.since else []
    return " ".join(words)


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    project = os.path.realpath(given.project) if given.project else ""
    request = request_of(ListRequest, given, match=match_of(given), project=project)
    door = Door(given)

    def as_json() -> Reply:
        buffers, unsure = find_buffers_and_reach(door.store, request)
        text = json_text([as_data(buffer) for buffer in buffers])
        return Reply({"warning": unsure} if unsure else {}, (Segment(text),), Shows(VERB, request.logged()))

    def as_json_alone(reply: Reply) -> None:
        deliver(door.asking, reply, lambda made: made.body, write_out)
        if warning := reply.fields.get("warning"):
            write_err(f"sightline: {warning}\n")

    with door:
        if given.json and not given.mine:
            return door.answer(VERB, request.logged(), as_json, as_json_alone)
        return door.answer(VERB, request.logged(), lambda: list_outputs(door.asking, request))
