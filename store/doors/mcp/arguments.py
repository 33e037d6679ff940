"""A tool's arguments as they arrive, held against its schema; what is plainly meant is taken, the rest is refused."""

from collections.abc import Mapping
from typing import Any

from sightline.doors.mcp.tools import schema_of
from sightline.errors import UsageError

_WORDS = {"true": True, "false": False}


def checked(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were given a value, with the types of the schema.

    Models write numbers and flags as text, and nothing as null: these are taken for what they mean.

    Raises:
        UsageError: one is unknown, missing, or has a value that it cannot have.
    """
    schema = schema_of(tool)
    known: dict[str, dict[str, Any]] = schema["properties"]
    if strangers := [name for name in arguments if name not in known]:
        raise UsageError(f"{tool} has no argument {', '.join(strangers)}", f"it takes: {', '.join(known)}")
    values = {
        name: _value(f"{tool}: {name}", value, known[name]) for name, value in arguments.items() if value is not None
    }
    if missing := [name for name in schema.get("required", ()) if name not in values]:
        raise UsageError(f"{tool} needs {', '.join(missing)}", str(known[missing[0]]["description"]))
    return values


def _value(place: str, value: Any, kind: dict[str, Any]) -> Any:
    made = _READERS[kind["type"]](value)
    if made is None:
        raise UsageError(f"{place} is no {kind['type']}: {str(value)[:80]!r}", str(kind["description"]))
    if "enum" in kind and made not in kind["enum"]:
        raise UsageError(f"{place} cannot be {str(made)[:80]!r}", f"it is one of {', '.join(kind['enum'])}")
    if made is not True and made is not False and not isinstance(made, str):
        least, most = kind.get("minimum", made), kind.get("maximum", made)
        if not least <= made <= most:
            upwards = f" to {most}" if "maximum" in kind else " on"
            raise UsageError(f"{place} is {made}", f"it is a number from {least}{upwards}")
    return made


def _text(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # lines=42
    if not isinstance(value, str) or "\0" in value:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:  # half a surrogate pair: no command, path or pattern can hold it
        return None
    return value


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else _WORDS.get(value.lower()) if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def _integer(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number = _number(value)
    return int(number) if number is not None and number == int(number) else None


_READERS = {"string": _text, "boolean": _flag, "number": _number, "integer": _integer}
