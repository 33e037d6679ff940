"""Makes what an agent is shown if an output or a file was not kept, or if the view of a kept one cannot be made.

That is the text itself, as far as a reply may go, and why there is no more.
"""

import os
from collections.abc import Iterator

from sightline.base.errors import SightlineError, StoreFailed
from sightline.base.private_files import open_stored
from sightline.base.records import Buffer, joined_notes
from sightline.capture.recorder import Size, Unkept
from sightline.light.library import suppress
from sightline.light.typing_names import Any
from sightline.log.views import NOT_KEPT, Shows
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.clean import clean_line
from sightline.shape.cut import shape
from sightline.shape.cut_styles import split_bytes
from sightline.shape.markers import clipping, elision
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import Segment, Shaped, join_segments
from sightline.shape.source import Line
from sightline.shape.whole_body import SEPARATOR
from sightline.store import Store, StreamReader
from sightline.verbs.asker import Asker
from sightline.verbs.command_view import Ending, counts_of
from sightline.verbs.line_pieces import beyond, page_of
from sightline.verbs.reply import Reply, fault, fitting, in_order

_COPY_BYTES = 1 << 20
_SNIFFED_BYTES = 8192  # a null byte in these means that a file is not text


def warning_of(error: StoreFailed) -> str:
    """Return the warning of a reply after storing failed."""
    return f"{error.message}; nothing was kept. {error.hint}".strip()


def unkept_reply(unkept: Unkept, ending: Ending, *, verb: str, request: dict[str, Any]) -> Reply:
    """Make the reply if nothing was kept: the output itself, and a plain warning, without a ref that leads nowhere.

    What has been passed on as it came is not repeated.
    """
    why = warning_of(unkept.error) if unkept.error else None
    off = None if unkept.error else NOT_KEPT
    lacks = "what had been written before that could not be read back" if unkept.lacks else None
    redacted = f"redacted: {unkept.redacted:,}" if unkept.redacted else None
    if unkept.passed_on:
        fields = _fields(ending, why, off, lacks, redacted)
        shows = Shows(verb, request, exit_code=ending.exit_code)
        return Reply(fields, (), shows, missing=True, exit_code=ending.process_code, passed_on=True)
    sizes = unkept.out_size, unkept.err_size
    over = len(unkept.out) < sizes[0].bytes or len(unkept.err) < sizes[1].bytes
    shaped = fitting(
        _fields(ending, why, off, lacks, _LOST, redacted),
        HARD_LIMIT_BYTES,
        lambda limit: _beginnings(unkept, limit) if over else _whole(unkept, limit),
        lambda shaped: join_segments(shaped.segments),
    )
    fields = _fields(ending, why, off, lacks, _LOST if shaped.truncated else None, redacted)
    if shaped.truncated:
        fields = in_order(fields | counts_of(shaped) | {"total_bytes": sizes[0].bytes + sizes[1].bytes})
    body = tuple(Segment(segment.text) for segment in shaped.segments)
    shows = Shows(verb, request, exit_code=ending.exit_code, truncated=shaped.truncated)
    return Reply(fields, body, shows, missing=True, exit_code=ending.process_code)


def unmade_reply(
    asking: Asker, buffer: Buffer, ending: Ending, error: Exception, *, verb: str, request: dict[str, Any]
) -> Reply:
    """Make the reply if the view of a kept output cannot be made, for whatever reason: the beginning of the output.

    The command has run, so its output and its exit code must not be lost to an error.
    """
    heads, sizes = list[bytes](), list[Size]()
    for stream in ("out", "err"):
        data, info = b"", buffer.stream(stream)
        with (
            suppress(OSError, SightlineError),
            open(open_stored(asking.local.layout.stream(buffer.name, stream)), "rb") as file,
        ):
            data = file.read(min(HARD_LIMIT_BYTES, info.bytes))
        heads.append(data)
        sizes.append(Size(info.bytes, info.lines) if data else Size())
    warning = f"no view of it could be made ({fault(error)}); {buffer.ref} is kept, and its beginning stands here"
    fields = in_order({"output_id": buffer.ref, **_fields(ending, warning)})
    shaped = fitting(
        fields,
        HARD_LIMIT_BYTES,
        lambda limit: _beginnings(Unkept(heads[0], heads[1], None, 0, sizes[0], sizes[1]), limit, buffer.ref),
        lambda shaped: join_segments(shaped.segments),
    )
    over = any(len(head) < size.bytes for head, size in zip(heads, sizes, strict=True))
    if over:
        fields = in_order(fields | counts_of(shaped) | {"total_bytes": buffer.bytes})
    shows = Shows(verb, request, (buffer.name,), exit_code=ending.exit_code, truncated=over)
    return Reply(fields, shaped.segments, shows, missing=True, exit_code=ending.process_code)


def _whole(unkept: Unkept, limit: int) -> Shaped:
    return shape(BytesSource(unkept.out), BytesSource(unkept.err), budget=None, failed=False, limit=limit)


def _beginnings(unkept: Unkept, limit: int, ref: str = "") -> Shaped:
    """Make the body for streams of which memory has only the beginnings, with markers that count all of them."""
    err_ref = ref and f"{ref}.err"
    err, err_shown = _beginning(unkept.err, unkept.err_size, min(len(unkept.err) + _MARKER_BYTES, limit // 4), err_ref)
    room = limit - len(err.encode()) - len(SEPARATOR.text) - 1
    out, out_shown = _beginning(unkept.out, unkept.out_size, room, ref)
    between = (Segment("" if out.endswith("\n") or not out else "\n"), SEPARATOR) if err else ()
    segments = (Segment(out), *between, Segment(err))
    return Shaped(segments, out_shown, unkept.out_size.lines, err_shown, unkept.err_size.lines, truncated=True)


_MARKER_BYTES = 160


def _beginning(data: bytes, size: Size, room: int, ref: str = "") -> tuple[str, int]:
    """Return the first lines of a stream with a marker for all others, and the number of its lines."""
    raw = data.split(b"\n")
    if len(data) < size.bytes or not raw[-1]:
        last = raw.pop()  # it is unfinished, or empty
    texts: list[str] = []
    left = room - _MARKER_BYTES
    for line in raw:
        text = clean_line(line) + "\n"
        left -= len(text.encode())
        if left < 0:
            break
        texts.append(text)
    shown = len(texts)
    if shown == size.lines:
        return "".join(texts) if data.endswith(b"\n") else "".join(texts)[:-1], shown
    if not texts:  # even the first line is too long
        begun = (raw[0] if raw else last)[: room - _MARKER_BYTES]
        text, _ = split_bytes(clean_line(begun), room - _MARKER_BYTES, 0)
        if size.lines == 1:
            return f"{text}{clipping(ref, 1, size.bytes - len(begun))}\n", 1
        texts.append(text + "\n")
    return "".join(texts) + elision(ref, shown + 1, size.lines) + "\n", shown


_LOST = "what is not shown is lost: there is no ref to it"


def _fields(ending: Ending, why: str | None, *notes: str | None) -> dict[str, Any]:
    note = "; ".join(filter(None, notes)) or None
    return in_order(
        {"exit_code": ending.exit_code, "timed_out": ending.timed_out or None, "warning": why, "note": note}
    )


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

    def plain(self, _first: int, _last: int, _room: int, /) -> Segment | None:
        return None


def _redacted(store: Store, fd: int, error: StoreFailed) -> tuple[int, int]:
    """Return a descriptor of the file without its secrets, and their number; the file's own if nothing is hidden."""
    redaction = store.settings.redaction()
    if redaction is None:
        return fd, 0
    from tempfile import TemporaryFile  # 4 ms, which only hidden secrets need

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
    """Make the reply with as many of the lines as the hard limit allows.

    Args:
        store: says whether secrets are hidden.
        fd: the file, opened for reading; it is closed here.
        path: name of the file.
        first: the first line wanted, from 1; 0 for the beginning.
        last: the last one, inclusive; 0 for the end.
        error: why the file could not be kept.
        verb: the verb.
        request: its arguments.

    Raises:
        BadRange: the lines do not exist.
        StoreFailed: there is no room either for a copy without its secrets.
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
        if b"\0" in reader.read(0, _SNIFFED_BYTES):
            fields["note"] = joined_notes(fields.get("note", ""), "a binary file: its bytes are not shown")
            return Reply(in_order(fields), (), Shows(verb, request), missing=True)
        page = fitting(fields, HARD_LIMIT_BYTES, lambda room: page_of(lines, first, last, room), lambda one: one.text)
    fields |= {"lines": f"{first}-{page.last}", "truncated": page.last < last or bool(page.clipped) or None}
    body = tuple(Segment(segment.text) for segment in page.segments)
    return Reply(in_order(fields), body, Shows(verb, request), missing=True)
