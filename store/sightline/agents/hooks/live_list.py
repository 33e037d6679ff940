"""Shows a list of commands while it runs: a process apart records what its pipes take, until its end is told.

A file beside those of the parts says which recording that is, and the process holds its lock. The hook after the list
writes into it what to do with the recording. Most lists end before there is any.
"""

import fcntl
import os
import time

from sightline.agents.hooks.error_log import log_error
from sightline.agents.hooks.part_files import open_part, still_runs
from sightline.agents.hooks.pending_commands import PendingCommand, live_path, pending_path, recall
from sightline.agents.hooks.process_apart import continue_apart
from sightline.base.private_files import open_private, remove_file
from sightline.light.late_imports import late_modules
from sightline.light.library import suppress
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:  # only the process apart loads the store
    from sightline.store import Recording

with late_modules(globals()):
    from sightline.log import retention  # few stores are full, few lists change

SOON_SECONDS = 0.4  # a list that ends sooner is listed when it has ended
_TURN_SECONDS = 0.05
UNTOLD_SECONDS = 10.0  # after so long with nothing that runs, nobody is expected to tell the end
PATIENCE_SECONDS = 3.0  # to wait for that process; nothing is lost if it takes longer
_READ_BYTES = 1 << 20
_NOT_TOLD, _KEEP, _DROP = b"\0", b"k", b"d"
_MOST_FDS = 1 << 10

UNTOLD = "its end was not told"
"""Why a list is partial whose end the harness did not tell."""


def show_list(key: str, shell: int = 0) -> None:
    """Have a process apart show the list that this process has a part of, unless one does already.

    Args:
        key: the key of the list's files.
        shell: pid of the shell that runs the list; 0 if it is not known.
    """
    try:
        os.close(open_private(live_path(key), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except OSError:  # an earlier part has made it, or nothing can be written
        return
    if not continue_apart():
        return
    try:
        os.closerange(3, _MOST_FDS)  # what the shell and the harness have open must not stay so
        began_ns = list_began_ns(key, shell)
        time.sleep(SOON_SECONDS)
        if os.path.exists(live_path(key)):  # most lists have ended by now, and the rest takes 10 ms to load
            _show(key, began_ns)
    except BaseException as error:
        log_error(("show", key), error)
    finally:
        os._exit(0)


def list_began_ns(key: str, shell: int) -> int:
    """When the list began, by the clock of files: with its shell, if that was started for it, else now."""
    now = time.time_ns()
    with suppress(OSError, IndexError, ValueError, AttributeError):  # not every system tells
        with open(f"/proc/{shell}/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        age = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - ticks * 10**9 // os.sysconf("SC_CLK_TCK")
        if os.stat(pending_path(key)).st_mtime_ns <= now - age <= now:
            return now - age
    return now


def _show(key: str, began_ns: int) -> None:
    from sightline.agents.hooks.hook_session import open_store, session_of
    from sightline.log.sessions import use_key

    try:
        fd = open_private(live_path(key), os.O_RDWR)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # its end has just been told
        return
    pending = recall(key)
    if pending is None or _is_forgotten(fd):
        return
    session = session_of(pending.harness, pending.session, pending.cwd, pending.agent)
    artifact = use_key(session.name, pending.use)
    with open_store(insist=False) as store:
        began = began_ns / 1e9
        recording = store.begin("cmd", pending.command, session.cwd, session.name, artifact=artifact, created=began)
        try:
            # What to do with it may stand before its name already.
            os.pwrite(fd, recording.name.encode(), 1)
            recording.register()
            parts = _Parts(pending)
            recording.time_by(lambda: parts.written_ns - began_ns)
            partial = "" if _record(recording, parts, pending, fd) == _KEEP else UNTOLD
            shown = recording.seal(exit_code=None, partial=partial, note="merged" * pending.merged)
            if _is_forgotten(fd):  # nobody waits for it, and something else has taken its place
                retention.remove(store, [shown])
        except BaseException:
            recording.discard()
            raise


def _record(recording: "Recording", parts: "_Parts", pending: PendingCommand, fd: int) -> bytes:
    """Record what the parts write, one after the other, until somebody says what to do with it, and return that."""
    quiet_since = time.monotonic()
    while True:
        told = _DROP if _is_forgotten(fd) else os.pread(fd, 1, 0)
        if parts.copy_to(recording) or still_runs(pending.key, len(pending.parts)):
            quiet_since = time.monotonic()
        if told != _NOT_TOLD or time.monotonic() - quiet_since > UNTOLD_SECONDS:
            return told
        time.sleep(_TURN_SECONDS)


def _is_forgotten(fd: int) -> bool:
    """Whether the list's files were removed, since its end has been recorded."""
    return os.fstat(fd).st_nlink == 0


class _Parts:
    """The files of a list's parts, read in order as they grow.

    Attributes:
        written_ns: when what was read last was written, by the clock of files.
    """

    def __init__(self, pending: PendingCommand) -> None:
        self.written_ns = 0
        self._key, self._left = pending.key, list(range(1, len(pending.parts) + 1))
        self._fd = -1

    def copy_to(self, recording: "Recording") -> bool:
        """Append what is new, and return whether there was anything."""
        copied = self._copy(recording)
        for number in self._left[:]:
            if (fd := open_part(self._key, number)) is None:
                continue  # it has not run, and may be left out by an ``&&``
            copied = self._copy(recording) or copied  # what the one before wrote at its end
            if self._fd >= 0:
                os.close(self._fd)
            self._fd, self._left = fd, [one for one in self._left if one > number]
            copied = self._copy(recording) or copied
        return copied

    def _copy(self, recording: "Recording") -> bool:
        copied = False
        while self._fd >= 0 and (data := os.read(self._fd, _READ_BYTES)):
            self.written_ns = max(self.written_ns, os.fstat(self._fd).st_mtime_ns)
            recording.append("out", data)
            copied = True
        return copied


def end_shown(key: str, *, keeps: bool) -> tuple[str, bool]:
    """Have the process that shows a list end its recording, and wait for that.

    Args:
        key: the key of the list's files.
        keeps: whether what was recorded may be the list's output.

    Returns:
        The buffer's name, empty where nothing was recorded; and whether that process has ended. If it has not, it
        removes the buffer once it finds the file gone.
    """
    from sightline.agents.hooks.hook_session import is_held_before  # the process apart needs it only later

    path = live_path(key)
    try:
        fd = open_private(path, os.O_RDWR)
    except OSError:
        return "", True
    try:
        os.pwrite(fd, _KEEP if keeps else _DROP, 0)
        has_ended = is_held_before(fd, time.monotonic() + PATIENCE_SECONDS)
        name = os.pread(fd, 64, 1).decode(errors="replace")
        remove_file(path)  # whoever has not begun yet finds it gone
        return name, has_ended
    finally:
        os.close(fd)
