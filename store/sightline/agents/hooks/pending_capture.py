"""The capture of a command that a hook has rewritten; the command never notices if something in it fails."""

import os
from collections.abc import Sequence
from contextlib import ExitStack

from sightline.agents.hooks.error_log import log_error
from sightline.agents.hooks.hook_session import open_store, session_of
from sightline.agents.hooks.pending_commands import PendingCommand
from sightline.base.errors import StoreFailed
from sightline.base.project import working_directory
from sightline.base.records import Buffer
from sightline.capture.pipe_reader import PipeReader, pass_on
from sightline.capture.pipe_writers import exit_code_of
from sightline.capture.recorder import CUT_BY_FILTER, LEFT_BEHIND, Recorder, Unkept
from sightline.log.sessions import use_key
from sightline.store import Recording, Store


class PendingCapture:
    """A capture that may fail without harm; in mode ``shape`` it then prints all that it has held back.

    Args:
        pending: what the hook wrote down about the command.
        held: descriptor on which to tell the script which file has what is held back.
    """

    def __init__(self, pending: PendingCommand, held: int) -> None:
        self._pending = pending
        self._opened = ExitStack()
        self._store: Store | None = None
        self._recorder: Recorder | None = None
        self._path = ""  # path of the file with what is held back
        self._words = ("capture", "--hook", pending.use)
        try:
            self._begin()
            if self._path and pending.shape:
                os.write(held, os.fsencode(self._path))
        except Exception as error:  # whatever is broken, the command goes on, and its output is passed on
            self._failed(error)

    def _begin(self) -> None:
        pending = self._pending
        self._store = store = self._opened.enter_context(open_store(insist=False))
        session = session_of(pending.harness, pending.session, working_directory(), pending.agent)
        self._session = session
        self._recorder = Recorder(store, _print if pending.shape else None)

        def make() -> Recording:
            artifact = use_key(session.name, pending.use, unfiltered=pending.filtered)
            recording = store.begin("cmd", pending.kept, session.cwd, session.name, artifact=artifact)
            self._path = store.layout.stream(recording.name, "out")
            return recording

        self._recorder.begin(make)
        self._recorder.register()

    @property
    def holds_back(self) -> bool:
        """Whether it prints a view at the end instead of passing the output on."""
        return self._pending.shape

    def take(self, stream: str, data: memoryview) -> None:
        """The next bytes."""
        if self._recorder:
            self._recorder.take(stream, data)
        elif self._pending.shape:
            pass_on(1, data)

    def _failed(self, error: Exception) -> None:
        """Pass on what was held back and whatever comes after it, since something of ours is broken."""
        log_error(self._words, error)
        recorder, self._recorder = self._recorder, None
        try:
            if recorder:
                recorder.give_up(error)
                recorder.end(_never)
        except Exception as worse:  # the same holds while giving up
            log_error(self._words, worse)

    def end(self, writers: Sequence[int] | None, *, cut: bool, left_open: bool) -> None:
        """End the capture, and leave the store: the process ends."""
        if self._recorder is None or self._store is None:
            return
        try:
            buffer = self._seal(self._recorder, writers, cut, left_open)
        except Exception as error:  # whatever is broken, the command goes on, and its output is passed on
            self._failed(error)
            return
        if buffer and self._pending.shape:
            self._show(self._store, buffer)
        self._opened.close()

    def _seal(self, recorder: Recorder, writers: Sequence[int] | None, cut: bool, left_open: bool) -> Buffer | None:
        told = ("merged" * self._pending.merged, LEFT_BEHIND * left_open, CUT_BY_FILTER * cut)
        note = "; ".join(filter(None, told))
        code = None if self._pending.filtered or cut else exit_code_of(writers)
        kept = recorder.end(lambda recording: recording.seal(exit_code=code, note=note))
        if not isinstance(kept, Unkept):
            return kept
        if kept.error:
            log_error(self._words, kept.error)
        return None

    def _show(self, store: Store, buffer: Buffer) -> None:
        """Print the view, or the whole output if no view can be made."""
        try:
            from sightline.agents.hooks.view_instead import view_of  # 20 ms, of mode `shape` only

            text = view_of(store, self._session, self._pending, buffer)
        except Exception as error:
            log_error(self._words, error)
            with open(store.layout.stream(buffer.name, "out"), "rb") as file:
                PipeReader({file.fileno(): "out"}, lambda *_: None, pass_to=1).run()
            return
        pass_on(1, text)


def _print(_: str, data: memoryview) -> None:
    pass_on(1, data)


def _never(_: object) -> Buffer:
    raise StoreFailed("nothing is kept of it")
