"""The lines that a view adds to what it shows: each marks where something is missing, in one fixed grammar.

A stream without a ref (nothing was stored) is named by line numbers alone, so no marker has a ref that leads nowhere.
If the ref of a command stands above the view, markers are short: ``[… 3-345]`` are lines of its standard output,
``[… .err:3-345]`` of its standard error.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

_REF = r"(?:[A-Za-z][A-Za-z0-9-]*/)?@[^\s:]+"
_AT = rf"(?:{_REF}:|lines? )\d+(?:-\d+)?"
_COUNT = r"\d{1,3}(?:,\d{3})*"
_RANGES = r"\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*(?: and others)?"
_PLACES = r"[\w.@+~/-]+:\d+(?: :\d+)*"
_SHORT_AT = r"(?:\.err:)?\d+(?:-\d+)?"
_PATH = rf"(?:{_REF} )?\$[^…]*?"
MARKER = (
    r"\[stderr\]|\[part \d+\]|\[… (?:"
    rf"{_COUNT} lines? elided(?:, {_COUNT} error lines? among them)?: {_AT}"
    rf"|previous line ×{_COUNT} more: {_AT}"
    rf"|{_COUNT} lines? rewritten in place: {_AT}"
    rf"|{_COUNT} more error lines?(?:: (?:{_REF}:)?{_RANGES}|: {_REF})?"
    rf"|{_COUNT} (?:more )?(?:items?|keys?|failures?) elided: (?:{_AT}|{_PATH})"
    rf"|diff of {_COUNT} files?: \+{_COUNT} -{_COUNT}(?:, {_COUNT} only on one side)?"
    rf"|\+{_COUNT} -{_COUNT} in this file"
    rf"|{_COUNT} more files?, \+{_COUNT} -{_COUNT}: {_AT}"
    rf"|[^…]+ \+{_COUNT} -{_COUNT}}}?(?: and others)?"
    rf"|{_COUNT} bytes? of [\w.+-]+/[\w.+-]+: {_REF}"
    rf"|(?:{_COUNT} (?:character|byte|line|token)s?|an unknown part) missing(?:: [^…]+)?"
    r"|altered: [^…]+"
    r") …\]"
    rf"|\[… (?:{_SHORT_AT}(?:, {_COUNT} error lines?)?|×{_COUNT} more: {_SHORT_AT}"
    rf"|{_COUNT} more error lines?(?:: (?:\.err:)?{_RANGES})?|at {_PLACES}(?:, {_PLACES})*(?: and others)?)\]"
)
"""Matches, with ``re.fullmatch``, every line of a body that is not a line of a stream.

These are texts, because compiling them takes 2 ms, and few commands search for markers.
"""

CLIPPED = (
    rf"\[… {_COUNT} bytes? of this (?:line elided: {_AT}|string elided: (?:{_AT}|{_PATH}|{_REF}(?:, [^…]+)?)) …\]"
    rf"|\[… {_COUNT} bytes? of line (?:\.err:)?\d+ …\]"
)
"""Stands inside a line that was cut in the middle, or where a string of it was."""

_BYTES_OF = rf"{_COUNT} (?:B|bytes?) of (?:line )?"  # of earlier versions: ``99 B of 82``

CUTS = (
    rf"(?m)\bof this (?:line|string) elided\b|\[… {_BYTES_OF}{_SHORT_AT}(?: …)?\]|\bbytes (?:elided|omitted)\b"
    r"|^\d+[:-]…|…$"
)
"""Found in a view where any profile cut lines of it, or clipped them around a match."""

SAVED_BYTES = 24
"""The least that cutting out the middle of a line saves, with its marker counted."""

_PASTED = rf"\s*\[?… ?(?:×{_COUNT} more: |{_BYTES_OF})?({_SHORT_AT})(?:, {_COUNT} error lines?)?(?: ?…)?\]?\s*"

_REWRITTEN = r"(?m)^\[… [\d,]+ lines? rewritten in place: (@\S+):(\d{1,15})(?:-(\d{1,15}))? …\]$"


def elision(ref: str, first: int, last: int, errors: int = 0, *, short: bool = False) -> str:
    """Mark left-out lines, with the number of error lines among them if nothing else says it."""
    if short:
        told = f", {errors:,} {_plural(errors, 'error line')}" if errors else ""
        return f"[… {_short_at(ref, first, last)}{told}]"
    among = f", {errors:,} {_plural(errors, 'error line')} among them" if errors else ""
    count = last - first + 1
    return f"[… {count:,} {_plural(count, 'line')} elided{among}: {_at(ref, first, last)} …]"


def fold(ref: str, first: int, last: int, *, short: bool = False) -> str:
    """Mark lines that all equal the one before them."""
    if short:
        return f"[… ×{last - first + 1:,} more: {_short_at(ref, first, last)}]"
    return f"[… previous line ×{last - first + 1:,} more: {_at(ref, first, last)} …]"


def rewritten(ref: str, first: int, last: int) -> str:
    """Mark lines that a terminal would no longer show, because later ones overwrote them."""
    count = last - first + 1
    return f"[… {count:,} {_plural(count, 'line')} rewritten in place: {_at(ref, first, last)} …]"


def rewritten_lines(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (ref, first, last) of the lines that such markers in a text stand for, if they have a ref."""
    for found in re.finditer(_REWRITTEN, text):
        yield found[1], int(found[2]), int(found[3] or found[2])


