"""Makes raw bytes fit to be read: UTF-8 text that can do nothing to a terminal.

Most lines hold nothing to clean and are only decoded; the rest go to ``terminal``, loaded with the first of them.
"""

import re

CLEAN_VERSION = 1
"""Changes whenever the same bytes would come out as other text: a stored view names the version it was made with."""

_SPECIAL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]|\xc2[\x80-\x9f]")  # every control but the tab; C1 as UTF-8 has it
_SPECIAL_IN_LINES = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")  # the same without the newline

_COLOUR = re.compile(rb"\x1b(?:\[[0-9;:]*[mK]|\(B)")  # gcc and grep erase to the end of the line beside it


MOVES_UP = re.compile(rb"\x1b(?:\[\d*[AF]|\[[\d;]*[Hf]|\[u|[M8c])")
"""All that moves a cursor to a row above. Without any of these no line is ever rewritten."""


def without_colour(data: bytes) -> bytes:
    """Raw lines without the escape sequences of colours: as good as cleaned for whoever looks for words in them."""
    return _COLOUR.sub(b"", data) if b"\x1b" in data else data


def has_controls(data: bytes) -> bool:
    """Whether some bytes hold anything but text and tabs, so that their cleaned text may be another."""
    return bool(_SPECIAL.search(data))


def clean_line(data: bytes) -> str:
    """The text of one raw line, given without its newline.

    Escape sequences are removed, carriage returns and backspaces overwrite, other controls but the tab are dropped and
    invalid UTF-8 is replaced. A newline inside counts as one of the other controls.
    """
    data = data.rstrip(b"\r")  # of CRLF; at the end a return only moves the cursor
    if not _SPECIAL.search(data):
        return data.decode("utf-8", "replace")
    from sightline.shape.terminal import render  # 2 ms, and most lines have no controls

    return render(data.decode("utf-8", "replace"))


def plain_text(data: bytes) -> str | None:
    """The text of a run of raw lines, as `clean_text` makes it, where it is theirs as it stands; None where not."""
    if _SPECIAL_IN_LINES.search(data):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def clean_text(data: bytes) -> str:
    """The text of a run of raw lines, each cleaned by itself."""
    return "\n".join([clean_line(line) for line in data.split(b"\n")])
