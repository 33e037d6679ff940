"""The rows above a comparison: what is compared with what, what is ignored, and how much differs."""

from collections.abc import Callable
from typing import NamedTuple

from sightline.search.diff.engines import Ignore
from sightline.search.diff.hunks import Hunks
from sightline.store import Target
from sightline.tui.common.bar import Bar
from sightline.tui.common.safe import title
from sightline.tui.common.strips import Part
from sightline.tui.common.wording import age, counted, ending, facts, state_of

_FACTS = 3  # of a buffer: how it ended, lines, bytes


class Told(NamedTuple):
    """What the header tells.

    Attributes:
        ignore: what makes no difference.
        hunks: what was found, None while nothing has been.
        hunk: the hunk that the cursor is in or behind, from 1.
        capped: whether there are more hunks than these.
        doing: what goes on, with how far it is; empty when nothing does.
        searched: what is searched for, and what was found; empty for nothing.
    """

    ignore: Ignore = Ignore()
    hunks: Hunks | None = None
    hunk: int = 0
    capped: bool = False
    doing: str = ""
    searched: str = ""


class DiffHeader(Bar):
    """Three rows: the counts, the left side, the right side."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__(id="diff-header")
        self._clock = clock

    def tell(self, left: Target, right: Target, told: Told) -> None:
        """Say it."""
        ignored = [name for name, on in zip(("whitespace", "volatile tokens"), told.ignore, strict=True) if on]
        head = [Part(" ◉ ", "accent"), Part("Diff", "strong")]
        if ignored:
            head += [Part("  without ", "dim"), Part(" and ".join(ignored), "running")]
        if told.searched:
            head.append(Part(f"  {told.searched}", "accent"))
        self.say((head, _counts(told)), self._side("-", left), self._side("+", right))

    def _side(self, mark: str, target: Target) -> tuple[list[Part], list[Part]]:
        buffer, now = target.buffer, self._clock()
        style = "failed" if mark == "-" else "ok"
        left = [Part(f" {mark} ", style), Part(target.ref.removesuffix(".all"), "accent"), Part("  ")]
        left.append(Part(title(buffer.command), "strong"))
        told = [Part(ending(buffer), state_of(buffer))]
        told += [Part(f" · {fact}", "dim") for fact in facts(buffer, now)[1:_FACTS]]
        return left, [*told, Part(f" · {age(max(now - buffer.created, 0.0))} ", "dim")]


def _counts(told: Told) -> list[Part]:
    doing = [Part(f"{told.doing} ", "running")] if told.doing else []
    if told.hunks is None:
        return doing
    hunks = told.hunks
    if doing:
        doing.append(Part(" ·  ", "dim"))
    if not hunks:
        return [*doing, Part("no changes ")]
    return [
        *doing,
        Part(f"-{hunks.removed:,} ", "failed"),
        Part(f"+{hunks.added:,}", "ok"),
        Part("  ·  ", "dim"),
        Part(f"{told.hunk:,} of {counted(len(hunks), 'change')}" + (" or more " if told.capped else " ")),
    ]
