"""The verb run_command: runs a command with a shell, captures its whole output, and replies with a view."""

import os
import time

from sightline.base.errors import ExpiredRef, UsageError
from sightline.base.ownership import others_could_write
from sightline.base.project import working_directory
from sightline.base.records import Buffer, joined_notes, known_fields
from sightline.base.refs import format_ref, is_ack
from sightline.capture.child import shell_argv
from sightline.capture.command import Captured, CommandCapture, make_stand_ins
from sightline.capture.recorder import LEFT_BEHIND, Echo
from sightline.light.json_text import dumps, loads
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable
from sightline.log.views import Shows
from sightline.shape.budgets import budget_for
from sightline.shape.segments import Segment
from sightline.store import cause_of
from sightline.verbs.arguments import refuse_overlong
from sightline.verbs.asker import Asker
from sightline.verbs.command_view import Ending, command_reply, ending_of
from sightline.verbs.reply import Reply, fault, in_order
from sightline.verbs.requests import RunRequest
from sightline.verbs.safety import reason_to_confirm

if TYPE_CHECKING:  # only a command that filters itself needs it
    from sightline.capture.filter_pipe import Unfiltered
    from sightline.capture.filters import FilterSplit
    from sightline.store import StandIns
    from sightline.verbs.substitution import Substitution

with late_modules(globals()):
    from sightline.capture import background as background_command  # 5 ms, for subprocess
    from sightline.capture import filters  # 4 ms: the lexer of shell text, and its patterns
    from sightline.verbs import (
        file_facts,  # command_view has loaded it
        kill,  # 5 ms
        previous_run,  # a success is not compared
        query,  # 20 ms, which only a ref needs
        run_comparison,  # 30 ms
        substitution,  # 5 ms, which only a ref needs
        unkept_view,  # needed as seldom as a disk is full
    )

VERB = "run_command"
_WITHOUT_ASKING = "to run it all the same: --acknowledge-risk, acknowledge_risk=true"
ACK_KEPT_SECONDS = 900.0  # a later confirmation is about another situation


class Doorway(NamedTuple):
    """What a door adds to a command that runs while it waits.

    Attributes:
        stdin: descriptor for its standard input; none by default.
        own_group: whether the command gets a process group of its own.
        echo: gets its output as it comes.
        unkept_to: gets all of its output if the store keeps nothing, and nobody has seen it come.
        started: gets the capture before it runs, so that it can be stopped.
        run: runs the capture to its end; returns None if it goes on beyond the door's patience, which needs a
            buffer.
        confine: returns the folder in which it may run for the wanted one; raises UsageError if there is none.
    """

    stdin: int | None = None
    own_group: bool = True
    echo: Echo | None = None
    unkept_to: Echo | None = None
    started: Callable[[CommandCapture], None] | None = None
    run: Callable[[CommandCapture], Captured | None] = CommandCapture.run
    confine: Callable[[str], str] = str


