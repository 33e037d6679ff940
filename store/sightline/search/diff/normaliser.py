"""Feeds a comparison with pieces of files, one after another, and makes equal what differs in every run.

It is also a script, so that this runs in a process of its own, which can be ended and holds no lock of ours:
``normaliser.py FLAGS PROJECT HOME PATH OFFSET LENGTH [PATH OFFSET LENGTH …]`` writes the pieces to its standard output,
each but the last ended by a newline. With flag ``v`` volatile tokens are replaced, and the names of the two folders,
either of which may be empty. It imports nothing of ours, to start in 10 ms.
"""

import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from itertools import chain

BLOCK_BYTES = 1 << 18
LONGEST_LINE_BYTES = 1 << 23

_WORD = "[0-9A-Za-z]"
_HEX = "[0-9a-fA-F]"
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_UNIT = (
    " ?(?:[nmu]s|µs|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?|h(?:(?:ou)?rs?)?|days?"
    "|(?:[kKMGT]i?)?[bB](?:ytes?)?(?:/s)?|[kKMGT]i?)(?![A-Za-z])"
)

COLOUR = r"\x1b(?:\[[0-9;:]*[mK]|\(B)"
"""Escape sequences that only colour."""

TEMPORARY = r"(?:/tmp/|/var/folders/[^/\s]+/[^/\s]+/T/|/dev/shm/)[^/\s:'\"`,;)\]}>]+|\btmp[a-z0-9_]{8}\b"
"""Names of temporary files and folders; what lies in such a folder keeps its own name."""

# These patterns begin with bytes that a scan finds fast, and look back from there, which is three times as fast.
DATES = rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|{_MONTHS})(?<!{_WORD}.{{3}})[a-z]{{0,6}}[, /-]+(?=[0-9]|(?:{_MONTHS}))"
"""Names of days and months before numbers."""

HASHES = (
    rf"{_HEX}(?<!{_WORD}.)(?={_HEX}{{5}})"
    rf"(?:(?:(?<=[0-9])|[a-fA-F]*[0-9]){_HEX}*|{_HEX}{{7}}(?=-{_HEX}{{4}}-))"  # letters alone are a word: "decade"
    rf"(?:(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}})?(?!{_WORD})"
)
"""At least six hexadecimal digits, and UUIDs."""

NUMBERS = (
    # With the spaces before it, whose number depends on its width. After a letter it is part of a name: test_7.
    # A run of spaces is looked through from its first one only.
    r"[ 0-9](?:(?<= )(?<!  ) *[0-9]|(?<=[0-9])(?<![0-9A-Za-z_].))"
    # Signs join the numbers of dates, times and versions; a space may stand between a date and a time.
    rf"(?:(?<=0)[xX]{_HEX}+|[0-9]*(?:(?:[T.,:/_-]| (?=[0-9]{{2}}:[0-9]{{2}}))[0-9]+|[eE][+-]?[0-9]+)*Z?)"
    rf"(?:{_UNIT}(?: ?[0-9]+(?:\.[0-9]+)?{_UNIT})*)? *"  # 1h 2m 3.5s is one duration
)
"""Numbers with their units."""

_STAND_IN = b"#"
_LETTERS = str.maketrans("0123456789abcdef", "ghijklmnopqrstuv")  # digits would be volatile
_compiled: "list[re.Pattern[bytes]]" = []


def without_volatile(data: bytes) -> bytes:
    """Replace the volatile tokens of whole lines by a sign.

    Volatile are times, dates, durations, sizes and all other numbers, hashes, UUIDs, names of temporary files, colours,
    and text that a carriage return overwrote. Two lines differ in nothing else if this makes them equal.
    """
    if not _compiled:
        _compiled[:] = [re.compile(pattern.encode()) for pattern in (COLOUR, TEMPORARY, DATES, HASHES, NUMBERS)]
    colour, temporary, dates, hashes, numbers = _compiled
    if b"\r" in data:
        data = _last_written(data)
    if b"\x1b" in data:
        data = colour.sub(b"", data)
    if b"tmp" in data or b"/var/folders/" in data or b"/dev/shm/" in data:
        data = temporary.sub(_STAND_IN, data)
    return numbers.sub(_STAND_IN, hashes.sub(_STAND_IN, dates.sub(b"", data)))


def without_folders(data: bytes, project: bytes, home: bytes) -> bytes:
    """Return lines with ``.`` for the folder of their project and ``~`` for the home folder, whatever their names."""
    for folder, sign in ((project, b"."), (home, b"~")):
        if folder and folder in data:
            data = re.sub(rb"(?<![\w./~-])" + re.escape(folder) + rb"(?![\w.~-])", sign, data)
    return data


def _last_written(data: bytes) -> bytes:
    """Return of each line what follows its last carriage return, except those at its end."""
    lines = data.split(b"\n")
    return b"\n".join([line.rstrip(b"\r").rpartition(b"\r")[2] if b"\r" in line else line for line in lines])


def blocks(pieces: Sequence[tuple[str, int, int]]) -> Iterator[bytes]:
    """Yield the bytes of pieces of files, (path, offset, length), in blocks that end at the end of a line.

    A line longer than LONGEST_LINE_BYTES is replaced by a hash.
    """
    for at, piece in enumerate(pieces, 1):
        block = b""
        for block in _whole_lines(_read(piece)):
            yield block
        if at < len(pieces) and block and not block.endswith(b"\n"):
            yield b"\n"


def _read(piece: tuple[str, int, int]) -> Iterator[bytes]:
    path, offset, length = piece
    with open(path, "rb", buffering=0) as file:
        file.seek(offset)
        while length and (data := file.read(min(length, BLOCK_BYTES))):
            length -= len(data)
            yield data


def _whole_lines(parts: Iterator[bytes]) -> Iterator[bytes]:
    held, size = list[bytes](), 0
    for data in parts:
        if size > LONGEST_LINE_BYTES:
            data = _hashed([*held, data], parts)
            held, size = [], 0
        end = data.rfind(b"\n") + 1
        if end:
            yield b"".join((*held, data[:end]))
            held, size = [], 0
        if end < len(data):
            held.append(data[end:])
            size += len(data) - end
    if held:
        yield b"".join(held)


def _hashed(begun: list[bytes], parts: Iterator[bytes]) -> bytes:
    """Return the hash of a line that has begun, and what was read after it."""
    import hashlib  # few lines are that long

    digest, rest = hashlib.sha256(), b""
    for data in chain(begun, parts):
        end = data.find(b"\n")
        digest.update(data[:end] if end >= 0 else data)
        if end >= 0:
            rest = data[end:]
            break
    return digest.hexdigest().translate(_LETTERS).encode() + rest


def main(arguments: list[str]) -> int:
    """Write the pieces."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the comparison may end before it has read everything
    flags, project, home, *rest = arguments
    folders = os.fsencode(project), os.fsencode(home)
    pieces = [(path, int(offset), int(length)) for path, offset, length in zip(*[iter(rest)] * 3, strict=True)]
    for block in blocks(pieces):
        view = memoryview(without_volatile(without_folders(block, *folders)) if "v" in flags else block)
        while view:
            view = view[os.write(1, view) :]
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
