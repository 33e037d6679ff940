"""Joins the output of a list of commands whose parts had pipes of their own: in order, with a mark for each part.

If the harness tells the whole output, that decides: the pieces are used if they are equal to it but for blanks at the
ends, else its text is. If the harness cut it, the pieces are all there is, and what had no pipe may be missing.
"""

import os
from collections.abc import Callable, Iterable

from sightline.agents.hooks.hook_session import open_store, session_of
from sightline.agents.hooks.live_list import UNTOLD, end_shown
from sightline.agents.hooks.part_files import PartEnd, endings, open_part, part_bytes, still_runs
from sightline.agents.hooks.pending_commands import PendingCommand, forget
from sightline.agents.hooks.tool_result import buffer_of_use, keep, with_saved
from sightline.base.errors import ExpiredRef
from sightline.base.records import DROPPED, Buffer, Gap, Session, joined_notes
from sightline.capture.list_insertion import ListPart, may_complain
from sightline.harnesses.tool_call import CallSession, ToolCall
from sightline.light.late_imports import late_modules
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.log.sessions import use_key
from sightline.store import Store

with late_modules(globals()):
    from sightline.log import retention  # few stores are full, few lists change

_READ_BYTES = 1 << 20
_COMPARED_BYTES = 64 << 20  # only so much of the beginning is compared
_HEAD_BYTES = 2_000
_TOLD_PARTS, _TOLD_CHARACTERS = 8, 40


class _Piece(NamedTuple):
    """What one part wrote.

    Attributes:
        part: the part of the list.
        end: how it ended; None where it has not run, or has no pipe.
        first: its first line in the joined output; last: its last line, before the first if it wrote nothing.
    """

    part: ListPart
    end: PartEnd | None
    first: int = 1
    last: int = 0


def keep_list(store: Store, session: Session, call: ToolCall, pending: PendingCommand) -> Buffer | None:
    """Make one output of what the parts of a list wrote. Raises StoreFailed.

    Args:
        store: where it is kept.
        session: whose it is.
        call: the call as the harness tells it.
        pending: what an earlier hook wrote down about it, with its parts.
    """
    ends = endings(pending.key)
    pieces = [_Piece(part, ends.get(part.number)) for part in (ListPart(*one) for one in pending.parts)]
    call = with_saved(call)
    is_in_pieces = bool(ends) and (bool(call.partial) or _is_the_same(call, pieces, pending.key))
    shown = _end_shown(store, session, pending, pieces if is_in_pieces else None)
    if shown is None and (known := buffer_of_use(store, session, call.use, since=pending.written)):
        return known
    if is_in_pieces:
        return _kept(store, session, call, pieces, pending, shown)
    if ends:
        call = call._replace(note=joined_notes(call.note, _told(pieces, lines=False)))
    return keep(store, session, call)  # without ends, no part has run, or nothing could be written


def keep_untold(lists: Iterable[PendingCommand], cwd: str) -> None:
    """Keep lists whose end the harness never told, as when a person interrupts one. Raises StoreFailed.

    A list that still runs is left to run: a helper may run it, or a person writes meanwhile.
    """
    with open_store() as store:
        for pending in lists:
            if still_runs(pending.key, len(pending.parts)):
                continue
            session = session_of(pending.harness, pending.session, cwd, pending.agent)
            ends = endings(pending.key)
            pieces = [_Piece(part, ends.get(part.number)) for part in (ListPart(*one) for one in pending.parts)]
            shown = _end_shown(store, session, pending, pieces)
            known = shown or buffer_of_use(store, session, pending.use, since=pending.written)
            if known is shown and store.settings.captures(cwd):
                told = CallSession(pending.harness, pending.session, pending.harness, session.cwd, session.started)
                at, use = session.started, pending.use
                call = ToolCall(told, use, use, 0, at, at, "", {}, "cmd", pending.command, session.cwd)
                _kept(store, session, call._replace(partial=UNTOLD), pieces, pending, shown)
            forget(pending.key)


def _end_shown(store: Store, session: Session, pending: PendingCommand, pieces: list[_Piece] | None) -> Buffer | None:
    """End the showing of a list; the buffer in which it was shown if that has all of these pieces, else None."""
    name, has_ended = end_shown(pending.key, keeps=pieces is not None)
    if not name and not has_ended:  # it is about to tell the name, which an index that was just made anew may have
        begun = buffer_of_use(store, session, pending.use, since=pending.written)
        name = begun.name if begun and begun.state == "running" else ""
    if name:
        store.adopt(name)
    buffer = store.index.buffer(name) if name else None
    is_ended = buffer is not None and buffer.state == "sealed" and has_ended
    if buffer and is_ended and pieces is not None and _is_whole(buffer, pending.key, pieces):
        return buffer
    if buffer and buffer.state == "running":  # its writer is slow, and removes it once it finds its file gone
        with suppress(ExpiredRef):  # it has just done so
            store.amend(buffer.name, artifact="")
    elif buffer:
        retention.remove(store, [buffer])  # the files of the parts, or the harness, have more
    return None


def _is_whole(shown: Buffer, key: str, pieces: Iterable[_Piece]) -> bool:
    """Whether a buffer has all that the parts wrote: whoever showed the list may have waited for too short a time."""
    taken = shown.bytes + sum(gap.missing or 0 for gap in shown.gaps)
    written = sum(part_bytes(key, piece.part.number) for piece in pieces if piece.part.number)
    return taken == written and "redacted: " not in shown.note


