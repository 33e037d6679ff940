"""Who asked: sessions with what each captured, and who read whose. One of them is chosen for the timeline."""

import asyncio
import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message

from sightline.log.session_list import Belongings, SessionFacts, belongings_of, list_sessions, rename_session
from sightline.store import Store
from sightline.tui.common.bar import Bar
from sightline.tui.common.clipboard import copy
from sightline.tui.common.key_bar import KeyBar
from sightline.tui.common.keys import named
from sightline.tui.common.phrases import counted
from sightline.tui.common.prompt import Asks, Prompt
from sightline.tui.common.store_errors import STORE_ERRORS, tell
from sightline.tui.common.store_read import StoreRead
from sightline.tui.common.store_screen import StoreScreen, go_to
from sightline.tui.common.strips import Part
from sightline.tui.common.theme import load_style
from sightline.tui.timeline.session_parts import FactRow, fact_rows, heading_parts
from sightline.tui.timeline.session_rows import SessionFactRows, SessionRows

SIDE_BY_SIDE_COLUMNS = 130
_MANY_BUFFERS = 500  # of one session are told in its panel, the newest


class SessionsScreen(StoreScreen[tuple[str | None]]):
    """Sessions, and one in full. Answers with (name,) of the one that is meant, (None,) for all, None for no change."""

    CSS_PATH = "sessions.tcss"
    AUTO_FOCUS = "#sessions"
    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (SIDE_BY_SIDE_COLUMNS, "-beside")]  # noqa: RUF012 (typed so in Screen)
    BINDINGS: ClassVar[list[BindingType]] = named(
        "sessions",
        [
            Binding("n", "rename", "Rename"),
            Binding("tab,shift+tab", "app.focus_next", "Other pane", show=False),
            Binding("y", "copy_name", "Copy the name", show=False),
            Binding("escape,q,W,s", "dismiss(None)", "Back", key_display="Esc"),
        ],
    )

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time, chosen: str | None = None) -> None:
        """Make it.

        Args:
            store: whose sessions it lists.
            clock: what ages are counted from.
            chosen: the session that is shown elsewhere, None for all.
        """
        super().__init__()
        self._store = store
        self._clock = clock
        self._chosen = chosen
        self._sessions: list[SessionFacts] = []
        self._belongings: tuple[str, Belongings] | None = None
        self._reads: StoreRead[list[SessionFacts]] = StoreRead(self, self._plan, self._take)
        self._details: StoreRead[tuple[str, Belongings]] = StoreRead(self, self._plan_detail, self._take_detail)

    def compose(self) -> ComposeResult:
        """Head, sessions, the one under the cursor, keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="sessions-head")
        with Container(id="sessions-panes"):
            with Container(id="sessions-left"):
                yield Bar(id="sessions-columns")
                yield SessionRows(self._chosen, self._clock)
            yield SessionFactRows()
        yield KeyBar()

    def on_mount(self) -> None:
        """Read them."""
        self.tell()
        self.read()

    def read(self) -> None:
        """Read them again."""
        self._reads.ask()

    def _plan(self) -> Callable[[], list[SessionFacts]]:
        return lambda: [one for one in list_sessions(self._store) if not one.is_removed]

    def _take(self, sessions: list[SessionFacts]) -> None:
        self._sessions = sessions
        self._belongings = None
        self.query_one(SessionRows).show(sessions)
        self.tell()

    def _plan_detail(self) -> Callable[[], tuple[str, Belongings]] | None:
        facts = self.query_one(SessionRows).session
        if facts is None:
            return None
        name = facts.session.name
        return lambda: (name, _newest(belongings_of(self._store, name)))

    def _take_detail(self, answer: tuple[str, Belongings]) -> None:
        self._belongings = answer
        self._tell_facts()

    def on_session_rows_moved(self) -> None:
        """Another one is told in full."""
        self._tell_facts()
        self._details.ask()

    def tell(self) -> None:
        """How many there are, and the names of the columns."""
        head = [Part(" ◉ ", "accent"), Part("Sessions", "strong")]
        count = [Part(f"{counted(len(self._sessions), 'session')} ", "dim")]
        self.query_one("#sessions-head", Bar).say((head, count))
        left = self.query_one(SessionRows)
        self.query_one("#sessions-columns", Bar).say((heading_parts(max(left.size.width - 2, 20)), ()))

    def _tell_facts(self) -> None:
        facts, panel = self.query_one(SessionRows).session, self.query_one(SessionFactRows)
        if facts is None:
            panel.show([FactRow([Part(_ALL if self._sessions else _EMPTY, "dim")])])
            return
        known = self._belongings
        panel.show(fact_rows(facts, known[1] if known and known[0] == facts.session.name else None))

    # keys

    def on_session_rows_chosen(self) -> None:
        """That one's timeline."""
        facts = self.query_one(SessionRows).session
        self.dismiss((facts.session.name if facts else None,))

    def on_session_fact_rows_chosen(self, message: SessionFactRows.Chosen) -> None:
        """Go to an output."""
        self.run_worker(go_to(self, self._store, message.ref), exclusive=True, group="go")

    def action_copy_name(self) -> None:
        """Copy what names the session."""
        facts = self.query_one(SessionRows).session
        if facts is not None:
            copy(self.app, facts.session.name)
            self.notify(f"Copied {facts.session.name}", markup=False)

    def action_rename(self) -> None:
        """Take another name for the session under the cursor."""
        facts = self.query_one(SessionRows).session
        if facts is None:
            self.notify("Put the cursor on a session first", markup=False)
            return
        prompt = self.query_one_optional("#rename", Prompt)
        if prompt is None:
            prompt = Prompt(Asks("what to call it", "", "", "#sessions"), id="rename", typed=lambda _: None)
            self.mount(prompt, before=self.query_one(KeyBar))
        prompt.value = facts.session.title
        prompt.open()

    def on_prompt_answered(self, message: Message) -> None:
        """The name is whole."""
        facts, text = self.query_one(SessionRows).session, getattr(message, "text", "")
        if facts is not None and text.strip():
            self.run_worker(self._rename(facts, text))

    async def _rename(self, facts: SessionFacts, text: str) -> None:
        try:
            await asyncio.to_thread(rename_session, self._store, facts.session, text)
        except STORE_ERRORS as error:
            tell(self.app, error)
        else:
            self.read()


_ALL = " All of them, in one timeline"
_EMPTY = " Nobody has asked anything yet"


def _newest(belongings: Belongings) -> Belongings:
    return Belongings(belongings.captured[-_MANY_BUFFERS:], belongings.read[-_MANY_BUFFERS:])
