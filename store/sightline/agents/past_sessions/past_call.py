"""Makes one or more buffers of one past call, and the view of what was shown of them.

Nothing of it is indexed here, so that another process can write many; see `batches`.
"""

import os
from collections.abc import Iterator, Mapping

from sightline.agents.past_sessions.shown_lines import LinesShown, shown_lines
from sightline.base.private_files import remove_folder
from sightline.base.profile import Sampling
from sightline.base.records import LONG_ID, TOOL_FAILED, Buffer, Session, Shown, joined_notes
from sightline.capture.filters import unseen_input
from sightline.capture.finished_output import Deposit, begin_finished
from sightline.capture.result import TEXT_MIME, call_text, sealed_result
from sightline.harnesses.file_changes import EDIT_CHARACTERS, EDITS, files_changed
from sightline.harnesses.tool_call import CHANGES_FILES, ToolCall, ToolPart, open_beside, plain, unique_id
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.past_views import SLACK_SECONDS, Nameless, PastView, is_alike, past_view
from sightline.log.sessions import safe_name, use_key
from sightline.log.views import Shows
from sightline.store import Store

_NAME_CHARACTERS = 400
"""Characters of each text among a tool's arguments that go into the buffer's command."""

_COPY_BYTES = 1 << 20
_DEPTH = 6
_ITEMS = 50
_JSON_STARTS = b"{["
_ARGUMENT_CHARACTERS = 4096
_VERBS = {"cmd": "run_command", "file": "read_file", "tool": "tool"}


class Recorded(NamedTuple):
    """What was recorded of a call as it happened, before its shown text was known.

    Attributes:
        buffer: its buffer; None if it makes none.
        shown: the lines of it that were shown, if the call itself says so; else they are searched.
    """

    buffer: Buffer | None
    shown: tuple[Shown, ...] = ()


class KeptCall(NamedTuple):
    """A call that is on disk, and not indexed yet.

    Attributes:
        session: the session that called.
        buffers: its buffer, and those of calls that its program made; without those that were recorded before.
        view: the view to log; None if nothing is known to have been shown.
        calls: number of these calls.
    """

    session: Session
    buffers: tuple[Buffer, ...]
    view: PastView | None
    calls: int = 1


_NOTHING: Mapping[str, Recorded] = {}


def keep_call(
    store: Store,
    call: ToolCall,
    session: Session,
    recorded: Mapping[str, Recorded] = _NOTHING,
    of: Buffer | None = None,
) -> KeptCall:
    """Write a call's buffers.

    Args:
        store: the store that keeps them.
        call: the call.
        session: the session that called.
        recorded: what there is already, by ids of calls.
        of: the buffer of the command of which the call shows more, so that it makes none itself; None for none.

    Raises:
        StoreFailed: the store cannot keep them; none of them is left then.
    """
    made: list[Buffer] = []
    try:
        pairs: list[tuple[ToolCall, Buffer]] = []
        for one in (call, *call.inner):
            if one.id in recorded:
                buffer = recorded[one.id].buffer
            elif of and one is call:
                buffer = of
            elif one.tool in CHANGES_FILES:
                buffer = None
            else:
                buffer = _buffer_of(store, one, session.name)
                made.append(buffer)  # so that it can be removed if a later one fails
            if buffer:
                pairs.append((one, buffer))
        view = _view(store, session, call, pairs, recorded) if call.shown else None
    except BaseException:
        for buffer in made:
            remove_folder(store.layout.folder(buffer.name))
        raise
    return KeptCall(session, tuple(made), view, 1 + len(call.inner))


def buffer_of_command(store: Store, call: ToolCall, session: str) -> Buffer | None:
    """Return the sealed buffer of the command of which a call shows more; None if the store has none.

    A hook that recorded it gave it the key of its use; one that was taken from a transcript has the call's id.
    """
    found = [store.of_artifact(use_key(session, call.of)), taken_of_use(store, session, call.session.id, call.of)]
    newest = max((one for one in found if one), key=lambda one: one.created, default=None) if call.of else None
    return newest if newest and newest.state in ("sealed", "interrupted") else None


def of_cancelled(store: Store, call: ToolCall, session: str, untold: dict[str, list[Buffer]]) -> ToolCall:
    """Return a call, and if a person cancelled its command while hooks were recording that, as one of that command.

    Its transcript has nothing but the harness' message in the place of a result.

    Args:
        store: the store that may have recorded it.
        call: the call.
        session: the name of its session.
        untold: by sessions, recorded commands of whose ends no hook was told; those that are missing are read.
    """
    command = call.arguments.get("command") if isinstance(call.arguments, dict) else None
    if call.kind != "tool" or not call.failed or not call.use or not isinstance(command, str):
        return call
    key, command = use_key(session, call.use), plain(command)
    ran = store.of_artifact(key)
    if ran is None and (found := _untold(store, call, command, session, untold)):
        ran = store.amend(found.name, session=session, artifact=key)
    return call._replace(kind="cmd", command=command, of=call.use, parts=()) if ran else call