def _kept(
    store: Store,
    session: Session,
    call: ToolCall,
    pieces: list[_Piece],
    pending: PendingCommand,
    shown: Buffer | None,
) -> Buffer:
    if shown:
        pieces = [*_appended(lambda _: None, pending.key, pieces)]
        missing, why = _missing(call, pieces, pending)
        dropped = DROPPED if shown.gaps else ""
        return store.amend(
            shown.name,
            ended=max(call.answered, shown.created),
            exit_code=call.exit_code,
            note=joined_notes("merged" * pending.merged, _told(pieces)),
            partial=", ".join(filter(None, (dropped, why))),
            gaps=(*shown.gaps, *(Gap("out", after) for after in missing)),
        )
    artifact = use_key(session.name, call.use)
    recording = store.begin("cmd", call.command, call.cwd, session.name, artifact=artifact, created=call.asked)
    try:
        pieces = [*_appended(lambda data: recording.append("out", data), pending.key, pieces)]
        missing, why = _missing(call, pieces, pending)
        return recording.seal(
            exit_code=call.exit_code,
            ended=call.answered,
            note=joined_notes("merged" * pending.merged, _told(pieces)),
            partial=why,
            gaps=tuple(Gap("out", after) for after in missing),
        )
    except BaseException:
        recording.discard()
        raise


def _appended(append: Callable[[bytes], None], key: str, pieces: Iterable[_Piece]) -> Iterable[_Piece]:
    """Append what each piece wrote, and yield the pieces with their lines in the joined output."""
    newlines, is_open = 0, False
    for piece in pieces:
        fd = open_part(key, piece.part.number) if piece.part.number else None
        if fd is None:
            yield piece._replace(first=newlines + 1, last=newlines)
            continue
        first, size = newlines + 1, 0
        with open(fd, "rb", buffering=0) as file:
            while data := file.read(_READ_BYTES):
                append(data)
                newlines += data.count(b"\n")
                size += len(data)
                is_open = data[-1] != 0x0A
        yield piece._replace(first=first, last=newlines + is_open if size else first - 1)


def _is_the_same(call: ToolCall, pieces: Iterable[_Piece], key: str) -> bool:
    """Whether the pieces equal what a harness tells, which strips blanks at both ends and decodes the bytes."""
    told = b"\n".join(part.content for part in call.parts if isinstance(part.content, bytes)).strip()
    left = len(told) + 2 * _READ_BYTES
    made = b""
    for piece in pieces:
        if piece.part.number and (fd := open_part(key, piece.part.number)) is not None:
            with open(fd, "rb") as file:
                made += file.read(max(0, min(left, _COMPARED_BYTES) - len(made)))
    made = made.strip()
    return made == told or made.decode(errors="replace").encode() == told


def _missing(call: ToolCall, pieces: list[_Piece], pending: PendingCommand) -> tuple[list[int], str]:
    """The lines after which an output that the harness cut may lack something, and why it is partial."""
    if call.partial in ("", UNTOLD):
        return [], call.partial
    if any(piece.end and (piece.end.lost or piece.end.left_open) for piece in pieces):
        return [pieces[-1].last], "not all that a part of the list wrote could be kept"
    if pending.past:
        return [pieces[-1].last], "what it wrote to standard error may be missing: that has no pipe"
    if not _begins_so(call, pieces, pending.key):
        return [0], "what the harness tells begins otherwise than what went through its pipes"
    ran = [at for at, piece in enumerate(pieces) if piece.end]
    unsure = [
        piece
        for at, piece in enumerate(pieces)
        if at > ran[0] and not piece.part.number and _may_write(piece.part, [one.part for one in pieces[at + 1 :]])
    ]
    if not unsure:
        return [], ""
    names = ", ".join(_short(piece.part.text) for piece in unsure)
    return [piece.last for piece in unsure], f"what {names} may have written is not in it: it has no pipe"


def _may_write(part: ListPart, behind: list[ListPart]) -> bool:
    """Whether a part without a pipe may have written something."""
    return not part.silent or (may_complain(part.text) and not (behind and behind[0].joined == "&&"))


def _begins_so(call: ToolCall, pieces: Iterable[_Piece], key: str) -> bool:
    """Whether the pieces begin with the same text as what the harness tells."""
    told = b"".join(part.content for part in call.parts if isinstance(part.content, bytes)).lstrip()[:_HEAD_BYTES]
    made = b""
    for piece in pieces:
        if piece.part.number and (fd := open_part(key, piece.part.number)) is not None:
            made += os.read(fd, 4 * _HEAD_BYTES)
            os.close(fd)
    told = told.decode(errors="ignore").encode()
    return made.lstrip().decode(errors="replace").encode().startswith(told)


def _told(pieces: list[_Piece], *, lines: bool = True) -> str:
    """A sentence on the parts, with their lines, commands and exit codes; empty for a single part."""
    if len(pieces) < 2:
        return ""
    rows = []
    for at, piece in enumerate(pieces):
        if not piece.part.number:
            continue
        where = f"{piece.first}-{piece.last} " if lines and piece.last >= piece.first else ""
        rows.append(f"{where}{_short(piece.part.text)} {_ending(pieces, at)}")
    more = [f"{len(rows) - _TOLD_PARTS} more"] if len(rows) > _TOLD_PARTS else []
    return f"parts: {', '.join([*rows[:_TOLD_PARTS], *more])}"


def _ending(pieces: list[_Piece], at: int) -> str:
    end, behind = pieces[at].end, pieces[at + 1 : at + 2]
    if end is None:
        return "not run"
    if end.code is None and behind and behind[0].part.joined == "&&" and behind[0].end:
        return "exit 0"
    return "exit not known" if end.code is None else f"exit {end.code}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TOLD_CHARACTERS else f"{line[: _TOLD_CHARACTERS - 1]}…"
