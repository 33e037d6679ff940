"""Starting a command with its two streams on pipes, and learning when it ends."""

import errno
import fcntl
import os
import signal

from sightline.errors import CommandNotStarted
from sightline.named_tuple import NamedTuple

PIPE_BYTES = 1 << 20  # the default of 64 KiB wakes the reader sixteen times as often
SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/bin/sh")
RESTORED_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores them; a child must not."""


class Child(NamedTuple):
    """A started command.

    Attributes:
        pid: its process; also its group unless it shares ours.
        out: descriptor to read its out stream from, not blocking; err likewise.
        ended: descriptor that becomes readable when it has ended; its status is then to be had from `os.waitpid`,
            unless ``waited`` has it.
        waited: where a thread waits on platforms without pidfd: its one element is the status.
        own_group: whether it leads a process group of its own.
    """

    pid: int
    out: int
    err: int
    ended: int
    waited: list[int] | None
    own_group: bool

    def kill(self, number: int) -> None:
        """Send a signal to the whole group, or to the command alone where it shares ours; one that has gone is fine."""
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
        """Whether anything of the command's own group is left, once the command itself has been waited for."""
        if not self.own_group:
            return False
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return not _only_zombies(self.pid)

    def close_streams(self) -> None:
        """Nothing more is read of what it writes, or what it left behind does."""
        os.close(self.out)
        os.close(self.err)

    def wait(self) -> int:
        """The status, as `os.waitpid` gives it; waits where ``ended`` is not readable yet."""
        if self.waited is not None:
            os.read(self.ended, 1)  # the thread closes its end once the status is there
        os.close(self.ended)
        return self.waited[0] if self.waited is not None else os.waitpid(self.pid, 0)[1]


def shell_argv(command: str) -> list[str]:
    """How a command line is run: by bash, else by sh."""
    shell = next((path for path in SHELLS if os.access(path, os.X_OK)), "sh")
    return [shell, "-c", command]


def start(argv: list[str], *, cwd: str | None = None, stdin: int | None = None, own_group: bool = True) -> Child:
    """Start a program.

    Args:
        argv: program and arguments; the program is looked for on PATH.
        cwd: working directory, ours by default.
        stdin: descriptor for its standard input; nothing (``/dev/null``) by default.
        own_group: whether it gets a session, and so a process group, of its own and no terminal.

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
        pid = _spawn(argv, (stdin, out_write, err_write), own_group, cwd)
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
    """Add a pipe's ends to those to close where the start fails; its end to write to."""
    read, write = os.pipe()
    ours.append(read)
    theirs.append(write)
    os.set_blocking(read, False)
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(read, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            pass  # a user's share of pipe memory may be used up: the default size works too
    return write


def _spawn(argv: list[str], descriptors: tuple[int, int, int], own_group: bool, cwd: str | None) -> int:
    if cwd is not None:
        return _spawn_in(argv, descriptors, own_group, cwd)
    actions = [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate(descriptors)]
    if 0 in descriptors and descriptors[0] != 0:
        return _spawn_in(argv, descriptors, own_group, None)  # our own 0 was closed: leave the shuffling to subprocess
    try:
        return os.posix_spawnp(
            argv[0], argv, os.environ, file_actions=actions, setsid=own_group, setsigdef=RESTORED_SIGNALS
        )
    except NotImplementedError:
        return _spawn_in(argv, descriptors, own_group, None)


def _spawn_in(argv: list[str], descriptors: tuple[int, int, int], own_group: bool, cwd: str | None) -> int:
    import subprocess  # 4 ms that only another working directory costs

    stdin, out, err = descriptors
    process = subprocess.Popen(argv, stdin=stdin, stdout=out, stderr=err, cwd=cwd, start_new_session=own_group)
    process.returncode = 0  # waiting is ours
    return process.pid


def not_started(program: str, cwd: str | None, error: OSError | ValueError) -> CommandNotStarted:
    """What a person reads when a program could not be started in a folder."""
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
    return CommandNotStarted(f"{program}: not started ({error.strerror})", "", 126)


def _is_anywhere(program: str) -> bool:
    """Whether there is such a file. What may not be looked into has none, as for a shell; the system says otherwise."""
    return "/" in program or any(os.path.exists(os.path.join(folder, program)) for folder in os.get_exec_path())


def _watch(pid: int) -> tuple[int, list[int] | None]:
    if hasattr(os, "pidfd_open"):
        try:
            return os.pidfd_open(pid), None
        except OSError:
            pass  # before Linux 5.3, or forbidden by a sandbox: wait on a thread
    import threading  # 3 ms that Linux does without

    waited: list[int] = []
    try:
        read, write = os.pipe()
    except OSError:  # out of descriptors: nobody would ever learn of its end
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise

    def wait() -> None:
        waited.append(os.waitpid(pid, 0)[1])
        os.close(write)

    threading.Thread(target=wait, name="sightline-wait", daemon=True).start()
    return read, waited


def _only_zombies(group: int) -> bool:
    """Whether all that is left of a group has ended and waits for its parent to ask; False where that is not told."""
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return False
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                state, _, pgrp = file.read().rpartition(b")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(pgrp) == group and state not in (b"Z", b"X"):
            return False
    return bool(pids)
