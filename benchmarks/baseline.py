"""What was measured before: ratios and memory, which hold on other machines too.

A time by itself does not, so it is compared as a multiple of what ``python -c pass`` takes in the same run.
"""

import json
import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.measure import Row

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "baseline.json")
TOLERANCE = 1.2
TOLERANCE_OF_TIMES, _TOLERATED_DIFFERENCE = 1.5, 0.02
"""How much worse a time may be, which depends on the disk and the processor in other ways than its floor does. Of the
times, some are what one run took more than another: they are tolerated this much of the floor besides."""
_TOLERATED_SHARE = 0.002
"""How much more of a core a process at rest may use: six ticks of the kernel's clock in the 30 s that are measured."""
_TIME = re.compile(r"[,:] (s|ms|ns)\b")
_IN_A_SECOND = {"s": 1, "ms": 1_000, "ns": 1_000_000_000}
_PEERS = ("bare server:", "official SDK:", "FastMCP:")
_ONCE = re.compile(r"[:,] worst, ms$")
"""Of what took longest once, the next run says nothing."""


class Regression(NamedTuple):
    """A row that is worse than it was."""

    what: str
    before: float
    now: float


def compared(rows: Iterable[Row], floor: float) -> dict[str, float]:
    """The rows that are compared, less of each being better; not what others' programs take, or what took longest.

    Args:
        rows: what was measured.
        floor: seconds that ``python -c pass`` took in the same run.
    """
    return {row.what: _ratio(row, floor) for row in rows if not (row.what.startswith(_PEERS) or _ONCE.search(row.what))}


def _ratio(row: Row, floor: float) -> float:
    if unit := _TIME.search(row.what):
        return round(row.ratio / _IN_A_SECOND[unit[1]] / floor, 9)
    return round(row.ratio, 3)


def regressions(before: dict[str, float], rows: Iterable[Row], floor: float) -> list[Regression]:
    """Rows that are worse than before by more than is tolerated; a new row cannot be."""
    now = compared(rows, floor)
    return [
        Regression(what, before[what], ratio)
        for what, ratio in now.items()
        if what in before and ratio > _most(what, before[what])
    ]


def _most(what: str, before: float) -> float:
    if what.endswith(": share of a core"):
        return before + _TOLERATED_SHARE
    unit = _TIME.search(what)
    if unit is None:
        return before * TOLERANCE
    return before * TOLERANCE_OF_TIMES + (_TOLERATED_DIFFERENCE if unit[1] != "ns" else 0.0)


def load() -> dict[str, dict[str, float]]:
    """Rows by benchmark; none where nothing was saved yet."""
    try:
        with open(PATH) as file:
            saved: dict[str, dict[str, float]] = json.load(file)["benchmarks"]
            return saved
    except FileNotFoundError:
        return {}


def save(machine: str, found: dict[str, list[Row]], floors: dict[str, float]) -> None:
    """Replace what was saved of these benchmarks; `floors` has the seconds of ``python -c pass`` beside each."""
    saved = {**load(), **{name: compared(rows, floors[name]) for name, rows in found.items()}}
    with open(PATH, "w") as file:
        json.dump({"machine": machine, "benchmarks": dict(sorted(saved.items()))}, file, indent=1)
        file.write("\n")
