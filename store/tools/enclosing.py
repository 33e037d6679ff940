"""A person's notes in a reply: each goes out once, with the first reply of whom it is for that has room for it."""

import os
from collections.abc import Callable

from sightline.store.audit.notes import Waiting, hold_waiting, release
from sightline.store.shape.budgets import Room
from sightline.store.shape.segments import join_segments
from sightline.store.tools.asking import Asking
from sightline.store.tools.reply import Render, Reply, in_order, serialised_bytes


def deliver_with_notes(asking: Asking, reply: Reply, render: Render, deliver: Callable[[Reply], None]) -> None:
    """Deliver a reply with the notes that wait for who asks, as many as fit into it; the rest wait on.

    So do all of them where a door writes no fields, as it does of an error at the command line. What waits for whoever
    asks next is not for the person who sits at the terminal.
    """
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


def _as_many_as_fit(room: Room, reply: Reply, held: list[Waiting]) -> list[Waiting]:
    count = len(held)
    while count and serialised_bytes(_with(reply, held[:count]).fields, reply.text) > room.bytes:
        count -= 1
    return held[:count]


def _with(reply: Reply, notes: list[Waiting]) -> Reply:
    if not notes:
        return reply
    has_code = "exit_code" in reply.fields
    fields = in_order({**reply.fields, "notes": [note.field for note in notes]})
    if not has_code:
        fields.pop("exit_code", None)
    return reply._replace(fields=fields, missing=True)
