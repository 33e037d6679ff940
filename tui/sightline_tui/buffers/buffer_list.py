"""The list of buffers, however many: draws the rows on the screen, moves the cursor, and has read what it needs."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.timer import Timer

from sightline.base.project import Project
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.store import Reading
from sightline_tui.buffers.buffer_row import UNREAD, group_parts, has_two_lines, row_parts, state_with
from sightline_tui.buffers.list_loader import LoadedList, load, records_of
from sightline_tui.buffers.list_model import BufferRows
from sightline_tui.buffers.order import GROUPS, SEEN, SORTS, ListOrder, following
from sightline_tui.buffers.seen_reader import Seen, SeenFacts, SeenReader
from sightline_tui.common.key_order import PATIENCE_SECONDS
from sightline_tui.common.keys import named
from sightline_tui.common.messages import BufferSelected, ListFiltered, LiveSwitched, OrderChosen, StoreCounted
from sightline_tui.common.phrases import age, day_of, duration, used
from sightline_tui.common.row_view import RowTable, row_keys
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.strips import StripPart, row

if TYPE_CHECKING:  # the first screen has no filter
    from sightline_tui.buffers.filter import FilterResult, FilterText
    from sightline_tui.buffers.matcher import AnyTerm

AGES_SECONDS = 10.0  # ages are redrawn this often; all else only after a change
CLOCK_SECONDS = 1.0  # durations of captures that run are redrawn this often
GROWN_SECONDS = 0.05  # the viewer's new lines come first, the numbers in the list a little later
LOST_SECONDS = 2.0  # a killed writer sends no change, so the store is asked this often while captures run
MARKS = ("A", "B")
"""The marks of two buffers to compare: the older and the newer side of a diff."""

_OF_MANY = "m"  # the mark of each of more than two

SEEN_FIRST_SECONDS = 0.6  # to wait after the first screen: the read loads the rules of all tools, which would be felt
SEEN_SOON_SECONDS = 0.25  # to wait after the last change: rows come in bursts while a person scrolls or types
_SEEN_PATIENCE_SECONDS = 1.0  # the longest wait, if changes never end
_KEPT_SEEN = 500
LIVE_SECONDS = 1.0  # between two outputs that the list follows by itself: nobody reads faster

_RULE = Style(underline=True)  # below today's rows
_FAINT = ("dim", "evicted")  # not in the cursor's row, whose background has the same colour on a terminal of 16 colours


_KEYS = [
    *row_keys("Most recently used", "Least recently used"),
    Binding("enter", "choose", "Open"),
    Binding("F", "live", "Live, always the newest", show=False),
    Binding("m", "mark", "Mark"),
    Binding("shift+down", "mark_on(1)", "Mark this and the next", show=False),
    Binding("shift+up", "mark_on(-1)", "Mark this and the one above", show=False),
    Binding("S", "sort", "Sort"),
    Binding("R", "turn", "Reverse", show=False),
    Binding("o", "group", "Group", show=False),
]


class BufferList(RowTable):
    """Buffers, most recently used first. Looking at one is no use of it: browsing never changes the order."""

    PREFIX = "buffer-list"
    PARTS = (
        *("dim", "strong", "ref", "label", "accent", "mark", "match", "kind-cmd", "kind-file", "kind-tool"),
        *("running", "ok", "failed", "unknown", "interrupted", "evicted"),
        *("program", "option", "quoted", "join"),
    )
    COMPONENT_CLASSES: ClassVar = {f"buffer-list--{part}" for part in (*PARTS, "cursor")}
    BINDINGS: ClassVar[list[BindingType]] = named("list", _KEYS)

    def __init__(
        self,
        store: Reading,
        *,
        clock: Callable[[], float] = time.time,
        selected: str = "",
        order: ListOrder | None = None,
        project: Project | None = None,
    ) -> None:
        """Make the list.

        Args:
            store: whose buffers are listed.
            clock: what ages are counted from.
            selected: name of the buffer that the cursor stands on at first; the first one by default.
            order: of the rows; most recently used first by default.
            project: the only one whose buffers are listed; None for all.
        """
        super().__init__(id="buffers")
        self._store = store
        self._seen = ListSeen(self)
        self._titles: Mapping[str, str] = {}  # what to call sessions, by their names
        self._agents: Mapping[str, str] = {}  # harnesses of sessions, by their names
        self._ended = frozenset[str]()  # hosts that were jobs, which have ended
        self._clock = clock
        self._query = ""
        self._terms: list[AnyTerm] = []
        self._look_for_best = False
        self._to_bottom = False
        self._read_all = False
        self._live = False
        self._follows: Timer | None = None
        self._growing = False
        self._announced: object = self
        self._drawn: tuple[list[object], object] | None = None  # what `_sight` was then
        self._drawn_at = 0.0
        self._captures = 0
        self._marked: dict[str, Buffer] = {}  # the marked buffers, by name
        self._deleted = frozenset[str]()  # names of buffers that a person deleted, and can still take back
        self.rows = BufferRows(order, project)
        self.rows.selected = selected
        self._reads: StoreRead[tuple[BufferRows, LoadedList]] = StoreRead(self, self._plan_read, self._take)
        self._filters: FilterText | None = None

    def on_mount(self) -> None:
        """Start the timers, and read what `first_look` left out, after the first screen."""
        self.call_after_refresh(self.store_changed, index=True, live=frozenset())
        self.set_interval(AGES_SECONDS, self._refresh_where_aged)
        self.set_interval(CLOCK_SECONDS, self._refresh_where_running)
        self.set_interval(LOST_SECONDS, self._look_for_lost)

    def first_look(self) -> Buffer | None:
        """Read what the index has for the first screen; the selected buffer."""
        request = self.rows.request(0, 0)
        if request is not None:
            self._reads.carry_out_now(lambda: (self.rows, load(self._store, request._replace(quick=True))))
        return self.rows.record(self.rows.selected)

    # changes of the store

    def show_project(self, project: Project | None) -> None:
        """List the buffers of one project, or all."""
        self.rows = BufferRows(self.rows.order, project)
        self.start_afresh()

    def start_afresh(self, *, keep_cursor: bool = False) -> None:
        """Forget all buffers, and read those that the store has now; the cursor may stay on its own."""
        selected = self.rows.selected if keep_cursor else ""
        self.rows = BufferRows(self.rows.order, self.rows.project)
        self.rows.seek(selected)
        self._seen = ListSeen(self)
        self._marked = {}
        self._announced, self._drawn = self, None
        if self._terms:
            self._look_for_best = not selected
            self._filtering.look_for(self._terms, self.rows.entries())
        self._reads.ask()

    def store_changed(self, index: bool, live: frozenset[str]) -> None:
        """Read again what may have changed; sizes of growing outputs a little later, many changes at once."""
        self.rows.went_on(live)
        if index and self._filters is not None:
            self._filters.store_changed()
        if index:
            self.rows.index_changed()
            self._reads.ask()
        elif not self._growing:
            self._growing = True
            self.set_timer(GROWN_SECONDS, self._read_grown)

    def _read_grown(self) -> None:
        self._growing = False
        self._reads.ask()

    def _look_for_lost(self) -> None:
        if self._captures:
            self.store_changed(index=True, live=frozenset())

    def expect_filter(self) -> None:
        """Read the entries that a filter needs as soon as its prompt opens."""
        self._read_all = True
        self._reads.ask()

    def filter(self, query: str) -> None:
        """Show only the buffers that a text finds; an empty text shows all."""
        self._look_for_best = self._look_for_best or query != self._query
        self._query = query
        self._filter_again()

    def completed(self, query: str) -> str | None:
        """How a filter's text may go on; None if nothing is known to follow."""
        return self._filtering.completed(query)

    def _filter_again(self) -> None:
        terms = self._filtering.terms_of(self._query)
        if terms == self._terms:
            return
        self._terms = terms
        if terms:
            self.post_message(ListFiltered(0, done=False))
            self._filtering.look_for(terms, self.rows.entries())
            self.expect_filter()
            return
        self._read_all = False
        self._filtering.stop()
        self.rows.show_matches(None)
        self.post_message(ListFiltered(None))
        self._redraw()

    @property
    def _filtering(self) -> "FilterText":
        if self._filters is None:
            from sightline_tui.buffers.filter import FilterText  # 30 ms; the first screen has no filter

            self._filters = FilterText(
                self, self._store, self._take_matches, lambda: self.rows.catalog.complete, self._filter_again
            )
        return self._filters

    async def settled(self) -> None:
        """Wait until the filter has tried all entries; give up if they cannot be read."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._filtering.settled()

    def set_order(self, order: ListOrder) -> None:
        """Sort the rows; the cursor stays on its buffer and in sight."""
        self.rows.set_order(order)
        self._seen.ask()
        if self._terms:
            self._filtering.look_for(self._terms, self.rows.entries())
        self._redraw()
        self._reads.ask()

    def hold_rows(self, lines: int) -> None:
        """Keep the rows where they are on the screen though the list begins some lines further down, or up."""
        if self.scroll_offset.y > 0:
            self.scroll_to(y=self.scroll_offset.y + lines, animate=False, force=True)

    def on_resize(self) -> None:
        """Read what the new size shows: other rows may be visible, or rows may take two lines."""
        self.set_height(len(self.rows) * self.row_lines)
        self.bring_cursor_into_sight()
        self._reads.ask()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Read the rows that come into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._reads.ask()
        self._seen.ask()

    # reading

    def _plan_read(self) -> Callable[[], tuple[BufferRows, LoadedList]] | None:
        first = self.first_row
        request = self.rows.request(first, self._below, everything=self._read_all or self._to_bottom)
        if request is None:
            return None
        rows = self.rows
        return lambda: (rows, load(self._store, request))

    def _read_now(self) -> None:
        """Read the few records that come into sight in this thread, since another would compete with the drawing.

        Those of a shared place, which may be slow, come with the next read in another thread.
        """
        if self._store.place:
            return
        try:
            self.rows.put_records(records_of(self._store, self.rows.unread(self.first_row, self._below)))
        except STORE_ERRORS as error:
            tell(self.app, error)

    def _take(self, read: tuple[BufferRows, LoadedList]) -> None:
        rows, answer = read
        if rows is not self.rows:
            return  # the answer is about buffers that were forgotten meanwhile
        in_sight = self.cursor_in_sight
        if self.rows.selected in answer.gone:
            self.notify(f"{format_ref(self.rows.selected)} has been removed", markup=False)
        self._captures = answer.totals[2]
        self._titles, self._agents = answer.titles or self._titles, answer.agents or self._agents
        self._ended = place.ended if (place := self._store.place) else self._ended
        shift = self.rows.take(answer, self._below)
        for name in answer.gone.intersection(self._marked):
            del self._marked[name]
        if self._terms and (answer.newer or (answer.older and not self.rows.order.is_usual)):
            self._filtering.look_for(self._terms, self.rows.entries())
        elif self._terms and (answer.older or answer.complete):
            self._filtering.look_on(self._terms, self.rows.entries())
        if self._to_bottom:
            self.rows.move_to(len(self.rows) - 1)
            self._to_bottom = not self.rows.catalog.complete
        elif self._live and answer.newer:
            in_sight = self._follow_newest() or in_sight
        self.post_message(StoreCounted(*answer.totals))
        self._redraw(shift, in_sight)
        self._refresh_where_aged()
        self._reads.ask()

    def _take_matches(self, found: "FilterResult") -> None:
        self.rows.show_matches(found.entries, best=self._look_for_best)
        self._look_for_best = self._look_for_best and not found.done
        if self._live:
            self._follow_newest()
        self.post_message(ListFiltered(len(found.entries), found.close, found.done))
        self._read_now()
        self._redraw()
        self._reads.ask()

    # how much was seen

    @property
    def store(self) -> Reading:
        """Whose buffers are listed."""
        return self._store

    def records_in_sight(self) -> list[Buffer]:
        """Records of the buffers on the screen, of the selected one, and of their parts, as far as they are read."""
        names = [self.rows.name(at) for at in range(self.first_row, self._below)]
        names.append(self.rows.selected)
        names += [self.rows.part_of(name) for name in names]
        records = map(self.rows.record, dict.fromkeys(names))
        return [record for record in records if record is not None]

    def seen_changed(self, lines: Mapping[str, float] | None, failed: frozenset[str] | None) -> None:
        """Take in what was seen; with the seen lines of all buffers, an order by them changes, too."""
        if failed is not None:
            self.rows.set_failed(failed)
        if lines is not None:
            in_sight = self.cursor_in_sight
            self.rows.set_seen(lines)
            if self._terms:
                self._filtering.look_for(self._terms, self.rows.entries())
            self._redraw(in_sight=in_sight)
        self._refresh_where_changed()
        self._announce()

    # drawing

    @property
    def row_lines(self) -> int:
        """Lines of a row: two if the whole screen is narrow, and high enough."""
        return 2 if has_two_lines(*self.app.size) else 1

    @property
    def _below(self) -> int:
        """The first row below the screen."""
        return self.first_row + -(-self.size.height // self.row_lines)

    def _redraw(self, shift: int = 0, in_sight: bool = True) -> None:
        self.set_height(len(self.rows) * self.row_lines)
        if shift and self.scroll_offset.y > 0:
            # The row under the cursor stays where it is.
            self.scroll_to(y=self.scroll_offset.y + shift * self.row_lines, animate=False, force=True)
        if in_sight:
            self.bring_cursor_into_sight()
        self._refresh_where_changed()
        self._announce()
        self._seen.ask()

    def _refresh_where_changed(self) -> None:
        """Redraw only if the result differs, since all that is drawn is sent to the terminal, which may be far away."""
        before, now = self._drawn, self._sight()
        if now == before:
            return
        self._drawn = now
        if before is None or now[1] != before[1] or len(now[0]) != len(before[0]):
            self._drawn_at = self._clock()
            self.refresh()
            return
        top = self.first_row * self.row_lines - self.scroll_offset.y
        for at, (row_now, row_before) in enumerate(zip(now[0], before[0], strict=True)):
            if row_now != row_before:
                self.refresh(Region(0, top + at * self.row_lines, self.size.width, self.row_lines))

    def _sight(self) -> tuple[list[object], object]:
        """All data from which the visible rows are drawn, except styles and the time: that of each row, and of all."""
        rows = list[object]()
        for at in range(self.first_row, self._below):
            name = self.rows.name(at)
            seen = (self._seen.of(name), self._seen_of_part(name))
            rows.append((self.rows.record(name), self.rows.heading(at), seen, self.rows.times_run(at)))
        place = self.scroll_offset.y, self.rows.cursor, len(self.rows)
        return rows, (place, self._terms, self.marks, self._deleted, self._titles, self._agents, self._ended)

    def _refresh_where_running(self) -> None:
        if self._captures:
            self._refresh_where_aged()

    def _refresh_where_aged(self) -> None:
        if self._times(self._drawn_at) != self._times(now := self._clock()):
            self._drawn_at = now
            self.refresh()

    def _times(self, now: float) -> list[tuple[str, str]]:
        return [(age(now - record.accessed), duration(record, now)) for record in self.records_in_sight()]

    def _announce(self) -> None:
        """Post which buffer is selected, each time that its record or its state has changed."""
        buffer = self.rows.record(self.rows.selected)
        if buffer is None and len(self.rows) > 0:
            return  # it is being read, or a heading
        state = self._state_of(buffer) if buffer else ""
        called = self._titles.get(buffer.session, "") if buffer else ""
        changes = self._changes_of(buffer.name) if buffer else ""
        if (buffer, state, called, changes) != self._announced:
            self._announced = (buffer, state, called, changes)
            self.post_message(BufferSelected(buffer, state, self._titles, changes))

    def _changes_of(self, name: str) -> str:
        """What changed since the run before, in words; of a filtered output, in what went into the filters."""
        seen = self._seen.of(self.rows.part_of(name) or name)
        return seen.changes.words if seen and seen.changes else ""

    def _state_of(self, buffer: Buffer) -> str:
        own = self._seen.of(buffer.name) if buffer.origin and buffer.kind == "cmd" else None
        return state_with(buffer, self._seen_of_part(buffer.name), own)

    def _seen_of_part(self, name: str) -> Seen | None:
        """What is known of a buffer's part; None if it has none."""
        part = self.rows.part_of(name)
        return (self._seen.of(part) or UNREAD) if part else None

    def tell_again(self) -> None:
        """Post again which buffer is selected."""
        self._announced = self
        self._announce()

    def render_line(self, y: int) -> Strip:
        """A row on the screen."""
        at, line = divmod(self.scroll_offset.y + y, self.row_lines)
        base, styles, width = self.own_style, self.part_styles, self.size.width
        if at >= len(self.rows):
            return Strip.blank(width, base)
        if at == self.rows.cursor:
            base += self.get_component_rich_style("buffer-list--cursor", partial=True)
            styles = styles.without(_FAINT)
        if line == self.row_lines - 1 and self._ends_today(at):
            base += _RULE
        return row(self._parts(at, line, self.columns), (), width, base, styles)

    def _ends_today(self, at: int) -> bool:
        """Whether a row is the last of today's, above those of earlier days, such as imported ones."""
        if self.rows.matches is not None or not self.rows.order.is_usual:
            return False
        here, below = self.rows.record(self.rows.name(at)), self.rows.record(self.rows.name(at + 1))
        if here is None or below is None:
            return False
        today = day_of(self._clock())
        return day_of(used(here)) >= today > day_of(used(below))

    def _agent(self, session: str) -> str:
        """The harness of a session; of one that was shown nothing yet, the known harness that its name begins with."""
        if agent := self._agents.get(session):
            return agent
        return next((known for known in self._agents.values() if session.startswith(f"{known}-")), "")

    def _parts(self, at: int, line: int, width: int) -> list[StripPart]:
        if heading := self.rows.heading(at):
            return [] if line else group_parts(heading, self.rows.record(heading.first), width, self._titles)
        buffer = self.rows.record(self.rows.name(at))
        if buffer is None:
            return [] if line else [StripPart("  …", "dim")]
        mark = ""
        if buffer.name in self._marked:
            mark = MARKS[self.marks.index(buffer.name)] if len(self._marked) <= len(MARKS) else _OF_MANY
        return row_parts(
            buffer,
            width,
            self._clock(),
            mark=mark,
            terms=self._terms,
            seen=self._seen.of(buffer.name),
            part=self._seen_of_part(buffer.name),
            is_part=bool(self.rows.whole(at)),
            called=self._titles.get(buffer.session, ""),
            agent=self._agent(buffer.session),
            times=self.rows.times_run(at),
            is_deleted=buffer.name in self._deleted,
            line=line + 1 if self.row_lines > 1 else 0,
            ended=self._ended,
        )

    # keys and mouse

    @property
    def cursor(self) -> int:
        """The row that the cursor stands on, from 0."""
        return self.rows.cursor

    @property
    def row_count(self) -> int:
        """How many rows there are, including those not read yet."""
        return len(self.rows)

    def action_live(self) -> None:
        """Follow the newest output; called again, stop."""
        if self._live:
            self._set_live(False)
            self._redraw()
        else:
            self.follow()

    def follow(self) -> None:
        """Follow the newest output that the filter finds, until the cursor is moved."""
        self._set_live(True)
        self._go_to_newest()
        self._redraw()

    def _go_to_newest(self) -> bool:
        """Put the cursor on the buffer that was used last, wherever it is in the list, and bring it into sight."""
        if newest := self.rows.newest:
            self.rows.select(newest)
        return True

    @property
    def _holds_still(self) -> bool:
        """Whether somebody reads or types elsewhere; nobody does if the terminal itself has no focus."""
        return self.screen.focused not in (None, self)

    def _follow_newest(self) -> bool:
        """Go to the newest as captures come; in a burst only now and then, since to open each would take a core."""
        if self._follows is not None or self._holds_still:
            return False
        self._follows = self.set_timer(LIVE_SECONDS, self._followed)
        return self._go_to_newest()

    def _followed(self) -> None:
        self._follows = None
        if self._live and self.rows.selected != self.rows.newest:
            self._redraw(in_sight=self._follow_newest())

    def on_focus(self) -> None:
        """Go to the newest output again if the list follows it, and read no further for a filter that nobody typed."""
        self._read_all = bool(self._terms)
        if self._follows is None:
            self._followed()

    def _set_live(self, live: bool) -> None:
        if live != self._live:
            self._live = live
            self.rows.group_bursts(live)
            self.post_message(LiveSwitched(live))

    def move_to(self, at: int) -> None:
        """Put the cursor on a row, and bring it into sight."""
        self._set_live(False)
        self._to_bottom = self._look_for_best = False
        self.rows.move_to(at)
        self.bring_cursor_into_sight()
        self._refresh_where_changed()
        self._announce()
        self._reads.ask()

    def select(self, name: str) -> None:
        """Put the cursor on a buffer, if it is in the list."""
        self.rows.select(name)
        self.move_to(self.rows.cursor)

    def action_bottom(self) -> None:
        """Move to the least recently used buffer; entries up to it are read."""
        super().action_bottom()
        self._to_bottom = self.rows.matches is None and not self.rows.catalog.complete

    async def action_choose(self) -> None:
        """Go to the selected buffer's output, or fold a heading's group; in an empty list do what the screen offers."""
        if heading := self.rows.heading(self.rows.cursor):
            self._set_live(False)
            self.rows.fold(heading)
            self._redraw()
            self._reads.ask()
        else:
            await self.run_action("screen.read")

    def action_sort(self) -> None:
        """The next order."""
        order = self.rows.order
        self.post_message(OrderChosen(following(SORTS, order.sort), False, order.group))

    def action_turn(self) -> None:
        """Reverse the order."""
        order = self.rows.order
        self.post_message(OrderChosen(order.sort, not order.turned, order.group))

    def action_group(self) -> None:
        """The next grouping."""
        order = self.rows.order
        self.post_message(OrderChosen(order.sort, order.turned, following(GROUPS, order.group)))

    @property
    def marks(self) -> tuple[str, ...]:
        """Names of the marked buffers, the older one first."""
        return tuple(sorted(self._marked, key=lambda name: self._marked[name].created))

    def marked_records(self) -> list[Buffer]:
        """The records of the marked buffers, the older one first, as they were last read."""
        return [self.rows.record(name) or self._marked[name] for name in self.marks]

    def show_deleted(self, names: frozenset[str]) -> None:
        """Show which buffers were deleted and can be taken back; no buffer stays marked."""
        self._deleted, self._marked = names, {}
        self._redraw()

    def action_mark(self) -> None:
        """Mark the selected buffer, or unmark it, and go to the next row."""
        buffer = self.rows.record(self.rows.selected)
        if buffer is None:
            return
        if self._marked.pop(buffer.name, None) is None:
            self._marked[buffer.name] = buffer
        self.move_to(self.rows.cursor + 1)

    def action_mark_on(self, step: int) -> None:
        """Mark the selected buffer, go on by a row, and mark the buffer there."""
        for rows in (0, step):
            self.move_to(self.rows.cursor + rows)
            if buffer := self.rows.record(self.rows.selected):
                self._marked[buffer.name] = buffer
        self._redraw()

    async def on_click(self, event: events.Click) -> None:
        """Select the row clicked on; a second click reads it. A click on a heading folds its group."""
        at = (self.scroll_offset.y + event.y) // self.row_lines
        if at < len(self.rows):
            self.move_to(at)
            if event.chain > 1 or self.rows.heading(at):
                await self.action_choose()


