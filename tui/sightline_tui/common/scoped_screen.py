"""A screen about one project, or all: it keeps to the scope of the main screen, names it, and follows its changes."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ScreenResultType

from sightline.base.project import Project
from sightline_tui.common.keys import named
from sightline_tui.common.store_screen import StoreScreen
from sightline_tui.common.strips import StripPart
from sightline_tui.common.visible_text import title


class ScopedScreen(StoreScreen[ScreenResultType]):
    """Shows what belongs to a project.

    Attributes:
        opened_by: the action of the main screen that opens it again; empty where a step back leads elsewhere.
    """

    opened_by: ClassVar[str] = ""

    BINDINGS: ClassVar[list[BindingType]] = named(
        "scope",
        [Binding("asterisk", "app.switch_scope", "All projects, or the one before", key_display="*", show=False)],
    )

    def __init__(self, project: Project | None) -> None:
        """Make the screen; of one project, or of all."""
        super().__init__()
        self._project = project

    def show_project(self, project: Project | None) -> None:
        """Show what belongs to another project, or to all."""
        if project != self._project:
            self._project = project
            self.tell()
            self.read()

    def head(self, name: str) -> list[StripPart]:
        """The first words of the screen's head: its name and its scope."""
        scope = title(self._project.name) if self._project else "all projects"
        return [StripPart(" ◉ ", "accent"), StripPart(name, "strong"), StripPart(f"  {scope}", "strong")]
