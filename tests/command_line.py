"""Runs command lines of ours in this process, as far as that can be told from a process of its own.

Words, environment, folder, standard streams and handlers of signals are a command's own. A fork takes four times as
long; tests of how a process starts, is signalled or ends take one, or start a program.
"""

import contextlib
import gc
import io
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

from sightline.doors.cli.main import main

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD)


def run_here(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | Path,
    input: bytes = b"",  # noqa: A002 - as subprocess.run has it
) -> "subprocess.CompletedProcess[bytes]":
    """Run ``sightline`` with words to its end, and take what it writes."""
    with contextlib.ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(input)
        given.seek(0)
        with _own(given, out, err), _apart(words, env, cwd):
            code = _ended()
            sys.stdout.flush()
            sys.stderr.flush()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(words, code, out.read(), err.read())


def _ended() -> int:
    """Run it; its exit code."""
    try:
        return main(sys.argv[1:])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
        return 1


@contextlib.contextmanager
def _own(*files: io.IOBase) -> Iterator[None]:
    """Have files in the place of the standard streams, of the system and of Python."""
    saved = [os.dup(number) for number in range(3)]
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        streams = [
            open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
            for number, (mode, errors) in enumerate(
                [("r", "surrogateescape"), ("w", "surrogateescape"), ("w", "backslashreplace")]
            )
        ]
        with patch("sys.stdin", streams[0]), patch("sys.stdout", streams[1]), patch("sys.stderr", streams[2]):
            yield
    finally:
        for number, before in enumerate(saved):
            os.dup2(before, number)
            os.close(before)


@contextlib.contextmanager
def _apart(words: Sequence[str], env: Mapping[str, str], cwd: str | Path) -> Iterator[None]:
    """Give it words, variables and a folder; put back what it changes of the process."""
    folder, handlers, thresholds = os.getcwd(), [signal.getsignal(one) for one in _SIGNALS], gc.get_threshold()
    os.chdir(cwd)
    try:
        with (
            patch("sys.argv", ["sightline", *words]),
            patch.dict(os.environ, env, clear=True),
            patch("gc.freeze"),  # what it leaves is no part of the program
        ):
            yield
    finally:
        os.chdir(folder)
        for one, handler in zip(_SIGNALS, handlers, strict=True):
            signal.signal(one, handler)
        gc.set_threshold(*thresholds)
        gc.enable()
