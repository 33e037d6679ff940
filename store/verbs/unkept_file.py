"""What an agent is shown of a file that could not be kept: its lines themselves, and why there is no ref to them."""

import os
from collections.abc import Iterator
from typing import Any

from sightline.errors import StoreFailed
from sightline.log.views import Shows
from sightline.records import joined_notes
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.segments import Segment
from sightline.shape.source import Line
from sightline.store import Store, StreamReader
from sightline.verbs.lines import beyond, page_of
from sightline.verbs.reply import Reply, fitting, in_order
from sightline.verbs.unkept_view import warning_of

_COPY_BYTES = 1 << 20
SNIFFED_BYTES = 8192  # in which a null byte tells that a file is no text


class _File:
    """The lines of a file as it is now; no ref leads to them."""

    def __init__(self, reader: StreamReader) -> None:
        self._reader = reader
        self.line_count = reader.line_count
        self.byte_count = reader.byte_count
        self.unended = () if reader.ends_with_newline else (("out", reader.line_count),)

    def numbered(self, first: int, last: int) -> Iterator[tuple[str, Line]]:
        for line in self._reader.lines(first, min(last, self.line_count)):
            yield "", line


def _redacted(store: Store, fd: int, error: StoreFailed) -> tuple[int, int]:
    """A descriptor of the file without its secrets, and how many there were; the file's own where nothing is hidden."""
    redaction = store.redaction()
    if redaction is None:
        return fd, 0
    from tempfile import TemporaryFile

    try:
        with open(fd, "rb") as file, TemporaryFile() as copy:
            while data := file.read(_COPY_BYTES):
                copy.write(redaction.feed("out", data))
            copy.write(b"".join(redaction.finish().values()))
            copy.flush()
            return os.dup(copy.fileno()), redaction.count
    except OSError:
        raise error from None


def unkept_file(
    store: Store, fd: int, path: str, first: int, last: int, error: StoreFailed, *, verb: str, request: dict[str, Any]
) -> Reply:
    """The reply: as many of the lines as the hard limit lets through.

    Args:
        store: says whether secrets are hidden.
        fd: the file, opened for reading; it is closed.
        path: what it is called.
        first: the first line wanted, 1-based; 0 for the beginning.
        last: the last one, inclusive; 0 for the end.
        error: why it could not be kept.
        verb: the verb that was called.
        request: its arguments.

    Raises:
        BadRange: lines that are not there.
        StoreFailed: there is no room for a copy without its secrets either.
    """
    fields: dict[str, Any] = {"warning": warning_of(error)}
    fd, redacted = _redacted(store, fd, error)
    if redacted:
        fields["note"] = f"redacted: {redacted:,}"
    with StreamReader(fd, "") as reader:
        lines = _File(reader)
        total = lines.line_count
        if first > max(total, 1):
            raise beyond(path, first, total)
        first, last = first or 1, min(last or total, total)
        fields |= {"total_lines": total, "total_bytes": lines.byte_count}
        if b"\0" in reader.read(0, SNIFFED_BYTES):
            fields["note"] = joined_notes(fields.get("note", ""), "a binary file: its bytes are not shown")
            return Reply(in_order(fields), (), Shows(verb, request), missing=True)
        page = fitting(fields, HARD_LIMIT_BYTES, lambda room: page_of(lines, first, last, room), lambda one: one.text)
    fields |= {"lines": f"{first}-{page.last}", "truncated": page.last < last or bool(page.clipped) or None}
    body = tuple(Segment(segment.text) for segment in page.segments)
    return Reply(in_order(fields), body, Shows(verb, request), missing=True)
