"""Capturing a command: start it, keep what it writes, end it in time or when it is asked to, seal its buffer."""

import os
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.capture.child import Child, start
from sightline.capture.pipe_reader import PipeReader
from sightline.capture.recorder import LEFT_BEHIND, Echo, Recorder, Unkept
from sightline.disk.live import process_of
from sightline.errors import OutOfProcesses, StoreFailed
from sightline.named_tuple import NamedTuple
from sightline.records import Buffer
from sightline.store import Store

if TYPE_CHECKING:  # only a command that filters itself needs them
    from sightline.capture.filter_pipe import FilterPipe, Unfiltered
    from sightline.capture.filters import Split
else:
    Unfiltered = object  # as its name in quotes it would be compiled at every start, which takes 1.5 ms

TERM_GRACE_SECONDS = 2.0  # between asking the group to end and ending it
_UNSEEN_SECONDS = 0.01  # what runs no longer than this is listed once it has ended
_WAKE_MS = 250  # how soon a stop that another thread asked for is noticed
_GROUP_LOOK_MS = 10  # between two looks whether anything of the group is left
_END_LOOK_SECONDS = 0.02  # between two looks whether what another process captures has ended
_SEAL_SECONDS = 5.0  # for whoever captures it to notice and seal its buffer


class Captured(NamedTuple):
    """How a captured command ended.

    Attributes:
        buffer: its record; None where nothing was kept.
        unkept: its output, where nothing was kept.
        exit_code: None after a timeout, 128 + N after signal N.
        timed_out: whether the time limit ended it.
        signal: number of the signal that ended it, 0 if none did.
        seconds: how long it ran.
        unfiltered: what went into its trailing filters; None where nothing did, or they let everything through.
    """

    buffer: Buffer | None
    unkept: Unkept | None
    exit_code: int | None
    timed_out: bool
    signal: int
    seconds: float
    unfiltered: Unfiltered | None = None


