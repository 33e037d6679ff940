"""The search through all outputs: a list of the lines that it finds takes the place of the list of buffers.

``//`` opens it: the filter's text with a slash before it. Loaded when it is first wanted.
"""

from collections.abc import Callable

from textual.screen import Screen
from textual.timer import Timer

from sightline.base.errors import SightlineError
from sightline.base.project import Project
from sightline.search.contents import LINES, SearchProgress, may_lack, search_contents
from sightline.search.errors import Cancelled
from sightline.search.processes import Cancel
from sightline.store import Reading
from sightline_tui.buffers.buffer_list import BufferList
from sightline_tui.buffers.found_lines import FoundLines
from sightline_tui.buffers.list_title import ListTitle
from sightline_tui.common.messages import ContentsSearched, HitSelected, LineMeant
from sightline_tui.common.phrases import counted
from sightline_tui.common.places import FoundPlace, viewer_line
from sightline_tui.common.store_errors import STORE_ERRORS
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import title

SETTLE_SECONDS = 0.15  # to wait after the last key; Enter does not wait
_LEAST_LETTERS = 2  # a single letter is in nearly every line
_NOTHING_TYPED = "Type a text or a regular expression"


class Contents:
    """One search at a time; another text ends the one before, and so does leaving.

    Attributes:
        pattern: what is looked for.
    """

    def __init__(self, screen: Screen[None], store: Reading, project: Project | None) -> None:
        """Put the list of found lines below the list of buffers, out of sight."""
        load_style(screen.app, "common/row_view")
        load_style(screen.app, "buffers/found_lines")
        self._screen = screen
        self._store = store
        self._project = project
        self._lines = FoundLines()
        self._lines.display = False
        screen.query_one("#left").mount(self._lines)
        self.pattern = ""
        self._cancel: Cancel | None = None
        self._timer: Timer | None = None
        self._turn = 0
        self._found = self._buffers = self._searched = 0
        self._lacks = False
        self._hit: HitSelected | None = None
        self._places: StoreRead[LineMeant] = StoreRead(self._lines, self._plan_place, self._tell_place)

    @property
    def is_open(self) -> bool:
        """Whether found lines are shown in the place of the list."""
        return bool(self._lines.display)

    def typed(self, pattern: str) -> None:
        """Take another text; the search for it begins when no more is typed."""
        if not self.is_open:
            self._lines.display = True
            self._screen.query_one(BufferList).display = False
        self.end()
        self.pattern = pattern
        self._lines.begin("" if pattern else _NOTHING_TYPED)
        self._tell("")
        if len(pattern) >= _LEAST_LETTERS:
            self._timer = self._screen.set_timer(SETTLE_SECONDS, self._begin)

    def meant(self) -> None:
        """Search for the text now, however short it is, since it is complete."""
        if self._timer is not None or (self.pattern and self._cancel is None):
            self._begin()

    def show_project(self, project: Project | None) -> None:
        """Search another project's outputs, or all; a search that is open begins anew."""
        self._project = project
        if self.is_open:
            self.typed(self.pattern)
            self.meant()

    def close(self) -> None:
        """Show the list of buffers again."""
        self.end()
        self._lines.display = False
        self._screen.query_one(BufferList).display = True

    def stop(self) -> bool:
        """End a running search and keep what it found; return whether one was running."""
        if self._cancel is None or self._cancel.cancelled:
            return False
        self.end()
        self._tell("stopped")
        return True

    def show(self, hit: HitSelected) -> None:
        """Show a line in the viewer, at its place among the lines of all streams."""
        self._hit = hit
        self._places.ask()

    def _plan_place(self) -> Callable[[], LineMeant] | None:
        hit, store = self._hit, self._store
        if hit is None:
            return None
        place = FoundPlace(hit.buffer.name, hit.line.stream, hit.line.line)
        return lambda: LineMeant(hit.buffer, viewer_line(store, hit.buffer, place))

    def _tell_place(self, meant: LineMeant) -> None:
        self._screen.post_message(meant)

    def searched(self, message: ContentsSearched) -> None:
        """Show what was found since; what an earlier search reports is dropped."""
        if message.turn != self._turn or not self.is_open:
            return
        if message.progress is not None:
            self._take(message.progress)
        if message.ended is None:
            self._tell(f"searching… {self._searched:,}")
            return
        self._cancel = None
        if not self._found:
            self._lines.say(message.ended or "No output holds that")
        self._tell(message.ended)

    def _take(self, progress: SearchProgress) -> None:
        self._searched = progress.searched
        if progress.buffer is not None:
            self._lines.add(progress.buffer, progress.lines)
            self._found += len(progress.lines)
            self._buffers += 1
            self._lacks = self._lacks or may_lack(progress.lines)

    def _begin(self) -> None:
        self.end()
        self._found = self._buffers = self._searched = 0
        self._lacks = False
        self._lines.begin("Searching…")
        self._tell("searching…")
        cancel, turn, pattern, project = Cancel(), self._turn, self.pattern, self._project
        self._cancel = cancel
        self._screen.run_worker(lambda: self._search(pattern, project, cancel, turn), thread=True, name="contents")

    def end(self) -> None:
        """Give up the running search."""
        self._turn += 1
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._cancel is not None:
            self._cancel.cancel()
            self._cancel = None

    def _search(self, pattern: str, project: Project | None, cancel: Cancel, turn: int) -> None:
        """Search, in a thread of its own."""

        def tell(progress: SearchProgress | None, ended: str | None = None) -> None:
            self._screen.post_message(ContentsSearched(turn, progress, ended))

        try:
            whole = search_contents(self._store, pattern, tell, cancel=cancel, project=project)
        except Cancelled:
            return
        except SightlineError as error:
            tell(None, f"{error.message}: {error.hint}" if error.hint else error.message)
        except STORE_ERRORS as error:
            tell(None, f"the store cannot be read: {error}")
        else:
            tell(None, "" if whole else f"the first {LINES:,}; type more to find fewer")

    def _tell(self, how: str) -> None:
        lines = ("at least " if self._lacks else "") + counted(self._found, "line")
        found = f"{lines} in {counted(self._buffers, 'buffer')}" if self.pattern else ""
        scope = title(self._project.name) if self._project else ""
        outcome = " · ".join(part for part in (scope, how, found) if part)
        self._screen.query_one(ListTitle).searched(self.pattern, outcome)
