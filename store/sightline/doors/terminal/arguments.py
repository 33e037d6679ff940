"""The making of command lines: each command declares what it takes, as to `argparse`, whose answer it gets.

Most command lines are plain: options that stand alone or before their value, and words. These are read here. Everything
else, such as help and what is wrong, goes to the parser of `argparse` that is then made of the same declarations,
because loading and making that takes as long as half of `python -c pass`.
"""

from sightline.light.typing_names import TYPE_CHECKING, Any, Callable, Container, NoReturn, Sequence, TypeVar
from sightline.verbs.arguments import FLAG, NUMBER, WHOLE, arguments_of

if TYPE_CHECKING:
    import argparse

REMAINDER, SUPPRESS = "...", "==SUPPRESS=="
"""As `argparse` has them."""

YES_OR_NO = "BooleanOptionalAction"
"""The action of an option that has a second form with ``no-`` before its name; the class of `argparse` for it."""

_OF_PLAIN_OPTIONS = {"default", "help", "metavar", "dest", "type", "choices", "required"}


Made = TypeVar("Made")


class Namespace:
    """What was given, by name: the value of each option and word, or its default."""

    def __init__(self, **given: Any) -> None:
        vars(self).update(given)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...


class Declaration:
    """An option or a word that a command takes.

    Attributes:
        names: the option's names, or the word's.
        how: what `argparse` is told of it.
        group: the number of the group of which one option only can be given; 0 for none.
        dest: the name of its value.
        is_flag: whether it is an option without a value.
    """

    def __init__(self, names: tuple[str, ...], how: dict[str, Any], group: int) -> None:
        self.names, self.how, self.group = names, how, group
        self.is_flag = how.get("action") == "store_true"
        self.dest: str = how.get("dest") or self._own_name()

    def _own_name(self) -> str:
        if self.names[0][:1] != "-":
            return self.names[0]
        name = next((name for name in self.names if name.startswith("--")), self.names[0])
        return name.lstrip("-").replace("-", "_")

    def default(self) -> Any:
        """Return its value where it is not given; a text is read as one that is given."""
        value = self.how.get("default", False if self.is_flag else None)
        return self.how["type"](value) if isinstance(value, str) and "type" in self.how else value

    def value_of(self, text: str) -> Any:
        """Return the value that a text stands for. Raises whatever its type raises, ValueError if it is no choice."""
        made: Callable[[str], Any] = self.how.get("type", str)
        value = made(text)
        choices = self.how.get("choices")
        if choices is not None and value not in choices:
            raise ValueError(value)
        return value


class CommandParser:
    """What a command takes.

    Attributes:
        about: what `argparse.ArgumentParser` is told of the command.
        declared: its options and words, in order.
        commands: what each command does whose name begins with this one's, as ``fleet init`` with ``fleet``.
        at_error: is called once the words of a command line were found to be wrong, before the process ends.
    """

    def __init__(self, **about: Any) -> None:
        self.about = about
        self.declared: list[Declaration] = []
        self.commands: dict[str, str] = {}
        self.at_error: Callable[[], None] = lambda: None
        self._groups = 0

    def add_argument(self, *names: str, **how: Any) -> None:
        """Declare an option or a word, as `argparse.ArgumentParser.add_argument` does."""
        self.declared.append(Declaration(names, how, 0))

    def add_mutually_exclusive_group(self) -> "_Group":
        """Declare a group, of whose options one can be given."""
        self._groups += 1
        return _Group(self.declared, self._groups)

    def parse_args(self, words: Sequence[str]) -> Namespace:
        """Read the words of a command line. Ends the process after help, or after an error if they are wrong."""
        given = self._plain(words)
        if given is not None:
            return Namespace(**given)
        try:
            return self.whole().parse_args(words, Namespace())
        except SystemExit as end:
            if end.code:
                self.at_error()
            raise

    def error(self, message: str) -> NoReturn:
        """Print an error with the usage, and end the process."""
        self.whole().error(message)

    def whole(self) -> "argparse.ArgumentParser":
        """Return the parser of `argparse` that takes the same."""
        from sightline.doors.terminal.whole_parser import whole_parser  # see the module's head

        about = {**self.about}
        if callable(about.get("description")):
            about["description"] = about["description"]()
        return whole_parser(about, [(one.names, one.how, one.group) for one in self.declared], self.commands)

    def _plain(self, words: Sequence[str]) -> dict[str, Any] | None:
        """Read a plain command line; None if it is for `argparse`."""
        options = {name: one for one in self.declared for name in one.names if name[:1] == "-"}
        places = [one for one in self.declared if one.names[0][:1] != "-"]
        given: dict[str, Any] = {}
        last_word, found, at, groups = 0, list[str](), 0, dict[int, str]()
        takes_rest = len(places) == 1 and places[0].how.get("nargs") == REMAINDER
        while at < len(words):
            word = words[at]
            at += 1
            if takes_rest and (word[:1] != "-" or word == "--"):
                found.extend(words[at - 1 :])
                break
            if word[:1] != "-":
                if found and last_word < at - 1:
                    return None  # `argparse` takes words that are apart for those of different places
                found.append(word)
                last_word = at
                continue
            name, equals, text = word.partition("=")
            option = options.get(name)
            if option is None or (option.group and groups.setdefault(option.group, option.dest) != option.dest):
                return None
            if option.is_flag and not equals:
                given[option.dest] = True
                continue
            if not option.how.keys() <= _OF_PLAIN_OPTIONS:
                return None
            if not equals and at < len(words):
                text = words[at]
                at += 1
            if not text or text[0] == "-":
                return None
            try:
                given[option.dest] = option.value_of(text)
            except Exception:  # the whole parser tells what is wrong with it
                return None
        if takes_rest:
            given[places[0].dest] = found
        elif not _place(found, places, given):
            return None
        for one in self.declared:
            if one.dest not in given:
                if one.how.get("required"):
                    return None
                given[one.dest] = one.default()
        return {one.dest: given[one.dest] for one in self.declared}


