"""The list's model: which rows it has, in which order, filtered or not, and where the cursor is.

It stands between the store and the widget that draws it, does no input or output, and knows no screen.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence

from sightline.base.project import Project
from sightline.base.records import Buffer
from sightline_tui.buffers.catalog import Catalog
from sightline_tui.buffers.list_loader import PAGE, ListNeeds, LoadedList
from sightline_tui.buffers.order import RECENT, Heading, ListOrder, Row, bursts, grouped, in_order, with_parts
from sightline_tui.buffers.packed_entries import Entries

RECORDS_KEPT = 500
AHEAD_ROWS = 50  # how many rows below the lowest one needed are read with it
ENTRIES_KEPT = 1_000
"""How many entries are kept if the store holds fewer buffers: evicted ones stay in its list, ever more of them."""

MOST_TIMES = 100
"""How far equal commands in a row are counted."""

_SPARE = 5  # a fifth more, so that many are forgotten at once


class BufferRows:
    """The rows of the list: buffers, and headings above groups.

    Attributes:
        project: the only one whose buffers are in it; None for all.
        catalog: the order of use, as far as it is known.
        matches: what the filter found, None without a filter.
        cursor: the row that the cursor stands on.
        selected: name of the cursor's row, which it keeps when the order changes; empty while unknown.
    """

    def __init__(self, order: ListOrder | None = None, project: Project | None = None) -> None:
        self.project = project
        self.catalog = Catalog()
        self.matches: Entries | None = None
        self.cursor = 0
        self.selected = ""
        self._order = order or ListOrder()
        self._folded = frozenset[str]()
        self._groups_bursts = False
        self._version = 0  # counts changes of order, folds, matches and seen lines
        self._seen: Mapping[str, float] = {}
        self._seen_version = 0
        self._failed = frozenset[str]()
        self._ordered = self.catalog.entries
        self._ordered_from: object = None
        self._arranged: Sequence[Row] = ()
        self._columns = self.catalog.entries.columns  # that the rows are in
        self._arranged_from: object = None
        self._wholes = dict[str, str]()  # names of outputs by that of their part: what went into their filters
        self._parts = dict[str, str]()  # the other way round
        self._knows_wholes = False  # for all buffers, not only those whose records were read
        self._records = dict[str, Buffer]()
        self._stale = set[str]()
        self._total = 0
        self._held = 0
        self._lowest = 0  # the last row that is needed, with those ahead of it
        self._changed = True
        self._sought = False  # whether the selected buffer is still to be found among entries that are not read yet
        self._remains = ""  # the selected buffer, which the store no longer has; its row goes when the cursor leaves it
        self._let_go = ""  # a buffer whose row goes at once when the store no longer has it

    # rows

    @property
    def order(self) -> ListOrder:
        """How the rows are ordered."""
        return self._order

    def entries(self) -> Entries:
        """All buffers that are known, in order: what a filter looks through. The same object while nothing changes."""
        of = (self.catalog.version, self._order, self._seen_version)
        if of != self._ordered_from:
            self._ordered = in_order(self.catalog.entries, self._order, self._seen)
            self._ordered_from = of
        return self._ordered

    @property
    def _rows(self) -> Sequence[Row]:
        of = (self.catalog.version, self._version)
        if of != self._arranged_from:
            shown = self.entries() if self.matches is None else self.matches
            group = self._order.group
            if group != "command":  # a whole and its part differ in this
                shown = with_parts(shown, self._wholes)
            if group:
                self._arranged = grouped(shown, group, self._folded, self._failed)
            else:
                self._arranged = bursts(shown) if self._groups_bursts else shown.places
            self._columns = shown.columns
            self._arranged_from = of
        return self._arranged

    def __len__(self) -> int:
        if self.matches is None and self._order.is_usual and not (self.catalog.complete or self._groups_bursts):
            return max(len(self.catalog), self._total)
        return len(self._rows)

    def name(self, at: int) -> str:
        """Name of a row, empty where it has not been read."""
        rows = self._rows
        row = rows[at] if 0 <= at < len(rows) else None
        if row is None:
            return ""
        return row.name if isinstance(row, Heading) else self._columns.name(row)

    def heading(self, at: int) -> Heading | None:
        """The heading that a row is, None for a buffer's."""
        rows = self._rows
        row = rows[at] if 0 <= at < len(rows) else None
        return row if isinstance(row, Heading) else None

    def whole(self, at: int) -> str:
        """For a row that is a part of the buffer on the row above, that buffer's name; empty for any other row."""
        whole = self._wholes.get(self.name(at), "") if self._wholes else ""
        return whole if whole and whole == self.name(at - 1) else ""

    def part_of(self, name: str) -> str:
        """For a buffer with a part, the part's name, wherever its row is; empty for any other."""
        return self._parts.get(name, "") if self._parts else ""

    def record(self, name: str) -> Buffer | None:
        """A buffer's record as it was last read."""
        return self._records.get(name)

    def move_to(self, at: int) -> bool:
        """Put the cursor on a row; return whether it has moved."""
        before = self.selected
        self.cursor = max(0, min(at, len(self) - 1))
        self.selected = self.name(self.cursor)
        self._clear_away()
        return self.selected != before

    def select(self, name: str) -> None:
        """Put the cursor on a buffer, wherever it is."""
        self.selected = name
        self._find_cursor()
        self._clear_away()

    def seek(self, name: str) -> None:
        """Put the cursor on a buffer as soon as it has been read."""
        self.selected, self._sought = name, bool(name)

    def let_go(self, name: str) -> None:
        """Note that the person has a buffer removed: its row need not stay under the cursor."""
        self._let_go = name

    def _clear_away(self) -> None:
        """Forget the buffer that the store no longer has, once the cursor has left it."""
        if self._remains and self._remains != self.selected:
            self._drop({self._remains})
            self._remains = ""
            self._find_cursor()

    def _drop(self, names: set[str]) -> None:
        self.catalog.drop(names)
        if self.matches is not None and names:
            self.matches = self.matches.without(names)
            self._version += 1
        for name in names:
            self._records.pop(name, None)
            self._parts.pop(self._wholes.get(name, ""), None)

    def set_order(self, order: ListOrder) -> None:
        """Sort the rows; the cursor stays on its buffer."""
        self._order = order
        self._version += 1
        self._find_cursor()

    def set_seen(self, seen: Mapping[str, float]) -> None:
        """Take in how many lines of each buffer were seen; the cursor stays on its buffer if the order changes."""
        self._seen = seen
        self._seen_version += 1
        self._version += 1
        self._find_cursor()

    def set_failed(self, names: frozenset[str]) -> None:
        """Take in which buffers failed, to count them in the headings of groups."""
        self._failed = names
        self._version += 1

    def times_run(self, at: int) -> int:
        """How often the command of a row ran in a row, if its run is the last of these; 1 for any other row.

        The same command of one session counts, on rows beside each other; parts of outputs are passed over.
        """
        if self._order.sort != RECENT or self._order.group or self.heading(at) or self.whole(at):
            return 1
        rows, step = self._rows, -1 if self._order.turned else 1
        said = self._said(at)
        if said == self._said(self._beside(at, -step)):
            return 1
        times = 1
        while times < MOST_TIMES and 0 <= (at := self._beside(at, step)) < len(rows) and self._said(at) == said:
            times += 1
        return times

    def _beside(self, at: int, step: int) -> int:
        """The next row in one direction that is not a part of the row above it."""
        at += step
        return at + step if self.whole(at) else at

    def _said(self, at: int) -> tuple[str, str, str] | None:
        """Command, session and kind of a row; None for no row, or a heading."""
        rows = self._rows
        row = rows[at] if 0 <= at < len(rows) else None
        if row is None or isinstance(row, Heading):
            return None
        return self._columns.command(row), self._columns.session(row), self._columns.name(row).partition("_")[0]

    def group_bursts(self, wanted: bool) -> None:
        """Fold long bursts of one session's outputs, or show all outputs again."""
        self._groups_bursts = wanted
        self._version += 1
        self._find_cursor()

    @property
    def newest(self) -> str:
        """Name of the buffer that was used last among those that the filter found; empty if there is none."""
        if self.matches is None:
            entries = self.catalog.entries
            return entries[0].name if entries else ""
        columns = self.matches.columns
        return columns.name(max(self.matches.places, key=columns.used.__getitem__)) if self.matches else ""

    def fold(self, heading: Heading) -> None:
        """Hide the buffers below a heading, or show them again; the cursor goes to the heading."""
        self._folded ^= {heading.name}
        self._version += 1
        self.select(heading.name)

    # what must be read

    def index_changed(self) -> None:
        """Note that the order and every record may have changed."""
        self._changed = True
        self._stale.update(self._records)

    def went_on(self, names: frozenset[str]) -> None:
        """Note that these buffers have grown, begun or ended."""
        self._stale.update(names & self._records.keys())

    def request(self, first: int, last: int, *, everything: bool = False) -> ListNeeds | None:
        """What must be read before rows first to last can be drawn; None if nothing is missing.

        Args:
            first: first row on the screen.
            last: last row on the screen.
            everything: whether all entries are needed, as for a filter or an order other than the store's.
        """
        everything = everything or not self._order.is_usual or self._sought
        names = self._unread(self._wanted(first, last))
        self._lowest = sys.maxsize if everything else max(last, self.cursor) + AHEAD_ROWS
        lacking = 0
        if not self.catalog.complete and self.catalog.entries:
            have = len(self) if self._groups_bursts else len(self.catalog)
            lacking = 1 if everything else max(self._lowest - have, 0)
            lacking = max(lacking, PAGE) if lacking > 0 else 0
            lacking = PAGE + 1 if everything else lacking
        if not (names or lacking or self._changed):
            return None
        wholes = lacking > PAGE and not self._knows_wholes
        request = ListNeeds(
            self.catalog.newest, self.catalog.oldest, self._changed, lacking, names, self.project, wholes
        )
        self._knows_wholes = self._knows_wholes or wholes
        self._changed = False
        self._stale.difference_update(names)
        return request

    def unread(self, first: int, last: int) -> tuple[str, ...]:
        """Names of the buffers on rows first to last whose records must be read."""
        return self._unread(map(self.name, range(first, last + 1)))

    def _unread(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            name
            for name in dict.fromkeys(names)
            if name and " " not in name and name != self._remains
            if name in self._stale or name not in self._records
        )

    def put_records(self, records: Mapping[str, Buffer]) -> None:
        """Take in records that were read alone."""
        self._records.update(records)
        self._stale.difference_update(records)
        self._note_wholes({one.name: one.origin for one in records.values() if one.kind == "cmd" and one.origin})
        self._forget_records()

    def _note_wholes(self, wholes: Mapping[str, str]) -> None:
        """Note which buffers are parts of others: what went into the filters of a command."""
        if not wholes.items() <= self._wholes.items():
            self._wholes.update(wholes)
            self._parts.update((whole, part) for part, whole in wholes.items())
            self._version += 1

    def _wanted(self, first: int, last: int) -> list[str]:
        """Names of the buffers whose records are needed: in sight, selected, or perhaps ended meanwhile."""
        headings = map(self.heading, range(first, last + 1))
        wanted = [heading.first if heading else self.name(at) for at, heading in enumerate(headings, first)]
        if self.selected and " " not in self.selected:
            wanted.append(self.selected)
        wanted += [part for name in wanted if (part := self.part_of(name))]
        return wanted + (list(self.catalog.running) if self._changed else [])

    def take(self, answer: LoadedList, last: int = 0) -> int:
        """Take in what was read; return by how many rows the selected one moved down.

        Args:
            answer: what was read.
            last: last row on the screen now, which may have been scrolled since the request.
        """
        before = self.cursor
        self._held = answer.totals[0]
        self._total = self._held if self.project is None else 0  # for one project the store does not count them
        if not self.catalog.entries:
            self.catalog.complete = False  # before this the list only knew that the store was empty
        version = self.catalog.version
        self.catalog.put_newer(answer.newer)
        self.catalog.put_older(answer.older, complete=answer.complete)
        gone = answer.gone - {self._keep_remains(answer.gone)}
        self._drop(gone)
        self.catalog.renew(answer.records.values())
        arranged = self._version
        self._note_wholes(answer.wholes)
        self.put_records(answer.records)
        self._forget_entries(max(self._lowest, last + AHEAD_ROWS, self.cursor + AHEAD_ROWS))
        moved = answer.newer or gone or (version != self.catalog.version and not self._order.is_usual)
        if arranged != self._version or (moved and (self.matches is None or gone)):
            self._find_cursor()
        if not self.selected:
            self._begin()
        return self.cursor - before

    def _keep_remains(self, gone: set[str]) -> str:
        """The selected buffer, if it is among those that are gone: its row stays until the cursor leaves it."""
        left = self._records.get(self.selected)
        if self.selected not in gone or left is None or self.selected == self._let_go:
            return ""
        self._records[self.selected] = left._replace(state="evicted")
        self._remains = self.selected
        return self.selected

    def _forget_records(self) -> None:
        for name in list(self._records)[: max(len(self._records) - RECORDS_KEPT, 0)]:
            del self._records[name]
        self._stale.intersection_update(self._records)

    def _forget_entries(self, rows: int) -> None:
        """Keep no more entries than the store holds buffers, unless so many rows need more.

        Rows below then have to be read once more, as if the list had never come so far.
        """
        most = max(self._held, ENTRIES_KEPT, rows)
        if len(self.catalog) <= most + most // _SPARE:
            return
        if self._groups_bursts and len(bursts(self.catalog.entries[:most])) < rows:
            return
        self.catalog.keep(most)
        entries = self.catalog.entries
        for part in self._wholes.keys() - entries.columns.rows_of(self._wholes, entries.places).keys():
            self._parts.pop(self._wholes.pop(part), None)
        self._knows_wholes = False

    # filtering

    def show_matches(self, matches: Entries | None, *, best: bool = False) -> None:
        """Show what a filter found, or everything again.

        Args:
            matches: the best first; None to end the filter.
            best: whether the cursor goes to the best one instead of staying on its buffer.
        """
        self.matches = matches if matches is None or best else self._with_selected(matches)
        self._version += 1
        if best:
            self.move_to(0)
            self._begin()
        else:
            self._find_cursor()

    def _with_selected(self, matches: Entries) -> Entries:
        """Matches with the selected buffer in the cursor's row, if the filter does not find it (any more)."""
        entries = self.catalog.entries
        at = entries.position(self.selected) if self.selected and " " not in self.selected else -1
        if at < 0 or matches.columns is not entries.columns or matches.position(self.selected) >= 0:
            return matches
        places = matches.places[:]
        places.insert(self.cursor, entries.places[at])
        return Entries(matches.columns, places)

    def _begin(self) -> None:
        """Put the cursor where it is, or from a heading on the first buffer below."""
        below = self.heading(self.cursor) is not None and self.cursor + 1 < len(self)
        self.move_to(self.cursor + below)

    def _find_cursor(self) -> None:
        if not self.selected:
            self._begin()
            return
        if self.name(self.cursor) == self.selected:
            return
        at = self._position(self.selected)
        if at >= 0:
            self.cursor, self._sought = at, False
        elif not self._sought or self.catalog.complete:
            self._sought = False
            self.move_to(self.cursor)

    def _position(self, name: str) -> int:
        """The row of a buffer or a heading; -1 if it has none."""
        rows = self._rows
        if " " in name:
            return next((at for at, row in enumerate(rows) if isinstance(row, Heading) and row.name == name), -1)
        for place in self._columns.named(name):
            try:
                return rows.index(place)
            except ValueError:
                continue  # an entry of an older state
        return -1
