"""Finds whole lines in a large file with ripgrep or grep, at several times the speed of reading them here."""

from collections.abc import Callable, Set

from sightline.errors import SightlineError
from sightline.search.executables import Executable, find, ripgrep
from sightline.search.processes import DEFAULT_MEMORY_BYTES, DEFAULT_SECONDS, Group, fed
from sightline.search.sandbox import describe

MOST_FOUND = 200_000
"""Lines found at most: what occurs more often than that tells nobody which of them was shown."""

_MOST_FOR_RG = 2_000  # texts; of more, grep finds them faster
_RG_CHARACTERS = 200  # of a text that are looked for: very long ones take ripgrep seconds to prepare for
# Mapped, it would be no faster here, and a large stream would count as memory.
_RG = ("rg", "--no-config", "--no-mmap", "--threads=1", "--text", "--encoding=none", "--color=never", "--no-heading")


def can_find() -> bool:
    """Whether this machine has what finds them."""
    return bool(find("grep"))


def find_lines(path: str, sought: frozenset[bytes]) -> list[tuple[int, bytes]]:
    """(number, line) of a file's lines that read as one of some texts, ascending; none where grep fails, or takes long.

    Args:
        path: the file; nothing else is read, and nothing written.
        sought: texts without newlines, none of them empty.
    """
    found, others = list[tuple[int, bytes]](), 0

    def take(number: int, line: bytes) -> None:
        nonlocal others
        if line in sought:
            found.append((number, line))
        else:
            others += 1

    if len(sought) <= _MOST_FOR_RG and (program := ripgrep()) and all(map(_is_text, sought)):
        # Wherever they stand in a line: at two thirds of the time that whole lines take, unless that is everywhere.
        longest = 1 + max(map(len, sought), default=0)  # with its newline; a longer line may be the whole file
        how = (*_RG, "-n", "-F", "-m", str(MOST_FOUND), f"--max-columns={longest}", "-f", "-", "--", path)
        _run(Executable(program, how), path, {text.decode()[:_RG_CHARACTERS].encode() for text in sought}, take)
        if len(found) + others < MOST_FOUND:
            return found
        found.clear()
    exact = ("grep", "-a", "-n", "-F", "-x", "-m", str(MOST_FOUND), "-f", "-", "--", path)
    _run(Executable(find("grep"), exact), path, sought, take)
    return found


def _is_text(data: bytes) -> bool:
    try:
        return data.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _run(program: Executable, path: str, patterns: Set[bytes], take: Callable[[int, bytes], None]) -> None:
    """Hand on (number, line) of what a program prints that has been given some patterns, as far as it comes."""
    begun = b""

    def feed(data: bytes) -> None:
        nonlocal begun
        *rows, begun = (begun + data).split(b"\n")
        for row in rows:
            number, colon, line = row.partition(b":")
            if colon and number.isdigit():
                take(int(number), line)

    try:
        with (
            fed(b"".join(text + b"\n" for text in patterns)) as stdin,
            Group(
                [program],
                seconds=DEFAULT_SECONDS,
                memory_bytes=DEFAULT_MEMORY_BYTES,
                backing=describe(),
                reads=(path,),
                stdin=stdin,
            ) as group,
        ):
            group.collect(feed, lambda _: None)
    except SightlineError:
        pass  # where it cannot be run, it finds nothing