class _Group:
    """See `CommandParser.add_mutually_exclusive_group`."""

    def __init__(self, declared: list[Declaration], number: int) -> None:
        self._declared, self._number = declared, number

    def add_argument(self, *names: str, **how: Any) -> None:
        """Declare an option of the group."""
        self._declared.append(Declaration(names, how, self._number))


def _place(found: list[str], places: list[Declaration], given: dict[str, Any]) -> bool:
    """Give words to their places; return False if it is not plain where they belong."""
    kinds = [one.how.get("nargs") for one in places]
    needed = kinds.count(None)
    if kinds == ["+"] and found:
        values: list[Any] = [found]
    elif len(found) in (needed, len(kinds)) and kinds in ([None] * needed, [*[None] * needed, "?"]):
        values = list(found)
    else:
        return False
    for one, value in zip(places, values, strict=False):
        try:
            given[one.dest] = [one.value_of(each) for each in value] if value is found else one.value_of(value)
        except Exception:  # the whole parser tells what is wrong with it
            return False
    return True


def command_parser(
    name: str,
    description: str | Callable[[], str],
    *examples: str,
    json: bool = True,
    profile: bool = False,
    usage: str = "",
) -> CommandParser:
    """Make a command's parser, with the options that several commands share.

    Args:
        name: the command.
        description: what it does, in a sentence or two; a function if making it takes long.
        examples: realistic command lines, which stand at the end of the help.
        json: whether the command can print data as JSON.
        profile: whether a profile shapes what the command prints, so that it has the option for one.
        usage: the line of usage after the command's name, if argparse's own would mislead.
    """
    made = CommandParser(
        prog=f"sightline {name}",
        usage=f"sightline {name} {usage}" if usage else None,
        description=description,
        epilog="\n  ".join(("example:" if len(examples) == 1 else "examples:", *examples)),
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


def add_arguments(made: CommandParser, request: Any, *, without: Container[str] = ()) -> None:
    """Declare the arguments of a verb, as words and options.

    Args:
        made: the parser.
        request: the class of the verb's request.
        without: names of arguments that the command takes in another way.
    """
    for one in arguments_of(request):
        if one.name in without:
            continue
        how: dict[str, Any] = {"help": one.said.help}
        if one.option:
            how["dest"] = one.name
        if one.kind == FLAG:
            owner = made.add_mutually_exclusive_group() if one.said.other else made
            if one.said.other:
                option, told = one.said.other
                owner.add_argument(option, dest=_NOT + one.name, action="store_true", help=told)
            owner.add_argument(one.option, action="store_true", **how)
            continue
        if one.option:
            how["default"] = one.default
        if one.kind in _TYPES:
            how["type"] = _TYPES[one.kind]
        made.add_argument(one.option or one.name, metavar=one.said.metavar, **how)


def request_of(request: Callable[..., Made], given: Namespace, **more: Any) -> Made:
    """Return a verb's request with the arguments that a command line gave.

    Args:
        request: the class of the request.
        given: the words and options, declared by `add_arguments`.
        more: fields that the command gives by itself, also in place of options.
    """
    values = vars(given)
    found = {one.name: values[one.name] for one in arguments_of(request) if one.name in values}
    for one in arguments_of(request):
        if one.said.other and one.name in found:
            found[one.name] = found[one.name] or (False if values[_NOT + one.name] else None)
    return request(**{**found, **more})


def add_store(made: CommandParser) -> None:
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
        words: what an argument of `REMAINDER` holds.
    """
    return list(words[1:] if words[:1] == ["--"] else words)


def seconds(text: str) -> float:
    """Read a number of seconds, 0 or more. Raises ValueError."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError("it is a number of seconds from 0 on")
    return value


_NOT = "not "  # before the name of a flag, for the option that says no
_TYPES: dict[str, Callable[[str], Any]] = {WHOLE: int, NUMBER: seconds}
