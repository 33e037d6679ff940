"""A question before something that cannot be undone. Only `y`, or a click on it, is a yes."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from sightline.tui.common.safe import title


class Confirm(ModalScreen[bool]):
    """Asks; answers False for everything but a yes: what was typed ahead must not confirm."""

    CSS_PATH = "confirm.tcss"
    AUTO_FOCUS = "#no"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape,q,enter", "answer(False)", "No", priority=True),
        Binding("left,right,tab,shift+tab,h,l", "other", "The other answer", show=False, priority=True),
        Binding("space", "press", "Answer", show=False, priority=True),
    ]

    def __init__(self, question: str, facts: list[str], yes: str) -> None:
        """Make it.

        Args:
            question: what is about to be done.
            facts: what one should know, a line each.
            yes: what the key that does it says.
        """
        super().__init__()
        self._question = question
        self._facts = facts
        self._yes = yes

    def compose(self) -> ComposeResult:
        """Question, facts, answers."""
        with Vertical(id="confirm"):
            yield Static(Content(title(self._question)), classes="question", markup=False)
            for fact in self._facts:
                yield Static(Content(title(fact)), classes="fact", markup=False)
            with Horizontal(id="answers"):
                yield Button(Content(f"{self._yes} (y)"), id="yes", compact=True, variant="error")
                yield Button(Content("Keep (n)"), id="no", compact=True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A click."""
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        """A key."""
        self.dismiss(yes)

    def action_other(self) -> None:
        """Go to the other answer."""
        self.focus_next()

    def action_press(self) -> None:
        """The answer that has the focus."""
        self.dismiss(self.focused is not None and self.focused.id == "yes")
