"""Opening what ``--store`` names: the place that many hosts ship to, read instead of this machine's store."""

from sightline.errors import UsageError
from sightline.fleet import ExtraMissing
from sightline.store import Store

try:
    from sightline.fleet.shared_store import SharedStore as SharedStore
except ImportError as error:
    _MISSING: ImportError | None = error
else:
    _MISSING = None

FLEET = "fleet"
"""Instead of an address: the one that ``[fleet] store`` of the settings names."""


def shared_store(local: Store, address: str, *, offline: bool) -> "SharedStore":
    """The shared place of an address; nothing is asked of the network yet.

    Raises:
        ExtraMissing: its clients are not installed.
        UsageError: the settings name none, or it is no address.
        StoreFailed: nothing can be kept below the local store.
    """
    if _MISSING:
        raise ExtraMissing(_MISSING) from _MISSING
    if address == FLEET:
        address = local.settings.fleet.store
        if not address:
            raise UsageError(
                "the settings name no shared place to read",
                f'write [fleet] store = "postgresql://reader@host/db" into {local.layout.config}, or give the address',
            )
    return SharedStore(local, address, offline=offline)