def run_command(asking: Asker, request: RunRequest, doorway: Doorway | None = None) -> Reply:
    """Run a command and reply with a view of its output.

    Raises:
        UsageError: the arguments do not go together. SightlineError: nothing was run.
    """
    refuse_overlong(request)
    if not request.line.strip():
        raise UsageError("no command was given", f"give one, such as: {asking.calls(VERB, command='ls -l')}")
    is_kill = request.command.lstrip().startswith("kill") and "@" in request.command
    if is_kill and (order := kill.order_of(request.command)):
        return kill.kill(asking, order, verb=VERB, request=request.logged())
    if is_ack(request.line):
        request = _confirmed(asking, request)
    budget_for(request.verbosity, True, asking.profile.budgets)  # reports a wrong word before anything runs
    doorway = doorway or Doorway()
    here = working_directory()
    cwd = here
    if request.cwd:
        cwd = doorway.confine(os.path.normpath(os.path.join(here, os.path.expanduser(request.cwd))))
    if not os.path.isdir(cwd):
        if not request.cwd:
            raise UsageError(f"the current folder is gone: {cwd}", "go to one that exists, or name one: -C FOLDER, cwd")
        raise UsageError(
            f"there is no folder {cwd}", ("cwd is the folder that the command runs in; name one that exists")
        )
    if request.compare and request.background:
        raise UsageError(
            "compare and background cannot be combined", "compare the two outputs with diff once the command has ended"
        )
    if _asks_only(request, doorway) and (
        reply := query.query_instead(asking, request.command, verb=VERB, logged=request.logged())
    ):
        return reply
    if request.compare not in ("", "last"):
        request = request._replace(compare=asking.resolve(request.compare).buffer.ref)  # an error before anything runs
    found = _refs_in(asking, request)
    settings = asking.local.settings
    if not request.acknowledge_risk and (
        reason := reason_to_confirm(request.line, settings.confirm, settings.confirm_not, cwd)
    ):
        return _ask_back(asking, request._replace(cwd=cwd), reason)
    if found is None:
        start = Start(shell_argv(request.command) if request.command else list(request.argv), cwd)
        return _run(asking, request, start, doorway)
    for target in found.targets:
        asking.local.touch(target.buffer.name)
    stand_ins = make_stand_ins(asking.local, ((one.key, *one) for one in found.wanted)) if found.wanted else None
    paths = stand_ins.paths if stand_ins else {}
    argv = shell_argv(found.command(paths)) if request.command else found.argv(paths)
    try:
        reply = _run(asking, request, Start(argv, cwd, stand_ins), doorway)
    except BaseException:
        if stand_ins:
            stand_ins.release()
        raise
    if files := [target.buffer for target in found.targets if target.buffer.kind == "file"]:
        try:
            reply = file_facts.telling_changes(asking.store, reply, files)
        except Exception as error:  # as in `_foreground`
            reply.fields["warning"] = f"whether {files[0].ref} has changed since is not known: {fault(error)}"
    # These are the buffers that it reads, whose lines may stand in its output.
    return reply.about([target.buffer.name for target in found.targets]) if found.targets else reply


def _asks_only(request: RunRequest, doorway: Doorway) -> bool:
    """Return whether a command may be answered by `query`, because only its answer is wanted."""
    plain = not (request.background or request.label or request.compare) and request.verbosity == "auto"
    return "@" in request.command and plain and doorway.echo is None


class Start(NamedTuple):
    """How a command is started.

    Attributes:
        argv: the program and its arguments, with paths in place of refs.
        cwd: the folder.
        stand_ins: the files at those paths; None without any.
    """

    argv: list[str]
    cwd: str
    stand_ins: "StandIns | None" = None


def _run(asking: Asker, request: RunRequest, start: Start, doorway: Doorway) -> Reply:
    return _background(asking, request, start) if request.background else _foreground(asking, request, start, doorway)


def _refs_in(asking: Asker, request: RunRequest) -> "Substitution | None":
    """Return the command with its refs; None without any."""
    if "@" not in request.line:
        return None
    if request.command:
        return substitution.substitute(request.command, asking.resolve)
    return substitution.substitute_words(request.argv, asking.resolve)


def _split(request: RunRequest, argv: list[str]) -> "FilterSplit | None":
    """Return where the command's trailing filters begin; None if there are none, or all their input is kept already."""
    if "|" not in request.command:
        return None
    return filters.left_side(request.command, argv)


