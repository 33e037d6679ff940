"""Shows the audit in the viewer: marks beside lines, the overview, and steps to lines that were never shown.

The audit is read outside the UI's thread, a moment after an output is shown or the store has changed.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sightline.audit.line_spans import Spans, holds
from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.hexdump import Dump
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.strips import StripPart
from sightline_tui.viewer.pane import OutputPane

if TYPE_CHECKING:  # loaded by the thread that reads
    from sightline_tui.viewer.audit_model import AuditReader, Destination
    from sightline_tui.viewer.line_strips import DrawnLine
    from sightline_tui.viewer.marks import Marks
    from sightline_tui.viewer.overview import Cell


class AuditRead(NamedTuple):
    """What was read, for which output, and its picture on the rows of the overview."""

    serial: int
    marks: "Marks"
    cells: "tuple[Cell, ...]"


class AuditStep(NamedTuple):
    """A step to what is ``unseen`` or ``overlooked``, perhaps upwards, and whom to call if there is nothing."""

    to: str
    back: bool
    beyond: Callable[[str], None] | None = None


class PointedLines(NamedTuple):
    """Lines that stand out, by stream; words that name them, and the id of the view in which they stand."""

    lines: Mapping[str, Spans]
    what: str
    view: str


class ViewerAudit:
    """The audit of a pane's output.

    Attributes:
        marks: what is known; None before it is read.
        session: the only session that counts, empty for all; it stays so for other outputs.
    """

    def __init__(self, pane: OutputPane) -> None:
        self._pane = pane
        self._serial = 0  # of the output that is shown; answers for older ones are dropped
        self._wanted: deque[AuditStep] = deque()  # steps that wait; each starts where the one before it ended
        self._at = 0, ""  # the line of the last step, and what stands there
        self._pointed: PointedLines | None = None
        self._said: tuple[Marks, tuple[str, int] | None, list[StripPart]] | None = None
        self.marks: Marks | None = None
        self.session = ""
        self._model: AuditReader | None = None
        self._reads: StoreRead[AuditRead] = StoreRead(pane, self._plan_read, self._take)
        self._steps: StoreRead[tuple[int, Destination]] = StoreRead(
            pane, self._plan_step, self._stepped, self._not_stepped
        )

    def _reader(self) -> "AuditReader":
        if self._model is None:
            from sightline_tui.viewer.audit_model import AuditReader  # 45 ms, spent in the thread that reads first

            self._model = AuditReader(self._pane.store)
        return self._model

    def read(self) -> None:
        """Read the marks."""
        self._reads.ask()

    def clear(self) -> None:
        """Clear the marks, because another output is shown."""
        self._serial += 1
        self.marks = self._pointed = None
        self._wanted.clear()
        self._at = 0, ""
        self._pane.overview.show(())

    def _plan_read(self) -> Callable[[], AuditRead] | None:
        pane, opened, serial, session = self._pane, self._pane.opened, self._serial, self.session
        rows, known = pane.size.height, self.marks
        if opened is None:
            return None
        rows = 0 if isinstance(opened.reading, Dump) else rows
        failures = known.failures if known else None
        return lambda: AuditRead(serial, *self._reader().read(opened, session, rows, failures))

    def _take(self, read: AuditRead) -> None:
        if read.serial != self._serial or read.marks.session != self.session:
            return
        self._pane.overview.show(read.cells)
        if read.marks != self.marks:
            self.marks = read.marks
            self._pane.changed()

    # what is marked

    def grade(self, drawn: "DrawnLine") -> str:
        """Return how a line was seen; empty if it was not seen, or that is not known yet."""
        return self.marks.grade(drawn.stream, drawn.line) if self.marks else ""

    def fate(self, drawn: "DrawnLine") -> str:
        """Return what became of a line that was seen, as `Marks.fate` does."""
        return self.marks.fate(drawn.stream, drawn.line) if self.marks else ""

    def is_unseen(self, drawn: "DrawnLine") -> bool:
        """Return whether a line is known to have stood in no reply, not even in part."""
        return self.marks is not None and self.marks.is_unseen(drawn.stream, drawn.line)

    def is_overlooked(self, drawn: "DrawnLine") -> bool:
        """Return whether a line tells of a failure that stood in no reply."""
        return self.marks is not None and self.marks.overlooks(drawn.stream, drawn.line)

    @property
    def has_notes(self) -> bool:
        """Whether there are notes about its lines."""
        return self.marks is not None and bool(self.marks.remarks)

    def is_noted(self, drawn: "DrawnLine") -> bool:
        """Return whether a note is about a line."""
        return self.marks is not None and bool(self.marks.remarks_on(drawn.stream, drawn.line))

    def words(self, number: int) -> list[StripPart]:
        """Return words about a line, or with 0 about all lines."""
        if self.marks is None:
            return []
        drawn = self._pane.drawn(number) if number and not self._pane.shows_bytes else None
        about = (drawn.stream, drawn.line) if drawn is not None and drawn.line else None
        if self._said is None or self._said[0] is not self.marks or self._said[1] != about:  # a step asks for it again
            self._said = self.marks, about, self._reader().told(self.marks, about)
        return self._said[2]

    # pointing

    def point(self, lines: Mapping[str, Spans], what: str, view: str) -> None:
        """Let the lines of a view stand out until they are forgotten; `what` names them."""
        self._pointed = PointedLines(lines, what, view)
        self._pane.changed()

    @property
    def pointed_to(self) -> str:
        """Id of the view whose lines stand out; empty for none."""
        return self._pointed.view if self._pointed else ""

    def is_pointed_at(self, drawn: "DrawnLine") -> bool:
        """Return whether a line stands out."""
        return self._pointed is not None and holds(self._pointed.lines.get(drawn.stream, ()), drawn.line)

    def forget(self) -> bool:
        """Drop the steps that wait, else let no lines stand out; return whether there was anything to drop."""
        was = bool(self._wanted) or self._pointed is not None
        if self._wanted:
            self._wanted.clear()
        else:
            self._pointed = None
        return was

    def notes(self) -> list[str]:
        """The notes for the info bar about the present line."""
        if self._wanted:
            return ["looking…"]
        at = [self._at[1]] if self._at[0] and self._at[0] == self._pane.target else []
        return [*([self._pointed.what] if self._pointed else []), *at]

    # whose eyes

    def restrict(self, session: str) -> None:
        """Count only what one session was shown; with an empty name, what all were shown."""
        self.session, self._at = session, (0, "")
        self.read()

    def next_session(self, steps: int) -> str:
        """Count the next session that was shown anything of it, or all again; return what to say if there is none."""
        if self.marks is None:
            return ""
        sessions = ["", *self.marks.whole.sessions]
        if sessions == [""] and not self.session:
            return "Nobody was shown any of it"
        at = sessions.index(self.session) if self.session in sessions else 0
        self.restrict(sessions[(at + steps) % len(sessions)])
        return ""

    # going somewhere

    def come_to(self, why: str) -> None:
        """Remember that a step has come to a line, and say why while that line is shown."""
        self._at = self._pane.target, why
        self._pane.tell_place()

    def step(self, to: str, *, back: bool = False, beyond: Callable[[str], None] | None = None) -> None:
        """Go to the next region that is ``unseen``, or failure that is ``overlooked``.

        Args:
            to: which of the two.
            back: whether to go upwards.
            beyond: called with the reason if there is nothing to go to; by default the reason is shown.
        """
        pane = self._pane
        if pane.opened is None or pane.shows_bytes:
            return
        self._wanted.append(AuditStep(to, back, beyond))
        self._steps.ask()
        pane.tell_place()

    def _from(self, step: AuditStep) -> int:
        """Return the number from which a step starts: the line gone to, else the line beside the screen."""
        target, top = self._pane.target, self._pane.window.top
        if target and self._pane.window.on_screen(target):
            return target
        return top.line + (top.row > 0) if step.back else top.line - (top.row == 0)

    def _plan_step(self) -> "Callable[[], tuple[int, Destination]] | None":
        opened, serial = self._pane.opened, self._serial
        known, session = self.marks, self.session
        if opened is None or not self._wanted:
            return None
        step = self._wanted[0]
        number = self._from(step)
        return lambda: (serial, self._reader().step(opened, session, known, step.to, number, back=step.back))

    def _stepped(self, answer: "tuple[int, Destination]") -> None:
        serial, found = answer
        if serial != self._serial or not self._wanted:
            return
        step = self._wanted.popleft()
        if found.marks.session == self.session and found.marks is not self.marks:
            self.marks = found.marks
            self.read()  # so that the overview fits
        self._at = found.number, found.text
        if found.number:
            self._pane.go_near(found.number)
        elif step.beyond is not None:
            self._wanted.clear()
            step.beyond(found.text)
        else:
            self._wanted.clear()
            self._pane.notify(found.text, markup=False)
        if self._wanted:
            self._steps.ask()
        self._pane.changed()

    def _not_stepped(self) -> None:
        self._wanted.clear()
