"""The proxy on pipes: lines are copied both ways, the server ends with its client, and the other way round."""

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator

from sightline.base.errors import OutOfProcesses
from sightline.base.private_files import write_all
from sightline.base.threads import available_processors, start_thread
from sightline.doors.proxy.relay import Proxy
from sightline.doors.proxy.server import ServerProcess
from sightline.doors.tools.line_io import LineWriter, PassingLines

CLIENT_GONE_SECONDS = 2.0
"""How long a server may run on after its client has gone before it gets SIGTERM, and how long after that SIGKILL."""

TERM_GRACE_SECONDS = 1.5
"""How long it may run on after a signal has asked us to end; clients kill us after 2 s."""

ANSWER_SECONDS = 60.0
"""How long we stay to finish an answer of our own after the server has ended."""

_LOOK_SECONDS = 0.05
_SPIN_SECONDS = 0.0001 if available_processors() > 1 else 0.0
"""How long to look for the next line before going to sleep. Falling asleep and being woken takes half as long, and
whatever runs next on a processor that slept runs slowly."""

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def serve(server: ServerProcess, proxy: Proxy | None, client: LineWriter) -> int:
    """Copy lines both ways until the server has ended; its exit code. For the main thread.

    Args:
        server: the server, running.
        proxy: decides about each line; None to pass them on as they come.
        client: standard output; the client's lines come from standard input.

    Raises:
        OutOfProcesses: there are no threads for it; the server has been ended.
    """
    for fd in (0, 1):
        os.set_blocking(fd, True)  # whoever used them before may have changed their mode
    for number in _PASSED_ON:
        signal.signal(number, lambda received, _: _pass_on(server, received))
    others = _FromClient(server, proxy)
    if proxy:
        proxy.before_wait = others.leave
    copying = _FromServer(server, proxy, client, others)
    try:
        start_thread(others)
        start_thread(copying)
    except OutOfProcesses:
        server.end()
        raise
    if proxy:
        proxy.prepare()
    code = server.wait()
    for number in _PASSED_ON:
        signal.signal(number, signal.SIG_DFL)
    copying.finish()
    if proxy:
        proxy.finish(ANSWER_SECONDS)
    return code


def _pass_on(server: ServerProcess, number: int) -> None:
    if number == signal.SIGINT and os.isatty(0):
        return  # the terminal has sent the signal to the server, too
    server.signal(number)
    if number == signal.SIGTERM:
        server.end_within(TERM_GRACE_SECONDS, signal.SIGKILL)


class _FromClient(threading.Thread):
    """Copies the client's lines to the server.

    Two threads that wake each other take longer than one that copies both ways. So the thread that copies the server's
    lines copies these, too, as long as nothing can block it: each is a short line that came whole, for a pipe
    with room. Before it does anything else it leaves them to this thread, and takes them back afterwards.

    Attributes:
        is_taken: whether the other thread has them.
        given: descriptor that becomes readable when it gets them back.
    """

    def __init__(self, server: ServerProcess, proxy: Proxy | None) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._proxy = proxy
        self._lines = PassingLines(0, lambda: proxy is not None)
        self._room = select.poll()
        self._room.register(server.stdin, select.POLLOUT)
        self._late = b""
        self._turn = threading.Semaphore(0)
        self.given, self._give_to = os.pipe()
        self._lock = threading.Lock()  # of the three that follow
        self.is_taken = True
        self._is_wanted = False
        self._may_give = proxy is not None and not os.isatty(0) and not os.isatty(1)
        if not self._may_give:
            self.leave()

    def want(self) -> None:
        """Have this thread give the lines back once there are none for now."""
        with self._lock:
            self._is_wanted = self._may_give and not self.is_taken

    def leave(self, late: bytes = b"", *, for_good: bool = False) -> None:
        """Leave the lines to this thread, if it has not got them, until they are wanted.

        Args:
            late: a line that has been read and not yet written.
            for_good: whether it will never take them back.
        """
        with self._lock:
            was_taken = self.is_taken
            self.is_taken = self._is_wanted = False
            self._may_give = self._may_give and not for_good
        if was_taken:
            self._late = late
            self._turn.release()

    def _gives(self) -> bool:
        with self._lock:
            if not self._is_wanted:
                return False
            self.is_taken, self._is_wanted = True, False
        os.write(self._give_to, b"\0")
        return True

    def copy_short(self) -> None:
        """Copy what has come, or leave it; for the thread that has taken the lines."""
        line = None
        with contextlib.suppress(OSError):  # the next read meets the same error
            line = self._lines.short()
        if line is None or self._proxy is None:
            self.leave()
        elif changed := self._proxy.from_client(line):
            try:
                if self._room.poll(0):
                    os.write(self._server.stdin, changed)
                else:
                    self.leave(changed)
            except OSError:
                self.leave(changed)  # the next write meets the same error

    def run(self) -> None:
        try:
            while self._has_turn():
                pass
        except OSError:  # the server reads no more: the client is told as it would be without us
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.close(self._server.stdin)  # there is nothing more to come
        _watch_reader()
        self._server.end_within(CLIENT_GONE_SECONDS, signal.SIGTERM, signal.SIGKILL)

    def _has_turn(self) -> bool:
        """Copy lines until they are given back; False where there will be none."""
        self._turn.acquire()
        write_all(self._server.stdin, self._late)
        while (line := self._lines.next()) is not None:
            if isinstance(line, bytes):
                line = iter((self._proxy.from_client(line) if self._proxy else line,))
            for piece in line:
                write_all(self._server.stdin, piece)
            if not self._lines.has_more and self._gives():
                return True
        return False


