"""Runs the server's commands, each captured by the thread of its call, and by another one if it outlives that."""

import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable

from sightline.base.errors import OutOfProcesses
from sightline.capture.command import Captured, CommandCapture
from sightline.doors.tools.protocol import OpenCall, Withdrawn
from sightline.doors.tools.worker_threads import WorkerThreads
from sightline.light.library import suppress
from sightline.shape.summary import human_bytes, human_seconds

TERM_GRACE_SECONDS = 0.7
"""How long commands have to end when the server does; clients kill a server after 2 s."""


_SHELL = "/bin/sh"
_SCRIPT = """
cd /
exec 3<&0
{
    read -r _
    groups=
    while read -r group; do [ -z "$group" ] || groups="$groups $group"; done <&4
    for group in $groups; do kill -s TERM -- "-$group"; done
    [ -z "$groups" ] || sleep 1
    for group in $groups; do kill -s KILL -- "-$group"; done
} <&3 3<&- &
"""
"""A shell script that waits for the end of its input, which says that the server has gone, and ends the process groups
that are listed in a file then.

It is no child of the server, which would otherwise wait for it, and no command wakes it. Of programs it needs `sleep`
alone, without which it kills at once.
"""

_ROW = 16
"""Bytes of a process group in that file: its number, and blanks; all are blanks once it has ended."""


class Watchdog:
    """Ends the commands that run if the server is killed. Any thread may use it.

    A server that ends in order ends them itself. If the shell cannot be started, a killed server leaves them running.
    """

    def __init__(self) -> None:
        """Make it; the shell is started before the first command."""
        self._lock = threading.Lock()
        self._pipe = self._list = -1
        self._failed = False
        self._rows = 0
        self._free: list[int] = []

    def watch(self) -> None:
        """Start the shell, before a command starts."""
        with self._lock:
            if self._pipe < 0 and not self._failed:
                try:
                    self._pipe, self._list = _started()
                except OSError:
                    self._failed = True

    def add(self, group: int) -> int:
        """List the process group of a command that has started, and return its row."""
        with self._lock:
            if not self._free:
                self._free.append(self._rows)
                self._rows += 1
            row = self._free.pop()
            self._write(row, str(group))
            return row

    def remove(self, row: int) -> None:
        """The command of a row has ended."""
        with self._lock:
            self._write(row, "")
            self._free.append(row)

    def _write(self, row: int, text: str) -> None:
        if self._list >= 0:
            with suppress(OSError):  # memory is full
                os.pwrite(self._list, text.ljust(_ROW - 1).encode() + b"\n", row * _ROW)


def _started() -> tuple[int, int]:
    """Start the shell; return a pipe to it and the file that it reads at the end, which no command inherits.

    Raises:
        OSError: it cannot be started.
    """
    made = _unnamed_file()
    try:
        listed = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, 10)  # any but 4, which it has in the shell
    finally:
        os.close(made)
    try:
        return _shell(listed), listed
    except OSError:
        os.close(listed)
        raise


def _shell(listed: int) -> int:
    """Start the shell with the file that it reads at the end; return a pipe to it. Raises OSError."""
    theirs, ours = os.pipe()
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    try:
        # In a session of its own, so that a signal to the server's group does not end it.
        starter = os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", _SCRIPT],
            {"PATH": f"{os.defpath}:{os.environ.get('PATH', os.defpath)}"},
            file_actions=[(os.POSIX_SPAWN_DUP2, theirs, 0), *null, (os.POSIX_SPAWN_DUP2, listed, 4)],
            setsid=True,
        )
        os.waitpid(starter, 0)
    except (OSError, NotImplementedError) as error:
        os.close(ours)
        raise OSError("no shell looks after commands") from error
    finally:
        os.close(theirs)
    return ours


def _unnamed_file() -> int:
    if hasattr(os, "memfd_create"):
        with suppress(OSError):  # some Linux forbids it
            return os.memfd_create("sightline-commands")
    import tempfile  # which Linux hardly ever needs

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class _Command:
    """One command that runs."""

    def __init__(self, capture: CommandCapture) -> None:
        self.capture = capture
        self.began = time.monotonic()
        self.row: int | None = None  # of its process group in the watchdog's file, once it runs

    def begun(self, watchdog: Watchdog) -> Callable[[int], None]:
        def has_begun(group: int) -> None:
            self.row = watchdog.add(group)

        return has_begun

    def cancel(self) -> None:
        """End it, since nobody wants it any more; what it wrote stays."""
        self.capture.stop()

    def telling(self) -> str:
        size, lines = self.capture.written
        told = f"{lines:,} line{'' if lines == 1 else 's'}, {human_bytes(size)}"
        return f"running for {human_seconds(time.monotonic() - self.began)}: {told}"


class Commands:
    """All commands that run.

    Args:
        patience_secs: how many seconds a call waits for its command before it is answered as running.
        threads: go on with those that take longer.
    """

    def __init__(self, patience_secs: float, threads: WorkerThreads) -> None:
        self._patience_secs = patience_secs
        self._threads = threads
        self._lock = threading.Lock()
        self._running: set[_Command] = set()
        self._closed = False
        self._watchdog = Watchdog()

    def run(self, capture: CommandCapture, call: OpenCall) -> Captured | None:
        """Run a capture and wait for its end; None if it runs longer than `patience_secs`.

        A capture that keeps nothing is waited for however long it takes, since no ref would lead to it.

        Raises:
            Withdrawn: the call was withdrawn, which ends the command, or the server ends.
            CommandNotStarted: as `CommandCapture.run`.
        """
        command = _Command(capture)
        with self._lock:
            if self._closed:
                raise Withdrawn
            self._running.add(command)
        goes_on = False
        try:
            call.telling = command.telling
            call.at_cancel(command.cancel)
            self._watchdog.watch()
            capture.begin(command.begun(self._watchdog))
            captured = capture.wait(self._patience_secs)
            if captured is None and capture.name and not call.cancelled:
                with suppress(OutOfProcesses):  # without a thread for it, it is waited for
                    self._threads.start(lambda: self._go_on(command))
                    goes_on = True
                    return None
            captured = captured or capture.wait()
        finally:
            if not goes_on:
                self._over(command)
        if call.cancelled:
            raise Withdrawn
        return captured

    def _go_on(self, command: _Command) -> None:
        try:
            command.capture.wait()
        finally:
            self._over(command)

    def _over(self, command: _Command) -> None:
        if command.row is not None:
            self._watchdog.remove(command.row)
        with self._lock:
            self._running.discard(command)

    def close(self) -> None:
        """End what runs, first by asking; nothing is started any more. Returns when all of it has been captured."""
        with self._lock:
            self._closed = True
        for number in (signal.SIGTERM, signal.SIGKILL):
            for command in self._those_running():
                command.capture.stop(number)
            deadline = time.monotonic() + TERM_GRACE_SECONDS
            while self._those_running() and time.monotonic() < deadline:
                time.sleep(0.01)

    def _those_running(self) -> list[_Command]:
        with self._lock:
            return list(self._running)
