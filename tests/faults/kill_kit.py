"""Processes of ours that are there in a moment, forked from one that has all loaded, and moments to kill them at.

``SIGHTLINE_KILLS`` says at how many moments each kind is killed, ``SIGHTLINE_KILLS_SEED`` at which.
"""

import ctypes
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

PATIENCE_SECONDS = 60.0
SPREAD_SECONDS = 0.004
"""Between one answer and the next of most kinds: a kill comes up to so long after one."""

_MODULES = [
    "sightline.capture.background",
    "sightline.doors.mcp.command",
    "sightline.doors.proxy.command",
    "sightline.doors.cli.run",
    "sightline.doors.tools.handlers",
    "sightline.doors.proxy.recorder",
    "sightline.doors.mcp.stdio",
    "sightline.disk.recovery",
    "sightline.verbs.run_command",
]
"""What the kinds load; loaded before the fork, each is at its work at once."""


class Moments:
    """When the processes of one kind are killed: so many of their answers have come, and so many seconds after."""

    def __init__(self, kind: str, usual: int, answers: int) -> None:
        """``usual`` is how many moments there are unless the environment says so, ``answers`` the most to wait for."""
        self._count = int(os.environ.get("SIGHTLINE_KILLS", usual))
        self._random = random.Random(f"{kind} {os.environ.get('SIGHTLINE_KILLS_SEED', '')}")
        self._answers = answers

    def __iter__(self) -> Iterator[tuple[int, float]]:
        for _ in range(self._count):
            yield self._random.randint(0, self._answers), self._random.uniform(0, SPREAD_SECONDS)


def soon(condition: Callable[[], object]) -> None:
    """Wait for what another process does."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        threading.Event().wait(0.001)


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has asked about is."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


class Ran(NamedTuple):
    """What a command has answered."""

    code: int
    out: str
    err: str


class Nursery:
    """Starts commands of Sightline, by a fork each.

    Attributes:
        folder: their working directory; the store is ``root`` in it.
        outputs: where `run` has outputs written.
    """

    def __init__(self, folder: Path, before: Sequence[str] = ()) -> None:
        """Load what they need; ``before`` are words of a program that starts it."""
        self.folder = folder
        self.outputs = folder
        self._count = 0
        kept = ("PATH", "HOME", "LANG", "TMPDIR")
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        self._process = subprocess.Popen(
            [*before, sys.executable, __file__, *_MODULES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**environment, "TERM": "xterm-256color", "SIGHTLINE_MAX_BUFFERS": "1000000"},
        )

    def _ask(self, **what: Any) -> int:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(what).encode() + b"\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def load(self, module: str) -> None:
        """Load one more before anything is forked."""
        self._ask(load=module)

    def start(self, *commands: list[str], stdin: str = os.devnull, out: str = os.devnull) -> int:
        """Start a process that runs commands one after the other, over and over where there are several."""
        return self._ask(commands=commands, stdin=stdin, out=out, folder=str(self.folder))

    def run(self, *words: str, **limits: Any) -> Ran:
        """Run one command to its end.

        Args:
            words: the command's, or ``@exec`` and those of another program.
            limits: ``fsize``, the largest file it may write in bytes; ``powerless``, whether even root is refused what
                modes of files refuse; ``environment``, more of it.
        """
        self._count += 1
        out, err = (self.outputs / f"{self._count}.{name}" for name in ("out", "err"))
        told = {"commands": [words], "stdin": os.devnull, "out": str(out), "err": str(err), "folder": str(self.folder)}
        status = self._ask(reap=self._ask(**told, **limits))
        return Ran(os.waitstatus_to_exitcode(status), out.read_text(), err.read_text())

    def kill(self, pid: int) -> None:
        """Kill one with SIGKILL, which has not ended by itself before."""
        os.kill(pid, signal.SIGKILL)
        assert self._ask(reap=pid) == signal.SIGKILL

    def kill_all(self) -> None:
        """Kill whatever it started and still runs."""
        self._ask(end=True)

    def close(self) -> None:
        """End it, and all that it started."""
        self.kill_all()
        self._process.communicate()


_NEW_USER = 0x10000000
"""CLONE_NEWUSER, by <linux/sched.h>."""

_started: list[int] = []


def _serve() -> None:
    for module in sys.argv[1:]:
        __import__(module)
    for line in sys.stdin.buffer:
        what = json.loads(line)
        answer = 0
        if "load" in what:
            __import__(what["load"])
        elif "reap" in what:
            _, answer = os.waitpid(what["reap"], 0)
            _started.remove(what["reap"])
        elif "end" in what:
            for pid in _started:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            _started.clear()
        else:
            answer = os.fork()
            if not answer:
                _run(what)
            _started.append(answer)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _run(what: dict[str, Any]) -> None:
    os.setsid()
    os.chdir(what["folder"])
    os.environ["SIGHTLINE_HOME"] = os.path.join(what["folder"], "root")
    is_terminal = what["out"].startswith("/dev/pts/")
    stdin = os.open(what["stdin"], os.O_RDWR if is_terminal else os.O_RDONLY)
    out = os.open(what["out"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    err = os.open(what["err"], os.O_WRONLY | os.O_CREAT, 0o600) if "err" in what else out if is_terminal else 2
    for fd, target in ((stdin, 0), (out, 1), (err, 2)):
        os.dup2(fd, target)
    if what.get("powerless"):  # a user's namespace of its own, in which nobody is mapped
        assert not ctypes.CDLL(None).unshare(_NEW_USER)
    os.environ.update(what.get("environment", {}))
    if "fsize" in what:
        resource.setrlimit(resource.RLIMIT_FSIZE, (what["fsize"], what["fsize"]))
    sys.stdin = sys.__stdin__ = os.fdopen(os.dup(0))
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
    if is_terminal:
        sys.stderr = sys.__stderr__ = os.fdopen(2, "w", closefd=False)
    nursery = os.getppid()
    while True:
        for words in what["commands"]:
            code = _command(words)
        if len(what["commands"]) == 1 or os.getppid() != nursery:  # whoever would end it is gone
            os._exit(code)


def _command(words: list[str]) -> int:
    if words[:1] == ["@exec"]:
        os.execvp(words[1], words[1:])
    if words == ["@background"]:
        from sightline.capture.background import run_handed_over

        run_handed_over()
        return 0
    from sightline.doors.cli.main import main

    return main(words)


def refs_in(text: str) -> list[str]:
    """The names of the outputs that replies told."""
    return re.findall(r"output_id\W+@(cmd_[0-9a-f]+)", text)


if __name__ == "__main__":
    _serve()
