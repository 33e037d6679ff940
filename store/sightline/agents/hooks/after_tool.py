"""After a tool: keeps its result, and in mode ``shape`` replaces it by a view if the harness allows that.

If a harness tells what its model is shown of a batch of calls, that is logged; otherwise what the event itself says.
"""

from sightline.agents.hooks.hook_session import is_first, notes_answer, open_store
from sightline.agents.hooks.pending_commands import PendingCommand, forget, key_of, recall
from sightline.agents.hooks.tool_result import find_buffer, keep, log_view, may_keep, request_of, tidy
from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer, Session, Shown, joined_notes
from sightline.harnesses.base import AFTER, BATCH, BEFORE, FAILED, SHAPE, Harness
from sightline.harnesses.tool_call import ToolCall, shown_of
from sightline.light.late_imports import late_modules
from sightline.light.late_pattern import re
from sightline.light.library import AbstractContextManager, nullcontext
from sightline.light.typing_names import TYPE_CHECKING, Any
from sightline.store import Store

if TYPE_CHECKING:  # few harnesses have them
    from sightline.agents.hooks.live_calls import LiveCall

with late_modules(globals()):
    from sightline.agents.hooks import (
        background_commands,  # 20 ms: few commands go on, and few prompts tell of an end
        kept_list,  # 20 ms: few commands are lists of several programs
        live_calls,  # 30 ms, of two harnesses only
        other_hooks,  # few commands are changed by others
        recorded_tasks,  # commands of one harness only
        view_instead,  # 20 ms, of mode `shape` only
    )
    from sightline.audit import quoted_lines  # few calls are of files
    from sightline.capture import filters  # few commands have filters
    from sightline.log import view_text  # few views are our own

Json = dict[str, Any]


def after_tool(
    harness: Harness, event: str, mode: str, given: Json, session: Session, *, tells: bool = True
) -> Json | None:
    """The hook's answer: a view to show instead, or the notes that wait; None for neither, or if nobody is told it."""
    when, call = harness.when(event), harness.call_of(given)
    if call is not None and when == AFTER and harness.goes_on(given):
        background_commands.note_background(harness, call)
        return None
    call = harness.result(call, when, given) if call else None
    if call is None:
        return None
    with open_store() as store:
        return _kept_and_answered(store, session, harness, event, mode, given, call, tells=tells)


def _kept_and_answered(
    store: Store,
    session: Session,
    harness: Harness,
    event: str,
    mode: str,
    given: Json,
    call: ToolCall,
    *,
    tells: bool,
) -> Json | None:
    if not may_keep(store, call):
        forget(key_of(call.use, call.session.id))
        return notes_answer(store, session, harness, event) if tells else None
    if not is_first(store.layout.root, session.name, event, call.use, given, after=_events_of(harness, BEFORE)):
        return None
    pending = recall(key_of(call.use, call.session.id))
    redaction = store.settings.redaction() if pending else None
    own = redaction.text(call.command) if redaction else call.command
    if pending and pending.key not in call.command and own != pending.command:
        other_hooks.stop_rewriting(call.session.id)
        forget(pending.key)
        pending = None
    if pending:
        call = call._replace(command=pending.command)
        if not pending.parts:
            forget(pending.key)
    is_shown = _is_shown(store, session, call, pending)
    transcript: AbstractContextManager[LiveCall | None] = nullcontext()
    if harness.transcribes:
        transcript = live_calls.live_call(store, session, harness, given)
    with transcript as live:
        if live and live.has(call, pending.written if pending else 0.0):
            return notes_answer(store, session, harness, event) if tells else None
        if live:
            call = live.told(call)
        buffer = _kept(store, session, harness, call, pending)
        if pending and pending.parts:
            forget(pending.key)  # the buffer now has what the parts wrote
        answer = None
        if mode == SHAPE and harness.when(event) == AFTER and harness.replaces and buffer and not is_shown:
            answer = view_instead.replaced(store, session, harness, event, call, buffer, given)
        is_replaced = answer is not None
        if live:
            text, _ = _known_of(harness, call)
            live.have_wait(call, buffer, _lines_of(call, buffer, text), text, is_logged=is_replaced)
    if answer is None and tells:
        answer = notes_answer(store, session, harness, event)
    if not (is_replaced or live or any(hook.when == BATCH for hook in harness.hooks)):
        try:
            _log(store, session, harness, call, buffer, str((answer or {}).get("append", "")))
        except StoreFailed:
            if answer is None:
                raise  # no view is shown, so the notes, which count as sent, must arrive
    tidy(store)
    return answer


def _is_shown(store: Store, session: Session, call: ToolCall, pending: PendingCommand | None) -> bool:
    """Whether the model already sees a view of ours with the exit code."""
    if pending is None or not pending.shape:
        return False
    buffer = find_buffer(store, session, call, since=pending.written)
    return buffer is not None and buffer.exit_code is not None


