"""Finds the failure lines of an output that later replies of its session quote, as after a second run of a command.

What is found is kept beside the output, with the last reply that was searched, so that only newer ones are searched
again. So the coverage of the output has these lines, whoever asks for it.
"""

from collections.abc import Iterable, Sequence

from sightline.audit.coverage import Contribution, graded
from sightline.audit.line_spans import NONE, Spans, spans_of
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.log.view_text import view_text
from sightline.shape.clean import clean_line
from sightline.store import Reading, Target

_QUOTED = "quoted/1"
_MOST_REPLIES = 200  # that are searched; a failure that is not quoted so soon is hardly quoted at all
_QUOTED_SECONDS = 3600  # between an output and a reply that quotes it; a trigger of the index has the same
_MOST_LINES = 500
_LEAST_CHARACTERS = 12  # of a line; a shorter one may stand in any text


class _Kept(NamedTuple):
    """What is kept: the last searched view, how many were searched, and (session, entry, stream, spans) of quotes."""

    after: int = 0
    searched: int = 0
    rows: tuple[tuple[str, int, str, Spans], ...] = ()


def quoting_contributions(store: Reading, buffer: Buffer, session: str | None = None) -> list[Contribution]:
    """Return what later replies, about other outputs, add to the coverage of an output, as far as it was searched."""
    found = []
    for name, entry, stream, spans in _kept(store, buffer).rows:
        indexed = store.index.view(name, entry) if session in (None, name) else None
        if indexed is not None:
            found.append(Contribution(indexed.view, {stream: graded(NONE, spans, NONE)}))
    return found


def find_quotes(store: Reading, buffer: Buffer, unseen: Sequence[tuple[str, Spans]]) -> None:
    """Search the replies since the last search, in the session that captured an output, for lines of it.

    Args:
        store: the store.
        buffer: the output's record.
        unseen: (stream, lines) that tell of failures and stood in no reply.
    """
    kept = _kept(store, buffer)
    own = {one.view.id for one in store.index.views_of(buffer.name)}
    after = kept.after if kept.after <= store.index.newest_view() else 0  # else they were numbered anew
    after = after or store.index.first_view_of(buffer.name)
    left = max(_MOST_REPLIES - kept.searched, 0)
    newer = store.index.views_after(after, session=buffer.session, limit=left) if own and left else []
    if not newer:
        return
    rows = list(kept.rows)
    try:
        wanted = [
            (stream, line, text) for stream, spans in unseen for line, text in _texts(store, buffer, stream, spans)
        ]
        for _, indexed in newer:
            seconds = indexed.view.time - buffer.created
            if indexed.view.id in own or not 0 <= seconds <= _QUOTED_SECONDS or not indexed.view.bytes_shown:
                continue
            shown = view_text(store, indexed)
            there: dict[str, list[tuple[int, int]]] = {}
            for stream, line, text in wanted[:_MOST_LINES]:
                if text in shown:
                    there.setdefault(stream, []).append((line, line))
            rows += [(indexed.view.session, indexed.view.number, one, spans_of(at)) for one, at in there.items()]
    except SightlineError:
        return  # bytes or a log are gone, so nothing more can be found
    store.index.put_derived(buffer.name, _QUOTED, dumps([newer[-1][0], kept.searched + len(newer), rows]))


def _kept(store: Reading, buffer: Buffer) -> _Kept:
    known = store.index.derived(buffer.name, _QUOTED)
    if known is None:
        return _Kept()
    after, searched, rows = loads(known)
    quotes = ((name, entry, stream, spans_of(map(tuple, spans))) for name, entry, stream, spans in rows)
    return _Kept(after, searched, tuple(quotes))


def _texts(store: Reading, buffer: Buffer, stream: str, spans: Spans) -> Iterable[tuple[int, str]]:
    with store.open_text(Target(buffer, stream)) as source:
        for first, last in spans:
            for line in source.lines(first, last):
                text = clean_line(line.data).strip()
                if line.whole and len(text) >= _LEAST_CHARACTERS:
                    yield line.number, text
