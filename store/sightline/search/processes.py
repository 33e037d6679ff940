"""Starts the programs of one pipeline as one process group, under limits, and ends all of them together."""

import _thread
import fcntl
import os
import resource  # loaded here, because the confined thread could not load it any more
import select
import sys
import time

from sightline.base.errors import OutOfProcesses
from sightline.base.threads import started_thread
from sightline.light.library import contextmanager
from sightline.light.named_tuple import NamedTuple
from sightline.light.plain_signal import signal
from sightline.light.typing_names import Callable, Iterator, Mapping, Sequence
from sightline.search.errors import Cancelled, ProgramMissing
from sightline.search.executables import Executable
from sightline.search.handed_files import HandedFiles
from sightline.search.sandbox import Backing, confined

READ_BYTES = 1 << 16  # the size of a pipe
DEFAULT_SECONDS = 30.0
DEFAULT_MEMORY_BYTES = 1 << 30

# The watcher leads the group, and reads a pipe that only this process can write to. When this process dies,
# by whatever signal, the read ends, and the watcher ends the group.
_WATCHER = "read _; kill -9 0"
_LIMITED = 'unset PWD; ulimit -t {seconds}; ulimit -v {kib} 2>/dev/null; ulimit -f 0; ulimit -c 0; exec "$@"'
_SHELL = "/bin/sh"
_ABOVE_FEEDS = 10  # our descriptors must not have numbers that a child's will get
_DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8" if sys.platform.startswith("linux") else "en_US.UTF-8",  # one order everywhere
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",  # jq and ripgrep read settings there
}


class Cancel:
    """Cancels a query or a search from another thread, even before it has begun."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._group = 0
        self.cancelled = False

    def cancel(self) -> None:
        """End what runs under this now; what starts under it later ends at once."""
        with self._lock:
            self.cancelled = True
            if self._group:
                _kill(self._group)

    def check(self) -> None:
        """Raise Cancelled if it was used."""
        if self.cancelled:
            raise Cancelled("it was cancelled")

    def attach(self, group: int) -> None:
        """Let ``cancel`` end this process group; 0 for none."""
        with self._lock:
            self._group = group
            if group and self.cancelled:
                _kill(group)


class GroupEnd(NamedTuple):
    """How a group ended.

    Attributes:
        exit_code: exit code of the last program, 128+N for signal N.
        timed_out: whether the time limit ended it.
        fed: whether all programs that fed it succeeded; if not, it has not read everything.
    """

    exit_code: int
    timed_out: bool
    fed: bool = True


class Group:
    """The running programs of one pipeline. It is a context: leaving it ends and reaps every one of them."""

    def __init__(
        self,
        programs: Sequence[Executable],
        *,
        seconds: float,
        memory_bytes: int,
        backing: Backing,
        reads: Sequence[str] = (),
        stdin: int | None = None,
        cancel: Cancel | None = None,
        feeds: Sequence[Executable] = (),
    ) -> None:
        """Start the programs.

        Args:
            programs: the programs in order, each reading the one before.
            seconds: time limit of the whole, and of each program's CPU time.
            memory_bytes: limit of each program's address space, without the files that it maps.
            backing: the kernel's means that confine them.
            reads: files that they may read; those that are words of a program are opened here, through no link.
            stdin: input of the first one, /dev/null for None; it stays the caller's.
            cancel: cancels it from another thread.
            feeds: programs whose output the first one reads as ``/dev/fd/3``, ``/dev/fd/4`` …

        Raises:
            ProgramMissing: one could not be started; none is left running.
            SandboxFailed: the kernel did not confine them.
            UnsafeStore: a file, or its folder, is a symbolic link.
        """
        self._deadline = time.monotonic() + seconds
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        # Limits set from here take effect just after the start, too late if nothing else keeps a program from writing.
        self._limits_itself = not backing.landlock or not hasattr(resource, "prlimit")
        self._cancel = cancel or Cancel()
        self._pids: list[int] = []
        self._feeds: list[int] = []
        self._fds: set[int] = set()
        self._watcher = 0
        self._handed: HandedFiles | None = None
        try:
            self._handed = handed = HandedFiles([*feeds, *programs], reads)
            feeds, programs = handed.programs[: len(feeds)], handed.programs[len(feeds) :]
            self._start_watcher()
            first = self._keep(os.open(os.devnull, os.O_RDONLY)) if stdin is None else stdin
            executes = [program.path for program in (*feeds, *programs)]
            if self._limits_itself:
                executes.append(_SHELL)
            libraries = [folder for program in (*feeds, *programs) for folder in program.libraries]
            reads = [path for path in reads if path not in handed.paths]
            confined(
                lambda: self._start(programs, first, feeds), (*reads, *libraries), executes, backing, files=handed.fds
            )
            self._cancel.attach(self._watcher)
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> "Group":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def collect(self, out: Callable[[bytes], None], err: Callable[[bytes], None]) -> GroupEnd:
        """Pass on what the last program writes, and what all write to stderr, until all have ended."""
        assert self._handed
        named = [self._handed.with_paths(take) for take in (out, err)]
        out, err = (one.feed if one else take for one, take in zip(named, (out, err), strict=True))
        timed_out = not self._pump({self._out: out, self._err: err})
        if timed_out:
            _kill(self._watcher)
            # What is in the pipes already is still passed on.
            self._pump({self._out: out, self._err: err}, drain=True)
        for one in named:
            if one:
                one.finish()
        fed = [_reap(pid) for pid in self._feeds]
        codes = [_reap(pid) for pid in self._pids]
        self._pids, self._feeds = [], []
        return GroupEnd(codes[-1], timed_out, not any(fed))

    def _pump(self, readers: Mapping[int, Callable[[bytes], None]], *, drain: bool = False) -> bool:
        """Read until everything is read, and return True; or until the time is over, and return False."""
        poll = select.poll()
        open_fds = readers.keys() & self._fds
        for fd in open_fds:
            poll.register(fd, select.POLLIN)
        while open_fds:
            left = self._deadline - time.monotonic()
            if left <= 0 and not drain:
                return False
            for fd, _ in poll.poll(None if drain else left * 1000 + 1):
                data = os.read(fd, READ_BYTES)
                if data:
                    readers[fd](data)
                else:
                    poll.unregister(fd)
                    open_fds.discard(fd)
                    self._close(fd)
        return True

    def _start_watcher(self) -> None:
        read, _ = self._pipe()
        null = self._keep(os.open(os.devnull, os.O_RDWR))
        try:
            self._watcher = _spawn(Executable(_SHELL, ("sh", "-c", _WATCHER)), 0, [(read, 0), (null, 1), (null, 2)])
        except OSError as error:
            raise ProgramMissing(f"{_SHELL} could not be started: {error.strerror}") from error
        self._close(read, null)

    def _start(self, programs: Sequence[Executable], stdin: int, feeds: Sequence[Executable]) -> None:
        self._err, err_write = self._pipe()
        fed = [self._start_feed(feed, err_write) for feed in feeds]
        for number, program in enumerate(programs):
            read, write = self._pipe()
            self._pids.append(self._start_program(program, (stdin, write, err_write, *fed)))
            self._close(write, *fed)
            if number:
                self._close(stdin)
            stdin, fed = read, []
        self._out = stdin
        self._close(err_write)

    def _start_feed(self, feed: Executable, err: int) -> int:
        """Start a program that feeds the first one, and return the reading end of its pipe."""
        read, write = self._pipe(_ABOVE_FEEDS)
        null = self._keep(os.open(os.devnull, os.O_RDONLY))
        self._feeds.append(self._start_program(feed, (null, write, err)))
        self._close(write, null)
        return read

    def _start_program(self, program: Executable, fds: tuple[int, ...]) -> int:
        assert self._handed
        inherited = [*((fd, target) for target, fd in enumerate(fds)), *self._handed.inherited(program)]
        memory_bytes = self._memory_bytes + program.maps_bytes
        try:
            if self._limits_itself:
                program = _limited(program, self._seconds, memory_bytes)
            pid = _spawn(program, self._watcher, inherited)
        except OSError as error:
            raise ProgramMissing(f"{program.argv[0]} could not be started: {error.strerror}") from error
        _limit(pid, self._seconds, memory_bytes)
        return pid

    def _pipe(self, least: int = 3) -> tuple[int, int]:
        read, write = os.pipe()
        return self._keep(read, least), self._keep(write)

    def _keep(self, fd: int, least: int = 3) -> int:
        """Keep the descriptor to close it later, moved away from the numbers that a child's will get."""
        if fd < least:
            moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, least)
            os.close(fd)
            fd = moved
        self._fds.add(fd)
        return fd

    def _close(self, *fds: int) -> None:
        for fd in fds:
            if fd in self._fds:
                self._fds.discard(fd)
                os.close(fd)

    def _end(self) -> None:
        self._cancel.attach(0)  # before another group can get the number
        if self._watcher:
            _kill(self._watcher)
            for pid in (*self._pids, *self._feeds, self._watcher):
                _reap(pid)
            self._watcher = 0
        self._close(*list(self._fds))
        if self._handed:
            self._handed.close()


