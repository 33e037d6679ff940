"""Makes text of a person or a program fit for one line of a terminal."""

from sightline.light.json_text import dumps
from sightline.verbs import late


def printable(text: str) -> str:
    """Return the text with what is not printable, or may hide something, written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return late.fit_to_read(text, escape)


def escape(char: str) -> str:
    """Return a character as JSON escapes it."""
    return dumps(char)[1:-1].replace("\x7f", "\\u007f")
