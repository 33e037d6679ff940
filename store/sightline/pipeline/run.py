"""Runs a pipeline that can only read, and makes its reply: what fits, with true totals of the whole answer."""

import os
import time

from sightline.base.profile import DEFAULT
from sightline.light.late_pattern import late_pattern
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Callable
from sightline.pipeline.parse import ParsedQuery
from sightline.search.executables import executable_of
from sightline.search.processes import DEFAULT_MEMORY_BYTES, DEFAULT_SECONDS, Cancel, Group
from sightline.search.sandbox import Backing, describe

_PAGE = late_pattern(r"\|\s*sed -n '?([0-9]{1,15}),([0-9]{1,15})p'?\s*\Z")
_STDERR_SHARE = 2  # stderr takes at most this part of the bytes if there is an answer to show


class QueryLimits(NamedTuple):
    """The limits of a query, and of its reply.

    Attributes:
        seconds: wall time of the whole query.
        memory_bytes: address space of each program.
        max_lines: lines of the reply.
        max_bytes: bytes of the reply.
        max_stderr_lines: lines of the reply that may be stderr.
    """

    seconds: float = DEFAULT_SECONDS
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    max_lines: int = DEFAULT.query.max_lines
    max_bytes: int = DEFAULT.query.max_bytes
    max_stderr_lines: int = DEFAULT.query.max_stderr_lines


DEFAULT_LIMITS = QueryLimits()

ANSWER_BYTES = 1 << 28
ANSWER_TIMES = 16  # of the input: od and xxd write four times as much, a number before each short line ten times
"""A larger answer than both allow is broken off: nobody wants it, and counting it would take all the time."""


class NextPage(NamedTuple):
    """The query for the next page of an answer.

    Attributes:
        before: the query without the stage that picks the page.
        stage: that stage.
        replaces: whether the answered query ended with such a stage, too.
    """

    before: str
    stage: str
    replaces: bool = False

    @property
    def pipeline(self) -> str:
        """The whole query."""
        return f"{self.before} | {self.stage}"


class QueryResult(NamedTuple):
    """A query's result. Lines are split at ``\\n``; a last one without it counts.

    Attributes:
        stdout: the shown part of the answer, as the program wrote it; empty if a sink took it.
        stderr: the shown part of the programs' errors.
        exit_code: the last program's, 128+N for signal N; None if the query did not end by itself.
        timed_out: whether the time limit ended it; the totals are then those of what had come.
        broken_off: whether it was ended because it wrote far more than it read; totals likewise.
        cancelled: whether it was cancelled; totals likewise.
        stdout_shown: number of lines shown, with a clipped one.
        stdout_total: number of lines of the whole answer.
        stdout_bytes: number of bytes of the whole answer.
        stderr_shown: number of lines of stderr shown.
        stderr_total: number of lines of all of stderr.
        clipped_bytes: number of bytes left out of the only shown line of stdout; 0 if none were.
        truncated: whether anything is not shown.
        next_page: the query for the next page; None if there is none.
        seconds: wall time that it took.
    """

    stdout: bytes
    stderr: bytes
    exit_code: int | None
    timed_out: bool
    cancelled: bool
    stdout_shown: int
    stdout_total: int
    stdout_bytes: int
    stderr_shown: int
    stderr_total: int
    clipped_bytes: int
    truncated: bool
    next_page: NextPage | None
    seconds: float
    broken_off: bool = False


class _TooMuch(Exception):
    """The programs write far more than they read."""


def run(
    pipeline: ParsedQuery,
    *,
    limits: QueryLimits = DEFAULT_LIMITS,
    sink: Callable[[bytes], None] | None = None,
    stderr_sink: Callable[[bytes], None] | None = None,
    cancel: Cancel | None = None,
    backing: Backing | None = None,
) -> QueryResult:
    """Run a pipeline to its end.

    Args:
        pipeline: the pipeline, from ``parse``.
        limits: limits of the run and of the reply.
        sink: gets all of stdout, in chunks as it comes; the reply then has none of it.
        stderr_sink: gets all of stderr, likewise.
        cancel: cancels it from another thread.
        backing: which of the kernel's means to use; by default all that exist.

    Raises:
        ProgramMissing: a program is not on this machine, or cannot be kept from writing there.
        SandboxFailed: the kernel did not confine it; nothing was run.
    """
    began = time.monotonic()
    backing = describe() if backing is None else backing
    cancel = cancel or Cancel()
    programs = [executable_of(stage.argv, held=backing.landlock > 0, reads=stage.paths) for stage in pipeline.stages]
    reads = [path for stage in pipeline.stages for path in stage.paths]
    most = ANSWER_BYTES + ANSWER_TIMES * sum(os.stat(path).st_size for path in reads if os.path.exists(path))
    out, err = Head(limits.max_bytes, sink, most), Head(limits.max_bytes, stderr_sink, most)
    ended = None
    with (
        suppress(_TooMuch),
        Group(
            programs,
            seconds=limits.seconds,
            memory_bytes=limits.memory_bytes,
            backing=backing,
            reads=reads,
            cancel=cancel,
        ) as group,
    ):
        ended = group.collect(out.feed, err.feed)
        if ended.exit_code == _WROTE_A_FILE:
            program = pipeline.stages[-1].program
            err.feed(f"{program}: a query can write no temporary file; name a ref instead of the pipe\n".encode())
    exit_code = None if ended is None or ended.timed_out or cancel.cancelled else ended.exit_code
    seconds = time.monotonic() - began
    return reply_of(pipeline, limits, out, err)._replace(
        exit_code=exit_code,
        timed_out=ended is not None and ended.timed_out,
        broken_off=ended is None,
        cancelled=cancel.cancelled,
        seconds=seconds,
    )


