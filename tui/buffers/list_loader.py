"""What the list reads at one go, off the UI's thread: what was used since, what follows, the records on the screen."""

from collections.abc import Iterable, Mapping

from sightline.named_tuple import NamedTuple
from sightline.project import Project
from sightline.records import Buffer
from sightline.store import Listed, Reading
from sightline.tui.buffers.catalog import TITLE_CHARS, entry_of, entry_of_brief
from sightline.tui.buffers.columns import Entry
from sightline.tui.common.sessions import session_titles

PAGE = 200
"""Buffers read at a time while one scrolls."""

BULK_PAGE = 1_000
"""Buffers of which the little that orders and filters need is read at a time, where all are wanted."""


class Request(NamedTuple):
    """What the list wants.

    Attributes:
        newest: place of the newest entry that it has, 0 for none.
        oldest: place of the last one, None for none.
        fresh: whether to look for what was used since.
        more: entries wanted beyond the last one.
        names: buffers whose records are wanted.
        project: the only one that is wanted; None for all.
        wholes: whether it is wanted which outputs are parts of others, of all of them.
        quick: whether only the index is asked: captures whose writers died are then not taken care of.
    """

    newest: int
    oldest: int | None
    fresh: bool
    more: int
    names: tuple[str, ...]
    project: Project | None = None
    wholes: bool = False
    quick: bool = False


class Answer(NamedTuple):
    """What the store had.

    Attributes:
        newer: entries used since, most recent first.
        older: entries that follow the last one.
        complete: whether nothing follows those.
        records: by name.
        gone: names that the store no longer knows.
        totals: buffers, bytes and running captures.
        wholes: by name of an output that is a part of another, the name of that one; empty where it was not wanted.
        titles: what sessions are called, by their names.
    """

    newer: list[Entry]
    older: list[Entry]
    complete: bool
    records: dict[str, Buffer]
    gone: set[str]
    totals: tuple[int, int, int]
    wholes: Mapping[str, str] = {}
    titles: Mapping[str, str] = {}


def load(store: Reading, request: Request) -> Answer:
    """Read what a request wants."""
    records = dict[str, Buffer]()
    newer, bottom = _newer(store, request, records) if request.fresh else ([], False)
    older, complete = list[Entry](), False
    if request.more and request.oldest is not None:
        older, complete = _older(store, request, request.oldest, records)
    records |= records_of(store, (name for name in request.names if name not in records))
    gone = set(request.names) - records.keys()
    held = store.index.totals()
    totals = held.buffers, held.bytes, len(store.index.running())
    wholes = {part: whole for whole, part in store.index.unfiltered().items()} if request.wholes else {}
    titles = {} if request.quick else session_titles(store)
    return Answer(newer, older, complete or bottom, records, gone, totals, wholes, titles)


def records_of(store: Reading, names: Iterable[str]) -> dict[str, Buffer]:
    """The records of those that the store still knows, by name."""
    buffers = map(store.index.buffer, names)
    return {buffer.name: store.with_progress(buffer) for buffer in buffers if buffer is not None}


def _newer(store: Reading, request: Request, records: dict[str, Buffer]) -> tuple[list[Entry], bool]:
    """Entries above the newest that is known; with none known, one page, and whether it is the last."""
    newer, before = list[Entry](), None
    while True:
        page = (store.index if request.quick else store).listed(PAGE, before=before, project=request.project)
        above = [item for item in page if item.used > request.newest]
        _keep(page, records)
        newer += [entry_of(item) for item in above]
        if len(page) < PAGE or not request.newest:
            return newer, len(page) < PAGE and not request.newest
        if len(above) < len(page):
            return newer, False
        before = page[-1].used


def _older(store: Reading, request: Request, oldest: int, records: dict[str, Buffer]) -> tuple[list[Entry], bool]:
    if request.more > PAGE:
        briefs = store.index.briefs(BULK_PAGE, before=oldest, characters=TITLE_CHARS, project=request.project)
        return [entry_of_brief(brief) for brief in briefs], len(briefs) < BULK_PAGE
    page = store.listed(PAGE, before=oldest, project=request.project)
    _keep(page, records)
    return [entry_of(item) for item in page], len(page) < PAGE


def _keep(page: list[Listed], records: dict[str, Buffer]) -> None:
    records.update((item.buffer.name, item.buffer) for item in page)