def _kept(
    store: Store, session: Session, harness: Harness, call: ToolCall, pending: PendingCommand | None
) -> Buffer | None:
    """The result's buffer: made now, or made while the command ran, which then gets its exit code."""
    if pending is None and harness.shell_start and call.kind == "cmd":
        return recorded_tasks.take_recorded(store, session, call) or keep(store, session, _with_note(call))
    if pending and pending.parts:
        return kept_list.keep_list(store, session, call, pending)
    if pending is None or pending.filtered:
        buffer = keep(store, session, call if pending else _with_note(call))
        unfiltered = find_buffer(store, session, call, unfiltered=True, since=pending.written) if pending else None
        if buffer and unfiltered:
            store.amend(unfiltered.name, origin=buffer.name)
        return buffer
    buffer = find_buffer(store, session, call, since=pending.written)
    if buffer is None:
        return keep(store, session, call)
    return buffer if call.exit_code is None else store.amend(buffer.name, exit_code=call.exit_code)


def _with_note(call: ToolCall) -> ToolCall:
    """The call of a command, with a note on what nothing has kept of it."""
    if call.kind != "cmd" or "|" not in call.command:
        return call
    return call._replace(note=joined_notes(call.note, filters.unseen_input(call.command)))


def _log(store: Store, session: Session, harness: Harness, call: ToolCall, buffer: Buffer | None, added: str) -> None:
    """Log what the model is shown, as far as the event says, and what a plugin of ours adds to it."""
    text, unknown = _known_of(harness, call)
    size = len(text.encode(errors="surrogatepass"))
    alone = None if call.shown and unknown else harness.alone_bytes(call.kind, size, failed=call.failed)
    request = {**request_of(call, alone), "alone_bytes": alone}
    seen = (call.text or text) if text else ""
    seen = harness.surely_shown(call.kind, seen, failed=call.failed) or seen if unknown else seen
    known = _lines_of(call, buffer, text)
    text = "\n\n".join(filter(None, (text, added)))
    log_view(store, session, request, text, buffer, known=known, seen=seen, unknown=unknown)


def _known_of(harness: Harness, call: ToolCall) -> tuple[str, str]:
    """The part of the shown text that the event tells, and a sentence on what is not known; empty if all is known."""
    if call.unknown:
        return "\n".join(call.shown), call.unknown
    text = "\n".join(call.shown) if call.shown else call.text
    if (part := harness.surely_shown(call.kind, text, failed=call.failed)) is not None:
        size = len(text.encode(errors="surrogatepass"))
        return part, f"of {size:,} bytes {harness.title} shows the beginning and the end; hooks are not told how much"
    return text, "" if call.shown else f"{harness.title} does not tell its hooks what it puts around a result"


def _lines_of(call: ToolCall, buffer: Buffer | None, text: str) -> Shown | None:
    """The lines of a file that were read, if the event tells them and the text has them whole."""
    read = call.text
    if not (buffer and buffer.kind == "file" and read):
        return None
    if not quoted_lines.has_long_lines(read.encode(errors="surrogatepass"), text):
        return None
    return Shown(buffer.name, "out", call.first, min(call.first + len(read.splitlines()) - 1, buffer.lines))


def after_batch(harness: Harness, given: Json, calls: list[Json], session: Session) -> None:
    """Log what the model is shown of its tools' results, in the harness' own words.

    Args:
        harness: the harness.
        given: the event.
        calls: the calls of it that are to be logged.
        session: whose they are.

    Raises:
        StoreFailed: they could not be logged.
    """
    with open_store() as store:
        use, before = str(calls[0].get("tool_use_id", "")), _events_of(harness, BEFORE, AFTER, FAILED)
        if not is_first(store.layout.root, session.name, BATCH, use, given, after=before):
            return
        for one in calls:
            call = harness.call_of({**one, "session_id": given.get("session_id"), "cwd": given.get("cwd")})
            if call:
                _log_told(store, session, harness, call, "\n".join(shown_of(one.get("tool_response"))))


def _events_of(harness: Harness, *kinds: str) -> list[str]:
    return [hook.event for hook in harness.hooks if hook.when in kinds]


def _log_told(store: Store, session: Session, harness: Harness, call: ToolCall, text: str) -> None:
    if call.tool in harness.reads and isinstance(path := call.arguments.get("file_path"), str):
        call = call._replace(kind="file", command=path)
    if not may_keep(store, call):
        return
    buffer = find_buffer(store, session, call)
    if buffer and _is_logged(store, session, harness, buffer, call.use, text):
        return
    unfiltered = find_buffer(store, session, call, unfiltered=True) if call.kind == "cmd" and buffer else None
    request = request_of(call, len(text.encode(errors="surrogatepass")))
    log_view(store, session, request, text, buffer, unfiltered=unfiltered)


def _is_logged(store: Store, session: Session, harness: Harness, buffer: Buffer, use: str, text: str) -> bool:
    """Whether the model was shown the buffer's newest view for this use, which we then made and logged ourselves."""
    views = store.index.views(buffer=buffer.name, session=session.name, limit=1)
    if not views or not use or f'"{use}"' not in views[0].view.request:
        return False
    said = text[found.end() :] if (found := re.match(harness.exit_line, text)) else text
    told = view_text.view_text(store, views[0]).strip()
    return told in (said.strip(), "")  # for an empty result harnesses say that it is empty
