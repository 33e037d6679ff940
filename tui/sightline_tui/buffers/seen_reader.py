"""Reads in a thread how much of each buffer in the list was seen, and whether a failure was overlooked."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sightline.named_tuple import NamedTuple
from sightline.records import Buffer
from sightline.store import Reading
from sightline_tui.common import late

if TYPE_CHECKING:  # loaded by the first read, for which the first screen does not wait
    from sightline.audit.coverage_list import CoverageList

STEP_SECONDS = 0.05
"""How long failures are looked for before what was found is drawn."""

_PAUSE_SECONDS = 0.001  # pause between two buffers, so that the UI's thread gets its turn


class Seen(NamedTuple):
    """What was seen of one buffer.

    Attributes:
        share: seen of its lines, 0 to 1.
        overlooked: whether it has a failure that none of its views shows; None while that is not known.
        at_most: whether the share is an upper bound.
        fails: for what went into a command's filters, whether it has a failure; None while that is not known.
    """

    share: float
    overlooked: bool | None = None
    at_most: bool = False
    fails: bool | None = None


class SeenFacts(NamedTuple):
    """What has been read.

    Attributes:
        seen: of the buffers that were asked for, by name.
        lines: how many lines were seen of every buffer, by name; None where no order goes by it, or nothing changed.
        done: whether everything about these buffers is known.
    """

    seen: Mapping[str, Seen]
    lines: Mapping[str, float] | None
    done: bool


class SeenReader:
    """Reads for a list. One thread at a time may use it."""

    def __init__(self, store: Reading) -> None:
        self._store = store
        self._coverage: CoverageList | None = None
        self._has_all = False

    def read(self, buffers: Sequence[Buffer], *, everything: bool) -> SeenFacts:
        """Shares of some buffers, and for a moment what was overlooked in them. Raises as the store does.

        Args:
            buffers: the records of those that are on the screen.
            everything: whether the order goes by how much was seen, so that all buffers are needed.
        """
        if self._coverage is None:
            self._coverage = late.CoverageList(self._store)
        coverage = self._coverage
        lines = None
        if not everything:
            coverage.refresh([buffer.name for buffer in buffers])
        elif coverage.refresh() or not self._has_all:
            lines = coverage.seen_lines()
        self._has_all = everything
        seen, done, ends = dict[str, Seen](), True, time.monotonic() + STEP_SECONDS
        for buffer in buffers:
            share = coverage.of(buffer)
            # While it runs, nothing counts as overlooked before somebody was shown some of it.
            if buffer.state == "running" and not share.views:
                missed: bool | None = False
            else:
                known = coverage.overlooked_if_known(buffer)
                if known is None and time.monotonic() < ends:
                    known = coverage.overlooked(buffer)
                    time.sleep(_PAUSE_SECONDS)
                elif known is None:
                    done = False
                missed = known.number > 0 if known is not None else None
            fails = coverage.fails(buffer) if missed is not None and buffer.origin and buffer.kind == "cmd" else None
            seen[buffer.name] = Seen(share.share, missed, share.at_most, fails)
        return SeenFacts(seen, lines, done)


def percent(share: float, *, at_most: bool = False) -> str:
    """A share in at most four characters: ``3%``, ``<1%``, ``99%``; 0 and 100 only if exactly that is so.

    An upper bound is ``≤34%``, or ``<all`` if it is close to all.
    """
    if 0 < share < 0.01:
        return "<1%"
    if at_most and share:
        up = math.ceil(round(share * 100, 6))
        return f"≤{up}%" if up < 100 else "<all" if share < 1 else "≤all"
    return f"{min(round(share * 100), 99 if share < 1 else 100)}%"
