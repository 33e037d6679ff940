"""Text of a person's or a program's, made fit for one line of a terminal."""

import json

from sightline.verbs import late


def printable(text: str) -> str:
    """The text with what is not printable, or may hide something, written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return late.fit_to_read(text, escape)


def escape(char: str) -> str:
    """A character as JSON escapes it."""
    return json.dumps(char)[1:-1].replace("\x7f", "\\u007f")
