"""After a tool: what it gave is kept, and in mode ``shape`` replaced by a view where the harness lets it be."""

from typing import Any

from sightline.store.doors.harness.called import Called, called_of, shown_text
from sightline.store.doors.harness.facts import AFTER, BATCH, PATIENCE_SECONDS, SHAPE, Facts
from sightline.store.doors.harness.once import is_first
from sightline.store.doors.harness.pending import Pending, forget, recall
from sightline.store.doors.harness.record import find, keep, log_view, may_keep, request_of, tidy
from sightline.store.doors.harness.talking import notes_answer
from sightline.store.doors.harness.who import session_of
from sightline.store.records import Buffer, Session, Shown
from sightline.store.store import Store


def after_tool(facts: Facts, event: str, mode: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """The hook's answer: what the model is shown instead, or notes that wait for it; None for neither.

    The store is left open: the process ends with this, and closing takes 15 ms where nobody else has it open.
    """
    when = facts.when(event)
    call = called_of(facts, when, given)
    if call is None:
        if when == AFTER and facts.background:
            from sightline.store.doors.harness.tasks import note_task  # few calls go on

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
    buffer = _kept(store, session, facts, call, pending)
    answer = None
    if mode == SHAPE and when == AFTER and facts.replaces and buffer and not is_shown:
        from sightline.store.doors.harness.shaping import replaced

        answer = replaced(store, session, facts, event, call, buffer, given)
    if answer is None and not any(hook.when == BATCH for hook in facts.hooks):
        _log(store, session, facts, call, buffer)
    tidy(store)
    return answer or notes_answer(store, session, facts, event)


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


def _log(store: Store, session: Session, facts: Facts, call: Called, buffer: Buffer | None) -> None:
    """Log what the model is shown, as far as the event tells."""
    from sightline.store.audit.accounting import alone_bytes, surely_shown, what_of
    from sightline.store.audit.matching import has_long_lines

    text = call.shown if call.shown is not None else call.text or shown_text(call.blocks or [])
    size = len(text.encode(errors="surrogatepass"))
    what = what_of(is_command=bool(call.command), is_file=bool(call.path))
    alone = alone_bytes(facts.name, what, size, failed=call.failed)
    seen = call.text or text
    if (part := surely_shown(facts.name, what, text, failed=call.failed)) is not None:
        text, alone = f"[{size:,} bytes, of which {facts.title} shows its model the beginning and the end]\n", None
        seen = surely_shown(facts.name, what, seen, failed=call.failed) or part
    known = None
    is_whole = part is None and has_long_lines((call.text or "").encode(errors="surrogatepass"), text)
    if buffer and buffer.kind == "file" and call.text and is_whole:
        known = Shown(buffer.name, "out", call.first, min(call.first + len(call.text.splitlines()) - 1, buffer.lines))
    request = {**request_of(facts.name, call, alone), "alone_bytes": alone}
    log_view(store, session, request, text, buffer, known=known, seen=seen)
