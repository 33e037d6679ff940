"""Refuses an argument that is longer than any real one, before anything looks into it."""

from sightline.base.errors import UsageError
from sightline.light.typing_names import Any
from sightline.shell_words import LONGEST_COMMAND
from sightline.verbs.asker import LONGEST_REF

_PATTERN_CHARACTERS = 16 << 10
_LONGEST = {
    "command": LONGEST_COMMAND,
    "compare": LONGEST_REF,
    "cwd": 4 << 10,  # PATH_MAX of Linux; macOS has a quarter of it
    "label": 1 << 10,
    "lines": 64,
    "match": 4 << 10,
    "path": 4 << 10,  # of a file, or a JSON path
    "project": 4 << 10,
    "ref": LONGEST_REF,
    "search": _PATTERN_CHARACTERS,
    "session": 1 << 10,
    "stream": 64,
    "until": _PATTERN_CHARACTERS,
    "verbosity": 64,
}
_HINTS = {"command": "write it to a file, and run that: bash FILE"}


def refuse_overlong(arguments: dict[str, Any]) -> None:
    """Raise UsageError if a text among the arguments of a verb, by their names, is longer than it can be."""
    for name, value in arguments.items():
        if isinstance(value, str) and len(value) > _LONGEST.get(name, len(value)):
            raise UsageError(
                f"{name} has {len(value):,} characters", _HINTS.get(name, f"it may have {_LONGEST[name]:,} at most")
            )
