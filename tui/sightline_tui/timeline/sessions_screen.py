"""The board of sessions: shows in a row for each agent what it does now and what it missed; one can be chosen."""

import asyncio
import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message

from sightline.audit.at_work import last_line, said_last
from sightline.audit.overlooked_places import first_overlooked, missed_in
from sightline.audit.session_cost import session_cost
from sightline.audit.verdict import Scope
from sightline.base.project import Project
from sightline.base.records import Session
from sightline.base.refs import host_of
from sightline.log.session_list import Belongings, belongings_of, rename_session
from sightline.store import Reading
from sightline_tui.common.bar import Bar
from sightline_tui.common.clipboard import copy
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.messages import BeginningWanted, SessionFollowed
from sightline_tui.common.phrases import MARKS, counted
from sightline_tui.common.prompt import Asks, Prompt
from sightline_tui.common.scoped_screen import ScopedScreen
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.store_screen import go_to
from sightline_tui.common.strips import StripPart
from sightline_tui.common.theme import load_style
from sightline_tui.timeline.board_reader import Board, BoardReader
from sightline_tui.timeline.cost_screen import CostScreen
from sightline_tui.timeline.session_parts import FactRow, SessionDetails, fact_rows, heading_parts
from sightline_tui.timeline.session_rows import SessionFactRows, SessionRows

SIDE_BY_SIDE_COLUMNS = 160
JUDGED_SECONDS = 0.2  # after the sessions, because judging loads the rules of all tools
_TICK_SECONDS = 1.0  # between two updates of how long captures have been running
_MOST_RUNNING = 10  # running outputs of one session whose last lines are read
_MANY_BUFFERS = 500  # outputs of one session that its panel lists, the newest
_MOST_MISSED = 50  # missed failures of one session that its panel lists

_NOBODY = Board((), False)  # before anything is read


