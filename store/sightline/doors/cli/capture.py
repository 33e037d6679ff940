"""``sightline capture``: its options."""

import os

from sightline.base.errors import UsageError
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.verbs.arguments import VERBOSITY


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Keep standard input as a buffer, and print a view of it. With -p the input passes through instead.",
        "make 2>&1 | sightline capture --command 'make' --label nightly",
        "curl -s localhost/items | sightline capture --tool fetch --arguments '{\"page\": 1}'",
        profile=True,
    )
    made.add_argument(
        "--command",
        default="",
        metavar="TEXT",
        help="say which command wrote the input, so that the view is made for its kind of output",
    )
    made.add_argument(
        "--exit-code",
        type=_exit_code,
        metavar="N",
        help="say how that command ended; otherwise only the output tells whether it failed",
    )
    made.add_argument("--label", default="", metavar="TEXT", help="name the buffer, so that `list --match` finds it")
    made.add_argument("--verbosity", default="auto", metavar="LEVEL", help=VERBOSITY.help)
    made.add_argument(
        "--tool",
        default="",
        metavar="NAME",
        help="keep the input as the result of this tool: text, JSON or blocks of MCP",
    )
    made.add_argument("--arguments", default="", metavar="JSON", help="say what that tool was called with")
    made.add_argument(
        "-p",
        "--pass-through",
        action="store_true",
        help="print the input as it comes instead of a view, for use inside a pipeline",
    )
    made.at_error = _pass_on
    return made


_EXIT_CODES = range(-(1 << 31), 1 << 32)
"""Of all systems: a shell's are 0 to 255, Windows has 32 bits, and Python writes the signal as a negative number."""


def _exit_code(text: str) -> int:
    if len(text) <= len(str(_EXIT_CODES.start)):
        try:
            code = int(text)
        except ValueError:
            code = _EXIT_CODES.stop
        if code in _EXIT_CODES:
            return code
    from argparse import ArgumentTypeError  # only a wrong number needs it

    raise ArgumentTypeError(f"{text[:40]!r} is not an exit code; write the shell's, such as --exit-code $?")


def _pass_on() -> None:
    """Copy standard input to standard output, so that a wrong option does not lose the output in the pipe."""
    if os.isatty(0):
        return
    try:
        while data := os.read(0, 1 << 16):
            while data:
                data = data[os.write(1, data) :]
    except OSError:
        return  # whoever read it has left, or the input cannot be read


def main(given: Namespace) -> int:
    """Keep the input, and return the exit code."""
    from sightline.doors.cli.capture_input import capture

    try:
        return capture(given)
    except UsageError:
        _pass_on()
        raise
