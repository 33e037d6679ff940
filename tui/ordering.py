"""In which orders the list can stand, and by what its rows can be grouped. Pure functions of entries."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from sightline.tui.catalog import Entry

RECENT = "recent"

_SORTS: dict[str, Callable[[Entry], Any]] = {
    RECENT: lambda entry: -entry.used,
    "size": lambda entry: -entry.bytes,
    "lines": lambda entry: -entry.lines,
    "duration": lambda entry: -entry.seconds,
    "exit": lambda entry: -entry.exit,
    "command": lambda entry: entry.title,
}
SORTS = tuple(_SORTS)
"""Largest, longest and worst first; commands from A to Z."""

_GROUPS: dict[str, Callable[[Entry], str]] = {
    "session": lambda entry: entry.session,
    "kind": lambda entry: entry.name.partition("_")[0],
    "command": lambda entry: entry.command,
}
GROUPS = ("", *_GROUPS)
"""The empty one is no grouping."""


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
        group: what the group is of, one of ``GROUPS``.
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
        return f"{self.group} {self.key}"


Row = Entry | Heading


def following(choices: Sequence[str], choice: str) -> str:
    """The choice after this one, and after the last the first."""
    return choices[(choices.index(choice) + 1) % len(choices)]


def in_order(entries: Sequence[Entry], order: Order) -> Sequence[Entry]:
    """Entries, which come most recently used first, in another order; ties stay as they are."""
    if order.sort == RECENT:
        return entries[::-1] if order.turned else entries
    return sorted(entries, key=_SORTS[order.sort], reverse=order.turned)


def grouped(entries: Iterable[Entry], group: str, folded: frozenset[str]) -> list[Row]:
    """Entries under headings, groups in the order of their first entries.

    Args:
        entries: in order.
        group: one of ``GROUPS`` but for the empty one.
        folded: names of the headings whose entries are left out.
    """
    groups = dict[str, list[Entry]]()
    key_of = _GROUPS[group]
    for entry in entries:
        groups.setdefault(key_of(entry), []).append(entry)
    rows = list[Row]()
    for key, members in groups.items():
        heading = Heading(group, key, len(members), f"{group} {key}" in folded, members[0].name)
        rows.append(heading)
        if not heading.folded:
            rows += members
    return rows
