"""Runs command lines of ours by forks of a process that has loaded them all: each is a process of its own, in a moment.

A fork has its own words, environment, folder, streams and end. It saves the start of an interpreter, which takes more
processor time than most commands do. Tests of the start itself, of terminals and of process groups start a program.
"""

import contextlib
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

_NUMBER_BYTES = 8
_HTTP = ("sightline.doors.mcp.http", "sightline.doors.proxy.http")
"""What loads the official SDK, which takes a second."""

_NOT_LOADED = ("sightline.fleet", "sightline.fleet.reader", "sightline_tui", "sightline.store.", *_HTTP)


class Forked:
    """One process, told as `subprocess.Popen` tells it.

    Attributes:
        pid: its number.
        returncode: how it ended; None as long as nobody has asked.
        stdin: where it reads; None where that is no pipe, as of the other two.
        stdout: what it writes.
        stderr: its errors.
    """

    def __init__(self, pid: int, ending: int, pipes: Sequence[int | None]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ending = ending
        self.stdin, self.stdout, self.stderr = (
            None if fd is None else open(fd, mode, buffering=0 if mode == "wb" else -1)  # noqa: SIM115
            for fd, mode in zip(pipes, ("wb", "rb", "rb"), strict=True)
        )

    def wait(self, timeout: float | None = None) -> int:
        """How it ended: its exit code, or below zero the number of a signal.

        Raises:
            subprocess.TimeoutExpired: it has not, after so many seconds.
        """
        if self.returncode is None:
            if not select.select([self._ending], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"fork {self.pid}", timeout or 0)
            status = os.read(self._ending, _NUMBER_BYTES)
            os.close(self._ending)
            self.returncode = os.waitstatus_to_exitcode(int.from_bytes(status, "big"))
        return self.returncode

    def poll(self) -> int | None:
        """How it ended; None where it has not."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        """Send it a signal, where it has not ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it ends at this moment
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, given: bytes = b"", timeout: float | None = None) -> tuple[bytes, bytes]:
        """Give it what it may read, and take all that it writes until it has ended.

        Raises:
            subprocess.TimeoutExpired: nothing came for so many seconds.
        """
        giver = threading.Thread(target=self._give, args=(given,))
        giver.start()
        taken = {file: bytearray() for file in (self.stdout, self.stderr) if file}
        open_files = list(taken)
        while open_files:
            ready = select.select(open_files, [], [], timeout)[0]
            if not ready:
                raise subprocess.TimeoutExpired(f"fork {self.pid}", timeout or 0)
            for file in ready:
                data = os.read(file.fileno(), 1 << 16)
                taken[file] += data
                if not data:
                    open_files.remove(file)
                    file.close()
        giver.join()
        self.wait(timeout)
        return tuple(bytes(taken.get(file, b"")) for file in (self.stdout, self.stderr))  # type: ignore[return-value]

    def _give(self, data: bytes) -> None:
        if self.stdin:
            left = memoryview(data)
            with contextlib.suppress(BrokenPipeError), self.stdin as file:
                while left:
                    left = left[file.write(left) :]


class ForkServer:
    """Forks command lines; one at a time asks it, whichever thread that is in."""

    def __init__(self, *, http: bool = False) -> None:
        """Load what command lines need; with ``http`` also what those need that speak HTTP."""
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._lock = threading.Lock()
        environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}
        with theirs:
            words = [sys.executable, "-P", __file__, str(theirs.fileno()), *(_HTTP if http else ())]
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=environment)

    def start(
        self,
        words: Sequence[str | bytes],
        *,
        env: Mapping[str, str],
        cwd: str | Path,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> Forked:
        """Start ``sightline`` with words; the rest is as for `subprocess.Popen`."""
        theirs, ours, borrowed = [], [], []
        for fd, given in enumerate((stdin, stdout, stderr)):
            end: int | None = None
            if given == subprocess.PIPE:
                read, write = os.pipe()
                given, end = (read, write) if fd == 0 else (write, read)
                borrowed.append(given)
            elif given == subprocess.DEVNULL:
                given = os.open(os.devnull, os.O_RDWR)
                borrowed.append(given)
            theirs.append(fd if given is None else given)
            ours.append(end)
        ending, told = os.pipe()
        request = pickle.dumps((list(map(os.fsdecode, words)), dict(env), os.fspath(cwd)))
        with self._lock:
            socket.send_fds(self._socket, [len(request).to_bytes(_NUMBER_BYTES, "big")], [*theirs, told])
            self._socket.sendall(request)
            pid = int.from_bytes(_exactly(self._socket, _NUMBER_BYTES), "big")
        for fd in (*borrowed, told):
            os.close(fd)
        return Forked(pid, ending, ours)

    def run(
        self,
        words: Sequence[str | bytes],
        *,
        env: Mapping[str, str],
        cwd: str | Path,
        input: bytes = b"",  # noqa: A002 - as subprocess.run has it
        timeout: float = 60,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run ``sightline`` with words to its end, as `subprocess.run` does, and take what it writes."""
        pipe = subprocess.PIPE
        process = self.start(words, env=env, cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe)
        try:
            out, err = process.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert process.returncode is not None
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def close(self) -> None:
        """End it; what it has started goes on."""
        self._socket.close()
        self._process.wait()


def _exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes; fewer where the other end has gone."""
    data = b""
    while len(data) < count and (more := connection.recv(count - len(data))):
        data += more
    return data


def _load(*more: str) -> None:
    """Import all that command lines need, and more modules."""
    import contextlib
    import gc
    import pkgutil

    import sightline

    for module in pkgutil.walk_packages(sightline.__path__, "sightline.", onerror=lambda _: None):
        if not module.name.startswith(_NOT_LOADED) and not module.name.endswith("__main__"):
            with contextlib.suppress(ModuleNotFoundError):  # of an extra that is not installed
                __import__(module.name)
    for name in more:
        __import__(name)
    gc.freeze()


def _serve(connection: socket.socket) -> list[str] | None:
    """Fork whenever one is asked for; the words of a fork where that is what returns, None at the end."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    told_at: dict[int, int] = {}
    while True:
        ready = select.select([connection, woken], [], [])[0]
        if woken in ready:
            os.read(woken, 1 << 10)
            for pid, status in iter(_ended, None):
                os.write(told_at[pid], status.to_bytes(_NUMBER_BYTES, "big"))
                os.close(told_at.pop(pid))
        if connection in ready:
            size, fds, _, _ = socket.recv_fds(connection, _NUMBER_BYTES, 4)
            if not size:
                return None
            words, environment, folder = pickle.loads(_exactly(connection, int.from_bytes(size, "big")))
            pid = os.fork()
            if not pid:
                connection.detach()
                _become(environment, folder, fds)
                return list(words)
            told_at[pid] = fds.pop()
            for fd in fds:
                os.close(fd)
            connection.sendall(pid.to_bytes(_NUMBER_BYTES, "big"))


def _ended() -> tuple[int, int] | None:
    """A fork that has ended and its status; None where there is none."""
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, status) if pid else None


def _become(environment: dict[str, str], folder: str, fds: list[int]) -> None:
    """Give this process what is its own."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for fd, given in enumerate(fds[:3]):
        os.dup2(given, fd)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)


if __name__ == "__main__":
    _load(*sys.argv[2:])
    asked = _serve(socket.socket(fileno=int(sys.argv[1])))
    if asked is not None:
        from sightline.doors.cli.main import main

        sys.argv = ["sightline", *asked]
        main()
