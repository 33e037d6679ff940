"""What tests of both rooms share: a store of their own, and other processes beside it."""

import atexit
import contextlib
import functools
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# Images of containers often forbid it: each worker would then compile for ten seconds, hypothesis among the rest.
sys.dont_write_bytecode = False

from sightline.base.records import Buffer
from sightline.capture.command import CommandCapture
from sightline.settings import entry_points as plugins
from sightline.settings.config import Settings
from sightline.store import Store
from tests.examples import register_profiles
from tests.fork_server import ForkServer
from tests.large_values import tell_briefly

PATIENCE_SECONDS = 20.0

# Begun in the background or by nohup, what the tests start would ignore these; what is handled here, it does not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)  # the tests themselves go on, as was asked for

tell_briefly()

# As often as anything changes: for a frame of a terminal, each key that a test presses would wait. Read by textual.
os.environ.setdefault("TEXTUAL_FPS", "1000")

_MEMORY, _ROOM_BYTES = "/dev/shm", 4 << 30


def _lie_in_memory() -> None:
    """Have the folders of tests in memory where that has room, since SQLite waits for a disk at every turn."""
    with contextlib.suppress(OSError):
        there = os.statvfs(_MEMORY)
        has_room = there.f_bavail * there.f_frsize >= _ROOM_BYTES
        if has_room and not there.f_flag & os.ST_NOEXEC and os.access(_MEMORY, os.W_OK):
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)


_lie_in_memory()


_FOR_TESTS = ("SIGHTLINE_PEERS", "SIGHTLINE_KILLS", "SIGHTLINE_KILLS_SEED")
"""Variables that say where harnesses are, and how often to kill."""


def _leave_home() -> None:
    """Have an empty home: what a developer has installed, or set, changes no test."""
    home = os.path.expanduser("~")
    os.environ.setdefault("PIP_CACHE_DIR", os.path.join(home, ".cache", "pip"))  # or each wheel would be loaded again
    for name in list(os.environ):
        own = name.startswith(("SIGHTLINE_", "XDG_", "CLAUDE", "CODEX", "COPILOT", "GEMINI", "QWEN"))
        if own and name not in _FOR_TESTS:
            del os.environ[name]
    os.environ["HOME"] = tempfile.mkdtemp(prefix="home-of-tests-")
    atexit.register(shutil.rmtree, os.environ["HOME"], ignore_errors=True)


def _leave_plugins() -> None:
    """Overlook what other packages of this environment add, which are none of the tests' own."""
    theirs = [entry for group in (plugins.RULES, plugins.HARNESSES) for entry in plugins.entry_points(group=group)]
    if theirs:
        found = plugins.entry_points
        plugins.entry_points = lambda **given: [entry for entry in found(**given) if entry not in theirs]


_leave_home()
_leave_plugins()

_GARBAGE_OBJECTS = 1_000_000  # looking for it as often as Python does takes a fifth of what the tests do
gc.set_threshold(_GARBAGE_OBJECTS, 20, 20)


TESTS = Path(__file__).parent
_KINDS = {
    "faults": "process",
    "hostile/test_arguments.py": "process",
    "hostile/test_bounded.py": "process",
    "hostile/test_query_escapes.py": "process",
    "hostile/test_terminal.py": "process",
    "peers": "process",
    "store/agents": "process",
    "store/fleet": "fleet",
    "store/doors": "process",
    "test_ci.py": "process",
    "test_conftest.py": "process",
    "test_packaging.py": "process",
    "test_page_commands.py": "process",
    "test_site.py": "process",
    "tui": "app",
}


@functools.cache
def _kind(path: Path) -> str:
    """What the tests of a file are made of; those that are not named are unit tests: most run in this process alone."""
    return next((kind for place, kind in _KINDS.items() if path.is_relative_to(TESTS / place)), "unit")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where tests of one kind are asked for (``-m unit``), import no others."""
    asked = config.option.markexpr
    is_other = asked in {"unit", *_KINDS.values()} and collection_path.is_file() and _kind(collection_path) != asked
    return True if is_other and collection_path.name.startswith("test_") else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by its kind."""
    for item in items:
        item.add_marker(_kind(item.path))


def pytest_collection_finish() -> None:
    """Thousands of tests stay to the end: none of them need be looked at again."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Among others, those of the fleet all go to one worker, for which alone the servers are started."""
    if config.option.dist != "loadfile" or config.option.markexpr == "fleet":
        return None
    from xdist.scheduler import LoadFileScheduling  # of a plugin that may be turned off

    class ByFileAndServers(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "fleet" if _kind(config.rootpath / file) == "fleet" else file

    return ByFileAndServers(config, log)


register_profiles()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store(str(tmp_path / "root"), Settings()) as opened:
        yield opened


@pytest.fixture
def closing_stores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close all stores that are opened meanwhile: where a door leaves its own open, since its process ends anyway."""
    stores = list[Store]()
    begin = Store.__init__

    def begun(self: Store, *words: Any, **named: Any) -> None:
        begin(self, *words, **named)
        stores.append(self)

    monkeypatch.setattr(Store, "__init__", begun)
    yield
    for store in stores:
        store.close()


@pytest.fixture
def keep(store: Store) -> Callable[..., Buffer]:
    """Makes a sealed buffer."""

    def kept(out: bytes = b"", err: bytes = b"", *, command: str = "true", session: str = "s") -> Buffer:
        recording = store.begin("cmd", command, "/", session)
        recording.register()
        for stream, data in (("out", out), ("err", err)):
            if data:
                recording.append(stream, data)
        return recording.seal(exit_code=0)

    return kept


@pytest.fixture
def until() -> Callable[[Callable[[], object]], None]:
    """Waits for what other processes do."""

    def wait(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, "it never came"
            threading.Event().wait(0.005)

    return wait


class Limit:
    """A command's time limit that is over once it has written: by the clock, it may be before its shell has begun.

    Attributes:
        seconds: the limit to give; nobody waits for it.
    """

    seconds = 600.0

    def started(self, capture: CommandCapture) -> None:
        """Take the capture that it limits."""
        self._capture = capture

    def echo(self, stream: str, data: memoryview) -> None:
        """See what the capture takes."""
        assert self._capture._deadline is not None, "it has no limit"
        self._capture._deadline -= self.seconds


@pytest.fixture
def limit() -> Limit:
    """Has the time limit of a command be over once the command has written."""
    return Limit()


@pytest.fixture
def no_child_left() -> Iterator[None]:
    """What the test starts from this process has been waited for when it ends; those of other tests do not count."""
    if not Path("/proc/self/task").exists():
        pytest.skip("the system does not tell of children")
    before = _children()
    yield
    assert _children() <= before


def _children() -> set[str]:
    """Processes that threads of this one have started, zombies among them."""
    children = set()
    for path in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended
            children |= set(path.read_text().split())
    return children


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """Runs command lines of ours by forks."""
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def http_fork_server() -> Iterator[ForkServer]:
    """The same of those that speak HTTP, which takes an SDK."""
    server = ForkServer(http=True)
    yield server
    server.close()


@pytest.fixture
def python() -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """Starts other processes that run a piece of Python; those still there at the end are killed."""
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str, *arguments: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
