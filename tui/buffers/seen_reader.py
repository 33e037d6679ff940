"""How much of the buffers in the list was seen, and in which a failure was overlooked; read behind the screen."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sightline.named_tuple import NamedTuple
from sightline.records import Buffer
from sightline.store import Reading
from sightline.tui.common import late

if TYPE_CHECKING:  # loaded by the first read, which the first screen does not wait for
    from sightline.audit.coverage_list import CoverageList

STEP_SECONDS = 0.05
"""How long failures are looked for before what was found is drawn."""

_PAUSE_SECONDS = 0.001  # between two buffers, in which the UI's thread comes to its turn


class Seen(NamedTuple):
    """What is known of one buffer.

    Attributes:
        share: seen of its lines, 0 to 1.
        overlooked: whether it tells of a failure that none of its views shows; None while that is not known.
        at_most: whether no more than this share was seen, and perhaps less.
        fails: of what went into a command's filters, whether it tells of any failure; None while that is not known.
    """

    share: float
    overlooked: bool | None = None
    at_most: bool = False
    fails: bool | None = None


class Answer(NamedTuple):
    """What has been read.

    Attributes:
        seen: of the buffers that were asked for, by name.
        lines: how many lines were seen of every buffer, by name; None where no order goes by it, or nothing changed.
        done: whether there is nothing left to find out about these buffers.
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

    def read(self, buffers: Sequence[Buffer], *, everything: bool) -> Answer:
        """Shares of some buffers, and for a moment what was overlooked in them. Raises as the store does.

        Args:
            buffers: the records of those that are on the screen.
            everything: whether an order goes by how much was seen, so that it is wanted of all.
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
            # Of what runs nobody can have overlooked anything before he was shown something.
            known = coverage.overlooked_if_known(buffer) if share.views or buffer.state != "running" else ()
            if known is None and time.monotonic() < ends:
                known = coverage.overlooked(buffer)
                time.sleep(_PAUSE_SECONDS)
            elif known is None:
                done = False
            fails = coverage.fails(buffer) if known is not None and buffer.origin and buffer.kind == "cmd" else None
            seen[buffer.name] = Seen(share.share, None if known is None else bool(known), share.at_most, fails)
        return Answer(seen, lines, done)


def percent(share: float, *, at_most: bool = False) -> str:
    """A share in at most four characters: ``3%``, ``<1%``, ``99%``; nothing and all only where that is so.

    One that may be less is ``≤34%``, and close to all ``<all``.
    """
    if 0 < share < 0.01:
        return "<1%"
    if at_most and share:
        up = math.ceil(round(share * 100, 6))
        return f"≤{up}%" if up < 100 else "<all" if share < 1 else "≤all"
    return f"{min(round(share * 100), 99 if share < 1 else 100)}%"
