"""The log of views: what was shown, to whom, when and for what, with its exact text."""

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any

from sightline.disk.errors import cause_of, is_busy
from sightline.errors import StoreFailed
from sightline.log import log
from sightline.log.sessions import header_of
from sightline.named_tuple import NamedTuple
from sightline.profile import DEFAULT
from sightline.records import (
    IndexedView,
    LinePart,
    Session,
    Shown,
    View,
    line_part_from,
    shown_from,
    storable,
)
from sightline.refs import format_ref, parse_ref
from sightline.sha256 import sha256_hex
from sightline.shape.segments import Segment, uncut_ranges
from sightline.store import Reading, Store

LITERAL_BYTES = 4096
"""A run of lines up to this size is logged as text, a longer one as a range of its stream: it can be rendered again."""


class Shows(NamedTuple):
    """What a reply is about, apart from its text.

    Attributes:
        verb: the verb that was called.
        request: its arguments.
        refs: names of the buffers it concerns.
        shown: the raw lines that are known to stand in it, whole.
        lines_total: lines that its buffers have.
        bytes_total: bytes that they have.
        exit_code: of the command or query, None where there is none.
        truncated: whether something was left out.
        asked: the raw lines that went into it and do not stand there as they are.
        matched: the raw lines that were recognised in its text.
        parts: the raw lines that stand in it only in part.
        unknown: what of its text is not known, and why; empty where it is exact.
        failed: whether it is an error, or what a tool reports as one.
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


class Other(NamedTuple):
    """An entry of the log that is no view: session and number are its place, and what it says."""

    session: str
    number: int
    entry: dict[str, Any]


class Traced(NamedTuple):
    """Where the lines of an answer came from.

    Attributes:
        shown: the raw lines that stand in it, where that is exactly known.
        asked: the raw lines that it was made of, where it does not show them as they are, or nobody can tell.
        parts: the raw lines that stand in it in part, where that is known.
    """

    shown: tuple[Shown, ...] = ()
    asked: tuple[Shown, ...] = ()
    parts: tuple[LinePart, ...] = ()


def record_view(
    store: Store,
    session: Session,
    shows: Shows,
    text: Sequence[Segment],
    cleaning: str = DEFAULT.cleaning.views,
    *,
    uses: Sequence[str] = (),
    of: Reading | None = None,
) -> View:
    """Log a reply before it is sent.

    Args:
        store: the store of this machine, which has the log.
        session: who asks.
        shows: what the reply is about.
        text: the exact text, in pieces; those that are plain runs of a sealed buffer's lines may be logged as ranges.
        cleaning: the rule by which these were made text.
        uses: names of the buffers that it is a use of: they become the most recently used, in this order.
        of: what was read, where that is not this store.

    Raises:
        StoreFailed: it could not be logged.
    """
    return index_view(store, append_view(store, session, shows, text, cleaning, of=of), uses)


class Appended(NamedTuple):
    """A view that is in the log, and in no list yet."""

    session: Session
    place: log.Place
    fields: dict[str, Any]


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
    """The first half of `record_view`, all that must happen before a reply is sent. Raises as that.

    Args:
        file: the session's audit file, where the caller keeps it open for more than one.
        of: as of `record_view`.
    """
    joined = "".join([segment.text for segment in text])
    if not joined.isascii():
        text, joined = _storable(text, joined)
    fields = logged_fields(store, time.time(), shows, joined)
    durable = store.settings.durable
    try:
        pieces = list(_pieces(store, text, cleaning))
        entry = {"kind": "view", **fields, "sealed": _hashes(of or store, shows.refs), "text": pieces}
        if file:
            place = file.append(entry, durable=durable)
        else:
            place = log.append(store.layout.audit_file(session.name), header_of(session), entry, durable=durable)
    except OSError as error:
        raise _not_logged(store, error) from error
    return Appended(session, place, fields)


def _storable(text: Sequence[Segment], joined: str) -> tuple[Sequence[Segment], str]:
    """The pieces and all of it; where half a surrogate pair is in it, as JSON can spell it, that is spelled so."""
    try:
        joined.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        text = [segment._replace(text=storable(segment.text)) for segment in text]
        joined = "".join([segment.text for segment in text])
    return text, joined


def logged_fields(store: Store, now: float, shows: Shows, text: str) -> dict[str, Any]:
    """What the log says of a view beside its text."""
    data, request = text.encode(errors="surrogateescape"), log.loggable(shows.request)
    fields: dict[str, Any] = {
        "time": now,
        "verb": shows.verb,
        "request": told.value(request) if (told := store.redaction()) else request,
        "refs": list(shows.refs),
        "shown": [list(shown) for shown in shows.shown],
        "lines_shown": sum(shown.last - shown.first + 1 for shown in (*shows.shown, *shows.matched)),
        "lines_total": shows.lines_total,
        "bytes_shown": len(data),
        "bytes_total": shows.bytes_total,
        "exit_code": shows.exit_code,
        "truncated": shows.truncated,
        "text_sha256": sha256_hex(data),
        "parts": [list(part) for part in shows.parts],  # where there are none, too: it says that the others are whole
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
    """The second half of `record_view`: lists know of it from here on. Raises as that.

    Where the index is locked for long it is not waited for: the log has the view, and lists learn of it later.
    """
    indexed = indexed_view(appended.session.name, appended.place, appended.fields)
    try:
        index = store.index
        with index.hurried(), index.transaction():
            if appended.place.number == 1:
                index.put_session(appended.session)
            index.put_view(indexed)
            for name in uses:
                index.touch(name, indexed.view.time)
    except Exception as error:
        if not is_busy(error):
            raise _not_logged(store, error) from error
    return indexed.view


def _not_logged(store: Store, error: Exception) -> StoreFailed:
    if isinstance(error, StoreFailed):
        return StoreFailed(f"this reply could not be logged: {error.message}", error.hint)
    what, hint = cause_of(error, store.root)
    return StoreFailed(f"this reply could not be logged: {what}", hint)


def record_shown(store: Store, view: View, traced: Traced) -> None:
    """Log which raw lines stood in a view, found after it was sent; an entry of its own, since the log only grows.

    Raises:
        OSError: it could not be logged.
    """
    if not any(traced):
        return
    entry: dict[str, Any] = {"kind": "shown", "of": view.number, "shown": [list(one) for one in traced.shown]}
    entry["time"] = time.time()  # an older version's entry has none
    if traced.asked:
        entry["asked"] = [list(one) for one in traced.asked]
    if traced.parts:
        entry["parts"] = [list(one) for one in traced.parts]
    number, *where = log.append(store.layout.audit_file(view.session), {}, entry, durable=store.settings.durable)
    with store.index.hurried(), store.index.transaction():
        store.index.amend_view(with_shown(view, traced))
        store.index.advance(view.session, number, *where)


def traced_of(entry: dict[str, Any]) -> Traced:
    """What such an entry says."""
    shown, asked = (tuple(map(shown_from, entry.get(name, ()))) for name in ("shown", "asked"))
    return Traced(shown, asked, tuple(map(line_part_from, entry.get("parts", ()))))


def with_shown(view: View, traced: Traced) -> View:
    lines = sum(one.last - one.first + 1 for one in traced.shown)
    parts = traced.parts if view.parts is not None else None
    return view._replace(shown=traced.shown, asked=traced.asked, lines_shown=lines, parts=parts)


def _hashes(store: Reading, refs: Iterable[str]) -> dict[str, dict[str, str]]:
    """What the streams of those buffers that are sealed hash to: so a view tells which bytes it was made of."""
    found = {}
    for name in dict.fromkeys(refs):
        buffer = store.index.buffer(name)
        if buffer is not None and buffer.state == "sealed":
            found[name] = {stream: info.sha256 for stream, info in buffer.streams.items()}
    return found


def indexed_view(session: str, place: log.Place, fields: dict[str, Any]) -> IndexedView:
    """A view's record, from what the log says of it."""
    request = json.dumps(fields["request"], ensure_ascii=False)
    if not request.isascii():  # an older version may have logged what no table takes
        request = json.dumps(log.loggable(fields["request"]), ensure_ascii=False)
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
    """Segments as the log keeps them: literals as text, long plain runs of lines as ``[ref, first, last, version]``."""
    literal = ""
    for segment in text:
        if segment.ref and not segment.partial and len(segment.text) > LITERAL_BYTES and _is_sealed(store, segment.ref):
            if literal:
                yield literal
            literal = ""
            from sightline.shape.variants import version_of  # 2 ms: few replies quote so much of a sealed output

            yield [segment.ref, segment.first, segment.last, version_of(cleaning)]
        else:
            literal += segment.text
    if literal:
        yield literal


