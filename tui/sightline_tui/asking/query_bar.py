"""The query bar at the bottom: a line to ask in, the ref that is read by default, and completions."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input

from sightline.base.errors import SightlineError
from sightline.store import Reading
from sightline_tui.asking.question import FORMS as FORMS
from sightline_tui.asking.question import (
    Completions,
    History,
    PlaceQuestion,
    Question,
    completions,
    earlier,
    later,
    parse_question,
    with_newest,
)
from sightline_tui.asking.result_pane import ResultPane
from sightline_tui.common.bar import Bar
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.messages import PlaceMeant
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.strips import StripPart
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import visible

PLACEHOLDER = "42 · 50% · /regex · $.json.path · grep x | sort · show 42-80 · Tab completes"
_REFS = 200  # of the buffers used last, that can be completed

_HINTS = 8  # completions that are shown together


class QueryBar(Vertical):
    """Hidden until it is opened. Enter reads the text; one that makes no sense stays there, with the reason."""

    def __init__(self, store: Reading, carry_out: Callable[[Question], None]) -> None:
        """Make the widget.

        Args:
            store: whose refs are completed, and which keeps what was asked.
            carry_out: does what is asked; called at once, so that the next key goes to what it opens.
        """
        super().__init__(id="query-bar")
        self._carry_out = carry_out
        self._hints, self._label, self._input = Bar(id="query-hints"), Bar(id="query-ref"), QueryInput(self)
        self._store = store
        self._history = History(store)
        self._ref = ""
        self._asked = list[str]()
        self._pending = list[str]()
        self._writes: StoreRead[None] = StoreRead(self, self._plan_write, lambda _: None)
        self._looks: StoreRead[tuple[list[str], list[str]]] = StoreRead(self, lambda: self._look_up, self._know)

    def fill(self) -> None:
        """Add its parts at once: Textual's `compose` would come only after the next keys."""
        line = Horizontal(id="query-line")
        self.mount(self._hints, line)
        line.mount(self._label, self._input)

    def open(self, ref: str) -> None:
        """Show it and take the keys, the very next one included.

        Args:
            ref: read where the text names none; empty for none.
        """
        self._ref = ref
        self.display = True
        self.hint()
        told = f" {ref} : " if ref else " : "
        self._label.styles.width = cell_len(told)
        self._label.say(([StripPart(told, "key")], ()))
        self._input.open()
        if self._store.place:  # which may be slow
            self._looks.ask()
        else:
            self._looks.carry_out_now(self._look_up)

    def hint(self, parts: Sequence[StripPart] = ()) -> None:
        """Say something above the line, or nothing."""
        self._hints.display = bool(parts)
        self._hints.say((parts, ()))

    def read(self, text: str) -> Callable[[], None] | None:
        """What to do for the text, once the bar is closed; None, with a message, where it makes no sense."""
        try:
            meant = parse_question(text, self._ref)
        except SightlineError as error:
            self.hint([StripPart(f" {visible(error.message)}", "failed"), StripPart(f"  {visible(error.hint)}", "dim")])
            return None
        if meant is None:
            return lambda: None
        self._asked = with_newest(self._asked, text)
        self._pending.append(text)
        self._writes.ask()
        return lambda: self._carry_out(meant)

    def _look_up(self) -> tuple[list[str], list[str]]:
        """Read history and completions. They are small, and the next key may be Up or Tab."""
        return self._history.texts(), [item.buffer.ref for item in self._store.index.listed(_REFS)]

    def _know(self, found: tuple[list[str], list[str]]) -> None:
        texts, refs = found
        for text in self._asked:  # these may still be on their way to the file
            texts = with_newest(texts, text)
        self._input.know(texts, refs)

    def _plan_write(self) -> Callable[[], None]:
        texts, self._pending = self._pending, []

        def write() -> None:
            for text in texts:
                self._history.add(text)

        return write


