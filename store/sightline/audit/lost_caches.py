"""Finds requests whose context was written anew, since the cache no longer had it, and why, as far as the log knows."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import pairwise

from sightline.audit.held_lines import LOSSES
from sightline.audit.priced_requests import PricedRequest, priced
from sightline.audit.prices import PriceList
from sightline.light.named_tuple import NamedTuple
from sightline.log.log_index import fill_index
from sightline.log.session_events import CLEARED, COMPACTED, PRUNED, REWOUND, ContextChange
from sightline.log.session_history import events_of
from sightline.shape.summary import human_seconds
from sightline.store import Store

PAUSE, MODEL, UNKNOWN = "pause", "model", "unknown"
"""Reasons beside the events of a context: a pause that outlasts the cache, another model, none that is known."""

CACHE_SECONDS = 300
"""How long caches last that are not written for an hour."""

_HOUR = 3600
_LEAST_TOKENS = 4_000  # that had been cached; of fewer, a reading server may make no use
_SHARE_READ = 0.5  # of what had been cached; a request that reads less has lost its cache


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
    for name, rows in store.index.requests.of(sessions).items():
        lost = lost_by(name, priced(rows, prices), partial(_losses, store, name))
        found += (one for one in lost if one.time >= since)
    return sorted(found, key=lambda one: (-(one.dollars or 0.0), one.time))


def _losses(store: Store, session: str) -> list[ContextChange]:
    return [one for one in events_of(store, session).changes if one.event in LOSSES]


def lost_by(
    session: str, requests: Sequence[PricedRequest], read_losses: Callable[[], Sequence[ContextChange]]
) -> Iterator[LostCache]:
    """Yield the requests of a session that lost their cache.

    Args:
        session: name of the session.
        requests: its requests, in order.
        read_losses: reads the events that removed from its context; most sessions need none.
    """
    losses: Sequence[ContextChange] | None = None
    for before, one in pairwise(requests):
        there = min(before.cached, one.context)
        if before.cached < _LEAST_TOKENS or one.read >= there * _SHARE_READ:
            continue
        lasts = _HOUR if before.written_1h else CACHE_SECONDS
        losses = read_losses() if losses is None else losses
        event = next((change.event for change in losses if before.time < change.time <= one.time), "")
        is_paused = one.time - before.time > lasts
        reason = event or (MODEL if one.model != before.model else PAUSE if is_paused else UNKNOWN)
        more = None if one.price is None else one.dollars(one.read, there) - (there - one.read) * _read_rate(one)
        yield LostCache(session, one.time, reason, one.time - before.time, there - one.read, more)


def _read_rate(one: PricedRequest) -> float:
    return one.price.cache_read / 1e6 if one.price else 0.0
