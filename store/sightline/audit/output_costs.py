"""Adds up what outputs cost as a part of later requests: by output, and by the kind of command that made them.

These are parts of the costs of requests, see `audit.cost`; what a model wrote is in none of them. What is worked out of
a session is kept in the index until its log or a price changes.
"""

from collections.abc import Sequence
from hashlib import sha256

from sightline.audit.output_prices import price_list, prices_by
from sightline.audit.prices import PriceList
from sightline.audit.project_scope import started_in
from sightline.base.price_row import KindSum, PriceRow
from sightline.base.project import Project
from sightline.base.records import Buffer
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.log.call_names import call_name, name_of_view
from sightline.log.log_index import fill_index
from sightline.store import Store

MOST_OUTPUTS = 20
"""The dearest outputs that are listed unless more are asked for."""

_RULES = 2  # raise it when rows would be worked out otherwise


class OutputCost(NamedTuple):
    """An output's cost, and what it was asked for, in a line; empty if that was removed."""

    row: PriceRow
    asked: str


class OutputCosts(NamedTuple):
    """What outputs cost.

    Attributes:
        dearest: the dearest outputs, in order.
        kinds: sums by kind of command, the dearest first.
        total: the sums of all.
        prices: the list that the money is by.
    """

    dearest: Sequence[OutputCost]
    kinds: Sequence[KindSum]
    total: KindSum
    prices: PriceList


def output_costs(
    store: Store,
    *,
    session: str | None = None,
    since: float = 0.0,
    project: Project | None = None,
    most: int = MOST_OUTPUTS,
) -> OutputCosts:
    """Return what the outputs of a scope cost.

    Args:
        store: the store.
        session: only the outputs that this session was shown.
        since: only outputs first shown since this time, in seconds since the epoch.
        project: only those that sessions begun in it were shown.
        most: number of the dearest outputs at most.
    """
    prices = price_list(store)
    names = [session] if session else None if project is None else sorted(started_in(store, project))
    keep_prices(store, names, prices)
    kinds = store.index.output_prices.by_kind(since=since, sessions=names)
    rows = store.index.output_prices.dearest(most, since=since, sessions=names)
    buffers = store.index.buffers([row.output for row in rows])
    dearest = [OutputCost(row, _asked(store, row, buffers.get(row.output))) for row in rows]
    sums = [sum(column) for column in zip(*(one[1:] for one in kinds), strict=True)] or [0] * (len(KindSum._fields) - 1)
    return OutputCosts(dearest, kinds, KindSum("", *sums), prices)


def _asked(store: Store, row: PriceRow, buffer: Buffer | None) -> str:
    if buffer is not None:
        return call_name(buffer)
    found = store.index.view(row.session, row.view)
    return name_of_view(found.view) if found else ""


def keep_prices(store: Store, sessions: Sequence[str] | None, prices: PriceList) -> None:
    """Work out what is not kept of some sessions, or of all, or was worked out from less."""
    fill_index(store)
    rows, sizes = store.index.output_prices, store.index.logs()
    known, priced = rows.made_from(), store.index.requests.sessions()
    ours = sha256(dumps([_RULES, prices.date, sorted(store.settings.prices)]).encode()).hexdigest()[:12]
    stale = {
        name: made_from
        for name in (priced if sessions is None else [one for one in sessions if one in priced])
        if known.get(name) != (made_from := f"{sizes.get(name, 0)} {ours}")
    }
    for name, requests in store.index.requests.of(stale).items() if stale else ():
        rows.put(name, stale[name], prices_by(store, name, requests, prices).outputs)