_WROTE_A_FILE = 128 + 25  # SIGXFSZ: without Landlock, a limit of size 0 keeps programs from writing files


class Head:
    """Keeps the first bytes of an output, and counts all of it."""

    def __init__(self, keep_bytes: int, sink: Callable[[bytes], None] | None = None, most_bytes: int = 0) -> None:
        """Prepare to read an output.

        Args:
            keep_bytes: number of bytes to keep.
            sink: gets all of it instead.
            most_bytes: number at which it is broken off, unless a sink takes it; 0 for never.
        """
        self.bytes = 0
        self._most_bytes = 0 if sink else most_bytes
        self._keep_bytes = keep_bytes
        self._sink = sink
        self._kept = bytearray()
        self._newlines = 0
        self._first_line_bytes = 0
        self._ends_with_newline = True

    def feed(self, data: bytes) -> None:
        """Take the next bytes, at least one. Raises _TooMuch."""
        if not self._newlines:
            end = data.find(b"\n")
            self._first_line_bytes += len(data) if end < 0 else end
        self.bytes += len(data)
        self._newlines += data.count(b"\n")
        self._ends_with_newline = data.endswith(b"\n")
        if self._sink is not None:
            self._sink(data)
        elif len(self._kept) < self._keep_bytes:
            self._kept += data[: self._keep_bytes - len(self._kept)]
        if self._most_bytes and self.bytes > self._most_bytes:
            raise _TooMuch

    @property
    def lines(self) -> int:
        """Number of lines of all of it."""
        return self._newlines + (not self._ends_with_newline)

    def shown(self, max_lines: int, max_bytes: int) -> tuple[bytes, int, int]:
        """Return its first whole lines within the limits, or the beginning of the first one if even that does not fit.

        Returns:
            The text, the number of its lines, and the number of bytes left out of the first line.
        """
        if self._sink is not None:
            return b"", self.lines, 0
        if not self.bytes or max_lines < 1:
            return b"", 0, 0
        text = bytes(self._kept[:max_bytes])
        if len(text) < self.bytes:
            text = text[: text.rfind(b"\n") + 1]
        if not text:
            return self._clipped(max_bytes)
        lines = text.splitlines(keepends=True) if b"\r" not in text else _lines(text)
        return b"".join(lines[:max_lines]), min(len(lines), max_lines), 0

    def _clipped(self, max_bytes: int) -> tuple[bytes, int, int]:
        room = max(0, max_bytes - len(_mark(self._first_line_bytes)))
        begin = whole_characters(bytes(self._kept[:room]))
        left_out = self._first_line_bytes - len(begin)
        return begin + _mark(left_out), 1, left_out


def _mark(left_out: int) -> bytes:
    return f" [… {left_out:,} bytes of this line elided …]\n".encode()


def _lines(text: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in text.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def whole_characters(text: bytes) -> bytes:
    """Return the text without an incomplete UTF-8 character at its end."""
    for back in range(1, min(4, len(text) + 1)):
        byte = text[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return text if back >= length else text[:-back]
        if byte < 0x80:
            return text
    return text


def reply_of(pipeline: ParsedQuery, limits: QueryLimits, out: Head, err: Head) -> QueryResult:
    """Make the result as far as the output determines it: stderr first, the answer in what that leaves."""
    err_bytes = limits.max_bytes // _STDERR_SHARE if out.bytes else limits.max_bytes
    stderr, stderr_shown, stderr_clipped = err.shown(min(limits.max_stderr_lines, limits.max_lines), err_bytes)
    lines_left = limits.max_lines - (stderr_shown if stderr else 0)
    stdout, stdout_shown, clipped = out.shown(lines_left, limits.max_bytes - len(stderr))
    cut = stdout_shown < out.lines or clipped > 0
    return QueryResult(
        stdout=stdout,
        stderr=stderr,
        exit_code=None,
        timed_out=False,
        cancelled=False,
        stdout_shown=stdout_shown,
        stdout_total=out.lines,
        stdout_bytes=out.bytes,
        stderr_shown=stderr_shown,
        stderr_total=err.lines,
        clipped_bytes=clipped,
        truncated=cut or stderr_shown < err.lines or stderr_clipped > 0,
        next_page=_next_page(pipeline, stdout_shown, out.lines, limits.max_lines),
        seconds=0.0,
    )


def _next_page(pipeline: ParsedQuery, shown: int, total: int, size: int) -> NextPage | None:
    """Return the query for the lines after those shown; a full page is always followed by another."""
    page = _PAGE.search(pipeline.text) if pipeline.stages[-1].words[0] == "sed" else None
    first, last = (int(page[1]), int(page[2])) if page else (0, 0)
    ours = first > 1 and last - first + 1 == size and pipeline.stages[-1].words == ("sed", "-n", f"{first},{last}p")
    if page and ours:
        if shown < total or total == size:  # after a full page, there may be more
            stage = f"sed -n {first + shown},{first + shown + size - 1}p"
            return NextPage(pipeline.text[: page.start()].rstrip(), stage, replaces=True)
        return None
    stage = f"sed -n {shown + 1},{shown + size}p"
    return NextPage(pipeline.text.rstrip(), stage) if shown < total else None
