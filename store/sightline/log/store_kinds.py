"""Other kinds of store: what reads one in place of this machine's own, and what copies this machine's outputs into one.

A kind is found by the scheme of an address, and its module is loaded when there is such an address. Nothing else names
one: commands, the log and the inspector ask what is found here.
"""

import os

from sightline.light.typing_names import TYPE_CHECKING, Callable, Iterable, Iterator, Mapping
from sightline.store import STORE_VARIABLE, Reading, Store

if TYPE_CHECKING:
    from sightline.base.check_result import CheckResult

KINDS = dict.fromkeys(("postgresql", "postgres", "fleet"), "sightline.fleet.kind:FLEET")
"""Where the object of each kind is, by scheme. The first one refuses what comes without a scheme, or with another."""

Opener = Callable[[Store], Reading]
"""Opens what is read in place of this machine's store, beside which that one logs what is shown."""


class StoreKind:
    """A kind of store beside this machine's own; a subclass says what there is to it."""

    def open(self, local: Store, address: str, *, offline: bool = False) -> Reading:
        """Open a store to be read, without asking it yet.

        Args:
            local: this machine's store.
            address: its address, or the word that stands for the one in the settings.
            offline: whether only what was read of it before is read.

        Raises:
            SightlineError: what it needs is not installed, or that is no address of it.
            StoreFailed: nothing can be kept below the local store.
        """
        raise NotImplementedError

    def full_address(self, local: Store, address: str) -> str:  # noqa: ARG002
        """Return the address for which a word may stand. Raises UsageError if the settings have none."""
        return address

    def look(self, opened: Reading) -> None:
        """Take in a first page for a quick look. Raises StoreFailed if it does not answer, and nothing is here."""

    def lacks(self, store: Store, names: Iterable[str]) -> set[str]:
        """Return those buffers that would be lost if they were removed here now."""
        raise NotImplementedError

    def lacks_logs(self, store: Store, sizes: Mapping[str, int]) -> set[str]:
        """Return those sessions whose log has lines that are here alone.

        Args:
            store: this machine's store.
            sizes: bytes of each session's log.
        """
        raise NotImplementedError

    def ask_for_purge(self, store: Store, names: Iterable[str]) -> None:
        """Have what was copied of some outputs purged there. Raises OSError if that could not be noted."""
        raise NotImplementedError

    def scrub(self, root: str) -> None:
        """Remove what waits below a store's root to be copied, and may have purged outputs; it is made again."""
        raise NotImplementedError

    def examine(self, store: Store) -> "Iterator[CheckResult]":
        """Check how far copying is behind."""
        raise NotImplementedError


def copies_to(store: Store) -> StoreKind | None:
    """Return the kind of store into which this machine's outputs are copied; None if none is set."""
    return _kind_of(address) if (address := store.settings.fleet.db) else None


def scrub(root: str) -> None:
    """Have every kind remove what waits to be copied; see `StoreKind.scrub`."""
    for place in dict.fromkeys(KINDS.values()):
        _loaded(place).scrub(root)


def open_store(local: Store, address: str, *, offline: bool = False) -> Reading:
    """Open the store at an address; see `StoreKind.open`."""
    return _kind_of(address).open(local, address, offline=offline)


def full_address(local: Store, address: str) -> str:
    """Return an address, or that for which a word stands; see `StoreKind.full_address`."""
    return _kind_of(address).full_address(local, address)


def opener_of(address: str = "", *, offline: bool = False) -> Opener | None:
    """Return what opens the store at an address and looks at it; None if neither it nor the environment names one."""
    address = address or os.environ.get(STORE_VARIABLE, "")
    if not address:
        return None

    def opened(local: Store) -> Reading:
        kind = _kind_of(address)
        store = kind.open(local, address, offline=offline)
        kind.look(store)
        return store

    return opened


def _kind_of(address: str) -> StoreKind:
    return _loaded(KINDS.get(address.partition(":")[0], next(iter(KINDS.values()))))


def _loaded(place: str) -> StoreKind:
    module, _, name = place.partition(":")
    kind: StoreKind = getattr(__import__(module, fromlist=[name]), name)
    return kind