def _foreground(asking: Asker, request: RunRequest, start: Start, doorway: Doorway) -> Reply:
    split = _split(request, start.argv)
    capture = CommandCapture(
        asking.local,
        start.argv,
        command=request.line,
        cwd=start.cwd,
        session=asking.session.name,
        label=request.label,
        timeout=request.limit_secs(asking.profile),
        stdin=doorway.stdin,
        own_group=doorway.own_group,
        keep=_may_keep(asking, start.cwd),
        stand_ins=start.stand_ins,
        split=split,
        echo=doorway.echo,
        unkept_to=doorway.unkept_to,
    )
    if doorway.started:
        doorway.started(capture)
    captured = doorway.run(capture)
    if captured is None:
        return _goes_on(asking, request, capture.name)
    answer = captured.buffer.answer if captured.buffer else ""
    ending = Ending(captured.exit_code, captured.seconds, captured.signal, captured.timed_out, answer=answer)
    if captured.unkept is not None or captured.buffer is None:
        assert captured.unkept is not None
        return unkept_view.unkept_reply(captured.unkept, ending, verb=VERB, request=request.logged())
    try:
        return _viewed(asking, request, captured, captured.buffer, ending, is_split=split is not None)
    except Exception as error:  # whatever the error is, the command has run
        return unkept_view.unmade_reply(asking, captured.buffer, ending, error, verb=VERB, request=request.logged())


def _viewed(
    asking: Asker, request: RunRequest, captured: Captured, buffer: Buffer, ending: Ending, *, is_split: bool
) -> Reply:
    """Make the reply of a command that has ended."""
    more: dict[str, Any] = {}
    if captured.unfiltered is not None:
        more = _unfiltered_fields(captured.unfiltered)
    if "|" in request.command and (program := filters.inner_filter(request.command, split=is_split)):
        more["note"] = f"what went into {program} was not kept; without it, all of the output is"
    if LEFT_BEHIND in buffer.note:
        more["hint"] = "run what is to go on in the background, without &: then all that it writes is kept"
    earlier = _earlier(asking, request, buffer, ending)
    if request.compare and earlier:
        return _compared(asking, request, earlier, buffer, ending, more)
    if request.compare:
        more["note"] = joined_notes(more.get("note", ""), "no earlier run of this command is kept to compare it with")
    reply = command_reply(
        asking, buffer, ending, verbosity=request.verbosity, verb=VERB, request=request.logged(), **more
    )
    return _with_same_failure(asking, reply, earlier, buffer) if earlier else reply


def _earlier(asking: Asker, request: RunRequest, buffer: Buffer, ending: Ending) -> Buffer | None:
    """Return the run to compare with, if that is asked for, or this one failed; None if there is none.

    Raises:
        BadRef, UnknownRef, ExpiredRef, AmbiguousRef: the ref to compare with names nothing.
    """
    if request.compare and request.compare != "last":
        return asking.resolve(request.compare).buffer
    if not (request.compare or (ending.exit_code and not ending.answer)):
        return None
    asking.local.access.take_in_sealed()
    return previous_run.previous_run(asking.local, buffer)


def _compared(
    asking: Asker, request: RunRequest, before: Buffer, buffer: Buffer, ending: Ending, more: dict[str, Any]
) -> Reply:
    """Make the reply that says what changed."""
    text = run_comparison.comparison_of_runs(asking, before, buffer)
    was = "" if before.exit_code == ending.exit_code else f"; that one had exit code {before.exit_code}"
    told = {"output_id": buffer.ref, "exit_code": ending.exit_code, "compared_with": before.ref}
    fields = in_order({**told, "next": asking.calls("read_output", ref=buffer.ref), **more})
    fields["note"] = f"what changed since {before.ref}{was}"
    shows = Shows(VERB, request.logged(), refs=(buffer.name, before.name), exit_code=ending.exit_code, truncated=True)
    return Reply(fields, (Segment(text),), shows, missing=True, exit_code=ending.process_code)


def _with_same_failure(asking: Asker, reply: Reply, before: Buffer, buffer: Buffer) -> Reply:
    """Add a word to the reply if it failed as the previous run did; a short output says so itself."""
    if "output_id" not in reply.fields or before.session != asking.session.name or not before.exit_code:
        return reply
    if not run_comparison.same_failure(asking, before, buffer):
        return reply
    note = joined_notes(reply.fields.get("note") or "", f"same failure as {before.ref}")
    return reply._replace(fields=in_order({**reply.fields, "note": note}))


