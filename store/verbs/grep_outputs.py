"""The verb grep: lines that match in many outputs, the newest first; which ones is narrowed before any is read.

It says what it looked through: a search that stops early, or cannot read something, must not pass for one of all.
"""

import re
from collections.abc import Iterator
from typing import Any

from sightline.errors import SightlineError, UsageError
from sightline.log.views import Shows
from sightline.named_tuple import NamedTuple
from sightline.records import Buffer, LinePart, Shown
from sightline.refs import format_ref, host_of
from sightline.shape.clean import clean_line
from sightline.shape.segments import Segment
from sightline.shape.summary import human_bytes
from sightline.store import Reading, Target
from sightline.verbs.asker import Asker
from sightline.verbs.list_outputs import MATCHED_BUFFERS, find_buffers
from sightline.verbs.list_outputs import Request as ListRequest
from sightline.verbs.reply import Reply, in_order

VERB = "grep"
LIMIT = 100
LINE_BYTES = 400
"""Of a line that are shown; of a longer one its beginning."""

_REPLY_BYTES = 48 << 10


class Request(NamedTuple):
    """The arguments of grep.

    Attributes:
        pattern: a regular expression, taken literally where it is none; small letters match capitals, too.
        match: words and filters, as those of list_outputs, that outputs must answer to.
        limit: how many lines at most.
    """

    pattern: str
    match: str = ""
    limit: int = LIMIT

    def logged(self) -> dict[str, Any]:
        """The arguments that were given, for the audit log."""
        return {name: value for name, value in self._asdict().items() if value != Request._field_defaults.get(name)}


class _Looked:
    """What was looked through so far."""

    def __init__(self) -> None:
        self.outputs = self.bytes = self.unread = 0
        self.hosts: set[str] = set()

    def told(self, of: int) -> str:
        hosts = f" of {len(self.hosts):,} host{'' if len(self.hosts) == 1 else 's'}" if any(self.hosts) else ""
        unread = f"; {self.unread:,} could not be read" if self.unread else ""
        return f"looked through {self.outputs:,} of {of:,} outputs{hosts}, {human_bytes(self.bytes)}{unread}"


def grep_outputs(asking: Asker, request: Request) -> Reply:
    """Search many outputs. Raises UsageError for an empty pattern, or one that spans lines, and a limit below 1."""
    if not request.pattern or "\n" in request.pattern or "\0" in request.pattern:
        raise UsageError("the pattern is empty, or spans lines", "give some text, or a regular expression for one line")
    if request.limit < 1:
        raise UsageError(f"limit is {request.limit}", "give a number from 1 on")
    among = find_buffers(asking.store, ListRequest(match=request.match, limit=MATCHED_BUFFERS))
    among = [buffer for buffer in among if buffer.state != "evicted" and buffer.streams]
    looked, rows, shown, parts = _Looked(), list[str](), list[Shown](), list[LinePart]()
    matching = dict[str, None]()
    size, is_whole = 0, True
    for name, stream, number, data in _lines(asking.store, among, _compiled(request.pattern), looked):
        if len(rows) >= request.limit or size >= _REPLY_BYTES:
            is_whole = False
            break
        text = clean_line(data[:LINE_BYTES])
        row = f"{format_ref(name, stream)}:{number}: {text}{'…' if len(data) > LINE_BYTES else ''}\n"
        rows.append(row)
        matching[name] = None
        size += len(row.encode())
        if len(data) > LINE_BYTES:
            parts.append(LinePart(name, stream, number, len(data), ()))
        else:
            shown.append(Shown(name, stream, number, number))
    fields: dict[str, Any] = {"note": looked.told(len(among)), "matches_shown": len(rows)}
    if not is_whole:
        fields |= {"truncated": True, "hint": "there may be more: narrow it, by host, age or words of the command"}
    ordered = in_order(fields)
    ordered.pop("exit_code", None)
    shows = Shows(
        verb=VERB,
        request=request.logged(),
        refs=tuple(matching),
        shown=tuple(shown),
        parts=tuple(parts),
        truncated=not is_whole,
    )
    return Reply(ordered, (Segment("".join(rows)),) if rows else (), shows, missing=True, exit_code=int(not rows))


def _compiled(pattern: str) -> "re.Pattern[bytes]":
    flags = re.MULTILINE | (re.IGNORECASE if pattern == pattern.lower() else 0)
    try:
        return re.compile(pattern.encode(), flags)
    except re.error:
        return re.compile(re.escape(pattern.encode()), flags)


def _lines(
    store: Reading, among: list[Buffer], pattern: "re.Pattern[bytes]", looked: _Looked
) -> Iterator[tuple[str, str, int, bytes]]:
    """(buffer, stream, number, line) of all that match."""
    for buffer in among:
        looked.outputs += 1
        looked.hosts.add(host_of(buffer.name))
        for stream in buffer.streams:
            try:
                with store.open_text(Target(buffer, stream)) as source:
                    for first, block in source.blocks():
                        looked.bytes += len(block)
                        for number, line in _in_block(block, first, pattern):
                            yield buffer.name, stream, number, line
            except SightlineError:
                looked.unread += 1


def _in_block(block: bytes, number: int, pattern: "re.Pattern[bytes]") -> Iterator[tuple[int, bytes]]:
    at = 0
    while found := pattern.search(block, at):
        begin = block.rfind(b"\n", 0, found.start()) + 1
        end = block.find(b"\n", found.start())
        end = len(block) if end < 0 else end
        number += block.count(b"\n", at, begin)
        if begin < len(block):
            yield number, block[begin:end]
        number, at = number + 1, end + 1
        if at > len(block):
            return
