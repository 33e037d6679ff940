"""The requests of a session in order, with what their tokens cost; prices of outputs and lost caches rest on them."""

from collections.abc import Iterable

from sightline.audit.prices import PriceList
from sightline.base.request_usage import SUM, RequestUsage
from sightline.light.named_tuple import NamedTuple
from sightline.settings.config import ModelPrice


class PricedRequest(NamedTuple):
    """A request whose input is stated.

    Attributes:
        time: when its reply began, seconds since the epoch.
        context: tokens of its input.
        read: those that were read from the cache, which come first.
        written_1h: those that were written to it for an hour, which follow.
        written: those that were written to it for 5 minutes, or for a time that is not stated; the rest was fresh.
        output: tokens of the reply; None if they are not known for certain.
        model: name of the model.
        price: what its tokens cost; None if that is not known.
    """

    time: float
    context: int
    read: int
    written_1h: int
    written: int
    output: int | None
    model: str
    price: ModelPrice | None

    @property
    def cached(self) -> int:
        """Tokens of its input that the next request can read from the cache."""
        return self.read + self.written_1h + self.written

    def dollars(self, begin: float, end: float) -> float:
        """Return what the tokens from one place of its context to another cost."""
        if (price := self.price) is None:
            return 0.0
        cost, at = 0.0, 0
        for tokens, rate in (
            (self.read, price.cache_read),
            (self.written_1h, price.cache_write_1h),
            (self.written, price.cache_write),
        ):
            cost += max(0.0, min(end, at + tokens) - max(begin, at)) * rate
            at += tokens
        return (cost + max(0.0, end - max(begin, at)) * price.input) / 1e6


def priced(rows: Iterable[RequestUsage], prices: PriceList) -> list[PricedRequest]:
    """Return requests with their prices, in the same order; those that state nothing of their input are left out."""
    found = list[PricedRequest]()
    for row in rows:
        counts = (row.fresh, row.cache_read, row.cache_write, row.cache_write_1h)
        if counts == (None,) * 4 or row.tier == SUM:
            continue
        fresh, read, short, hour = (count or 0 for count in counts)
        context = fresh + read + short + hour
        price = prices.rates(row.model, row.tier, row.time, context)
        output = None if row.at_least else row.output
        found.append(PricedRequest(row.time, context, read, hour, short, output, row.model, price))
    return found
