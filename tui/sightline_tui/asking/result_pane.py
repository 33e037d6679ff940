"""The answer to a query: the reply's fields above its lines. Enter shows the line behind one, `f` gets the whole."""

import asyncio
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from sightline.base.errors import SightlineError
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.search.processes import Cancel
from sightline.store import Reading
from sightline.verbs.asker import Asker
from sightline_tui.asking import question as questions
from sightline_tui.asking.answers import Answer, answer, person, text_of, value_text, whole_answer, whole_of
from sightline_tui.common import messages
from sightline_tui.common.bar import Bar
from sightline_tui.common.keys import named
from sightline_tui.common.phrases import counted
from sightline_tui.common.places import viewer_line
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import is_whole
from sightline_tui.common.strips import StripPart
from sightline_tui.common.text_rows import TextRows
from sightline_tui.common.visible_text import title, visible

_MOST_FIELD_ROWS = 6

Row = tuple[Sequence[StripPart], Sequence[StripPart]]
Query = questions.PartQuestion | questions.QueryQuestion


class ResultPane(Vertical):
    """Asks outside the UI's thread, one question at a time: a newer one cancels the one before.

    Attributes:
        lines: the lines of the answer, which take the keys.
    """

    BINDINGS: ClassVar[list[BindingType]] = named(
        "result",
        [
            Binding("escape,q", "close", "Back", key_display="Esc"),
            Binding("f", "whole", "Whole result"),
        ],
    )

    def __init__(self, store: Reading) -> None:
        super().__init__(id="result")
        self._head, self.lines = Bar(id="result-head"), TextRows(id="result-lines")
        self._store = store
        self._asking: Asker | None = None
        self._answer: Answer | None = None
        self._cancel: Cancel | None = None
        self._said: tuple[Row, tuple[tuple[str, object], ...]] = (((), ()), ())

    def fill(self) -> None:
        """Add its parts at once: Textual's `compose` would come only after the next keys."""
        self.mount(self._head, self.lines)

    def ask(self, question: Query) -> None:
        """Ask a question, and cancel one that is not answered yet."""
        self._run(question, lambda cancel, show: answer(self._who(), question, cancel, show))

    def _ask_whole(self, question: questions.QueryQuestion) -> None:
        self._run(question, lambda cancel, show: show(whole_answer(self._who(), question, cancel)))

    def _who(self) -> Asker:
        if self._asking is None:
            self._asking = person(self._store)
        return self._asking

    def _run(self, question: Query, carry_out: Callable[[Cancel, Callable[[Answer], None]], None]) -> None:
        self.give_up()
        self._clear()  # the lines shown answer an earlier question
        self._cancel = cancel = Cancel()
        self._say(question, [StripPart("running", "running"), StripPart(" · esc cancels ", "dim")])
        self.run_worker(self._carry_out(question, cancel, carry_out))

    async def _carry_out(
        self, question: Query, cancel: Cancel, carry_out: Callable[[Cancel, Callable[[Answer], None]], None]
    ) -> None:
        loop = asyncio.get_running_loop()

        def show(answer: Answer) -> None:
            loop.call_soon_threadsafe(self._take, answer, cancel)

        try:
            await asyncio.to_thread(carry_out, cancel, show)
        except STORE_ERRORS as error:
            if cancel is self._cancel:
                self._cancel = None
                self._fail(question, error)

    def _take(self, answer: Answer, cancel: Cancel) -> None:
        if cancel is not self._cancel or not is_whole(self):  # it was cancelled meanwhile
            answer.text.close()
            return
        self._cancel, self._answer = None, answer
        self.lines.show(answer.text)
        count, whole = answer.text.line_count, "whole · " if answer.is_whole else ""
        told = (
            StripPart("refused ", "failed")
            if answer.is_error
            else StripPart(f"{whole}{counted(count, 'line')} ", "dim")
        )
        self._say(answer.asked, [told], answer.fields.items())

    def _fail(self, question: Query, error: Exception) -> None:
        if not isinstance(error, SightlineError):
            tell(self.app, error)
            self._say(question, [StripPart("failed ", "failed")])
            return
        self._say(question, [StripPart("refused ", "failed")], (("error", error.message), ("hint", error.hint)))

    def give_up(self) -> bool:
        """Cancel the running question; return whether there was one."""
        if self._cancel is None:
            return False
        self._cancel.cancel()
        self._cancel = None
        return True

    def on_unmount(self) -> None:
        """Cancel the running question when the pane goes."""
        self.give_up()

    # what is said

    def _say(self, question: Query, right: list[StripPart], fields: Iterable[tuple[str, object]] = ()) -> None:
        self._said = ([StripPart(" "), StripPart(title(text_of(question)), "strong")], right), tuple(fields)
        self._lay_out()

    def _lay_out(self) -> None:
        asked_row, fields = self._said
        rows = field_rows(fields, self.size.width or self.app.size.width)
        self._head.styles.height = 1 + len(rows)
        self._head.say(asked_row, *((row, ()) for row in rows))

    def on_resize(self) -> None:
        """Lay out the fields again for the new width."""
        self._lay_out()

    # keys

    def action_close(self) -> None:
        """Cancel the running question; if there is none, close."""
        if self.give_up():
            self._said = ([StripPart(" cancelled", "interrupted")], ()), ()
            self._lay_out()
        else:
            self._clear()
            self.post_message(messages.ResultClosed())

    def _clear(self) -> None:
        self.lines.show(None)
        self._answer = None

    def action_whole(self) -> None:
        """Ask for all of the answer."""
        question = self._answer and whole_of(self._answer.asked)
        if question:
            self._ask_whole(question)
        elif self._answer:
            self.notify("All of it is what the viewer shows", markup=False)

    def on_text_rows_chosen(self, message: TextRows.Chosen) -> None:
        """Find the line of an output that a line of the answer shows."""
        message.stop()
        if self._answer is not None:
            self.run_worker(self._find(self._answer, message.number, message.text), exclusive=True, group="hit")

    async def _find(self, answer: Answer, number: int, text: str) -> None:
        try:
            found = await asyncio.to_thread(self._line_behind, answer, number, text)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return
        if found is None:
            self.notify("No line is known behind this one; grep -n tells", severity="warning", markup=False)
        elif answer is self._answer:
            self.post_message(messages.LineMeant(*found))

    def _line_behind(self, answer: Answer, number: int, text: str) -> tuple[Buffer, int] | None:
        hit = answer.find_hit(number, text)
        if hit is None:
            return None
        buffer = self._store.resolve(format_ref(hit.buffer)).buffer
        return buffer, viewer_line(self._store, buffer, hit)


def field_rows(fields: Iterable[tuple[str, object]], width: int) -> list[list[StripPart]]:
    """Lay out fields in rows, as many in each as fit; a text that is too wide continues in the next row."""
    rows, left = list[list[StripPart]](), 0
    for name, value in fields:
        label, told = f" {name} ", visible(value if isinstance(value, str) else value_text(value))
        style = "failed" if name == "error" else "accent" if name in ("hint", "next") else ""
        if cell_len(label + told) >= width:
            for at, line in enumerate(textwrap.wrap(told, max(width - len(label) - 1, 10))):
                rows.append([StripPart(" " * len(label) if at else label, "dim"), StripPart(line, style)])
            left = 0
            continue
        if cell_len(label + told) + 1 > left:
            rows.append([])
            left = width
        rows[-1] += [StripPart(label, "dim"), StripPart(told, style), StripPart(" ")]
        left -= cell_len(label + told) + 1
    return rows[:_MOST_FIELD_ROWS]
