"""What was measured before: ratios and memory, which hold on other machines too; times by themselves do not."""

import json
import os
from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.measure import Row

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "baseline.json")
TOLERANCE = 1.2
_TIMES = (", ms", ", s")
_PEERS = ("bare server:", "official SDK:", "FastMCP:")


class Regression(NamedTuple):
    """A row that is worse than it was."""

    what: str
    before: float
    now: float


def compared(rows: Iterable[Row]) -> dict[str, float]:
    """The rows that are compared, less of each being better; what others' programs take is theirs."""
    ours = (row for row in rows if not row.what.startswith(_PEERS))
    return {row.what: round(row.ratio, 3) for row in ours if not row.what.endswith(_TIMES)}


def regressions(before: dict[str, float], rows: Iterable[Row]) -> list[Regression]:
    """Rows that are worse than before by more than a fifth; a new row cannot be."""
    now = compared(rows)
    return [
        Regression(what, before[what], ratio)
        for what, ratio in now.items()
        if what in before and ratio > before[what] * TOLERANCE
    ]


def load() -> dict[str, dict[str, float]]:
    """Rows by benchmark; none where nothing was saved yet."""
    try:
        with open(PATH) as file:
            saved: dict[str, dict[str, float]] = json.load(file)["benchmarks"]
            return saved
    except FileNotFoundError:
        return {}


def save(machine: str, found: dict[str, list[Row]]) -> None:
    """Replace what was saved of these benchmarks."""
    saved = {**load(), **{name: compared(rows) for name, rows in found.items()}}
    with open(PATH, "w") as file:
        json.dump({"machine": machine, "benchmarks": dict(sorted(saved.items()))}, file, indent=1)
        file.write("\n")
