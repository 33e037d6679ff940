"""The top row: the verdict, what runs, what is looked at, and last how much is held."""

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

from sightline.shape.summary import human_bytes
from sightline.store import Reading
from sightline_tui.common.bar import Bar
from sightline_tui.common.messages import StoreCounted
from sightline_tui.common.phrases import MARKS, counted
from sightline_tui.common.strips import StripPart, width_of
from sightline_tui.common.visible_text import title

if TYPE_CHECKING:  # loaded by the thread that reads
    from sightline.audit.verdict import Verdict

_NEARLY = 0.95  # a share of a limit
_DOT = StripPart("  ·  ", "dim")


class Header(Bar):
    """The top row. What matters most stands first, so that a narrow screen leaves out what matters least."""

    def __init__(self, store: Reading, scope: str) -> None:
        super().__init__(id="header")
        self._store = store
        self._scope = scope
        self._polling = self._live = False
        self._counts: StoreCounted | None = None
        self._verdict: Verdict | None = None

    def on_mount(self) -> None:
        """Begin with what is shown; counts follow once they are known."""
        self._tell()

    def count(self, counts: StoreCounted) -> None:
        """Show other counts."""
        self._counts = counts
        self._tell()

    def judge(self, verdict: "Verdict") -> None:
        """Show what is known of failures now."""
        self._verdict = verdict
        self._tell()

    def show_scope(self, scope: str) -> None:
        """Name another project, or all; the failures known so far are of the one before, so they are cleared."""
        self._scope, self._verdict = scope, None
        self._tell()

    def show_live(self, live: bool) -> None:
        """Say whether the list follows the newest output."""
        self._live = live
        self._tell()

    def polling(self) -> None:
        """Say from now on that the store is polled for changes."""
        self._polling = True
        self._tell()

    def tell_place(self) -> None:
        """Update how long ago each host last shipped, if a shared place is read."""
        if self._store.place:
            self._tell()

    def on_resize(self) -> None:
        """Show as many facts as there is room for now."""
        self._tell()

    def _tell(self) -> None:
        facts = (
            *self._judged(),
            self._captures(),
            self._scoped(),
            self._polls(),
            *self._held(),
        )
        self.say((whole_facts([parts for parts in facts if parts], self.size.width or inf), ()))

    def _judged(self) -> list[list[StripPart]]:
        if self._verdict is None:
            return [[StripPart("Sightline", "strong")]]
        return [[part] for part in verdict_parts(self._verdict)]

    def _captures(self) -> list[StripPart]:
        running = self._counts.running if self._counts else 0
        return [StripPart(f"{MARKS['running']} {running:,} running", "running")] if running else []

    def _scoped(self) -> list[StripPart]:
        live = [StripPart("  live", "running")] if self._live else []
        return [StripPart(title(self._scope), "strong"), *live]

    def _polls(self) -> list[StripPart]:
        if self._store.place:
            return []  # a shared place is always polled
        return [StripPart("polling", "failed")] if self._polling else []

    def _held(self) -> list[list[StripPart]]:
        if place := self._store.place:
            return [[StripPart(f"{place.words} ", "failed" if place.trouble else "")]]
        counts, settings = self._counts, self._store.settings
        if counts is None:
            return []
        return [
            [
                StripPart(
                    f"{counts.buffers:,} of {counted(settings.max_buffers, 'buffer')}",
                    _warning(counts.buffers, settings.max_buffers),
                )
            ],
            [
                StripPart(
                    f"{human_bytes(counts.held)} of {human_bytes(settings.max_bytes)} ",
                    _warning(counts.held, settings.max_bytes),
                )
            ],
        ]


def whole_facts(facts: Sequence[Sequence[StripPart]], width: float) -> list[StripPart]:
    """Return the first facts, as many as are whole in so many cells; the first is there in any case."""
    told = [StripPart(" ◉ ", "accent"), *facts[0]]
    for parts in facts[1:]:
        more = [*told, _DOT, *parts]
        if width_of(more) > width:
            break
        told = more
    return told


def verdict_parts(verdict: "Verdict") -> list[StripPart]:
    """The verdict, a fact a part; it says also that the search goes on."""
    if verdict.has_findings:
        so_far = [] if verdict.is_done else [StripPart(f"so far, {verdict.progress:.0%} judged", "dim")]
        return [StripPart(f"{'' if at else '! '}{words}", "failed") for at, words in enumerate(verdict.facts)] + so_far
    if not verdict.is_done:
        return [StripPart(f"looking for failures… {verdict.progress:.0%}", "dim")]
    return [
        StripPart(verdict.mark + verdict.words, "ok" if verdict.is_good else "dim"),
        *(StripPart(words, "dim") for words in verdict.left_out),
    ]


def headline(verdict: "Verdict") -> StripPart:
    """The gravest fact alone."""
    if verdict.has_findings:
        return StripPart(verdict.headline, "failed")
    return verdict_parts(verdict)[0]


def _warning(held: int, most: int) -> str:
    """The style of a count that is near its limit: the least recently used will go soon."""
    return "interrupted" if held >= most * _NEARLY else ""
