"""Finds what an output is usually compared with: the previous run of the same command."""

from sightline.base.records import Buffer
from sightline.store import Reading


def previous_run(store: Reading, buffer: Buffer) -> Buffer | None:
    """Return the previous run of the command, version of the file, or result of the call; None for the first one.

    A run in the same folder is preferred; if there is none, any will do. If there is none at all, the whole index was
    searched (30 ms for 100,000 buffers), so do not call this in the UI's thread.
    """
    return store.index.previous_run(buffer) or store.index.previous_run(buffer, anywhere=True)
