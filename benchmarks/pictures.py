"""``python -m benchmarks.pictures``: draws the pictures in ``plots/`` from what `load` has measured and saved there."""

import json
import os
from typing import NamedTuple

from benchmarks.load_kinds import KINDS, Measured
from benchmarks.loglog import Axis, Line, chart, in_bytes, in_seconds
from benchmarks.measure import Ran

PLOTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plots")
MEASURED = os.path.join(PLOTS, "measured.json")
_TIME = Axis("time", in_seconds)
_MEMORY = Axis("memory", in_bytes)


class Picture(NamedTuple):
    """One of them.

    Attributes:
        file: its name.
        title: what stands above it.
        kind: of `KINDS`.
        lines: what was done.
        memory: whether it shows memory instead of time.
    """

    file: str
    title: str
    kind: str
    lines: tuple[str, ...]
    memory: bool = False


PICTURES = (
    Picture(
        "answers",
        "What one waits for, by the number of buffers",
        "buffers",
        (
            "first screen",
            "list --match",
            "capture of true",
            "list",
            "gc, nothing to do",
            "gc of 10",
            "list, in a server",
            "read a buffer, in a server",
        ),
    ),
    Picture(
        "whole",
        "What looks at every buffer, by their number",
        "buffers",
        (
            "doctor, the index gone",
            "doctor",
            "filter: all titles read",
            "filter: a letter, all it finds",
            "filter: a letter, the first it finds",
        ),
    ),
    Picture(
        "bytes",
        "One buffer, by its size",
        "bytes",
        (
            "capture it",
            "doctor",
            "query grep -c",
            "first screen at its middle",
            "first screen at its end",
            "coverage",
            "read its middle, in a server",
            "read its end, in a server",
        ),
    ),
    Picture(
        "views",
        "One buffer of 100 MB, by the number of its views",
        "views",
        (
            "first screen of the buffer",
            "coverage",
            "views",
            "what was seen, for the list",
            "read a page, in a server",
            "log one more",
        ),
    ),
    Picture(
        "store",
        "A store of a hundred buffers, by its size",
        "store",
        ("doctor", "list", "capture of true", "gc of 10"),
    ),
    Picture(
        "memory",
        "Memory, by the number of buffers",
        "buffers",
        ("doctor, the index gone", "filter: all titles read", "first screen", "doctor", "list", "gc, nothing to do"),
        memory=True,
    ),
)


def save(measured: Measured, machine: str) -> None:
    """Keep what was measured, and on what."""
    with open(MEASURED, "w") as file:
        json.dump({"machine": machine, "measured": measured}, file, indent=1)
        file.write("\n")


def load() -> Measured:
    """What was measured last."""
    with open(MEASURED) as file:
        found = json.load(file)["measured"]
    return {
        kind: {int(size): {what: Ran(*ran) for what, ran in done.items()} for size, done in by_size.items()}
        for kind, by_size in found.items()
    }


def draw(measured: Measured) -> None:
    """Write all of them."""
    for picture in PICTURES:
        lines = [Line(what, _points(picture, what, measured)) for what in picture.lines]
        kind = KINDS[picture.kind]
        drawn = chart(picture.title, Axis(kind.size, kind.told), _MEMORY if picture.memory else _TIME, lines)
        with open(os.path.join(PLOTS, picture.file + ".svg"), "w") as file:
            file.write(drawn)


def _points(picture: Picture, what: str, measured: Measured) -> list[tuple[float, float]]:
    found = [(size, done[what]) for size, done in sorted(measured[picture.kind].items())]
    return [(size, ran.peak_bytes if picture.memory else ran.seconds) for size, ran in found]


if __name__ == "__main__":
    draw(load())
