"""The search engine: ripgrep, else grep, else Python's ``re``, as a child that can only read, like a query.

The search of a reply, of the viewer, of all outputs and of coverage each say what is searched, and what is printed.
A single stream is passed as an open file, so that it may be removed meanwhile.
"""

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from sightline.base.errors import UsageError
from sightline.base.private_files import open_stored
from sightline.light.named_tuple import NamedTuple
from sightline.search.errors import SearchFailed
from sightline.search.executables import INTERPRETER_FOLDERS, Executable, find, knows_perl, ripgrep, whole_pages
from sightline.search.processes import DEFAULT_MEMORY_BYTES, Cancel, Group
from sightline.search.sandbox import describe

ENGINES = ("rg", "grep -P", "grep -E", "re")
"""In the order in which they are tried; grep's ``-P`` comes first, because its ``-E`` does not know ``\\d``."""

ANSWERS = ("lines", "count", "offsets", "places", "matches")
"""``NUMBER:`` of each matching line; their count; ``OFFSET:`` of each line; the same of each match; and
``NUMBER:OFFSET:MATCH``. For the others, what follows the last colon is to be ignored."""

SEARCH_SECONDS = 600.0  # a person waits, sees the count grow, and may cancel
NO_MATCH = 1
"""The exit code of an engine that found nothing; a higher one means that it failed."""

RG = ("rg", "--no-config", "--threads=1", "--text", "--encoding=none", "--color=never", "--no-heading")
GREP = ("grep", "-a", "--color=never")

_MAX_COMPLAINT_BYTES = 2000
_RG_ANSWERS = {
    "lines": ("-n",),
    "count": ("-c",),
    "offsets": ("-b",),
    "places": ("-b", "-o"),
    "matches": ("-n", "-b", "-o"),
}
_RE_ANSWERS = {"lines": "", "count": "c", "offsets": "b", "places": "bo", "matches": "nbo"}


class SearchPattern(NamedTuple):
    """What to search for.

    Attributes:
        text: a regular expression, or plain text.
        ignore_case: whether letters match in either case.
        literal: whether it is plain text.
    """

    text: str
    ignore_case: bool = False
    literal: bool = False


class WantedAnswer(NamedTuple):
    """What to print.

    Attributes:
        answer: one of ``ANSWERS``.
        first: number of answers wanted.
        invert: whether lines that do not match are wanted.
    """

    answer: str = "lines"
    first: int = sys.maxsize
    invert: bool = False


class EngineEnd(NamedTuple):
    """How an engine ended: its exit code, and its last complaint."""

    exit_code: int
    complaint: str


def check_pattern(text: str) -> None:
    """Raise UsageError for a pattern that is empty, or has a newline or a NUL."""
    if not text or "\n" in text or "\0" in text:
        what = "a newline or a NUL" if text else "nothing at all"
        raise UsageError(f"a search cannot be for {what}", "a search looks at one line at a time")


def pattern_of(text: str, *, ignore_case: bool, engines: Sequence[str] = ENGINES) -> SearchPattern:
    """Return a text as a regular expression, or as plain text if it is not a valid one.

    Raises:
        UsageError: it is empty, or has a newline or a NUL. SearchFailed: there is no engine.
    """
    check_pattern(text)
    if text.replace(" ", "").replace("_", "").isalnum():
        return SearchPattern(text, ignore_case, True)
    pattern = SearchPattern(text, ignore_case)
    return pattern._replace(literal=not compiles(pattern, engine_of(engines)))


def compiles(pattern: SearchPattern, engine: str) -> bool:
    """Return whether an engine accepts a pattern."""
    with opened(os.devnull) as stdin:
        return look(stdin, pattern, WantedAnswer("count"), lambda _: None, engine=engine).exit_code <= NO_MATCH


def engine_of(engines: Sequence[str] = ENGINES) -> str:
    """Return the first of some engines on this machine. Raises SearchFailed if there is none."""
    for engine in engines:
        if engine == "rg" and ripgrep():
            return engine
        if engine.startswith("grep") and (grep := find("grep")) and (engine != "grep -P" or knows_perl(grep)):
            return engine
        if engine == "re" and sys.executable:
            return engine
    raise SearchFailed("there is no search engine on this machine", "install ripgrep or grep")