def _is_sealed(store: Store, ref: str) -> bool:
    buffer = store.index.buffer(parse_ref(ref).name)
    return buffer is not None and buffer.state == "sealed"


def shown_of(segments: Sequence[Segment]) -> tuple[Shown, ...]:
    """The raw lines that stand in a text whole, neighbouring ranges joined."""
    shown = []
    for ref, first, last in uncut_ranges(segments):
        parsed = parse_ref(ref)
        shown.append(Shown(parsed.name, parsed.stream or "out", first, last))
    return tuple(shown)


def parts_of(segments: Sequence[Segment]) -> tuple[LinePart, ...]:
    """The raw lines that stand in a text in part, each once where pieces of it follow each other."""
    cuts = dict.fromkeys((segment.ref, cut) for segment in segments for cut in segment.cuts)
    parts = []
    for ref, cut in cuts:
        parsed = parse_ref(ref)
        parts.append(LinePart(parsed.name, parsed.stream or "out", *cut))
    return tuple(parts)


def settled(shows: Shows, buffer: str, stream: str, last: int) -> Shows:
    """A reply without the lines of one stream past the last one that has ended: those may still go on."""
    shown = tuple(
        one if (one.buffer, one.stream) != (buffer, stream) else one._replace(last=min(one.last, last))
        for one in shows.shown
        if (one.buffer, one.stream) != (buffer, stream) or one.first <= last
    )
    parts = tuple(one for one in shows.parts if (one.buffer, one.stream) != (buffer, stream) or one.line <= last)
    return shows._replace(shown=shown, parts=parts)


def ref_of_shown(shown: Shown) -> str:
    """``@cmd_a1b2c3.err:3-9``."""
    return format_ref(shown.buffer, shown.stream, shown.first, shown.last)
