"""Text of a person's or a program's, made fit for one line of a terminal."""

import json


def printable(text: str) -> str:
    """The text with what is not printable written as an escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
