"""The parser of `argparse` for a command: for help, errors, completion and the manual, and for what is rarely typed."""

import argparse
import os
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Mapping

from sightline.light.typing_names import Any


class _Parser(ArgumentParser):
    """Wraps each line of the description by itself; argparse would either join the lines or leave them unwrapped."""

    def format_help(self) -> str:
        from textwrap import fill  # only the printing of help needs it

        lines = (self.description or "").splitlines()
        self.description = "\n".join(
            fill(line, _width(), subsequent_indent="    " * (line[:1] == " ")) for line in lines
        )
        return super().format_help()


def whole_parser(
    about: Mapping[str, Any],
    declared: Iterable[tuple[tuple[str, ...], Mapping[str, Any], int]],
    commands: Mapping[str, str],
) -> ArgumentParser:
    """Make the parser of a command.

    Args:
        about: what the parser is told of the command.
        declared: the names of each option or word, what it is told of it, and the number of its group, 0 for none.
        commands: what each command does whose name begins with this one's.
    """
    made = _Parser(**about, formatter_class=_formatter, allow_abbrev=False)
    groups: dict[int, Any] = {0: made}
    for names, told, group in declared:
        if group not in groups:
            groups[group] = made.add_mutually_exclusive_group()
        how = dict(told)
        if "action" in how:
            how["action"] = vars(argparse).get(how["action"], how["action"])
        if how["help"] == argparse.SUPPRESS:
            how["help"] = argparse.SUPPRESS  # it looks for this very object
        groups[group].add_argument(*names, **how)
    if commands:
        width = max(map(len, commands))
        listed = "\n".join(f"  {name.ljust(width)}  {does}" for name, does in commands.items())
        made.usage = f"{made.format_usage().removeprefix('usage: ').rstrip()}\n       {made.prog} COMMAND …"
        made.epilog = f"commands, each with its own --help:\n{listed}\n\n{made.epilog}"
    return made


def _formatter(prog: str) -> RawDescriptionHelpFormatter:
    return RawDescriptionHelpFormatter(prog, max_help_position=30, width=_width())


def _width() -> int:
    try:
        return min(os.get_terminal_size().columns, 100) - 2
    except OSError:
        return 78
