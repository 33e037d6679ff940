"""The program that a hook puts into a command's pipeline to keep what passes.

Whatever happens to the store, what comes is passed on: the command must not notice that this is in its pipe.
"""

import os
from collections.abc import Sequence

from sightline.agents.hooks.error_log import log_error
from sightline.agents.hooks.live_list import show_list
from sightline.agents.hooks.part_files import PartFile
from sightline.agents.hooks.pending_commands import PendingCommand, recall
from sightline.capture.pipe_reader import PipeReader
from sightline.capture.pipe_writers import exit_code_of, writers_of
from sightline.light.typing_names import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sightline.agents.hooks.pending_capture import PendingCapture

_HELD = 3
"""The descriptor on which the script is told which file has what is held back, see `capture_script`."""


def main_of_script(words: Sequence[str]) -> NoReturn:
    """Run for the script, and end the process. Arguments: ``KEY[.PART] SHELL``, the pid of the pipeline's shell.

    It exits with 0 once it has read anything, since its code would become the command's. Any other code tells the
    script that nothing was read, and that it has to pass everything on itself.
    """
    told, shell = words
    key, _, number = told.partition(".")
    pending = recall(key)
    if pending and pending.parts and number.isdigit():
        os.close(_HELD)
        _keep_part(key, int(number), int(shell))
    else:
        _keep(key, int(shell), held=_HELD)
    os._exit(0)


def _keep_part(key: str, number: int, shell: int) -> None:
    """Keep standard input as the output of one part of a list, until all parts are joined."""
    writers = writers_of(0, shell)
    part = PartFile(key, number, shell)
    # The part is locked by now: a hook that finds the list must not take it for one that was broken off.
    show_list(key, shell)
    reader = PipeReader({0: "out"}, part.take, writers=writers, pass_to=1)
    reader.run()
    left_open = not (reader.at_end or reader.reader_left)
    part.end(None if reader.reader_left else exit_code_of(writers), cut=reader.reader_left, left_open=left_open)
    if left_open:
        _go_on()


def _keep(key: str, shell: int, held: int) -> None:
    """Keep standard input as the output of the command that the hook wrote down."""
    pending = recall(key)
    writers = writers_of(0, shell)
    kept = _capture_of(pending, held) if pending else None
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
    """Pass on in another process what comes after the end, so that the shell goes on as it would without us."""
    if os.fork() == 0:
        try:
            PipeReader({0: "out"}, _drop, pass_to=1).run()
        finally:
            os._exit(0)


def _capture_of(pending: PendingCommand, held: int) -> "PendingCapture | None":
    """The capture; None if the installation is incomplete, so that what comes is only passed on."""
    try:
        # Loading this takes 25 ms, in which the writers might end, so they are looked for first.
        from sightline.agents.hooks.pending_capture import PendingCapture
    except Exception as error:  # whatever is broken, the command goes on, and its output is passed on
        log_error(("capture", "--hook", pending.use), error)
        return None
    return PendingCapture(pending, held)


def _drop(*_: object) -> None:
    return
