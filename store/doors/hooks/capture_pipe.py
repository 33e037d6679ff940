"""What a hook has put into a command's pipeline: it keeps what comes.

Whatever becomes of the store, what comes is passed on: nobody must notice that this stands in the pipe.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from sightline.capture.pipe_reader import PipeReader
from sightline.capture.pipe_writers import exit_code_of, writers_of
from sightline.doors.hooks.error_log import log_error
from sightline.doors.hooks.part_files import PartFile
from sightline.doors.hooks.pending_commands import PendingCommand, recall

if TYPE_CHECKING:
    from sightline.doors.hooks.pending_capture import PendingCapture

_HELD = 3
"""Where the script is told in which file lies what is held back, see `capture_script`."""


def main(use: str) -> int:
    """``sightline capture --hook USE``, as 0.1.0 put it into commands."""
    _keep(use, os.getppid(), held=None)
    return 0


def main_of_script(words: Sequence[str]) -> NoReturn:
    """``USE[.PART] SHELL``, from the script: the process id of the shell that runs the pipeline. Ends the process.

    With 0 once anything has been read, for its code would become the command's; with another before that, by which the
    script knows that it has to pass on everything itself.
    """
    told, shell = words
    use, _, number = told.partition(".")
    pending = recall(use)
    if pending and pending.parts and number.isdigit():
        os.close(_HELD)
        _keep_part(use, int(number), int(shell))
    else:
        _keep(use, int(shell), held=_HELD)
    os._exit(0)


def _keep_part(use: str, number: int, shell: int) -> None:
    """Keep standard input as what a part of a list wrote, until all of that is made one output."""
    writers = writers_of(0, shell)
    part = PartFile(use, number)
    reader = PipeReader({0: "out"}, part.take, writers=writers, pass_to=1)
    reader.run()
    left_open = not (reader.at_end or reader.reader_left)
    part.end(None if reader.reader_left else exit_code_of(writers), cut=reader.reader_left, left_open=left_open)
    if left_open:
        _go_on()


def _keep(use: str, shell: int, held: int | None) -> None:
    """Keep standard input as the output of the command that was remembered."""
    pending = recall(use)
    writers = writers_of(0, shell)
    kept = _capture_of(pending, held) if pending else None
    if held is not None:
        os.close(held)
    sink = kept.take if kept else _drop
    reader = PipeReader({0: "out"}, sink, writers=writers, pass_to=-1 if kept and kept.holds_back else 1)
    reader.run()
    left_open = not (reader.at_end or reader.reader_left)
    if kept:
        kept.end(writers, cut=reader.reader_left, left_open=left_open)
    if left_open:
        _go_on()


def _go_on() -> None:
    """Pass on what comes after the end, without those who wait for it: the shell goes on, as it would have."""
    if os.fork() == 0:
        try:
            PipeReader({0: "out"}, _drop, pass_to=1).run()
        finally:
            os._exit(0)


def _capture_of(pending: PendingCommand, held: int | None) -> "PendingCapture | None":
    """The capture; None where we are installed by halves, and what comes is only passed on."""
    try:
        # 25 ms, in which a writer that is looked for first may have ended.
        from sightline.doors.hooks.pending_capture import PendingCapture
    except Exception as error:
        log_error(("capture", "--hook", pending.use), error)
        return None
    return PendingCapture(pending, held)


def _drop(*_: object) -> None:
    return
