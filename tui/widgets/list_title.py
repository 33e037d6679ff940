"""The row above the list: names of its columns, or what the filter has found."""

from sightline.tui.safe import title
from sightline.tui.strips import Part
from sightline.tui.widgets.bar import Bar
from sightline.tui.widgets.buffer_row import heading
from sightline.tui.wording import counted


class ListTitle(Bar):
    """A heading that gives way to the filter's outcome."""

    def __init__(self) -> None:
        super().__init__(id="list-title")
        self._query = ""
        self._found: int | None = None

    def on_resize(self) -> None:
        """Columns have moved."""
        self._tell()

    def filtered(self, query: str, found: int | None) -> None:
        """Say what a filter found; without one, None, it is the heading again."""
        self._query, self._found = query, found
        self._tell()

    def _tell(self) -> None:
        if self._found is None:
            # The scrollbar's column is the list's, not the heading's.
            self.say((heading(self.size.width - 1), ()))
            return
        clear = [Part("esc", "key"), Part(" clears ", "dim")]
        self.say(
            (
                [
                    Part(" / ", "accent"),
                    Part(title(self._query)),
                    Part(f"  {counted(self._found, 'match')}".replace("matchs", "matches"), "dim"),
                ],
                clear,
            )
        )
