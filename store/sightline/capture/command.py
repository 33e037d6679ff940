"""Captures a command: starts it, keeps what it writes, ends it in time or on request, and seals its buffer."""

import os
import time

from sightline import disk
from sightline.base.errors import OutOfProcesses, StoreFailed
from sightline.base.records import Buffer, Target
from sightline.capture.child import Child, start
from sightline.capture.pipe_reader import PipeReader
from sightline.capture.recorder import LEFT_BEHIND, Echo, Recorder, Unkept
from sightline.disk.live import Process, may_be_of, process_of
from sightline.light.named_tuple import NamedTuple
from sightline.light.plain_signal import signal
from sightline.light.typing_names import TYPE_CHECKING, Callable, Iterable
from sightline.store import Store

if TYPE_CHECKING:  # only a command that filters itself needs it
    from sightline.capture.filter_pipe import FilterPipe, Unfiltered
    from sightline.capture.filters import FilterSplit
    from sightline.disk.stand_ins import StandIns  # only a command with refs has any
else:
    Unfiltered = object  # written as a name in quotes, it would take 1.5 ms at every start

TERM_GRACE_SECONDS = 2.0  # between asking the group to end and killing it
_UNSEEN_SECONDS = 0.01  # a shorter command is listed only once it has ended
_WAKE_MS = 250  # how soon a stop from another thread is noticed
_GROUP_LOOK_MS = 10  # between two checks whether anything of the group is left
_END_LOOK_SECONDS = 0.02  # between two checks of another process' capture
_SEAL_SECONDS = 5.0  # for the capturing process to notice the end and seal


class Captured(NamedTuple):
    """How a captured command ended.

    Attributes:
        buffer: its record; None if nothing was kept.
        unkept: its output, if nothing was kept.
        exit_code: None after a timeout, 128 + N after signal N.
        timed_out: whether the time limit ended it.
        signal: number of the signal that ended it; 0 if none did.
        seconds: how long it ran.
        unfiltered: the input of its trailing filters; None if there is none, or they let everything through.
    """

    buffer: Buffer | None
    unkept: Unkept | None
    exit_code: int | None
    timed_out: bool
    signal: int
    seconds: float
    unfiltered: Unfiltered | None = None


def _is_ours(folder: str) -> bool:
    """Return whether a folder is the working directory, which may be gone."""
    try:
        ours = os.getcwd()
    except OSError:
        return False
    return folder == ours or os.path.realpath(folder) == os.path.realpath(ours)


