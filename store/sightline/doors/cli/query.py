"""``sightline query``: asks outputs by ordinary Unix filters over refs, read-only."""

from sightline.base.refs import looks_like_a_ref
from sightline.doors.terminal.arguments import (
    REMAINDER,
    CommandParser,
    Namespace,
    add_store,
    after_dashes,
    command_parser,
)
from sightline.doors.terminal.output import Door
from sightline.light.late_imports import late_modules
from sightline.pipeline.query_words import quoted
from sightline.verbs.query import VERB, query
from sightline.verbs.requests import QueryRequest

with late_modules(globals()):
    from sightline.doors.cli import full_answer


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Ask captured outputs a question with grep, sed, awk, sort, jq and the like, joined by pipes. A query "
        "cannot write anything. It prints at most 100 lines and 8,000 bytes, which is what an agent gets.",
        "sightline query 'grep -n FAILED @last'",
        "sightline query 'grep FAILED @last | sort | uniq -c'",
        "sightline query 'jq -r .items[].name @tool_d4e5f6' --full",
        profile=True,
        usage="[--full] [--json] [--profile PROFILE] PIPELINE",
    )
    made.add_argument("--full", action="store_true", help="print the whole answer as it comes")
    made.add_argument(
        "pipeline",
        nargs=REMAINDER,
        metavar="PIPELINE",
        help="the programs and the refs they read, in quotes as one argument",
    )
    add_store(made)
    return made


def _typed(word: str) -> str:
    """Quote a word that a shell has read already, so that a pipeline reads the same word."""
    return word if word == "|" or looks_like_a_ref(word) or not set(word) & _QUOTED else quoted(word)


_QUOTED = set(" \t\n'\"\\|&;<>()$`*?[]{}~#!")


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    made, (first, *more) = parser("query"), after_dashes(given.pipeline) or [""]
    if more and " " in first:  # options may follow a pipeline that was typed in quotes
        options = made.parse_args(more)
        if options.pipeline:
            made.error(f"unrecognized arguments: {' '.join(options.pipeline)}; put all of the pipeline in quotes")
        given = Namespace(**{**vars(given), **{name: value for name, value in vars(options).items() if value}})
        more = []
    given.pipeline = " ".join(map(_typed, (first, *more))) if more else first
    door = Door(given, as_json=given.json, profile=given.profile)
    full = full_answer.FullAnswer(as_json=given.json) if given.full else None
    request = QueryRequest(given.pipeline, sink=full)
    finish = (lambda reply: full.finish(door, reply)) if full else None
    with door:
        return door.answer(VERB, request.logged(), lambda: query(door.asking, request), finish)
