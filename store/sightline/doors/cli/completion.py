"""``sightline completions``: completes words at Tab, from the grammar of the commands and from the store.

The shell asks the program itself at each Tab, through argcomplete, so the offers are always current.
"""

import contextlib
import glob
import os
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise

from sightline.base.distribution import install_extra
from sightline.base.errors import SightlineError
from sightline.base.profile import profile_names
from sightline.base.refs import host_of
from sightline.doors.cli.commands import COMMANDS, command_of
from sightline.doors.cli.inspector import parser as inspector_parser
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import write_out
from sightline.light.typing_names import Any
from sightline.log.call_names import call_name
from sightline.log.session_list import list_sessions
from sightline.log.store_kinds import opener_of
from sightline.settings.config import default_root
from sightline.shape.budgets import MODES
from sightline.shape.summary import one_line
from sightline.store import STORE_VARIABLE, Reading, Store

SHELLS = ("bash", "zsh", "fish")
_OFFERED = 100  # nobody looks through more
_MOST_LOOKED_AT = 5_000  # outputs among which those of a host are looked for, and all hosts
_COMMAND_CHARACTERS = 60
_WORD_BREAKS = "_ARGCOMPLETE_COMP_WORDBREAKS"  # bash's variable; argcomplete cuts a word at these characters

Offers = Mapping[str, str]
"""The words that can stand in a place, and a description of each for shells that show descriptions."""

_Offering = Callable[[str], Offers]
"""Makes the offers for what is typed of a word."""

Opener = Callable[[], contextlib.AbstractContextManager[Reading]]
"""Opens what the command that is being typed would read: this machine's store, or that of a fleet."""


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Print a script for your shell, with which Tab completes commands, options, refs, sessions, profiles and "
        "files of rules. It needs the extra `completions`.",
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
            f"completions need a package that is not installed: {error.name}", install_extra("completions")
        ) from error
    write_out(shellcode(["sightline"], shell=given.shell) + "\n")
    return 0


def answer_shell() -> None:
    """Tell the shell that started this process at a Tab which words can follow, and end the process."""
    from argcomplete.completers import ChoicesCompleter
    from argcomplete.finders import (
        CompletionFinder,  # it comes with an extra; the shell asks only where it is installed
    )

    line = os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])]
    words = line.split(" ")[1:]
    host = 0
    if "@" in (breaks := os.environ.get(_WORD_BREAKS, "")):
        os.environ[_WORD_BREAKS] = breaks.replace("@", "")  # bash keeps an @ that begins a word as a part of it
        host = words[-1].rfind("@")  # and breaks the word before one that does not

    class Finder(CompletionFinder):
        """Offers what stands behind the host of a ref, where the shell takes the host for another word."""

        def quote_completions(self, completions: list[str], *rest: Any) -> list[str]:
            return [one[max(host, 0) :] for one in super().quote_completions(completions, *rest)]

    Finder()(grammar_for(words), default_completer=ChoicesCompleter({}), validator=_begins)


def grammar_for(words: list[str]) -> ArgumentParser:
    """Return the parser of all commands, in which the typed command has all its options and their completers.

    Args:
        words: the words typed after ``sightline``; the last one is unfinished, and may be empty.
    """
    root = ArgumentParser(prog="sightline", add_help=False)
    complete = partial(_complete, address=_address(words))
    if words[0].startswith(("@", "-")):  # the inspector's own words
        root = inspector_parser().whole()
        root.add_argument("--version", action="store_true", help="print the version, and end")
        complete(root)
        return root
    commands = root.add_subparsers()
    typed, pair = words[0] if len(words) > 1 else "", " ".join(words[:2]) if len(words) > 2 else ""
    for name, (_, about) in COMMANDS.items():
        first, _, second = name.partition(" ")
        if name == pair and second:
            of_pair = commands.add_parser(f"{first} ", add_help=False).add_subparsers()
            commands.choices[first] = commands.choices.pop(f"{first} ")
            of_pair.add_parser(second, parents=[complete(command_of(name)[0].whole())], add_help=False)
        elif not second and not (pair in COMMANDS and name == typed):
            parents = [complete(command_of(name)[0].whole(), _seconds(name))] if name == typed else []
            commands.add_parser(name, help=about, parents=parents, add_help=False)
    return root


def _seconds(name: str) -> Offers:
    """Return the second words that a command has, such as ``rm`` of ``sessions rm``."""
    return {
        other.removeprefix(f"{name} "): about for other, (_, about) in COMMANDS.items() if other.startswith(f"{name} ")
    }