def _soon(poll: "select.poll") -> list[tuple[int, int]]:
    """The events of a poll: spins for a moment, then sleeps until there is one."""
    ready = poll.poll(0)
    until = time.monotonic() + _SPIN_SECONDS
    while not ready and time.monotonic() < until:
        ready = poll.poll(0)
    return ready or poll.poll()


def _watch_reader() -> None:
    """Return when nobody reads our standard output any more."""
    if sys.platform == "darwin":  # there a poll that asks for no event reports none
        with contextlib.closing(select.kqueue()) as queue:
            told = [select.kevent(1, select.KQ_FILTER_WRITE, select.KQ_EV_ADD | select.KQ_EV_CLEAR)]
            while not any(event.flags & select.KQ_EV_EOF for event in queue.control(told, 1)):
                told = []
        return
    watch = select.poll()
    watch.register(1, 0)
    while not watch.poll():
        pass


class _FromServer(threading.Thread):
    """Copies the server's lines to the client; between them the client's, where it may."""

    def __init__(self, server: ServerProcess, proxy: Proxy | None, client: LineWriter, others: _FromClient) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._proxy = proxy
        self._client = client
        self._others = others
        self._ended, self._end = os.pipe()
        self._lines = PassingLines(server.stdout, lambda: proxy is not None and proxy.waits, ended=self._ended)
        self._both, self._own = select.poll(), select.poll()
        for poll, other in ((self._both, 0), (self._own, others.given)):
            for fd in (server.stdout, self._ended, other):
                poll.register(fd, select.POLLIN)

    def run(self) -> None:
        try:
            while (line := self._next()) is not None:
                if not self._proxy:
                    self._client.write_pieces(iter((line,)) if isinstance(line, bytes) else line)
                elif isinstance(line, bytes):
                    self._proxy.from_server(line)
                else:
                    self._proxy.pass_on(line)
        except OSError:  # the client has gone: the server notices as it would without us
            os.close(self._server.stdout)
            self._server.end_within(CLIENT_GONE_SECONDS, signal.SIGTERM, signal.SIGKILL)
        finally:
            self._others.leave(for_good=True)

    def _next(self) -> bytes | Iterator[bytes] | None:
        """The next line of the server, as `PassingLines.next` has it."""
        line: bytes | None = None
        while not self._lines.has_held:
            if self._others.is_taken:
                ready = dict(_soon(self._both))
                if self._server.stdout in ready:
                    line = self._lines.short()
                    break
                if self._ended in ready:
                    break
                self._others.copy_short()
                continue
            self._others.want()
            ready = dict(self._own.poll())
            if self._others.given in ready:
                os.read(self._others.given, 1)
            if self._server.stdout in ready or self._ended in ready:
                break
        if line is None:
            self._others.leave()
            return self._lines.next()
        if not (self._proxy and self._proxy.passes(line)):
            self._others.leave()
        return line

    def finish(self) -> None:
        """Wait for what the server wrote before it ended, not for processes that it left behind with its output open.

        If the client has gone, this waits for `CLIENT_GONE_SECONDS` at most, since the log may be locked.
        """
        os.write(self._end, b"\0")
        gone = 0
        while self.is_alive() and gone * _LOOK_SECONDS < CLIENT_GONE_SECONDS:
            self.join(_LOOK_SECONDS)
            gone += self._client.is_cut_off