def _untold(store: Store, call: ToolCall, command: str, session: str, untold: dict[str, list[Buffer]]) -> Buffer | None:
    """Return the buffer of a command that was recorded, if its harness told no hook of its end; None for none."""
    redaction = store.settings.redaction()
    told = redaction.text(command) if redaction else command
    first, last = call.asked - SLACK_SECONDS, call.answered + SLACK_SECONDS
    for name in dict.fromkeys((session, safe_name(f"{call.session.harness}-{call.session.id}"))):
        if name not in untold:
            untold[name] = [one for one in store.index.of_session(name) if _is_untold(one)]
        for one in untold[name]:
            if one.command == told and first <= one.created <= last:
                now = store.index.buffer(one.name)
                if now and _is_untold(now):
                    return now
    return None


def _is_untold(buffer: Buffer) -> bool:
    return (buffer.kind, buffer.artifact) == ("cmd", "") and buffer.state != "evicted"


def taken_of_use(store: Store, session: str, harness_session: str, use: str) -> Buffer | None:
    """Return the newest buffer that was taken from a transcript for a use of a tool; None if there is none."""
    own = unique_id(harness_session, use)
    ids = [own]
    if len(use) < LONG_ID:
        ids += [one for one in store.index.artifacts(session) if one.startswith(f"{own}@")]
    found = [buffer for one in ids if (buffer := store.of_artifact(one))]
    return max(found, key=lambda one: one.created, default=None)


def named_call(store: Store, call: ToolCall) -> Nameless:
    """Return what the log knows a call by, beside its id."""
    redaction = store.settings.redaction()
    return Nameless(call.tool, redaction.text(call.command) if redaction else call.command, call.answered)


def is_of_another(store: Store, call: ToolCall, named: Nameless, within: float) -> bool:
    """Return whether the buffer under a call's id is of another call, to which a model's server gave the same.

    Args:
        store: the store that may have one.
        call: the call.
        named: what the log knows it by.
        within: seconds that may lie between a call and itself as it was told another time.
    """
    if (found := store.of_artifact(call.id)) is None:
        return False
    what = found.command if found.kind in ("cmd", "file") else ""
    return abs(found.created - call.asked) > within or not is_alike(Nameless("", what, found.created), named)


def _buffer_of(store: Store, call: ToolCall, session: str) -> Buffer:
    """Write a past call's buffer; the caller indexes it.

    Raises:
        StoreFailed: the store cannot keep it; nothing of it is left.
    """
    command = call.command or call_text(call.tool, clipped(call.arguments, _NAME_CHARACTERS))
    ended = max(call.answered, call.ended)
    deposit = begin_finished(
        store, call.kind, command, call.cwd, session, artifact=call.id, created=call.asked, ended=ended
    )
    try:
        return _sealed(store, call, deposit)
    except BaseException:
        deposit.discard()
        raise


def _sealed(store: Store, call: ToolCall, deposit: Deposit) -> Buffer:
    partial, mimes, structured = call.partial, dict[str, str](), False
    for part in call.parts:
        try:
            for data in _pieces(part):
                structured |= part.stream not in mimes and data.lstrip()[:1] in _JSON_STARTS
                mimes[part.stream] = part.mime if call.kind == "tool" else ""
                deposit.append(part.stream, data)
        except _Unreadable as error:
            partial = partial or str(error)
    failed = TOOL_FAILED if call.failed and call.kind == "tool" else ""
    note = joined_notes(failed, call.note, unseen_input(call.command) if call.kind == "cmd" else "")
    if structured and call.kind == "tool" and TEXT_MIME in mimes.values():
        return sealed_result(store, deposit, mimes, note, Sampling(), partial=partial, gaps=call.gaps)
    return deposit.seal(
        exit_code=call.exit_code,
        timed_out=call.timed_out,
        note=note,
        mimes=mimes,
        partial=partial,
        gaps=call.gaps,
    )


class _Unreadable(Exception):
    """A file that a transcript names can no longer be read."""


def _pieces(part: ToolPart) -> Iterator[bytes]:
    if isinstance(part.content, bytes):
        yield part.content
        return
    try:
        fd = open_beside(part.content)
    except OSError as error:
        raise _Unreadable("the file that the whole was kept in is gone") from error
    try:
        while data := os.read(fd, _COPY_BYTES):
            yield data
    except OSError as error:
        raise _Unreadable("the file that the whole was kept in could not be read to its end") from error
    finally:
        os.close(fd)


