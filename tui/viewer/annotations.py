"""What the viewer adds to an output: what is selected, looked for and failed in it, and who has seen what of it.

All but the selection is made, and loaded, when it is first wanted.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.strip import Strip

from sightline.store import Store
from sightline.tui.common.store_read import is_whole
from sightline.tui.viewer.line_strips import Drawn
from sightline.tui.viewer.opened_output import Opened
from sightline.tui.viewer.pane import OutputPane
from sightline.tui.viewer.selected_lines import SelectedLines

if TYPE_CHECKING:
    from sightline.tui.viewer.audit import ViewerAudit
    from sightline.tui.viewer.failures import ViewerFailures
    from sightline.tui.viewer.search import ViewerSearch

AUDIT_SECONDS = 0.1  # after an output is there, and after the store has changed
AUDIT_GROWN_SECONDS = 0.5  # while it grows: what is new nobody has seen, and that needs no reading
LOOK_SECONDS = 0.3  # after it is opened, a failed output is looked through for why: loading the rules is felt


class AnnotatedPane(OutputPane):
    """A pane with what is added to its output.

    Attributes:
        selecting: which of its lines are selected.
    """

    def __init__(self, store: Store, height: Callable[[int], int]) -> None:
        """Make it; `height` tells the rows of a line, where lines take several."""
        super().__init__(store, height)
        self.selecting = SelectedLines(self)
        self._searching: ViewerSearch | None = None
        self._failing: ViewerFailures | None = None
        self._auditing: ViewerAudit | None = None
        self._audit_is_due = False

    @property
    def searching(self) -> "ViewerSearch":
        """What is looked for in it; made, and loaded, with the first search."""
        if self._searching is None:
            from sightline.tui.viewer.search import ViewerSearch  # 20 ms

            self._searching = ViewerSearch(self)
        return self._searching

    @property
    def failing(self) -> "ViewerFailures":
        """Which of its lines say what failed; made, and loaded, when one first wants to know."""
        if self._failing is None:
            from sightline.tui.viewer.failures import ViewerFailures  # 3 ms

            self._failing = ViewerFailures(self)
        return self._failing

    @property
    def auditing(self) -> "ViewerAudit":
        """Who has seen what of it; made, and loaded, when that is first read."""
        if self._auditing is None:
            from sightline.tui.viewer.audit import ViewerAudit  # 4 ms

            self._auditing = ViewerAudit(self)
        return self._auditing

    @property
    def audited(self) -> "ViewerAudit | None":
        """Who has seen what of it, once that has been wanted."""
        return self._auditing

    def is_failure(self, drawn: Drawn) -> bool | None:
        """Whether a line is known to say what failed; None where it does not even look so."""
        return None if self._failing is None else self._failing.marks(drawn)

    def with_hits(self, number: int, strip: Strip) -> Strip:
        """A line with the hits of the search marked."""
        return strip if self._searching is None else self._searching.draw(number, strip)

    def annotations(self) -> list[str]:
        """What there is to say of them all."""
        notes: list[str] = []
        for part in (self._failing, self._searching, self._auditing):
            notes += part.notes() if part is not None else []
        return [*notes, *self.selecting.notes()]

    # as the output changes

    def annotate(self, before: Opened | None, opened: Opened, *, otherwise: bool) -> None:
        """An output has been opened, perhaps the same as before, which may be shown `otherwise`."""
        another = before is None or not before.is_of(opened.buffer)
        if another and self._auditing is not None:
            self._auditing.clear()
        self.audit_soon(grown=opened.running and not another)
        if another or (before is not None and before.buffer.state != opened.buffer.state):
            if self._failing is not None:
                self._failing.clear()
            if opened.buffer.failed and not opened.running:
                self.set_timer(LOOK_SECONDS, lambda: self._mark_failures(opened))
        if self._searching is not None:
            if another:
                self._searching.clear()
            elif otherwise:
                self._searching.shown_otherwise(same=False)
            elif opened.running or (before is not None and before.line_count != opened.line_count):
                self._searching.went_on()

    def _mark_failures(self, of: Opened) -> None:
        """Of what has failed, mark the lines that say why."""
        if self.opened is not None and self.opened.is_of(of.buffer):
            self.failing.begin()

    def audit_soon(self, *, grown: bool = False) -> None:
        """Have it read soon who has seen what, and what was noted: that may have changed, or only lines have come."""
        if not self._audit_is_due:
            self._audit_is_due = True
            seconds = AUDIT_GROWN_SECONDS if grown else AUDIT_SECONDS
            self.call_after_refresh(self.set_timer, seconds, self._read_audit)  # the first screen comes first

    def _read_audit(self) -> None:
        self._audit_is_due = False
        if is_whole(self):
            self.auditing.read()

    def clear_annotations(self) -> None:
        """Nothing is shown any more."""
        self.selecting.clear()
        for part in (self._searching, self._failing, self._auditing):
            if part is not None:
                part.clear()
