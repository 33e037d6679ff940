"""A log–log chart as SVG: labelled decades, each line named at its end, readable on light and on dark backgrounds."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT = 930, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 290, 52, 54
_LABEL_HEIGHT = 17
_INK, _GRID = "#7d8590", "#7d859040"
_COLOURS = ("#388bfd", "#db6d28", "#2da44e", "#a371f7", "#e5534b", "#1b9aaa", "#bf8700", "#d1559f")
_STYLE = (
    "text{font:13px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}"
    ".t{font-size:15px;font-weight:600}.n{font-size:12px}.p{font-size:10px}"
)


class Line(NamedTuple):
    """What grew.

    Attributes:
        label: what it is.
        points: (size, value), both above 0.
    """

    label: str
    points: Sequence[tuple[float, float]]


class Axis(NamedTuple):
    """What an axis shows.

    Attributes:
        title: what it is.
        told: how a decade is labelled.
    """

    title: str
    told: Callable[[float], str]


class _Scale:
    """From values to places along one axis."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._low, self._high = math.floor(_log(min(values)) + 0.05), math.ceil(_log(max(values)) - 0.05)
        self._high = max(self._high, self._low + 1)
        self._start, self._step = start, (end - start) / (self._high - self._low)

    def __call__(self, value: float) -> float:
        return self._start + (_log(value) - self._low) * self._step

    def decades(self) -> list[float]:
        return [10.0**exponent for exponent in range(self._low, self._high + 1)]


def _log(value: float) -> float:
    return math.log10(value)


def plain(value: float) -> str:
    """A count as text."""
    return f"{value:,.0f}"


def in_bytes(value: float) -> str:
    """Bytes as text: ``10 MB``."""
    power = min(int(_log(value) + 1e-9) // 3, 4)
    return f"{value / 1000**power:g} {('B', 'kB', 'MB', 'GB', 'TB')[power]}"


def in_seconds(value: float) -> str:
    """Seconds as text: ``10 ms``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size * 0.999:
            return f"{value / size:,.0f} {unit}"
    return f"{value * 1e9:,.0f} ns"


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """How steep the last step is: 0 where the value stays as it is, 1 where it grows as the size does."""
    (before, low), (after, high) = points[-2:]
    return math.log(high / low) / math.log(after / before)


def chart(title: str, across: Axis, up: Axis, lines: Sequence[Line]) -> str:
    """The picture."""
    sizes = [size for line in lines for size, _ in line.points]
    values = [value for line in lines for _, value in line.points]
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    x, y = _Scale(sizes, _LEFT, right), _Scale(values, bottom, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" role="img" aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        _text(_LEFT, 20, title, "start", "t"),
        _text((_LEFT + right) / 2, _HEIGHT - 12, across.title, "middle", "n"),
        _text(_LEFT - 10, _TOP - 14, up.title, "end", "n"),
    ]
    for decade in x.decades():
        parts.append(_stroke(x(decade), _TOP, x(decade), bottom))
        parts.append(_text(x(decade), bottom + 20, across.told(decade), "middle"))
    for decade in y.decades():
        parts.append(_stroke(_LEFT, y(decade), right, y(decade)))
        parts.append(_text(_LEFT - 10, y(decade) + 4, up.told(decade), "end"))
    places = _apart([y(line.points[-1][1]) for line in lines])
    for line, place, colour in zip(lines, places, _COLOURS, strict=False):
        path = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in line.points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x(size):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"/>' for size, value in line.points
        ]
        end_x, end_y = x(line.points[-1][0]), y(line.points[-1][1])
        leader = f'x1="{end_x + 5:.1f}" y1="{end_y:.1f}" x2="{right + 16}" y2="{place:.1f}"'
        parts.append(f'<line {leader} stroke="{colour}" stroke-width="1" stroke-opacity="0.5"/>')
        parts.append(_text(right + 21, place + 4, line.label, "start", colour=colour, power=exponent(line.points)))
    return "\n".join([*parts, "</svg>\n"])


def _apart(places: Sequence[float]) -> list[float]:
    """The places of labels, moved as little as keeps them apart, none below the axis."""
    order = sorted(range(len(places)), key=lambda at: places[at])
    moved = list(places)
    for _ in range(200):
        for above, below in itertools.pairwise(order):
            lacking = _LABEL_HEIGHT - (moved[below] - moved[above])
            if lacking > 0:
                moved[above] -= lacking / 2
                moved[below] += lacking / 2
    over = max(max(moved) - (_HEIGHT - _BOTTOM), 0)
    return [place - over for place in moved]


def _stroke(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{_GRID}"/>'


def _text(
    x: float, y: float, text: str, anchor: str, style: str = "", *, colour: str = _INK, power: float | None = None
) -> str:
    named = f' class="{style}"' if style else ""
    grows = "" if power is None else f'<tspan dx="8" fill="{_INK}">n</tspan>{_raised(power)}'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{named}>{escape(text)}{grows}</text>'


def _raised(power: float) -> str:
    told = f"{power:.2f}".replace("-0.00", "0.00").replace("-", "−")
    return f'<tspan dy="-5" class="p" fill="{_INK}">{told}</tspan>'
