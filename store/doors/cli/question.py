"""What a command asks the person at its terminal before it does what was not named one by one."""

import os
import sys

from sightline.doors.cli.output import write_err


def can_ask() -> bool:
    """Whether somebody sits where a question is read and an answer typed."""
    return os.isatty(0) and os.isatty(2)


def is_agreed(question: str) -> bool:
    """Ask a question that only yes agrees to."""
    write_err(f"{question} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
