"""Finds requests whose context was written anew, since the cache no longer had it, and why, as far as the log knows."""

from collections.abc import Collection

from sightline.audit.held_lines import LOSSES
from sightline.audit.priced_requests import PricedRequest, priced
from sightline.audit.prices import PriceList
from sightline.light.named_tuple import NamedTuple
from sightline.log.log_index import fill_index
from sightline.log.session_events import CLEARED, COMPACTED, PRUNED, REWOUND
from sightline.log.session_history import events_of
from sightline.shape.summary import human_seconds
from sightline.store import Store

PAUSE, MODEL, UNKNOWN = "pause", "model", "unknown"
"""Reasons beside the events of a context: a pause that outlasts the cache, another model, none that is known."""

CACHE_SECONDS = 300
"""How long caches last that are not written for an hour."""

_HOUR = 3600
LEAST_TOKENS = 4_000
"""Tokens that had been cached, at least; of fewer, a server may make no use."""

SHARE_READ = 0.5
"""The share of what had been cached below which a request has lost its cache."""


class LostCache(NamedTuple):
    """A request that wrote its context anew.

    Attributes:
        session: name of the session.
        time: when its reply began, seconds since the epoch.
        reason: an event of the context that removes from it, PAUSE, MODEL or UNKNOWN.
        pause: seconds since the reply before it began.
        tokens: those that had been cached, and were not read from there.
        dollars: what they cost more than they would have from the cache; None if no price is known.
    """

    session: str
    time: float
    reason: str
    pause: float
    tokens: int
    dollars: float | None

    @property
    def why(self) -> str:
        """The reason in words, such as ``after a pause of 12 min``."""
        return f"after a pause of {human_seconds(self.pause)}" if self.reason == PAUSE else REASONS[self.reason]


REASONS = {
    PAUSE: "after a pause",
    COMPACTED: "after a compaction",
    CLEARED: "after the context was cleared",
    REWOUND: "after a rewind",
    PRUNED: "after old results were dropped",
    MODEL: "after a switch of model",
    UNKNOWN: "for no known reason",
}
"""The words for each reason, after a number of requests."""


def lost_caches(
    store: Store, prices: PriceList, sessions: Collection[str] | None = None, *, since: float = 0.0
) -> list[LostCache]:
    """Return the requests that found less than half of what had been cached, the dearest first.

    Args:
        store: the store.
        prices: the list that the money is by.
        sessions: only requests of these sessions; None for all.
        since: only requests since this time, in seconds since the epoch.
    """
    fill_index(store)
    found = list[LostCache]()
    for session, *rows in store.index.requests.without_cache(LEAST_TOKENS, SHARE_READ, sessions, since=since):
        before, one = priced(rows, prices)
        found.append(_lost_cache(store, session, before, one))
    return sorted(found, key=lambda one: (-(one.dollars or 0.0), one.time))


def _lost_cache(store: Store, session: str, before: PricedRequest, one: PricedRequest) -> LostCache:
    """Return why a request read little of what the one before had cached, and what that cost."""
    changes = events_of(store, session).changes if one.context < before.context else ()  # else nothing was removed
    losses = [change for change in changes if change.event in LOSSES and before.time < change.time <= one.time]
    lasts = _HOUR if before.written_1h else CACHE_SECONDS
    otherwise = MODEL if one.model != before.model else PAUSE if one.time - before.time > lasts else UNKNOWN
    there = min(before.cached, one.context)
    tokens = there - one.read
    more = None if one.price is None else one.dollars(one.read, there) - tokens * one.price.cache_read / 1e6
    reason = losses[0].event if losses else otherwise
    return LostCache(session, one.time, reason, one.time - before.time, tokens, more)
