"""A PostgreSQL and an object store for all tests of the fleet, and for each test a schema and a prefix of its own."""

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sightline.base.records import Buffer
from sightline.log.sessions import current_session
from sightline.log.views import Shows, record_view
from sightline.settings.config import FleetSettings, Settings
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.store.fleet import servers

if TYPE_CHECKING:
    from sightline.fleet.reader.store import SharedStore

MISSING = servers.missing()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """None of them where there are no servers."""
    here = Path(__file__).parent
    for item in items:
        if MISSING and item.path.is_relative_to(here):
            item.add_marker(pytest.mark.skip(reason=MISSING))


@pytest.fixture(scope="session")
def shared() -> Iterator[tuple[servers.Postgres, servers.ObjectStore]]:
    """Both servers, for all tests."""
    # In memory, where the tests lie there; into a folder that a person chose, PostgreSQL's user might not get.
    room = "/dev/shm" if os.environ.get("PYTEST_DEBUG_TEMPROOT") == "/dev/shm" else None
    with tempfile.TemporaryDirectory(prefix="sightline-fleet-", dir=room) as folder:
        os.chmod(folder, 0o755)  # PostgreSQL's user must get to its files
        # A password that is tried 4,096 times, as is usual, takes half of the time of each connection.
        with servers.running(Path(folder), scram_iterations="1") as both:
            yield both


