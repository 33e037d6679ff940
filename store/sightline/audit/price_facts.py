"""Says what outputs cost, in words for every screen: tokens, requests, money, and whether they were used later."""

from collections.abc import Iterator

from sightline.audit.cost import tokens
from sightline.audit.later_use import later_use
from sightline.audit.output_costs import keep_prices
from sightline.audit.output_prices import ESTIMATED, price_list
from sightline.base.price_row import PriceRow
from sightline.base.records import Buffer
from sightline.shape.summary import counted
from sightline.store import Reading, Store

UNUSED = "no later use seen"


def price_told(row: PriceRow) -> str:
    """``$0.15 for 7.0k tokens in 56 requests``; ``~`` before what is estimated, ``≥`` before what may be more."""
    money = "price not known" if row.dollars is None else f"{'≥ ' * row.at_least}${row.dollars:,.2f}"
    size = f"{'~' * (row.measure == ESTIMATED)}{tokens(row.tokens)} tokens"
    return f"{money} for {size} in {counted(row.requests, 'request')}"


def price_facts(store: Reading, buffer: Buffer) -> list[tuple[str, str]]:
    """Return what an output cost as labels and sentences, for each session that was shown it and has requests."""
    if not isinstance(store, Store):
        return []
    sessions = {one.view.session for one in store.index.views_of(buffer.name)}
    if not sessions:
        return []
    prices = price_list(store)
    keep_prices(store, sorted(sessions), prices)
    rows = store.index.output_prices.of([buffer.name]).get(buffer.name, ())
    return [fact for row in rows for fact in _facts_of(store, buffer, row, prices.date)]


def _facts_of(store: Reading, buffer: Buffer, row: PriceRow, date: str) -> Iterator[tuple[str, str]]:
    yield "cost", f"{price_told(row)} of {row.session}, at list price of {date}"
    if row.again:
        yield "again", f"{tokens(row.again)} of these tokens were shown although the context still held them"
    if row.bytes and buffer.bytes > 2 * row.bytes and row.dollars:
        whole = row.dollars * buffer.bytes / row.bytes
        yield "whole", f"about ${whole:,.2f} if all {buffer.bytes:,} bytes had been shown, rather than {row.bytes:,}"
    yield "use", later_use(store, row.session, row.output, row.view) or UNUSED
