"""Colours a command by the words that a shell would read: programs, options, quoted text, and operators."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

from rich.cells import cell_len

from sightline.shell_words.lexer import OPERATOR, WORD, Token, lexed
from sightline.shell_words.pipelines import assigns
from sightline.shell_words.quoting import ESCAPED, PLAIN, pieces_of
from sightline_tui.common.strips import StripPart

_REDIRECTS = re.compile(r"&*[<>][&<>|-]*")
_BEFORE_A_COMMAND = frozenset(("sudo", "env", "time", "nice", "nohup", "exec", "command", "then", "do", "else", "!"))
_CHANGES_FOLDER = re.compile(r"""cd\s+(?:[^\s'"&;|]+|'[^']*'|"[^"]*")\s*(?:&&|;|↵)\s*(?=\S)""")
_PROGRAM_FOLDER = re.compile(r"/(?:[^\s'\"/]+/)+(?=[^\s/]+\s)")
LEFT_OUT = "… "
START_CHARS = 120
"""The most characters of a beginning that may be left out; that many more are needed to fill a row."""

_KEPT = 200  # commands: those on the screen are redrawn again and again


@lru_cache(maxsize=_KEPT)
def command_parts(command: str) -> tuple[StripPart, ...]:
    """Split a command, made safe to show, into parts with the styles program, option, quoted, join or none.

    It only looks at the words: nothing is expanded, and text outside the grammar of a shell stays plain.
    """
    parts, end, expected = list[StripPart](), 0, True
    tokens = lexed(command.replace("↵", "\n")).tokens
    for at, token in enumerate(tokens):
        if token.start > end:
            parts.append(StripPart(command[end : token.start]))
        end = token.end
        text = command[token.start : end]
        if token.text == "\n":
            parts.append(StripPart(text))
            expected = True
        elif token.kind != WORD or _names_descriptor(tokens, at):
            parts.append(StripPart(text, "join"))
            expected = expected or (token.kind == OPERATOR and not _REDIRECTS.fullmatch(token.text))
        elif expected and not assigns(text) and not text.startswith("-"):
            parts.append(StripPart(text, "program"))
            expected = text in _BEFORE_A_COMMAND
        else:
            plain = "option" if text.startswith("-") else ""
            parts += (
                StripPart(piece.text, plain if piece.kind in (PLAIN, ESCAPED) else "quoted")
                for piece in pieces_of(text)
            )
    if end < len(command):
        parts.append(StripPart(command[end:]))
    return tuple(
        StripPart("".join(part.text for part in same), style) for style, same in groupby(parts, lambda part: part.style)
    )


def _names_descriptor(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a word is one of the numbers in ``2>&1``."""
    token = tokens[at]
    before = tokens[at - 1] if at else token
    behind = tokens[at + 1] if at + 1 < len(tokens) else token
    return token.text.isdigit() and (
        (behind.start == token.end and bool(_REDIRECTS.fullmatch(behind.text)))
        or (before.end == token.start and before.text in (">&", "<&"))
    )


def left_out(command: str, width: int) -> int:
    """Return how many characters at the beginning of a safe command say least; 0 if all of it fits.

    Agents write ``cd FOLDER &&`` before most commands, and programs with their folders; what is done comes after that.
    """
    if cell_len(command) <= width:
        return 0
    begun = _CHANGES_FOLDER.match(command)
    at = begun.end() if begun else 0
    program = _PROGRAM_FOLDER.match(command, at)
    return program.end() if program else at


def parts_in(command: str, width: int) -> list[StripPart]:
    """Return the parts of a command that fit into these cells, without its beginning if need be."""
    start = left_out(command, width)
    return [StripPart(LEFT_OUT, "dim"), *command_parts(command[start:])] if start else list(command_parts(command))