class ListSeen:
    """The list's model."""

    def __init__(self, buffers: BufferList) -> None:
        self._list = buffers
        self._reader = SeenReader(buffers.store)
        self._known = dict[str, Seen]()
        self._timer: Timer | None = None
        self._begun = False
        self._asked = 0.0
        self._reads: StoreRead[SeenFacts] = StoreRead(buffers, self._plan, self._take)

    def of(self, name: str) -> Seen | None:
        """What is known of a buffer."""
        return self._known.get(name)

    def ask(self) -> None:
        """Have it read what has come into sight, or changed, soon."""
        now = time.monotonic()
        if self._timer is None:
            self._asked = now
            self._timer = self._list.set_timer(SEEN_SOON_SECONDS if self._begun else SEEN_FIRST_SECONDS, self._read)
        elif self._begun and now - self._asked < _SEEN_PATIENCE_SECONDS:
            self._timer.reset()

    def _read(self) -> None:
        self._timer, self._begun = None, True
        self._reads.ask()

    def _plan(self) -> Callable[[], SeenFacts] | None:
        buffers = [record for record in self._list.records_in_sight() if record.state != "evicted"]
        order = self._list.rows.order
        everything, counts = order.sort == SEEN, bool(order.group)
        if not buffers and not everything and not counts:
            return None
        return lambda: self._reader.read(buffers, everything=everything, counts=counts)

    def _take(self, answer: SeenFacts) -> None:
        before = {name: seen for name, seen in self._known.items() if name not in answer.seen}
        self._known = {**before, **answer.seen}
        for name in list(self._known)[: max(len(self._known) - _KEPT_SEEN, 0)]:
            del self._known[name]
        self._list.seen_changed(answer.lines, answer.failed)
        if not answer.done:
            self._reads.ask()
