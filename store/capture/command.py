"""Capturing a command: start it, keep what it writes, end it in time, seal its buffer."""

import os
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from sightline.capture.fallback import Echo, Fallback, Unkept
from sightline.capture.pump import Pump
from sightline.capture.spawn import Child, start
from sightline.disk.recording import Recording
from sightline.errors import OutOfProcesses, StoreFailed
from sightline.records import Buffer
from sightline.store import Store

if TYPE_CHECKING:  # only a command that filters itself needs them
    from sightline.capture.filters import Split
    from sightline.capture.tap import Tap, Unfiltered
else:
    Unfiltered = object  # as its name in quotes it would be compiled at every start, which takes 1.5 ms

TERM_GRACE_SECONDS = 2.0  # between asking the group to end and ending it
_GROUP_LOOK_MS = 10  # between two looks whether anything of the group is left


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
    """One command being captured. `run` does it all; `stop` may be called from a signal handler or another thread.

    Attributes:
        failure: why the store keeps nothing of it, None as long as it does.
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
        self._tap: Tap | None = None
        self._child: Child | None = None
        self._early: list[int] = []  # signals that came before there was anyone to have them
        self._deadline: float | None = None
        self._kill_at: float | None = None
        self._timed_out = False
        self._fallback: Fallback | None = None
        self._unkept_to = unkept_to
        self.failure: StoreFailed | None = None
        self._recording: Recording | None = None
        if not keep:
            self._fallback = Fallback(store.redaction(), unkept_to)
            return
        try:
            self._recording = store.begin("cmd", command, cwd or os.getcwd(), session, label=label)
        except StoreFailed as error:
            self._fall_back(error)

    @property
    def name(self) -> str:
        """Name of its buffer; empty where nothing is kept."""
        return self._recording.name if self._recording else ""

    @property
    def written(self) -> tuple[int, int]:
        """(bytes, newlines) of both streams so far; zeros where nothing is kept."""
        if self._recording is None:
            return 0, 0
        out, err = self._recording.progress("out"), self._recording.progress("err")
        return out[0] + err[0], out[1] + err[1]

    def run(self, begun: Callable[[int], None] | None = None) -> Captured:
        """Run the command to its end.

        Args:
            begun: told the command's process once it runs; it leads a group where it has one of its own.

        Raises:
            CommandNotStarted: there is no such program; nothing is kept.
        """
        began = time.monotonic()
        argv = self._tapped()
        try:
            self._child = start(argv, cwd=self._cwd, stdin=self._stdin, own_group=self._own_group)
        except BaseException:
            if self._tap:
                self._tap.finish()
            self.discard()
            raise
        if begun:
            begun(self._child.pid)
        for number in self._early:
            self._child.kill(number)
        if self._timeout is not None:
            self._deadline = began + self._timeout
        pump = Pump(self._child, self._take)
        try:
            self._register()
            if self._tap:
                self._tap.start()
            status = pump.run(self._tick)
            self._end_group(self._child, pump)
            pump.finish()
            if self._tap:
                self._tap.finish()
        except BaseException:
            self._break_off(self._child, pump)
            raise
        seconds = time.monotonic() - began
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        exit_code = None if self._timed_out else (128 + number if number else os.WEXITSTATUS(status))
        buffer = self._seal(exit_code, number)
        unfiltered = self._tap.seal(buffer) if self._tap and buffer else None
        unkept = None
        if self._fallback is not None:
            unkept = self._fallback.end(self.failure, passed_on=self._echo is not None)
            if self._tap:
                self._tap.discard()
        return Captured(buffer, unkept, exit_code, self._timed_out, number, seconds, unfiltered)

    def _tapped(self) -> list[str]:
        """How the command is started, with what goes into its filters on the way through our hands where it can be."""
        if self._split is None or self._recording is None:
            return self._argv
        from sightline.capture.tap import Tap, can_tap

        try:
            if not can_tap(self._argv, self._split):
                return self._argv
            self._tap = Tap(self._store, self._recording.buffer, self._split)
        except (OSError, OutOfProcesses):
            return self._argv
        return self._tap.redirected(self._argv)

    def _end_group(self, child: Child, pump: Pump) -> None:
        """A command that was told to end may leave others of its group behind, which have the rest of the grace."""
        if self._kill_at is None:
            return
        while child.group_lives and time.monotonic() < self._kill_at:
            pump.turn(_GROUP_LOOK_MS)
        if child.group_lives:
            child.kill(signal.SIGKILL)

    def _break_off(self, child: Child, pump: Pump) -> None:
        """After a failure of ours (the echo's, or a key): nothing goes on unseen, and what came is kept."""
        if not pump.ended:
            child.kill(signal.SIGKILL)
            child.wait()
        pump.close()
        if self._tap:
            self._tap.finish()
            self._tap.abandon()
        if self._recording is not None:
            self._recording.abandon()

    def discard(self) -> None:
        """It will not be run: nothing of it is wanted."""
        if self._recording is not None:
            self._recording.discard()

    def stop(self, number: int = signal.SIGTERM, *, insist: bool = True) -> None:
        """Pass a signal on to the command's group; where it insists, one that has not ended soon is killed."""
        if insist and self._kill_at is None:
            self._kill_at = time.monotonic() + TERM_GRACE_SECONDS
        if self._child is None:
            self._early.append(number)
        else:
            self._child.kill(number)

    def _register(self) -> None:
        if self._recording is None:
            return
        try:
            self._recording.register()
        except StoreFailed as error:
            self._fall_back(error)
            return
        if self._started:
            self._started(self._recording.name)

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
        if self._tap and stream == "err":
            data = self._tap.plain(data)
        if self._recording is not None:
            try:
                self._recording.append(stream, data, newlines)
            except StoreFailed as error:
                self._fall_back(error, (stream, data))
        elif self._fallback is not None:
            self._fallback.take(stream, data)
        if self._echo:
            self._echo(stream, data)

    def _fall_back(self, error: StoreFailed, failed: tuple[str, memoryview] | None = None) -> None:
        """The store failed: what it has is read back, and the output itself is shown.

        Args:
            error: why.
            failed: a stream, and the bytes of it that could not be kept.
        """
        self.failure = error
        recording, self._recording = self._recording, None
        self._fallback = Fallback(None if recording else self._store.redaction(), self._unkept_to)
        if recording:
            self._fallback.take_over(recording, ("out", "err"), failed)

    def _seal(self, exit_code: int | None, number: int) -> Buffer | None:
        if self._recording is None:
            return None
        try:
            return self._recording.seal(exit_code=exit_code, signal=number, timed_out=self._timed_out)
        except StoreFailed as error:
            self._fall_back(error)
            return None
