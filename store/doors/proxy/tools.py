"""The two tools that the proxy adds to a server's own: how they are told of, and what they are called."""

import re
from typing import TYPE_CHECKING, Any

from sightline.doors.mcp.tools import definitions

if TYPE_CHECKING:
    from sightline.verbs.asking import Calls

READ_OUTPUT, QUERY = "read_output", "query"
ADDED = (READ_OUTPUT, QUERY)
"""The verbs that are added, in the order that they are listed."""

_KEPT = "Large results of the other tools here are kept whole under a ref (@tool_…) and shown to you in part. "
_READ = (
    "Read more of one, in one way: lines, bytes (offset, limit), search or JSON path. Where a result has several "
    "blocks, .0, .1 … after the ref name them."
)
_REFS = "such as @tool_a1b2c3, @tool_a1b2c3.1"
_REF = re.compile(r"@(?:(?:cmd|file|tool)_[0-9a-f]|last\b|sha256:)")


class Names:
    """What the two tools are called beside those of the server.

    Until all pages of the server's own list have gone by, a call is told by its arguments: a client may know the list
    from an earlier run.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._given: dict[str, str] = {}

    def begin(self) -> None:
        """The list is being read from its first page."""
        self._taken = set()

    def take(self, name: str) -> None:
        """Note the name of a tool in the server's list."""
        self._taken.add(name)

    def definitions(self) -> list[dict[str, Any]]:
        """The list is complete: the two tools, each under a name that is free."""
        self._given = {verb: self._free(verb) for verb in ADDED}
        return [
            {
                **tool,
                "name": self._given[tool["name"]],
                "description": _KEPT + (_READ if tool["name"] == READ_OUTPUT else _of_results(tool["description"])),
                "inputSchema": _schema(tool["inputSchema"]),
            }
            for tool in definitions(ADDED)
        ]

    def of(self, verb: str) -> str:
        """What a verb is called."""
        return self._given.get(verb, verb)

    def verb(self, name: str, arguments: Any) -> str | None:
        """The verb that a call is for; None where it is for the server."""
        if self._given:
            return next((verb for verb, given in self._given.items() if given == name), None)
        verb = next((verb for verb in ADDED if name == verb or _is_renamed(name, verb)), None)
        told = arguments if isinstance(arguments, dict) else {}
        first = told.get("ref" if verb == READ_OUTPUT else "pipeline")
        return verb if isinstance(first, str) and _REF.search(first) else None

    def _free(self, verb: str) -> str:
        names = (verb, *(_renamed(verb, number) for number in range(1, len(self._taken) + 2)))
        return next(name for name in names if name not in self._taken)


def _of_results(text: str) -> str:
    """What is told of commands, told of results: there is no command here that ``@last`` could be."""
    return text.replace("@cmd_", "@tool_")


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = schema["properties"]
    if "ref" in properties:
        properties = {**properties, "ref": {**properties["ref"], "description": _REFS}}
    return {**schema, "properties": properties}


def _renamed(verb: str, number: int) -> str:
    return f"sightline_{verb}" if number == 1 else f"sightline_{verb}_{number}"


def _is_renamed(name: str, verb: str) -> bool:
    base, _, number = name.partition(f"sightline_{verb}")
    return not base and (not number or (number[:1] == "_" and number[1:].isdigit()))


def next_call(names: Names) -> "Calls":
    """How a next call is written for this client: as the server's, with the names that the tools have here."""

    def calls(verb: str, **arguments: Any) -> str:
        from sightline.doors.mcp.calls import calls_in  # what is written for a reply has been loaded by it

        told = calls_in(ADDED)(verb, **arguments)
        return names.of(verb) + told.removeprefix(verb) if verb in ADDED else told

    return calls