class CommandCapture:
    """One captured command. `run` does everything, or else `begin`, and `wait` until it returns how the command ended.

    `stop` may be called from a signal handler or another thread.
    """

    def __init__(
        self,
        store: Store,
        argv: list[str],
        *,
        command: str,
        cwd: str | None = None,
        session: str,
        label: str = "",
        timeout: float | None = None,
        stdin: int | None = None,
        own_group: bool = True,
        keep: bool = True,
        stand_ins: "StandIns | None" = None,
        split: "FilterSplit | None" = None,
        echo: Echo | None = None,
        unkept_to: Echo | None = None,
        started: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare; with ``started`` or ``split`` the buffer has a ref before the command starts.

        Otherwise the buffer is made while the command starts, since both take time and use different processors.

        Args:
            store: the store that keeps it.
            argv: the program and its arguments.
            command: the command for the record.
            cwd: working directory; ours by default.
            session: the session that captures.
            label: a name for the buffer.
            timeout: seconds after which the group is ended; None for never.
            stdin: descriptor for its standard input; none by default.
            own_group: whether it gets a process group of its own; otherwise a terminal's keys reach both it and us.
            keep: False if nothing may be kept, so that the output is only echoed and returned.
            stand_ins: files that the command gets in place of refs, released when it has ended.
            split: where the trailing filters of a shell's command begin, whose input is kept, too.
            echo: gets the bytes, too, as they come.
            unkept_to: gets all bytes if the store keeps nothing; not used together with `echo`.
            started: gets the buffer's name once the command runs.
        """
        self._store = store
        self._argv = argv
        self._cwd = cwd if cwd and not _is_ours(cwd) else None
        self._timeout = timeout
        self._stdin = stdin
        self._own_group = own_group
        self._echo = echo
        self._started = started
        self._stand_ins = stand_ins
        self._split = split
        self._filter_pipe: FilterPipe | None = None
        self._child: Child | None = None
        self._status: int | None = None  # the command's status, from `os.waitpid`, once it is known
        self._ended = 0.0  # when that was, by `time.monotonic`
        self._early: list[int] = []  # signals that came before the command was started
        self._deadline: float | None = None
        self._kill_at: float | None = None
        self._timed_out = False
        self._recorder = Recorder(store, unkept_to)
        self._reader: PipeReader  # from `begin` on
        self._began = 0.0
        self._make = (lambda: store.begin("cmd", command, cwd or os.getcwd(), session, label=label)) if keep else None
        if started or split:
            self._reserve()

    def _reserve(self) -> None:
        """Make the buffer, unless it is made already, or nothing may be kept."""
        make, self._make = self._make, None
        if make:
            self._recorder.begin(make)

    @property
    def name(self) -> str:
        """Name of its buffer; empty if nothing is kept, or it is not made yet."""
        return self._recorder.recording.name if self._recorder.recording else ""

    @property
    def failure(self) -> StoreFailed | None:
        """Why the store keeps nothing of it; None as long as it does."""
        return self._recorder.failure

    @property
    def written(self) -> tuple[int, int]:
        """(bytes, newlines) of both streams so far; zeros if nothing is kept."""
        recording = self._recorder.recording
        if recording is None:
            return 0, 0
        out, err = recording.progress("out"), recording.progress("err")
        return out[0] + err[0], out[1] + err[1]

    def run(self, begun: Callable[[int], None] | None = None) -> Captured:
        """Run the command to its end. Arguments and errors are those of `begin`."""
        self.begin(begun)
        captured = self.wait()
        assert captured
        return captured

    def begin(self, begun: Callable[[int], None] | None = None) -> None:
        """Start the command; it has to be waited for.

        Args:
            begun: gets the command's process id once it runs; it is also its group's id, if it has an own group.

        Raises:
            CommandNotStarted: there is no such program; nothing is kept.
        """
        self._began = time.monotonic()
        argv = self._redirected()
        try:
            self._child = start(
                argv,
                cwd=self._cwd,
                stdin=self._stdin,
                own_group=self._own_group,
                inherited=self._stand_ins.fd if self._stand_ins else None,
            )
        except BaseException:
            if self._filter_pipe:
                self._filter_pipe.finish()
            self.discard()
            raise
        child = self._child
        try:
            if self._stand_ins and child.own_group:
                self._stand_ins.tell_group(child.pid)
            if begun:
                begun(child.pid)
            for number in self._early:
                child.kill(number)
            if self._timeout is not None:
                self._deadline = self._began + self._timeout
            self._reader = PipeReader({child.out: "out", child.err: "err"}, self._take, writers=[child.ended])
            self._reserve()
            if self._recorder.recording:
                self._recorder.recording.tell_process(child.pid, own_group=child.own_group)
            if self._started or self._filter_pipe or not self._is_over_at_once():
                self._recorder.register()
            if self._started and self.name:
                self._started(self.name)
            if self._filter_pipe:
                self._filter_pipe.start()
        except BaseException:
            self._break_off(child)
            raise

    def wait(self, seconds: float | None = None) -> Captured | None:
        """Keep what the command writes until it has ended; None if it has not after so many seconds.

        It must be called again then, by any thread.
        """
        child = self._child
        assert child
        try:
            if not self._read(child, seconds):
                return None
            if self._filter_pipe:
                self._filter_pipe.finish()
            if not self._reader.at_end:
                child.leave_streams()
        except BaseException:
            self._break_off(child)
            raise
        child.close_streams()
        is_all = self._reader.at_end
        del self._reader  # each refers to the other, so that its memory would stay for a while
        return self._sealed(LEFT_BEHIND * (not is_all))

    def _sealed(self, note: str) -> Captured:
        """Seal the buffer, all having come."""
        if self._stand_ins:
            self._stand_ins.release()
        seconds = self._ended - self._began
        ended_at = time.time() - (time.monotonic() - self._ended)
        status = self._status or 0
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        exit_code = None if self._timed_out else (128 + number if number else os.WEXITSTATUS(status))
        kept = self._recorder.end(
            lambda recording: recording.seal(
                exit_code=exit_code,
                ended=ended_at,
                signal=number,
                timed_out=self._timed_out,
                note=note,
            ),
            passed_on=self._echo is not None,
        )
        ended = exit_code, self._timed_out, number, seconds
        if isinstance(kept, Unkept):
            if self._filter_pipe:
                self._filter_pipe.discard()
            return Captured(None, kept, *ended)
        return Captured(kept, None, *ended, self._filter_pipe.seal(kept) if self._filter_pipe else None)

    def _redirected(self) -> list[str]:
        """Return how to start the command, with pipes of ours before its filters if that is possible."""
        recording = self._recorder.recording
        if self._split is None or recording is None:
            return self._argv
        from sightline.capture.filter_pipe import FilterPipe, can_keep_unfiltered  # 3 ms, which only filters need

        try:
            if not can_keep_unfiltered(self._argv, self._split):
                return self._argv
            self._filter_pipe = FilterPipe(self._store, recording.buffer, self._split)
        except (OSError, OutOfProcesses):
            return self._argv
        return self._filter_pipe.redirected(self._argv)

    def _is_over_at_once(self) -> bool:
        """Return whether the command ended so soon that one index entry at the end is enough.

        Meanwhile the entry is prepared.
        """
        self._recorder.prepare()
        deadline = time.monotonic() + _UNSEEN_SECONDS
        reader = self._reader
        while not reader.writers_ended and (left := deadline - time.monotonic()) > 0:
            reader.turn(left * 1000 + 1)
        return reader.writers_ended

    def _read(self, child: Child, seconds: float | None) -> bool:
        """Read what the command writes until it has ended, and wait for it; False if that takes longer.

        Its own end counts, rather than the end of its streams, because processes that it left may hold these open
        for ever. They are read until they are quiet for a moment.
        """
        reader, until = self._reader, None if seconds is None else time.monotonic() + seconds
        while not reader.writers_ended:
            wait = self._tick()
            if until is not None and time.monotonic() >= until:
                return False
            reader.turn(_WAKE_MS if wait is None else min(_WAKE_MS, max(wait, 0.0) * 1000 + 1))
        self._status = child.wait()
        self._ended = time.monotonic()
        if self._kill_at is not None:  # a command that was told to end may leave others of its group behind
            while child.group_lives and time.monotonic() < self._kill_at:
                reader.turn(_GROUP_LOOK_MS)
            if child.group_lives:
                child.kill(signal.SIGKILL)
        reader.take_rest()
        return True

    def _break_off(self, child: Child) -> None:
        """After an error of ours, such as the echo's or an interrupt, end the command, and keep what came."""
        if self._status is None:
            child.kill(signal.SIGKILL)
            self._status = child.wait()
        if self._stand_ins:
            self._stand_ins.release()
        if self._filter_pipe:
            self._filter_pipe.finish()
            self._filter_pipe.abandon()
        self._recorder.abandon()
        child.close_streams()

    def discard(self) -> None:
        """Drop the buffer, because the command will not run."""
        if self._stand_ins:
            self._stand_ins.release()
        self._recorder.discard()

    def stop(self, number: int = signal.SIGTERM, *, insist: bool = True) -> None:
        """Send a signal to the command's group; with ``insist``, kill the group if it has not ended soon."""
        if insist and self._kill_at is None:
            self._kill_at = time.monotonic() + TERM_GRACE_SECONDS
        if self._child is None:
            self._early.append(number)
        else:
            self._child.kill(number)

    def _tick(self) -> float | None:
        now = time.monotonic()
        if self._deadline is not None and now >= self._deadline and not self._timed_out:
            self._timed_out = True
            self.stop(signal.SIGTERM)
        if self._kill_at is not None and now >= self._kill_at and self._child is not None:
            self._child.kill(signal.SIGKILL)
            self._kill_at = now + TERM_GRACE_SECONDS
        waits = [at - now for at in (self._kill_at, None if self._timed_out else self._deadline) if at is not None]
        return min(waits) if waits else None

    def _take(self, stream: str, data: memoryview) -> None:
        if self._filter_pipe and stream == "err":
            data = self._filter_pipe.plain(data)
        self._recorder.take(stream, data)
        if self._echo:
            self._echo(stream, data)


def running_process(store: Store, buffer: Buffer) -> Process | None:
    """Return the process of a command that another process captures; None if none is known for its own."""
    process = process_of(store.layout, buffer.name)
    return process if process is not None and may_be_of(process, buffer.created) else None


def end_command(store: Store, buffer: Buffer, number: int = signal.SIGTERM) -> bool:
    """End a command that another process captures, with all that it started, and wait until its buffer is sealed.

    Args:
        store: the store that keeps it.
        buffer: its record.
        number: the first signal to send.

    Returns:
        Whether there was a command to end.
    """
    process = running_process(store, buffer)
    if process is None:
        return False
    child = Child(process.pid, -1, -1, -1, None, process.own_group)
    child.kill(number)
    kill_at = time.monotonic() + TERM_GRACE_SECONDS
    give_up_at = kill_at + _SEAL_SECONDS
    killed = number == signal.SIGKILL
    while (now := time.monotonic()) < give_up_at:
        sealed = store.resolve(buffer.ref).buffer.state != "running"
        if sealed and not child.group_lives:
            break
        if now >= kill_at and not killed:
            child.kill(signal.SIGKILL)
            killed = True
        time.sleep(_END_LOOK_SECONDS)
    return True


def make_stand_ins(store: Store, wanted: Iterable[tuple[str, Target, bool, bool]]) -> "StandIns":
    """Make the files that a command gets in place of its refs.

    Args:
        store: the store.
        wanted: for each ref a key for its path, what it names, whether the command only reads it, and whether it
            gets a JSON result as it was sent.

    Raises:
        StoreFailed: one cannot be made, so that the command must not run.
        ExpiredRef, UnsafeStore: raised by `Store.open`.
    """
    given = [
        disk.WantedRef(
            target.ref,
            store.local_copy(target, raw=is_raw),
            is_growing=target.buffer.state == "running" and target.stream != "all",
            only_read=only_read,
            key=key,
        )
        for key, target, only_read, is_raw in wanted
    ]
    return disk.take_stand_ins(store.layout, given)
