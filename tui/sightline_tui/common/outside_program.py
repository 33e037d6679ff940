"""Gives outputs to other programs: opens one in the person's pager or editor, or saves copies in a folder.

Neither can harm the store: a pager either reads a sealed file and cannot start anything, or gets text that was made
safe; an editor gets a copy.
"""

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

from textual.app import App, SuspendNotSupported

from sightline.base.errors import SightlineError, UsageError
from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.search.engine import opened
from sightline.shape.clean import clean_line
from sightline.shape.summary import human_bytes
from sightline.store import Reading, Target
from sightline_tui.common.messages import ReadFailed
from sightline_tui.common.output_reader import open_reader, shown_ref
from sightline_tui.common.phrases import counted
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.visible_text import lone_controls_shown, pieces, visible

COPY_BYTES = 256 << 20
"""The largest output of which an editor gets a copy; the editor would load all of it into memory."""

_LESS = "less"
_TAKE_A_LINE = ("less", "vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne")
_LINE_BYTES = 1 << 20  # of a longer line a pager gets the two ends
_FED_BYTES = 1 << 16


class ViewerState(NamedTuple):
    """What the viewer shows.

    Attributes:
        buffer: the buffer.
        stream: the only stream that is shown; empty if all are.
        first: the first line on the screen.
    """

    buffer: Buffer
    stream: str = ""
    first: int = 1


class ProgramCall(NamedTuple):
    """A program to run in the terminal.

    Attributes:
        argv: the program and its arguments.
        environment: variables that it has besides ours.
        text: what it reads from standard input; None for nothing.
    """

    argv: list[str]
    environment: dict[str, str]
    text: Iterator[bytes] | None = None


