"""The proxy on pipes: lines are copied both ways, the server ends with its client, and the other way round."""

import os
import select
import signal
import threading

from sightline.store.disk.layout import write_all
from sightline.store.doors.mcp.proxy import Proxy
from sightline.store.doors.mcp.proxy_lines import PassingLines
from sightline.store.doors.mcp.proxy_server import Server
from sightline.store.doors.mcp.wire import LineWriter
from sightline.store.errors import OutOfProcesses
from sightline.store.threads import start_thread

CLIENT_GONE_SECONDS = 2.0
"""How long a server may go on after its client has gone, before it is asked to end; and then, before it is ended."""

TERM_GRACE_SECONDS = 1.5
"""How long it may go on after a signal that asks us to end: clients end us for good after 2 s."""

ANSWER_SECONDS = 60.0
"""How long we stay for an answer of our own after the server has ended."""

_LOOK_SECONDS = 0.05
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def serve(server: Server, proxy: Proxy | None, client: LineWriter) -> int:
    """Copy lines both ways until the server has ended; its exit code. For the main thread.

    Args:
        server: the server, running.
        proxy: what becomes of each line; None to pass them on as they come.
        client: standard output; the client's lines come from standard input.

    Raises:
        OutOfProcesses: there are no threads for it; the server has been ended.
    """
    for fd in (0, 1):
        os.set_blocking(fd, True)  # whoever had them before may have left them otherwise
    for number in _PASSED_ON:
        signal.signal(number, lambda received, _: _pass_on(server, received))
    copying = _FromServer(server, proxy, client)
    try:
        start_thread(threading.Thread(target=_from_client, args=(server, proxy), daemon=True))
        start_thread(copying)
    except OutOfProcesses:
        server.end()
        raise
    if proxy:
        proxy.prepare()
    code = server.wait()
    for number in _PASSED_ON:
        signal.signal(number, signal.SIG_DFL)
    copying.drain()
    if proxy:
        proxy.finish(ANSWER_SECONDS)
    return code


def _pass_on(server: Server, number: int) -> None:
    if number == signal.SIGINT and os.isatty(0):
        return  # the terminal has told the server, too
    server.signal(number)
    if number == signal.SIGTERM:
        server.end_within(TERM_GRACE_SECONDS, signal.SIGKILL)


def _from_client(server: Server, proxy: Proxy | None) -> None:
    lines = PassingLines(0, lambda: proxy is not None)
    try:
        while (line := lines.next()) is not None:
            if isinstance(line, bytes):
                line = iter((proxy.from_client(line) if proxy else line,))
            for piece in line:
                write_all(server.stdin, piece)
    except OSError:  # the server reads no more: the client is told as it would be without us
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.close(server.stdin)  # there is nothing more to come
    _watch_reader()
    server.end_within(CLIENT_GONE_SECONDS, signal.SIGTERM, signal.SIGKILL)


def _watch_reader() -> None:
    """Return when nobody reads our standard output any more."""
    watch = select.poll()
    watch.register(1, 0)
    while not watch.poll():
        pass


class _FromServer(threading.Thread):
    """Copies the server's lines to the client."""

    def __init__(self, server: Server, proxy: Proxy | None, client: LineWriter) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._proxy = proxy
        self._client = client
        self._lines = PassingLines(server.stdout, lambda: proxy is not None and proxy.waits)
        self._is_busy = False

    def run(self) -> None:
        try:
            while (line := self._lines.next()) is not None:
                self._is_busy = True
                if not self._proxy:
                    self._client.write_pieces(iter((line,)) if isinstance(line, bytes) else line)
                elif isinstance(line, bytes):
                    self._proxy.from_server(line)
                else:
                    self._proxy.pass_on(line)
                self._is_busy = False
        except OSError:  # the client has gone: the server is told as it would be without us
            os.close(self._server.stdout)
            self._server.end_within(CLIENT_GONE_SECONDS, signal.SIGTERM, signal.SIGKILL)

    def drain(self) -> None:
        """Wait for what the server wrote before it ended; not for a process it left, that holds its output open."""
        looks = 0
        while self.is_alive() and looks < 2:
            self.join(_LOOK_SECONDS)
            looks = 0 if self._is_busy or _has_more(self._server.stdout) else looks + 1


def _has_more(fd: int) -> bool:
    try:
        return bool(select.select([fd], [], [], 0)[0])
    except (OSError, ValueError):
        return False
