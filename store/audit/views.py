"""The log of views: what was shown, to whom, when and for what, with its exact text."""

import json
import os
import time
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

from sightline.store.audit import log
from sightline.store.audit.comparing import sessions_behind
from sightline.store.disk.hashing import sha256_hex
from sightline.store.disk.view_index import IndexedView
from sightline.store.errors import SightlineError, StoreFailed
from sightline.store.profile import DEFAULT
from sightline.store.records import Session, Shown, View, known_fields, shown_from
from sightline.store.refs import format_ref, parse_ref
from sightline.store.shape.segments import Segment, shown_ranges
from sightline.store.store import Store, Target

LITERAL_BYTES = 4096
"""A run of lines up to this size is logged as text, a longer one as a range of its stream: it can be rendered again."""


class UnknownView(SightlineError):
    """No view has this id."""


class Shows(NamedTuple):
    """What a reply is about, apart from its text.

    Attributes:
        verb: the verb that was called.
        request: its arguments.
        refs: names of the buffers it concerns.
        shown: the raw lines that are known to stand in it.
        lines_total: lines that its buffers have.
        bytes_total: bytes that they have.
        exit_code: of the command or query, None where there is none.
        truncated: whether something was left out.
        asked: the raw lines that went into it and do not stand there as they are.
        matched: the raw lines that were recognised in its text.
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
    """

    shown: tuple[Shown, ...] = ()
    asked: tuple[Shown, ...] = ()


def record_view(
    store: Store, session: Session, shows: Shows, text: Sequence[Segment], cleaning: str = DEFAULT.cleaning.views
) -> View:
    """Log a reply before it is sent.

    Args:
        store: the store.
        session: who asks.
        shows: what the reply is about.
        text: the exact text, in pieces; those that are plain runs of a sealed buffer's lines may be logged as ranges.
        cleaning: the rule by which these were made text.

    Raises:
        StoreFailed: it could not be logged.
    """
    return index_view(store, append_view(store, session, shows, text, cleaning))


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
    file: log.Appending | None = None,
) -> Appended:
    """The first half of `record_view`, all that must happen before a reply is sent. Raises as that.

    Args:
        file: the session's audit file, where the caller keeps it open for more than one.
    """
    fields = logged_fields(store, time.time(), shows, "".join([segment.text for segment in text]))
    durable = store.settings.durable
    try:
        pieces = list(_pieces(store, text, cleaning))
        entry = {"kind": "view", **fields, "sealed": _hashes(store, shows.refs), "text": pieces}
        if file:
            place = file.append(entry, durable=durable)
        else:
            place = log.append(store.layout.audit_file(session.name), header_of(session), entry, durable=durable)
    except OSError as error:
        raise _not_logged(store, error) from error
    return Appended(session, place, fields)


def logged_fields(store: Store, now: float, shows: Shows, text: str) -> dict[str, Any]:
    """What the log says of a view beside its text."""
    data = text.encode(errors="surrogateescape")
    fields: dict[str, Any] = {
        "time": now,
        "verb": shows.verb,
        "request": told.value(shows.request) if (told := store.redaction()) else shows.request,
        "refs": list(shows.refs),
        "shown": [list(shown) for shown in shows.shown],
        "lines_shown": sum(shown.last - shown.first + 1 for shown in (*shows.shown, *shows.matched)),
        "lines_total": shows.lines_total,
        "bytes_shown": len(data),
        "bytes_total": shows.bytes_total,
        "exit_code": shows.exit_code,
        "truncated": shows.truncated,
        "text_sha256": sha256_hex(data),
    }
    if shows.asked:
        fields["asked"] = [list(asked) for asked in shows.asked]
    if shows.matched:
        fields["matched"] = [list(matched) for matched in shows.matched]
    return fields


def index_view(store: Store, appended: Appended) -> View:
    """The second half of `record_view`: lists know of it from here on. Raises as that.

    Where the index is locked for long it is not waited for: the log has the view, and lists learn of it later.
    """
    indexed = indexed_view(appended.session.name, appended.place, appended.fields)
    try:
        with store.index.hurried():
            if appended.place.number == 1:
                store.index.put_session(appended.session)
            store.index.put_view(indexed)
    except Exception as error:  # by its class SQLite would have to be loaded
        from sightline.store.disk.trouble import is_busy

        if not is_busy(error):
            raise _not_logged(store, error) from error
    return indexed.view


