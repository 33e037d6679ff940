"""``sightline man``: prints the manual page of all commands, made from their parsers."""

import re
from collections.abc import Iterator

from sightline.base.distribution import version
from sightline.doors.cli.commands import GROUPS, command_of
from sightline.doors.terminal.arguments import SUPPRESS, CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import write_out


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    return command_parser(
        name,
        "Print the manual page, in the format that man(1) reads.",
        "sightline man | man -l -",
        "sightline man > ~/.local/share/man/man1/sightline.1",
        json=False,
    )


def main(_given: Namespace) -> int:
    """Print the page, and return the exit code."""
    write_out(manual_page())
    return 0


def manual_page() -> str:
    """Return the page as text for troff."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH SIGHTLINE 1 "" "sightline {version()}" "User Commands"'
    yield from (".SH NAME", r"sightline \- see what your agent saw, and what it missed")
    yield from (".SH SYNOPSIS", r".B sightline", r"[\fIREF\fR]", ".br", r".B sightline", r"\fICOMMAND\fR ...")
    yield from (
        ".SH DESCRIPTION",
        "Sightline keeps the output of commands, files and tools whole, shows agents a small view of it with a ref,",
        "and records the exact text of every view. Without a command it opens the inspector in a terminal.",
    )
    for title, group in GROUPS.items():
        yield f".SH {_plain(title).upper()}"
        for name in group:
            yield from _command(name)
    yield from (".SH ENVIRONMENT", ".TP", r".B SIGHTLINE_HOME", "The store's folder, instead of the platform's own.")
    yield from (".SH SEE ALSO", r".BR grep (1),", r".BR jq (1),", r".BR script (1)")


def _command(name: str) -> Iterator[str]:
    made = command_of(name)[0].whole()
    usage = " ".join(made.format_usage().removeprefix("usage: ").split())
    yield from (f".SS {_plain(name)}", f".B {_plain(usage)}", ".PP", *_text(made.description or ""))
    for action in made._actions:
        if action.help == SUPPRESS or "-h" in action.option_strings:
            continue
        word = "" if action.nargs == 0 else _plain(str(action.metavar or action.dest))
        options = ", ".join(rf"\fB{_plain(option)}\fR" for option in action.option_strings)
        yield from (".TP", " ".join(filter(None, (options, rf"\fI{word}\fR" if word else ""))))
        yield from _text(action.help or "")
    examples = (made.epilog or "").splitlines()[1:]
    yield from (".PP", ".EX", *map(_plain, examples), ".EE")


def _text(text: str) -> Iterator[str]:
    """Split text into a sentence a line, as troff wants it, and escape what troff would take for a command."""
    for number, line in enumerate(text.splitlines()):
        if number:
            yield ".br"
        for sentence in re.split(r"(?<=[.:]) ", line):
            yield _plain(sentence)


def _plain(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("…", "...")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped
