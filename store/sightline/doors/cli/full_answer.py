"""Prints whole answers as they come, for ``--full`` and for a diff on a terminal.

A pipe gets the bytes as they are. A terminal gets them cleaned, as in views, because an output may hold sequences
that would act on the terminal.
"""

import os

from sightline.base.errors import StoreFailed
from sightline.base.sha256 import new_sha256
from sightline.doors.terminal.output import Door, dim, write_all, write_err, write_out
from sightline.log.views import record_view
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.clean import clean_text
from sightline.shape.segments import Segment
from sightline.verbs.reply import Reply

_LINE_BYTES = 1 << 16
"""A longer line is cleaned in pieces of this size."""


class FullAnswer:
    """Takes an answer in chunks and prints it.

    Into a pipe, the beginning is held back until it is logged, so that an answer up to the hard limit is logged with
    its exact text. A longer answer, and any on a terminal, is printed as it comes and logged with its size and hash.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._held: bytearray | None = None if os.isatty(1) and not as_json else bytearray()
        self._unlimited = as_json  # one JSON value can be printed only when all of it is there
        self._line = b"" if self._held is None else None  # on a terminal, the unfinished last line
        self._bytes = 0
        self._sha256 = new_sha256()

    def __call__(self, data: bytes) -> None:
        """Take the next bytes."""
        self._bytes += len(data)
        self._sha256.update(data)
        if self._held is not None:
            self._held += data
            if self._unlimited or len(self._held) <= HARD_LIMIT_BYTES:
                return
            data, self._held = bytes(self._held), None
        if self._line is None:
            write_all(1, data)
            return
        whole, newline, self._line = (self._line + data).rpartition(b"\n")
        if len(self._line) > _LINE_BYTES:
            whole, newline, self._line = whole + newline + self._line, b"", b""
        if whole or newline:
            write_out(clean_text(whole + newline))

    def finish(self, door: Door, reply: Reply) -> None:
        """Log what has been printed, or is printed now; the reply has the other fields of the query."""
        if self._held is not None:
            text = bytes(self._held).decode(errors="surrogateescape")
            body = (Segment(text), *reply.body) if text else reply.body
            door.deliver(reply._replace(body=body, missing=False))
            return
        if self._line:
            write_out(clean_text(self._line))
        write_err(reply.text)
        streamed = {"streamed": True, "answer_bytes": self._bytes, "answer_sha256": self._sha256.hexdigest()}
        shows = reply.with_shown().shows
        try:
            record_view(
                door.local,
                door.asking.session,
                shows._replace(request={**shows.request, **streamed}),
                reply.body,
                uses=shows.refs,
            )
        except StoreFailed as error:
            write_err(dim(f"sightline: {error.message}") + "\n")
