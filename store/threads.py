"""Starting threads: they count among a user's processes, of which a command that forks without end leaves none."""

from typing import TYPE_CHECKING

from sightline.store.errors import OutOfProcesses

if TYPE_CHECKING:  # whoever has a thread to start has loaded it
    import threading


def start_thread(thread: "threading.Thread") -> None:
    """Start a thread. Raises OutOfProcesses where the system has none left."""
    try:
        thread.start()
    except RuntimeError as error:
        raise OutOfProcesses from error
