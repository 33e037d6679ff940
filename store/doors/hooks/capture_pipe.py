"""What a hook has put into a command's pipeline: it keeps what comes.

Whatever becomes of the store, what comes is passed on: nobody must notice that this stands in the pipe.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from sightline.capture.pipe_reader import PipeReader, pass_on
from sightline.capture.pipe_writers import exit_code_of, writers_of
from sightline.doors.hooks.error_log import log_error
from sightline.doors.hooks.pending_commands import PendingCommand, recall
from sightline.errors import StoreFailed

if TYPE_CHECKING:
    from sightline.capture.recorder import Recorder
    from sightline.records import Buffer
    from sightline.store import Store

VERB = "capture"
_WORDS = ("capture", "--hook")
_LEFT_BEHIND = "ended before something that it had started: what that writes is not kept"
_HELD = 3
"""Where the script is told in which file lies what is held back, see `entry.script`."""


def main(use: str) -> int:
    """``sightline capture --hook USE``, as 0.1.0 put it into commands."""
    _keep(use, os.getppid(), held=None)
    return 0


def main_of_script(words: Sequence[str]) -> NoReturn:
    """``USE SHELL``, from the script: the process id of the shell that runs the pipeline. Ends the process.

    With 0 once anything has been read, for its code would become the command's; with another before that, by which the
    script knows that it has to pass on everything itself.
    """
    use, shell = words
    _keep(use, int(shell), held=_HELD)
    os._exit(0)


def _keep(use: str, shell: int, held: int | None) -> None:
    """Keep standard input as the output of the command that was remembered."""
    pending = recall(use)
    writers = writers_of(0, shell)
    kept = _Kept(pending, held) if pending else None
    if held is not None:
        os.close(held)
    sink = kept.take if kept else _drop
    reader = PipeReader({0: "out"}, sink, writers=writers, pass_to=-1 if pending and pending.shape else 1)
    reader.run()
    left_open = not (reader.at_end or reader.reader_left)
    if kept:
        kept.end(writers, cut=reader.reader_left, left_open=left_open)
    if left_open and os.fork() == 0:  # the shell goes on, as it would have
        try:
            _relay(0)
        finally:
            os._exit(0)


def _drop(*_: object) -> None:
    return


def _relay(fd: int) -> None:
    """Pass on the rest; nothing of it is kept."""
    PipeReader({fd: "out"}, _drop, pass_to=1).run()


def _print(_: str, data: memoryview) -> None:
    pass_on(1, data)


class _Kept:
    """A capture that may fail without harm: in mode ``shape`` all that has been held back is printed then."""

    def __init__(self, pending: PendingCommand, held: int | None) -> None:
        self._pending = pending
        self._store: Store | None = None
        self._recorder: Recorder | None = None
        self._path = ""  # where what is held back lies
        try:
            self._begin()
            if self._path and held is not None and pending.shape:
                os.write(held, os.fsencode(self._path))
        except Exception as error:
            self._failed(error)

    def _begin(self) -> None:
        from sightline.capture.recorder import Recorder
        from sightline.disk.recording import Recording
        from sightline.doors.hooks.hook_session import open_store, session_of
        from sightline.log.sessions import use_key, working_directory

        pending = self._pending
        self._store = store = open_store(insist=False)
        session = session_of(pending.harness, pending.session, working_directory())
        self._session = session
        self._recorder = Recorder(store, _print if pending.shape else None)

        def make() -> Recording:
            artifact = use_key(session.name, pending.use, unfiltered=pending.filtered)
            recording = store.begin("cmd", pending.kept, session.cwd, session.name, artifact=artifact)
            self._path = store.layout.stream(recording.name, "out")
            return recording

        self._recorder.begin(make)
        self._recorder.register()

    def take(self, stream: str, data: memoryview, newlines: int) -> None:
        """The next bytes."""
        if self._recorder:
            self._recorder.take(stream, data, newlines)
        elif self._pending.shape:
            pass_on(1, data)

    def _failed(self, error: Exception) -> None:
        """Something of ours has broken: what has been held back is passed on, and whatever comes after it."""
        log_error((*_WORDS, self._pending.use), error)
        recorder, self._recorder = self._recorder, None
        try:
            if recorder:
                recorder.give_up(error)
                recorder.end(_never)
        except Exception as worse:
            log_error((*_WORDS, self._pending.use), worse)

    def end(self, writers: Sequence[int] | None, *, cut: bool, left_open: bool) -> None:
        """All has come. The store is left open: closing it takes longer than all else here, and the process ends."""
        if self._recorder is None or self._store is None:
            return
        try:
            buffer = self._seal(self._recorder, writers, cut, left_open)
        except Exception as error:
            self._failed(error)
            return
        if buffer and self._pending.shape:
            self._show(self._store, buffer)

    def _seal(self, recorder: "Recorder", writers: Sequence[int] | None, cut: bool, left_open: bool) -> "Buffer | None":
        from sightline.capture.recorder import CUT_BY_FILTER, Unkept

        told = ("merged" * self._pending.merged, _LEFT_BEHIND * left_open, CUT_BY_FILTER * cut)
        note = "; ".join(filter(None, told))
        code = None if self._pending.filtered or cut else exit_code_of(writers)
        kept = recorder.end(lambda recording: recording.seal(exit_code=code, note=note))
        if not isinstance(kept, Unkept):
            return kept
        if kept.error:
            log_error((*_WORDS, self._pending.use), kept.error)
        return None

    def _show(self, store: "Store", buffer: "Buffer") -> None:
        """Print the view, or all of it where none can be made."""
        try:
            from sightline.doors.hooks.view_instead import view_of

            text = view_of(store, self._session, self._pending, buffer)
        except Exception as error:
            log_error((*_WORDS, self._pending.use), error)
            with open(store.layout.stream(buffer.name, "out"), "rb") as file:
                _relay(file.fileno())
            return
        pass_on(1, text)


def _never(_: object) -> "Buffer":
    raise StoreFailed("nothing is kept of it")
