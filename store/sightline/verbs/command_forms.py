"""Reads `destructive.toml`, and says whether a command has one of the forms there.

The grammar of a form stands at the head of that file.
"""

from fnmatch import fnmatchcase
from functools import cache

from sightline.light.named_tuple import NamedTuple
from sightline.light.toml_text import loads
from sightline.light.typing_names import TYPE_CHECKING, Callable, Mapping, Sequence

if TYPE_CHECKING:
    from sightline.shell_words.commands import Command

ANY = "ANY"
"""Stands for every program."""
OTHER = "OTHER"
"""Stands for every program but readers, whose words are no subcommands."""
UNKNOWN = "UNKNOWN"
"""Stands for the programs of OTHER that have no forms of their own."""
OF_ALL = (ANY, OTHER, UNKNOWN)

_SHORTEST_NAME = len("--abc")  # a shorter beginning of a long option may mean several


class Form(NamedTuple):
    """Arguments that make a command of a program wait.

    Attributes:
        path: patterns of the subcommands, in order, each with its alternatives.
        needs: alternatives, of each of which one must be there: options, and operands behind a ``=``.
        without: the same that may not be there.
        check: name of the function that decides; empty for none.
    """

    path: tuple[tuple[str, ...], ...]
    needs: tuple[tuple[str, ...], ...]
    without: tuple[str, ...]
    check: str


class DestructiveKind(NamedTuple):
    """A kind of destructive command.

    Attributes:
        name: its name in the settings.
        does: what its commands do.
        forms: forms of arguments by the name of a program; ANY stands for every program.
        words: words without which nothing needs to be looked for in other programs.
        spared: subcommands behind which such a word is meant otherwise.
    """

    name: str
    does: str
    forms: dict[str, tuple[Form, ...]]
    words: frozenset[str]
    spared: frozenset[str]


class Kinds(NamedTuple):
    """All that is known of destructive commands.

    Attributes:
        kinds: the kinds, the first that fits gives the reason.
        takes: by program, its options before a subcommand that take the next word.
        same: by program, another one that takes the same arguments.
        runners: words before a program of a package, as in ``npx``, ``bundle exec``.
        programs: the programs that have forms of their own.
        readers: the programs that forms of OTHER do not mean.
    """

    kinds: tuple[DestructiveKind, ...]
    takes: dict[str, frozenset[str]]
    same: dict[str, str]
    runners: frozenset[str]
    programs: frozenset[str]
    readers: frozenset[str]

    def names_of(self, name: str) -> tuple[str, ...]:
        """The names under which forms of a program stand, most exact first."""
        base = name.partition(".")[0]  # mkfs.ext4, python3.11
        own = tuple(dict.fromkeys((name, self.same.get(name, name), base, self.same.get(base, base))))
        if base in self.readers or base in self.runners:
            return (*own, ANY)
        return (*own, ANY, OTHER, UNKNOWN) if self.programs.isdisjoint(own) else (*own, ANY, OTHER)

    def programs_of(self, kind: DestructiveKind) -> tuple[str, ...]:
        """The programs that have forms of a kind."""
        same = (name for name, program in self.same.items() if program in kind.forms)
        return tuple(dict.fromkeys((*(name for name in kind.forms if name not in OF_ALL), *same)))


@cache
def read_kinds(text: str) -> Kinds:
    """Return what the text of such a file holds."""
    tables = loads(text)
    takes = {name: frozenset(options.split()) for name, options in tables.pop("takes").items()}
    same = {name: program for program, names in tables.pop("same").items() for name in names.split()}
    runners, readers = (frozenset(tables.pop(name)["names"].split()) for name in ("runners", "readers"))
    kinds = tuple(_kind(table) for table in tables.values())
    programs = frozenset(name for kind in kinds for name in kind.forms) - frozenset(OF_ALL)
    return Kinds(kinds, takes, same, runners, programs, readers)


def _kind(table: Mapping[str, str]) -> DestructiveKind:
    words, spared = (frozenset(table.get(name, "").split()) for name in ("words", "spared"))
    rows = {name: text for name, text in table.items() if name not in ("name", "does", "words", "spared")}
    forms = {name: tuple(map(_form, text.split(";"))) for name, text in rows.items()}
    return DestructiveKind(table["name"], table["does"], forms, words, spared)