def _address(words: Sequence[str]) -> str:
    """Return the address that is typed behind ``--store``; that of the environment if none is."""
    given = [word.removeprefix("--store=") for word in words[:-1] if word.startswith("--store=")]
    given += [after for word, after in pairwise(words[:-1]) if word == "--store"]
    return given[-1] if given else os.environ.get(STORE_VARIABLE, "")


def _complete(made: ArgumentParser, seconds: Offers | None = None, *, address: str = "") -> ArgumentParser:
    """Give each argument the completer of its word in the usage; the first argument also offers second words."""
    from argcomplete.completers import FilesCompleter  # it comes with an extra, as above

    files = FilesCompleter()
    reads_fleets = any("--store" in action.option_strings for action in made._actions)
    opener = partial(_opened, address if reads_fleets else "")
    first = True
    for action in made._actions:
        word = str(action.metavar or action.dest)
        kind = _OFFERS.get(word.removesuffix("[:A-B]"))
        offers: _Offering | None = partial(kind, opener) if kind else None
        others = word.startswith(_FILES)
        if not action.option_strings and seconds and first:
            offers, first = _both(seconds, offers), False
        if offers or others:
            action.completer = _completer(offers, files if others else None)  # type: ignore[attr-defined]
    if seconds and first:
        made.add_argument("second", nargs="?").completer = _completer(lambda _: seconds, None)  # type: ignore[attr-defined]
    return made


def _both(seconds: Offers, offers: "_Offering | None") -> "_Offering":
    return lambda prefix: {**seconds, **(offers(prefix) if offers else {})}


def _completer(offers: "_Offering | None", files: Any) -> Callable[..., Offers]:
    def completed(prefix: str, **_: object) -> Offers:
        found = dict.fromkeys(files(prefix), "") if files else {}
        try:
            return {**found, **(offers(prefix) if offers else {})}
        except SightlineError:  # there is no store to ask, or no fleet, so nothing of it is offered
            return found

    return completed


def _begins(offered: str, prefix: str) -> bool:
    return offered.startswith(prefix)


@contextlib.contextmanager
def _opened(address: str) -> Iterator[Reading]:
    """Open what is read; of a fleet the copies that are here, or if there are none its newest outputs."""
    with Store() as local:
        kept = opener_of(address, offline=True)
        if kept is None:
            yield local
            return
        with contextlib.closing(kept(local)) as copies:
            if copies.index.totals().buffers:
                yield copies
                return
        asked = opener_of(address, offline=False)
        assert asked is not None
        with contextlib.closing(asked(local)) as fleet:
            yield fleet


def _refs(opener: Opener, prefix: str) -> Offers:
    of_host = "/" in prefix
    with opener() as store:
        buffers = (one.buffer for one in store.listed(_MOST_LOOKED_AT if of_host else _OFFERED))
        listed = list(islice((one for one in buffers if not of_host or one.ref.startswith(prefix)), _OFFERED))
    found = {buffer.ref: one_line(call_name(buffer), _COMMAND_CHARACTERS) for buffer in listed}
    return {"@last": "the newest command's", **found}


def _hosts(opener: Opener, _: str) -> Offers:
    with opener() as store:
        names = {host_of(one.buffer.name) for one in store.listed(_MOST_LOOKED_AT)} - {""}
    return dict.fromkeys(sorted(names), "")


def _sessions(opener: Opener, _: str) -> Offers:
    with opener() as store:
        return {one.session.name: one.session.title or one.session.harness or "" for one in list_sessions(store)}


def _rules(_: Opener, __: str) -> Offers:
    return dict.fromkeys(glob.glob(os.path.join(default_root(), "rules", "*.toml")), "in the store's folder")


_OFFERS: dict[str, Callable[[Opener, str], Offers]] = {
    "REF": _refs,
    "OUTPUT": _refs,
    "GLOB": _hosts,
    "SESSION": _sessions,
    "PROFILE": lambda *_: dict.fromkeys(profile_names(), ""),
    "RULES": _rules,
    "LEVEL": lambda *_: dict.fromkeys(("auto", *MODES), ""),
    "STREAM": lambda *_: dict.fromkeys(("out", "err", "all"), ""),
}
"""The completers, by the word that stands for an argument in the usage."""

_FILES = ("FILE", "FOLDER", "DIR", "PATH", "OUTPUT", "RULES", "--")
