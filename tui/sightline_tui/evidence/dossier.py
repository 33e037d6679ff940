"""Gathers all that is known of one buffer as rows of text, for the Info panel."""

import json
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.coverage import Coverage
from sightline.audit.held_lines import STATE_WORDS, HeldCoverage, Holdings, counts_told, held_of
from sightline.audit.line_spans import written
from sightline.audit.price_facts import price_facts
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer, IndexedView, Session, View
from sightline.base.refs import format_ref, host_of
from sightline.light.named_tuple import NamedTuple
from sightline.log.log_index import list_views
from sightline.log.sessions import session_title
from sightline.shape.summary import human_bytes, human_seconds
from sightline.store import Reading, Target
from sightline_tui.common.phrases import counted, ending, state_of

VIEWS = 1_000
"""Views that are listed, the newest ones; `sightline views` lists all."""

_RANGES = 12
_KINDS = {"cmd": "command", "file": "file", "tool": "tool call"}


class Fact(NamedTuple):
    """One row.

    Attributes:
        label: what the row is about; empty for a heading or a continued row.
        text: one line or several, uncleaned as in the store.
        style: style of the text.
        view: the view that the row is about.
    """

    label: str
    text: str
    style: str = ""
    view: IndexedView | None = None

    @property
    def is_heading(self) -> bool:
        """Whether the row begins a section."""
        return not self.label and self.view is None


class Dossier(NamedTuple):
    """What the store knows of a buffer.

    Attributes:
        buffer: the buffer's record.
        session: the session that captured it; None if that is not known.
        paths: the file of each stream's raw bytes, by stream.
        tombstone: what is left of a buffer that is gone.
        views: views of the buffer, the newest first.
        is_all: whether ``views`` has all of them.
        held: which of its lines the context of each session still has, by session that was shown any of it.
        whole: which of its lines any context still has; None if nobody was shown any.
        price: what it cost, as labels and sentences.
    """

    buffer: Buffer
    session: Session | None
    paths: dict[str, str]
    tombstone: dict[str, object] | None
    views: Sequence[IndexedView]
    is_all: bool
    held: Mapping[str, HeldCoverage] = MappingProxyType({})
    whole: HeldCoverage | None = None
    price: Sequence[tuple[str, str]] = ()


def read_dossier(store: Reading, name: str) -> Dossier:
    """Read a dossier. Raises what the store raises, and UnknownRef for a buffer that is not in the index."""
    buffer = store.index.buffer(name)
    if buffer is None:
        buffer = store.resolve(format_ref(name)).buffer
    buffer = store.checked(store.with_progress(buffer))
    gone = buffer.state == "evicted"
    paths = (
        {}
        if gone or host_of(name)
        else {stream: store.local_copy(Target(buffer, stream), raw=True) for stream in buffer.streams}
    )
    views = list_views(store, buffer=name, limit=VIEWS + 1)
    coverage, held, holdings = None if gone else _coverage(store, buffer), {}, Holdings(store)
    if coverage is not None:
        for one in coverage.sessions:
            held[one] = held_of(store, buffer, coverage.of_session(one), holdings=holdings)
    return Dossier(
        buffer,
        store.index.session(buffer.session),
        paths,
        store.tombstone(name) if gone else None,
        views[:VIEWS],
        len(views) <= VIEWS,
        held,
        held_of(store, buffer, coverage, holdings=holdings) if coverage and coverage.sessions else None,
        price_facts(store, buffer),
    )


def _coverage(store: Reading, buffer: Buffer) -> Coverage | None:
    """Return what was shown of a buffer; None if its bytes are gone by now."""
    try:
        return coverage_of(store, buffer)
    except SightlineError:
        return None


def facts_of(dossier: Dossier, now: float) -> list[Fact]:
    """Return the rows, section by section."""
    price = [Fact(label, text) for label, text in dossier.price]
    return [*_capture(dossier, now), *_streams(dossier), *price, *_held(dossier), *_views(dossier)]


