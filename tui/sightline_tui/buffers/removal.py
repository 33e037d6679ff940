"""Pins buffers, or deletes them after a question, so that they can be taken back for a while."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from functools import partial
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

TAKE_BACK_SECONDS = 600.0
"""Time for which what was deleted can be taken back, unless the inspector ends before."""

_NAMED = 5  # outputs that a question or a notice names


async def pin(app: App[None], store: Reading, wanted: Sequence[Buffer]) -> None:
    """Pin buffers, or unpin them if all of them are pinned."""
    if any(is_elsewhere(app, buffer) for buffer in wanted):
        return
    pinned = not all(buffer.pinned for buffer in wanted)
    if await _done(app, lambda: [store.local.amend(buffer.name, pinned=pinned) for buffer in wanted]) is not None:
        said = "Pinned {}: no limit evicts {}" if pinned else "Unpinned {}: the limits hold for {} again"
        it = "it" if len(wanted) == 1 else "them"
        app.notify(f"{said.format(_refs(wanted), it)}; the same key undoes it", markup=False)


class Removals:
    """What a person deleted in this inspector. It is removed after some minutes, or when the inspector ends.

    Attributes:
        waiting: the buffers that are not removed yet, by name.
    """

    def __init__(self, app: Callable[[], App[None]], store: Reading, changed: Callable[[], None]) -> None:
        """Begin with nothing deleted.

        Args:
            app: gives the app that asks and says what was done.
            store: the store.
            changed: called when something was deleted or taken back.
        """
        self._app, self._store, self._changed = app, store, changed
        self.waiting = dict[str, Buffer]()

    def ask(self, wanted: Sequence[Buffer], let_go: Callable[[str], None]) -> None:
        """Delete buffers, once it is confirmed, or take them back if all are deleted; before removals call `let_go`.

        What agents were shown of them stays.
        """
        app = self._app()
        if any(is_elsewhere(app, buffer) for buffer in wanted):
            return
        if wanted and all(buffer.name in self.waiting for buffer in wanted):
            for buffer in wanted:
                del self.waiting[buffer.name]
            self._changed()
            app.notify(f"Took back {_refs(wanted)}", markup=False)
            return
        if gone := [buffer for buffer in wanted if buffer.state == "evicted"]:
            app.notify(f"{_refs(gone)} is gone; only its place in the log is left", severity="warning", markup=False)
            return

        def answered(yes: bool | None) -> None:
            if not yes:
                return
            if running := [buffer for buffer in wanted if buffer.state == "running"]:
                app.notify(f"{_refs(running)} is still running: X ends it", severity="error", markup=False)
                return
            self.waiting |= {buffer.name: buffer for buffer in wanted}
            self._changed()
            app.set_timer(TAKE_BACK_SECONDS, partial(self._due, wanted, let_go))
            until = f"{TAKE_BACK_SECONDS / 60:.0f} minutes"
            app.notify(f"Deleted {_refs(wanted)}. D on it takes it back, for {until} or until you leave", markup=False)

        facts = [_described(buffer) for buffer in wanted[:_NAMED]]
        facts += [f"and {len(wanted) - _NAMED:,} more"] if len(wanted) > _NAMED else []
        facts.append("What agents were shown of it stays in the log.")
        question = wanted[0].ref if len(wanted) == 1 else counted(len(wanted), "output")
        app.push_screen(Confirm(f"Delete {question}?", facts, "Delete"), answered)

    def _due(self, wanted: Sequence[Buffer], let_go: Callable[[str], None]) -> None:
        due = [self.waiting.pop(buffer.name) for buffer in wanted if buffer.name in self.waiting]
        for buffer in due:
            let_go(buffer.name)
        if due:
            self._app().run_worker(_done(self._app(), lambda: retention.remove(self._store.local, due)))

    def carry_out(self) -> None:
        """Remove what was deleted and not taken back, since the inspector ends."""
        due, self.waiting = list(self.waiting.values()), {}
        for buffer in due:
            try:
                retention.remove(self._store.local, [buffer])
            except STORE_ERRORS as error:  # nobody reads a notice any more
                print(f"sightline: {buffer.ref} was not deleted: {error}", file=sys.stderr)


def _refs(wanted: Sequence[Buffer]) -> str:
    more = f" and {len(wanted) - _NAMED:,} more" if len(wanted) > _NAMED else ""
    named = (
        f"{wanted[0].ref} ({name_of(wanted[0])})"
        if len(wanted) == 1
        else ", ".join(buffer.ref for buffer in wanted[:_NAMED])
    )
    return named + more


def _described(buffer: Buffer) -> str:
    held = f"{counted(buffer.lines, 'line')}, {human_bytes(buffer.bytes)}" + (", pinned" if buffer.pinned else "")
    return f"{buffer.ref}  {name_of(buffer)}  ({held})"


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
