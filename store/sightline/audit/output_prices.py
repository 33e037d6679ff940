"""Works out what each output of a session cost: its tokens, times the requests that carried it, at their prices.

The tokens of a result follow from the sizes of two requests' contexts, which grow by the reply between them and by the
results of its calls; several results between two requests share that growth by their bytes. Where it is not stated, or
something else was added, they are estimated by the bytes a token that other steps of the session show. A result lies at
the end of the context of the first request that carries it, and stays there until the log says that it went, or the
context gets smaller. What of it lies before the end of what a request read from the cache was read from there.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from statistics import median

from sightline.audit.command_kinds import kind_of
from sightline.audit.held_lines import HELD, WENT, Holding, Holdings
from sightline.audit.line_spans import NONE, Spans, common, size, spans_of, union
from sightline.audit.priced_requests import PricedRequest, priced
from sightline.audit.prices import PriceList
from sightline.base.price_row import PriceRow
from sightline.base.records import View
from sightline.base.request_usage import RequestUsage
from sightline.light.named_tuple import NamedTuple
from sightline.log.log_index import fill_index
from sightline.store import Store

STATED, COMPUTED, ESTIMATED = "stated", "computed", "estimated"
"""How the tokens of a result are known: from two sizes alone, as its share of such a difference, or from its bytes."""

BYTES_A_TOKEN = {"claude": 2.8, "": 4.0}
"""Bytes of results a token, by the beginning of the model's name, where a session shows none.

