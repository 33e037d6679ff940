"""Requests that wrote their context anew, with the reason that the log knows."""

from pathlib import Path

import pytest

from sightline.audit.lost_caches import MODEL, PAUSE, UNKNOWN, LostCache, lost_by, lost_caches
from sightline.audit.output_prices import price_list
from sightline.audit.priced_requests import PricedRequest, priced
from sightline.audit.prices import PriceList
from sightline.base.request_usage import RequestUsage
from sightline.log.session_events import CLEARED, COMPACTED, ContextChange
from sightline.store import Store
from tests.store.audit.usage_kit import NAME, Requests

OPUS, SONNET = "claude-opus-4-5", "claude-sonnet-4-5"


def request(time: float, read: int, written: int, model: str = OPUS, *, hour: int = 0, fresh: int = 0) -> RequestUsage:
    return RequestUsage(str(time), time, model, fresh, read, written, hour, 100)


def requests(*made: RequestUsage) -> list[PricedRequest]:
    return priced(made, PriceList({one.model for one in made}, {}))


def found(*made: RequestUsage, changes: tuple[ContextChange, ...] = ()) -> list[LostCache]:
    return list(lost_by("s", requests(*made), lambda: changes))


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
    later: RequestUsage, changes: tuple[ContextChange, ...], reason: str
) -> None:
    (one,) = found(request(100, 10_000, 10_000), later, changes=changes)
    assert (one.time, one.reason, one.pause) == (later.time, reason, later.time - 100)


def test_a_cache_that_lasts_an_hour_outlasts_a_shorter_pause() -> None:
    before = request(100, 10_000, 0, hour=10_000)
    assert [one.reason for one in found(before, request(3000, 0, 21_000))] == [UNKNOWN]
    assert [one.reason for one in found(before, request(3701, 0, 21_000))] == [PAUSE]


def test_its_price_is_that_of_writing_less_that_of_reading() -> None:
    (one,) = found(request(100, 10_000, 10_000), request(500, 4_000, 17_000))
    assert one.tokens == 16_000
    assert one.dollars == pytest.approx(16_000 * (6.25 - 0.5) / 1e6)


def test_without_writes_what_was_read_before_is_what_was_cached() -> None:
    """A server that caches by itself states no writes."""
    (one,) = found(request(100, 19_000, 0, fresh=1_000), request(120, 0, 0, fresh=21_000))
    assert (one.tokens, one.reason) == (19_000, UNKNOWN)
    assert one.dollars == pytest.approx(19_000 * (5 - 0.5) / 1e6)


def test_most_of_the_cache_is_enough_and_small_contexts_do_not_count() -> None:
    assert found(request(100, 10_000, 10_000), request(120, 15_000, 6_000)) == []
    assert found(request(100, 0, 3_000), request(120, 0, 4_000)) == []
    assert found(request(100, 0, 0, fresh=50_000), request(120, 0, 0, fresh=51_000)) == []


def test_a_model_without_a_price_has_tokens_alone() -> None:
    (one,) = found(request(100, 0, 20_000, "no-such"), request(120, 0, 21_000, "no-such"))
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
