"""``sightline completions``: completes words at Tab, from the grammar of the commands and from the store.

The shell asks the program itself at each Tab, through argcomplete, so the offers are always current.
"""

import glob
import os
from collections.abc import Callable, Mapping
from typing import Any

from sightline.config import default_root
from sightline.doors.cli.arguments import ArgumentParser, Namespace, command_parser
from sightline.doors.cli.commands import COMMANDS, command_of
from sightline.doors.cli.output import write_out
from sightline.errors import SightlineError
from sightline.log.call_names import call_name
from sightline.log.session_list import list_sessions
from sightline.profile import profile_names
from sightline.shape.budgets import MODES
from sightline.shape.summary import one_line
from sightline.store import Store

SHELLS = ("bash", "zsh", "fish")
_OFFERED = 100  # nobody looks through more
_COMMAND_CHARACTERS = 60
_WORD_BREAKS = "_ARGCOMPLETE_COMP_WORDBREAKS"  # bash's variable; argcomplete cuts a word at these characters

Offers = Mapping[str, str]
"""The words that can stand in a place, and a description of each for shells that show descriptions."""


def parser(name: str) -> ArgumentParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Print a script for your shell, with which Tab completes commands, options, refs, sessions, profiles and "
        "files of rules. It needs the extra `completions`: pip install 'sightline[completions]'.",
        'eval "$(sightline completions bash)"    # in ~/.bashrc',
        'eval "$(sightline completions zsh)"     # in ~/.zshrc, after compinit',
        "sightline completions fish > ~/.config/fish/completions/sightline.fish",
        json=False,
    )
    made.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}")
    return made


def main(given: Namespace) -> int:
    """Print the script, and return the exit code.

    Raises:
        SightlineError: argcomplete is not installed.
    """
    try:
        from argcomplete.shell_integration import shellcode  # it comes with an extra
    except ModuleNotFoundError as error:
        raise SightlineError(
            f"completions need a package that is not installed: {error.name}", "pip install 'sightline[completions]'"
        ) from error
    write_out(shellcode(["sightline"], shell=given.shell) + "\n")
    return 0


def answer_shell() -> None:
    """Tell the shell that started this process at a Tab which words can follow, and end the process."""
    from argcomplete import autocomplete  # it comes with an extra; the shell asks only where it is installed
    from argcomplete.completers import ChoicesCompleter

    line = os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])]
    if breaks := os.environ.get(_WORD_BREAKS):  # bash keeps an @ that begins a word as a part of it
        os.environ[_WORD_BREAKS] = breaks.replace("@", "")
    autocomplete(grammar_for(line.split(" ")[1:]), default_completer=ChoicesCompleter({}), validator=_begins)


def grammar_for(words: list[str]) -> ArgumentParser:
    """Return the parser of all commands, in which the typed command has all its options and their completers.

    Args:
        words: the words typed after ``sightline``; the last one is unfinished, and may be empty.
    """
    root = ArgumentParser(prog="sightline", add_help=False)
    if words[0].startswith("@"):
        root.add_argument("ref", metavar="REF")
        _complete(root)
        return root
    commands = root.add_subparsers()
    typed, pair = words[0] if len(words) > 1 else "", " ".join(words[:2]) if len(words) > 2 else ""
    for name, (_, about) in COMMANDS.items():
        first, _, second = name.partition(" ")
        if name == pair and second:
            of_pair = commands.add_parser(f"{first} ", add_help=False).add_subparsers()
            commands.choices[first] = commands.choices.pop(f"{first} ")
            of_pair.add_parser(second, parents=[_complete(command_of(name)[0])], add_help=False)
        elif not second and not (pair in COMMANDS and name == typed):
            parents = [_complete(command_of(name)[0], _seconds(name))] if name == typed else []
            commands.add_parser(name, help=about, parents=parents, add_help=False)
    return root


def _seconds(name: str) -> Offers:
    """Return the second words that a command has, such as ``rm`` of ``sessions rm``."""
    return {
        other.removeprefix(f"{name} "): about for other, (_, about) in COMMANDS.items() if other.startswith(f"{name} ")
    }


def _complete(made: ArgumentParser, seconds: Offers | None = None) -> ArgumentParser:
    """Give each argument the completer of its word in the usage; the first argument also offers second words."""
    from argcomplete.completers import FilesCompleter  # it comes with an extra, as above

    files = FilesCompleter()
    first = True
    for action in made._actions:
        word = str(action.metavar or action.dest)
        offers = _OFFERS.get(word.removesuffix("[:A-B]"))
        others = word.startswith(_FILES)
        if not action.option_strings and seconds and first:
            offers, first = _both(seconds, offers), False
        if offers or others:
            action.completer = _completer(offers, files if others else None)  # type: ignore[attr-defined]
    if seconds and first:
        made.add_argument("second", nargs="?").completer = _completer(lambda: seconds, None)  # type: ignore[attr-defined]
    return made


def _both(seconds: Offers, offers: "Callable[[], Offers] | None") -> "Callable[[], Offers]":
    return lambda: {**seconds, **(offers() if offers else {})}


def _completer(offers: "Callable[[], Offers] | None", files: Any) -> Callable[..., Offers]:
    def completed(prefix: str, **_: object) -> Offers:
        found = dict.fromkeys(files(prefix), "") if files else {}
        try:
            return {**found, **(offers() if offers else {})}
        except SightlineError:  # there is no store to ask, so nothing of it is offered
            return found

    return completed


def _begins(offered: str, prefix: str) -> bool:
    return offered.startswith(prefix)


def _refs() -> Offers:
    with Store() as store:
        listed = [one.buffer for one in store.listed(_OFFERED)]
    found = {buffer.ref: one_line(call_name(buffer), _COMMAND_CHARACTERS) for buffer in listed}
    return {"@last": "the newest command's", **found}


def _sessions() -> Offers:
    with Store() as store:
        return {one.session.name: one.session.title or one.session.harness or "" for one in list_sessions(store)}


def _rules() -> Offers:
    return dict.fromkeys(glob.glob(os.path.join(default_root(), "rules", "*.toml")), "in the store's folder")


_OFFERS: dict[str, Callable[[], Offers]] = {
    "REF": _refs,
    "OUTPUT": _refs,
    "SESSION": _sessions,
    "PROFILE": lambda: dict.fromkeys(profile_names(), ""),
    "RULES": _rules,
    "LEVEL": lambda: dict.fromkeys(("auto", *MODES), ""),
    "STREAM": lambda: dict.fromkeys(("out", "err", "all"), ""),
}
"""The completers, by the word that stands for an argument in the usage."""

_FILES = ("FILE", "FOLDER", "PATH", "OUTPUT", "RULES", "--")
