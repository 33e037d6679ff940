"""After a tool: what it gave is kept, and in mode ``shape`` replaced by a view where the harness lets it be."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from sightline.doors.hooks.called import Called, called_of, shown_text
from sightline.doors.hooks.facts import AFTER, BATCH, PATIENCE_SECONDS, SHAPE, Facts
from sightline.doors.hooks.once import is_first
from sightline.doors.hooks.pending import Pending, forget, recall
from sightline.doors.hooks.record import find, keep, log_view, may_keep, request_of, tidy
from sightline.doors.hooks.talking import notes_answer
from sightline.doors.hooks.who import session_of
from sightline.errors import StoreFailed
from sightline.records import Buffer, Session, Shown
from sightline.store import Store

if TYPE_CHECKING:  # few harnesses have them
    from sightline.doors.hooks.transcripts import Following


def after_tool(facts: Facts, event: str, mode: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """The hook's answer: what the model is shown instead, or notes that wait for it; None for neither.

    The store is left open: the process ends with this, and closing takes 15 ms where nobody else has it open.
    """
    when = facts.when(event)
    call = called_of(facts, when, given)
    if call is None:
        if when == AFTER and facts.background:
            from sightline.doors.hooks.tasks import note_task  # few calls go on

            note_task(facts, given)
        return None
    store = Store(patience=PATIENCE_SECONDS)
    session = session_of(facts.name, call.session, call.cwd)
    if not may_keep(store, call):
        return notes_answer(store, session, facts, event)
    if not is_first(store.layout.root, session.name, event, call.use):
        return None
    pending = recall(call.use)
    if pending:
        call = call._replace(command=pending.command)
        forget(call.use)
    is_shown = _is_shown(store, session, call, pending)
    transcript: AbstractContextManager[Following | None] = nullcontext()
    if facts.transcribes:
        from sightline.doors.hooks.transcripts import transcript_of

        transcript = transcript_of(store, session, facts, given)
    with transcript as following:
        if following:
            call = following.told(call)
        buffer = _kept(store, session, facts, call, pending)
        answer = None
        if mode == SHAPE and when == AFTER and facts.replaces and buffer and not is_shown:
            from sightline.doors.hooks.shaping import replaced

            answer = replaced(store, session, facts, event, call, buffer, given)
        is_replaced = answer is not None
        if following:
            text, _ = _known_of(facts, call)
            following.have_wait(call, buffer, _lines_of(call, buffer, text), text, is_logged=is_replaced)
    answer = answer or notes_answer(store, session, facts, event)
    if not (is_replaced or following or any(hook.when == BATCH for hook in facts.hooks)):
        try:
            _log(store, session, facts, call, buffer, str((answer or {}).get("append", "")))
        except StoreFailed:
            if answer is None:
                raise  # else the notes, which count as sent, must arrive
    tidy(store)
    return answer


def _is_shown(store: Store, session: Session, call: Called, pending: Pending | None) -> bool:
    """Whether the model is shown a view already that says how the command ended."""
    if pending is None or not pending.shape:
        return False
    buffer = find(store, session, call.use)
    return buffer is not None and buffer.exit_code is not None


def _kept(store: Store, session: Session, facts: Facts, call: Called, pending: Pending | None) -> Buffer | None:
    """The result's buffer: made now, or by the command as it was rewritten, whose code is known only now."""
    if pending is None or pending.filtered:
        buffer = keep(store, session, call, facts.title)
        unfiltered = find(store, session, call.use, unfiltered=True) if pending else None
        if buffer and unfiltered:
            store.amend(unfiltered.name, origin=buffer.name)
        return buffer
    buffer = find(store, session, call.use)
    if buffer is None:
        return keep(store, session, call, facts.title)
    return buffer if call.exit_code is None else store.amend(buffer.name, exit_code=call.exit_code)


def _log(store: Store, session: Session, facts: Facts, call: Called, buffer: Buffer | None, added: str) -> None:
    """Log what the model is shown, as far as the event tells, and what a plugin of ours adds to it."""
    from sightline.audit.accounting import alone_bytes, surely_shown, what_of

    text, unknown = _known_of(facts, call)
    what = what_of(is_command=bool(call.command), is_file=bool(call.path))
    size = len(text.encode(errors="surrogatepass"))
    alone = None if call.shown is not None and unknown else alone_bytes(facts.name, what, size, failed=call.failed)
    request = {**request_of(facts.name, call, alone), "alone_bytes": alone}
    seen = call.text or text
    seen = surely_shown(facts.name, what, seen, failed=call.failed) or seen if unknown else seen
    known = _lines_of(call, buffer, text)
    text = "\n\n".join(filter(None, (text, added)))
    log_view(store, session, request, text, buffer, known=known, seen=seen, unknown=unknown)


def _known_of(facts: Facts, call: Called) -> tuple[str, str]:
    """What of the text that a model is shown an event tells; what of it is not known, and why, empty for nothing."""
    from sightline.audit.accounting import surely_shown, what_of

    if call.told:
        return call.told, f"{facts.title} does not tell its hooks which lines it puts above a result"
    text = call.shown if call.shown is not None else call.text or shown_text(call.blocks or [])
    what = what_of(is_command=bool(call.command), is_file=bool(call.path))
    if (part := surely_shown(facts.name, what, text, failed=call.failed)) is not None:
        size = len(text.encode(errors="surrogatepass"))
        return part, f"of {size:,} bytes {facts.title} shows the beginning and the end; hooks are not told how much"
    return text, "" if call.shown is not None else f"{facts.title} does not tell its hooks what it puts around a result"


def _lines_of(call: Called, buffer: Buffer | None, text: str) -> Shown | None:
    """The lines of a file that were read, where the event tells, and a text has them whole."""
    from sightline.audit.matching import has_long_lines

    if not (buffer and buffer.kind == "file" and call.text):
        return None
    if not has_long_lines(call.text.encode(errors="surrogatepass"), text):
        return None
    return Shown(buffer.name, "out", call.first, min(call.first + len(call.text.splitlines()) - 1, buffer.lines))
