"""A server that runs as a child of the proxy, and how it is ended.

This module imports next to nothing, so that the server starts before all the rest is loaded.
"""

import contextlib
import fcntl
import os
import signal
import threading

from sightline.base.errors import OutOfProcesses
from sightline.base.threads import start_thread
from sightline.capture.child import PIPE_BYTES, RESTORED_SIGNALS, not_started


class ServerProcess:
    """A server that runs as a child process and shares our standard error.

    Attributes:
        stdin: descriptor of the pipe to it.
        stdout: descriptor of the pipe from it.
        pid: its process id.
    """

    def __init__(self, argv: list[str]) -> None:
        """Start it. Raises CommandNotStarted."""
        theirs_in, self.stdin = os.pipe()
        self.stdout, theirs_out = os.pipe()
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            try:
                fcntl.fcntl(self.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            except OSError:
                pass  # a user's share of pipe memory may be used up: the default size works too
        actions = [(os.POSIX_SPAWN_DUP2, theirs_in, 0), (os.POSIX_SPAWN_DUP2, theirs_out, 1)]
        try:
            self.pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions, setsigdef=RESTORED_SIGNALS)
        except (OSError, ValueError) as error:
            raise not_started(argv[0], None, error) from error
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._ended = threading.Event()

    def wait(self) -> int:
        """Wait for its end; its exit code, 128 + N after signal N. For the main thread: signals are heard meanwhile.

        A signal just before a wait for a child does not end that wait. So a thread waits for the child, and
        this one waits for either, on a pipe to which signals are written.
        """
        told, tell = os.pipe()
        os.set_blocking(tell, False)  # which a handler may write to
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        statuses = list[int]()

        def reap() -> None:
            statuses.append(os.waitpid(self.pid, 0)[1])
            self._ended.set()
            with contextlib.suppress(BlockingIOError):  # then there is enough to read
                os.write(tell, b"\0")

        try:
            start_thread(threading.Thread(target=reap, daemon=True))
        except OutOfProcesses:
            reap()
        while not self._ended.is_set():
            os.read(told, 64)
        code = os.waitstatus_to_exitcode(statuses[0])
        return code if code >= 0 else 128 - code

    def signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if not self._ended.is_set():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass

    def end_within(self, seconds: float, *signals: int) -> None:
        """Send it the signals in order, each after its seconds, until it has ended; return at once."""

        def insist() -> None:
            for number in signals:
                if self._ended.wait(seconds):
                    return
                self.signal(number)

        try:
            start_thread(threading.Thread(target=insist, daemon=True))
        except OutOfProcesses:  # no thread can wait, so the last signal is sent at once
            self.signal(signals[-1])

    def end(self) -> None:
        """Kill it at once, since nobody will talk to it."""
        self.signal(signal.SIGKILL)
        self.wait()
