"""List prices: by request, by day, by what a model is called anywhere, and none that is guessed."""

import calendar
import tomllib
from pathlib import Path

import pytest

from sightline.audit import prices as prices_module
from sightline.audit.cost import Cost, cost_of
from sightline.audit.prices import PriceList, folded
from sightline.base.request_usage import RequestSum
from sightline.settings.config import ModelPrice

TABLE = tomllib.loads((Path(prices_module.__file__).parent / "prices.toml").read_text())
LIST = PriceList([name for model in TABLE["models"] for name in model["names"]], {})
DAY = calendar.timegm((2026, 11, 28, 0, 0, 0))


def used(model: str, *, tier: str = "", at: float = DAY, context: int = 1000, **counts: int) -> RequestSum:
    """One request, as the index sums it up."""
    numbers = ("fresh", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")
    period, band = sum(at >= time for time in LIST.times), sum(context > size for size in LIST.sizes)
    return RequestSum("", model, tier, period, band, 1, *(counts.get(one, 0) for one in numbers), 0, 0, 0, 0, 0.0, 0)


def dollars(model: str, **more: object) -> float | None:
    return LIST.dollars(used(model, **more))  # type: ignore[arg-type]


def test_each_kind_of_token_has_its_own_price() -> None:
    million = 1_000_000
    kinds = ("fresh", "cache_read", "cache_write", "cache_write_1h", "output")
    assert [dollars("claude-opus-4-5", **{kind: million}) for kind in kinds] == [5.0, 0.5, 6.25, 10.0, 25.0]
    assert dollars("claude-opus-4-5", output=million, reasoning=million) == 25.0  # it is in the output


def test_a_large_context_has_its_own_price_for_each_request() -> None:
    assert dollars("gpt-5.4", context=272_000, fresh=1_000_000) == 2.5
    assert dollars("gpt-5.4", context=272_001, fresh=1_000_000, output=1_000_000) == 27.5


def test_the_price_is_that_of_the_day_of_the_request() -> None:
    before, after = (calendar.timegm((2026, 3, day, 12, 0, 0)) for day in (12, 13))
    of_day = [dollars("claude-opus-4-6", at=at, context=300_000, fresh=1_000_000) for at in (before, after)]
    assert of_day == [10.0, 5.0]


def test_fast_requests_and_regions_have_their_own_price_and_unknown_tiers_none() -> None:
    assert dollars("claude-opus-4-8", tier="fast", fresh=1_000_000) == 10.0
    assert dollars("claude-opus-4-8", tier="us", fresh=1_000_000) == pytest.approx(5.5)
    assert dollars("claude-opus-4-8", tier="turbo", fresh=1_000_000) is None


@pytest.mark.parametrize(
    "name",
    [
        "claude-opus-4-6",
        "claude-opus-4.6",
        "anthropic/claude-opus-4.6",
        "us.anthropic.claude-opus-4-6-v1:0",
        "claude-opus-4-6@20260205",
        "claude-opus-4-6-20260205[1m]",
        "claude-opus-4-6-high",
        "Claude-Opus-4.6-1m",
    ],
)
def test_a_model_is_found_by_each_of_its_names(name: str) -> None:
    assert dollars(name, fresh=1_000_000) == 5.0


@pytest.mark.parametrize("name", ["gpt-5.3-codex-spark", "claude-opus-4-6-thinking", "", "gpt-5.4-nothing", "llama"])
def test_a_model_that_is_not_listed_has_no_price_and_makes_no_sum_smaller(name: str) -> None:
    assert dollars(name, fresh=1_000_000) is None
    cost = cost_of(used(name, fresh=1_000_000), LIST)
    assert (cost.unpriced, cost.fresh, cost.no_price) == (1, 1_000_000, (name or "unknown",))
    assert cost.dollars_at_least and not cost.tokens_at_least
    assert (cost + cost_of(used("gpt-5.4", fresh=1_000_000), LIST)).dollars_at_least


def test_a_persons_own_price_comes_first() -> None:
    own = PriceList([], {"claude-opus-4.6": ModelPrice(1, 2, 3, 4, 5), "my-model": ModelPrice(1, 1, 1, 1, 9)})
    assert own.dollars(used("claude-opus-4-6", fresh=1_000_000)) == 1
    assert own.dollars(used("my-model", output=1_000_000)) == 9


def test_the_table_has_folded_names_each_once_and_a_day() -> None:
    names = [name for model in TABLE["models"] for name in model["names"]]
    assert names == [folded(name) for name in names]
    assert len(names) == len(set(names))
    assert TABLE["date"] == LIST.date
    rates = [row for model in TABLE["models"] for one in model["prices"] for key, row in one.items() if key != "since"]
    assert all(len(row) == len(TABLE["columns"]) and min(row) >= 0 for row in rates)


def test_sums_of_costs_keep_what_is_not_known() -> None:
    assert Cost(requests=2, unstated_input=1) + Cost(requests=3, at_least=1, no_price=("x",)) == Cost(
        requests=5, unstated_input=1, at_least=1, no_price=("x",)
    )
