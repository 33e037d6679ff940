"""Ends a running command of an agent, after a question that names command, agent and process."""

import asyncio

from textual.app import App

from sightline.base.records import Buffer
from sightline.capture.command import end_command, running_process
from sightline.store import Reading
from sightline_tui.buffers.removal import Confirm, is_elsewhere
from sightline_tui.common.phrases import ending, name_of
from sightline_tui.common.sessions import session_name
from sightline_tui.common.store_errors import STORE_ERRORS, tell


async def end(app: App[None], store: Reading, buffer: Buffer) -> None:
    """End the command of a buffer with all that it started, once it is confirmed."""
    if is_elsewhere(app, buffer):
        return
    try:
        process, called = await asyncio.to_thread(
            lambda: (running_process(store.local, buffer), session_name(store, buffer.session))
        )
    except STORE_ERRORS as error:
        tell(app, error)
        return
    if not app.screen_stack:
        return  # the inspector has ended meanwhile
    if buffer.state != "running" or process is None:
        app.notify(f"{buffer.ref} has no running command: {ending(buffer)}", severity="warning", markup=False)
        return

    def answered(yes: bool | None) -> None:
        if yes:
            app.run_worker(_ended(app, store, buffer))

    facts = [name_of(buffer), f"Started by {called or 'nobody known'}, process {process.pid}, in {buffer.cwd}"]
    facts.append("It and all that it started gets SIGTERM, and SIGKILL if it goes on.")
    app.push_screen(Confirm(f"End {buffer.ref}?", facts, "End it"), answered)


async def _ended(app: App[None], store: Reading, buffer: Buffer) -> None:
    try:
        was_running = await asyncio.to_thread(end_command, store.local, buffer)
    except STORE_ERRORS as error:
        tell(app, error)
        return
    said = "Ended {}: {}" if was_running else "{} had ended before: {}"
    app.notify(said.format(buffer.ref, name_of(buffer)), markup=False)
