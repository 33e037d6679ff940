"""The arguments of verbs: each is declared once, as a field of the verb's request, and every door takes it from there.

``lines: Annotated[str, Argument("show lines A to B, counted from 1", "A-B")] = ""`` makes an option ``--lines`` of the
command line and of the inspector's query bar, an argument of the tool of MCP, and one of the function of Python. A
field without an `Argument` belongs to one door, which gives it by itself.
"""

from sightline.base.errors import UsageError
from sightline.light.library import cache
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Iterator

TEXT, WHOLE, NUMBER, FLAG = "string", "integer", "number", "boolean"
"""The kinds of values, by the names that a JSON schema has for them."""

VERBOSITIES = ("auto", "silent", "concise", "normal", "verbose", "full")

LONGEST_PATH = 4 << 10  # PATH_MAX of Linux; macOS has a quarter of it
LONGEST_PATTERN = 16 << 10
LONGEST_NAME = 1 << 10
LONGEST_REF = 1 << 10  # a pasted marker has fewer
LONGEST_WORD = 64
"""The most characters of texts: what is longer is no real one."""

_KINDS = {str: TEXT, int: WHOLE, float: NUMBER, bool: FLAG}


class Argument(NamedTuple):
    """What doors say of an argument, and allow.

    Attributes:
        help: for a person who reads the help of the command.
        metavar: the word that stands for the value in the usage; empty for a flag.
        agent: for a model, as short as it can be; None where only people are offered the argument.
        option: its name on the command line; empty for ``--`` and the field's name, which a required field is without.
        other: of a flag that neither holds nor not where it is not given: the option that says no, and its help.
        choices: the values that a model may give.
        least: the smallest number that a model may give.
        most: the largest.
        longest: the most characters that a text can have; 0 for any number.
        hint: what to do about a longer one.
    """

    help: str
    metavar: str = ""
    agent: str | None = None
    option: str = ""
    other: tuple[str, str] | None = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    longest: int = 0
    hint: str = ""


VERBOSITY = Argument(
    "show less or more of the output: silent, concise, normal, verbose or full; auto shows little of a success "
    "and more of a failure",
    "LEVEL",
    "how much of a long output is shown; auto suits",
    choices=VERBOSITIES,
    longest=LONGEST_WORD,
)
"""How much a reply shows of a command's output."""


class Declared(NamedTuple):
    """An argument of a verb.

    Attributes:
        name: of the field.
        kind: TEXT, WHOLE, NUMBER or FLAG.
        is_required: whether it has no default.
        default: its value where it is not given.
        said: what doors say of it.
    """

    name: str
    kind: str
    is_required: bool
    default: Any
    said: Argument

    @property
    def option(self) -> str:
        """Its option on the command line; empty for a word."""
        return "" if self.is_required else self.said.option or f"--{self.name.replace('_', '-')}"


@cache
def arguments_of(request: Any) -> tuple[Declared, ...]:
    """Return the arguments that the class of a verb's request declares, in order."""
    defaults = request._field_defaults
    return tuple(
        Declared(name, _kind(given[0]), name not in defaults, defaults.get(name), given[1])
        for name, given in request.__annotations__.items()
        if isinstance(given, tuple) and isinstance(given[1], Argument)
    )


def _kind(type_: Any) -> str:
    """Return the kind of a type; None as another value does not change it."""
    return _KINDS[getattr(type_, "__args__", (type_,))[0]]


def schema_of(request: Any) -> dict[str, dict[str, Any]]:
    """Return what the JSON schema of a tool says of the arguments that models are offered, by their names."""
    return {one.name: _schema(one) for one in arguments_of(request) if one.said.agent is not None}


def _schema(one: Declared) -> dict[str, Any]:
    limits = {"enum": list(one.said.choices) or None, "minimum": one.said.least, "maximum": one.said.most}
    described = {"type": one.kind, "description": one.said.agent}
    return {**described, **{name: limit for name, limit in limits.items() if limit is not None}}


def written_options(request: Any, given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the option and the value, None for a flag, of each argument that has one; not of words.

    Args:
        request: the class of the request.
        given: values by name.
    """
    for one in arguments_of(request):
        value = given.get(one.name)
        if one.name not in given or not one.option:
            continue
        if one.kind != FLAG:
            yield one.option, value
        elif value or one.said.other:
            yield (one.option if value or not one.said.other else one.said.other[0]), None


def refuse_overlong(request: Any) -> None:
    """Raise UsageError if a text of a request is longer than any real one, before anything looks into it."""
    for one in arguments_of(request.__class__):
        value, longest = getattr(request, one.name), one.said.longest
        if one.kind == TEXT and longest and isinstance(value, str) and len(value) > longest:
            hint = one.said.hint or f"it may have {longest:,} at most"
            raise UsageError(f"{one.name} has {len(value):,} characters", hint)
