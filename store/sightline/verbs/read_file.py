"""The verb read_file: captures a file as an immutable version, and shows it whole, in part or as a view."""

import os

from sightline.base.errors import BadRange, StoreFailed, UsageError
from sightline.base.refs import looks_like_a_ref
from sightline.capture.file import capture_file, open_exactly, open_regular
from sightline.light.typing_names import TYPE_CHECKING
from sightline.store import Target
from sightline.verbs.arguments import refuse_overlong
from sightline.verbs.asker import Asker
from sightline.verbs.file_view import OUTLINED_LINES, Called, fields_of, is_binary, reply_from, reply_of
from sightline.verbs.line_pieces import beyond, lines_of, page_of
from sightline.verbs.outline import definitions, place_of
from sightline.verbs.read_output import VERB as READ_OUTPUT
from sightline.verbs.read_output import clipping_fields, read_output
from sightline.verbs.reply import Reply, fitting
from sightline.verbs.requests import FileRequest, ReadRequest
from sightline.verbs.unkept_view import unkept_file

if TYPE_CHECKING:
    from sightline.store import StreamReader

VERB = "read_file"
_LONG_LINES = 200  # in a shorter file, a part's place needs no words


def names_output(asking: Asker, path: str) -> bool:
    """Return whether a path is the ref of an output, and no file has that name."""
    return looks_like_a_ref(asking.ref_of(path)) and not os.path.exists(path)


def read_file(asking: Asker, request: FileRequest) -> Reply:
    """Show a file; for the ref of an output, do what read_output does.

    Raises:
        FileNotReadable: there is no such file, or it cannot be read.
        BadRange: the lines do not exist.
    """
    refuse_overlong(request)
    if names_output(asking, request.path):
        lines = (
            f"{max(request.start_line, 1)}-{request.end_line or ''}" if request.start_line or request.end_line else ""
        )
        return read_output(asking, ReadRequest(request.path, lines=lines))
    path = os.path.abspath(os.path.expanduser(request.path))
    if request.start_line < 0 or (request.end_line and request.end_line < max(request.start_line, 1)):
        raise BadRange(
            f"no such range of lines: {request.start_line}-{request.end_line}", "lines count from 1, inclusive"
        )
    folders = asking.session.cwd, os.path.dirname(path), os.path.dirname(os.path.realpath(path))
    if not all(map(asking.local.settings.captures, folders)):
        raise UsageError("nothing is kept of this folder (capture = off)", "read the file with another tool")
    window = asking.profile.reading.window_lines if request.start_line and not request.end_line else 0
    last = request.start_line + window - 1 if window else request.end_line
    try:
        buffer = capture_file(asking.local, path, asking.session.name, exact=request.exact)
    except StoreFailed as error:
        fd = open_exactly(path) if request.exact else open_regular(path)
        return unkept_file(asking.local, fd, path, request.start_line, last, error, verb=VERB, request=request.logged())
    target = Target(buffer, "out", request.start_line or (1 if request.end_line else 0), last)
    called = Called(VERB, request.logged())
    with asking.store.open_text(target) as source:
        if target.first and not is_binary(source):
            return _part(source, asking, target, request, called)
        return reply_from(source, asking, target, called)


def _part(source: "StreamReader", asking: Asker, target: Target, request: FileRequest, called: Called) -> Reply:
    lines = lines_of(source, target, asking.profile)
    total = lines.line_count
    if target.first > max(total, 1):
        raise beyond(request.path, target.first, total)
    last = min(target.last or total, total)
    fields = fields_of(target.buffer)
    if total > _LONG_LINES:
        fields["summary"] = _where(source, target)
    page = fitting(
        fields,
        asking.profile.reading.page_bytes,
        lambda limit: page_of(lines, target.first, last, limit),
        lambda page: page.text,
        asking.room,
    )
    fields["lines"] = f"{target.first}-{page.last}"
    cut = page.last < last
    if cut:
        fields |= {
            "truncated": True,
            "next": asking.calls(READ_OUTPUT, ref=target.ref, lines=f"{page.last + 1}-{last}"),
        }
    if page.clipped:
        fields |= clipping_fields(asking, page.clipped)
        cut = True
    return reply_of(fields, page.segments, target.buffer, called, missing=cut)


def _where(source: "StreamReader", target: Target) -> str | None:
    """Return where the wanted lines are; None if that is not known."""
    found = definitions(target.buffer.command, source.lines(1, min(target.first, OUTLINED_LINES)))
    place = place_of(found, target.first) if target.first <= OUTLINED_LINES else ""
    return f"line {target.first:,} is in {place}" if place else None
