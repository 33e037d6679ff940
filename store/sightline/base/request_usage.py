"""The tokens of requests to models, as harnesses state them, with a mark at what is not exact."""

from sightline.light.named_tuple import NamedTuple

COUNTS = ("fresh", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")
"""The counts of a request, in tokens. All but the last are disjoint; reasoning is a part of the output."""

MOST_TOKENS = 1 << 40
"""No request has as many, and sums of a million such counts still fit SQLite's integers."""


SUM = "sum"
"""The tier of a record that is a sum of requests: a price depends on each of them, so it has none."""


class RequestUsage(NamedTuple):
    """The tokens of one request to a model; a count is None if it is not stated.

    Attributes:
        id: id of the request, the same in every copy of its record.
        time: when the first record of the reply was made, before the results of its calls; seconds since the epoch.
        model: name of the model, as the harness states it; empty if it does not.
        fresh: tokens of the input that were neither read from a cache nor written to one.
        cache_read: tokens that were read from the cache.
        cache_write: tokens that were written to the cache for 5 minutes, or for a time that is not stated.
        cache_write_1h: tokens that were written to it for an hour.
        output: tokens of the output, with those of reasoning.
        reasoning: tokens of reasoning among them.
        computed: names of the counts that were computed from others.
        at_least: names of the counts that are lower bounds, because the record was made before the reply ended.
        tier: words that change the price, such as ``fast``, ``priority`` or ``us``.
        own_price: the price that the harness states, in US dollars; None if it states none.
        copies: other ids that the request has if its record was copied from another session. These are not logged.
    """

    id: str
    time: float
    model: str
    fresh: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    reasoning: int | None = None
    computed: tuple[str, ...] = ()
    at_least: tuple[str, ...] = ()
    tier: str = ""
    own_price: float | None = None
    copies: tuple[str, ...] = ()

    @property
    def fullness(self) -> int:
        """A number by which records of one request are compared: by their output, then by whether that is final.

        A reply is written several times while it is streamed. Its fullest record counts as a whole, the last one of
        several; counts of different records are never mixed.
        """
        return 2 * (-1 if self.output is None else self.output) + (not self.at_least)


def without_zeros(usage: RequestUsage, *, has_content: bool) -> RequestUsage:
    """Return the usage of a reply: if it has content, and all its counts are 0, they are not stated."""
    if not has_content or any(getattr(usage, name) for name in COUNTS):
        return usage
    return RequestUsage(usage.id, usage.time, usage.model, own_price=usage.own_price, copies=usage.copies)


class RequestSum(NamedTuple):
    """The sums of requests that have one price. Counts that are not stated are left out of them.

    Attributes:
        group: the session or the day, as asked for; empty for neither.
        model: name of the model; empty if it is not stated.
        tier: words that change the price.
        period: number of the given times that were past.
        band: number of the given sizes of the context that were exceeded.
        requests: number of requests.
        fresh, cache_read, cache_write, cache_write_1h, output, reasoning: tokens.
        unstated_input: requests that lack a count of their input.
        unstated_output: requests without a count of their output.
        at_least: requests with a count that is a lower bound.
        computed: requests with a count that was computed from others.
        own_price: the harness' own prices, in US dollars.
        own_priced: requests that have one.
    """

    group: str
    model: str
    tier: str
    period: int
    band: int
    requests: int
    fresh: int
    cache_read: int
    cache_write: int
    cache_write_1h: int
    output: int
    reasoning: int
    unstated_input: int
    unstated_output: int
    at_least: int
    computed: int
    own_price: float
    own_priced: int
