"""The list's sort orders and groupings; pure functions of entries."""

from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby
from typing import Any

from sightline.light.named_tuple import NamedTuple
from sightline_tui.buffers.packed_entries import Columns, Entries

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
    "project": lambda columns: columns.project,
    "kind": lambda columns: lambda place: columns.name(place).partition("_")[0],
    "command": lambda columns: columns.command,
}
GROUPS = ("", *_GROUPS)
"""The groupings; the empty one means none."""

BURST = "burst"
"""The group of outputs that are left out of a burst of one session, see `bursts`."""


class ListOrder(NamedTuple):
    """How the list is ordered.

    Attributes:
        sort: one of ``SORTS``.
        turned: whether the order is reversed.
        group: one of ``GROUPS``.
    """

    sort: str = RECENT
    turned: bool = False
    group: str = ""

    @property
    def is_usual(self) -> bool:
        """Whether it is the order that the store gives."""
        return self == ListOrder()


class Heading(NamedTuple):
    """A row above a group.

    Attributes:
        group: the kind of the group, one of ``GROUPS`` or ``BURST``.
        key: what its buffers have in common.
        size: how many there are.
        folded: whether they are left out of the rows.
        first: name of the first of them.
        failed: how many of them failed, as far as that is known.
    """

    group: str
    key: str
    size: int
    folded: bool
    first: str
    failed: int = 0

    @property
    def name(self) -> str:
        """The row's unique name, which has a space, as no buffer's name has."""
        return f"{self.group} {self.key}" + (f" {self.first}" if self.group == BURST else "")


Row = int | Heading
"""A buffer's place in the columns, or a group's heading."""


def following(choices: Sequence[str], choice: str) -> str:
    """The next choice; after the last comes the first."""
    return choices[(choices.index(choice) + 1) % len(choices)]


def in_order(entries: Entries, order: ListOrder, seen: Mapping[str, float]) -> Entries:
    """Entries, given most recently used first, in another order; ties keep their order.

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
    """By place, the share of a buffer's lines that was seen; 1 if it has no lines."""
    lines = entries.columns.lines
    shares = {
        place: min(seen.get(entries.columns.name(place), 0) / lines[place], 1.0) if lines[place] else 1.0
        for place in entries.places
    }
    return shares.__getitem__


def with_parts(entries: Entries, wholes: Mapping[str, str]) -> Entries:
    """Entries with each part of an output right below the whole, where the upper of the two was.

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


def grouped(entries: Entries, group: str, folded: frozenset[str], failed: Collection[str] = ()) -> list[Row]:
    """Entries under headings, groups in the order of their first entries.

    Args:
        entries: in order.
        group: one of ``GROUPS`` but for the empty one.
        folded: names of the headings whose entries are left out.
        failed: names of the buffers that failed.
    """
    columns = entries.columns
    bad = {entries.places[row] for row in columns.rows_of(failed, entries.places).values()} if failed else set[int]()
    groups = dict[str, list[int]]()
    key_of = _GROUPS[group](columns)
    for place in entries.places:
        groups.setdefault(key_of(place), []).append(place)
    rows = list[Row]()
    for key, members in groups.items():
        first, failures = columns.name(members[0]), len(bad.intersection(members))
        heading = Heading(group, key, len(members), f"{group} {key}" in folded, first, failures)
        rows.append(heading)
        if not heading.folded:
            rows += members
    return rows


BURST_SHOWN = 5
"""How many of the newest of one session's outputs in a row are shown while the list is live."""


def bursts(entries: Entries) -> list[Row]:
    """Entries in order; of many in a row of one session only the newest, with a heading for the others."""
    rows, columns = list[Row](), entries.columns
    runs = [(session, list(run)) for session, run in groupby(entries.places, key=columns.session)]
    for session, places in runs:
        left_out = places[BURST_SHOWN:]
        if len(left_out) < 2 or len(runs) == 1:  # a single session need not make room for others
            rows += places
            continue
        rows += places[:BURST_SHOWN]
        rows.append(Heading(BURST, session, len(left_out), True, columns.name(left_out[0])))
    return rows
