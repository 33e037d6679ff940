"""Which project is looked at: a line to type in above the projects that it finds, each with its verdict."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input

from sightline.audit.project_scope import KnownProject, projects_of
from sightline.audit.verdict import Verdict, VerdictReader
from sightline.project import project_of
from sightline.store import Store
from sightline.tui.buffers.matcher import terms_of
from sightline.tui.common.phrases import counted
from sightline.tui.common.row_view import RowView
from sightline.tui.common.store_read import StoreRead
from sightline.tui.common.strips import Part, row
from sightline.tui.common.theme import load_style
from sightline.tui.common.visible_text import title
from sightline.tui.header import verdict_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

_STEP_SECONDS = 0.1
_MOST_JUDGED = 50  # projects whose failures are looked for


class ProjectRows(RowView, can_focus=False):
    """All projects in the first row, then one a row."""

    PARTS = (*RowView.PARTS, "failed", "ok")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in PARTS}

    def __init__(self) -> None:
        super().__init__(id="choices")
        self._projects: Sequence[KnownProject | None] = ()
        self.verdicts: dict[str, Verdict] = {}

    def offer(self, projects: "Sequence[KnownProject | None]") -> None:
        """Show other ones, the first of them chosen; None stands for all."""
        self._projects = projects
        self.set_rows(len(projects), cursor=0)

    @property
    def chosen(self) -> str | None:
        """Root of the one under the cursor; empty for all, None where there is none."""
        if not self._projects:
            return None
        one = self._projects[self.cursor]
        return one.root if one else ""

    def choose(self) -> None:
        """It was clicked on twice."""
        self.call_later(self.run_action, "screen.choose")

    def draw(self, at: int, width: int) -> Strip:
        """A project: its name, its folder, how many outputs it has, and what no agent saw."""
        one = self._projects[at]
        if one is None:
            return row([Part(" "), Part("all projects", "strong")], (), width, self.own_style, self.part_styles)
        verdict = self.verdicts.get(one.root)
        told = verdict_parts(verdict) if verdict is not None else [Part("…", "dim")]
        counts = [Part(f"  {counted(one.buffers, 'output')} ", "dim")]
        named = [Part(" "), Part(title(one.name), "strong"), Part(f"  {title(one.root)}", "dim")]
        return row(named, [*told, *counts], width, self.own_style, self.part_styles)


class ProjectChoice(ModalScreen[str | None]):
    """Answers with the root of the project that is meant, with the empty text for all, None for no change."""

    CSS_PATH = "palette.tcss"
    AUTO_FOCUS = "#palette-line"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close"),
        Binding("down,ctrl+n", "move(1)", "Down", show=False, priority=True),
        Binding("up,ctrl+p", "move(-1)", "Up", show=False, priority=True),
    ]

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._projects: list[KnownProject] = []
        self._judged: list[str] = []
        self._readers: dict[str, VerdictReader] = {}
        self._text = ""
        self._list: StoreRead[list[KnownProject]] = StoreRead(self, self._plan, self._take)
        self._verdicts: StoreRead[tuple[str, Verdict]] = StoreRead(self, self._plan_verdict, self._take_verdict)

    def compose(self) -> ComposeResult:
        """The line, and what it finds."""
        load_style(self.app, "common/row_view")
        with Vertical(id="palette") as panel:
            panel.border_title = "Project"
            line = Input(placeholder="which project", id="palette-line", compact=True)
            line.cursor_blink = False
            yield line
            yield ProjectRows()

    def on_mount(self) -> None:
        """Read them."""
        self._list.ask()

    def _plan(self) -> Callable[[], list[KnownProject]]:
        return lambda: projects_of(self._store.index.folders())

    def _take(self, projects: list[KnownProject]) -> None:
        self._projects = projects
        self._judged = [one.root for one in projects[:_MOST_JUDGED]]
        self._offer()
        self._verdicts.ask()

    def _plan_verdict(self) -> Callable[[], tuple[str, Verdict]] | None:
        if not self._judged:
            return None
        root = self._judged[0]

        def read() -> tuple[str, Verdict]:
            if root not in self._readers:
                self._readers[root] = VerdictReader(self._store, project_of(root, self._store.index.folders()))
            return root, self._readers[root].step(_STEP_SECONDS)

        return read

    def _take_verdict(self, read: tuple[str, Verdict]) -> None:
        root, verdict = read
        rows = self.query_one(ProjectRows)
        rows.verdicts[root] = verdict
        rows.refresh()
        if verdict.done:
            self._judged = [other for other in self._judged if other != root]
            self._readers.pop(root, None)
        self._verdicts.ask()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Offer what the text finds."""
        self._text = event.value
        self._offer()

    def _offer(self) -> None:
        terms = terms_of(self._text)
        found = [
            one for one in self._projects if all(term.score(f"{one.name} {one.root}".lower()) >= 0 for term in terms)
        ]
        self.query_one(ProjectRows).offer([*([] if terms else [None]), *found])

    def on_input_submitted(self) -> None:
        """Enter: that one."""
        self.action_choose()

    def action_choose(self) -> None:
        """That one is meant."""
        self.dismiss(self.query_one(ProjectRows).chosen)

    def action_move(self, rows: int) -> None:
        """Move among what is offered."""
        self.query_one(ProjectRows).action_move(rows)

    def on_click(self, event: events.Click) -> None:
        """A click beside it closes it."""
        if event.widget is self:
            self.dismiss(None)
