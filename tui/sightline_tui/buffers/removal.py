"""Pins a buffer, or deletes it after a question. Both are written off the UI's thread."""

import asyncio
from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from sightline.base.records import Buffer
from sightline.base.refs import host_of
from sightline.log import retention
from sightline.shape.summary import human_bytes
from sightline.store import Reading
from sightline_tui.common.phrases import counted, name_of
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.visible_text import title


class Confirm(ModalScreen[bool]):
    """A question; everything but a yes answers False, so that keys typed ahead cannot confirm."""

    CSS_PATH = "removal.tcss"
    AUTO_FOCUS = "#no"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape,q,enter", "answer(False)", "No", priority=True),
        Binding("left,right,tab,shift+tab,h,l", "other", "The other answer", show=False, priority=True),
        Binding("space", "press", "Answer", show=False, priority=True),
    ]

    def __init__(self, question: str, facts: list[str], yes: str) -> None:
        """Make the question.

        Args:
            question: what is about to be done.
            facts: what the person should know, one line each.
            yes: the label of the key that confirms.
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


T = TypeVar("T")


async def pin(app: App[None], store: Reading, buffer: Buffer) -> None:
    """Pin a buffer, or unpin a pinned one."""
    if is_elsewhere(app, buffer):
        return
    changed = await _done(app, lambda: store.local.amend(buffer.name, pinned=not buffer.pinned))
    if changed is not None:
        said = "Pinned {}: no limit evicts it" if changed.pinned else "Unpinned {}: the limits hold for it again"
        app.notify(f"{said.format(buffer.ref)}; the same key undoes it", markup=False)


def delete(app: App[None], store: Reading, buffer: Buffer, confirmed: Callable[[], None]) -> None:
    """Delete a buffer, once it is confirmed; before that call `confirmed`. What agents were shown of it stays."""
    if is_elsewhere(app, buffer):
        return
    if buffer.state == "evicted":
        app.notify(f"{buffer.ref} is gone; only its place in the log is left", severity="warning", markup=False)
        return

    def answered(yes: bool | None) -> None:
        if yes:
            confirmed()
            app.run_worker(_done(app, lambda: retention.remove(store.local, [buffer])))

    held = f"{counted(buffer.lines, 'line')}, {human_bytes(buffer.bytes)}" + (", pinned" if buffer.pinned else "")
    facts = [name_of(buffer), held, "What agents were shown of it stays in the log."]
    app.push_screen(Confirm(f"Delete {buffer.ref}?", facts, "Delete"), answered)


def is_elsewhere(app: App[None], buffer: Buffer) -> bool:
    """Whether only another host can do that; if so, say it."""
    if host := host_of(buffer.name):
        app.notify(f"Only {host} itself can do that", severity="warning", markup=False)
    return bool(host)


async def _done(app: App[None], write: Callable[[], T]) -> T | None:
    try:
        return await asyncio.to_thread(write)
    except STORE_ERRORS as error:
        tell(app, error)
        return None
