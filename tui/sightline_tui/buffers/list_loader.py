"""Reads for the list in one go, off the UI's thread: newly used buffers, the next entries, the visible records."""

from collections.abc import Iterable, Mapping

from sightline.base.project import Project
from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.store import Listed, Reading
from sightline_tui.buffers.catalog import TITLE_CHARS, entry_of, entry_of_facts
from sightline_tui.buffers.packed_entries import ListEntry
from sightline_tui.common.sessions import session_titles

PAGE = 200
"""How many buffers are read at a time while a person scrolls."""

_NEW_PAGE = 60  # first read of what was used since the last look, mostly a few: a page costs by its length

BULK_PAGE = 1_000
"""How many entries are read at a time, if an order or a filter needs all."""


class ListNeeds(NamedTuple):
    """What the list needs.

    Attributes:
        newest: place of its newest entry; None for none.
        oldest: place of its last entry; None for none.
        fresh: whether to look for buffers used since.
        more: how many entries are needed beyond the last one.
        names: the buffers whose records are needed.
        project: the only one to read; None for all.
        wholes: whether to read for all outputs which are parts of others.
        quick: whether to read the index only, without marking captures whose writers died.
    """

    newest: int | None
    oldest: int | None
    fresh: bool
    more: int
    names: tuple[str, ...]
    project: Project | None = None
    wholes: bool = False
    quick: bool = False


class LoadedList(NamedTuple):
    """What the store had.

    Attributes:
        newer: entries used since, most recent first.
        older: entries that follow the last one.
        complete: whether nothing follows those.
        records: by name.
        gone: the names that the store no longer has.
        totals: buffers, bytes and running captures.
        wholes: for each output that is a part, by name, the name of the whole; empty if it was not asked for.
        titles: what to call sessions, by their names.
        agents: harnesses of sessions, by their names.
    """

    newer: list[ListEntry]
    older: list[ListEntry]
    complete: bool
    records: dict[str, Buffer]
    gone: set[str]
    totals: tuple[int, int, int]
    wholes: Mapping[str, str] = {}
    titles: Mapping[str, str] = {}
    agents: Mapping[str, str] = {}


def load(store: Reading, request: ListNeeds) -> LoadedList:
    """Read what a request wants."""
    records = dict[str, Buffer]()
    newer, bottom = _newer(store, request, records) if request.fresh else ([], False)
    older, complete = list[ListEntry](), False
    if request.more and request.oldest is not None:
        older, complete = _older(store, request, request.oldest, records)
    records |= records_of(store, (name for name in request.names if name not in records))
    gone = set(request.names) - records.keys()
    held = store.index.totals()
    totals = held.buffers, held.bytes, len(store.index.running())
    wholes = {part: whole for whole, part in store.index.unfiltered().items()} if request.wholes else {}
    sessions = [] if request.quick else store.index.sessions()
    titles, agents = session_titles(sessions), {session.name: session.harness for session in sessions}
    return LoadedList(newer, older, complete or bottom, records, gone, totals, wholes, titles, agents)


def records_of(store: Reading, names: Iterable[str]) -> dict[str, Buffer]:
    """The records of the buffers that the store still has, by name."""
    buffers = map(store.index.buffer, names)
    return {buffer.name: store.with_progress(buffer) for buffer in buffers if buffer is not None}


def _newer(store: Reading, request: ListNeeds, records: dict[str, Buffer]) -> tuple[list[ListEntry], bool]:
    """Entries newer than the newest known; if none is known, one page, and whether that is all."""
    newer, before, newest = list[ListEntry](), None, request.newest
    size = PAGE if newest is None else _NEW_PAGE
    while True:
        page = (store.index if request.quick else store).listed(size, before=before, project=request.project)
        above = [item for item in page if newest is None or item.used > newest]
        _keep(page, records)
        newer += [entry_of(item) for item in above]
        if len(page) < size or newest is None:
            return newer, len(page) < size and newest is None
        if len(above) < len(page):
            return newer, False
        before, size = page[-1].used, PAGE


def _older(store: Reading, request: ListNeeds, oldest: int, records: dict[str, Buffer]) -> tuple[list[ListEntry], bool]:
    if request.more > PAGE:
        facts = store.index.list_facts(BULK_PAGE, before=oldest, characters=TITLE_CHARS, project=request.project)
        return [entry_of_facts(each) for each in facts], len(facts) < BULK_PAGE
    page = store.listed(PAGE, before=oldest, project=request.project)
    _keep(page, records)
    return [entry_of(item) for item in page], len(page) < PAGE


def _keep(page: list[Listed], records: dict[str, Buffer]) -> None:
    records.update((item.buffer.name, item.buffer) for item in page)
