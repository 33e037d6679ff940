"""One past call made a buffer, or several, and the view of what was shown of them."""

from typing import Any, NamedTuple

from sightline.store.audit.past_views import PastView, past_view
from sightline.store.audit.views import Shows
from sightline.store.capture.importers.past import PastCall
from sightline.store.capture.keep_past import clipped, keep_past
from sightline.store.disk.layout import remove_folder
from sightline.store.records import Buffer, Session
from sightline.store.store import Store
from sightline.store.tools.past_shown import shown_lines

_ARGUMENT_CHARACTERS = 4096
_VERBS = {"cmd": "run_command", "file": "read_file", "tool": "tool"}


class KeptCall(NamedTuple):
    """A call that is on disk, and in no list yet.

    Attributes:
        session: who called.
        buffers: its own, and those of what a program of the model's called.
        view: what is to be logged; None where nothing is known to have been shown.
    """

    session: Session
    buffers: tuple[Buffer, ...]
    view: PastView | None


def keep_call(store: Store, call: PastCall, session: Session) -> KeptCall:
    """Write a call's buffers. Raises StoreFailed where the store could not take them; nothing is left of them then."""
    buffers: list[Buffer] = []
    try:
        for one in (call, *call.inner):
            buffers += [keep_past(store, one, session.name)]  # those before it are known where it fails
        view = _view(store, session, call, buffers) if call.shown else None
    except BaseException:
        for buffer in buffers:
            remove_folder(store.layout.folder(buffer.name))
        raise
    return KeptCall(session, tuple(buffers), view)


def _view(store: Store, session: Session, call: PastCall, buffers: list[Buffer]) -> PastView:
    text = "\n".join(call.shown)
    found = [shown_lines(store, one, buffer, text) for one, buffer in zip((call, *call.inner), buffers, strict=True)]
    shown = tuple(lines for one in found for lines in one.known)
    matched = tuple(lines for one in found for lines in one.matched)
    parts = tuple(part for one in found for part in one.parts)
    lines = sum(one.last - one.first + 1 for one in (*shown, *matched))
    total = sum(buffer.lines for buffer in buffers)
    shows = Shows(
        verb=_VERBS[call.kind],
        request=_request(call),
        refs=tuple(buffer.name for buffer in buffers),
        shown=shown,
        lines_total=total,
        bytes_total=sum(buffer.bytes for buffer in buffers),
        exit_code=call.exit_code,
        truncated=lines < total or any(buffer.is_partial for buffer in buffers),
        matched=matched,
        parts=parts,
    )
    return past_view(store, session.name, call.answered, shows, text, buffers)


def _request(call: PastCall) -> dict[str, Any]:
    """What the log keeps of a past call: what was asked as our own verbs have it, the tool, and where it is from."""
    asked: dict[str, Any] = {}
    arguments = call.arguments
    if call.kind != "tool":
        asked["command" if call.kind == "cmd" else "path"] = call.command
        if isinstance(arguments, dict):
            arguments = {name: value for name, value in arguments.items() if value != call.command}
    caller = {"client": call.session.client, "harness_session": call.session.id, "tool_use": call.use}
    return {
        **asked,
        "tool": call.tool,
        "arguments": clipped(arguments, _ARGUMENT_CHARACTERS),
        "caller": {name: value for name, value in caller.items() if value},
        "imported": {"from": call.session.harness, "id": call.id},
        "alone_bytes": None,  # the harness did show it by itself: nothing was saved, and nothing is to be accounted
    }
