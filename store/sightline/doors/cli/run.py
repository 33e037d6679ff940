"""``sightline run``: streams the output to a terminal as it comes, or prints the view into a pipe."""

import os

from sightline.base.errors import UsageError
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.capture.command import CommandCapture
from sightline.doors.terminal.arguments import (
    REMAINDER,
    CommandParser,
    Namespace,
    add_arguments,
    after_dashes,
    command_parser,
    request_of,
)
from sightline.doors.terminal.output import Door, dim, log_streamed, passing_on, write_err
from sightline.light.late_imports import late_modules
from sightline.light.plain_signal import signal
from sightline.light.typing_names import Any
from sightline.log.sessions import is_person
from sightline.shape.segments import Segment
from sightline.store import Target
from sightline.verbs.command_view import ending_of
from sightline.verbs.delivery import deliver
from sightline.verbs.reply import Reply, fault
from sightline.verbs.requests import RunRequest
from sightline.verbs.run_command import VERB, Doorway, run_command

with late_modules(globals()):
    from sightline.shape import summary

_NEWLINE = ord("\n")


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Run a command, keep its whole output, and print a view of it. On a terminal the output streams as it "
        "comes. The exit code is the command's own, 128+N after signal N, and 124 after a timeout.",
        "sightline run -- python -m pytest -q",
        "sightline run -c 'make && make test' --timeout 600",
        "sightline run --background --label server -- npm start",
        profile=True,
        usage="[options] (-c STRING | -- PROGRAM ARGUMENT…)",
    )
    add_arguments(made, RunRequest)
    made.add_argument("--quiet", action="store_true", help="print only the view, on a terminal too")
    made.add_argument(
        "argv",
        nargs=REMAINDER,
        metavar="-- PROGRAM ARGUMENT…",
        help="run this program without a shell; all that follows is for it",
    )
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    request = _request(given)
    names_others = bool(request.compare) or any("@" in word for word in (request.command, *request.argv))
    with Door(as_json=given.json, profile=given.profile, insist=False, waits=names_others) as door:
        if os.isatty(1) and not (given.json or given.quiet or request.background or request.compare):
            return _stream(door, request)
        watches = is_person(door.asking.session) and not (given.json or given.quiet)
        doorway = _doorway(request, unkept_to=passing_on() if watches else None)
        return door.answer(VERB, request.logged(), lambda: run_command(door.asking, request, doorway))


def _request(given: Namespace) -> RunRequest:
    """Return what is to be run. Raises UsageError unless exactly one of ``-c`` and a program is given."""
    argv = after_dashes(given.argv)
    if bool(given.command) == bool(argv):
        raise UsageError(
            "give a command: either -c STRING or -- PROGRAM ARGUMENT…", "such as sightline run -- make test"
        )
    return request_of(RunRequest, given, argv=tuple(argv), timeout_secs=given.timeout_secs or 0)  # people wait


def _doorway(request: RunRequest, **more: Any) -> Doorway:
    """Pass standard input through; on a terminal the command stays in our process group, so it can read the keys."""
    try:
        keyboard = os.isatty(0)
        os.fstat(0)
        stdin: int | None = 0
    except OSError:
        keyboard, stdin = False, None
    own_group = not keyboard or bool(request.timeout_secs)
    return Doorway(stdin=stdin, own_group=own_group, started=_forward_signals(own_group), **more)


def _forward_signals(own_group: bool) -> Any:
    """Pass signals to us on to the command; what it does after that is still captured."""

    def started(capture: CommandCapture) -> None:
        interrupts = 0

        def interrupt(number: int, _: object) -> None:
            nonlocal interrupts
            interrupts += 1
            if own_group:
                capture.stop(signal.SIGKILL if interrupts > 1 else number, insist=False)

        signal.signal(signal.SIGINT, interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda received, _: capture.stop(received))

    return started


def _stream(door: Door, request: RunRequest) -> int:
    """Send everything to the terminal as it comes, for a person who watches; the log keeps ranges only."""
    at_line_start = True
    pass_on = passing_on()

    def echo(stream: str, data: memoryview) -> None:
        nonlocal at_line_start
        at_line_start = data[-1] == _NEWLINE
        pass_on(stream, data)

    def finish(reply: Reply) -> None:
        if "pending_ack" in reply.fields:
            deliver(door.asking, reply, _question, write_err)
            return
        if not reply.shows.refs:  # nothing was kept, or nothing was run
            door.deliver(reply)
            return
        try:
            sum_up(reply)
        except Exception as error:  # all of its output has been shown
            write_err(f"sightline: {reply.ref} is kept, and nothing more can be said of it: {fault(error)}\n")

    def sum_up(reply: Reply) -> None:
        buffer = door.local.resolve(format_ref(reply.shows.refs[0])).buffer
        log_streamed(door, VERB, reply.shows.request, buffer)
        write_err("" if at_line_start else "\n")
        note = f"  {buffer.note}" if buffer.note else ""
        for used in reply.shows.buffers(door.local):
            if altered := door.local.checked(used).altered:
                write_err(f"sightline: {used.ref} is altered: {altered}\n")
        write_err(dim(f"{buffer.ref}  {_summary(door, buffer)}{_unfiltered(reply.fields)}{note}") + "\n")

    doorway = _doorway(request, echo=echo)
    return door.answer(VERB, request.logged(), lambda: run_command(door.asking, request, doorway), finish)


def _unfiltered(fields: dict[str, Any]) -> str:
    """Tell a person about the lines that their command's own filters left out."""
    if ref := fields.get("unfiltered_output"):
        return f"  unfiltered: {ref}, {fields['unfiltered_lines']:,} lines"
    return f"  {fields['warning']}" if "warning" in fields else ""


def _question(reply: Reply) -> tuple[Segment, ...]:
    """Ask a person to confirm."""
    why = reply.fields["reason"].partition(": ")[2]
    return (Segment(f"sightline: not run, since it {why}\n  to run it all the same: {reply.fields['next']}\n"),)


def _summary(door: Door, buffer: Buffer) -> str:
    with door.local.open_text(Target(buffer, "out")) as out, door.local.open_text(Target(buffer, "err")) as err:
        return summary.summary(out, err, **ending_of(buffer)._asdict())
