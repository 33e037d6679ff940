"""Writes the functions of `sightline.doors.python` from the arguments that the verbs declare."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from sightline.verbs.arguments import Declared, arguments_of

_PLACE = "str | os.PathLike[str]"
TYPES = {
    ("run_command", "command"): "str | Sequence[str]",
    ("run_command", "cwd"): _PLACE,
    ("read_file", "path"): _PLACE,
    ("list_outputs", "project"): _PLACE,
}
"""Types that take more than the verb's: `_answered` makes texts of what they take."""

FIRST = {"run_command": "command", "list_outputs": "match"}
"""Arguments that may be given without a name, though the verb can do without them. A required one always may."""

NAMES = {("list_outputs", "session"): "captured_by"}
"""Names that differ from the verb's: each function has a ``session`` already, the one that asks."""

NEEDED = {("run_command", "command")}
"""Arguments that the function needs: the command line has two ways to give them."""

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_OWN = {
    "store": "the store; that of `SIGHTLINE_HOME` by default.",
    "session": "name of the session that asks; one for each process by default.",
}
_WIDTH = 120


def functions(verbs: dict[str, tuple[Any, Callable[..., Any]]]) -> str:
    """Return the source of a function for each verb.

    Args:
        verbs: the class of the verb's request and what answers it, by the verb's name.
    """
    return "\n\n\n".join("\n".join(_function(verb, *parts)) for verb, parts in verbs.items()) + "\n"


def _function(verb: str, request: Any, answers: Callable[..., Any]) -> Iterator[str]:
    arguments = arguments_of(request)
    bare = [one for one in arguments if one.is_required or FIRST.get(verb) == one.name]
    named = [one for one in arguments if one not in bare]
    yield f"def {verb}("
    yield from (f"    {_parameter(verb, one)}," for one in bare)
    yield "    *,"
    yield from (f"    {_parameter(verb, one)}," for one in named)
    yield "    store: Store | None = None,"
    yield '    session: str = "",'
    yield ") -> Reply:"
    about = " ".join((answers.__doc__ or "").split("\n\n")[0].split())
    yield f'    """{re.split(r"(?<=[.]) ", about)[0]}'
    yield ""
    yield "    Args:"
    for one in arguments:
        yield from _wrapped(f"{NAMES.get((verb, one.name), one.name)}: {one.said.help}.")
    for name, told in _OWN.items():
        yield from _wrapped(f"{name}: {told}")
    yield ""
    yield "    Raises:"
    yield "        SightlineError: the store cannot be opened, or its settings are wrong."
    yield '    """'
    yield f'    return _answered("{verb}", locals())'


def _parameter(verb: str, one: Declared) -> str:
    made = TYPES.get((verb, one.name), _TYPES[one.kind]) + (
        " | None" if one.default is None and not one.is_required else ""
    )
    default = "" if one.is_required or (verb, one.name) in NEEDED else " = " + _literal(one.default)
    return f"{NAMES.get((verb, one.name), one.name)}: {made}{default}"


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _wrapped(text: str) -> Iterator[str]:
    """Yield an entry of a docstring as lines."""
    indent, line = " " * 8, ""
    for word in text.split():
        if line and len(indent) + len(line) + 1 + len(word) > _WIDTH:
            yield indent + line
            indent, line = " " * 12, word
        else:
            line = f"{line} {word}" if line else word
    yield indent + line