def _not_logged(store: Store, error: Exception) -> StoreFailed:
    if isinstance(error, StoreFailed):
        return StoreFailed(f"this reply could not be logged: {error.message}", error.hint)
    from sightline.store.disk.trouble import trouble_of

    what, hint = trouble_of(error, store.root)
    return StoreFailed(f"this reply could not be logged: {what}", hint)


def record_shown(store: Store, view: View, traced: Traced) -> None:
    """Log which raw lines stood in a view, found after it was sent; an entry of its own, since the log only grows.

    Raises:
        OSError: it could not be logged.
    """
    if not traced.shown and not traced.asked:
        return
    entry: dict[str, Any] = {"kind": "shown", "of": view.number, "shown": [list(one) for one in traced.shown]}
    if traced.asked:
        entry["asked"] = [list(one) for one in traced.asked]
    number, *where = log.append(store.layout.audit_file(view.session), {}, entry, durable=store.settings.durable)
    with store.index.hurried(), store.index.transaction():
        store.index.amend_view(with_shown(view, traced))
        store.index.advance(view.session, number, *where)


def header_of(session: Session) -> dict[str, Any]:
    """The first line of a session's log."""
    return {"kind": "session", "session": session._asdict()}


def session_from(header: dict[str, Any]) -> Session:
    """The session that a log's first line tells of."""
    return Session(**known_fields(Session, header["session"]))


def traced_of(entry: dict[str, Any]) -> Traced:
    """What such an entry says."""
    return Traced(*(tuple(map(shown_from, entry.get(name, ()))) for name in Traced._fields))


def with_shown(view: View, traced: Traced) -> View:
    lines = sum(one.last - one.first + 1 for one in traced.shown)
    return view._replace(shown=traced.shown, asked=traced.asked, lines_shown=lines)


def _hashes(store: Store, refs: Iterable[str]) -> dict[str, dict[str, str]]:
    """What the streams of those buffers that are sealed hash to: so a view tells which bytes it was made of."""
    found = {}
    for name in dict.fromkeys(refs):
        buffer = store.index.buffer(name)
        if buffer is not None and buffer.state == "sealed":
            found[name] = {stream: info.sha256 for stream, info in buffer.streams.items()}
    return found


