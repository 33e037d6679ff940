"""Labels and what they tell, folded to the panel's width; a row can be copied, and one that tells of a view be read."""

from typing import ClassVar

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.strip import Strip

from sightline.tui.common.messages import ViewChosen
from sightline.tui.common.row_view import RowView
from sightline.tui.common.visible_text import visible
from sightline.tui.evidence.dossier import Fact

_LABEL_CELLS = 15


class FactRows(RowView):
    """Rows of facts."""

    PARTS = (*RowView.PARTS, "command", "running", "ok", "failed", "unknown", "interrupted", "evicted")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in PARTS}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "Read the view")]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._facts = list[Fact]()
        self._rows = list[tuple[Fact, str, str]]()

    def show(self, facts: list[Fact]) -> None:
        """Show these."""
        self._facts = facts
        self._fold()

    @property
    def fact(self) -> Fact | None:
        """The one under the cursor."""
        return self._rows[self.cursor][0] if self._rows else None

    def on_resize(self) -> None:
        """Fold them to another width."""
        self._fold()

    def _fold(self) -> None:
        width = max(self.columns - _LABEL_CELLS - 1, 10)
        self._rows = []
        for fact in self._facts:
            if fact.is_heading and self._rows:
                self._rows.append((Fact(" ", ""), "", ""))
            self._rows += [(fact, label, text) for label, text in folded(fact, width)]
        self.set_rows(len(self._rows))

    def draw(self, at: int, width: int) -> Strip:  # noqa: ARG002 (the strip is cut to it)
        """A row: the label at the left of what it tells."""
        fact, label, text = self._rows[at]
        base, styles = self.own_style, self.part_styles
        style = base + styles[fact.style] if fact.style else base
        if fact.is_heading:
            return Strip([Segment(f" {text}", style)])
        return Strip([Segment(f" {label:<{_LABEL_CELLS}}", base + styles["dim"]), Segment(text, style)])

    def choose(self) -> None:
        """Read the view that the row tells of."""
        if self.fact is not None and self.fact.view is not None:
            self.app.post_message(ViewChosen(self.fact.view))

    def action_choose(self) -> None:
        """Enter: the row is meant."""
        self.choose()


def folded(fact: Fact, width: int) -> list[tuple[str, str]]:
    """The rows of a fact, (label, text) each."""
    rows = list[tuple[str, str]]()
    for line in fact.text.split("\n") or [""]:
        shown = visible(line.replace("\t", "    ").rstrip("\r"))
        pieces = chop_cells(shown, width) if cell_len(shown) > width else [shown]
        rows += [(fact.label if not rows and not at else "", piece) for at, piece in enumerate(pieces)]
    return rows
