"""Logs views: what was shown, to whom, when and for which request, with its exact text."""

import os
import time

from sightline.base.errors import StoreFailed
from sightline.base.profile import DEFAULT
from sightline.base.project import working_directory
from sightline.base.records import (
    Buffer,
    IndexedView,
    LinePart,
    Session,
    Shown,
    View,
    line_part_from,
    shown_from,
    storable,
)
from sightline.base.refs import format_ref, parse_ref
from sightline.base.sha256 import sha256_hex
from sightline.disk.errors import cause_of, is_busy
from sightline.disk.index import Index, IndexChange
from sightline.disk.log_rows import ViewRow
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Iterable, Sequence
from sightline.log import log
from sightline.log.sessions import header_of
from sightline.shape.segments import Segment, uncut_ranges
from sightline.store import Reading, Store

NOT_KEPT = "nothing is kept in this folder (capture = off)"
"""What the log says of a reply of which it may have neither the request nor the text."""

RUN_COMMAND, READ_FILE = "run_command", "read_file"
"""The verbs whose requests name another folder than the one in which they were asked."""

LITERAL_BYTES = 4096
"""A run of lines up to this size is logged as text; a longer one as a range of its stream, to be rendered again."""


class Shows(NamedTuple):
    """What a reply is about, apart from its text.

    Attributes:
        verb: the verb.
        request: its arguments.
        refs: names of the buffers that it is about.
        shown: the raw lines that it is known to show whole.
        lines_total: number of lines of its buffers.
        bytes_total: number of bytes of its buffers.
        exit_code: exit code of the command or query; None if there is none.
        truncated: whether something was left out.
        asked: the raw lines that it was made from and does not show as they are.
        matched: the raw lines that were recognised in its text.
        parts: the raw lines that it shows only in part.
        unknown: what of its text is not known, and why; empty if the text is exact.
        failed: whether it is an error, or what a tool reports as an error.
        records: the records of these buffers from which it was made; those that are missing are looked up.
    """

    verb: str
    request: dict[str, Any]
    refs: tuple[str, ...] = ()
    shown: tuple[Shown, ...] = ()
    lines_total: int = 0
    bytes_total: int = 0
    exit_code: int | None = None
    truncated: bool = False
    asked: tuple[Shown, ...] = ()
    matched: tuple[Shown, ...] = ()
    parts: tuple[LinePart, ...] = ()
    unknown: str = ""
    failed: bool = False
    records: tuple[Buffer, ...] = ()

    def buffers(self, store: Reading) -> list[Buffer]:
        """Return the records of all its buffers that the store knows, in the order of ``refs``."""
        known = {buffer.name: buffer for buffer in self.records}
        found = (known.get(name) or store.index.buffer(name) for name in dict.fromkeys(self.refs))
        return [buffer for buffer in found if buffer is not None]


class Other(NamedTuple):
    """An entry of the log that is not a view, with its session and number."""

    session: str
    number: int
    entry: dict[str, Any]


class Traced(NamedTuple):
    """The lines from which an answer came.

    Attributes:
        shown: the raw lines that it shows, as far as that is known exactly.
        asked: the raw lines that it was made from and does not show as they are, or nobody can tell.
        parts: the raw lines that it is known to show in part.
    """

    shown: tuple[Shown, ...] = ()
    asked: tuple[Shown, ...] = ()
    parts: tuple[LinePart, ...] = ()


def record_view(
    store: Store,
    session: Session,
    shows: Shows,
    text: Sequence[Segment],
    *,
    uses: Sequence[str] = (),
) -> View:
    """Log a reply before it is sent.

    Args:
        store: the store of this machine, which has the log.
        session: the session that asks.
        shows: what the reply is about.
        text: the exact text, in pieces; plain runs of a sealed buffer's lines may be logged as ranges.
        uses: names of the buffers that it uses, which become the most recently used, in this order.

    Raises:
        StoreFailed: the reply could not be logged.
    """
    return index_view(store, append_view(store, session, shows, text), uses)


class Appended(NamedTuple):
    """A view that is in the log, but not in the index yet."""

    session: Session
    place: log.LinePlace
    fields: dict[str, Any]

    @property
    def is_kept(self) -> bool:
        """Whether the log has its request and its text."""
        return self.fields.get("unknown") != NOT_KEPT

    @property
    def indexed(self) -> IndexedView:
        """Its record for the index."""
        return indexed_view(self.session.name, self.place, self.fields)


def append_view(
    store: Store,
    session: Session,
    shows: Shows,
    text: Sequence[Segment],
    cleaning: str = DEFAULT.cleaning.views,
    *,
    file: log.LogWriter | None = None,
    of: Reading | None = None,
) -> Appended:
    """Do what must happen before a reply is sent: the first half of `record_view`, which raises the same.

    Args:
        file: the session's audit file, if the caller keeps it open.
        of: see `record_view`.
    """
    if not _may_keep(store, session, shows, of or store):
        shows, text = Shows(shows.verb, {}, unknown=NOT_KEPT), ()
    joined = "".join([segment.text for segment in text])
    if not joined.isascii():
        text, joined = _storable(text, joined)
    fields = logged_fields(store, time.time(), shows, joined)
    durable = store.settings.durable
    try:
        pieces = list(_pieces(store, text, cleaning))
        entry = {"kind": "view", **fields, "sealed": _hashes(shows.buffers(of or store)), "text": pieces}
        if file:
            place = file.append(entry, durable=durable)
        else:
            place = log.append(store.layout.audit_file(session.name), header_of(session), entry, durable=durable)
    except OSError as error:
        raise _not_logged(store, error) from error
    return Appended(session, place, fields)


