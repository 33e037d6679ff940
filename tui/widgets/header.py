"""The top row: what the store holds, against its limits, and what runs."""

from sightline.store.config import Settings
from sightline.store.shape.summary import human_bytes
from sightline.tui.messages import StoreCounted
from sightline.tui.strips import Part
from sightline.tui.widgets.bar import Bar
from sightline.tui.wording import MARKS, counted


class Header(Bar):
    """Name at the left, counts at the right."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(id="header")
        self._settings = settings
        self._polling = False
        self._counts = StoreCounted(0, 0, 0)

    def on_mount(self) -> None:
        """Say what is known before the first count."""
        self._tell()

    def count(self, counts: StoreCounted) -> None:
        """Show other counts."""
        self._counts = counts
        self._tell()

    def polling(self) -> None:
        """Say from now on that changes are looked for and not watched."""
        self._polling = True
        self._tell()

    def _tell(self) -> None:
        counts = self._counts
        running = [Part(f"{MARKS['running']} {counts.running:,} running", "running"), Part("  ·  ", "dim")]
        held = f"{human_bytes(counts.held)} of {human_bytes(self._settings.max_bytes)} "
        right = [
            *([Part("polling", "failed"), Part("  ·  ", "dim")] if self._polling else []),
            *(running if counts.running else []),
            Part(counted(counts.buffers, "buffer")),
            Part("  ·  ", "dim"),
            Part(held),
        ]
        self.say(([Part(" ◉ ", "accent"), Part("Sightline", "strong")], right))
