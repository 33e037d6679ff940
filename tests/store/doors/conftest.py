"""The command line as a process of its own, forked or started, in an environment that nothing has been left in."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.settings.config import Settings
from sightline.store import Store
from tests.command_line import run_here
from tests.fork_server import ForkServer

PROGRAM = [sys.executable, "-m", "sightline.doors.cli.main"]
_SECONDS = 60


class Ran(NamedTuple):
    """How a command line ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


class Cli:
    """Calls ``sightline`` in a folder, with a store of its own."""

    def __init__(self, folder: Path, server: ForkServer) -> None:
        self.folder = folder
        self._server = server
        self.home = folder / "a store"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "SIGHTLINE_HOME": str(self.home),
            "SIGHTLINE_SESSION": "a-test",
        }

    def argv(self, *words: str) -> list[str]:
        return [*PROGRAM, *words]

    def start(self, *words: str, **more: Any) -> "subprocess.Popen[bytes]":
        """Start the program, which goes on."""
        environment = {**self.environment, **more.pop("environment", {})}
        return subprocess.Popen(self.argv(*words), env=environment, cwd=self.folder, **more)

    def __call__(self, *words: str, stdin: bytes = b"", **environment: str) -> Ran:
        """Run a fork to its end."""
        done = self._server.run(
            words, input=stdin, env={**self.environment, **environment}, cwd=self.folder, timeout=_SECONDS
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def shell(self, line: str) -> Ran:
        """A line for bash, in which ``sightline`` is the command."""
        function = 'sightline() { "$PYTHON" -m sightline.doors.cli.main "$@"; }\n'
        done = subprocess.run(
            ["bash", "-c", function + line],
            capture_output=True,
            env={**self.environment, "PYTHON": sys.executable},
            cwd=self.folder,
            timeout=_SECONDS,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def last(self) -> str:
        """The ref of the newest command's buffer, told without a view in the log."""
        with Store(str(self.home), Settings()) as store:
            return store.resolve("@last").ref

    def seen(self) -> str:
        """The exact text of the newest view, as the log has it."""
        with Store(str(self.home), Settings()) as store:
            (newest,) = list_views(store, limit=1)
            return view_text(store, newest)


class CliHere(Cli):
    """Calls it within this process, where what counts is what it does and says."""

    def __call__(self, *words: str, stdin: bytes = b"", **environment: str) -> Ran:
        done = run_here(words, input=stdin, env={**self.environment, **environment}, cwd=self.folder)
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def cli(request: pytest.FixtureRequest, tmp_path: Path, fork_server: ForkServer) -> Cli:
    """By forks, or within this process where a module has ``IN_PROCESS``."""
    kind = CliHere if getattr(request.module, "IN_PROCESS", False) else Cli
    return kind(tmp_path, fork_server)


@pytest.fixture
def numbers(cli: Cli) -> str:
    """The ref of a command that printed 1 to 3000, and one line of stderr."""
    cli("run", "-c", "seq 1 3000; echo oh >&2")
    return cli.last()


@pytest.fixture
def make_cli(fork_server: ForkServer) -> Callable[[Path], Cli]:
    return lambda folder: Cli(folder, fork_server)