def clipped(value: Any, characters: int, depth: int = 0) -> Any:
    """Cut long texts in a tool's arguments, and leave out what is nested too deeply."""
    if isinstance(value, str):
        if len(value) <= characters:
            return value
        return f"{value[:characters]}… ({len(value):,} characters)"
    if isinstance(value, dict | list) and depth == _DEPTH:
        return "…"
    if isinstance(value, dict):
        return {
            clipped(str(name), characters): clipped(one, characters, depth + 1)
            for name, one in list(value.items())[:_ITEMS]
        }
    if isinstance(value, list):
        return [clipped(one, characters, depth + 1) for one in value[:_ITEMS]]
    return value


def _view(
    store: Store,
    session: Session,
    call: ToolCall,
    pairs: list[tuple[ToolCall, Buffer]],
    recorded: Mapping[str, Recorded],
) -> PastView:
    text = "\n".join(call.shown)
    found = [
        LinesShown(told.shown, ())
        if (told := recorded.get(one.id)) and told.shown
        else shown_lines(
            store,
            buffer,
            one.decoded if one.decoded is not None else "\n".join(one.shown) or text,
            contents=_contents(one),
            is_read=one.kind == "file",
        )
        for one, buffer in pairs
    ]
    buffers = [buffer for _, buffer in pairs]
    shown = tuple(lines for one in found for lines in one.known)
    matched = tuple(lines for one in found for lines in one.matched)
    parts = tuple(part for one in found for part in one.parts)
    lines = sum(one.last - one.first + 1 for one in (*shown, *matched))
    total = sum(buffer.lines for buffer in buffers)
    shows = Shows(
        verb=_VERBS[call.kind],
        request=_request(call, text, is_recorded=call.id in recorded),
        refs=tuple(buffer.name for buffer in buffers),
        shown=shown,
        lines_total=total,
        bytes_total=sum(buffer.bytes for buffer in buffers) if buffers else len(text.encode()),
        exit_code=None if call.ended else call.exit_code,  # it went on when that was shown
        truncated=lines < total or (not _asks_for_lines(call) and any(buffer.is_partial for buffer in buffers)),
        matched=matched,
        parts=parts,
        unknown=call.unknown,
        failed=call.failed,
    )
    return past_view(store, session.name, call.answered, shows, text, buffers)


def _asks_for_lines(call: ToolCall) -> bool:
    """Return whether a call reads a range of a file, so that the rest was not cut, but not asked for."""
    asked = call.arguments if isinstance(call.arguments, dict) else {}
    return call.kind == "file" and any(asked.get(name) is not None for name in ("offset", "limit"))


def _contents(call: ToolCall) -> dict[str, bytes]:
    """Return the contents of a call's streams that are at hand."""
    return {part.stream: part.content for part in call.parts if isinstance(part.content, bytes)}


def _request(call: ToolCall, text: str, *, is_recorded: bool) -> dict[str, Any]:
    """Return what the log keeps of a call: the request as our own verbs write it, the tool, and the source.

    The harness showed what it would have shown by itself, so nothing was saved. A past session is not accounted
    for.
    """
    asked: dict[str, Any] = {}
    arguments = call.arguments
    if call.kind != "tool":
        asked["command" if call.kind == "cmd" else "path"] = call.command
        if isinstance(arguments, dict):
            arguments = {name: value for name, value in arguments.items() if value != call.command}
    changes = [(one, files) for one in (call, *call.inner) if (files := files_changed(one.tool, one.arguments))]
    if changes:
        asked["files"] = list(dict.fromkeys(file for _, files in changes for file in files))
    if patches := [one.arguments for one, _ in changes if one is not call and isinstance(one.arguments, str)]:
        asked["patch"] = clipped("\n".join(patches), EDIT_CHARACTERS)
    caller = {"client": call.session.client, "harness_session": call.session.id, "tool_use": call.use}
    return {
        **asked,
        "tool": call.tool,
        "arguments": clipped(arguments, EDIT_CHARACTERS if call.tool in EDITS else _ARGUMENT_CHARACTERS),
        "caller": {name: value for name, value in caller.items() if value},
        **({} if is_recorded else {"imported": _source(call)}),
        "alone_bytes": len(text.encode()) if is_recorded else None,
    }


def _source(call: ToolCall) -> dict[str, Any]:
    place = " ".join(filter(None, (call.session.harness, call.told_in)))
    return {"from": place, "id": call.id, **({"copy": True} if call.is_copy else {})}