class Copies:
    """Copies for editors, in a private folder that lasts as long as the inspector: some editors return early."""

    def __init__(self) -> None:
        self._folder = ""

    @property
    def folder(self) -> str:
        """The folder, made when it is first asked for."""
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="sightline-")
        return self._folder

    def close(self) -> None:
        """Remove all copies."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""


def pager_call(store: Reading, shown: ViewerState, environment: Mapping[str, str] = os.environ) -> ProgramCall:
    """Return how to open a buffer in ``$PAGER``; ``less`` by default.

    `less` shows control characters as text, and is kept from starting anything. Another pager may pass them on to the
    terminal, so it gets text that was made safe.

    Args:
        store: the store.
        shown: what to open.
        environment: has ``PAGER``.

    Raises:
        SightlineError: there is nothing to show, or no such program.
    """
    words = _words(environment.get("PAGER") or _LESS, "PAGER")
    targets = _targets(store, shown)
    if os.path.basename(words[0]) != _LESS:
        return ProgramCall(words, {}, _safe_lines(store, shown))
    paths = [store.local_copy(target) for target in targets]
    return ProgramCall([*words, *_at(words, shown.first), "--", *paths], {"LESSSECURE": "1"})


def editor_call(
    store: Reading, shown: ViewerState, copies: Copies, environment: Mapping[str, str] = os.environ
) -> ProgramCall:
    """Return how to open a copy of a buffer in ``$VISUAL`` or ``$EDITOR``; ``vi`` by default. See `pager_call`."""
    words = _words(environment.get("VISUAL") or environment.get("EDITOR") or "vi", "EDITOR")
    size = shown.buffer.stream(shown.stream).bytes if shown.stream else shown.buffer.bytes
    if size > COPY_BYTES:
        told = f"{shown.buffer.ref} has {human_bytes(size)}, which is too much to copy for an editor"
        raise UsageError(told, "P opens it in the pager")
    paths = copied(store, shown, copies.folder, again=True)
    for path in paths:
        os.chmod(path, 0o400)
    return ProgramCall([*words, *_at(words, shown.first), *paths], {})


def copied(store: Reading, shown: ViewerState, folder: str, *, raw: bool = False, again: bool = False) -> list[str]:
    """Copy what the viewer shows of a buffer into a folder.

    Args:
        store: the store.
        shown: what to copy.
        folder: where the copies are made, a file for each stream that has lines of its own.
        raw: whether JSON is copied as it was captured, and not in the form that is shown.
        again: whether a copy that is there already is replaced.

    Returns:
        The paths of the copies, which are named by the ref.

    Raises:
        SightlineError: there is nothing to copy.
        OSError: a copy cannot be written; FileExistsError if it is there already.
    """
    paths = []
    for target in _targets(store, shown):
        path = os.path.join(folder, _file_name(target))
        if again and os.path.exists(path):
            os.unlink(path)
        with (
            opened(store.local_copy(target, raw=raw)) as fd,
            open(fd, "rb", closefd=False) as source,
            open(path, "xb") as copy,
        ):
            shutil.copyfileobj(source, copy)
        paths.append(path)
    return paths


def _words(command: str, variable: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{variable} cannot be read: {error}", f"set {variable} to a program") from error
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"there is no program {command!r}", f"set {variable} to one that is there")
    return words


def _targets(store: Reading, shown: ViewerState) -> list[Target]:
    """Return the streams that the viewer shows; a single one has the same lines."""
    buffer = shown.buffer
    if not buffer.bytes:
        raise UsageError(f"{buffer.ref} is empty", "there is nothing to open")
    if shown.stream:
        return [Target(buffer, shown.stream)]
    parts = [stream for stream in buffer.streams if stream.startswith("part.")]
    if parts:
        return [Target(buffer, part) for part in sorted(parts, key=lambda part: int(part.removeprefix("part.")))]
    return [store.resolve(shown_ref(buffer))]


def _file_name(target: Target) -> str:
    """Return a file name whose ending tells an editor the kind of text."""
    ending = os.path.splitext(target.buffer.command)[1] if target.buffer.kind == "file" else ""
    safe = ending if ending[1:].isalnum() and ending.isascii() else ".txt"
    return f"{target.ref.removeprefix('@')}{safe}"


def _at(words: list[str], line: int) -> list[str]:
    return [f"+{line}"] if line > 1 and os.path.basename(words[0]) in _TAKE_A_LINE else []


def _safe_lines(store: Reading, shown: ViewerState) -> Iterator[bytes]:
    """Yield all lines as the viewer shows them, in pieces."""
    with closing(open_reader(store, shown.buffer, shown.stream)) as reading:
        held = bytearray()
        for _, line in reading.lines(1, reading.line_count, _LINE_BYTES):
            text = clean_line(lone_controls_shown(line.data))
            held += "".join(piece.text for piece in pieces(text)).encode(errors="replace") + b"\n"
            if len(held) >= _FED_BYTES:
                yield bytes(held)
                held.clear()
        yield bytes(held)


def run_outside(call: ProgramCall) -> None:
    """Run a program in the terminal, which must be free, until it ends. Raises SightlineError if it cannot start."""
    environment = {**os.environ, **call.environment}
    before = signal.signal(signal.SIGINT, _ignore)  # interrupts are for the program; it does not inherit a handler
    try:
        stdin = None if call.text is None else subprocess.PIPE
        process = subprocess.Popen(call.argv, env=environment, stdin=stdin)
        if call.text is not None and process.stdin is not None:
            _feed(process.stdin.write, call.text)
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass  # the person has left it
        process.wait()
    except OSError as error:
        raise SightlineError(
            f"{call.argv[0]} cannot be started: {error.strerror}", "name a program that is here in PAGER or EDITOR"
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)


def _feed(write: Callable[[bytes], object], text: Iterator[bytes]) -> None:
    for piece in text:
        try:
            write(piece)
        except BrokenPipeError:  # the person has left it before its end
            return


def _ignore(_number: int, _frame: object) -> None:
    pass


async def save(app: App[None], store: Reading, wanted: Sequence[Buffer], folder: str) -> None:
    """Copy buffers into a folder of the person's, as they were captured. Nothing is written over."""
    folder = os.path.abspath(os.path.expanduser(folder))

    def write() -> int:
        return sum(len(copied(store, ViewerState(buffer), folder, raw=True)) for buffer in wanted)

    try:
        files = await asyncio.to_thread(write)
    except FileExistsError as error:
        app.post_message(
            ReadFailed(f"{error.filename} is there already", "Name another folder: nothing is written over")
        )
    except OSError as error:
        app.post_message(ReadFailed(f"{folder} cannot be written: {error.strerror}", "Name a folder that is there"))
    except STORE_ERRORS as error:
        tell(app, error)
    else:
        app.notify(f"Saved {counted(files, 'file')} in {visible(folder)}", markup=False)


async def leave_for(app: App[None], store: Reading, shown: ViewerState, program: str, copies: Copies) -> None:
    """Open a buffer in the ``pager`` or the ``editor``, and wait until that ends.

    Args:
        app: the application, which is suspended meanwhile.
        store: the store.
        shown: what to open.
        program: ``pager`` or ``editor``.
        copies: place for an editor's copy.
    """

    def prepare() -> ProgramCall:
        if program == "pager":
            return pager_call(store, shown)
        return editor_call(store, shown, copies)

    try:
        call = await asyncio.to_thread(prepare)
        with app.suspend():
            _run(app, call)
    except SuspendNotSupported:
        app.notify(
            f"This terminal cannot be left to another program; `sightline path {shown.buffer.ref}` names the file",
            severity="warning",
            markup=False,
        )
    except STORE_ERRORS as error:
        tell(app, error)


def _run(app: App[None], call: ProgramCall) -> None:
    """Run it, and take the terminal back after any error."""
    try:
        run_outside(call)
    except STORE_ERRORS as error:
        tell(app, error)