def _may_keep(store: Store, session: Session, shows: Shows, of: Reading) -> bool:
    """Return whether the text and the request of a reply may be kept: where it was asked, and of what it shows."""
    if not store.settings.capture_off:
        return True
    here, request = working_directory(), shows.request
    asked = [session.cwd, here]
    if shows.verb == RUN_COMMAND and (cwd := request.get("cwd")):
        asked = [here, os.path.join(here, os.path.expanduser(str(cwd)))]
    elif shows.verb == READ_FILE and (path := request.get("path")):
        asked.append(os.path.dirname(os.path.realpath(os.path.join(here, os.path.expanduser(str(path))))))
    asked += [os.path.dirname(one.command) if one.kind == "file" else one.cwd for one in shows.buffers(of)]
    return all(store.settings.captures(folder) for folder in asked)


def _storable(text: Sequence[Segment], joined: str) -> tuple[Sequence[Segment], str]:
    """Return the pieces and the whole text; half a surrogate pair, as JSON can spell it, stays spelled so."""
    try:
        joined.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        text = [segment._replace(text=storable(segment.text)) for segment in text]
        joined = "".join([segment.text for segment in text])
    return text, joined


def logged_fields(store: Store, now: float, shows: Shows, text: str) -> dict[str, Any]:
    """Return what the log has of a view beside its text."""
    data, request = text.encode(errors="surrogateescape"), log.loggable(shows.request)
    fields: dict[str, Any] = {
        "time": now,
        "verb": shows.verb,
        "request": told.value(request) if (told := store.settings.redaction()) else request,
        "refs": list(shows.refs),
        "shown": [list(shown) for shown in shows.shown],
        "lines_shown": sum(shown.last - shown.first + 1 for shown in (*shows.shown, *shows.matched)),
        "lines_total": shows.lines_total,
        "bytes_shown": len(data),
        "bytes_total": shows.bytes_total,
        "exit_code": shows.exit_code,
        "truncated": shows.truncated,
        "text_sha256": sha256_hex(data),
        "parts": [list(part) for part in shows.parts],  # an empty list says that all lines are whole
    }
    if shows.asked:
        fields["asked"] = [list(asked) for asked in shows.asked]
    if shows.matched:
        fields["matched"] = [list(matched) for matched in shows.matched]
    if shows.unknown:
        fields["unknown"] = shows.unknown
    if shows.failed:
        fields["failed"] = True
    return fields


def index_view(store: Store, appended: Appended, uses: Sequence[str] = ()) -> View:
    """Index a view, which is the second half of `record_view`, and raises the same.

    It does not wait for an index that is locked for long: the log has the view, and lists find it there later.
    """
    try:
        index = store.index
        with index.hurried(), index.transaction():
            _put(index, appended, uses)
    except Exception as error:
        if not is_busy(error):
            raise _not_logged(store, error) from error
    return appended.indexed.view


def index_soon(store: Store, appended: Appended, uses: Sequence[str] = ()) -> int:
    """Let a view wait for the index, and return how many changes of it wait; if none may, do what `index_view` does."""
    if waiting := store.access.later(IndexChange(lambda index: _put(index, appended, uses))):
        return waiting
    index_view(store, appended, uses)
    return 0


def _put(index: Index, appended: Appended, uses: Sequence[str]) -> None:
    session, place, fields = appended
    if place.number == 1 and index.session(session.name) is None:  # others may have read the log first, and changed it
        index.put_session(session)
    index.put_row(ViewRow.of_fields(session.name, fields).at(*place))
    for name in uses:
        index.touch(name, fields["time"])


def _not_logged(store: Store, error: Exception) -> StoreFailed:
    if isinstance(error, StoreFailed):
        return StoreFailed(f"this reply could not be logged: {error.message}", error.hint)
    what, hint = cause_of(error, store.root)
    return StoreFailed(f"this reply could not be logged: {what}", hint)


def record_shown(store: Store, view: View, traced: Traced) -> None:
    """Log which raw lines a view showed, found after it was sent, as an entry of its own, since the log only grows.

    Raises:
        OSError: the entry could not be logged.
    """
    if not any(traced):
        return
    entry: dict[str, Any] = {"kind": "shown", "of": view.number, "shown": [list(one) for one in traced.shown]}
    entry["time"] = time.time()  # an older version's entry has no time
    if traced.asked:
        entry["asked"] = [list(one) for one in traced.asked]
    if traced.parts:
        entry["parts"] = [list(one) for one in traced.parts]
    number, *where = log.append(store.layout.audit_file(view.session), {}, entry, durable=store.settings.durable)
    with store.index.hurried(), store.index.transaction():
        store.index.amend_view(with_shown(view, traced))
        store.index.advance(view.session, number, *where)


def traced_of(entry: dict[str, Any]) -> Traced:
    """Read such an entry."""
    shown, asked = (tuple(map(shown_from, entry.get(name, ()))) for name in ("shown", "asked"))
    return Traced(shown, asked, tuple(map(line_part_from, entry.get("parts", ()))))


def with_shown(view: View, traced: Traced) -> View:
    lines = sum(one.last - one.first + 1 for one in traced.shown)
    parts = traced.parts if view.parts is not None else None
    return view._replace(shown=traced.shown, asked=traced.asked, lines_shown=lines, parts=parts)


def _hashes(buffers: Iterable[Buffer]) -> dict[str, dict[str, str]]:
    """Return the hashes of the sealed buffers' streams, so that a view says from which bytes it was made."""
    return {
        buffer.name: {stream: info.sha256 for stream, info in buffer.streams.items()}
        for buffer in buffers
        if buffer.state == "sealed" and not any(map(buffer.is_altered, buffer.streams))
    }


def indexed_view(session: str, place: log.LinePlace, fields: dict[str, Any]) -> IndexedView:
    """Make a view's record from its entry in the log."""
    request = dumps(fields["request"], ensure_ascii=False)
    if not request.isascii():  # an older version may have logged what no table accepts
        request = dumps(log.loggable(fields["request"]), ensure_ascii=False)
    view = View(
        id=f"{session}:{place.number}",
        session=session,
        number=place.number,
        time=fields["time"],
        verb=fields["verb"],
        request=request,
        refs=tuple(fields["refs"]),
        shown=tuple(map(shown_from, fields["shown"])),
        lines_shown=fields["lines_shown"],
        lines_total=fields["lines_total"],
        bytes_shown=fields["bytes_shown"],
        bytes_total=fields["bytes_total"],
        exit_code=fields["exit_code"],
        truncated=fields["truncated"],
        text_sha256=fields["text_sha256"],
        asked=tuple(map(shown_from, fields.get("asked", ()))),
        matched=tuple(map(shown_from, fields.get("matched", ()))),
        parts=tuple(map(line_part_from, fields["parts"])) if "parts" in fields else None,
        unknown=fields.get("unknown", ""),
        failed=fields.get("failed") is True,
    )
    return IndexedView(view, place.offset, place.length)


def _pieces(store: Store, text: Sequence[Segment], cleaning: str) -> Iterable[str | list[Any]]:
    """Yield segments for the log: literals as text, long plain runs of lines as ``[ref, first, last, version]``."""
    literal = ""
    for segment in text:
        if segment.ref and not segment.partial and len(segment.text) > LITERAL_BYTES and _is_sealed(store, segment.ref):
            if literal:
                yield literal
            literal = ""
            from sightline.shape.variants import version_of  # 2 ms: few replies quote that much of a sealed output

            yield [segment.ref, segment.first, segment.last, version_of(cleaning)]
        else:
            literal += segment.text
    if literal:
        yield literal


def _is_sealed(store: Store, ref: str) -> bool:
    parsed = parse_ref(ref)
    buffer = store.index.buffer(parsed.name)
    return buffer is not None and buffer.state == "sealed" and not buffer.is_altered(parsed.stream or "out")


def shown_of(segments: Sequence[Segment]) -> tuple[Shown, ...]:
    """Return the raw lines that a text shows whole, with neighbouring ranges joined."""
    shown = []
    for ref, first, last in uncut_ranges(segments):
        parsed = parse_ref(ref)
        shown.append(Shown(parsed.name, parsed.stream or "out", first, last))
    return tuple(shown)


def parts_of(segments: Sequence[Segment]) -> tuple[LinePart, ...]:
    """Return the raw lines that a text shows in part; pieces of one line that follow each other are joined."""
    cuts = dict.fromkeys((segment.ref, cut) for segment in segments for cut in segment.cuts)
    parts = []
    for ref, cut in cuts:
        parsed = parse_ref(ref)
        parts.append(LinePart(parsed.name, parsed.stream or "out", *cut))
    return tuple(parts)


def settled(shows: Shows, buffer: str, stream: str, last: int) -> Shows:
    """Drop from a reply the unfinished lines of one stream, after the last finished one, since they may grow."""
    shown = tuple(
        one if (one.buffer, one.stream) != (buffer, stream) else one._replace(last=min(one.last, last))
        for one in shows.shown
        if (one.buffer, one.stream) != (buffer, stream) or one.first <= last
    )
    parts = tuple(one for one in shows.parts if (one.buffer, one.stream) != (buffer, stream) or one.line <= last)
    return shows._replace(shown=shown, parts=parts)


def ref_of_shown(shown: Shown) -> str:
    """Write a range as a ref: ``@cmd_a1b2c3.err:3-9``."""
    return format_ref(shown.buffer, shown.stream, shown.first, shown.last)
