"""Makes text of a person or a program fit for one line of a terminal."""

from sightline.light.json_text import dumps
from sightline.light.late_imports import late_modules

with late_modules(globals()):
    from sightline.shape import invisible_characters  # its pattern: most texts need none


def printable(text: str) -> str:
    """Return the text with what is not printable, or may hide something, written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return invisible_characters.fit_to_read(text, escape)


def escape(char: str) -> str:
    """Return a character as JSON escapes it."""
    return dumps(char)[1:-1].replace("\x7f", "\\u007f")
