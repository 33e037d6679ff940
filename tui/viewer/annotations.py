"""What the viewer adds to an output: what is selected, looked for and failed in it, and who has seen what of it.

All but the selection is made, and loaded, when it is first wanted.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.strip import Strip

from sightline.store import Reading
from sightline.tui import viewer
from sightline.tui.common.store_read import is_whole
from sightline.tui.viewer.line_strips import DrawnLine
from sightline.tui.viewer.opened_output import OpenOutput
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
        selection: which of its lines are selected.
    """

    def __init__(self, store: Reading, height: Callable[[int], int]) -> None:
        """Make the widget; `height` tells the rows of a line, where lines take several."""
        super().__init__(store, height)
        self.selection = SelectedLines(self)
        self._search: ViewerSearch | None = None
        self._failures: ViewerFailures | None = None
        self._audit: ViewerAudit | None = None
        self._audit_is_due = False

    @property
    def search(self) -> "ViewerSearch":
        """What is looked for in it; made, and loaded, with the first search."""
        if self._search is None:
            self._search = viewer.ViewerSearch(self)
        return self._search

    @property
    def failures(self) -> "ViewerFailures":
        """Which of its lines say what failed; made, and loaded, when one first wants to know."""
        if self._failures is None:
            self._failures = viewer.ViewerFailures(self)
        return self._failures

    @property
    def audit(self) -> "ViewerAudit":
        """Who has seen what of it; made, and loaded, when that is first read."""
        if self._audit is None:
            self._audit = viewer.ViewerAudit(self)
        return self._audit

    @property
    def known_audit(self) -> "ViewerAudit | None":
        """Who has seen what of it, once that has been wanted."""
        return self._audit

    @property
    def counts_one_session(self) -> bool:
        """Whether only what one session was shown counts as seen."""
        return self._audit is not None and bool(self._audit.session)

    def is_failure(self, drawn: DrawnLine) -> bool | None:
        """Whether a line is known to say what failed; None where it does not even look so."""
        return None if self._failures is None else self._failures.marks(drawn)

    def with_hits(self, number: int, strip: Strip) -> Strip:
        """A line with the hits of the search marked."""
        return strip if self._search is None else self._search.draw(number, strip)

    def annotations(self) -> list[str]:
        """What there is to say of them all."""
        notes: list[str] = []
        for part in (self._failures, self._search, self._audit):
            notes += part.notes() if part is not None else []
        return [*notes, *self.selection.notes()]

    # as the output changes

    def annotate(self, before: OpenOutput | None, opened: OpenOutput, *, otherwise: bool) -> None:
        """An output has been opened, perhaps the same as before, which may be shown `otherwise`."""
        another = before is None or not before.is_of(opened.buffer)
        if another and self._audit is not None:
            self._audit.clear()
        self.audit_soon(grown=opened.running and not another)
        if another or (before is not None and before.buffer.state != opened.buffer.state):
            if self._failures is not None:
                self._failures.clear()
            if opened.buffer.failed and not opened.running:
                self.set_timer(LOOK_SECONDS, lambda: self._mark_failures(opened))
        if self._search is not None:
            if another:
                self._search.clear()
            elif otherwise:
                self._search.shown_otherwise(same=False)
            elif opened.running or (before is not None and before.line_count != opened.line_count):
                self._search.went_on()

    def _mark_failures(self, of: OpenOutput) -> None:
        """Of what has failed, mark the lines that say why."""
        if self.opened is not None and self.opened.is_of(of.buffer):
            self.failures.begin()

    def audit_soon(self, *, grown: bool = False) -> None:
        """Have it read soon who has seen what, and what was noted: that may have changed, or only lines have come."""
        if not self._audit_is_due:
            self._audit_is_due = True
            seconds = AUDIT_GROWN_SECONDS if grown else AUDIT_SECONDS
            self.call_after_refresh(self.set_timer, seconds, self._read_audit)  # the first screen comes first

    def _read_audit(self) -> None:
        self._audit_is_due = False
        if is_whole(self):
            self.audit.read()

    def clear_annotations(self) -> None:
        """Nothing is shown any more."""
        self.selection.clear()
        for part in (self._search, self._failures, self._audit):
            if part is not None:
                part.clear()
