"""The list as it is looked at: which buffers stand in it, in which order, filtered or not, and where the cursor is.

The view model between the store and the widget that draws it: no input or output, nothing of the screen.
"""

from sightline.store.records import Buffer
from sightline.tui.catalog import Catalog, Entry
from sightline.tui.loading import PAGE, Answer, Request

_RECORDS_KEPT = 2_000
_AHEAD = 50  # rows below the lowest one wanted that are asked for with it


class BufferRows:
    """Rows of the list.

    Attributes:
        catalog: the order, as far as it is known.
        matches: names that the filter found, None without a filter.
        cursor: the row that the cursor stands on.
        selected: name of the buffer there, which it keeps when the order changes; empty while it is not known.
    """

    def __init__(self) -> None:
        self.catalog = Catalog()
        self.matches: list[str] | None = None
        self.cursor = 0
        self.selected = ""
        self._records = dict[str, Buffer]()
        self._stale = set[str]()
        self._total = 0
        self._changed = True

    def __len__(self) -> int:
        if self.matches is not None:
            return len(self.matches)
        return len(self.catalog) if self.catalog.complete else max(len(self.catalog), self._total)

    def name(self, at: int) -> str:
        """Name of the buffer in a row, empty where it has not been read."""
        if self.matches is not None:
            return self.matches[at] if 0 <= at < len(self.matches) else ""
        return self.catalog.entries[at].name if 0 <= at < len(self.catalog) else ""

    def record(self, name: str) -> Buffer | None:
        """A buffer's record as it was last read."""
        return self._records.get(name)

    def move_to(self, at: int) -> bool:
        """Put the cursor on a row; whether it stands on another buffer now."""
        before = self.selected
        self.cursor = max(0, min(at, len(self) - 1))
        self.selected = self.name(self.cursor)
        return self.selected != before

    def select(self, name: str) -> None:
        """Put the cursor on a buffer, wherever it stands."""
        self.selected = name
        self._find_cursor()

    # what has to be read

    def index_changed(self) -> None:
        """The order and every record may have changed."""
        self._changed = True
        self._stale.update(self._records)

    def went_on(self, names: frozenset[str]) -> None:
        """These buffers have grown, begun or ended."""
        self._stale.update(names & self._records.keys())

    def request(self, first: int, last: int, *, everything: bool = False) -> Request | None:
        """What must be read so that rows first to last can be drawn; None where all is there.

        Args:
            first: first row on the screen.
            last: last row on the screen.
            everything: whether all entries are wanted, as a filter does.
        """
        wanted = [self.name(at) for at in range(first, last + 1)] + [self.selected]
        names = tuple(
            dict.fromkeys(name for name in wanted if name and (name in self._stale or name not in self._records))
        )
        lacking = 0
        if not self.catalog.complete and self.catalog.entries:
            lowest = len(self) if everything else max(last, self.cursor) + _AHEAD
            lacking = max(lowest - len(self.catalog), 1 if everything else 0)
            lacking = max(lacking, PAGE) if lacking > 0 else 0
            lacking = PAGE + 1 if everything and lacking else lacking
        if not (names or lacking or self._changed):
            return None
        request = Request(self.catalog.newest, self.catalog.oldest, self._changed, lacking, names)
        self._changed = False
        self._stale.difference_update(names)
        return request

    def take(self, answer: Answer) -> int:
        """Take in what was read; by how many rows the selected buffer moved down."""
        before = self.cursor
        self._total = answer.totals[0]
        if not self.catalog.entries:
            self.catalog.complete = False  # of an empty store nothing more was known than that
        self.catalog.put_newer(answer.newer)
        self.catalog.put_older(answer.older, complete=answer.complete)
        self.catalog.drop(answer.gone)
        if self.matches is not None and answer.gone:
            self.matches = [name for name in self.matches if name not in answer.gone]
        self._records.update(answer.records)
        for name in answer.gone:
            self._records.pop(name, None)
        self._forget_records()
        if self.matches is None and (answer.newer or answer.gone):
            self._find_cursor()
        if not self.selected:
            self.move_to(self.cursor)
        return self.cursor - before

    def _forget_records(self) -> None:
        for name in list(self._records)[: max(len(self._records) - _RECORDS_KEPT, 0)]:
            del self._records[name]

    # filtering

    def show_matches(self, names: list[str] | None, *, best: bool = False) -> None:
        """Show what a filter found, or everything again.

        Args:
            names: the best first; None to end the filter.
            best: whether the cursor goes to the best one, rather than stay on its buffer.
        """
        self.matches = names
        if best:
            self.move_to(0)
        else:
            self._find_cursor()

    def titles(self) -> list[Entry]:
        """What a filter looks through, as far as it has been read."""
        return list(self.catalog.entries)

    def _find_cursor(self) -> None:
        at = -1
        if self.selected:
            at = self.catalog.position(self.selected) if self.matches is None else _index(self.matches, self.selected)
        if at >= 0:
            self.cursor = at
        else:
            self.move_to(self.cursor)


def _index(names: list[str], name: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        return -1
