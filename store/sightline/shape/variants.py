"""Rules that turn raw bytes into text in another way than a terminal, for profiles that name them."""

from collections.abc import Iterator

from sightline.base.errors import OfNewerVersion
from sightline.base.profile import DEFAULT
from sightline.light.late_pattern import late_pattern
from sightline.shape.clean import CLEAN_VERSION, clean_text
from sightline.shape.source import LINE_LIMIT, Line, Source

VERSION = 1
"""To be raised when these rules change, as CLEAN_VERSION is for the terminal's rule."""

_LONGEST_LINE_BYTES = 8 << 20  # text before a line's last carriage return is dropped; of a longer line, ends decide
_TERMINAL = DEFAULT.cleaning.views
_KNOWN = (_TERMINAL, "last-segment", "csi")
_ESCAPES = late_pattern(
    r"\x1b\[[^@-~]*(?:[@-~]|\Z)"  # CSI up to its final byte, or to the end of the line without one
    r"|\x1b\].*?(?:\x07|\x1b\\|\Z)"  # OSC, ended by BEL or ST
    r"|\x1b[()].?"  # charset designations
    r"|\x1b.?"
)
_CSI = late_pattern(rb"\x1b\[[0-?]*[ -/]*[@-~]")
_CONTROLS = late_pattern(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")


def last_segment(data: bytes) -> str:
    """Return the text of one raw line after its last carriage return, without escape sequences.

    This is Everruns' rule; the return that ends the line does not count. Other controls but the tab are dropped.
    """
    text = _ESCAPES.sub("", data.decode("utf-8", "replace"))
    return _CONTROLS.sub("", text.removesuffix("\r").rpartition("\r")[2])


def text_of(data: bytes, cleaning: str) -> str:
    """Return the text of raw lines by a profile's rule: ``terminal``, ``last-segment`` or ``csi``.

    ``csi`` leaves other escapes and controls in, as codescout does, so its text must not go to a terminal.
    """
    if cleaning == _TERMINAL:
        return clean_text(data)
    if cleaning == "csi":
        return _CSI.sub(b"", data).decode("utf-8", "replace")
    return "\n".join([last_segment(line) for line in data.split(b"\n")])


def version_of(cleaning: str) -> int | str:
    """Return the name of a rule in the log, beside the lines that it was used on."""
    return CLEAN_VERSION if cleaning == _TERMINAL else f"{cleaning}/{VERSION}"


def cleaning_of(version: int | str) -> str:
    """Return the rule that the log names. Raises OfNewerVersion for an unknown one."""
    if isinstance(version, int):
        name, number, newest = _TERMINAL, version, CLEAN_VERSION
    else:
        name, _, stated = version.partition("/")
        number, newest = int(stated or VERSION), VERSION
    if name not in _KNOWN or number > newest:
        raise OfNewerVersion(f"what a view shows, by the rule {version}")
    return name


def cleaned_line(line: Line, cleaning: str) -> Line:
    """Return a line cleaned by a profile's rule for views; if it was not read whole, each end by itself."""
    if cleaning == _TERMINAL:
        return line
    if not line.whole:
        return _ends_cleaned(line)
    return _cleaned_from(line.number, line.data)


def cleaned(source: Source, cleaning: str) -> Source:
    """Return the source cleaned by a profile's rule for views; unchanged if that is the terminal's rule."""
    return source if cleaning == _TERMINAL else _Cleaned(source)


class _Cleaned:
    """A source whose lines are cleaned by ``last_segment``, so that cleaning them again changes nothing.

    Numbers, sizes, blocks and bytes by offset are those of the raw stream.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self.ref = source.ref
        self.line_count = source.line_count
        self.byte_count = source.byte_count
        self.blocks = source.blocks
        self.read = source.read

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
        """Yield lines first to last, inclusive, each cleaned; of one still beyond the limit, the two ends."""
        for line in self._source.lines(first, last, limit):
            if line.whole:
                made = _cleaned_from(line.number, line.data)
            elif line.length <= _LONGEST_LINE_BYTES:
                whole = next(self._source.lines(line.number, line.number, line.length))
                made = _cleaned_from(line.number, whole.data)
            else:
                yield _ends_cleaned(line)
                continue
            yield made if made.length <= limit else _ends(made, limit // 2)


def _cleaned_from(number: int, raw: bytes) -> Line:
    data = last_segment(raw).encode()
    return Line(number, data, len(data)) if data == raw else Line(number, data, len(data), len(raw), raw.rfind(data))


def _ends(line: Line, half: int) -> Line:
    return line._replace(data=line.data[:half] + line.data[line.length - half :])


def _ends_cleaned(line: Line) -> Line:
    """Clean the ends of a line too long to be read whole, each by itself, and make them equally long."""
    half = len(line.data) // 2
    head, tail = last_segment(line.data[:half]).encode(), last_segment(line.data[half:]).encode()
    kept = min(len(head), len(tail))
    data = head[:kept] + tail[len(tail) - kept :]
    return line._replace(data=data, raw_length=line.length, raw_start=0 if data == line.data else -1)