class _Earlier(Suggester):
    """Suggests the newest text asked before that begins as what is typed."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self.texts = list[str]()

    async def get_suggestion(self, value: str) -> str | None:
        at = earlier(self.texts, value, len(self.texts)) if value else None
        return None if at is None else self.texts[at]


class QueryInput(Input):
    """The line: Up and Down go through what was asked before, Tab through what may follow."""

    BINDINGS: ClassVar[list[BindingType]] = named(
        "query",
        [
            Binding("enter", "submit", "Ask"),
            Binding("escape", "leave", "Cancel"),
            Binding("tab", "complete(1)", "Complete"),
            Binding("shift+tab", "complete(-1)", "Complete", show=False),
            Binding("up", "recall(-1)", "Asked before", key_display="↑"),
            Binding("down", "recall(1)", "Asked after", show=False),
        ],
    )

    def __init__(self, bar: QueryBar) -> None:
        self._earlier = _Earlier()
        super().__init__(
            placeholder=PLACEHOLDER, id="query", suggester=self._earlier, compact=True, select_on_focus=False
        )
        self.cursor_blink = False  # an idle screen is never drawn anew
        self._bar = bar
        self._back: Widget | None = None
        self._refs = list[str]()
        self._at: int | None = None
        self._beginning = ""
        self._found = Completions(0, ())
        self._taken = -1
        self._before = self._after = self._completed = ""

    def know(self, texts: list[str], refs: list[str]) -> None:
        """Take in what was asked before, and what can be completed."""
        self._earlier.texts, self._refs = texts, refs

    def open(self) -> None:
        """Begin anew, and take the keys."""
        self._at, self._taken = None, -1
        self._back = self.screen.focused
        self.screen.set_focus(self)

    def _close(self, back: Widget | None) -> None:
        self.clear()
        self.screen.set_focus(back)
        self._bar.display = False

    def on_input_changed(self, event: Input.Changed) -> None:
        """Typing ends completion and recall."""
        event.stop()
        if self.value != self._completed:
            self._at, self._taken = None, -1
            self._bar.hint()

    async def action_submit(self) -> None:
        """Enter: carry out the text; one that makes no sense stays."""
        if carry_out := self._bar.read(self.value):
            self._close(self.screen.query_one("#viewer"))
            carry_out()

    def action_leave(self) -> None:
        """Escape: close the bar; the focus goes back to where it was."""
        self._close(self._back)

    def _put(self, text: str) -> None:
        self._completed = self.value = text
        self.cursor_position = len(text)

    def action_recall(self, direction: int) -> None:
        """Put the previous or next text of the history that begins as the typed one into the line."""
        texts = self._earlier.texts
        if self._at is None:
            self._at, self._beginning = len(texts), self.value
        at = (earlier if direction < 0 else later)(texts, self._beginning, self._at)
        if at is not None:
            self._at = at
            self._put(texts[at])
        elif direction > 0:
            self._at = None
            self._put(self._beginning)

    def action_complete(self, step: int) -> None:
        """Put the next completion into the line, and show the others."""
        if self._taken < 0:
            self._found = completions(self.value[: self.cursor_position], self._refs)
            self._before, self._after = self.value[: self._found.start], self.value[self.cursor_position :]
        words = self._found.words
        if not words:
            return
        self._taken = (self._taken + step) % len(words) if self._taken >= 0 else min(step - 1, 0) % len(words)
        word = words[self._taken]
        if len(words) == 1:
            self._taken = -1
            word += "" if self._after else " "
        else:
            page = words[self._taken // _HINTS * _HINTS :][:_HINTS]
            self._bar.hint([StripPart(f" {visible(one)} ", "accent" if one == word else "dim") for one in page])
        self._put(self._before + word + self._after)
        self.cursor_position = len(self._before + word)


def open_bar(screen: Screen[None], store: Reading, ref: str) -> None:
    """Open the query bar above the keys; a question without a ref reads this one (empty for none)."""
    bar = screen.query_one_optional(QueryBar)
    if bar is None:
        load_style(screen.app, "asking/query_bar")
        bar = QueryBar(store, lambda question: _carry_out(screen, store, question))
        screen.mount(bar, before=screen.query_one(KeyBar))
        bar.fill()
    bar.open(ref)


def _carry_out(screen: Screen[None], store: Reading, question: Question) -> None:
    """Go to a place in the viewer; have a question answered below it."""
    if isinstance(question, PlaceQuestion):
        screen.post_message(PlaceMeant(question.text))
        return
    pane = screen.query_one_optional(ResultPane)
    if pane is None:
        load_style(screen.app, "common/row_view")
        load_style(screen.app, "asking/result_pane")
        pane = ResultPane(store)
        screen.query_one("#right").mount(pane)
        pane.fill()
    pane.display = True
    screen.set_focus(pane.lines)
    pane.ask(question)
