"""The keys, by pane, as they are really bound."""

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from sightline.tui.common.actions import Action
from sightline.tui.common.keys import written

Section = tuple[str, list[tuple[str, str]]]


def section(name: str, bindings: Iterable[BindingType]) -> Section:
    """A section of the help from a class' own bindings."""
    described = [binding for binding in bindings if isinstance(binding, Binding) and binding.description]
    return name, [(" ".join(map(written, binding.key.split(","))), binding.description) for binding in described]


def sections_of(actions: Iterable[Action]) -> list[Section]:
    """A section for each pane."""
    sections = dict[str, list[tuple[str, str]]]()
    for action in actions:
        sections.setdefault(action.pane, []).append((" ".join(action.keys), action.what))
    return list(sections.items())


class Help(ModalScreen[None]):
    """A page of keys over the screen."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "dismiss", "Close"),
        Binding("down,j", "scroll(1)", "Down", show=False),
        Binding("up,k", "scroll(-1)", "Up", show=False),
    ]

    def __init__(self, sections: list[Section]) -> None:
        super().__init__()
        self._sections = sections

    def compose(self) -> ComposeResult:
        """The sections under each other."""
        with VerticalScroll(id="help") as panel:
            panel.border_title = "Keys"
            for name, rows in self._sections:
                yield Static(Content(name), classes="section", markup=False)
                width = max(len(keys) for keys, _ in rows)
                lines = [Content.assemble((f"{keys:>{width}}", "bold $primary"), "  ", what) for keys, what in rows]
                yield Static(Content("\n").join(lines), markup=False)

    def action_scroll(self, lines: int) -> None:
        """Scroll by a line."""
        self.query_one("#help").scroll_relative(y=lines, animate=False)
