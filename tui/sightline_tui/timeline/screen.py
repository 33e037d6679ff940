"""The timeline: lists live, call by call, the question and how much was shown, what was said between, and totals."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from sightline.audit.conversation import Said
from sightline.audit.lineage import Edge, begun_by
from sightline.audit.overlooked_places import number_in, place_at
from sightline.audit.project_scope import sessions_in
from sightline.audit.timeline import Call, CallFilter
from sightline.base.project import Project
from sightline.base.records import Note
from sightline.base.refs import parse_ref
from sightline.log.session_list import SessionFacts, list_sessions
from sightline.store import Reading
from sightline_tui.common.bar import Bar
from sightline_tui.common.clipboard import copy
from sightline_tui.common.histogram import Histogram, histogram, histogram_parts
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.messages import BeginningWanted, LineChosen, ViewChosen
from sightline_tui.common.prompt import Asks, Prompt
from sightline_tui.common.scoped_screen import ScopedScreen
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead, is_whole
from sightline_tui.common.store_screen import go_to
from sightline_tui.common.strips import StripPart
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import title
from sightline_tui.timeline import call_filter as filters
from sightline_tui.timeline.call_parts import CallLook, detail_rows, heading_parts, totals_rows
from sightline_tui.timeline.call_reader import CallReader, Calls, ContextLoss, Row, id_of, moments_of
from sightline_tui.timeline.call_rows import CallRows
from sightline_tui.timeline.replay_screen import ReplayScreen
from sightline_tui.timeline.sessions_screen import SessionsScreen as SessionsScreen
from sightline_tui.timeline.totals import TimelineTotals, TotalsReader
from sightline_tui.timeline.unfolded import can_unfold

ALL = None
TIMES_ROWS = 35  # rows of a screen that has room for the histogram


class TimelineScreen(ScopedScreen[None]):
    """Calls of one session or of all; above them their totals, and below them the call under the cursor."""

    opened_by = "timeline"
    CSS_PATH = "timeline.tcss"
    AUTO_FOCUS = "#calls"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "timeline",
        [
            Binding("slash", "filter", "Filter", key_display="/", priority=True),
            Binding("v", "read_reply", "Reply"),
            Binding("r", "replay", "Replay"),
            Binding("s", "sessions", "Sessions"),
            Binding("I", "why", "Why"),
            Binding("right_square_bracket", "session(1)", "Next session", show=False),
            Binding("left_square_bracket", "session(-1)", "Previous session", show=False),
            Binding("H", "helpers", "Calls of helpers between these, or apart", show=False),
            Binding("greater_than_sign", "helper", "The helper that the call started", show=False),
            Binding("less_than_sign", "starter", "The call that started this session", show=False),
            Binding("f", "failed", "Only failed calls, or all", show=False),
            Binding("V", "verb", "Only calls of one verb, or of the next", show=False),
            Binding("d", "unfold", "What the call changed in files, or the words", show=False),
            Binding("o", "output", "Only calls about this output, or all", show=False),
            Binding("exclamation_mark", "overlooked", "Overlooked", key_display="!"),
            Binding("y", "copy_ref", "Copy the ref of the lines", show=False),
            Binding("escape", "leave", "Clear the filter, or back", show=False),
            Binding("q,t", "dismiss", "Back"),
        ],
    )

    def __init__(
        self,
        store: Reading,
        session: str | None = ALL,
        *,
        project: Project | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make the screen.

        Args:
            store: whose calls it shows.
            session: name of the only session; None for all.
            project: the only project; None for all.
            clock: the time, by which calls count as today's.
        """
        super().__init__(project)
        self._store = store
        self._clock = clock
        self._session = session
        self._typed = self._keyed = CallFilter()
        self._reader = CallReader(store, session, project)
        self._totalling = TotalsReader(store, session, project)
        self._reading: Calls | None = None
        self._told: TimelineTotals | None = None
        self._histogram: Histogram | None = None
        self._missed_at = 0
        self._with_helpers = False
        self._own: tuple[Sequence[Call], Sequence[Call]] | None = None  # all calls, and those of the session itself
        self._then: Callable[[], None] | None = None  # what to do once the calls are read
        self._reads: StoreRead[tuple[CallReader, Calls, Histogram | None]] = StoreRead(
            self, self._plan_read, self._take
        )
        self._counts: StoreRead[tuple[TotalsReader, TimelineTotals]] = StoreRead(
            self, self._plan_count, self._take_totals
        )

    def compose(self) -> ComposeResult:
        """Lay out head, totals, headings, calls, the call under the cursor, and keys."""
        load_style(self.app, "common/row_view")
        load_style(self.app, "timeline/call_rows")
        yield Bar(id="timeline-head")
        yield Bar(id="timeline-totals")
        yield Bar(id="timeline-times")
        yield Bar(id="timeline-columns")
        yield CallRows()
        yield Bar(id="timeline-detail")
        yield KeyBar()

    def on_mount(self) -> None:
        """Start reading."""
        self.tell()
        self.read()

    @property
    def session(self) -> str | None:
        """Name of the session whose calls are shown; None for all."""
        return self._session

    def show_session(self, session: str | None) -> None:
        """Show the calls of another session, or of all."""
        self.show(session, self._project)

    def show_project(self, project: Project | None) -> None:
        """Show the calls in another project, or in all; of all sessions, since the shown one may have none there."""
        if project != self._project:
            self.show(ALL, project)

    def show(self, session: str | None, project: Project | None) -> None:
        """Show the calls of one session or all, in one project or all."""
        if (session, project) == (self._session, self._project):
            return
        self._session, self._project = session, project
        self._show_anew()

    def _show_anew(self) -> None:
        """Read the calls from the beginning."""
        session, project = self._session, self._project
        self._reader = CallReader(self._store, session, project, with_helpers=self._with_helpers)
        self._totalling = TotalsReader(self._store, session, project)
        self._reading = self._told = None
        self._missed_at = 0
        calls = self.query_one(CallRows)
        calls.following = True
        calls.show((), self._look())
        self.tell()
        self.read()

    # reading

    @property
    def wanted(self) -> CallFilter:
        """The filter for the calls."""
        return filters.both(self._typed, self._keyed)

    def _plan_read(self) -> Callable[[], tuple[CallReader, Calls, Histogram | None]]:
        reader, wanted = self._reader, self.wanted

        def read() -> tuple[CallReader, Calls, Histogram | None]:
            reading = reader.step(wanted)
            return reader, reading, histogram(moments_of(reading.rows or ()))

        return read

    def _take(self, answer: tuple[CallReader, Calls, Histogram | None]) -> None:
        reader, reading, counted = answer
        if reader is not self._reader:
            return
        self._reading = reading
        if reading.rows is not None:
            self._histogram = counted
            self.query_one(CallRows).show(reading.rows, self._look())
        if reading.done >= 1 and (then := self._then):
            self._then = None
            then()
        self.tell()
        if reading.done < 1:
            self._reads.ask()
        else:
            self._counts.ask()

    def _plan_count(self) -> Callable[[], tuple[TotalsReader, TimelineTotals]] | None:
        reading, totalling = self._reading, self._totalling
        if reading is None or reading.done < 1:
            return None
        if self._own is None or self._own[0] is not reading.calls:
            own = [one for one in reading.calls if self._session in (ALL, one.view.session)]
            self._own = reading.calls, own
        counted = self._own[1]
        return lambda: (totalling, totalling.step(counted))

    def _take_totals(self, answer: tuple[TotalsReader, TimelineTotals]) -> None:
        totalling, self._told = answer[0], answer[1] if answer[0] is self._totalling else self._told
        if totalling is not self._totalling:
            return
        self.query_one(CallRows).look(self._look())
        self.tell()
        if not totalling.is_done:
            self._counts.ask()

    # telling

    def _look(self) -> CallLook:
        titles = self._reading.titles if self._reading else {}
        missed = frozenset(one.name for one in self._told.missed) if self._told else frozenset[str]()
        return CallLook(self._clock(), self._is_of_several, titles, missed)

    def on_call_rows_moved(self) -> None:
        """Show the call under the cursor in full."""
        self.tell()

    def tell(self) -> None:
        """Show whose calls these are, their totals, the headings, and the call under the cursor."""
        calls = self.query_one(CallRows)
        self.query_one("#timeline-head", Bar).say(self._head(calls))
        held = self._reading.held if self._reading else None
        self.query_one("#timeline-totals", Bar).say(
            *((row, ()) for row in totals_rows(self._told, self.size.width, held))
        )
        times = self.query_one("#timeline-times", Bar)
        times.display = self.size.height >= TIMES_ROWS and self._histogram is not None
        times.say((histogram_parts(self._histogram, self.size.width), ()))
        names = heading_parts(calls.room, everyone=self._is_of_several)
        self.query_one("#timeline-columns", Bar).say((names, ()))
        self.query_one("#timeline-detail", Bar).say(*((row, ()) for row in self._detail(calls)))

    def _detail(self, calls: CallRows) -> list[list[StripPart]]:
        titles = self._reading.titles if self._reading else {}
        if calls.row is not None:
            rows = detail_rows(calls.row, titles)
            began = begun_by(calls.row.view.session, calls.row.use, self._edges) if isinstance(calls.row, Call) else []
            if began:
                who = StripPart(f" {title(self.session_title(began[0]))}")
                rows[0][1:1] = [StripPart("  > ", "key"), StripPart("shows its helper", "dim"), who]
            return rows
        if not self._is_read:
            return []
        if self.wanted != CallFilter():
            return [
                [],
                [
                    StripPart(" Nothing matches. ", "dim"),
                    StripPart("Enter", "key"),
                    StripPart(" shows all calls", "dim"),
                ],
            ]
        nobody = [
            StripPart(" Nobody has asked anything yet. ", "dim"),
            StripPart("Enter", "key"),
            StripPart(" says how to begin", "dim"),
        ]
        return [[], nobody]

    @property
    def _is_of_several(self) -> bool:
        return self._session is ALL or self._with_helpers

    @property
    def _is_read(self) -> bool:
        return self._reading is not None and self._reading.done >= 1

    def _head(self, calls: CallRows) -> tuple[list[StripPart], list[StripPart]]:
        whose = self.session_title(self._session) if self._session is not None else "all sessions"
        left = [*self.head("Timeline"), StripPart(f"  {title(whose)}")]
        if self._with_helpers and self._session is not ALL:
            left.append(StripPart(" with helpers", "dim"))
        if told := filters.told(self.wanted):
            found = f"{len(calls.rows):,} match" + ("es" if len(calls.rows) == 1 else "")
            left += [StripPart("  / ", "accent"), StripPart(title(told)), StripPart(f"  {found}", "dim")]
        cost = self._told.cost if self._told else ""
        right = [StripPart(f"{cost} ", "dim")] if cost else []
        if not self._is_read:
            right.append(StripPart(f"reading {self._reading.done if self._reading else 0:.0%} ", "running"))
        elif calls.rows:
            right.append(StripPart(f"{calls.place + 1:,}", "strong"))
            right.append(StripPart(f" of {len(calls.rows):,}  ", "dim"))
            right.append(
                StripPart("● following " if calls.following else "F follows ", "running" if calls.following else "dim")
            )
        return left, right

    def session_title(self, name: str) -> str:
        """Return the title of a session, or its name."""
        return (self._reading.titles if self._reading else {}).get(name, name)

    # which calls

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys that open prompts to an open prompt, as letters."""
        if action == "filter" and isinstance(self.focused, Input):
            return False
        return super().check_action(action, parameters)

    def action_filter(self) -> None:
        """Open the prompt for a filter at once, so that the next key reaches it."""
        prompt = self.query_one_optional(Prompt)
        if prompt is None:
            asks = Asks(filters.HINT, "", "", "#calls", keeps=True)
            prompt = Prompt(asks, id="timeline-filter", typed=self._filter)
            self.mount(prompt, before=self.query_one(KeyBar))
        prompt.open()

    def _filter(self, text: str) -> None:
        self._typed = filters.parsed(text)
        self._filtered()

    def _filtered(self) -> None:
        self.tell()
        self._reads.ask()

    def action_failed(self) -> None:
        """Show only calls that failed."""
        self._keyed = self._keyed._replace(failed=not self._keyed.failed)
        self._filtered()

    def action_verb(self) -> None:
        """Show only calls of the next verb; after the last verb, of all."""
        calls = self._reading.calls if self._reading else ()
        verbs = ["", *sorted({call.view.verb for call in calls})]
        now = self._keyed.verb if self._keyed.verb in verbs else ""
        self._keyed = self._keyed._replace(verb=verbs[(verbs.index(now) + 1) % len(verbs)])
        self._filtered()

    def action_output(self) -> None:
        """Show only calls about the buffer of the call under the cursor."""
        row = self.query_one(CallRows).row
        if self._keyed.buffer:
            self._keyed = self._keyed._replace(buffer="")
        elif ref := _ref_of(row):
            self._keyed = self._keyed._replace(buffer=parse_ref(ref).name)
        self._filtered()

    def action_leave(self) -> None:
        """Show all calls again; if all are shown already, close the screen."""
        if self.wanted == CallFilter():
            self.dismiss()
            return
        self._typed = self._keyed = CallFilter()
        if prompt := self.query_one_optional(Prompt):
            prompt.clear()
        self._filtered()

    def action_session(self, steps: int) -> None:
        """Show the next session, in the order of their start; before the first one, all sessions."""
        self.run_worker(self._step_session(steps), exclusive=True, group="session")

    async def _step_session(self, steps: int) -> None:
        def read() -> list[SessionFacts]:
            return sessions_in(self._store, list_sessions(self._store), self._project)

        try:
            known = await asyncio.to_thread(read)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return
        if not is_whole(self):
            return
        asked = sorted((one for one in known if one.counts.calls), key=lambda one: one.counts.first)
        names = [ALL, *(one.session.name for one in asked)]
        at = names.index(self._session) if self._session in names else 0
        self.show_session(names[(at + steps) % len(names)])

    # going somewhere

    def on_call_rows_chosen(self) -> None:
        """Go to the lines that the call showed, or that the note is about; show all that was said, or fold it."""
        calls = self.query_one(CallRows)
        row = calls.row
        ref = _ref_of(row)
        if row is None and self.wanted != CallFilter():
            self.action_leave()
        elif row is None and self._is_read:
            self.post_message(BeginningWanted())
        elif can_unfold(row) and not ref:
            self.action_unfold()
        elif not ref:
            what = "Nothing of it is one output's" if isinstance(row, ContextLoss) else "This call is about no output"
            self.notify(what, markup=False)
        else:
            self.run_worker(go_to(self, self._store, ref), exclusive=True, group="go")

    def action_unfold(self) -> None:
        """Show below its row what a call changed in files, or all that was said, or fold it again."""
        calls = self.query_one(CallRows)
        if can_unfold(calls.row):
            calls.unfold()
            self.tell()

    def seek_reason(self, session: str, when: float) -> None:
        """Go to why a session did something at a time, once its calls are read; without the filter."""
        self._show_then(session, partial(self._go_to_reason, session, when))

    def _show_then(self, session: str, then: Callable[[], None]) -> None:
        """Show the calls of a session, without the filter, and do something once they are read."""
        self._typed = self._keyed = CallFilter()
        if prompt := self.query_one_optional(Prompt):
            prompt.clear()
        self._then = then
        self.show_session(session)
        if self.is_mounted:
            self.read()

    def action_helper(self) -> None:
        """Show the calls of the helper that the call under the cursor started."""
        row = self.query_one(CallRows).row
        names = begun_by(row.view.session, row.use, self._edges) if isinstance(row, Call) else []
        if names:
            self._show_then(names[0], lambda: self.query_one(CallRows).action_top())
        else:
            self.notify("No session is known to have been started by this call", markup=False)

    def action_starter(self) -> None:
        """Show the call that started the session of the row under the cursor, in the session that made it."""
        calls = self.query_one(CallRows)
        row = calls.row
        name = row.view.session if isinstance(row, Call) else row.session if row else self._session or ""
        edge = self._edges.get(name)
        if edge is None or not edge.parent:
            self.notify("No session is known from which this one came", markup=False)
        elif self._store.index.session(edge.parent) is None:
            self.notify(f"It came from {title(edge.parent)}, of which nothing is kept", markup=False)
        else:
            self._show_then(edge.parent, partial(self._go_to_use, edge.use))

    def _go_to_use(self, use: str) -> None:
        calls = self.query_one(CallRows)
        made = (place for place, row in enumerate(calls.rows) if isinstance(row, Call) and use and row.use == use)
        if (place := next(made, None)) is not None:
            calls.go_to(place)

    @property
    def _edges(self) -> Mapping[str, Edge]:
        return self._reading.edges if self._reading else {}

    def action_helpers(self) -> None:
        """Show the calls of the session's helpers between its own, or apart."""
        if self._session is ALL:
            self.notify("All sessions are shown already", markup=False)
            return
        self._with_helpers = not self._with_helpers
        self._show_anew()

    def action_why(self) -> None:
        """Go to the words before the call under the cursor."""
        row = self.query_one(CallRows).row
        if isinstance(row, Call):
            self._go_to_reason(row.view.session, row.begun)

    def _go_to_reason(self, session: str, when: float) -> None:
        calls = self.query_one(CallRows)
        said = [
            (place, row) for place, row in enumerate(calls.rows) if isinstance(row, Said) and row.session == session
        ]
        before = [place for place, row in said if row.time <= when]
        if before:
            calls.go_to(before[-1], unfolds=True)
            return
        self.notify("Nothing is kept of what was said before it", markup=False)
        began = (place for place, row in enumerate(calls.rows) if isinstance(row, Call) and row.begun >= when)
        if self.wanted == CallFilter() and (place := next(began, None)) is not None:
            calls.go_to(place)

    def action_overlooked(self) -> None:
        """Go to a failure that no agent was shown; each press goes to the next one."""
        missed = self._told.missed if self._told else ()
        if not missed:
            looked = self._told is not None and self._told.verdict.is_done
            self.notify("No failure was overlooked" if looked else "None found so far", markup=False)
            return
        self._missed_at = self._missed_at % number_in(missed) + 1
        if place := place_at(self._store, missed, self._missed_at):
            self.app.post_message(LineChosen(*place))

    def action_read_reply(self) -> None:
        """Show the exact text of the reply."""
        row = self.query_one(CallRows).row
        if isinstance(row, Call):
            self.app.post_message(ViewChosen(row.indexed))

    def action_replay(self) -> None:
        """Replay the session of the row under the cursor, from its call on; from words on, the call behind them."""
        calls = self.query_one(CallRows)
        row = calls.row
        if isinstance(row, Said):
            behind = (one for one in calls.rows[calls.place :] if isinstance(one, Call))
            of_session = (one for one in behind if one.view.session == row.session)
            call = next(of_session, None)
            self.app.push_screen(ReplayScreen(self._store, row.session, at=id_of(call) if call else ""))
        elif isinstance(row, Call):
            self.app.push_screen(ReplayScreen(self._store, row.view.session, at=id_of(row)))
        elif self._session is not None:
            self.app.push_screen(ReplayScreen(self._store, self._session))

    def action_sessions(self) -> None:
        """Open the list of sessions to choose from."""
        board = SessionsScreen(self._store, project=self._project, clock=self._clock, chosen=self._session)
        self.app.push_screen(board, self._choose)

    def _choose(self, chosen: tuple[str | None] | None) -> None:
        if chosen is not None:
            self.show_session(chosen[0])

    def action_copy_ref(self) -> None:
        """Copy the ref of the lines that the call showed."""
        if ref := _ref_of(self.query_one(CallRows).row):
            copy(self.app, ref)
            self.notify(f"Copied {ref}", markup=False)


def _ref_of(row: Row | None) -> str:
    return row.first_ref if isinstance(row, Call) else row.ref if isinstance(row, Note) else ""
