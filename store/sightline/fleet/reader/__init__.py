"""The shared place that hosts ship to, read as a store. All but this module needs the extra ``fleet``."""

import os
from collections.abc import Callable

from sightline.base.errors import UsageError
from sightline.fleet import ExtraMissing
from sightline.light.typing_names import TYPE_CHECKING
from sightline.settings.config import STORE_VARIABLE
from sightline.store import Store

if TYPE_CHECKING:
    from sightline.fleet.reader.store import SharedStore

FLEET = "fleet"
"""Stands in place of an address for the one in ``[fleet] store`` of the settings."""


def open_shared(local: Store, address: str, *, offline: bool = False) -> "SharedStore":
    """Open the shared place at an address, to be read instead of a machine's own store, without asking it yet.

    Raises:
        ExtraMissing: its clients are not installed.
        UsageError: the settings name none, or it is not an address.
        StoreFailed: nothing can be kept below the local store.
    """
    try:
        from sightline.fleet.reader.store import SharedStore  # loads the clients of a database and an object store
    except ImportError as error:
        raise ExtraMissing(error) from error
    if address == FLEET:
        address = local.settings.fleet.store
        if not address:
            raise UsageError(
                "the settings name no shared place to read",
                f'write [fleet] store = "postgresql://reader@host/db" into {local.layout.config}, or give the address',
            )
    return SharedStore(local, address, offline=offline)


def shared_opener(address: str, *, offline: bool) -> "Callable[[Store], SharedStore] | None":
    """Return a function that opens what is shown instead of this machine's store; None if nothing is."""
    address = address or os.environ.get(STORE_VARIABLE, "")
    if not address:
        return None

    def opened(local: Store) -> "SharedStore":
        store = open_shared(local, address, offline=offline)
        store.take_in_newest()
        return store

    return opened
