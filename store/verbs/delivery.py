"""Sending a reply: it is logged with its exact text first, and what must be said with it goes along."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.errors import StoreFailed
from sightline.log.views import record_shown, record_view
from sightline.records import Buffer
from sightline.shape.budgets import Room
from sightline.shape.segments import join_segments
from sightline.store import Store
from sightline.verbs.asking import Asking
from sightline.verbs.reply import Render, Reply, in_order, serialised_bytes

if TYPE_CHECKING:
    from sightline.log.notes import Waiting


def deliver(asking: Asking, reply: Reply, render: Render, send: Callable[[str], None], *, is_use: bool = True) -> None:
    """Log a reply, send it, and count it as a use of what it showed. Notes that wait for who asks go with it.

    A reply that cannot be logged is sent all the same, with a warning that says so.

    Args:
        asking: who asked.
        reply: what is answered.
        render: how it is written.
        send: takes the text that was logged.
        is_use: False for a look, after which the store is as it was: nothing moves in the order of use, nothing goes.
    """
    if is_use and os.path.exists(asking.store.layout.outbox):
        _deliver_with_notes(
            asking, reply, render, lambda enclosed: _deliver(asking, enclosed, render, send, is_use=True)
        )
    else:
        _deliver(asking, reply, render, send, is_use=is_use)


def _deliver(asking: Asking, reply: Reply, render: Render, send: Callable[[str], None], *, is_use: bool) -> None:
    if partial := [buffer for name in reply.shows.refs if (buffer := _partial(asking.store, name))]:
        from sightline.verbs.partial_reply import partial_reply  # few are

        reply = partial_reply(reply, partial)
    if asking.store.settings.redacts:
        from sightline.verbs.redacted import redacted_reply  # only where a person has turned it on

        reply = redacted_reply(asking.store, reply)
    text = render(reply)
    view = None
    try:
        view = record_view(asking.store, asking.session, reply.shows, text, asking.profile.cleaning.views)
    except StoreFailed as error:
        reply.fields["warning"] = "; ".join(filter(None, (reply.fields.get("warning"), error.message)))
        text = render(reply._replace(missing=True))
    send(join_segments(text))
    try:
        if is_use:
            for name in reply.shows.refs:
                asking.store.touch(name)
        if reply.find_shown and view:
            record_shown(asking.store, view, reply.find_shown())
        if is_use and asking.store.over_limits():
            from sightline.log.retention import enforce_limits

            enforce_limits(asking.store)
    except Exception:  # the reply is out; what is wrong with the store, the next call or `doctor` tells
        return


def _partial(store: Store, name: str) -> Buffer | None:
    """A buffer of which only a part is there; None for any other."""
    buffer = store.index.buffer(name)
    return buffer if buffer and buffer.is_partial and buffer.state != "evicted" else None


def _deliver_with_notes(asking: Asking, reply: Reply, render: Render, deliver: Callable[[Reply], None]) -> None:
    """Deliver a reply with the notes that wait for who asks, as many as fit into it; the rest wait on.

    So do all of them where a door writes no fields, as it does of an error at the command line. What waits for whoever
    asks next is not for the person who sits at the terminal.
    """
    from sightline.log.notes import hold_waiting, release  # few replies have any

    anyone = not (asking.person and os.isatty(1))
    held = hold_waiting(asking.store, asking.session.name, anyone=anyone)
    enclosed = _as_many_as_fit(asking.room, reply, held)
    if enclosed and _written(render, _with(reply, enclosed)) == _written(render, reply):
        enclosed = []
    release(asking.store, held[len(enclosed) :], None)
    went_out = False
    try:
        deliver(_with(reply, enclosed))
        went_out = True
    finally:
        release(asking.store, enclosed, asking.session if went_out else None)


def _written(render: Render, reply: Reply) -> str:
    return join_segments(render(reply))


def _as_many_as_fit(room: Room, reply: Reply, held: "list[Waiting]") -> "list[Waiting]":
    count = len(held)
    while count and serialised_bytes(_with(reply, held[:count]).fields, reply.text) > room.bytes:
        count -= 1
    return held[:count]


def _with(reply: Reply, notes: "list[Waiting]") -> Reply:
    if not notes:
        return reply
    has_code = "exit_code" in reply.fields
    fields = in_order({**reply.fields, "notes": [note.field for note in notes]})
    if not has_code:
        fields.pop("exit_code", None)
    return reply._replace(fields=fields, missing=True)
