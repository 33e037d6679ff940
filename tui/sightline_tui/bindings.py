"""The bindings of every screen and pane, to check a person's own keys against; loaded only where there are some."""

from textual.binding import BindingType

from sightline_tui.asking.query_bar import QueryInput
from sightline_tui.asking.result_pane import ResultPane
from sightline_tui.brief.brief_rows import BriefRows
from sightline_tui.brief.screen import BriefScreen
from sightline_tui.buffer_actions import BufferActions
from sightline_tui.buffers.buffer_list import BufferList
from sightline_tui.buffers.found_lines import FoundLines
from sightline_tui.common.row_view import RowView
from sightline_tui.common.scoped_screen import ScopedScreen
from sightline_tui.common.text_rows import TextRows
from sightline_tui.diff.diff_view import DiffView
from sightline_tui.diff.screen import DiffScreen
from sightline_tui.evidence.claim_rows import ClaimRows, GroundRows
from sightline_tui.evidence.claims_screen import ClaimsScreen
from sightline_tui.evidence.info_screen import InfoScreen
from sightline_tui.evidence.shown_screen import ShownScreen
from sightline_tui.inspector import Inspector
from sightline_tui.json.json_view import JsonView
from sightline_tui.json.screen import JsonScreen
from sightline_tui.merged.merged_rows import MergedRows
from sightline_tui.merged.screen import MergedScreen
from sightline_tui.notes.note_rows import NoteRows
from sightline_tui.notes.screen import NotesScreen
from sightline_tui.timeline.call_rows import CallRows
from sightline_tui.timeline.cost_rows import CostRows
from sightline_tui.timeline.cost_screen import CostScreen
from sightline_tui.timeline.coverage_rows import CoverageRows
from sightline_tui.timeline.files_screen import FilesScreen
from sightline_tui.timeline.part_rows import PartRows
from sightline_tui.timeline.replay_screen import ReplayScreen
from sightline_tui.timeline.screen import TimelineScreen
from sightline_tui.timeline.session_rows import SessionFactRows, SessionRows
from sightline_tui.timeline.sessions_screen import SessionsScreen
from sightline_tui.viewer.viewer import Viewer

_SCREENS = (Inspector, BufferActions, DiffScreen, InfoScreen, JsonScreen, MergedScreen, ShownScreen)
_AUDIT_SCREENS = (ScopedScreen, BriefScreen, ClaimsScreen, TimelineScreen, ReplayScreen, SessionsScreen, NotesScreen)
_PANES = (BufferList, FoundLines, Viewer, DiffView, JsonView, MergedRows, QueryInput, ResultPane, RowView, TextRows)
_AUDIT_PANES = (BriefRows, ClaimRows, GroundRows, CallRows, CoverageRows, SessionRows, SessionFactRows, NoteRows)
_OF_COSTS = (CostScreen, CostRows)
_OF_FILES = (FilesScreen, PartRows)


def all_bindings() -> list[list[BindingType]]:
    """The bindings of each class that has some, except the application's."""
    return [owner.BINDINGS for owner in (*_SCREENS, *_AUDIT_SCREENS, *_PANES, *_AUDIT_PANES, *_OF_COSTS, *_OF_FILES)]
