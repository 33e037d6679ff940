"""Makes raw bytes fit to be read: UTF-8 text that can do nothing to a terminal.

Most lines need no cleaning and are only decoded; for the others, ``terminal`` is loaded at its first use.
"""

from sightline.light.late_pattern import late_pattern

CLEAN_VERSION = 1
"""To be raised when the same bytes would become another text, because a stored view names the version that made it."""

_SPECIAL = late_pattern(rb"[\x00-\x08\x0a-\x1f\x7f]|\xc2[\x80-\x9f]")  # every control but the tab; C1 as UTF-8
_SPECIAL_IN_LINES = late_pattern(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")  # the same, without the newline

_TEXT = bytes(range(0x20, 0x7F)) + b"\t"  # bytes of nothing else need no pattern
_TEXT_IN_LINES = _TEXT + b"\n"

_COLOUR = late_pattern(rb"\x1b(?:\[[0-9;:]*[mK]|\(B)")  # gcc and grep also erase to the end of the line


MOVES_UP = late_pattern(rb"\x1b(?:\[\d*[AF]|\[[\d;]*[Hf]|\[u|[M8c])")
"""Everything that moves a cursor to a row above. Without any of these, no line is ever rewritten."""


def without_colour(data: bytes) -> bytes:
    """Return raw lines without the escape sequences of colours, which is enough for a search for words.

    NUL bytes go, too, so that ASCII is found in UTF-16.
    """
    data = data.replace(b"\0", b"") if b"\0" in data else data
    return _COLOUR.sub(b"", data) if b"\x1b" in data else data


def has_controls(data: bytes) -> bool:
    """Return whether bytes hold anything but text and tabs, so that their cleaned text may differ."""
    return bool(data.translate(None, _TEXT)) and bool(_SPECIAL.search(data))


def clean_line(data: bytes) -> str:
    """Return the text of one raw line, given without its newline.

    Escape sequences are removed, carriage returns and backspaces overwrite, other controls but the tab are dropped, and
    invalid UTF-8 is replaced. A newline inside the line is dropped like other controls.
    """
    data = data.rstrip(b"\r")  # from CRLF; at the end, a return only moves the cursor
    if not has_controls(data):
        return data.decode("utf-8", "replace")
    from sightline.shape.terminal import render  # 2 ms, and most lines have no controls

    return render(data.decode("utf-8", "replace"))


def plain_text(data: bytes) -> str | None:
    """Return the text of raw lines that need no cleaning, the same as `clean_text` returns; None if they need some."""
    if data.translate(None, _TEXT_IN_LINES) and _SPECIAL_IN_LINES.search(data):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def clean_text(data: bytes) -> str:
    """Return the text of raw lines, each cleaned by itself."""
    return "\n".join([clean_line(line) for line in data.split(b"\n")])
