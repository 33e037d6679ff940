"""The verb grep: finds matching lines in many outputs, the newest first, after narrowing these without reading them.

The reply says what was searched, because a search that stops early, or cannot read something, is not complete.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from sightline.base.errors import SightlineError, UsageError
from sightline.base.records import Buffer, LinePart, Shown
from sightline.base.refs import format_ref, host_of
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.views import Shows
from sightline.shape.clean import clean_line
from sightline.shape.segments import Segment
from sightline.shape.source import BLOCK_BYTES, Source
from sightline.shape.summary import human_bytes
from sightline.store import Reading, Target
from sightline.verbs.asker import Asker
from sightline.verbs.list_outputs import MOST_NARROWED, find_names, records_of
from sightline.verbs.reply import Reply, in_order
from sightline.verbs.requests import ListRequest

VERB = "grep"
LIMIT = 100
LINE_BYTES = 400
"""Bytes shown of a longer line, around its first match."""

_LEAD_BYTES = 80  # of them before the match
WINDOW_BYTES = 1 << 22  # of a line longer than a block that are searched at once
_OVERLAP_BYTES = 1 << 16  # that consecutive windows share, so that a match may cross their border

_REPLY_BYTES = 48 << 10
_AT_ONCE = 500  # records that are read together


class GrepRequest(NamedTuple):
    """The arguments of grep.

    Attributes:
        pattern: a regular expression, or plain text if it is not a valid one; small letters match capitals, too.
        match: words and filters for outputs, as in list_outputs.
        limit: most lines to show.
    """

    pattern: str
    match: str = ""
    limit: int = LIMIT

    def logged(self) -> dict[str, Any]:
        """Return the given arguments, for the audit log."""
        return {name: value for name, value in self._asdict().items() if value != GrepRequest._field_defaults.get(name)}


class _Looked:
    """What has been searched so far."""

    def __init__(self) -> None:
        self.outputs = self.bytes = self.unread = self.altered = 0
        self.hosts: set[str] = set()

    def told(self, of: int) -> str:
        hosts = f" of {len(self.hosts):,} host{'' if len(self.hosts) == 1 else 's'}" if any(self.hosts) else ""
        unread = f"; {self.unread:,} could not be read" if self.unread else ""
        unread += f"; {self.altered:,} altered since they were captured" if self.altered else ""
        return f"looked through {self.outputs:,} of {of:,} outputs{hosts}, {human_bytes(self.bytes)}{unread}"


def grep_outputs(asking: Asker, request: GrepRequest) -> Reply:
    """Search many outputs. Raises UsageError for a pattern that is empty or spans lines, and a limit below 1."""
    if not request.pattern or "\n" in request.pattern or "\0" in request.pattern:
        raise UsageError("the pattern is empty, or spans lines", "give some text, or a regular expression for one line")
    if request.limit < 1:
        raise UsageError(f"limit is {request.limit}", "give a number from 1 on")
    among, unsure = find_names(asking.store, ListRequest(match=request.match, limit=MOST_NARROWED), with_bytes=True)
    looked, rows, shown, parts = _Looked(), list[str](), list[Shown](), list[LinePart]()
    matching = dict[str, None]()
    size, is_whole = 0, True
    for name, stream, found in _lines(asking.store, among, _compiled(request.pattern), looked):
        if len(rows) >= request.limit or size >= _REPLY_BYTES:
            is_whole = False
            break
        row = f"{format_ref(name, stream)}:{found.number}: {found.told}\n"
        rows.append(row)
        matching[name] = None
        size += len(row.encode())
        if found.is_whole:
            shown.append(Shown(name, stream, found.number, found.number))
        else:
            there = ((found.start + 1, found.start + len(found.data)),)
            parts.append(LinePart(name, stream, found.number, found.length, there))
    fields: dict[str, Any] = {
        "note": "; ".join(filter(None, (looked.told(len(among)), unsure))),
        "matches_shown": len(rows),
    }
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


class _Found(NamedTuple):
    """A matching line: its number, its bytes or those around the match, their offset, and the line's length."""

    number: int
    data: bytes
    start: int
    length: int

    @property
    def is_whole(self) -> bool:
        """Whether these are all bytes of the line."""
        return len(self.data) == self.length

    @property
    def told(self) -> str:
        """Its text, with an ellipsis where the line goes on."""
        if self.is_whole:
            return clean_line(self.data)
        text = clean_line(self.data).strip("\ufffd")  # half a character at an end
        return f"{'…' * bool(self.start)}{text}{'…' * (self.start + len(self.data) < self.length)}"


def _lines(
    store: Reading, among: Sequence[str], pattern: "re.Pattern[bytes]", looked: _Looked
) -> Iterator[tuple[str, str, _Found]]:
    """Yield (buffer, stream, line) for all matches."""
    for buffer in _records(store, among):
        looked.outputs += 1
        looked.hosts.add(host_of(buffer.name))
        for stream in buffer.streams:
            try:
                with store.open_text(Target(buffer, stream)) as source:
                    for first, block in source.blocks():
                        if len(block) > BLOCK_BYTES:  # part of a longer line
                            begin, end = source.offset_of_line(first), source.offset_of_line(first + 1)
                            looked.bytes += end - begin
                            found = _in_long_line(source, first, begin, end, pattern)
                        else:
                            looked.bytes += len(block)
                            found = _in_block(block, first, pattern)
                        for one in found:
                            yield buffer.name, stream, one
            except SightlineError:
                looked.unread += 1
        looked.altered += bool(store.checked(buffer).altered)


def _records(store: Reading, names: Sequence[str]) -> Iterator[Buffer]:
    for start in range(0, len(names), _AT_ONCE):
        yield from records_of(store, names[start : start + _AT_ONCE])


def _in_long_line(source: Source, number: int, begin: int, end: int, pattern: "re.Pattern[bytes]") -> Iterator[_Found]:
    """Return the line if it matches; it is read in windows, with bytes around each."""
    end -= source.read(end - 1, 1) == b"\n"
    for at in range(begin, end, WINDOW_BYTES):
        start, stop = max(at - _OVERLAP_BYTES, begin), min(at + WINDOW_BYTES + _OVERLAP_BYTES, end)
        match = pattern.search(source.read(start, stop - start), at - start)
        if match and (stop == end or start + match.start() < at + WINDOW_BYTES):  # `$` may match the window's end
            yield _around(number, source.read, begin, end - begin, start - begin + match.start())
            return


def _around(number: int, read: Callable[[int, int], bytes], begin: int, length: int, at: int) -> _Found:
    """Return a line, or the bytes around one byte of a long line; ``read`` returns bytes from an offset on."""
    start = max(min(at - _LEAD_BYTES, length - LINE_BYTES), 0)
    return _Found(number, read(begin + start, min(LINE_BYTES, length - start)), start, length)


def _in_block(block: bytes, number: int, pattern: "re.Pattern[bytes]") -> Iterator[_Found]:
    at = 0
    while found := pattern.search(block, at):
        begin = block.rfind(b"\n", 0, found.start()) + 1
        end = block.find(b"\n", found.start())
        end = len(block) if end < 0 else end
        number += block.count(b"\n", at, begin)
        if begin < len(block):
            yield _around(number, lambda at, size: block[at : at + size], begin, end - begin, found.start() - begin)
        number, at = number + 1, end + 1
        if at > len(block):
            return
