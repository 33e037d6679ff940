"""What the key for a diff compares: the two marked buffers, or one with the run of the same command before it."""

import asyncio

from textual.app import App

from sightline.records import Buffer
from sightline.store import Store
from sightline.tui.common.failures import STORE_ERRORS, tell
from sightline.tui.diff.screen import DiffScreen
from sightline.verbs.previous_run import previous_run


async def open_diff(app: App[None], store: Store, buffer: Buffer | None, marks: tuple[str, ...]) -> None:
    """Open the diff, or say what is missing for one.

    Args:
        app: shows it.
        store: the store.
        buffer: the selected one.
        marks: names of the marked ones; one alone is compared with the selected one.
    """
    try:
        sides = await asyncio.to_thread(_sides, store, buffer, marks)
    except STORE_ERRORS as error:
        tell(app, error)
        return
    if sides is None:
        what = f"{buffer.ref} is the first run of its command" if buffer else "There is nothing to compare"
        app.notify(f"{what}: mark two outputs with m, then d", severity="warning", markup=False)
        return
    await app.push_screen(DiffScreen(store, *sides))


def _sides(store: Store, buffer: Buffer | None, marks: tuple[str, ...]) -> tuple[Buffer, Buffer] | None:
    names = list(marks)
    if len(names) == 1 and buffer is not None and buffer.name != names[0]:
        names.append(buffer.name)
    if len(names) == 2:
        left, right = sorted((store.resolve(f"@{name}").buffer for name in names), key=lambda side: side.created)
        return left, right
    earlier = previous_run(store, buffer) if buffer is not None else None
    return (earlier, buffer) if earlier is not None and buffer is not None else None
