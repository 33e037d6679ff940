"""Recognises commands that wait until the caller confirms them. This is a seat belt, not a sandbox."""

import os

from sightline.base.errors import SettingError
from sightline.light.late_imports import late_modules
from sightline.light.late_pattern import re
from sightline.light.typing_names import TYPE_CHECKING, Collection, Sequence

if TYPE_CHECKING:
    from sightline.shell_words.commands import Command
    from sightline.verbs.command_forms import DestructiveKind, Kinds

with late_modules(globals()):
    from sightline.shell_words import commands  # 4 ms: few lines have a word of commands that ask back
    from sightline.verbs import (
        command_forms,  # 3 ms, for the same lines
        destructive_checks,
    )

ALL = "all"
"""Stands for every known kind in ``[safety] confirm_not``."""

_MOST_COMMANDS = 3_000  # in one line; to judge one takes up to 0.2 ms
_NO_PROGRAMS = frozenset(("name", "does", "names", "spared", ""))
_FORK_BOMB = frozenset("(){|&")


def reason_to_confirm(
    line: str, confirm: Collection[str] = (), confirm_not: Collection[str] = (), folder: str = ""
) -> str:
    """Return why a command waits for a confirmation; empty if it does not.

    Args:
        line: the command line.
        confirm: regular expressions, and names of known kinds, for further commands that wait.
        confirm_not: names of known kinds that do not wait, or ALL, and regular expressions to take out of ``confirm``.
        folder: the folder that it runs in; empty for the current one.

    Raises:
        SettingError: a name is not one of a kind, or a regular expression is faulty.
    """
    text = known_text()
    named = bool(confirm or confirm_not)
    if not named and not _may_wait(line, text):
        return ""
    known = command_forms.read_kinds(text)
    names = {kind.name for kind in known.kinds}
    for name in confirm_not:
        if name != ALL and name not in names and name not in confirm:
            raise SettingError(
                f"safety.confirm_not: there is no kind {name!r}", f"known are: {ALL}, {', '.join(sorted(names))}"
            )
    for pattern in confirm:
        if pattern not in names and pattern not in confirm_not and _own(pattern).search(line):
            return f"{pattern}: the settings ask for a confirmation"
    kinds = [
        kind
        for kind in known.kinds
        if kind.name not in confirm_not and (ALL not in confirm_not or kind.name in confirm)
    ]
    if not kinds or (named and not _may_wait(line, text)):
        return ""
    return _reason(line, known, kinds, folder or os.getcwd())


_text = ""


def known_text() -> str:
    """The text of `destructive.toml`."""
    global _text
    if not _text:
        with open(os.path.join(os.path.dirname(__file__), "destructive.toml"), encoding="utf-8") as file:
            _text = file.read()
    return _text


def _may_wait(line: str, text: str) -> bool:
    """Return whether a line has a sign, or a word that the file of known kinds has before a ``=`` or among `words`.

    Most lines have none, so no shell text needs to be read, and the file need not be parsed.
    """
    if any(sign in line for sign in _SIGNS) or _FORK_BOMB.issubset(line) or _may_empty(line):
        return True
    plain = line.replace("\\\n", "").translate(_PLAIN)
    tables, _, same = text.partition("\n[same]\n")
    programs, verbs = set(same.translate(_PLAIN).split()), set[str]()
    for row in tables.split("\n"):
        name, _, value = row.partition(" = ")
        if name == "words":
            verbs.update(value[1:-1].split())
        else:
            programs.add(name)
    words = {*plain.split(), *plain.lower().split()}
    return not words.isdisjoint(programs - _NO_PROGRAMS) or not verbs.isdisjoint(
        (*words, *plain.lower().replace("-", " ").replace("_", " ").split())
    )


def _may_empty(line: str) -> bool:
    """Return whether a ``>`` may belong to a command without output, or goes to a device."""
    at = line.find(">")
    while at >= 0:
        before = line[max(0, at - 40) : at].rstrip(" \t")
        if (
            not before
            or before[-1] in ";&|(){\n:"
            or before.endswith(_SILENT)
            or line[at + 1 : at + 8].lstrip().startswith(_DEVICES)
        ):
            return True
        at = line.find(">", at + 1)
    return False


_SIGNS = ("$'", "IFS", "-delete", "-erase", "-purge", "-wipe", "-destroy")
_SILENT = ("true", "false", "echo", "/dev/null", "then", "do", "else", "-n", "''", '""', "!")
_DEVICES = ("/dev/", "/proc/")


def _reason(line: str, known: "Kinds", kinds: "Sequence[DestructiveKind]", folder: str) -> str:
    def decide(name: str, command: "Command", kind: "DestructiveKind") -> bool:
        return destructive_checks.CHECKS[name](command, folder, kind)

    of_all = [kind for kind in kinds if not kind.forms.keys().isdisjoint(command_forms.OF_ALL)]
    judged = set[tuple[object, ...]]()  # the same again would be judged the same, and a line may repeat it 65,000 times
    for command in commands.commands_in(line):
        if (folder, command) in judged:
            continue
        judged.add((folder, command))
        if len(judged) > _MOST_COMMANDS:
            return f"more than {_MOST_COMMANDS:,} different commands: the rest is not read"
        options = command.words[: command.words.index("--")] if "--" in command.words else command.words
        if "--help" in options or "--version" in options:
            continue
        if command.name == "cd" and len(command.words) == 2:
            folder = os.path.join(folder, os.path.expanduser(command.words[1]))
        for words in (_behind_runners(command.words, known.runners), command.words):
            if words and (kind := command_forms.kind_of(command._replace(words=words), known, kinds, of_all, decide)):
                return f"{kind.name}: {kind.does}"
    return ""


def _behind_runners(words: Sequence[str], runners: Collection[str]) -> tuple[str, ...]:
    """Return the words from the program that ``npx`` or the like runs; none if nothing of that kind does."""
    at = 0
    while at < len(words) and (words[at] in runners or (at and words[at][:1] == "-")):
        at += 1
    return tuple(words[at:]) if at else ()


def _own(pattern: str) -> "re.Pattern[str]":
    try:
        return re.compile(pattern)
    except re.error as error:
        raise SettingError(
            f"safety.confirm: {pattern!r} is no regular expression: {error}", "a kind's name or a regex"
        ) from error


_PLAIN = str.maketrans({**dict.fromkeys(";&|(){}`<>!,/=$[]:.", " "), **dict.fromkeys("'\"\\")})