def clipping(ref: str, number: int, elided: int, *, short: bool = False) -> str:
    """Mark the missing middle of a line, in bytes."""
    if short:
        return f"[… {elided:,} {_plural(elided, 'byte')} of line {_short_at(ref, number, number)} …]"
    return f"[… {elided:,} {_plural(elided, 'byte')} of this line elided: {_at(ref, number, number)} …]"


def window(ref: str, number: int, elided: int, path: str = "") -> str:
    """Mark the missing middle of a string, in bytes as they are written; by its path if it has no line of its own."""
    place = _at_path(ref, path) if path else _at(ref, number, number)
    return f"[… {elided:,} {_plural(elided, 'byte')} of this string elided: {place} …]"


def moved(ref: str, elided: int, description: str = "") -> str:
    """Mark what is left out of a string that is a stream of its own: its middle, or all of it.

    Args:
        ref: that stream.
        elided: bytes that are left out.
        description: what the JSON that it holds is, if it holds any.
    """
    told = f", {' '.join(description.replace('…', '...').split())}" if description else ""
    return f"[… {elided:,} {_plural(elided, 'byte')} of this string elided: {ref}{told} …]"


def sample(ref: str, first: int, last: int, count: int, noun: str, *, more: bool, path: str = "") -> str:
    """Mark left-out children of a JSON container.

    Args:
        ref: the stream.
        first: their first line.
        last: their last line, inclusive.
        count: their number.
        noun: ``item`` or ``key``.
        more: whether others stand before them.
        path: the JSON path that opens them, if they have no lines of their own.
    """
    told = f"{count:,} {'more ' if more else ''}{_plural(count, noun)}"
    return f"[… {told} elided: {_at_path(ref, path) if path else _at(ref, first, last)} …]"


def diff_summary(files: int, added: int, removed: int, alone: int) -> str:
    """Write what a diff changes in all, and how many files only one side has."""
    more = f", {alone:,} only on one side" if alone else ""
    return f"diff of {files:,} {_plural(files, 'file')}: +{added:,} -{removed:,}{more}"


def diff_file(added: int, removed: int) -> str:
    """Write what a diff changes in one file."""
    return f"[… +{added:,} -{removed:,} in this file …]"


def more_files(ref: str, first: int, last: int, count: int, added: int, removed: int) -> str:
    """Mark left-out files of a diff, with what it changes in them."""
    return f"[… {count:,} more {_plural(count, 'file')}, +{added:,} -{removed:,}: {_at(ref, first, last)} …]"


def part(number: int) -> str:
    """Mark the beginning of a result's block, if there are several."""
    return f"[part {number}]"


def binary(ref: str, size: int, mime: str) -> str:
    """Mark a block of a result that is not text."""
    return f"[… {size:,} {_plural(size, 'byte')} of {mime}: {ref} …]"


def missing(amount: str, why: str) -> str:
    """Mark what never reached the store.

    Args:
        amount: the amount, such as ``20,012 characters`` or ``an unknown part``.
        why: the reason, such as ``cut by Claude Code``.
    """
    return f"[… {amount} missing{': ' if why else ''}{why.replace('…', '...')} …]"


def altered(what: str) -> str:
    """Mark lines that are not those that were captured, such as by ``out was changed after its capture``."""
    return f"[… altered: {what} …]"