class SessionsScreen(ScopedScreen[tuple[str | None]]):
    """Sessions, and one in full. It answers with (name,) of the chosen one, (None,) for all, None for no change."""

    CSS_PATH = "sessions.tcss"
    AUTO_FOCUS = "#sessions"
    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (SIDE_BY_SIDE_COLUMNS, "-beside")]  # noqa: RUF012 (typed so in Screen)
    BINDINGS: ClassVar[list[BindingType]] = named(
        "sessions",
        [
            Binding("F", "follow", "Live"),
            Binding("t", "tree", "Tree"),
            Binding("c", "cost", "Cost"),
            Binding("n", "rename", "Rename"),
            Binding("tab,shift+tab", "app.focus_next", "Other pane", show=False),
            Binding("y", "copy_name", "Copy the name", show=False),
            Binding("escape,q,W,s", "dismiss(None)", "Back", key_display="Esc"),
        ],
    )

    def __init__(
        self,
        store: Reading,
        *,
        project: Project | None = None,
        clock: Callable[[], float] = time.time,
        chosen: str | None = None,
    ) -> None:
        """Make the screen.

        Args:
            store: the store whose sessions are listed.
            project: the only project; None for all.
            clock: the time from which ages are counted.
            chosen: the session that the timeline shows; None for all.
        """
        super().__init__(project)
        self._store = store
        self._clock = clock
        self._chosen = chosen
        self._reader = BoardReader(store, project)
        self._board = _NOBODY
        self._told = ""
        self._known: tuple[str, SessionDetails] | None = None
        self._fresh = True
        self._reads: StoreRead[Board] = StoreRead(self, self._plan, self._take)
        self._details: StoreRead[tuple[str, SessionDetails]] = StoreRead(self, self._plan_detail, self._take_detail)

    def compose(self) -> ComposeResult:
        """Lay out head, sessions, the session under the cursor, and keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="sessions-head")
        with Container(id="sessions-panes"):
            with Container(id="sessions-left"):
                yield Bar(id="sessions-columns")
                yield SessionRows(self._chosen, self._clock)
            yield SessionFactRows()
        yield KeyBar()

    def on_mount(self) -> None:
        """Start reading."""
        self.set_interval(_TICK_SECONDS, self._tick)
        self.tell()
        self.read()

    def show_project(self, project: Project | None) -> None:
        """Show the sessions of another project, or of all."""
        as_tree, self._reader = self._reader.as_tree, BoardReader(self._store, project)
        self._reader.as_tree = as_tree
        super().show_project(project)

    def read(self) -> None:
        """Read the sessions again."""
        self._fresh = True
        self._reads.ask()

    def _plan(self) -> Callable[[], Board]:
        fresh, self._fresh = self._fresh, False
        return lambda: self._reader.step(fresh=fresh)

    def _take(self, board: Board) -> None:
        first = self._board is _NOBODY
        if board != self._board:
            self._board, self._known = board, None
            self.query_one(SessionRows).show(board)
            self.tell()
        if first:
            self.set_timer(JUDGED_SECONDS, self._reads.ask)
        elif not board.is_judged:
            self._reads.ask()

    def _tick(self) -> None:
        if any(one.running for one in self._board.agents):
            self.query_one(SessionRows).refresh()
            if (agent := self.query_one(SessionRows).agent) is not None and agent.running:
                self._details.ask()

    def _plan_detail(self) -> Callable[[], tuple[str, SessionDetails]] | None:
        agent = self.query_one(SessionRows).agent
        if agent is None:
            return None

        def read() -> tuple[str, SessionDetails]:
            outputs = missed_in(self._store, Scope(agent.facts.session.name, project=self._project))
            missed = first_overlooked(self._store, outputs, _MOST_MISSED)
            belongings = _newest(belongings_of(self._store, agent.name))
            lines = {one.name: last_line(self._store, one) for one in agent.running[:_MOST_RUNNING]}
            said, costs = said_last(self._store, agent.name), session_cost(self._store, agent.name).sentences
            return agent.name, SessionDetails(belongings, missed, lines, *said, costs)

        return read

    def _take_detail(self, answer: tuple[str, SessionDetails]) -> None:
        self._known = answer
        self._tell_facts()

    def on_session_rows_moved(self) -> None:
        """Show the session under the cursor in full."""
        self._tell_facts()
        self._details.ask()

    def tell(self) -> None:
        """Show how many sessions there are, and the headings."""
        agents = self._board.agents
        at_work = sum(bool(one.running) for one in agents)
        running = [StripPart(f"  {MARKS['running']} {at_work:,} at work", "running")] if at_work else []
        head = [*self.head("Sessions"), *running]
        count = [StripPart(f"{counted(len(agents), 'session')} ", "dim")]
        self.query_one("#sessions-head", Bar).say((head, count))
        left = self.query_one(SessionRows)
        self.query_one("#sessions-columns", Bar).say((heading_parts(max(left.size.width - 2, 20)), ()))

    def _tell_facts(self) -> None:
        agent, panel = self.query_one(SessionRows).agent, self.query_one(SessionFactRows)
        if agent is None:
            panel.show([FactRow([StripPart(_ALL if self._board.agents else _EMPTY, "dim")])], anew=True)
            self._told = ""
            return
        known = self._known
        rows = fact_rows(agent, known[1] if known and known[0] == agent.name else None, self._clock())
        panel.show(rows, anew=self._told != agent.name)
        self._told = agent.name

    # keys

    def on_session_rows_chosen(self) -> None:
        """Open the timeline of the session."""
        agent = self.query_one(SessionRows).agent
        if agent is None and not self._board.agents:
            self.post_message(BeginningWanted())
        else:
            self.dismiss((agent.name if agent else None,))

    def on_session_fact_rows_chosen(self, message: SessionFactRows.Chosen) -> None:
        """Go to an output."""
        self.run_worker(go_to(self, self._store, message.ref), exclusive=True, group="go")

    def action_follow(self) -> None:
        """Follow the newest outputs of the session under the cursor, or of all, as they come."""
        agent = self.query_one(SessionRows).agent
        self.app.post_message(SessionFollowed(agent.name if agent else None))

    def action_tree(self) -> None:
        """Put each session below the one from which it came, or all in the order of asking again."""
        self._reader.as_tree = not self._reader.as_tree
        self.read()

    def action_cost(self) -> None:
        """Show what requests and outputs cost, of the session under the cursor, or of all."""
        agent = self.query_one(SessionRows).agent
        name, called = (agent.name, agent.facts.name) if agent else (None, "")
        screen = CostScreen(self._store, project=self._project, session=name, called=called, clock=self._clock)
        self.app.push_screen(screen, self._chosen_by_cost)

    def _chosen_by_cost(self, session: str | None) -> None:
        if session:
            self.dismiss((session,))

    def action_copy_name(self) -> None:
        """Copy the name of the session."""
        agent = self.query_one(SessionRows).agent
        if agent is not None:
            copy(self.app, agent.name)
            self.notify(f"Copied {agent.name}", markup=False)

    def action_rename(self) -> None:
        """Open the prompt for another name of the session under the cursor."""
        agent = self.query_one(SessionRows).agent
        if agent is None:
            self.notify("Put the cursor on a session first", markup=False)
            return
        prompt = self.query_one_optional("#rename", Prompt)
        if prompt is None:
            prompt = Prompt(Asks("what to call it", "", "", "#sessions"), id="rename", typed=lambda _: None)
            self.mount(prompt, before=self.query_one(KeyBar))
        prompt.value = agent.facts.session.title
        prompt.open()

    def on_prompt_answered(self, message: Message) -> None:
        """Rename the session."""
        agent, text = self.query_one(SessionRows).agent, getattr(message, "text", "")
        if agent is not None and text.strip():
            self.run_worker(self._rename(agent.facts.session, text))

    async def _rename(self, session: Session, text: str) -> None:
        if host := host_of(session.name):
            self.notify(f"Only {host} itself can do that", severity="warning", markup=False)
            return
        try:
            await asyncio.to_thread(rename_session, self._store.local, session, text)
        except STORE_ERRORS as error:
            tell(self.app, error)
        else:
            self.read()


_ALL = " All of them, in one timeline"
_EMPTY = " Nobody has asked anything yet. Enter says how to begin"


def _newest(belongings: Belongings) -> Belongings:
    return Belongings(belongings.captured[-_MANY_BUFFERS:], belongings.read[-_MANY_BUFFERS:])
