"""The command palette: every action of a screen by its name, found as one types."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input

from sightline.tui.buffers.buffer_row import marked_parts
from sightline.tui.buffers.ranking import Term, terms_of
from sightline.tui.common.actions import Action
from sightline.tui.common.row_view import RowView
from sightline.tui.common.strips import Part, row
from sightline.tui.common.theme import load_style


class Choices(RowView, can_focus=False):
    """Actions, one of them under the cursor."""

    PARTS = (*RowView.PARTS, "match")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in PARTS}

    def __init__(self) -> None:
        super().__init__(id="choices")
        self._actions = list[Action]()
        self._terms = list[Term]()

    def offer(self, actions: list[Action], terms: list[Term]) -> None:
        """Show other actions, the first of them chosen."""
        self._actions, self._terms = actions, terms
        self.set_rows(len(actions), cursor=0)

    @property
    def chosen(self) -> Action | None:
        """The action under the cursor."""
        return self._actions[self.cursor] if self._actions else None

    def choose(self) -> None:
        """It was clicked on twice."""
        self.call_later(self.run_action, "screen.choose")

    def draw(self, at: int, width: int) -> Strip:
        """An action, where its keys act, and the keys."""
        action = self._actions[at]
        named = marked_parts([Part(action.what), Part(f"  {action.pane.lower()}", "dim")], self._terms, is_command=True)
        keys = [Part(f"{' '.join(action.keys)} ", "key")]
        return row([Part(" "), *named], keys, width, self.own_style, self.part_styles)


class Palette(ModalScreen[Action | None]):
    """A line to type in above the actions that it finds."""

    CSS_PATH = "palette.tcss"
    AUTO_FOCUS = "#palette-line"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close"),
        Binding("down,ctrl+n", "move(1)", "Down", show=False, priority=True),
        Binding("up,ctrl+p", "move(-1)", "Up", show=False, priority=True),
    ]

    def __init__(self, actions: list[Action]) -> None:
        """Make it.

        Args:
            actions: what it offers.
        """
        super().__init__()
        self._actions = actions

    def compose(self) -> ComposeResult:
        """The line, and what it finds."""
        load_style(self.app, "common/row_view")
        with Vertical(id="palette") as panel:
            panel.border_title = "Do"
            line = Input(placeholder="what to do", id="palette-line", compact=True)
            line.cursor_blink = False
            yield line
            yield Choices()

    def on_mount(self) -> None:
        """Offer everything."""
        self._offer("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Offer what the text finds."""
        self._offer(event.value)

    def on_input_submitted(self) -> None:
        """Enter: that one."""
        self.action_choose()

    def action_choose(self) -> None:
        """Close, and have it done."""
        self.dismiss(self.query_one(Choices).chosen)

    def action_move(self, rows: int) -> None:
        """Move among what is offered."""
        self.query_one(Choices).action_move(rows)

    def on_click(self, event: events.Click) -> None:
        """A click beside it closes it."""
        if event.widget is self:
            self.dismiss(None)

    def _offer(self, text: str) -> None:
        terms = terms_of(text)
        self.query_one(Choices).offer(matching(self._actions, terms), terms)


def matching(actions: list[Action], terms: list[Term]) -> list[Action]:
    """The actions that terms find by what they do and where, the best first."""
    scored = list[tuple[int, int]]()
    for at, action in enumerate(actions):
        scores = [term.score(f"{action.what} {action.pane}".lower()) for term in terms]
        if min(scores, default=0) >= 0:
            scored.append((sum(scores), at))
    return [actions[at] for _, at in sorted(scored)]
