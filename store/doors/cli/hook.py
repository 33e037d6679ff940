"""``sightline hook``: one event of a harness, JSON in and JSON out; settings name a faster way to the same."""

from sightline.doors.cli.arguments import parser
from sightline.harnesses import known
from sightline.harnesses.base import DEFAULT_MODE, MODES


def main(name: str, words: list[str]) -> int:
    """Run the command line; its exit code, always 0 once the words are right."""
    harnesses = {name: one for name, one in known().items() if one.hooks}
    names = ", ".join(harnesses)
    made = parser(
        name,
        "Answer one event of a harness: its JSON comes on standard input, the answer goes to standard output. "
        "`sightline install` writes such lines into a harness' settings; what goes wrong stands in hooks.log.",
        example="sightline hook claude-code PostToolUse --mode keep < event.json",
        json=False,
    )
    made.add_argument("harness", help=f"one of {names}")
    made.add_argument("event", help="the harness' own name of the event")
    made.add_argument("--mode", choices=MODES, default=DEFAULT_MODE, help="look on, keep what is cut, show views")
    made.add_argument(
        "--through", default="", metavar="PROGRAM", help="what is put into commands, as settings allow it"
    )
    given = made.parse_args(words)
    if given.harness not in harnesses:
        made.error(f"{given.harness!r} is no harness with hooks: {names}")
    if not harnesses[given.harness].when(given.event):
        events = ", ".join(hook.event for hook in harnesses[given.harness].hooks)
        made.error(f"{given.event!r} is no event that is of use here: {events}")
    if given.mode not in MODES:
        made.error(f"{given.mode!r} is no mode: {', '.join(MODES)}")
    from sightline.doors.hooks.event import main as answer

    answer([given.harness, given.event, "--mode", given.mode, *(("--through", given.through) if given.through else ())])
    return 0
