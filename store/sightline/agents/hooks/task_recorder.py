"""Records what a command writes into its harness' own file; a process apart, one a command, which nobody waits for.

The line of `recorded_tasks` starts it within the command's shell, with that file as standard input. It ends soon after
the shell. What runs for long is listed meanwhile.
"""

import fcntl
import os
import time

from sightline.agents.hooks.capture_script import FILE
from sightline.agents.hooks.error_log import log_error
from sightline.agents.hooks.live_list import SOON_SECONDS, UNTOLD
from sightline.agents.hooks.recorded_tasks import OVERWRITTEN, RecordedTask, note_recorded, runs, task_path
from sightline.base.private_files import remove_file
from sightline.harnesses import find
from sightline.harnesses.base import Harness
from sightline.light.library import suppress
from sightline.light.typing_names import TYPE_CHECKING, Callable, NoReturn, Sequence

if TYPE_CHECKING:  # loaded only once the command runs, which then need not wait for it
    from sightline.store import Recording

SCRIPT = "SIGHTLINE_SCRIPT"
"""The variable that has all that the shell runs."""

_FILE_FD = 0
_SOON_TURN_SECONDS, _TURN_SECONDS = 0.01, 0.05
_READ_BYTES = 1 << 20
_TAIL_BYTES = 32


def main(words: Sequence[str]) -> NoReturn:
    """Record one command. Arguments: ``HARNESS SESSION SHELL``, the last the pid of its shell."""
    with suppress(OSError):
        os.setsid()  # a harness ends all processes of a command that it cancels
    path = task_path(*words[1:])
    try:
        name, session, shell = words
        harness = find(name)
        command = harness.command_of(os.environ.pop(SCRIPT, "")) if harness else ""
        if harness is None or FILE in command:  # such a command has a pipe of ours
            remove_file(path)
        elif _opens_file():
            _record(harness, session, int(shell), path, command)
    except BaseException as error:
        log_error(("task", *words), error)
        remove_file(path)
    os._exit(0)


def _opens_file() -> bool:
    """Make the file readable; False in a process that need not go on.

    Where the shell cannot open its own output for reading, as on macOS, it waits until this has done so by the path.
    """
    if fcntl.fcntl(_FILE_FD, fcntl.F_GETFL) & os.O_ACCMODE != os.O_WRONLY:
        return True
    fd = os.open(_path_of_file(), os.O_RDONLY | os.O_NOFOLLOW)
    if not os.path.samestat(os.fstat(fd), os.fstat(_FILE_FD)):
        raise FileNotFoundError(2, "another file has taken its place")
    if os.fork():
        return False
    os.dup2(fd, _FILE_FD)
    os.close(fd)
    return True


def _record(harness: Harness, session: str, shell: int, path: str, command: str) -> None:
    began = os.stat(path).st_mtime
    until = time.monotonic() + SOON_SECONDS
    while not (is_short := not runs(shell)) and time.monotonic() < until:
        time.sleep(_SOON_TURN_SECONDS)
    ended = time.time()

    from sightline.agents.hooks.hook_session import open_store, session_of  # 25 ms
    from sightline.base.project import working_directory
    from sightline.base.records import joined_notes
    from sightline.capture.filters import unseen_input

    with open_store(insist=False) as store:
        cwd = working_directory()
        if not store.settings.captures(cwd):
            remove_file(path)
            return
        recording = store.begin("cmd", command, cwd, session_of(harness.name, session, cwd).name, created=began)
        try:
            recording.time_by(lambda: max(0, os.fstat(_FILE_FD).st_mtime_ns - int(began * 1e9)))
            if not is_short:
                recording.register()
            is_whole = _copy(recording, lambda: not runs(shell), harness.added_bytes)
            if not is_short:
                ended = time.time()
            note = joined_notes("merged", unseen_input(command))
            partial = joined_notes(UNTOLD, "" if is_whole else OVERWRITTEN)
            buffer = recording.seal(exit_code=None, ended=ended, note=note, partial=partial)
        except BaseException:
            recording.discard()
            raise
        redaction = store.settings.redaction()
        told = redaction.text(command) if redaction else command
        note_recorded(path, RecordedTask(buffer.name, told, began, os.path.basename(_path_of_file())))


def _copy(recording: "Recording", has_ended: Callable[[], bool], added_bytes: Callable[[bytes], int]) -> bool:
    """Append what the file has, until the shell has ended; not what the harness adds to it then.

    Returns:
        False if something was lost: the command has emptied the file meanwhile, as ``tee /dev/stderr`` does.
    """
    copied, end, is_whole, is_last = 0, b"", True, False
    while not is_last:
        size = os.fstat(_FILE_FD).st_size  # before the look at the shell: what comes after its end may be the harness'
        if is_last := has_ended():
            size = os.fstat(_FILE_FD).st_size
            added = added_bytes(os.pread(_FILE_FD, _TAIL_BYTES, max(0, size - _TAIL_BYTES)))
            if added:
                time.sleep(SOON_SECONDS)  # it adds nothing to a file that it removes
                size -= added if os.fstat(_FILE_FD).st_nlink else 0
        if size < copied or os.pread(_FILE_FD, len(end), copied - len(end)) != end:
            copied, end, is_whole = 0, b"", False
        while copied < size and (data := os.pread(_FILE_FD, min(_READ_BYTES, size - copied), copied)):
            recording.append("out", data)
            copied += len(data)
            end = data[-_TAIL_BYTES:]
        if not is_last:
            time.sleep(_TURN_SECONDS)
    return is_whole


def _path_of_file() -> str:
    """The path of the harness' file as the system knows it; of a removed one, that which it had."""
    if hasattr(fcntl, "F_GETPATH"):
        return os.fsdecode(fcntl.fcntl(_FILE_FD, fcntl.F_GETPATH, bytes(1024)).partition(b"\0")[0])
    return os.readlink(f"/proc/self/fd/{_FILE_FD}").removesuffix(" (deleted)")
