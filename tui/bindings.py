"""The bindings of every screen and pane, to check a person's own keys against; loaded only where there are some."""

from textual.binding import BindingType

from sightline.tui.asking.query_bar import QueryInput
from sightline.tui.asking.result_pane import ResultPane
from sightline.tui.brief.brief_rows import BriefRows
from sightline.tui.brief.screen import BriefScreen
from sightline.tui.buffer_actions import BufferActions
from sightline.tui.buffers.buffer_list import BufferList
from sightline.tui.buffers.found_lines import FoundLines
from sightline.tui.common.row_view import RowView
from sightline.tui.common.text_rows import TextRows
from sightline.tui.diff.diff_view import DiffView
from sightline.tui.diff.screen import DiffScreen
from sightline.tui.evidence.claim_rows import ClaimRows, GroundRows
from sightline.tui.evidence.claims_screen import ClaimsScreen
from sightline.tui.evidence.info_screen import InfoScreen
from sightline.tui.evidence.shown_screen import ShownScreen
from sightline.tui.inspector import Inspector
from sightline.tui.json.json_view import JsonView
from sightline.tui.json.screen import JsonScreen
from sightline.tui.notes.note_rows import NoteRows
from sightline.tui.notes.screen import NotesScreen
from sightline.tui.timeline.call_rows import CallRows
from sightline.tui.timeline.coverage_rows import CoverageRows
from sightline.tui.timeline.replay_screen import ReplayScreen
from sightline.tui.timeline.screen import TimelineScreen
from sightline.tui.timeline.session_rows import SessionFactRows, SessionRows
from sightline.tui.timeline.sessions_screen import SessionsScreen
from sightline.tui.viewer.viewer import Viewer

_SCREENS = (Inspector, BufferActions, DiffScreen, InfoScreen, JsonScreen, ShownScreen)
_AUDIT_SCREENS = (BriefScreen, ClaimsScreen, TimelineScreen, ReplayScreen, SessionsScreen, NotesScreen)
_PANES = (BufferList, FoundLines, Viewer, DiffView, JsonView, QueryInput, ResultPane, RowView, TextRows)
_AUDIT_PANES = (BriefRows, ClaimRows, GroundRows, CallRows, CoverageRows, SessionRows, SessionFactRows, NoteRows)


def all_bindings() -> list[list[BindingType]]:
    """The bindings of each class that has some, except the application's."""
    return [owner.BINDINGS for owner in (*_SCREENS, *_AUDIT_SCREENS, *_PANES, *_AUDIT_PANES)]