def more_errors(ref: str, count: int, ranges: Iterable[tuple[int, int]], room: int, *, short: bool = False) -> str:
    """Mark error lines that are not shown: their number, and their line numbers as far as the room goes.

    Args:
        ref: the stream.
        count: number of all of them.
        ranges: their line numbers, (first, last), as far as they are known.
        room: most bytes of the marker; the count alone is given even if it takes more.
        short: whether the ref stands above the view.
    """
    head = f"[… {count:,} more {_plural(count, 'error line')}"
    end = "]" if short else " …]"
    start = f"{head}: {_stream(ref) if short else f'{ref}:' if ref else ''}"
    shortest = f"{head}: {ref} …]" if ref and not short else head + end
    left = room - len(f"{start} and others{end}".encode())
    listed: list[str] = []
    named = 0
    for first, last in ranges:
        text = _lines(first, last)
        left -= len(text) + (2 if listed else 0)
        if left < 0:
            break
        listed.append(text)
        named += last - first + 1
    if not listed:
        return shortest
    return f"{start}{', '.join(listed)}{'' if named == count else ' and others'}{end}"


def error_places(places: Mapping[str, Sequence[int]], room: int) -> str:
    """Mark where errors are that are not shown, by file, one of each first; empty if not even two files fit.

    Args:
        places: line numbers by file.
        room: most bytes of the marker.
    """
    left = room - len("[… at  and others]".encode())
    listed: dict[str, list[int]] = {}
    most = max(map(len, places.values()), default=0)
    for nth in range(most):
        for file, lines in places.items():
            if nth >= len(lines) or (nth and file not in listed):
                continue
            size = len(f" :{lines[nth]}") if nth else len(f", {file}:{lines[0]}")
            if size > left:
                continue
            left -= size
            listed.setdefault(file, []).append(lines[nth])
    if len(listed) < 2:
        return ""
    told = ", ".join(f"{file}:{' :'.join(map(str, lines))}" for file, lines in listed.items())
    is_all = sum(map(len, listed.values())) == sum(map(len, places.values()))
    return f"[… at {told}{'' if is_all else ' and others'}]"


def changed_files(changes: Sequence[tuple[str, int, int]], room: int, *, all_known: bool = True) -> str:
    """Name files of a diff with the lines added and removed in each, as many as fit; empty if none fits.

    Args:
        changes: name, added lines and removed lines of each; neighbours in one folder share its name.
        room: most bytes of the marker.
        all_known: whether the diff has no other files.
    """
    left = room - len("[…  and others …]".encode())
    groups: list[tuple[str, list[str]]] = []
    named = 0
    for name, added, removed in changes:
        folder, mark, base = name.rpartition("/")
        text = f"{base} +{added:,} -{removed:,}"
        is_joined = bool(groups) and groups[-1][0] == folder + mark
        left -= len(text.encode()) + 2 + (0 if is_joined else len((folder + mark).encode()) + 2)
        if left < 0:
            break
        if not is_joined:
            groups.append((folder + mark, []))
        groups[-1][1].append(text)
        named += 1
    if not named:
        return ""
    told = ", ".join(f"{folder}{{{', '.join(texts)}}}" if texts[1:] else folder + texts[0] for folder, texts in groups)
    return f"[… {told}{'' if all_known and named == len(changes) else ' and others'} …]"


def pasted_lines(text: str) -> str:
    """Return the lines that a pasted short marker names (``3-345``, ``.err:7``); empty for any other text."""
    found = re.fullmatch(_PASTED, text)
    return found[1] if found else ""


def pasted_path(text: str) -> str:
    """Return the JSON path that a pasted marker names; empty for any other text."""
    found = re.fullmatch(r"\s*\[… [^…]* elided: @\S+ (\$[^…]*?) …\]\s*", text)
    return found[1] if found else ""


def _at_path(ref: str, path: str) -> str:
    return f"{ref} {path}".lstrip()


def _at(ref: str, first: int, last: int) -> str:
    return f"{ref}:{_lines(first, last)}" if ref else f"{_plural(last - first + 1, 'line')} {_lines(first, last)}"


def _short_at(ref: str, first: int, last: int) -> str:
    return _stream(ref) + _lines(first, last)


def _stream(ref: str) -> str:
    return ".err:" if ref.endswith(".err") else ""


def _lines(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else noun + "s"
