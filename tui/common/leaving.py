"""Leaves the terminal to a pager or an editor, and comes back."""

import asyncio

from textual.app import App, SuspendNotSupported

from sightline.store import Store
from sightline.tui.common.failures import STORE_ERRORS, tell
from sightline.tui.common.outside import Call, Copies, Shown, editor_call, pager_call, run_outside


async def leave_for(app: App[None], store: Store, shown: Shown, program: str, copies: Copies) -> None:
    """Open a buffer in the ``pager`` or the ``editor``, and wait for its end.

    Args:
        app: is suspended meanwhile.
        store: the store.
        shown: what is opened.
        program: which of the two.
        copies: where an editor's copy goes.
    """

    def prepare() -> Call:
        if program == "pager":
            return pager_call(store, shown)
        return editor_call(store, shown, copies)

    try:
        call = await asyncio.to_thread(prepare)
        with app.suspend():
            _run(app, call)
    except SuspendNotSupported:
        app.notify(
            f"This terminal cannot be left to another program; `sightline path {shown.buffer.ref}` names the file",
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
