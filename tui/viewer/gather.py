"""Reads what the audit knows of one output. Slow for large ones: never in the UI's thread."""

from collections.abc import Iterator

from sightline.audit.covering import coverage_of
from sightline.audit.failures import Failure, failures_if_quick, failures_of, judgement_of, unjudged_of
from sightline.audit.spans import Span
from sightline.errors import SightlineError
from sightline.log.notes import list_notes
from sightline.records import Buffer
from sightline.store import Store
from sightline.tui.common.reading import open_reading
from sightline.tui.common.sessions import session_name
from sightline.tui.viewer.marks import Marks, Remark

Failures = tuple[Failure, ...] | None


def gather(store: Store, buffer: Buffer, session: str = "", *, known: Failures = None, thorough: bool = False) -> Marks:
    """What is marked beside the lines of a buffer as it is now.

    Args:
        store: the store.
        buffer: its record.
        session: the only session that counts; empty for all.
        known: failures that were found before, which are not looked for again while it is still written.
        thorough: whether failures are looked for however large it is, and although it is still written.

    Raises:
        ExpiredRef, StoreFailed: its bytes are needed, and gone.
    """
    buffer = store.with_progress(buffer)
    whole = coverage_of(store, buffer)
    unjudged = None
    if thorough:
        failures: Failures = failures_of(store, buffer)
        unjudged = None if failures else unjudged_of(store, buffer)
    elif buffer.state == "running":
        failures = known
    else:
        try:
            failures = failures_if_quick(store, buffer)
        except SightlineError:  # it is gone, which whoever shows it says
            failures = None
    remarks = tuple(_remarks(store, buffer))
    names = {name: session_name(store, name) for name in (*whole.sessions, *((session,) if session else ()))}
    why_not = judgement_of(buffer).why_not
    return Marks(whole, session, failures, remarks, names, unjudged, why_not, buffer.gaps)


def _remarks(store: Store, buffer: Buffer) -> Iterator[Remark]:
    for note in list_notes(store, buffer=buffer.name):
        if note.text is None:
            continue  # blanked
        try:
            target = store.resolve(note.ref)
        except SightlineError:
            continue  # likewise
        first, last = target.first or 1, target.last or target.first or 1  # on a whole stream: at its beginning
        if target.stream == "all":
            yield Remark(note, _by_stream(store, buffer, first, last))
        else:
            yield Remark(note, {target.stream: (first, last)})


def _by_stream(store: Store, buffer: Buffer, first: int, last: int) -> dict[str, Span]:
    reading = open_reading(store, buffer)
    try:
        start, end = reading.before(first), reading.before(last + 1)
    finally:
        reading.close()
    return {name: (start[name] + 1, end[name]) for name in start if end[name] > start[name]}
