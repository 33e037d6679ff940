"""Finds requests whose context was written anew, since the cache no longer had it, and why, as far as the log knows."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sightline.audit.held_lines import LOSSES
from sightline.audit.priced_requests import PricedRequest
from sightline.light.named_tuple import NamedTuple
from sightline.log.session_events import ContextChange

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


def lost_caches(session: str, requests: Sequence[PricedRequest], changes: Iterable[ContextChange]) -> list[LostCache]:
    """Return the requests of a session that found less than half of what had been cached.

    Args:
        session: name of the session.
        requests: its requests, in order.
        changes: what happened to its context.
    """
    return list(_lost(session, requests, [one for one in changes if one.event in LOSSES]))


def _lost(session: str, requests: Sequence[PricedRequest], losses: Sequence[ContextChange]) -> Iterator[LostCache]:
    for before, one in pairwise(requests):
        there = min(before.cached, one.context)
        if before.cached < _LEAST_TOKENS or one.read >= there * _SHARE_READ:
            continue
        lasts = _HOUR if before.written_1h else CACHE_SECONDS
        event = next((change.event for change in losses if before.time < change.time <= one.time), "")
        is_paused = one.time - before.time > lasts
        reason = event or (MODEL if one.model != before.model else PAUSE if is_paused else UNKNOWN)
        more = None if one.price is None else one.dollars(one.read, there) - (there - one.read) * _read_rate(one)
        yield LostCache(session, one.time, reason, one.time - before.time, there - one.read, more)


def _read_rate(one: PricedRequest) -> float:
    return one.price.cache_read / 1e6 if one.price else 0.0
