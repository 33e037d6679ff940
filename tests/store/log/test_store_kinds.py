"""Another kind of store is found by the scheme of its address, and asked what of this machine's it still lacks."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from sightline.doors.cli.main import main
from sightline.log import retention, store_kinds
from sightline.log.store_kinds import StoreKind, copies_to, open_store, opener_of
from sightline.settings.config import FleetSettings, Settings
from sightline.store import Reading, Store


class Shelf(StoreKind):
    """A folder as a kind of store, which lacks whatever was captured in the session `kept`."""

    def __init__(self) -> None:
        self.purged = list[str]()
        self.looked = 0

    def open(self, local: Store, address: str, *, offline: bool = False) -> Reading:
        return Store(address.removeprefix("shelf://"), Settings())

    def look(self, opened: Reading) -> None:
        self.looked += 1

    def lacks(self, store: Store, names: Iterable[str]) -> set[str]:
        return {name for name in names if (one := store.index.buffer(name)) and one.session == "kept"}

    def lacks_logs(self, store: Store, sizes: Mapping[str, int]) -> set[str]:
        return set()

    def ask_for_purge(self, store: Store, names: Iterable[str]) -> None:
        self.purged += names

    def scrub(self, root: str) -> None:
        """There is nothing beside it."""


SHELF = Shelf()


@pytest.fixture(autouse=True)
def _shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SHELF, "purged", [])
    monkeypatch.setattr(SHELF, "looked", 0)
    monkeypatch.setitem(store_kinds.KINDS, "shelf", "shelf_kind:SHELF")
    module = type(store_kinds)("shelf_kind")
    module.SHELF = SHELF  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "shelf_kind", module)


@pytest.fixture
def far(tmp_path: Path) -> str:
    """Root of a store of that kind with one output."""
    with Store(str(tmp_path / "far"), Settings()) as store:
        captured(store, "far away", "s")
        return store.root


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Store]:
    settings = Settings(max_buffers=1, fleet=FleetSettings(db="shelf://there"))
    with Store(str(tmp_path / "local"), settings) as store:
        yield store


def captured(store: Store, command: str, session: str) -> str:
    recording = store.begin("cmd", command, "/", session)
    recording.append("out", b"x\n")
    return recording.seal(exit_code=0).name


def test_an_address_opens_the_kind_of_its_scheme(local: Store, far: str) -> None:
    with open_store(local, f"shelf://{far}") as opened:
        assert [one.buffer.command for one in opened.listed(9)] == ["far away"]
    assert not SHELF.looked


def test_an_opener_looks_at_what_it_opens(local: Store, far: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert opener_of() is None
    monkeypatch.setenv("SIGHTLINE_STORE", f"shelf://{far}")
    opened = opener_of()
    assert opened is not None
    opened(local).close()
    assert SHELF.looked == 1


def test_a_command_reads_another_kind_of_store(far: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--store", f"shelf://{far}"]) == 0
    assert "far away" in capfd.readouterr().out


def test_limits_leave_what_another_store_lacks(local: Store) -> None:
    waits, copied, _ = captured(local, "one", "kept"), captured(local, "two", "s"), captured(local, "three", "s")
    collected = retention.enforce_limits(local)
    assert (collected.unshipped, collected.evicted) == ((waits,), [copied])
    assert retention.enforce_limits(local, with_unshipped=True).evicted == [waits]


def test_a_purge_is_passed_on(local: Store) -> None:
    name = captured(local, "one", "s")
    retention.remove(local, [local.resolve(f"@{name}").buffer], purge=True)
    assert SHELF.purged == [name]


def test_nothing_is_copied_where_no_store_is_set(tmp_path: Path) -> None:
    with Store(str(tmp_path / "alone"), Settings()) as store:
        assert copies_to(store) is None