def _capture(dossier: Dossier, now: float) -> Iterator[Fact]:
    buffer, session = dossier.buffer, dossier.session
    yield Fact("", f"{buffer.ref}  {_KINDS.get(buffer.kind, buffer.kind)}", "strong")
    yield Fact("command", buffer.command, "command")
    yield Fact("in", buffer.cwd)
    state = "done" if buffer.state == "sealed" else buffer.shown_state
    state += ", pinned" if buffer.pinned else ""
    yield Fact("state", state, "" if buffer.state == "sealed" else state_of(buffer))  # sealed is neutral
    if buffer.kind == "cmd" and buffer.ended is not None:
        yield Fact("ended", _ending(buffer), state_of(buffer))
    if buffer.altered:
        yield Fact("altered", buffer.altered, "failed")
    if buffer.is_partial:
        yield Fact("partial", buffer.lost, "interrupted")
    yield Fact("began", _moment(buffer.created))
    if buffer.ended is not None:
        yield Fact("until", _moment(buffer.ended))
    yield Fact("took", human_seconds(max(0.0, (now if buffer.ended is None else buffer.ended) - buffer.created)))
    yield Fact("last used", _moment(buffer.accessed))
    yield from (Fact(name, value) for name, value in (("label", buffer.label), ("note", buffer.note)) if value)
    if buffer.artifact:
        yield Fact("imported", buffer.artifact)
    called = session_title(session) if session else buffer.session
    yield Fact("session", called if called == buffer.session else f"{called} ({buffer.session})")
    if session is not None:
        yield Fact("by", f"{session.harness}{f', {session.client}' if session.client else ''}")
        yield Fact("since", f"{_moment(session.started)}, in {session.cwd}")
    if dossier.tombstone is not None:
        gone = dossier.tombstone.get("gone")
        when = f" {_moment(gone)}" if isinstance(gone, float | int) else ""
        fate = "removed" if dossier.tombstone.get("reason") == "removed" else "expired"
        yield Fact("gone", f"{fate}{when}", "evicted")


def _streams(dossier: Dossier) -> Iterator[Fact]:
    buffer = dossier.buffer
    yield Fact("", f"{counted(buffer.lines, 'line')}, {human_bytes(buffer.bytes)} ({buffer.bytes:,} bytes)", "strong")
    for stream, info in buffer.streams.items():
        yield Fact(
            stream, f"{counted(info.lines, 'line')}, {info.bytes:,} bytes{f', {info.mime}' if info.mime else ''}"
        )
        if info.sha256:
            yield Fact("sha256", info.sha256, "dim")
        if path := dossier.paths.get(stream):
            yield Fact("file", path, "dim")


def _held(dossier: Dossier) -> Iterator[Fact]:
    """Count the lines that contexts still have, in all and by session."""
    if dossier.whole is None or not dossier.buffer.lines:
        return
    yield Fact("", f"lines in context: {counts_told(dossier.whole)}", "strong")
    for session, held in dossier.held.items() if len(dossier.held) > 1 else ():
        yield Fact("of", f"{session}: {counts_told(held)}")
    for stream, lines in dossier.whole.streams.items():
        named = f" of {stream}" if len(dossier.whole.streams) > 1 else ""
        for state, word in STATE_WORDS.items():
            if spans := getattr(lines, state):
                style = "interrupted" if state == "before" else ""
                more = " …" if len(spans) > _RANGES else ""
                yield Fact(f"{word}{named}", ", ".join(written(spans[:_RANGES])) + more, style)
    if dossier.whole.count("unknown"):
        yield Fact("", "not known: nobody tells whether the context still has these lines", "dim")


def _views(dossier: Dossier) -> Iterator[Fact]:
    views = dossier.views
    count = counted(len(views), "view") if dossier.is_all else f"the newest {len(views):,} views"
    yield Fact("", count if views else "Nobody has been shown any of it", "strong")
    for indexed in views:
        yield Fact(view_when(indexed.view), view_told(indexed.view), view=indexed)


def view_when(view: View) -> str:
    """``11-21 16:40:07``."""
    return time.strftime("%m-%d %H:%M:%S", time.localtime(view.time))


def view_told(view: View) -> str:
    """Say who asked for what, and how much was shown."""
    share = f"{view.lines_shown:,} of {view.lines_total:,} lines" if view.lines_total else "no lines"
    cut = ", cut" if view.truncated else ""
    return f"{view.session}  {view.verb}  {share}, {view.bytes_shown:,} bytes{cut}  {_asked(view)}".rstrip()


def _asked(view: View) -> str:
    try:
        request = json.loads(view.request)
    except ValueError:
        return ""
    for key in ("pipeline", "search", "lines", "path", "match"):
        if value := request.get(key):
            return " ".join(str(value).split())[:200]
    return ""


def _ending(buffer: Buffer) -> str:
    told = ending(buffer._replace(state="sealed")) if buffer.state == "evicted" else ending(buffer)
    if not buffer.signal:
        return told
    try:
        return f"{told} ({signal.Signals(buffer.signal).name})"
    except ValueError:
        return told


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
