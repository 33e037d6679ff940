"""Requests that wrote their context anew, with the reason that the log knows."""

from pathlib import Path

import pytest

from sightline.audit.lost_caches import MODEL, PAUSE, UNKNOWN, LostCache, lost_caches
from sightline.audit.output_prices import price_list
from sightline.base.records import Session
from sightline.base.request_usage import RequestUsage
from sightline.log.session_events import CLEARED, COMPACTED, ContextChange, append_events
from sightline.log.usage import write_usage
from sightline.store import Store
from tests.store.audit.usage_kit import NAME, Requests

OPUS, SONNET = "claude-opus-4-5", "claude-sonnet-4-5"


def request(time: float, read: int, written: int, model: str = OPUS, *, hour: int = 0, fresh: int = 0) -> RequestUsage:
    return RequestUsage(str(time), time, model, fresh, read, written, hour, 100)


def found(store: Store, *made: RequestUsage, changes: tuple[ContextChange, ...] = ()) -> list[LostCache]:
    session = Session("s", "claude-code", "s", "", "/", 1.0)
    write_usage(store, session, made)
    append_events(store.root, session, changes)
    return lost_caches(store, price_list(store))


@pytest.mark.parametrize(
    ("later", "changes", "reason"),
    [
        (request(390, 0, 21_000), (), UNKNOWN),
        (request(401, 0, 21_000), (), PAUSE),
        (request(150, 0, 21_000, SONNET), (), MODEL),
        (request(150, 0, 8_000), (ContextChange(120, COMPACTED),), COMPACTED),
        (request(900, 0, 8_000), (ContextChange(120, CLEARED),), CLEARED),
        (request(150, 0, 21_000), (ContextChange(90, COMPACTED), ContextChange(160, COMPACTED)), UNKNOWN),
    ],
)
def test_the_reason_is_what_lies_between_two_requests(
    store: Store, later: RequestUsage, changes: tuple[ContextChange, ...], reason: str
) -> None:
    (one,) = found(store, request(100, 10_000, 10_000), later, changes=changes)
    assert (one.time, one.reason, one.pause) == (later.time, reason, later.time - 100)


def test_a_cache_that_lasts_an_hour_outlasts_a_shorter_pause(store: Store) -> None:
    made = [request(time, 0, 0, hour=20_000) for time in (100, 3000, 6601)]
    assert [(one.time, one.reason) for one in found(store, *made)] == [(3000, UNKNOWN), (6601, PAUSE)]


def test_its_price_is_that_of_writing_less_that_of_reading(store: Store) -> None:
    (one,) = found(store, request(100, 10_000, 10_000), request(500, 4_000, 17_000))
    assert one.tokens == 16_000
    assert one.dollars == pytest.approx(16_000 * (6.25 - 0.5) / 1e6)


def test_without_writes_what_was_read_before_is_what_was_cached(store: Store) -> None:
    """A server that caches by itself states no writes."""
    (one,) = found(store, request(100, 19_000, 0, fresh=1_000), request(120, 0, 0, fresh=21_000))
    assert (one.tokens, one.reason) == (19_000, UNKNOWN)
    assert one.dollars == pytest.approx(19_000 * (5 - 0.5) / 1e6)


def test_most_of_the_cache_is_enough_and_small_contexts_do_not_count(store: Store) -> None:
    rows = [request(100, 0, 3_000), request(120, 0, 3_500), request(130, 0, 0, fresh=50_000)]
    rows += [request(140, 0, 0, fresh=51_000), request(150, 10_000, 10_000), request(160, 15_000, 6_000)]
    assert found(store, *rows) == []


def test_a_model_without_a_price_has_tokens_alone(store: Store) -> None:
    (one,) = found(store, request(100, 0, 20_000, "no-such"), request(120, 0, 21_000, "no-such"))
    assert (one.tokens, one.dollars) == (20_000, None)


def test_those_of_a_store_come_with_the_dearest_first_and_know_what_its_logs_say(store: Store, tmp_path: Path) -> None:
    session = Requests().reply("x" * 4000, written=10_000).reply(read=10_000, written=1100).compacted()
    session.reply(written=6000).reply(written=9000)
    session.imported(store, tmp_path)
    prices = price_list(store)
    found = lost_caches(store, prices)
    assert [(one.session, one.reason, one.tokens) for one in found] == [
        (NAME, COMPACTED, 6000),
        (NAME, UNKNOWN, 6000),
    ]
    assert lost_caches(store, prices, [NAME], since=found[1].time) == found[1:]
    assert lost_caches(store, prices, ["another"]) == []
