"""What the model is shown of its tools' results, told by the harness itself: that goes into the log."""

from typing import Any

from sightline.doors.hooks.called import EXIT_LINE, Called, shown_text
from sightline.doors.hooks.facts import BATCH, PATIENCE_SECONDS, Facts
from sightline.doors.hooks.once import is_first
from sightline.doors.hooks.record import find, log_view, may_keep, request_of
from sightline.doors.hooks.who import session_of
from sightline.records import Buffer, Session
from sightline.store import Store


def after_batch(facts: Facts, given: dict[str, Any], calls: list[dict[str, Any]]) -> None:
    """Log results of a batch.

    Args:
        facts: the harness.
        given: what the event says.
        calls: those of its calls that are to be logged.

    Raises:
        StoreFailed: they could not be logged.
    """
    cwd, session_id = str(given.get("cwd", "")), str(given.get("session_id", ""))
    store = Store(patience=PATIENCE_SECONDS)  # left open, as after a tool
    session = session_of(facts.name, session_id, cwd)
    if not is_first(store.layout.root, session.name, BATCH, str(calls[0].get("tool_use_id", ""))):
        return
    for one in calls:
        tool_input = one.get("tool_input")
        call = Called(
            tool=str(one.get("tool_name", "")),
            input=tool_input if isinstance(tool_input, dict) else {},
            use=str(one.get("tool_use_id", "")),
            session=session_id,
            cwd=cwd,
        )
        _log(store, session, facts, call, shown_text(one.get("tool_response")))


def _log(store: Store, session: Session, facts: Facts, call: Called, text: str) -> None:
    if call.tool in facts.runs:
        call = call._replace(command=str(call.input.get("command", "")))
    elif call.tool in facts.reads:
        call = call._replace(path=str(call.input.get("file_path", "")))
    if not may_keep(store, call):
        return
    buffer = find(store, session, call.use, call.path)
    if buffer and _is_logged(store, session, buffer, call.use, text):
        return
    unfiltered = find(store, session, call.use, unfiltered=True) if call.command and buffer else None
    request = request_of(facts.name, call, len(text.encode(errors="surrogatepass")))
    log_view(store, session, request, text, buffer, unfiltered=unfiltered)


def _is_logged(store: Store, session: Session, buffer: Buffer, use: str, text: str) -> bool:
    """Whether the newest view of the buffer is what the model was shown of this use: then we made it, and logged it."""
    views = store.index.views(buffer=buffer.name, session=session.name, limit=1)
    if not views or not use or f'"{use}"' not in views[0].view.request:
        return False
    from sightline.log.view_text import view_text

    said = text[found.end() :] if (found := EXIT_LINE.match(text)) else text
    told = view_text(store, views[0]).strip()
    return told in (said.strip(), "")  # instead of nothing harnesses say that there was nothing
