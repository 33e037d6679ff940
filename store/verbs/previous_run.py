"""Finds what an output is most often compared with: the run of the same command before it."""

from sightline.records import Buffer
from sightline.store import Reading


def previous_run(store: Reading, buffer: Buffer) -> Buffer | None:
    """The run of the same command before this one, the version of the same file, or the result of the same call.

    One in the same folder is preferred; where there is none, any will do. None where it is the first.
    Looks through the whole index where it finds none (30 ms for 100,000 buffers): not for the UI's thread.
    """
    return store.index.previous_run(buffer) or store.index.previous_run(buffer, anywhere=True)
