"""Shows claims at the left, and at the right the runs and edits that they rest on; Enter goes to the line."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container

from sightline.audit.buffer_failures import failures_if_quick
from sightline.audit.evidence.evidence_records import NO_MESSAGES, Ground, SessionEvidence
from sightline.audit.project_scope import sessions_in
from sightline.audit.verdict import evidence_within
from sightline.base.errors import SightlineError
from sightline.base.project import Project, Scope
from sightline.log.session_list import list_sessions
from sightline.log.sessions import is_onlooker
from sightline.store import Reading
from sightline_tui.common.bar import Bar
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.scoped_screen import ScopedScreen
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.store_screen import go_to
from sightline_tui.common.strips import StripPart
from sightline_tui.common.theme import load_style
from sightline_tui.evidence.claim_rows import ClaimRow, ClaimRows, GroundRows, claim_rows, told_of

_WIDE_COLUMNS = 110


class ClaimsScreen(ScopedScreen[None]):
    """What agents say of their work, compared with what their sessions ran, edited and saw."""

    opened_by = "claims"
    CSS_PATH = "claims.tcss"
    AUTO_FOCUS = "#claims"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "claims",
        [
            Binding("tab", "app.focus_next", "Other pane"),
            Binding("escape,q,K", "dismiss", "Back", key_display="Esc"),
        ],
    )

    def __init__(self, store: Reading, project: Project | None = None) -> None:
        """Make the screen; of the sessions of one project, or of all."""
        super().__init__(project)
        self._store = store
        self._found: list[SessionEvidence] | None = None
        self._reads: StoreRead[tuple[list[SessionEvidence], dict[str, str]]] = StoreRead(self, self._plan, self._take)

    def compose(self) -> ComposeResult:
        """Lay out head, both panes and keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="claims-head")
        with Container(id="claims-panes"):
            yield ClaimRows()
            yield GroundRows()
        yield KeyBar()

    def on_mount(self) -> None:
        """Start reading."""
        self.query_one(ClaimRows).show([ClaimRow([StripPart(" reading…", "dim")])])
        self.tell()
        self.read()

    def _plan(self) -> Callable[[], tuple[list[SessionEvidence], dict[str, str]]]:
        project = self._project
        return lambda: self._find(project)

    def _find(self, project: Project | None) -> tuple[list[SessionEvidence], dict[str, str]]:
        """Find the claims of all sessions of agents in a project, and what to call these."""
        agents = (one for one in list_sessions(self._store) if not is_onlooker(one.session))
        sessions = sessions_in(self._store, agents, project)
        found = evidence_within(self._store, Scope(project=project), [one.session for one in sessions])
        return [one for one in found if one.messages or one.alarms], {one.session.name: one.name for one in sessions}

    def _take(self, answer: tuple[list[SessionEvidence], dict[str, str]]) -> None:
        found, titles = answer
        self._found = found
        nothing = "no rule reads a claim in what agents said" if found else NO_MESSAGES
        rows = claim_rows(found, titles) or [ClaimRow([StripPart(f" {nothing}", "dim")])]
        self.query_one(ClaimRows).show(rows)
        self.tell()

    def tell(self) -> None:
        """Show how many claims are not supported."""
        self.set_class(self.size.width >= _WIDE_COLUMNS, "-wide")
        told = told_of(self._found) if self._found is not None else [StripPart("…", "dim")]
        head = [*self.head("Claims"), StripPart("  ·  ", "dim"), *told]
        self.query_one("#claims-head", Bar).say((head, ()))

    def on_claim_rows_pointed(self, message: ClaimRows.Pointed) -> None:
        """Show what the claim under the cursor rests on."""
        self.query_one(GroundRows).show(message.row)

    async def on_claim_rows_chosen(self, message: ClaimRows.Chosen) -> None:
        """Go to the line that the claim rests on."""
        first = next((ground for ground in message.row.grounds if ground.ref), None)
        if message.row.ref:
            await go_to(self, self._store, message.row.ref)
        elif first is not None:
            await self._go_to(first)
        elif message.row.why:
            self.notify("It rests on no output that was kept", markup=False)

    async def on_ground_rows_chosen(self, message: GroundRows.Chosen) -> None:
        """Go to the lines of the call."""
        if message.ground.ref:
            await self._go_to(message.ground)
        else:
            self.notify("An edit has no output", markup=False)

    async def _go_to(self, ground: Ground) -> None:
        await go_to(self, self._store, await asyncio.to_thread(_line_of, self._store, ground.ref))


def _line_of(store: Reading, ref: str) -> str:
    """Return the ref of an output's first line that tells of a failure, or of the output if none does."""
    try:
        buffer = store.resolve(ref).buffer
        failures = failures_if_quick(store, buffer)
    except SightlineError:
        return ref
    return failures[0].ref(buffer.name) if failures else ref