def _unfiltered_fields(unfiltered: "Unfiltered") -> dict[str, Any]:
    """Return the fields that name the input of the filters, or say why it was not kept."""
    if unfiltered.buffer is None:
        why = unfiltered.error.message if unfiltered.error else "storing failed"
        return {"warning": f"{why}; what went into the filter was not kept"}
    kept = unfiltered.buffer
    return {"unfiltered_output": kept.ref, "unfiltered_lines": kept.lines, "unfiltered_bytes": kept.bytes}


def _background(asking: Asker, request: RunRequest, start: Start) -> Reply:
    if not _may_keep(asking, start.cwd):
        raise UsageError("nothing is kept of what runs in this folder (capture = off)", "run it in the foreground")
    name = background_command.start_in_background(
        asking.local,
        start.argv,
        command=request.line,
        cwd=start.cwd,
        session=asking.session.name,
        label=request.label,
        timeout=request.limit_secs(asking.profile),
        stand_ins=start.stand_ins,
    )
    return _goes_on(asking, request, name)


def _goes_on(asking: Asker, request: RunRequest, name: str) -> Reply:
    """Make the reply for a command that the caller no longer waits for; it may have ended meanwhile."""
    try:
        target = asking.local.resolve(format_ref(name))
        return command_reply(
            asking,
            target.buffer,
            ending_of(target.buffer),
            verbosity=request.verbosity,
            verb=VERB,
            request=request.logged(),
            always_ref=True,
            note="it is not compared yet: it still runs" if request.compare else None,
        )
    except Exception as error:  # as in `_foreground`
        fields = {"output_id": format_ref(name), "exit_code": None, "status": "running"}
        warning = f"no view of it could be made: {fault(error)}"
        return Reply({**fields, "warning": warning}, (), Shows(VERB, request.logged(), (name,)), missing=True)


def _may_keep(asking: Asker, cwd: str) -> bool:
    """Return whether the store may keep what runs in a folder and is asked for from the current one."""
    return all(map(asking.local.settings.captures, (cwd, working_directory())))


def _ask_back(asking: Asker, request: RunRequest, reason: str) -> Reply:
    kept = dumps(request._asdict())
    fields, redaction = loads(kept), asking.local.settings.redaction()
    has_secret = redaction is not None and redaction.value(fields) != fields  # which it could not be run without
    if has_secret or not _may_keep(asking, request.cwd) or others_could_write(asking.local.layout.index):
        raise UsageError(f"not run, because {reason}", _WITHOUT_ASKING)
    token = f"@ack_{os.urandom(4).hex()}"
    now = time.time()
    try:
        asking.local.index.put_ack(token, kept, asking.session.name, now, now - ACK_KEPT_SECONDS)
    except Exception as error:  # testing for its class would load SQLite
        what, _ = cause_of(error, asking.local.root)
        raise UsageError(
            f"not run, because {reason}, and the confirmation cannot be stored: {what}",
            _WITHOUT_ASKING,
        ) from error
    told = in_order(
        {
            "pending_ack": token,
            "reason": reason,
            "next": asking.calls(VERB, command=token),
            "hint": "it was not run; run the ack ref to confirm, or leave it",
        }
    )
    told.pop("exit_code", None)
    return Reply(told, (), Shows(VERB, request.logged()), missing=True, exit_code=1)


def _confirmed(asking: Asker, request: RunRequest) -> RunRequest:
    if why := others_could_write(asking.local.layout.index):
        raise UsageError(f"{request.line.strip()} is not run: {why}", _WITHOUT_ASKING)
    kept = asking.local.index.take_ack(request.line.strip(), time.time() - ACK_KEPT_SECONDS)
    if kept is None:
        raise ExpiredRef(f"{request.line.strip()} has expired or was used already", "run the command itself again")
    confirmed = RunRequest(**known_fields(RunRequest, loads(kept)))
    return confirmed._replace(argv=tuple(confirmed.argv), acknowledge_risk=True)
