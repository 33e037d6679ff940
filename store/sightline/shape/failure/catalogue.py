"""The catalogue of tools: recognises whose output this is, by its command or by marks, and has each tool's rule.

Our rules are in ``rules/``. A person's and those of packages are added; a tool of the same name replaces ours. A rule
that cannot be read, or whose patterns take too long, is left out, so that no reply fails because of it.
"""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property, lru_cache
from types import MappingProxyType

from sightline.base.regular_files import read_regular
from sightline.light.named_tuple import NamedTuple
from sightline.shape.failure.tool_rules import KnownTool, Rule, known_in, parse_rules

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "rules")

MAX_FILE_BYTES = 1 << 17
"""Size of an added file of rules at most, with its examples; our largest has a ninth. Reading it takes 50 ms."""

_WORDS_BETWEEN = 3  # options between the two words of a program such as "cargo test"
_WORDS = bytes(at if at > 127 or chr(at).isalnum() or at == 95 else 32 for at in range(256))
"""Turns everything that is not part of a word into a blank."""

_AT_ONCE_BYTES = 1 << 14  # of a text that is split into words; the words of all of it would take twenty times its size

_QUOTING = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "ls", "tree", "diff")) | {
    f"git {name}" for name in ("log", "show", "diff", "grep", "blame")
}
_BESIDE = frozenset(("cd", "head", "tail", "sort", "uniq", "cut", "wc", "tr", "cat", "sed", "awk", "echo", "less"))
"""Programs that quote, and programs beside them that do not change that."""

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|2>\S+|2>&1")
_GIT_PLACE = re.compile(r"\bgit(?:[ ]+(?:-[cC]|--git-dir|--work-tree)[ =]\S+)+")
"""``git`` with options before its subcommand that take a value, such as its folder."""

_STAGES = re.compile(r"[;&|()\n]+")
_SPLIT = re.compile(r"[\s;&|(){}\"'`=]+")


class RuleFile(NamedTuple):
    """An added file of rules, as it was when it was found.

    Attributes:
        path: path of the file.
        size: bytes of the file.
        changed: when it was last changed, in nanoseconds since the epoch.
        refused: tools whose rules are left out, because they failed on their examples.
    """

    path: str
    size: int = 0
    changed: int = 0
    refused: tuple[str, ...] = ()


class _Mark(NamedTuple):
    """Texts that must all occur, and the words in them, because looking up words is faster than searching."""

    parts: tuple[bytes, ...]
    words: frozenset[bytes]

    def stands_in(self, data: bytes) -> bool:
        return all(part in data for part in self.parts)


