"""In which orders the list can stand, and by what its rows can be grouped. Pure functions of entries."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from sightline.named_tuple import NamedTuple
from sightline.tui.buffers.columns import Columns, Entries

RECENT = "recent"
SEEN = "seen"

_SORTS: dict[str, Callable[[Columns], Callable[[int], Any]]] = {
    RECENT: lambda columns: lambda place: -columns.used[place],
    "size": lambda columns: lambda place: -columns.bytes[place],
    "lines": lambda columns: lambda place: -columns.lines[place],
    "duration": lambda columns: lambda place: -columns.seconds[place],
    "exit": lambda columns: lambda place: -columns.exit[place],
    "command": lambda columns: columns.titles.__getitem__,
}
SORTS = (RECENT, SEEN, *(sort for sort in _SORTS if sort != RECENT))
"""Least seen, largest, longest and worst first; commands from A to Z."""

_GROUPS: dict[str, Callable[[Columns], Callable[[int], str]]] = {
    "session": lambda columns: columns.session,
    "kind": lambda columns: lambda place: columns.name(place).partition("_")[0],
    "command": lambda columns: columns.command,
}
GROUPS = ("", *_GROUPS)
"""The empty one is no grouping."""

BURST = "burst"
"""What is left out of many outputs of one session in a row, see `bursts`."""


class Order(NamedTuple):
    """How the list is ordered.

    Attributes:
        sort: one of ``SORTS``.
        turned: whether it stands the other way round.
        group: one of ``GROUPS``.
    """

    sort: str = RECENT
    turned: bool = False
    group: str = ""

    @property
    def is_usual(self) -> bool:
        """Whether it is the order that the store gives."""
        return self == Order()


class Heading(NamedTuple):
    """A row above a group.

    Attributes:
        group: what the group is of, one of ``GROUPS`` or ``BURST``.
        key: what its buffers have in common.
        size: how many they are.
        folded: whether they are left out of the rows.
        first: name of the first of them.
    """

    group: str
    key: str
    size: int
    folded: bool
    first: str

    @property
    def name(self) -> str:
        """What tells it from all other rows; no buffer's name has a space."""
        return f"{self.group} {self.key}" + (f" {self.first}" if self.group == BURST else "")


Row = int | Heading
"""A buffer's place in the columns, or what stands above a group."""


def following(choices: Sequence[str], choice: str) -> str:
    """The choice after this one, and after the last the first."""
    return choices[(choices.index(choice) + 1) % len(choices)]


def in_order(entries: Entries, order: Order, seen: Mapping[str, float]) -> Entries:
    """Entries, which come most recently used first, in another order; ties stay as they are.

    Args:
        entries: of all buffers.
        order: the order.
        seen: lines that were seen of each buffer, by name.
    """
    if order.sort == RECENT:
        return entries[::-1] if order.turned else entries
    key = _share_of(entries, seen) if order.sort == SEEN else _SORTS[order.sort](entries.columns)
    return Entries(entries.columns, array("I", sorted(entries.places, key=key, reverse=order.turned)))


def _share_of(entries: Entries, seen: Mapping[str, float]) -> Callable[[int], float]:
    """By place, what share of a buffer's lines was seen; all of one that has none."""
    lines = entries.columns.lines
    shares = {
        place: min(seen.get(entries.columns.name(place), 0) / lines[place], 1.0) if lines[place] else 1.0
        for place in entries.places
    }
    return shares.__getitem__


def with_parts(entries: Entries, wholes: Mapping[str, str]) -> Entries:
    """Entries, a part of an output always below the whole: where the upper one of both stands.

    Args:
        entries: in order.
        wholes: by name of a part, the name of what it belongs to.
    """
    rows = entries.columns.rows_of({*wholes, *wholes.values()}, entries.places) if wholes else {}
    pairs = [(rows[whole], rows[part]) for part, whole in wholes.items() if part in rows and whole in rows]
    moved = {min(pair): pair for pair in pairs if pair[1] != pair[0] + 1}
    if not moved:
        return entries
    left_out = {row for pair in moved.values() for row in pair}
    places = array("I")
    for row, place in enumerate(entries.places):
        if pair := moved.get(row):
            places.extend(entries.places[at] for at in pair)
        elif row not in left_out:
            places.append(place)
    return Entries(entries.columns, places)


def grouped(entries: Entries, group: str, folded: frozenset[str]) -> list[Row]:
    """Entries under headings, groups in the order of their first entries.

    Args:
        entries: in order.
        group: one of ``GROUPS`` but for the empty one.
        folded: names of the headings whose entries are left out.
    """
    groups = dict[str, list[int]]()
    key_of = _GROUPS[group](entries.columns)
    for place in entries.places:
        groups.setdefault(key_of(place), []).append(place)
    rows = list[Row]()
    for key, members in groups.items():
        first = entries.columns.name(members[0])
        heading = Heading(group, key, len(members), f"{group} {key}" in folded, first)
        rows.append(heading)
        if not heading.folded:
            rows += members
    return rows


BURST_SHOWN = 5
"""Of outputs of one session that follow each other, as many of the newest are shown while the list is live."""


def bursts(entries: Entries) -> list[Row]:
    """Entries in order; of many that one session made in a row, the newest, and a heading for those below them."""
    rows, columns = list[Row](), entries.columns
    runs = [(session, list(run)) for session, run in groupby(entries.places, key=columns.session)]
    for session, places in runs:
        left_out = places[BURST_SHOWN:]
        if len(left_out) < 2 or len(runs) == 1:  # there is nobody else to make room for
            rows += places
            continue
        rows += places[:BURST_SHOWN]
        rows.append(Heading(BURST, session, len(left_out), True, columns.name(left_out[0])))
    return rows
