"""Shows the files of a session as they were at one of its calls, as far as its calls show that."""

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from sightline.audit.file_trail import KnownFile
from sightline.log.call_names import left_out_of_path
from sightline_tui.common.bar import Bar
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.phrases import counted
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.store_screen import StoreScreen
from sightline_tui.common.strips import ELLIPSIS, StripPart
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import title
from sightline_tui.timeline.edit_parts import doubt_words, known_words, text_rows
from sightline_tui.timeline.part_rows import PartRows
from sightline_tui.timeline.replay_reader import ReplayReader, ReplayStep

_NAME_CELLS = 40  # of a path in the list; the end of a longer one tells it from others


class FilesScreen(StoreScreen[None]):
    """The files that calls up to a step had read or changed, the last one first, and the lines of one of them."""

    CSS_PATH = "files.tcss"
    AUTO_FOCUS = "#files"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "files",
        [
            Binding("tab,shift+tab", "app.focus_next", "Other pane", key_display="Tab"),
            Binding("escape,q,f", "dismiss", "Back", key_display="Esc"),
        ],
    )

    def __init__(self, replaying: ReplayReader, step: ReplayStep) -> None:
        """Make the screen.

        Args:
            replaying: reads the session.
            step: the step.
        """
        super().__init__()
        self._replaying = replaying
        self._step = step
        self._files: Sequence[KnownFile] | None = None
        self._shown = ""
        self._reads: StoreRead[Sequence[KnownFile]] = StoreRead(self, self._plan, self._take)

    def compose(self) -> ComposeResult:
        """Lay out the head, the files, and below them the lines of the one under the cursor."""
        load_style(self.app, "common/row_view")
        yield Bar(id="files-head")
        yield PartRows(id="files")
        yield Bar(id="file-title")
        yield PartRows(id="file-lines")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the files."""
        self.tell()
        self.read()

    def _plan(self) -> Callable[[], Sequence[KnownFile]]:
        return lambda: self._replaying.files(self._step.at)

    def _take(self, files: Sequence[KnownFile]) -> None:
        self._files = files
        rows = [_file_row(file) for file in files]
        self.query_one("#files", PartRows).show(rows, keeps=True)
        self.tell()

    def on_part_rows_moved(self) -> None:
        """Show the file under the cursor."""
        self.tell()

    def tell(self) -> None:
        """Say whose files these are and at which step, and show the one under the cursor."""
        step = self._step
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(step.call.view.time))
        left = [StripPart(" ◉ ", "accent"), StripPart("Files then", "strong"), StripPart(f"  {title(step.called)}")]
        right = [StripPart(f"{when}   ", "dim"), StripPart(f"step {step.at + 1:,}", "strong")]
        right.append(StripPart(f" of {step.steps:,} ", "dim"))
        self.query_one("#files-head", Bar).say((left, right))
        file = self._files[self.query_one("#files", PartRows).cursor] if self._files else None
        if file is None:
            words = " reading…" if self._files is None else " No call up to here had read or changed a file"
            self.query_one("#file-title", Bar).say(([StripPart(words, "dim")], ()))
            return
        sure = StripPart(" From this session's own calls; what others changed is not known", "dim")
        known = [StripPart(f" {known_words(file)}", "dim"), StripPart(f"  {doubt_words(file)}", "interrupted")]
        path = StripPart(f" {title(file.name)}", "strong")
        self.query_one("#file-title", Bar).say(([path], ()), (known, ()), ([sure], ()))
        if file.path != self._shown:
            self._shown = file.path
            self.query_one("#file-lines", PartRows).show(list(text_rows(file)))


def _file_row(file: KnownFile) -> Sequence[StripPart]:
    """Return the row of a file: its path, how much of it is known, and what may have changed it since."""
    doubt = [StripPart(f"  {counted(file.doubts, 'command')} since", "interrupted")] if file.doubts else []
    style, name = "dim" if file.state.why_not else "", title(file.name)
    start = left_out_of_path(name, _NAME_CELLS)
    name = ELLIPSIS * bool(start) + name[start:]
    return [StripPart(f" {name}", "strong"), StripPart(f"  {known_words(file)}", style), *doubt]
