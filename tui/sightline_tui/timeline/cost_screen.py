"""The screen of costs: draws a bar for each output, kind of command, day, session, model, project or harness."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from sightline.audit.cost import at_list_price, cost_report, dollars, kind_dollars
from sightline.audit.output_costs import output_costs
from sightline.base.project import Project
from sightline.store import Reading, Store
from sightline_tui.common.bar import Bar
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.scoped_screen import ScopedScreen
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.store_screen import go_to
from sightline_tui.common.strips import StripPart
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import title
from sightline_tui.timeline.cost_rows import CostRow, CostRows, kind_rows, output_rows, request_rows

_OF_OUTPUTS = ("output", "command")
_GROUPS = ("output", "command", "day", "session", "model", "project", "harness")
_OF_FLEET = ("day", "host", "team", "session", "model", "harness")
_MOST_OUTPUTS = 200
_SPANS = ((0.0, "ever"), (86_400.0, "the last day"), (604_800.0, "the last week"), (2_592_000.0, "the last 30 days"))

_Told = tuple[str, list[CostRow]]
"""The sum in words, and the rows."""


class CostScreen(ScopedScreen[str]):
    """Costs by one thing after another. It answers with the name of a chosen session, None for no choice."""

    AUTO_FOCUS = "#cost"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "cost",
        [
            Binding("b", "by(1)", "By what"),
            Binding("B", "by(-1)", "By the one before", show=False),
            Binding("s", "since", "Since when"),
            Binding("escape,q,c", "dismiss(None)", "Back", key_display="Esc"),
        ],
    )

    def __init__(
        self,
        store: Reading,
        *,
        project: Project | None = None,
        session: str | None = None,
        called: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make the screen.

        Args:
            store: the store.
            project: the only project; None for all.
            session: the only session; None for all.
            called: what people call that.
            clock: the time from which periods are counted.
        """
        super().__init__(project)
        self._store, self._session, self._called, self._clock = store, session, called, clock
        self._groups = _GROUPS if isinstance(store, Store) else _OF_FLEET
        self._by = self._span = 0
        self._told = ""
        self._reads: StoreRead[_Told] = StoreRead(self, self._plan, self._take)

    def compose(self) -> ComposeResult:
        """Lay out head, rows and keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="cost-head")
        yield CostRows()
        yield KeyBar()

    def on_mount(self) -> None:
        """Start reading."""
        self.tell()
        self.read()

    def _plan(self) -> Callable[[], _Told]:
        by, (seconds, _) = self._groups[self._by], _SPANS[self._span]
        since, store = self._clock() - seconds if seconds else 0.0, self._store
        session, project = self._session, self._project

        def read() -> _Told:
            if by in _OF_OUTPUTS and isinstance(store, Store):
                found = output_costs(store, session=session, since=since, project=project, most=_MOST_OUTPUTS)
                rows = list((output_rows if by == "output" else kind_rows)(found))
                return at_list_price(kind_dollars(found.total), found.prices), rows
            names = [session] if session else None
            report = cost_report(store, by, since=since, project=project, sessions=names)
            return at_list_price(dollars(report.total), report.prices), list(request_rows(report))

        return read

    def _take(self, told: _Told) -> None:
        words, rows = told
        self._told = words if rows else ""
        nothing = _NOT_IN_SCOPE if self._span or self._session or self._project else _NOTHING
        self.query_one(CostRows).show(rows or [CostRow([StripPart(f" {nothing}", "dim")])])
        self.tell()

    def tell(self) -> None:
        """Show by what, since when, and the sum."""
        by = self._groups[self._by]
        head = [*self.head("Cost"), StripPart(f"  by {by}", "accent"), StripPart("  ·  ", "dim")]
        head += [
            StripPart(_SPANS[self._span][1], "accent"),
            StripPart(f"  {title(self._called or self._session or '')}"),
        ]
        self.query_one("#cost-head", Bar).say((head, [StripPart(f"{self._told} ", "strong")]))

    # keys

    def action_by(self, step: int) -> None:
        """Add up by the next thing, or the one before."""
        self._by = (self._by + step) % len(self._groups)
        self.tell()
        self.read()

    def action_since(self) -> None:
        """Switch to another period."""
        self._span = (self._span + 1) % len(_SPANS)
        self.tell()
        self.read()

    async def on_cost_rows_chosen(self, message: CostRows.Chosen) -> None:
        """Go to the output of the row, or answer with its session."""
        if message.row.ref:
            await go_to(self, self._store, message.row.ref)
        else:
            self.dismiss(message.row.session)


_NOTHING = "No requests to models are known yet. `sightline import` reads them from past sessions of agents"
_NOT_IN_SCOPE = "No requests to models are known of this scope. Press s for another period"