def indexed_view(session: str, place: log.Place, fields: dict[str, Any]) -> IndexedView:
    """A view's record, from what the log says of it."""
    view = View(
        id=f"{session}:{place.number}",
        session=session,
        number=place.number,
        time=fields["time"],
        verb=fields["verb"],
        request=json.dumps(fields["request"], ensure_ascii=False),
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
            from sightline.store.shape.variants import version_of

            yield [segment.ref, segment.first, segment.last, version_of(cleaning)]
        else:
            literal += segment.text
    if literal:
        yield literal


def _is_sealed(store: Store, ref: str) -> bool:
    buffer = store.index.buffer(parse_ref(ref).name)
    return buffer is not None and buffer.state == "sealed"


def list_views(
    store: Store, *, buffer: str | None = None, session: str | None = None, since: float = 0.0, limit: int = -1
) -> list[IndexedView]:
    """Views, newest first: all, those of a buffer or a session, or those from a time on (seconds since the epoch).

    An index that lacks some is filled first.
    """
    fill_index(store, session)
    return store.index.views(buffer=buffer, session=session, since=since, limit=limit)


def fill_index(store: Store, session: str | None = None) -> None:
    """See to it that the index knows what the audit files hold: that of one session, or all.

    An index made anew does not, nor one whose writer died after it had logged a view.
    """
    if store.index.views_stale():
        rebuild_views(store)
    elif not store.index.unwritable and (behind := sessions_behind(store, session)):
        from sightline.store.audit.indexing import catch_up  # few ever need it

        catch_up(store, behind)


def find_view(store: Store, view_id: str) -> IndexedView:
    """A view by its id, ``SESSION:N``. Raises UnknownView."""
    fill_index(store)
    session, _, number = view_id.rpartition(":")
    found = store.index.view(session, int(number)) if number.isdigit() else None
    if found is None:
        raise UnknownView(f"there is no view {view_id!r}", "`sightline views` lists them")
    return found


def rebuild_views(store: Store) -> int:
    """Index all views and notes anew from the audit files, and put buffers into the order that these were shown in.

    How many views there are.
    """
    found: list[tuple[float, IndexedView]] = []
    others: list[Other] = []
    sizes: dict[str, int] = {}
    with store.index.transaction():
        for file in sorted(os.listdir(store.layout.audit)):
            session_name, dot, ending = file.rpartition(".")
            if ending == "jsonl" and dot:
                store.index.forget_views(session_name)
                store.index.forget_notes(session_name)
                sizes[session_name] = os.stat(os.path.join(store.layout.audit, file)).st_size  # it may grow meanwhile
                views = _read_views(store, session_name, others)
                # A clock that was set back must not make what a session asked last its first.
                found += zip(accumulate((one.view.time for one in views), max), views, strict=True)
        found.sort(key=itemgetter(0))  # the list goes by the order in which they are put
        for _, indexed in found:
            store.index.put_view(indexed)
        if others:
            from sightline.store.audit.entries import index_others  # few logs have any

            index_others(store, others)
        for name, size in sizes.items():
            store.index.set_log(name, size)
        if store.index.views_stale():
            used = {name: when for when, indexed in found for name in indexed.view.refs}
            for name, when in sorted(used.items(), key=lambda item: item[1]):
                store.index.touch(name, when)
            store.index.set_views_stale(False)
    return len(found)


def _read_views(store: Store, session: str, others: list[Other]) -> list[IndexedView]:
    """The views of a session's file, as far as it can be read; its session is put into the index."""
    views: dict[int, IndexedView] = {}
    try:
        for place, entry in log.read_all(store.layout.audit_file(session)):
            if entry.get("kind") == "session":
                if entry["session"]["name"] != session:  # a name becomes a path
                    raise log.BrokenChain(f"the log of {session} says that it is another's")
                store.index.put_session(session_from(entry))
            elif entry.get("kind") == "view":
                views[place.number] = indexed_view(session, place, entry)
            elif entry.get("kind") == "shown" and (found := views.get(entry["of"])):
                views[found.view.number] = found._replace(view=with_shown(found.view, traced_of(entry)))
            else:
                others.append(Other(session, place.number, entry))
    except (log.BrokenChain, KeyError, TypeError):
        pass  # changed from outside: the doctor says so
    return list(views.values())


def shown_of(segments: Sequence[Segment]) -> tuple[Shown, ...]:
    """The raw lines that stand in a text, neighbouring ranges joined."""
    shown = []
    for ref, first, last in shown_ranges(segments):
        parsed = parse_ref(ref)
        shown.append(Shown(parsed.name, parsed.stream or "out", first, last))
    return tuple(shown)


def settled(shown: Iterable[Shown], buffer: str, stream: str, last: int) -> tuple[Shown, ...]:
    """What was shown, without the lines of one stream past the last one that is whole: those may still go on."""
    return tuple(
        one if (one.buffer, one.stream) != (buffer, stream) else one._replace(last=min(one.last, last))
        for one in shown
        if (one.buffer, one.stream) != (buffer, stream) or one.first <= last
    )


def seen_lines(store: Store, session: Session, target: Target) -> int:
    """The last line of a stream that a session has been shown, 0 for none."""
    return max(
        (
            shown.last
            for indexed in list_views(store, buffer=target.buffer.name, session=session.name)
            for shown in (*indexed.view.shown, *indexed.view.matched)
            if shown.buffer == target.buffer.name and shown.stream == target.stream
        ),
        default=0,
    )


def ref_of_shown(shown: Shown) -> str:
    """``@cmd_a1b2c3.err:3-9``."""
    return format_ref(shown.buffer, shown.stream, shown.first, shown.last)
