"""Stands between a command and the filters at its end, keeps what passes, and passes it on.

The left side's output and the first filter's input are redirected to two pipes of ours, and a thread moves the bytes.
To the processes this looks like the one pipe that they would have had: it holds as much, and closes as that would.
Therefore it has its own loop: a `PipeReader` would take more from a pipe than the next one has room for.
"""

import array
import errno
import fcntl
import os
import select
import termios
import threading

from sightline.base.errors import OutOfProcesses, StoreFailed
from sightline.base.private_files import remove_file
from sightline.base.records import Buffer
from sightline.base.threads import start_thread
from sightline.capture.filters import FilterSplit
from sightline.capture.recorder import CUT_BY_FILTER, Recorder, Unkept
from sightline.disk.recording import Recording
from sightline.light.named_tuple import NamedTuple
from sightline.store import Store

_HALF_BYTES = 1 << 15
"""Size of each of our pipes. Together they hold as much as the pipe that they replace, so that a program that writes
more than that into an ended filter learns of it as it would have."""

_PAGE_BYTES = 4096
_COMPARED_BYTES = 1 << 20


class Unfiltered(NamedTuple):
    """The input of a command's trailing filters.

    Attributes:
        buffer: its record; None if it could not be kept.
        error: why it could not be kept.
    """

    buffer: Buffer | None
    error: StoreFailed | None


def can_keep_unfiltered(argv: list[str], split: FilterSplit) -> bool:
    """Return whether this can be done here, and the shell finds no error in the command.

    Args:
        argv: the shell, ``-c`` and the command.
        split: where the filters begin.
    """
    if not hasattr(fcntl, "F_SETPIPE_SZ") or not os.path.isdir("/proc/self/fd"):
        return False
    if split.sure:
        return True
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in range(3)]
        pid = os.posix_spawnp(argv[0], [argv[0], "-n", *argv[1:]], os.environ, file_actions=actions)
        return os.waitpid(pid, 0)[1] == 0
    finally:
        os.close(null)


