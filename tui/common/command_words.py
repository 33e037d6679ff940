"""Colours a command as a shell would read it, roughly: programs, options, quoted text, what joins commands."""

import re
from functools import lru_cache

from rich.cells import cell_len

from sightline.tui.common.strips import Part

_JOINS = r"\|\|?|&&|;|\|&|&(?!\d)"
_WORD = re.compile(
    r"""(?P<space>\s+)
    |(?P<join>"""
    + _JOINS
    + r""")
    |(?P<redirect>\d?[<>]{1,3}(?:&\d)?)
    |(?P<quoted>'[^']*'?|"(?:[^"\\]|\\.)*"?)
    |(?P<word>(?:[^\s'"|&;<>\\]|\\.)+|.)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT = re.compile(r"\w+=")
_BEFORE_A_COMMAND = frozenset(
    ("sudo", "env", "time", "nice", "nohup", "exec", "command", "then", "do", "else", "!", "(")
)
_CHANGES_FOLDER = re.compile(r"""cd\s+(?:[^\s'"&;|]+|'[^']*'|"[^"]*")\s*(?:&&|;|↵)\s*(?=\S)""")
_PROGRAM_FOLDER = re.compile(r"/(?:[^\s'\"/]+/)+(?=[^\s/]+\s)")
LEFT_OUT = "… "
START_CHARS = 120
"""That a command may begin with before it says what is done: so many more are needed to fill a row."""

_KEPT = 2_000  # commands: what is on the screen is drawn again and again


@lru_cache(maxsize=_KEPT)
def command_parts(command: str) -> tuple[Part, ...]:
    """A command, safe to be shown, in parts of the styles program, option, quoted, join or none.

    Only a look at the words: nothing is expanded, and what is no shell's grammar comes out plain.
    """
    parts, expected = list[Part](), True
    for match in _WORD.finditer(command):
        kind, text = match.lastgroup, match[0]
        if kind == "join":
            style, expected = "join", True
        elif kind == "redirect":
            style = "join"
        elif kind == "space":
            style = ""
        elif expected and not _ASSIGNMENT.match(text) and not text.startswith("-"):
            style, expected = "program", text in _BEFORE_A_COMMAND
        elif kind == "quoted":
            style = "quoted"
        else:
            style = "option" if text.startswith("-") else ""
        if parts and parts[-1].style == style:
            parts[-1] = Part(parts[-1].text + text, style)
        else:
            parts.append(Part(text, style))
    return tuple(parts)


def left_out(command: str, width: int) -> int:
    """Characters that a command, safe to be shown, begins with and that say the least; 0 where all of it has room.

    Agents write ``cd FOLDER &&`` before most commands, and programs with their folders: what is done stands behind.
    """
    if cell_len(command) <= width:
        return 0
    begun = _CHANGES_FOLDER.match(command)
    at = begun.end() if begun else 0
    program = _PROGRAM_FOLDER.match(command, at)
    return program.end() if program else at


def parts_in(command: str, width: int) -> list[Part]:
    """As `command_parts`, for so many cells: perhaps without what it begins with."""
    start = left_out(command, width)
    return [Part(LEFT_OUT, "dim"), *command_parts(command[start:])] if start else list(command_parts(command))
