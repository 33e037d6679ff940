"""What a person does with a buffer from the list: pin it, delete it. Written off the UI's thread."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from textual.app import App

from sightline.log import retention
from sightline.records import Buffer
from sightline.shape.summary import human_bytes
from sightline.store import Store
from sightline.tui.common.confirm import Confirm
from sightline.tui.common.failures import STORE_ERRORS, tell
from sightline.tui.common.safe import title
from sightline.tui.common.wording import counted

T = TypeVar("T")


async def pin(app: App[None], store: Store, buffer: Buffer) -> None:
    """Pin a buffer, or let it go again: asked twice, it is as it was."""
    changed = await _done(app, lambda: store.amend(buffer.name, pinned=not buffer.pinned))
    if changed is not None:
        said = "Pinned {}: no limit evicts it" if changed.pinned else "Unpinned {}: the limits hold for it again"
        app.notify(f"{said.format(buffer.ref)}; the same key undoes it", markup=False)


def delete(app: App[None], store: Store, buffer: Buffer) -> None:
    """Delete a buffer, once it is confirmed. What agents were shown of it stays in the log."""
    if buffer.state == "evicted":
        app.notify(f"{buffer.ref} is gone; only its place in the log is left", severity="warning", markup=False)
        return

    def answered(yes: bool | None) -> None:
        if yes:
            app.run_worker(_done(app, lambda: retention.remove(store, [buffer])))

    held = f"{counted(buffer.lines, 'line')}, {human_bytes(buffer.bytes)}" + (", pinned" if buffer.pinned else "")
    facts = [title(buffer.command), held, "What agents were shown of it stays in the log."]
    app.push_screen(Confirm(f"Delete {buffer.ref}?", facts, "Delete"), answered)


async def _done(app: App[None], write: Callable[[], T]) -> T | None:
    try:
        return await asyncio.to_thread(write)
    except STORE_ERRORS as error:
        tell(app, error)
        return None
