"""The bindings of every screen and pane, to check a person's own keys against; loaded only where there are some."""

from sightline.tui.screens.buffer_actions import BufferActions
from sightline.tui.screens.diff import DiffScreen
from sightline.tui.screens.info import InfoScreen
from sightline.tui.screens.inspector import Inspector
from sightline.tui.screens.json import JsonScreen
from sightline.tui.screens.notes import NotesScreen
from sightline.tui.screens.replay import ReplayScreen
from sightline.tui.screens.sessions import SessionsScreen
from sightline.tui.screens.shown import ShownScreen
from sightline.tui.screens.timeline import TimelineScreen
from sightline.tui.widgets.buffer_list import BufferList
from sightline.tui.widgets.call_rows import CallRows
from sightline.tui.widgets.covered_rows import CoveredRows
from sightline.tui.widgets.diff_view import DiffView
from sightline.tui.widgets.found_lines import FoundLines
from sightline.tui.widgets.json_view import JsonView
from sightline.tui.widgets.note_rows import NoteRows
from sightline.tui.widgets.query_bar import QueryInput
from sightline.tui.widgets.result_pane import ResultPane
from sightline.tui.widgets.row_view import RowView
from sightline.tui.widgets.session_rows import SessionFactRows, SessionRows
from sightline.tui.widgets.text_rows import TextRows
from sightline.tui.widgets.viewer import Viewer
from textual.binding import BindingType

_SCREENS = (Inspector, BufferActions, DiffScreen, InfoScreen, JsonScreen, ShownScreen)
_AUDIT_SCREENS = (TimelineScreen, ReplayScreen, SessionsScreen, NotesScreen)
_PANES = (BufferList, FoundLines, Viewer, DiffView, JsonView, QueryInput, ResultPane, RowView, TextRows)
_AUDIT_PANES = (CallRows, CoveredRows, SessionRows, SessionFactRows, NoteRows)


def all_bindings() -> list[list[BindingType]]:
    """Those of each class that has some, but for the application's."""
    return [owner.BINDINGS for owner in (*_SCREENS, *_AUDIT_SCREENS, *_PANES, *_AUDIT_PANES)]
