"""Leaves the terminal to a pager or an editor, and comes back."""

import asyncio

from sightline.store.records import Buffer
from sightline.store.store import Store
from sightline.tui.failures import STORE_ERRORS, tell
from sightline.tui.outside import Call, Copies, editor_call, pager_call, run_outside
from textual.app import App, SuspendNotSupported


async def leave_for(app: App[None], store: Store, buffer: Buffer, program: str, line: int, copies: Copies) -> None:
    """Open a buffer in the ``pager`` or the ``editor``, and wait for its end.

    Args:
        app: is suspended meanwhile.
        store: the store.
        buffer: the buffer.
        program: which of the two.
        line: the viewer's first line.
        copies: where an editor's copy goes.
    """

    def prepare() -> Call:
        if program == "pager":
            return pager_call(store, buffer, line)
        return editor_call(store, buffer, line, copies)

    try:
        call = await asyncio.to_thread(prepare)
        with app.suspend():
            _run(app, call)
    except SuspendNotSupported:
        app.notify(
            f"This terminal cannot be left to another program; `sightline path {buffer.ref}` names the file",
            severity="warning",
            markup=False,
        )
    except STORE_ERRORS as error:
        tell(app, error)


def _run(app: App[None], call: Call) -> None:
    """Run it; an error must not keep the terminal from being taken back."""
    try:
        run_outside(call)
    except STORE_ERRORS as error:
        tell(app, error)
