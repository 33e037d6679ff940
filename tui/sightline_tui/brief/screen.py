"""The brief: shows what was run and what was missed; each row leads to its lines, and new captures update it."""

import asyncio
import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from sightline.audit.brief import Brief, as_markdown, make_brief, with_running
from sightline.audit.verdict import Scope
from sightline.base.project import Project
from sightline.store import Reading
from sightline_tui.brief.brief_rows import BriefRow, BriefRows, brief_rows
from sightline_tui.common.bar import Bar
from sightline_tui.common.clipboard import copy
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.messages import SessionFollowed
from sightline_tui.common.scoped_screen import ScopedScreen
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.store_screen import go_to
from sightline_tui.common.strips import StripPart
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import title

RUNNING_SECONDS = 1.0
"""Time between two reads of what runs, and of what it printed last."""

_SPANS = ((0.0, "ever"), (3600.0, "the last hour"), (86_400.0, "the last day"), (604_800.0, "the last week"))


class BriefScreen(ScopedScreen[None]):
    """A screen that sums up what happened."""

    opened_by = "brief"
    CSS_PATH = "brief.tcss"
    AUTO_FOCUS = "#brief"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "brief",
        [
            Binding("s", "since", "Since when"),
            Binding("F", "follow", "Live"),
            Binding("y", "copy", "Copy as Markdown"),
            Binding("escape,q,b,B", "dismiss", "Back", key_display="Esc"),
        ],
    )

    def __init__(
        self, store: Reading, project: Project | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        """Make the screen; of one project, or of all."""
        super().__init__(project)
        self._store = store
        self._clock = clock
        self._span = 0
        self._brief: Brief | None = None
        self._reads: StoreRead[Brief] = StoreRead(self, self._plan, self._take)
        self._renewals: StoreRead[Brief] = StoreRead(self, self._plan_running, self._take)

    def compose(self) -> ComposeResult:
        """Lay out head, rows and keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="brief-head")
        yield BriefRows()
        yield KeyBar()

    def on_mount(self) -> None:
        """Start reading."""
        self.query_one(BriefRows).show([BriefRow([StripPart(" reading…", "dim")])])
        self.set_interval(RUNNING_SECONDS, self._renewals.ask)
        self.tell()
        self.read()

    def read(self) -> None:
        """Read the brief again."""
        self._reads.ask()

    @property
    def _scope(self) -> Scope:
        seconds = _SPANS[self._span][0]
        return Scope(since=self._clock() - seconds if seconds else 0.0, project=self._project)

    def _plan(self) -> Callable[[], Brief]:
        scope = self._scope
        return lambda: make_brief(self._store, project=scope.project, since=scope.since)

    def _plan_running(self) -> Callable[[], Brief] | None:
        """Read what runs, and what it printed last, again and again while anything runs."""
        brief, scope = self._brief, self._scope
        if brief is None or not any(section.name == "running" for section in brief.sections):
            return None
        return lambda: with_running(self._store, brief, scope)

    def _take(self, brief: Brief) -> None:
        self._brief = brief
        self.query_one(BriefRows).show(brief_rows(brief))
        self.tell()

    def tell(self) -> None:
        """Show what the brief is about."""
        about = title(self._brief.title) if self._brief else "…"
        head = [StripPart(" ◉ ", "accent"), StripPart("Brief", "strong"), StripPart("  ·  ", "dim"), StripPart(about)]
        span = _SPANS[self._span][1]
        self.query_one("#brief-head", Bar).say(([*head, StripPart("  ·  ", "dim"), StripPart(span, "accent")], ()))

    # keys

    def action_since(self) -> None:
        """Switch to another period."""
        self._span = (self._span + 1) % len(_SPANS)
        self.tell()
        self.read()

    async def action_follow(self) -> None:
        """Follow the newest outputs of the session that runs the command under the cursor, or of all."""
        ref = self.query_one(BriefRows).ref
        session = None
        if ref:
            try:
                buffer = (await asyncio.to_thread(self._store.resolve, ref)).buffer
            except STORE_ERRORS as error:
                tell(self.app, error)
                return
            session = buffer.session if buffer.state == "running" else None
        self.app.post_message(SessionFollowed(session))

    def action_copy(self) -> None:
        """Copy the whole brief."""
        if self._brief is not None:
            copy(self.app, as_markdown(self._brief))
            self.notify("Copied as Markdown", markup=False)

    async def on_brief_rows_chosen(self, message: BriefRows.Chosen) -> None:
        """Go to the lines of the row."""
        await go_to(self, self._store, message.ref)