@contextmanager
def fed(data: bytes) -> Iterator[int]:
    """Yield a descriptor from which some bytes can be read."""
    read, write = os.pipe()

    def feed() -> None:
        try:
            with open(write, "wb", closefd=True) as pipe:
                pipe.write(data)
        except BrokenPipeError:
            pass  # the reader has seen enough

    try:
        wait = started_thread(feed)
    except OutOfProcesses:
        os.close(write)
        os.close(read)
        raise
    try:
        yield read
    finally:
        os.close(read)
        wait()


def _spawn(program: Executable, group: int, inherited: Sequence[tuple[int, int]]) -> int:
    """Start a program with some of our descriptors under other numbers, in this order."""
    actions = [(os.POSIX_SPAWN_DUP2, fd, target) for fd, target in inherited]
    return os.posix_spawn(
        program.path,
        program.argv,
        _ENVIRONMENT,
        file_actions=actions,
        setpgroup=group,
        setsigdef=_DEFAULT_SIGNALS,  # Python ignores SIGPIPE, and its children would, too
        setsigmask=(),
    )


def _limited(program: Executable, seconds: float, memory_bytes: int) -> Executable:
    """Return the program behind a shell that limits itself first."""
    script = _LIMITED.format(seconds=_cpu_seconds(seconds), kib=memory_bytes >> 10)
    return Executable(_SHELL, ("sh", "-c", script, "sh", program.path, *program.argv[1:]))


def _limit(pid: int, seconds: float, memory_bytes: int) -> None:
    if not hasattr(resource, "prlimit"):
        return
    limits = {
        resource.RLIMIT_CPU: _cpu_seconds(seconds),
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in limits.items():
        hard = resource.getrlimit(limit)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        try:
            resource.prlimit(pid, limit, (value, value))
        except ProcessLookupError:
            return  # it has ended already


def _cpu_seconds(seconds: float) -> int:
    return int(seconds) + 1


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # all of it has ended and waits to be reaped; macOS reports that by the second error


def _reap(pid: int) -> int:
    try:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return 255  # another part of this process waits for any child, so the code is lost
    return code if code >= 0 else 128 - code
