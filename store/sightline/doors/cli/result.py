"""``sightline capture --tool``: keeps a tool's result from standard input, and shows it as an agent would see it."""

import os
from collections.abc import Iterable, Iterator

from sightline.base.errors import UsageError
from sightline.base.project import working_directory
from sightline.base.records import TOOL_FAILED
from sightline.capture.recorder import Unkept
from sightline.capture.result import ResultBlock, blocks_of, call_text, capture_result
from sightline.doors.terminal.arguments import Namespace
from sightline.doors.terminal.output import Door
from sightline.light.json_text import loads
from sightline.shape.budgets import budget_for
from sightline.verbs.command_view import Ending
from sightline.verbs.reply import Reply
from sightline.verbs.result_view import result_reply
from sightline.verbs.unkept_view import unkept_reply

VERB = "capture"
_READ_BYTES = 1 << 18
_MCP_BYTES = 1 << 24  # a result up to this size is searched for MCP's blocks; a larger one is kept as it comes


def capture_tool(given: Namespace) -> int:
    """Keep a result, print its view, and return the exit code.

    Raises:
        UsageError: the arguments are not JSON.
    """
    try:
        arguments = loads(given.arguments) if given.arguments else None
    except ValueError:
        raise UsageError(
            f"--arguments is not JSON: {given.arguments[:80]}", """give JSON, such as --arguments '{"id": 7}'"""
        ) from None
    door = Door(as_json=given.json, profile=given.profile, insist=False, waits=False)
    request = {name: value for name, value in vars(given).items() if value not in (None, "", False, "auto")}

    def call() -> Reply:
        blocks, failed = _blocks(0)
        kept = capture_result(
            door.local,
            blocks,
            command=call_text(given.tool, arguments),
            cwd=working_directory(),
            session=door.asking.session.name,
            label=given.label,
            note=TOOL_FAILED if failed else "",
            sampling=door.asking.profile.results,
        )
        if isinstance(kept, Unkept):
            return unkept_reply(kept, Ending(None), verb=VERB, request=request)._replace(exit_code=0)
        return result_reply(door.asking, kept, verb=VERB, request=request, verbosity=given.verbosity)

    with door:
        budget_for(given.verbosity, True, door.asking.profile.budgets)  # reports a wrong word before reading
        return door.answer(VERB, request, call)


def _blocks(fd: int) -> tuple[Iterable[ResultBlock], bool]:
    """Read the blocks from a descriptor, and whether they report an error."""
    rest = _read(fd)
    head: list[bytes] = []
    size = 0
    for data in rest:
        head.append(data)
        size += len(data)
        if size > _MCP_BYTES:
            return [ResultBlock(_chained(head, rest))], False
    whole = b"".join(head)
    return _of_mcp(whole) or ([ResultBlock([whole])], False)


def _read(fd: int) -> Iterator[bytes]:
    while data := os.read(fd, _READ_BYTES):
        yield data


def _chained(head: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    yield from head
    yield from rest


def _of_mcp(data: bytes) -> tuple[list[ResultBlock], bool] | None:
    if b'"content"' not in data[:4096] and b'"content"' not in data[-4096:]:
        return None
    try:
        return blocks_of(loads(data))
    except ValueError:
        return None
