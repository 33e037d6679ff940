"""The way from the command line into the inspector: no other function of the store knows the screen."""

import os
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from sightline.doors.cli.output import STORE_VARIABLE

if TYPE_CHECKING:
    from sightline.fleet.shared_store import SharedStore
    from sightline.store import Store


def shared_opener(address: str, *, offline: bool) -> "Callable[[Store], SharedStore] | None":
    """Gives what is shown instead of this machine's store, with its newest outputs; None where that is it."""
    address = address or os.environ.get(STORE_VARIABLE, "")
    if not address:
        return None

    def opened(local: "Store") -> "SharedStore":
        from sightline.fleet import shared_store  # few read more than this machine's store

        store = shared_store(local, address, offline=offline)
        store.take_in_newest()
        return store

    return opened


def inspector() -> ModuleType:
    """What opens the inspector: `run` in this terminal, `serve` in a browser."""
    import sightline.tui as tui  # from inside a function, so that no command but these loads anything of it

    return tui
