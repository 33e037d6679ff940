"""Asks the person at the terminal before a command acts on more than was named one by one."""

import os
import sys

from sightline.doors.terminal.output import write_err


def can_ask() -> bool:
    """Return whether a person can read a question and type an answer."""
    return os.isatty(0) and os.isatty(2)


def is_agreed(question: str) -> bool:
    """Ask a question, and return whether the answer is yes."""
    write_err(f"{question} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
