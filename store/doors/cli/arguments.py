"""Command lines: what a command takes, declared once; read quickly where they are right, else by argparse.

argparse writes the help and the errors. Reading a plain command line with it costs 5 ms, half of a start of Python.
"""

import os
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import argparse


class Parser:
    """One command's arguments. `add_argument` takes what argparse's does."""

    def __init__(self, name: str, description: str, example: str) -> None:
        self._name = name
        self._description = description
        self._example = example
        self._declared: list[tuple[tuple[str, ...], dict[str, Any]]] = []

    def add_argument(self, *names: str, **options: Any) -> None:
        """Declare an option or a positional argument."""
        self._declared.append((names, options))

    def parse_args(self, words: Sequence[str]) -> Any:
        """The arguments as attributes; help and errors end the process as argparse does."""
        given = _read(self._declared, iter(words))
        return self._careful().parse_args(words) if given is None else given

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line and end the process with 2."""
        self._careful().error(message)

    def _careful(self) -> "argparse.ArgumentParser":
        import argparse

        made = argparse.ArgumentParser(
            prog=f"sightline {self._name}",
            description=self._description,
            epilog=f"example:\n  {self._example}",
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(
                prog, max_help_position=30, width=_width()
            ),
            allow_abbrev=False,
        )
        for names, options in self._declared:
            made.add_argument(*names, **options)
        return made


def parser(name: str, description: str, *, example: str, json: bool = True, profile: bool = False) -> Parser:
    """A command's parser.

    Args:
        name: the command.
        description: what it does, in a sentence or two.
        example: a command line that someone would really type.
        json: whether it can print data as JSON.
        profile: whether what it prints is shaped by a profile, which can then be chosen.
    """
    made = Parser(name, description, example)
    if json:
        made.add_argument("--json", action="store_true", help="print one JSON value")
    if profile:
        made.add_argument(
            "--profile",
            default="",
            metavar="NAME",
            help="as sightline, codescout, everruns, gh-aw, roo",
        )
    return made


def seconds(text: str) -> float:
    """A number of seconds from 0 on. Raises ValueError."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError("it is a number of seconds from 0 on")
    return value


def _width() -> int:
    try:
        return min(os.get_terminal_size().columns, 100) - 2
    except OSError:
        return 78


def _read(declared: list[tuple[tuple[str, ...], dict[str, Any]]], words: Iterator[str]) -> SimpleNamespace | None:
    """The arguments, where each word is plainly one that was declared; None where argparse must judge."""
    options = {name: (names, kind) for names, kind in declared if names[0].startswith("-") for name in names}
    values = {_destination(names, kind): _default(kind) for names, kind in declared}
    loose: list[str] = []
    for word in words:
        if word == "--":
            loose += words
        elif not word.startswith("-") or word == "-":
            loose.append(word)
        else:
            name, equals, text = word.partition("=")
            if name not in options:
                return None
            names, kind = options[name]
            if kind.get("action") == "store_true":
                if equals:
                    return None
                values[_destination(names, kind)] = True
                continue
            text = text if equals else next(words, "-")
            if text.startswith("-") and not equals:
                return None
            try:
                values[_destination(names, kind)] = kind.get("type", str)(text)
            except ValueError:
                return None
    positional = [(names[0], kind.get("nargs")) for names, kind in declared if not names[0].startswith("-")]
    for name, count in positional:
        if count in ("*", "+"):
            values[name], loose = loose, []
            if count == "+" and not values[name]:
                return None
        elif loose:
            values[name] = loose.pop(0)
        elif count != "?":
            return None
    return None if loose else SimpleNamespace(**values)


def _destination(names: tuple[str, ...], kind: dict[str, Any]) -> str:
    long = next((name for name in names if name.startswith("--")), names[0])
    return str(kind.get("dest") or long.lstrip("-").replace("-", "_"))


def _default(kind: dict[str, Any]) -> Any:
    return False if kind.get("action") == "store_true" else kind.get("default")