@contextmanager
def opened(path: str, offset: int = 0) -> Iterator[int]:
    """Open a stream at an offset, through no link; an empty stream has no file."""
    fd = -1
    if path != os.devnull:
        with suppress(FileNotFoundError):
            fd = open_stored(path)
    if fd < 0:
        fd = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if offset:
            os.lseek(fd, offset, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def look(
    stdin: int,
    pattern: SearchPattern,
    wanted: WantedAnswer,
    take: Callable[[bytes], None],
    *,
    engine: str,
    seconds: float = SEARCH_SECONDS,
    cancel: Cancel | None = None,
) -> EngineEnd:
    """Search an open file or a pipe, and pass on what the engine prints.

    Raises:
        SearchFailed: the time ran out, or the engine was not confined as it can be here.
        Cancelled: ``cancel`` was used.
    """
    status = os.fstat(stdin)
    is_whole_file = stat.S_ISREG(status.st_mode) and not os.lseek(stdin, 0, os.SEEK_CUR)
    command = _command(engine, pattern, wanted, status.st_size if is_whole_file else 0)
    reads = (f"/proc/self/fd/{stdin}",) if is_whole_file and sys.platform == "linux" else ()
    return run_engine(command, take, stdin=stdin, reads=reads, seconds=seconds, cancel=cancel)


def run_engine(
    command: Executable,
    take: Callable[[bytes], None],
    *,
    stdin: int | None = None,
    reads: Sequence[str] = (),
    seconds: float = SEARCH_SECONDS,
    cancel: Cancel | None = None,
) -> EngineEnd:
    """Let an engine search some files, or its input, and pass on what it prints. Raises what `look` raises."""
    cancel = cancel or Cancel()
    complaint = bytearray()
    with Group(
        [command],
        seconds=seconds,
        memory_bytes=DEFAULT_MEMORY_BYTES,
        backing=describe(),
        reads=reads,
        stdin=stdin,
        cancel=cancel,
    ) as group:
        ended = group.collect(take, lambda data: complaint.extend(data[: _MAX_COMPLAINT_BYTES - len(complaint)]))
    cancel.check()
    if ended.timed_out:
        raise SearchFailed(f"the search took more than {round(seconds, 1):g} s", "try a simpler pattern")
    lines = complaint.decode(errors="replace").strip().splitlines()
    return EngineEnd(ended.exit_code, lines[-1] if lines else "no reason was given")


def _command(engine: str, pattern: SearchPattern, wanted: WantedAnswer, file_bytes: int) -> Executable:
    """Return an engine's command to search its standard input, a file of this size; 0 if it is not a whole file."""
    if engine == "re":
        return _re_command(pattern, wanted)
    how = ["-i"] if pattern.ignore_case else []
    how += ["-v"] if wanted.invert else []
    how += _RG_ANSWERS[wanted.answer]
    how += ["-m", str(wanted.first)] if wanted.answer != "count" and wanted.first < sys.maxsize else []
    if engine == "rg":
        how += ["-F"] if pattern.literal else []
        how += [] if wanted.answer == "matches" else ["--max-columns=1"]
        # A whole file can be mapped, which takes a third of the time; only Linux opens it again under this name.
        file = "/dev/stdin" if file_bytes and sys.platform == "linux" else "-"
        return Executable(
            ripgrep(), (*RG, "--no-filename", *how, "-e", pattern.text, file), maps_bytes=whole_pages(file_bytes)
        )
    how.append("-F" if pattern.literal else engine.rpartition(" ")[2])
    return Executable(find("grep"), (*GREP, *how, "-e", pattern.text))


def _re_command(pattern: SearchPattern, wanted: WantedAnswer) -> Executable:
    folder = os.path.dirname(os.path.realpath(__file__))
    how = "".join(
        letter for letter, on in (("i", pattern.ignore_case), ("v", wanted.invert), ("F", pattern.literal)) if on
    )
    how += _RE_ANSWERS[wanted.answer]
    script = os.path.join(folder, "re_engine.py")
    path = os.path.realpath(sys.executable)
    argv = (path, "-I", "-S", script, "-" + how, str(wanted.first), pattern.text)
    return Executable(path, argv, libraries=(*INTERPRETER_FOLDERS, script))