def _form(text: str) -> Form:
    path, needs, without, check = list[tuple[str, ...]](), list[tuple[str, ...]](), list[str](), ""
    for part in text.split() if text.strip() != "*" else ():
        if part[0] == "?":
            check = part[1:]
        elif part[0] == "!":
            without += _arguments(part[1:])
        elif part[0] in "-=":
            needs.append(_arguments(part))
        else:
            path.append(tuple(part.split("|")))
    return Form(tuple(path), tuple(needs), tuple(without), check)


def _arguments(text: str) -> tuple[str, ...]:
    """Return alternatives: options as they are, operands behind a ``=``."""
    return tuple(one if one[0] in "-=" else f"={one}" for one in text.split("|"))


def fits(form: Form, words: Sequence[str], takes: frozenset[str]) -> bool:
    """Return whether the arguments of a command have a form, but for what its check decides.

    Args:
        form: the form.
        words: the program and its arguments.
        takes: options that take the next word as their value.
    """
    if not (form.path or form.needs or form.without):
        return True
    options, plain = _divided(words, takes)
    operands = _behind_path(form.path, plain)
    if operands is None:
        return False

    def has(argument: str) -> bool:
        if argument[0] == "-":
            return any(_is_option(word, argument) for word in options)
        return any(fnmatchcase(word, argument[1:]) for word in operands)

    return all(any(map(has, needed)) for needed in form.needs) and not any(map(has, form.without))


def _divided(words: Sequence[str], takes: frozenset[str]) -> tuple[list[str], list[str]]:
    """Return the options, and the words that are none, without values of options before a subcommand."""
    options, plain = list[str](), list[str]()
    skips = False
    for at, word in enumerate(words[1:], 1):
        if skips:
            skips = False
        elif word == "--":
            plain += words[at + 1 :]
            break
        elif word[:1] == "-" and len(word) > 1:
            options.append(word)
            skips = not plain and word in takes
        else:
            plain.append(word)
    return options, plain


def _behind_path(path: Sequence[tuple[str, ...]], plain: Sequence[str]) -> Sequence[str] | None:
    """Return the operands behind the subcommands; None where these are others."""
    at = 0
    anywhere = False
    for alternatives in path:
        if alternatives == ("**",):
            anywhere = True
            continue
        while at < len(plain) and not _one_of(plain[at], alternatives):
            if not anywhere:
                return None
            at += 1
        if at >= len(plain):
            return None
        at += 1
        anywhere = False
    return plain[at:]


def _one_of(word: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(word, pattern) for pattern in patterns)


def _is_option(word: str, known: str) -> bool:
    if len(known) == 2:
        return word[1] != "-" and known[1] in word[1:]
    name, equals, _ = word.partition("=")
    if "*" in known:
        return fnmatchcase(name, known)
    if "=" in known:
        return word == known
    if known[1] != "-" or word[1] != "-":
        return name == known
    return name == known or (len(name) >= _SHORTEST_NAME and known.startswith(name) and not equals)


def kind_of(
    command: "Command",
    known: Kinds,
    chosen: Sequence[DestructiveKind],
    of_all: Sequence[DestructiveKind],
    decide: Callable[[str, "Command", DestructiveKind], bool],
) -> DestructiveKind | None:
    """Return the first of the chosen kinds that a command is of; None if it is of no kind.

    Args:
        command: the command.
        known: all that is known.
        chosen: the kinds to look at.
        of_all: those with forms of OF_ALL, which most commands need to be held against alone.
        decide: runs the check of a form, by its name.
    """
    names = known.names_of(command.name)
    if known.programs.isdisjoint(names):
        names, chosen = names[names.index(ANY) :], of_all  # a line may have 65,000 commands
    takes = next((known.takes[name] for name in names if name in known.takes), frozenset[str]())
    for kind in chosen:
        for form in (form for name in names for form in kind.forms.get(name, ())):
            if fits(form, command.words, takes) and (not form.check or decide(form.check, command, kind)):
                return kind
    return None