class Catalogue:
    """The known tools.

    Attributes:
        known: what recognises each: ours in the order of file names, then added ones.
        added: names of the added ones.
    """

    def __init__(self, known: Iterable[KnownTool], added: Mapping[str, RuleFile] = MappingProxyType({})) -> None:
        """Take what is known, and the file of each added tool's rule."""
        self.known = tuple(known)
        self.added = frozenset(added)
        self._files = {one.name: added.get(one.name, RuleFile(one.file)) for one in self.known}

    @cached_property
    def _marks(self) -> dict[bytes, list[tuple[int, _Mark]]]:
        """The marks of all tools, with the tool's place in the catalogue, by one of their words; empty without any."""
        marks: dict[bytes, list[tuple[int, _Mark]]] = {}
        for at, known in enumerate(self.known):
            for parts in known.marks:
                words = _words_in(parts)
                marks.setdefault(min(words, default=b""), []).append((at, _Mark(parts, words)))
        return marks

    @cached_property
    def _sought(self) -> frozenset[bytes]:
        """The words of all marks."""
        return frozenset(word for marks in self._marks.values() for _, mark in marks for word in mark.words)

    @cached_property
    def _programs(self) -> dict[str, list[tuple[int, str]]]:
        """By a program's first word, the tools' places in the catalogue and the word that must follow, or nothing."""
        programs: dict[str, list[tuple[int, str]]] = {}
        for at, known in enumerate(self.known):
            for program in known.programs:
                first, _, second = program.partition(" ")
                programs.setdefault(first, []).append((at, second))
        return programs

    def recognise(self, command: str, data: bytes) -> list[str]:
        """Return the tools whose output this is: those that the command runs, and those whose marks occur in the text.

        Tools that no command runs, such as stack traces, which occur in any tool's output, come last. What a search or
        a list of changes quotes is nobody's output.

        Args:
            command: the command line; empty if it is not known.
            data: the output, or parts of it, without colours.
        """
        words = [word.rsplit("/", 1)[-1] for word in _SPLIT.split(command) if word]
        data = b"\n" + data  # so that a mark for the beginning of a line also matches the first line
        there = _words_there(data, self._sought)
        found = {
            at
            for place, word in enumerate(words)
            for at, second in self._programs.get(word, ())
            if not second or second in words[place + 1 : place + 2 + _WORDS_BETWEEN]
        }
        if not _only_quotes(command):
            for word in (b"", *there):
                for at, mark in self._marks.get(word, ()):
                    if at not in found and mark.words <= there and mark.stands_in(data):
                        found.add(at)
        tools = [self.known[at] for at in sorted(found)]
        return [known.name for known in sorted(tools, key=lambda known: not known.programs)]

    def rule(self, name: str) -> Rule | None:
        """Return the rule of a known tool; None for an added tool with a faulty one, which `check_rules` reports.

        Raises:
            KeyError: there is no such tool.
            ValueError, TypeError: a rule of ours is faulty.
        """
        file = self._files[name]
        try:
            return _rules_in(file).get(name)
        except (OSError, ValueError, TypeError, AttributeError):
            if name not in self.added:
                raise
            return None


@cache
def built_in() -> Catalogue:
    """Return the catalogue of our own rules."""
    found: list[KnownTool] = []
    for entry in sorted(os.listdir(FOLDER)):
        if entry.endswith(".toml"):
            path = os.path.join(FOLDER, entry)
            found += known_in(read_regular(path), path)
    return Catalogue(found)


@lru_cache(maxsize=8)  # of stores, and of the states of their files
def with_added(files: tuple[RuleFile, ...]) -> Catalogue:
    """Return the catalogue with the rules of some files added; for each tool, the last file counts."""
    places: dict[str, RuleFile] = {}
    added: dict[str, KnownTool] = {}
    for file in files:
        try:
            found = [one for one in known_in(read_regular(file.path), file.path) if one.name not in file.refused]
        except (OSError, ValueError, TypeError, AttributeError):
            continue
        added.update((one.name, one) for one in found)
        places.update((one.name, file) for one in found)
    ours = [one for one in built_in().known if one.name not in added]
    return Catalogue([*ours, *added.values()], places)


@lru_cache(maxsize=256)
def _rules_in(file: RuleFile) -> dict[str, Rule]:
    return parse_rules(read_regular(file.path).decode())


def _only_quotes(command: str) -> bool:
    """Return whether a command prints only what it finds in files or in the history."""
    stages = [stage.split() for stage in _STAGES.split(_QUOTED.sub("x", _GIT_PLACE.sub("git", command)))]
    programs = {_program(words) for words in stages if words}
    return not programs.isdisjoint(_QUOTING) and programs <= _QUOTING | _BESIDE


def _program(words: list[str]) -> str:
    name = words[0].rsplit("/", 1)[-1]
    if name != "git":
        return name
    return f"git {next((word for word in words[1:] if not word.startswith('-')), '')}"


def _words_there(data: bytes, sought: frozenset[bytes]) -> set[bytes]:
    """Return those of some words that occur in a text."""
    words, there, at = data.translate(_WORDS), set[bytes](), 0
    while at < len(words):
        end = words.find(b" ", at + _AT_ONCE_BYTES)
        end = len(words) if end < 0 else end
        there |= sought.intersection(words[at:end].split())
        at = end
    return there


def _words_in(parts: Iterable[bytes]) -> frozenset[bytes]:
    """Return the whole words in texts; a word at an end may be cut, and does not count."""
    return frozenset(word for part in parts for word in (b"x%bx" % part).translate(_WORDS).split()[1:-1])