class FilterPipe:
    """The two pipes of one command, and the buffer for what passes."""

    def __init__(self, store: Store, main: Buffer, split: FilterSplit) -> None:
        """Make the pipes. Nothing is kept before the first byte, because an empty input makes no buffer.

        Args:
            store: the store that keeps it.
            main: the buffer of the whole command.
            split: where the filters begin.

        Raises:
            OSError: the pipes cannot be made.
            OutOfProcesses: no thread can be started for them.
        """
        self._store = store
        self._main = main
        self._split = split
        self._fifos = [_fifo(store.layout.stream(main.name, name)) for name in ("left.tmp", "filter.tmp")]
        self._paths = [f"/proc/{os.getpid()}/fd/{fd}" for fd in self._fifos]
        self._stop = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._passing = False
        self._cut = False
        self._recorder = Recorder(store)
        self._has_begun = False
        self._buffer = memoryview(bytearray(_HALF_BYTES))
        self._may_begin = threading.Event()
        self._thread = threading.Thread(target=self._work, name="sightline-filter-pipe", daemon=True)
        try:
            start_thread(self._thread)  # it has to start before the command, which cannot be taken back
        except OutOfProcesses:
            for fd in (*self._fifos, self._stop):
                os.close(fd)
            raise

    def redirected(self, argv: list[str]) -> list[str]:
        """Return how to start the shell so that the left side and the first filter use the pipes."""
        *shell, command = argv
        return [*shell, self._split.redirected(command, *self._paths)]

    def start(self) -> None:
        """Begin to pass bytes on. Until then both sides wait."""
        self._may_begin.set()

    def plain(self, message: memoryview) -> memoryview:
        """Return a shell's message about a crashed pipeline without our redirections."""
        data = bytes(message)
        if b"/proc/" not in data:
            return message
        for sign, path in zip("><", self._paths, strict=True):
            data = data.replace(f" {sign} {path}".encode(), b"")
        return memoryview(data)

    def finish(self) -> None:
        """Take what is still in the pipe, and close, because the command has ended."""
        ends = []
        if not self._passing:  # a side that never opened its end is not waited for any longer
            ends = [os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC) for path in self._paths]
        os.eventfd_write(self._stop, 1)
        self._may_begin.set()
        self._thread.join()
        for fd in (*ends, *self._fifos, self._stop):
            os.close(fd)

    def seal(self, main: Buffer) -> Unfiltered | None:
        """Make a buffer of what passed; None if nothing did, or the filters let everything through.

        Args:
            main: the sealed buffer of the whole command.
        """
        if not self._has_begun:
            return None
        note = f"unfiltered side of {main.ref}" + (f"; {CUT_BY_FILTER}" if self._cut else "")

        def sealed(recording: Recording) -> Buffer:
            recording.settle()
            if not self._cut and self._is_output_of(main, recording):
                recording.discard()  # the same output does not become two buffers
                return main
            return recording.seal(exit_code=None, timed_out=main.timed_out, note=note)

        kept = self._recorder.end(sealed)
        if isinstance(kept, Unkept):
            return Unfiltered(None, kept.error)
        return None if kept is main else Unfiltered(kept, None)

    def discard(self) -> None:
        """Drop what was kept."""
        self._recorder.discard()

    def abandon(self) -> None:
        """Keep what came, marked interrupted, because the capture breaks off."""
        self._recorder.abandon()

    def _is_output_of(self, main: Buffer, recording: Recording) -> bool:
        if main.stream("out").bytes != recording.progress("out")[0]:
            return False
        paths = [self._store.layout.stream(name, "out") for name in (main.name, recording.name)]
        with open(paths[0], "rb") as one, open(paths[1], "rb") as other:
            while (data := one.read(_COMPARED_BYTES)) == other.read(_COMPARED_BYTES):
                if not data:
                    return True
        return False

    def _work(self) -> None:
        """Wait until the left side and the filter have opened their ends, then pass bytes on."""
        self._may_begin.wait()
        left = _open(self._paths[0], os.O_RDONLY)
        into = _open(self._paths[1], os.O_WRONLY)
        self._passing = True
        try:
            if not self._pass_on(left, into):
                self._cut = not _has_ended(left)
                self._take_rest(left)
        finally:
            os.close(left)
            os.close(into)

    def _pass_on(self, left: int, into: int) -> bool:
        """Pass bytes on until the left side ends, then return True; or until filter or command ends, then False."""
        more, room_again = select.poll(), select.poll()
        for poll, waiting in ((more, {left: select.POLLIN, into: 0}), (room_again, {into: select.POLLOUT})):
            for fd, events_of in {**waiting, self._stop: select.POLLIN}.items():
                poll.register(fd, events_of)
        share = 0
        held = self._buffer[:0]
        while True:
            if share < _HALF_BYTES:
                share = _share(left, into)
            # Only what fits into the second pipe is read from the first, so nothing piles up between them.
            room = 0 if held else share - _unread(into)
            events = dict((more if room >= _PAGE_BYTES else room_again).poll())
            if self._stop in events or events.get(into, 0) & select.POLLERR:
                return False
            try:
                if left in events:
                    got = os.readv(left, [self._buffer[:room]])
                    if not got:
                        return True
                    held = self._buffer[:got]
                    self._keep(held)
                if held:
                    held = held[os.write(into, held) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                return False

    def _take_rest(self, left: int) -> None:
        """Keep what is in the pipe without removing it, so that its writer does not find new room before it closes."""
        read, write = os.pipe()
        try:
            fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, fcntl.fcntl(left, fcntl.F_GETPIPE_SZ))
            length = _copy(left, write, fcntl.fcntl(left, fcntl.F_GETPIPE_SZ))
            while length > 0:
                data = os.read(read, length)
                self._keep(memoryview(data))
                length -= len(data)
        finally:
            os.close(read)
            os.close(write)

    def _keep(self, data: memoryview) -> None:
        if not self._has_begun:
            self._has_begun = True
            main = self._main
            self._recorder.begin(
                lambda: self._store.begin("cmd", self._split.left, main.cwd, main.session, origin=main.name)
            )
            self._recorder.register()
        self._recorder.take("out", data, shown=False)


def _fifo(path: str) -> int:
    """Make a pipe that others can open by its descriptor's path; it has no name that could be left behind."""
    os.mkfifo(path, 0o600)
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC)
    finally:
        remove_file(path)


def _open(path: str, flags: int) -> int:
    """Open our end of a pipe, once the other end is open, too; it is non-blocking."""
    fd = os.open(path, flags | os.O_CLOEXEC)
    os.set_blocking(fd, False)
    return fd


def _share(left: int, into: int) -> int:
    """Give each pipe its half, and return the bytes that the second one holds then.

    If a fast program has filled the first beyond its half, the second one gets a page until there is room.
    """
    try:
        fcntl.fcntl(left, fcntl.F_SETPIPE_SZ, _HALF_BYTES)
        return fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, _HALF_BYTES)
    except OSError:
        return min(_HALF_BYTES, fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, _PAGE_BYTES))


def _unread(pipe: int) -> int:
    """Return the number of bytes in a pipe."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def _has_ended(left: int) -> bool:
    """Return whether nobody can write into a pipe any more."""
    poll = select.poll()
    poll.register(left, 0)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _copy(left: int, write: int, most: int) -> int:
    """Copy bytes from one pipe into another without removing them, as tee(2) does, and return how many."""
    import ctypes  # only a filter that ends early needs it

    libc = ctypes.CDLL(None, use_errno=True)
    copied = int(libc.tee(left, write, ctypes.c_size_t(most), ctypes.c_uint(os.SPLICE_F_NONBLOCK)))
    if copied < 0 and ctypes.get_errno() != errno.EAGAIN:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return copied
