"""The making of command lines: each command declares what it takes in an `argparse` parser, made here."""

import os
import sys
from collections.abc import Sequence
from types import SimpleNamespace

from sightline.typing_names import Any

# argparse would look for translations of its messages. There are none, and the search takes 1.7 ms, half of its time.
# So it is loaded with this object in place of `gettext`; all other modules still get the real one.
_untranslated: Any = SimpleNamespace(gettext=str, ngettext=lambda one, many, count: one if count == 1 else many)
_is_ours = sys.modules.setdefault("gettext", _untranslated) is _untranslated
from argparse import (  # noqa: E402
    REMAINDER,
    SUPPRESS,
    ArgumentParser,
    BooleanOptionalAction,
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
    "BooleanOptionalAction",
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
    """Wraps each line of the description by itself; argparse would either join the lines or leave them unwrapped."""

    def format_help(self) -> str:
        from textwrap import fill  # only the printing of help needs it

        lines = (self.description or "").splitlines()
        self.description = "\n".join(
            fill(line, _width(), subsequent_indent="    " * (line[:1] == " ")) for line in lines
        )
        return super().format_help()


def command_parser(
    name: str, description: str, *examples: str, json: bool = True, profile: bool = False, usage: str = ""
) -> ArgumentParser:
    """Make a command's parser, with the options that several commands share.

    Args:
        name: the command.
        description: what it does, in a sentence or two.
        examples: realistic command lines, which stand at the end of the help.
        json: whether the command can print data as JSON.
        profile: whether a profile shapes what the command prints, so that it has the option for one.
        usage: the line of usage after the command's name, if argparse's own would mislead.
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
    """Declare the options of a command that can read the outputs that many hosts have shipped."""
    made.add_argument(
        "--store",
        default="",
        metavar="URL",
        help="read the outputs that hosts have shipped to this database, such as postgresql://reader@host/db; the word "
        "fleet stands for the one in config.toml, [fleet] store (default: SIGHTLINE_STORE, else this machine's store)",
    )
    made.add_argument("--offline", action="store_true", help="with --store, use only what was read before")


def after_dashes(words: Sequence[str]) -> list[str]:
    """Return the words of another program, which begin after ``--`` or at the first word that is no option of ours.

    Args:
        words: what an argument of `argparse.REMAINDER` holds.
    """
    return list(words[1:] if words[:1] == ["--"] else words)


def seconds(text: str) -> float:
    """Read a number of seconds, 0 or more. Raises ValueError."""
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
