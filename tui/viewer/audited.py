"""A pane whose scrollbar is an overview of the whole, and of which the audit is read when there is time for it."""

from abc import abstractmethod
from typing import TYPE_CHECKING

from sightline.tui.common.errand import is_whole
from sightline.tui.common.row_scroll import RowScroll
from sightline.tui.viewer.overview_strip import OverviewStrip

if TYPE_CHECKING:
    from sightline.tui.viewer.viewer_audit import Auditing

AUDIT_SECONDS = 0.1  # after an output is there, and after the store has changed
AUDIT_GROWN_SECONDS = 0.5  # while it grows: what is new nobody has seen, and that needs no reading


class Audited(RowScroll):
    """Knows when to read who has seen what; what that is, `Auditing` does."""

    _auditing: "Auditing | None" = None
    _audit_is_due = False

    @property
    @abstractmethod
    def auditing(self) -> "Auditing":
        """Who has seen what of what it shows; made, and loaded, when that is first read."""

    @property
    def audited(self) -> "Auditing | None":
        """Who has seen what of what it shows, once that has been wanted."""
        return self._auditing

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

    # the strip

    @property
    def overview(self) -> OverviewStrip:
        """The strip beside it, on which the whole of it stands."""
        bar = self.vertical_scrollbar
        assert isinstance(bar, OverviewStrip)
        return bar

    def new_scrollbar(self) -> OverviewStrip:
        """What Textual has it scrolled by: the overview."""
        return OverviewStrip()