They are the medians of 2,598 steps of Claude 4.5 and 4.6 and 711 of GPT-5 in Codex, with 4 kB of results and more.
"""

_LEAST_BYTES = 2_000  # of the results of a step by which bytes a token are measured
_PLAUSIBLE = (1.0, 10.0)  # bytes a token; beyond it something else was added to the context, or dropped
_SMALL_TOKENS = 40  # that framing may add to small results
_LEAST_AGAIN_BYTES = 500  # of a stream; equal short ones may be of something else
_SHARE_KEPT = 0.9  # of a context; where it gets smaller still, results went, rather than reminders and old reasoning


class SessionPrices(NamedTuple):
    """What the outputs of a session cost.

    Attributes:
        outputs: the outputs, the dearest first.
        requests: number of the session's requests.
        bytes_a_token: the bytes a token by which others are estimated.
        learned: whether the session itself shows them.
    """

    outputs: tuple[PriceRow, ...]
    requests: int
    bytes_a_token: float
    learned: bool


def session_prices(store: Store, session: str, prices: PriceList | None = None) -> SessionPrices:
    """Return what the outputs of one session cost; none if no requests are known.

    Args:
        store: the store.
        session: name of the session.
        prices: the prices, if they are read already.
    """
    fill_index(store, session)
    rows = store.index.requests.of([session]).get(session, [])
    return prices_by(store, session, rows, prices or price_list(store))


def price_list(store: Store) -> PriceList:
    """Return the prices of the models in a store."""
    return PriceList(store.index.requests.models(), dict(store.settings.prices))


def prices_by(store: Store, session: str, rows: Sequence[RequestUsage], prices: PriceList) -> SessionPrices:
    """Return what the outputs of a session cost, given its requests in order, and the prices of their models."""
    requests, holding = priced(rows, prices), Holdings(store).of(session)
    if not requests:
        return SessionPrices((), 0, BYTES_A_TOKEN[""], learned=False)
    chain = _chain_of(store, session, requests)
    replies = chain.replies(holding)
    outputs = _by_output(session, replies, _shown_again(store, replies, holding))
    return SessionPrices(tuple(outputs), len(requests), chain.bytes_a_token, chain.learned)


def reply_dollars(store: Store, session: str) -> dict[int, float]:
    """Return what each reply to a session cost, by its number; those without a known price are left out."""
    requests = priced(store.index.requests.of([session]).get(session, []), price_list(store))
    replies = _chain_of(store, session, requests).replies(Holdings(store).of(session)) if requests else []
    return {one.view.number: one.ride.dollars for one in replies if one.ride.dollars is not None}


def _chain_of(store: Store, session: str, requests: Sequence[PricedRequest]) -> "_Chain":
    return _Chain(requests, [one.view for one in store.index.views(session=session)][::-1])


class _Ride(NamedTuple):
    """The requests that carried a reply: from one place in the list to before another, and what they cost."""

    first: int
    end: int
    dollars: float | None
    at_least: bool


class _Chain:
    """The requests of a session in order, and which replies each was the first to carry."""

    def __init__(self, requests: Sequence[PricedRequest], views: Sequence[View]) -> None:
        self._requests, self._views = requests, views
        times = [one.time for one in requests]
        self._first = [bisect_right(times, view.time) for view in views]
        self._begin, self._tokens = [0.0] * len(views), [0.0] * len(views)
        self._measures = [ESTIMATED] * len(views)
        steps = dict[int, list[int]]()
        for at, first in enumerate(self._first):
            steps.setdefault(first, []).append(at)
        shown = [self._bytes_a_token_of(first, group) for first, group in steps.items()]
        known = [one for one in shown if one is not None]
        self.learned = bool(known)
        self.bytes_a_token = median(known) if known else _usual_bytes(requests[-1].model)
        for first, group in steps.items():
            self._measure(first, group)
        rates = (one.price.cache_read / 1e6 if one.price else 0.0 for one in requests)
        self._read_rates = [0.0, *accumulate(rates)]
        self._unpriced = [0, *accumulate(one.price is None for one in requests)]
        kept = ((before.context * _SHARE_KEPT, one.context) for before, one in pairwise(requests))
        self._smaller = [at for at, (least, now) in enumerate(kept, 1) if now < least]
        self._missing = self._misses()

    def _misses(self) -> list[int]:
        """Return the requests that may have read less from the cache than the whole of a result.

        That is what ends in the context of the last but one before them, since the last one wrote its own.
        """
        found, highest = list[int](), 0
        for at in range(2, len(self._requests)):
            earlier, before, one = self._requests[at - 2 : at + 1]
            highest = min(max(highest, earlier.context), before.context)
            if one.read < min(highest, one.context):
                found.append(at)
        return found

    def _growth(self, first: int, *, exact: bool) -> int | None:
        """Return by how many tokens results made the context grow before a request; None if that is not stated."""
        if not 0 < first < len(self._requests):
            return None
        before, one = self._requests[first - 1], self._requests[first]
        if before.output is None and exact:
            return None
        return one.context - before.context - (before.output or 0)

    def _bytes_of(self, group: Iterable[int]) -> int:
        return sum(self._views[at].bytes_shown for at in group)

    def _bytes_a_token_of(self, first: int, group: Sequence[int]) -> float | None:
        shown, growth = self._bytes_of(group), self._growth(first, exact=False)
        if growth is None or shown < _LEAST_BYTES or growth <= 0:
            return None
        return shown / growth if _PLAUSIBLE[0] <= shown / growth <= _PLAUSIBLE[1] else None

    def _measure(self, first: int, group: Sequence[int]) -> None:
        """Find the tokens of the results that a request was the first to carry, and their places in its context."""
        shown, growth = self._bytes_of(group), self._growth(first, exact=True)
        is_known = growth is not None and shown / _PLAUSIBLE[1] <= growth <= shown / _PLAUSIBLE[0] + _SMALL_TOKENS
        is_known = is_known and not any(self._views[at].unknown for at in group)
        rate = growth / shown if is_known and growth is not None and shown else 1 / self.bytes_a_token
        place = float(self._requests[first].context) if first < len(self._requests) else 0.0
        for at in reversed(group):
            self._tokens[at] = self._views[at].bytes_shown * rate
            place = max(0.0, place - self._tokens[at])
            self._begin[at] = place
            if is_known:
                self._measures[at] = STATED if len(group) == 1 else COMPUTED

    def replies(self, holding: Holding) -> "list[_ShownReply]":
        """Return the replies that showed anything, with what they cost."""
        return [
            _ShownReply(view, round(self._tokens[at]), self._measures[at], self._ride(at, holding))
            for at, view in enumerate(self._views)
            if view.bytes_shown
        ]

    def _ride(self, at: int, holding: Holding) -> _Ride:
        """Return which requests carried a reply, and what its tokens in them cost."""
        first, begin = self._first[at], self._begin[at]
        end = self._end(first, holding, self._views[at])
        requests, stop = self._requests, begin + self._tokens[at]
        misses = self._missing[bisect_right(self._missing, first + 1) : bisect_right(self._missing, end - 1)]
        singly = [*range(first, min(first + 2, end)), *misses]
        usual = self._read_rates[end] - self._read_rates[first]
        usual -= sum(self._read_rates[one + 1] - self._read_rates[one] for one in singly)
        unpriced = self._unpriced[end] - self._unpriced[first]
        dollars = usual * self._tokens[at] + sum(requests[one].dollars(begin, stop) for one in singly)
        is_least = bool(unpriced) or (end < len(requests) and holding.fate(self._views[at]).state != WENT)
        return _Ride(first, end, None if unpriced == end - first and unpriced else max(0.0, dollars), is_least)

    def _end(self, first: int, holding: Holding, view: View) -> int:
        """Return the first request that no longer carried a reply."""
        fate, end = holding.fate(view), len(self._requests)
        if fate.state == WENT and fate.change is not None:
            end = next((at for at in range(first, end) if self._requests[at].time > fate.change.time), end)
        return min([end, *self._smaller[bisect_right(self._smaller, first) :][:1]])


class _ShownReply(NamedTuple):
    """A reply, its tokens, how they are known, and the requests that carried it."""

    view: View
    tokens: int
    measure: str
    ride: _Ride


def _by_output(session: str, replies: Sequence[_ShownReply], again: Mapping[int, float]) -> list[PriceRow]:
    of_output = dict[str, list[_ShownReply]]()
    for one in replies:
        of_output.setdefault(one.view.refs[0] if one.view.refs else one.view.id, []).append(one)
    found = [_priced(session, output, shown, again) for output, shown in of_output.items()]
    return sorted(found, key=lambda one: (-(one.dollars or 0.0), -one.carried))


_MEASURES = (STATED, COMPUTED, ESTIMATED)


def _priced(session: str, output: str, replies: Sequence[_ShownReply], again: Mapping[int, float]) -> PriceRow:
    rides = [one.ride for one in replies]
    dollars = [one.dollars for one in rides if one.dollars is not None]
    carrying = union(*(spans_of([(one.first + 1, one.end)]) for one in rides if one.end > one.first))
    return PriceRow(
        session=session,
        output=output,
        view=replies[0].view.number,
        time=replies[0].view.time,
        kind=kind_of(replies[0].view),
        bytes=sum(one.view.bytes_shown for one in replies),
        tokens=sum(one.tokens for one in replies),
        measure=max((one.measure for one in replies), key=_MEASURES.index),
        requests=size(carrying),
        carried=sum(one.tokens * max(0, one.ride.end - one.ride.first) for one in replies),
        dollars=sum(dollars) if dollars else None,
        at_least=len(dollars) < len(rides) or any(one.at_least for one in rides),
        again=round(sum(again.get(one.view.number, 0.0) for one in replies)),
    )


def _shown_again(store: Store, replies: Sequence[_ShownReply], holding: Holding) -> dict[int, float]:
    """Return by view the tokens of lines that the context still held, of this output or another with the same bytes."""
    contents = store.index.contents_of({name for one in replies for name in one.view.refs}, _LEAST_AGAIN_BYTES)
    again, held = dict[int, float](), dict[object, list[tuple[View, Spans]]]()
    for one in replies:
        lines = dict[object, Spans]()
        for each in one.view.shown:
            place = each.buffer, each.stream
            key: object = contents.get(place, place)
            lines[key] = union(lines.get(key, NONE), spans_of([(each.first, each.last)]))
        for key, spans in lines.items():
            before = held.setdefault(key, [])
            known = union(*(had for view, had in before if holding.fate(view, until=one.view.time).state == HELD))
            if there := size(common(spans, known)):
                share = there / sum(map(size, lines.values()))
                again[one.view.number] = again.get(one.view.number, 0.0) + one.tokens * share
            before.append((one.view, spans))
    return again


def _usual_bytes(model: str) -> float:
    return next(value for name, value in BYTES_A_TOKEN.items() if name in model)
