"""Adds to a shown output what is selected, searched for and failed in it, and who has seen what of it.

Every part but the selection is loaded and made at its first use.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.strip import Strip

from sightline.store import Reading
from sightline_tui import viewer
from sightline_tui.common.store_read import is_whole
from sightline_tui.viewer.line_strips import DrawnLine
from sightline_tui.viewer.opened_output import OpenOutput
from sightline_tui.viewer.pane import OutputPane
from sightline_tui.viewer.selected_lines import SelectedLines

if TYPE_CHECKING:
    from sightline_tui.common.histogram import Histogram
    from sightline_tui.viewer.audit import ViewerAudit
    from sightline_tui.viewer.error_regions import ViewerFailures
    from sightline_tui.viewer.levels import ViewerLevels
    from sightline_tui.viewer.search import ViewerSearch

AUDIT_SECONDS = 0.1  # wait after an output is shown, or the store has changed
AUDIT_GROWN_SECONDS = 0.5  # wait while it grows: nobody has seen its new lines yet
LOOK_SECONDS = 0.3  # wait before a failed output is searched for its reason


class AnnotatedPane(OutputPane):
    """A pane that adds these parts to its output.

    Attributes:
        selection: the selected lines.
    """

    def __init__(self, store: Reading, height: Callable[[int], int]) -> None:
        """Make the widget; `height` gives the rows of a line, if lines can take several."""
        super().__init__(store, height)
        self.selection = SelectedLines(self)
        self._search: ViewerSearch | None = None
        self._failures: ViewerFailures | None = None
        self._levels: ViewerLevels | None = None
        self._audit: ViewerAudit | None = None
        self._audit_is_due = False

    @property
    def search(self) -> "ViewerSearch":
        """The search in the output; made and loaded with the first search."""
        if self._search is None:
            self._search = viewer.ViewerSearch(self)
        return self._search

    @property
    def failures(self) -> "ViewerFailures":
        """The lines that say what failed; made and loaded when they are first needed."""
        if self._failures is None:
            self._failures = viewer.ViewerFailures(self)
        return self._failures

    @property
    def levels(self) -> "ViewerLevels":
        """The levels of its lines, and which are shown; made and loaded when they are first needed."""
        if self._levels is None:
            self._levels = viewer.ViewerLevels(self)
        return self._levels

    @property
    def histogram(self) -> "Histogram | None":
        """Its lines counted by time; None if that is not wanted, or not known."""
        return self._levels.histogram if self._levels is not None else None

    def reveal(self, number: int) -> None:
        """Show all lines if this one, to which somebody goes, is hidden."""
        if self._levels is not None:
            self._levels.reveal(number)

    @property
    def audit(self) -> "ViewerAudit":
        """Who has seen what of the output; made and loaded when it is first needed."""
        if self._audit is None:
            self._audit = viewer.ViewerAudit(self)
        return self._audit

    @property
    def known_audit(self) -> "ViewerAudit | None":
        """The audit, if it has been needed yet."""
        return self._audit

    @property
    def counts_one_session(self) -> bool:
        """Whether only what one session was shown counts as seen."""
        return self._audit is not None and bool(self._audit.session)

    def is_failure(self, drawn: DrawnLine) -> bool | None:
        """Return whether a line says what failed; None if it does not even look like that."""
        return None if self._failures is None else self._failures.marks(drawn)

    def with_hits(self, number: int, strip: Strip) -> Strip:
        """Mark the hits of the search in a line."""
        return strip if self._search is None else self._search.draw(number, strip)

    def annotations(self) -> list[str]:
        """The notes that all parts have for the info bar."""
        notes: list[str] = []
        for part in (self._levels, self._failures, self._search, self._audit):
            notes += part.notes() if part is not None else []
        return [*notes, *self.selection.notes()]

    # as the output changes

    def annotate(self, before: OpenOutput | None, opened: OpenOutput, *, otherwise: bool) -> None:
        """Prepare the parts for an output that was opened; the same one as before may be shown `otherwise`."""
        another = before is None or not before.is_of(opened.buffer)
        if another and self._audit is not None:
            self._audit.clear()
        self.audit_soon(grown=opened.running and not another)
        if self._levels is not None:
            self._levels.clear() if another or otherwise else self._levels.went_on()
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
        """If the output failed, mark the lines that say why."""
        if self.opened is not None and self.opened.is_of(of.buffer):
            self.failures.begin()

    def audit_soon(self, *, grown: bool = False) -> None:
        """Read soon who has seen what and which notes there are; later if the output has only grown."""
        if not self._audit_is_due:
            self._audit_is_due = True
            seconds = AUDIT_GROWN_SECONDS if grown else AUDIT_SECONDS
            self.call_after_refresh(self.set_timer, seconds, self._read_audit)  # the first screen comes first

    def _read_audit(self) -> None:
        self._audit_is_due = False
        if is_whole(self):
            self.audit.read()

    def clear_annotations(self) -> None:
        """Clear all parts, because nothing is shown any more."""
        self.selection.leave()
        for part in (self._search, self._failures, self._levels, self._audit):
            if part is not None:
                part.clear()
