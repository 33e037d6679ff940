"""A long answer that passes as it comes: which call it is for, without reading what is in it.

An answer has three members, in any order: so its id stands in its first bytes, or in its last ones, where it can be in
no inner object or string, since these would have to be closed.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

_VERSION = rb'\s*"jsonrpc"\s*:\s*"2\.0"\s*'
_ID = rb'\s*"id"\s*:\s*(-?[0-9.eE+]+|"(?:[^"\\]|\\.)*")\s*'
_RESULT = rb'\s*"(?:result|error)"\s*:'
_BEGINS_WITH_ID = re.compile(rb"\s*\{(?:%b,)?%b,(?:%b,)?%b" % (_VERSION, _ID, _VERSION, _RESULT))
_BEGINS_WITH_RESULT = re.compile(rb"\s*\{(?:%b,)?%b" % (_VERSION, _RESULT))
_ENDS_WITH_ID = re.compile(rb",%b(?:,%b)?\}\s*\Z" % (_ID, _VERSION))
_END_BYTES = 1_024


class LongLine:
    """A line of a server in pieces, whose last one is held back until what it answers is known.

    Attributes:
        size: bytes that have come so far.
        last: the piece that is held back.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        """Take the first piece."""
        self._pieces = pieces
        self._head = self._tail = self.last = next(pieces, b"")
        self.size = len(self.last)

    def all_but_the_last(self) -> Iterator[bytes]:
        """The pieces as they come, but for the last one."""
        for piece in self._pieces:
            yield self.last
            self._tail = self._tail[-_END_BYTES:] + piece[-_END_BYTES:]
            self.size += len(piece)
            self.last = piece

    def answered(self) -> Any:
        """The id of the request that it answers, once all has come; None for any other message."""
        found = _BEGINS_WITH_ID.match(self._head)
        if not found and _BEGINS_WITH_RESULT.match(self._head):
            found = _ENDS_WITH_ID.search(self._tail)
        return _id_of(found[1]) if found else None


def _id_of(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None
