"""``sightline hook``: answers one event of a harness, with JSON in and JSON out; settings name a faster way to it."""

from sightline.agents.hooks.event import main as answer
from sightline.base.errors import UsageError
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.harnesses import known
from sightline.harnesses.base import DEFAULT_MODE, MODES, Harness


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Answer one event of a harness. The event comes as JSON on standard input, and the answer goes to standard "
        "output. `sightline install` writes this command into the settings of a harness. Errors are written to "
        "hooks.log in the store's folder.",
        "sightline hook claude-code PostToolUse --mode keep < event.json",
        json=False,
    )
    made.add_argument("harness", choices=_with_hooks(), metavar="HARNESS", help=f"one of {', '.join(_with_hooks())}")
    made.add_argument("event", metavar="EVENT", help="the event, by the harness' own name for it")
    made.add_argument(
        "--mode",
        choices=MODES,
        default=DEFAULT_MODE,
        help="record: only log; keep: also keep outputs whole; shape: also show views in their place",
    )
    made.add_argument(
        "--through",
        default="",
        metavar="PROGRAM",
        help="start this program from commands, where settings allow no other",
    )
    return made


def main(given: Namespace) -> int:
    """Answer the event, and return the exit code, which is 0 unless the command line is wrong.

    Raises:
        UsageError: the harness has no such event.
    """
    hooks = _with_hooks()[given.harness].hooks
    if given.event not in (events := [hook.event for hook in hooks]):
        raise UsageError(
            f"there is no use for the event {given.event!r} here", f"{given.harness} has {', '.join(events)}"
        )
    answer([given.harness, given.event, "--mode", given.mode, *(("--through", given.through) if given.through else ())])
    return 0


def _with_hooks() -> dict[str, Harness]:
    return {name: one for name, one in known().items() if one.hooks}
