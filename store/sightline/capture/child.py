"""Starts a command with its two streams on pipes, and tells when it ends."""

import errno
import fcntl
import os

from sightline.base.errors import CommandNotStarted
from sightline.disk.live import group_lives
from sightline.light.named_tuple import NamedTuple
from sightline.light.plain_signal import signal

PIPE_BYTES = 1 << 20  # the default of 64 KiB would wake the reader sixteen times as often
SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/bin/sh")
_COPY_FROM = 10  # above all descriptors that a child is given
INHERITED = 99
"""The number of a further inherited descriptor: beyond those that scripts and shells choose."""

RESTORED_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores these signals; a child must not."""


class Child(NamedTuple):
    """A started command.

    Attributes:
        pid: its process, which leads a group unless it shares ours.
        out: descriptor to read its out stream from, non-blocking; err is the same for its err stream.
        ended: descriptor that becomes readable when it has ended; its status then comes from `os.waitpid`,
            unless ``waited`` has it.
        waited: on platforms without pidfd a thread waits, and puts the status here as the only element.
        own_group: whether it leads a process group of its own.
    """

    pid: int
    out: int
    err: int
    ended: int
    waited: list[int] | None
    own_group: bool

    def kill(self, number: int) -> None:
        """Send a signal to its group, or to it alone if it shares our group; a process that is gone is no error."""
        try:
            if self.own_group:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)
        except ProcessLookupError:
            pass
        except PermissionError:
            pass  # macOS says so of a group of zombies

    @property
    def group_lives(self) -> bool:
        """Return whether anything of its own group is left, after it was waited for itself."""
        return self.own_group and group_lives(self.pid)

    def close_streams(self) -> None:
        """Stop reading what it, or what it left behind, writes."""
        os.close(self.out)
        os.close(self.err)

    def leave_streams(self) -> None:
        """Have other processes read on for what it left behind, which would die of a closed pipe, and drop what comes.

        Each ends when nobody can write any more.
        """
        quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
        for fd in (self.out, self.err):
            os.set_blocking(fd, True)
            copy = fcntl.fcntl(fd, fcntl.F_DUPFD, _COPY_FROM)  # spawning closes it in nobody but us
            try:
                actions = [*quiet, (os.POSIX_SPAWN_DUP2, copy, 3), (os.POSIX_SPAWN_CLOSE, copy)]
                words = [SHELLS[-1], "-c", "cat <&3 3<&- &"]  # the shell ends at once, so that nobody waits for `cat`
                os.waitpid(os.posix_spawn(words[0], words, os.environ, file_actions=actions, setsid=True), 0)
            except (OSError, NotImplementedError):
                pass  # nothing can be started here, or no session of its own
            finally:
                os.close(copy)

    def wait(self) -> int:
        """Return the status as `os.waitpid` gives it; wait if ``ended`` is not readable yet."""
        if self.waited is not None:
            os.read(self.ended, 1)  # the thread closes its end once it has the status
        os.close(self.ended)
        return self.waited[0] if self.waited is not None else os.waitpid(self.pid, 0)[1]


def shell_argv(command: str) -> list[str]:
    """Return how to run a command line: by bash, else by sh."""
    shell = next((path for path in SHELLS if os.access(path, os.X_OK)), "sh")
    return [shell, "-c", command]


def start(
    argv: list[str],
    *,
    cwd: str | None = None,
    stdin: int | None = None,
    own_group: bool = True,
    inherited: int | None = None,
) -> Child:
    """Start a program.

    Args:
        argv: the program and its arguments; the program is searched on PATH.
        cwd: working directory; ours by default.
        stdin: descriptor for its standard input; nothing (``/dev/null``) by default.
        inherited: a descriptor above INHERITED that it inherits, too.
        own_group: whether it gets a session, and so a process group, of its own, and no terminal.

    Raises:
        CommandNotStarted: there is no such program, or it cannot be executed.
    """
    ours: list[int] = []
    theirs: list[int] = []
    try:
        if stdin is None:
            stdin = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            theirs.append(stdin)
        out_write, err_write = _pipe(ours, theirs), _pipe(ours, theirs)
        pid = _spawn(argv, (stdin, out_write, err_write), own_group, cwd, inherited)
        out_read, err_read = ours
        ended, waited = _watch(pid)
        ours.clear()
        return Child(pid, out_read, err_read, ended, waited, own_group)
    except (OSError, ValueError) as error:
        raise not_started(argv[0], cwd, error) from error
    finally:
        for fd in (*ours, *theirs):
            os.close(fd)


def _pipe(ours: list[int], theirs: list[int]) -> int:
    """Make a pipe, whose ends are closed if the start fails; return the end to write to."""
    read, write = os.pipe()
    ours.append(read)
    theirs.append(write)
    os.set_blocking(read, False)
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(read, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            pass  # the user's share of pipe memory may be used up; the default size works, too
    return write


def _spawn(
    argv: list[str], descriptors: tuple[int, int, int], own_group: bool, cwd: str | None, inherited: int | None
) -> int:
    if cwd is not None:
        return _spawn_in(argv, descriptors, own_group, cwd, inherited)
    actions = [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate(descriptors)]
    if 0 in descriptors and descriptors[0] != 0:
        # Our own 0 was closed, and subprocess can deal with that.
        return _spawn_in(argv, descriptors, own_group, None, inherited)
    if inherited is not None:
        most = os.sysconf("SC_OPEN_MAX")
        actions.append((os.POSIX_SPAWN_DUP2, inherited, min(INHERITED, most - 1) if most > 0 else INHERITED))
    environment = getattr(os.environ, "_data", os.environ)  # as bytes; else each variable is decoded and encoded
    try:
        return os.posix_spawnp(
            argv[0], argv, environment, file_actions=actions, setsid=own_group, setsigdef=RESTORED_SIGNALS
        )
    except NotImplementedError:
        return _spawn_in(argv, descriptors, own_group, None, inherited)


def _spawn_in(
    argv: list[str], descriptors: tuple[int, int, int], own_group: bool, cwd: str | None, inherited: int | None
) -> int:
    import subprocess  # 4 ms, which only another working directory needs

    stdin, out, err = descriptors
    process = subprocess.Popen(
        argv,
        stdin=stdin,
        stdout=out,
        stderr=err,
        cwd=cwd,
        start_new_session=own_group,
        pass_fds=() if inherited is None else (inherited,),
    )
    process.returncode = 0  # we wait for it ourselves
    return process.pid


def not_started(program: str, cwd: str | None, error: OSError | ValueError) -> CommandNotStarted:
    """Return the error for a program that could not be started in a folder."""
    if not program:
        return CommandNotStarted("the command's name is empty", "give a program, such as: sightline run -- ls -l")
    if isinstance(error, ValueError):
        return CommandNotStarted(
            f"the command cannot be started: {error}", "leave that character out: no argument can hold it", 126
        )
    if cwd is not None and error.filename == cwd:
        return CommandNotStarted(
            f"{cwd}: {(error.strerror or str(error)).lower()}",
            ("cwd is the folder that the command runs in; name one that exists"),
            126,
        )
    if error.errno == errno.ENOENT or (error.errno == errno.EACCES and not _is_anywhere(program)):
        return CommandNotStarted(
            f"{program}: command not found", "check its name and PATH; what only a shell knows needs -c"
        )
    if error.errno in (errno.EACCES, errno.ENOEXEC, errno.EISDIR):
        return CommandNotStarted(
            f"{program}: cannot be executed ({error.strerror})",
            "check that it is a program and that its x bit is set",
            126,
        )
    if error.errno == errno.E2BIG:
        return CommandNotStarted(
            f"{program}: the command is longer than the system takes (128 KiB in one argument on Linux)",
            "write it into a file and run that: bash FILE",
            126,
        )
    return CommandNotStarted(f"{program}: not started ({error.strerror})", "", 126)


def _is_anywhere(program: str) -> bool:
    """Return whether there is such a file; a folder without permission counts as empty, as for a shell."""
    return "/" in program or any(os.path.exists(os.path.join(folder, program)) for folder in os.get_exec_path())


def _watch(pid: int) -> tuple[int, list[int] | None]:
    if hasattr(os, "pidfd_open"):
        try:
            return os.pidfd_open(pid), None
        except OSError:
            pass  # Linux before 5.3, or a sandbox forbids it: a thread waits
    import threading  # 3 ms, which Linux does not need

    waited: list[int] = []
    try:
        read, write = os.pipe()
    except OSError:  # without descriptors, nobody would learn of its end
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise

    def wait() -> None:
        waited.append(os.waitpid(pid, 0)[1])
        os.close(write)

    threading.Thread(target=wait, name="sightline-wait", daemon=True).start()
    return read, waited