@pytest.fixture(scope="session")
def template(shared: tuple[servers.Postgres, servers.ObjectStore], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database with a fleet's schema: to copy it takes a third of the time of making one."""
    postgres, objects = shared
    postgres.execute("postgres", "CREATE DATABASE fleet_template")
    with pytest.MonkeyPatch.context() as patch:
        Fleet("fleet_template", postgres, objects, tmp_path_factory.mktemp("template"), patch).init()
    return "fleet_template"


class Fleet:
    """A fleet of a test's own: a database, a prefix in the bucket, and what its owner and hosts do there."""

    def __init__(
        self,
        database: str,
        postgres: servers.Postgres,
        objects: servers.ObjectStore,
        folder: Path,
        patch: pytest.MonkeyPatch,
    ) -> None:
        from sightline.fleet.address import database_address, objects_address

        self.postgres, self.store_of_objects, self.folder, self._patch = postgres, objects, folder, patch
        self.id = uuid.uuid4().hex[:12]  # roles are the cluster's, which all tests share
        self.database = database
        self.prefix = f"fleet/{self.id}"
        self.address = database_address(postgres.url(self.database))
        self.objects_address = objects_address(f"s3://{servers.BUCKET}/{self.prefix}?endpoint={objects.endpoint}")
        self.passwords = folder / "pgpass"
        self.passwords.touch(0o600)
        self.password(postgres.url(self.database), "owner")
        patch.setenv("PGPASSFILE", str(self.passwords))
        self.use_key(servers.ADMIN_KEY)

    def use_key(self, key: str) -> None:
        """Have the object store's client find this key."""
        for name, value in servers.environment(key).items():
            self._patch.setenv(name, value)

    def password(self, url: str, password: str) -> None:
        """Put a password where the client looks."""
        from sightline.fleet.address import database_address
        from sightline.fleet.administration import passfile_line

        address = database_address(url)
        with self.passwords.open("a") as file:
            file.write(passfile_line(address, address.user, password))

    def init(self, days: int = 30) -> list[str]:
        """What the owner does first."""
        from sightline.fleet.administration import initialise
        from sightline.fleet.database import connected

        with connected(self.address) as connection:
            return initialise(connection, self.objects_address, days)

    def add_host(self, name: str, team: str = "alpha", owner: str = "ann", kind: str = "host") -> FleetSettings:
        """A host's role, and its settings."""
        from sightline.fleet.administration import add_host
        from sightline.fleet.database import connected

        role = f"{name}-{self.id}"
        with connected(self.address) as connection:
            added = add_host(connection, role, team=team, owner=owner, kind=kind, password=True)
        url = self.postgres.url(self.database, added.role)
        assert added.password
        self.password(url, added.password)
        return FleetSettings(db=url, objects=str(self.objects_address))

    def grant(self, reader: str, scope: str) -> str:
        """A reader's role, and its URL."""
        from sightline.fleet.administration import grant
        from sightline.fleet.database import connected

        role = f"{reader}_{self.id}"
        with connected(self.address) as connection:
            granted = grant(connection, role, scope)
        url = self.postgres.url(self.database, role)
        if granted.password:
            self.password(url, granted.password)
        return url

    def store(self, name: str, settings: FleetSettings, **more: Any) -> Store:
        """A host's store, empty where it is new."""
        return Store(str(self.folder / name), Settings(fleet=settings, **more))

    def rows(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """What the owner finds in the database."""
        return self.postgres.execute(self.database, statement, parameters or None)

    def objects(self) -> dict[str, int]:
        """What lies in the object store, below the fleet's prefix."""
        from sightline.fleet.objects import Objects

        return {found.key: found.bytes for found in Objects(self.objects_address).list("t/")}


@pytest.fixture
def fleet(
    shared: tuple[servers.Postgres, servers.ObjectStore],
    template: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Fleet]:
    """A fleet that is made, without hosts."""
    postgres, database = shared[0], f"fleet_{uuid.uuid4().hex[:12]}"
    postgres.execute("postgres", f"CREATE DATABASE {database} TEMPLATE {template} STRATEGY file_copy")
    made = Fleet(database, *shared, tmp_path, monkeypatch)
    made.rows("UPDATE sightline.fleet SET objects = %s", str(made.objects_address))
    yield made
    postgres.execute("postgres", f"DROP DATABASE {database} WITH (FORCE)")


def keep_in(store: Store, out: bytes = b"", err: bytes = b"", **fields: Any) -> Buffer:
    """A sealed buffer."""
    exit_code = fields.pop("exit_code", 0)
    words = (fields.pop("command", "true"), fields.pop("cwd", "/"), fields.pop("session", "s"))
    recording = store.begin("cmd", *words, **fields)
    recording.register()
    for stream, data in (("out", out), ("err", err)):
        if data:
            recording.append(stream, data)
    return recording.seal(exit_code=exit_code)


@pytest.fixture
def keep_many() -> Callable[[Store, int], list[Buffer]]:
    """Makes a number of small buffers."""
    return lambda store, count: [
        keep_in(store, f"output {number}\n".encode() * 20, command=f"echo {number}") for number in range(count)
    ]


def write_settings(store: Store) -> None:
    """Write down how a store ships, for other processes."""
    fleet = store.settings.fleet
    Path(store.layout.config).write_text(f'[fleet]\ndb = "{fleet.db}"\nobjects = "{fleet.objects}"\n')


def ship(store: Store, *, judges: bool = True) -> str:
    """Ship all that is done, and say what failed in it; what the fleet calls the host."""
    from sightline.fleet.shipper import Shipper

    with Shipper(store) as shipper:
        shipper.drain()
        if judges:
            shipper.judge()
        assert shipper.host
        return shipper.host.name


def show(store: Store, session: str, buffer: Buffer, text: str = "what it was shown\n") -> None:
    """Log that an agent was shown something of an output."""
    shows = Shows("run_command", {"command": buffer.command}, refs=(buffer.name,))
    record_view(store, current_session(name=session), shows, (Segment(text),))


class Hosts:
    """Two hosts of one team, and one of another; each has shipped something."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.stores = {
            name: fleet.store(name, fleet.add_host(name, team))
            for name, team in (("a", "red"), ("b", "red"), ("c", "blue"))
        }
        self.names: dict[str, str] = {}

    def ship(self, name: str, *, judges: bool = True) -> None:
        """Ship what a host has."""
        self.names[name] = ship(self.stores[name], judges=judges)

    def ref(self, host: str, buffer: Buffer) -> str:
        """The ref that an output of a host has at the shared place."""
        return f"{self.names[host]}/{buffer.ref}"

    def close(self) -> None:
        """Close the stores."""
        for store in self.stores.values():
            store.close()


@pytest.fixture
def hosts(fleet: Fleet) -> Iterator[Hosts]:
    """Three hosts, each of which has shipped one output."""
    made = Hosts(fleet)
    for name, store in made.stores.items():
        keep_in(store, f"first of {name}\n".encode(), command=f"make {name}")
        made.ship(name)
    yield made
    made.close()


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Store]:
    """The store of a reader's own machine."""
    with Store(str(tmp_path / "reader"), Settings()) as store:
        yield store


@pytest.fixture
def place(hosts: Hosts, local: Store) -> "Iterator[SharedStore]":
    """What they shipped to, for a reader of the red team."""
    from sightline.fleet.reader.store import SharedStore

    with SharedStore(local, hosts.fleet.grant("carl", "team:red"), patience=0) as store:
        yield store
