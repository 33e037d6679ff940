"""Command lines: what each command takes is an `argparse` parser, and all of them are made alike."""

import os
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

# argparse looks for translations of its messages. There are none, and finding that out takes half of its time, 1.7 ms:
# so it is loaded with this in the place of `gettext`, which everything else that wants it still gets.
_untranslated: Any = SimpleNamespace(gettext=str, ngettext=lambda one, many, count: one if count == 1 else many)
_is_ours = sys.modules.setdefault("gettext", _untranslated) is _untranslated
from argparse import (  # noqa: E402
    REMAINDER,
    SUPPRESS,
    ArgumentParser,
    Namespace,
    RawDescriptionHelpFormatter,
)

if _is_ours:
    del sys.modules["gettext"]

__all__ = [
    "REMAINDER",
    "SUPPRESS",
    "VERBOSITY_HELP",
    "ArgumentParser",
    "Namespace",
    "add_store",
    "after_dashes",
    "command_parser",
    "seconds",
]

VERBOSITY_HELP = (
    "show less or more of the output: silent, concise, normal, verbose or full; auto shows little of a success and "
    "more of a failure"
)


class _Parser(ArgumentParser):
    """Wraps each line of the description to the terminal; argparse would join the lines, or wrap none."""

    def format_help(self) -> str:
        from textwrap import fill  # which only a person who asks for help waits for

        lines = (self.description or "").splitlines()
        self.description = "\n".join(
            fill(line, _width(), subsequent_indent="    " * (line[:1] == " ")) for line in lines
        )
        return super().format_help()


def command_parser(
    name: str, description: str, *examples: str, json: bool = True, profile: bool = False, usage: str = ""
) -> ArgumentParser:
    """A command's parser, with the options that several commands share.

    Args:
        name: the command.
        description: what it does, in a sentence or two.
        examples: command lines that someone would really type; they stand at the end of the help.
        json: whether it can print data as JSON.
        profile: whether what it prints is shaped by a profile, which can then be chosen.
        usage: what follows the command in the line of usage, where argparse would say it badly.
    """
    made = _Parser(
        prog=f"sightline {name}",
        usage=f"sightline {name} {usage}" if usage else None,
        description=description,
        epilog="\n  ".join(("example:" if len(examples) == 1 else "examples:", *examples)),
        formatter_class=_formatter,
        allow_abbrev=False,
    )
    if json:
        made.add_argument("--json", action="store_true", help="print one JSON value, for a program to read")
    if profile:
        made.add_argument(
            "--profile",
            default="",
            metavar="PROFILE",
            help="use another set of limits and markers: sightline, codescout, everruns, gh-aw or roo",
        )
    return made


def add_store(made: ArgumentParser) -> None:
    """Declare the options of a command that can read what many hosts have shipped."""
    made.add_argument(
        "--store",
        default="",
        metavar="URL",
        help="read what hosts have shipped to this database, postgresql://reader@host/db, or to the one that [fleet] "
        "store of config.toml names: fleet (default: SIGHTLINE_STORE, else this machine's store)",
    )
    made.add_argument("--offline", action="store_true", help="with --store, read what is kept here of earlier readings")


def after_dashes(words: Sequence[str]) -> list[str]:
    """The words of another program, which begin after ``--`` or with the first word that is no option of ours.

    Args:
        words: what an argument of `argparse.REMAINDER` holds.
    """
    return list(words[1:] if words[:1] == ["--"] else words)


def seconds(text: str) -> float:
    """A number of seconds from 0 on. Raises ValueError."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError("it is a number of seconds from 0 on")
    return value


def _formatter(prog: str) -> RawDescriptionHelpFormatter:
    return RawDescriptionHelpFormatter(prog, max_help_position=30, width=_width())


def _width() -> int:
    try:
        return min(os.get_terminal_size().columns, 100) - 2
    except OSError:
        return 78
