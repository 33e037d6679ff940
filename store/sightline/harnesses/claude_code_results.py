"""What a result in a transcript of Claude Code has of an output: what was cut from it, and which lines were read."""

import re

from sightline.base.records import Gap
from sightline.harnesses.claude_code import text_read
from sightline.harnesses.tool_call import ToolPart, dict_of, number, plain, text_of, text_part
from sightline.harnesses.transcript import KeptText, lines_not_read, parted
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

_CUT_INSIDE = re.compile(r"\n\n\.\.\. \[(\d{1,12}) characters truncated\] \.\.\.\n\n")
_CUT_END = re.compile(r"\n\n\.\.\. \[(\d{1,12}) lines truncated\] \.\.\.(?:\nShell cwd was reset to [^\n]*)?\n?\Z")
_LEAST_HALF = 1_000  # characters; each half of a cut failure was seen to have 5,000
_UNLIKE_PERCENT = 10  # by which the halves may differ, if secrets in them were hidden
_LEAST_OUTPUT = 4_000  # characters; the least that bashOutputMaxChars can be
LARGEST_STDOUT = 30_000
"""Bytes that are kept of a command's output: the default of bashOutputMaxChars."""
_UNIT_BYTES = 3  # in UTF-8, of one of JavaScript's characters, at most
_FEW_WIDE_BYTES = 3_000  # for characters of several bytes in the middle of a text whose ends have none
_TRIMMED_BYTES = 100  # white space at both ends, and a character cut in two; of more nothing is known

_NUMBERED = re.compile(r" *(\d{1,9})[\u2192\t](.*)\Z", re.S)
_REMINDER = "\n\n<system-reminder>"
_READ_LINES = 2_000  # that Read gives at most unless it is asked for more


class Result(NamedTuple):
    """The result of a call: kind and command of its buffer, and its streams."""

    kind: str
    command: str
    parts: tuple[ToolPart, ...]
    exit_code: int | None = None
    partial: str = ""
    note: str = ""
    gaps: tuple[Gap, ...] = ()


def left_of(text: str, start: int = 0, stream: str = "out") -> KeptText:
    """Return what is left of a tool's output in a text that Claude Code may have cut; without gaps if it has not.

    It cuts a failure's text in the middle, so that both halves are of a size, after it has dropped without a word what
    is beyond 30,000 bytes, and white space at both ends (version 2.1.329). How much it dropped is not stated, nor how
    many bytes the characters in the middle have; `_fills_the_limit` estimates whether something was dropped. Older
    versions say at the end how many lines they dropped. A similar mark elsewhere was written by the tool.

    Args:
        text: the text, as the model is shown it.
        start: where the tool's output begins in it.
        stream: the stream of the output.
    """
    missing: list[tuple[int | None, str]] = []
    end = _CUT_END.search(text)
    if end and units(text[start : end.start()]) >= _LEAST_OUTPUT:
        missing, kept = [(int(end[1]), "lines")], text[: end.start()]
    else:
        kept = text
    for found in _CUT_INSIDE.finditer(text):
        halves = units(text[: found.start()]), units(text[found.end() :])
        if min(halves) < _LEAST_HALF or abs(halves[0] - halves[1]) * 100 > max(halves) * _UNLIKE_PERCENT:
            continue
        pieces = [kept[start : found.start()], kept[found.end() :]]
        if not missing and _fills_the_limit("".join(pieces), int(found[1])):
            missing = [(None, "characters")]
        return parted([*pieces, ""] if missing else pieces, [(int(found[1]), "characters"), *missing], stream)
    return parted([kept[start:], ""] if missing else [kept[start:]], missing, stream)


def _fills_the_limit(shown: str, hidden: int) -> bool:
    """Return whether both ends of a text and so many characters between them may have as many bytes as are kept."""
    if shown.isascii():
        return len(shown) + hidden >= LARGEST_STDOUT - _FEW_WIDE_BYTES
    return len(shown.encode(errors="surrogatepass")) + hidden * _UNIT_BYTES >= LARGEST_STDOUT - _TRIMMED_BYTES


def units(text: str) -> int:
    """Return the number of characters as JavaScript counts them."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def file_read(told: Any) -> Result | None:
    """Return the lines that Read gave; None for an image, and anything else that is not text."""
    file = dict_of(dict_of(told).get("file"))
    if not isinstance(file.get("content"), str) or not isinstance(file.get("filePath"), str):
        return None
    first, count, total = (int(number(file.get(name))) for name in ("startLine", "numLines", "totalLines"))
    last = first + count - 1
    partial = f"lines {first}-{last} of {total:,} were read" if first > 1 or last < total else ""
    text, gaps = text_read(file), lines_not_read(first, last, total)
    if text and not total:
        partial, gaps = "which lines were read is not told", ()
    return Result("file", plain(file["filePath"]), text_part(text), None, partial, gaps=gaps)


def numbered_lines(arguments: dict[str, Any], shown: str) -> Result | None:
    """Return the lines that Read gave by what was shown, which is all that helpers' transcripts have; None for others.

    How many lines follow is not told, unless neither the call nor Read's own limit has cut them.
    """
    path, limit = text_of(arguments.get("file_path")), arguments.get("limit")
    lines = [_NUMBERED.match(line) for line in shown.partition(_REMINDER)[0].split("\n")]
    numbers = [int(line[1]) for line in lines if line]
    if not path or len(numbers) != len(lines) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    gaps = lines_not_read(numbers[0], numbers[-1], numbers[-1])
    text = "\n".join(line[2] for line in lines if line)
    if len(numbers) >= (limit if isinstance(limit, int) else _READ_LINES):
        gaps += (Gap("out", len(numbers), None, "lines"),)
        text += "\n"
    partial = f"lines {numbers[0]}-{numbers[-1]} were read" if gaps else ""
    return Result("file", plain(path), text_part(text), None, partial, gaps=gaps)
