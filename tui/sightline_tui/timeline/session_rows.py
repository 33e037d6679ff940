"""Lists sessions, one in each row below a row for all of them, and the rows of the panel on one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from sightline_tui.common.keys import named
from sightline_tui.common.messages import State
from sightline_tui.common.row_view import RowView
from sightline_tui.common.strips import row
from sightline_tui.timeline.board_reader import Agent, Board
from sightline_tui.timeline.session_parts import FactRow, row_parts

_PARTS = (*RowView.PARTS, "running", "failed", "interrupted")


class SessionRows(RowView):
    """Sessions: those at work first, then the one that asked last. The row above them stands for all."""

    PARTS = _PARTS
    BINDINGS: ClassVar[list[BindingType]] = named("sessions", [Binding("enter", "choose", "Open")])

    class Moved(State):
        """The cursor has moved to another session."""

    class Chosen(Message):
        """A person has chosen a session, or all: the row under the cursor."""

    def __init__(self, chosen: str | None, clock: Callable[[], float]) -> None:
        super().__init__(id="sessions")
        self._board = Board((), False)
        self._chosen = chosen
        self._clock = clock
        self._shown = False

    @property
    def agent(self) -> Agent | None:
        """The session under the cursor; None for all."""
        agents = self._board.agents
        return agents[self.cursor - 1] if self.cursor and agents else None

    def show(self, board: Board) -> None:
        """Show other sessions; the cursor stays on its session."""
        old = self.agent
        name = old.name if old else self._chosen if not self._shown else None
        self._board, self._shown = board, True
        at = next((at for at, one in enumerate(board.agents, 1) if one.name == name), 0)
        self.set_rows(len(board.agents) + 1, cursor=at)

    def draw(self, at: int, width: int) -> Strip:
        """Draw a session."""
        agent = self._board.agents[at - 1] if at else None
        is_chosen = self._chosen == (agent.name if agent else None)
        parts = row_parts(agent, width - 1, self._clock(), chosen=is_chosen, judged=self._board.is_judged)
        return row(parts, (), width, self.own_style, self.part_styles)

    def cursor_moved(self) -> None:
        """Show the session under the cursor in full."""
        self.post_message(self.Moved())

    def choose(self) -> None:
        """Choose the row under the cursor."""
        self.post_message(self.Chosen())


class SessionFactRows(RowView):
    """What is known of one session, with its outputs."""

    PARTS = _PARTS
    BINDINGS: ClassVar[list[BindingType]] = named("session", [Binding("enter", "choose", "Open")])

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A person has chosen an output."""

        ref: str

    def __init__(self) -> None:
        super().__init__(id="session-facts")
        self._rows: Sequence[FactRow] = ()

    def show(self, rows: Sequence[FactRow], *, anew: bool) -> None:
        """Show other rows; for another session from the top, else with the cursor on its output."""
        ref = self._rows[self.cursor].ref if self._rows and not anew else ""
        at = next((at for at, one in enumerate(rows) if ref and one.ref == ref), 0 if anew else self.cursor)
        self._rows = rows
        self.set_rows(len(rows), cursor=at)

    def draw(self, at: int, width: int) -> Strip:
        """Draw a row."""
        return row(self._rows[at].parts, (), width, self.own_style, self.part_styles)

    def choose(self) -> None:
        """Choose the output of the row."""
        if self._rows and (ref := self._rows[self.cursor].ref):
            self.post_message(self.Chosen(ref))
