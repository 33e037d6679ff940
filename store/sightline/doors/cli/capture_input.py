"""``sightline capture``: keeps what comes through a pipe, and prints a view of it or passes it through."""

import os

from sightline.base.errors import UsageError
from sightline.base.project import working_directory
from sightline.base.records import Buffer
from sightline.capture.recorder import Unkept, capture_stdin
from sightline.doors.terminal.arguments import Namespace
from sightline.doors.terminal.output import Door, log_streamed, passing_on, tell_error, write_all
from sightline.log.sessions import is_person
from sightline.shape.budgets import budget_for
from sightline.verbs.command_view import Ending, command_reply, ending_of
from sightline.verbs.reply import Reply
from sightline.verbs.unkept_view import unkept_reply, unmade_reply

VERB = "capture"


def capture(given: Namespace) -> int:
    """Keep standard input, print its view or pass it through, and return the exit code."""
    if given.tool:
        return _result(given)
    if given.arguments:
        raise UsageError("--arguments needs --tool", "name the tool that had these arguments: --tool NAME")
    if os.isatty(0):
        raise UsageError(
            "nothing is piped into `sightline capture`",
            "to run a command and keep its output: sightline run -- COMMAND",
        )
    return _capture(given)


def _result(given: Namespace) -> int:
    from sightline.doors.cli.result import capture_tool  # 10 ms that the output of a command does not need

    if given.command or given.exit_code is not None or given.pass_through:
        raise UsageError(
            ("--tool can only be combined with --arguments, --label and --verbosity"), "leave the others out"
        )
    return capture_tool(given)


def _capture(given: Namespace) -> int:
    door = Door(as_json=given.json, profile=given.profile, insist=False, waits=False)
    request = {name: value for name, value in vars(given).items() if value not in (None, "", False, "auto")}
    pass_on = _PassThrough() if given.pass_through else None

    def keep() -> Buffer | Unkept:
        return capture_stdin(
            door.local,
            0,
            command=given.command,
            cwd=working_directory(),
            session=door.asking.session.name,
            label=given.label,
            exit_code=given.exit_code,
            pass_on=pass_on,
            unkept_to=None if pass_on or given.json or not is_person(door.asking.session) else passing_on(),
        )

    def call() -> Reply:
        kept = keep()
        if isinstance(kept, Unkept):
            reply = unkept_reply(kept, Ending(given.exit_code), verb=VERB, request=request)
        else:
            ending = ending_of(kept)
            try:
                reply = command_reply(door.asking, kept, ending, verbosity=given.verbosity, verb=VERB, request=request)
            except Exception as error:  # whatever the error is, the output must not be lost
                reply = unmade_reply(door.asking, kept, ending, error, verb=VERB, request=request)
        return reply._replace(exit_code=0)

    with door:
        budget_for(given.verbosity, True, door.asking.profile.budgets)  # reports a wrong word before reading
        if not pass_on:
            return door.answer(VERB, request, call)
        kept = keep()
        if isinstance(kept, Buffer):
            log_streamed(door, VERB, request, kept, shown=os.isatty(1))
        elif kept.error:  # the input was passed on in spite of that
            tell_error(kept.error)
        return 0


class _PassThrough:
    """Writes to standard output until its reader has left; after that the capture continues."""

    def __init__(self) -> None:
        self._gone = False

    def __call__(self, data: memoryview) -> None:
        if not self._gone:
            try:
                write_all(1, data)
            except BrokenPipeError:
                self._gone = True
