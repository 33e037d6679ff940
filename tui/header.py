"""The top row: what the store holds, against its limits, and what runs."""

from sightline.config import Settings
from sightline.shape.summary import human_bytes
from sightline.tui.common.bar import Bar
from sightline.tui.common.messages import StoreCounted
from sightline.tui.common.strips import Part
from sightline.tui.common.wording import MARKS, counted

_NEARLY = 0.95  # of a limit


class Header(Bar):
    """Name at the left, counts at the right."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(id="header")
        self._settings = settings
        self._polling = False
        self._counts: StoreCounted | None = None

    def on_mount(self) -> None:
        """Say whose window it is; of what is not counted yet nothing."""
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
        name, counts = [Part(" ◉ ", "accent"), Part("Sightline", "strong")], self._counts
        if counts is None:
            self.say((name, ()))
            return
        running = [Part(f"{MARKS['running']} {counts.running:,} running", "running"), Part("  ·  ", "dim")]
        settings = self._settings
        held = Part(
            f"{human_bytes(counts.held)} of {human_bytes(settings.max_bytes)} ",
            _warning(counts.held, settings.max_bytes),
        )
        buffers = Part(
            f"{counts.buffers:,} of {counted(settings.max_buffers, 'buffer')}",
            _warning(counts.buffers, settings.max_buffers),
        )
        right = [
            *([Part("polling", "failed"), Part("  ·  ", "dim")] if self._polling else []),
            *(running if counts.running else []),
            buffers,
            Part("  ·  ", "dim"),
            held,
        ]
        self.say((name, right))


def _warning(held: int, most: int) -> str:
    """The style of a count that is near its limit: the least recently used will go soon."""
    return "interrupted" if held >= most * _NEARLY else ""