class CommandCapture:
    """One command being captured. `run` does it all; `stop` may be called from a signal handler or another thread."""

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
        split: "Split | None" = None,
        echo: Echo | None = None,
        unkept_to: Echo | None = None,
        started: Callable[[str], None] | None = None,
    ) -> None:
        """Reserve the buffer, so that it has a ref before the command starts.

        Args:
            store: where it is kept.
            argv: program and arguments.
            command: what the buffer is called.
            cwd: working directory, ours by default.
            session: who captures.
            label: a name for the buffer.
            timeout: seconds after which the group is ended, None for never.
            stdin: descriptor for its standard input, none by default.
            own_group: whether it gets a process group of its own; without one a terminal's keys reach it as well as us.
            keep: False where nothing may be kept: the output is only echoed and returned.
            split: where the trailing filters of a shell's command begin: what goes into them is kept too.
            echo: what else sees the bytes as they come.
            unkept_to: what sees all of them where the store keeps nothing; of no use beside `echo`.
            started: told the buffer's name once the command runs.
        """
        self._store = store
        self._argv = argv
        self._cwd = cwd if cwd and os.path.realpath(cwd) != os.path.realpath(os.getcwd()) else None
        self._timeout = timeout
        self._stdin = stdin
        self._own_group = own_group
        self._echo = echo
        self._started = started
        self._split = split
        self._filter_pipe: FilterPipe | None = None
        self._child: Child | None = None
        self._status: int | None = None  # of the command, as `os.waitpid` gives it, once it has been waited for
        self._ended = 0.0  # when that was, as `time.monotonic` gives it
        self._early: list[int] = []  # signals that came before there was anyone to have them
        self._deadline: float | None = None
        self._kill_at: float | None = None
        self._timed_out = False
        self._recorder = Recorder(store, unkept_to)
        if keep:
            self._recorder.begin(lambda: store.begin("cmd", command, cwd or os.getcwd(), session, label=label))

    @property
    def name(self) -> str:
        """Name of its buffer; empty where nothing is kept."""
        return self._recorder.recording.name if self._recorder.recording else ""

    @property
    def failure(self) -> StoreFailed | None:
        """Why the store keeps nothing of it, None as long as it does."""
        return self._recorder.failure

    @property
    def written(self) -> tuple[int, int]:
        """(bytes, newlines) of both streams so far; zeros where nothing is kept."""
        recording = self._recorder.recording
        if recording is None:
            return 0, 0
        out, err = recording.progress("out"), recording.progress("err")
        return out[0] + err[0], out[1] + err[1]

    def run(self, begun: Callable[[int], None] | None = None) -> Captured:
        """Run the command to its end.

        Args:
            begun: told the command's process once it runs; it leads a group where it has one of its own.

        Raises:
            CommandNotStarted: there is no such program; nothing is kept.
        """
        began = time.monotonic()
        argv = self._redirected()
        try:
            self._child = start(argv, cwd=self._cwd, stdin=self._stdin, own_group=self._own_group)
        except BaseException:
            if self._filter_pipe:
                self._filter_pipe.finish()
            self.discard()
            raise
        if begun:
            begun(self._child.pid)
        for number in self._early:
            self._child.kill(number)
        if self._timeout is not None:
            self._deadline = began + self._timeout
        child = self._child
        reader = PipeReader({child.out: "out", child.err: "err"}, self._take, writers=[child.ended])
        try:
            if self._recorder.recording:
                self._recorder.recording.tell_process(child.pid, own_group=child.own_group)
            if self._started or self._filter_pipe or not self._is_over_at_once(reader):
                self._recorder.register()
            if self._started and self.name:
                self._started(self.name)
            if self._filter_pipe:
                self._filter_pipe.start()
            self._read(child, reader)
            if self._filter_pipe:
                self._filter_pipe.finish()
        except BaseException:
            self._break_off(child)
            raise
        finally:
            child.close_streams()
        seconds = self._ended - began
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
                note=LEFT_BEHIND * (not reader.at_end),
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
        """How the command is started, with what goes into its filters on the way through our hands where it can be."""
        recording = self._recorder.recording
        if self._split is None or recording is None:
            return self._argv
        from sightline.capture.filter_pipe import FilterPipe, can_keep_unfiltered  # 3 ms that only filters cost

        try:
            if not can_keep_unfiltered(self._argv, self._split):
                return self._argv
            self._filter_pipe = FilterPipe(self._store, recording.buffer, self._split)
        except (OSError, OutOfProcesses):
            return self._argv
        return self._filter_pipe.redirected(self._argv)

    def _is_over_at_once(self, reader: PipeReader) -> bool:
        """Whether the command ends so soon that nobody need learn of it as long as it runs: one entry is enough then.

        What its entry needs is made ready meanwhile.
        """
        self._recorder.prepare()
        deadline = time.monotonic() + _UNSEEN_SECONDS
        while not reader.writers_ended and (left := deadline - time.monotonic()) > 0:
            reader.turn(left * 1000 + 1)
        return reader.writers_ended

    def _read(self, child: Child, reader: PipeReader) -> None:
        """Read what the command writes until it has ended, and wait for it.

        Its end is what counts, not that of its streams: something that it left behind may hold them open for ever. That
        is read until it is quiet for a moment.
        """
        while not reader.writers_ended:
            wait = self._tick()
            reader.turn(_WAKE_MS if wait is None else min(_WAKE_MS, max(wait, 0.0) * 1000 + 1))
        self._status = child.wait()
        self._ended = time.monotonic()
        if self._kill_at is not None:  # one that was told to end may leave others of its group behind
            while child.group_lives and time.monotonic() < self._kill_at:
                reader.turn(_GROUP_LOOK_MS)
            if child.group_lives:
                child.kill(signal.SIGKILL)
        reader.take_rest()

    def _break_off(self, child: Child) -> None:
        """After a failure of ours (the echo's, or a key): nothing goes on unseen, and what came is kept."""
        if self._status is None:
            child.kill(signal.SIGKILL)
            self._status = child.wait()
        if self._filter_pipe:
            self._filter_pipe.finish()
            self._filter_pipe.abandon()
        self._recorder.abandon()

    def discard(self) -> None:
        """It will not be run: nothing of it is wanted."""
        self._recorder.discard()

    def stop(self, number: int = signal.SIGTERM, *, insist: bool = True) -> None:
        """Pass a signal on to the command's group; where it insists, one that has not ended soon is killed."""
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

    def _take(self, stream: str, data: memoryview, newlines: int) -> None:
        if self._filter_pipe and stream == "err":
            data = self._filter_pipe.plain(data)
        self._recorder.take(stream, data, newlines)
        if self._echo:
            self._echo(stream, data)


def end_command(store: Store, buffer: Buffer, number: int = signal.SIGTERM) -> bool:
    """End a command that another process captures, with all that it started, and wait until its buffer is sealed.

    Args:
        store: where it is kept.
        buffer: its record.
        number: the signal that it gets first.

    Returns:
        Whether there was a command to end.
    """
    process = process_of(store.layout, buffer.name)
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
