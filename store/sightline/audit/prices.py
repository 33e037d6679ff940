"""Knows what tokens cost at list price, by the dated table beside it and a person's own prices.

A price is one of a request: it depends on the model, on words such as ``fast``, on the day, and on the size of the
context. A model without a price has none; no other model's is taken for it.
"""

import calendar
import os
import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence

from sightline.base.regular_files import read_regular
from sightline.base.request_usage import SUM, RequestSum
from sightline.light.library import cache
from sightline.light.named_tuple import NamedTuple
from sightline.light.toml_text import loads
from sightline.light.typing_names import Any
from sightline.settings.config import ModelPrice

_TABLE = os.path.join(os.path.dirname(__file__), "prices.toml")
_MAKER = re.compile(r"(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|mistral|deepseek|moonshotai|zai|minimax|xai)\.")
_SUFFIX = re.compile(r"(?:\[1m\]|@[\w-]*|-v\d+:\d+|-20\d{6}|-20\d\d-\d\d-\d\d|-latest|-1m|-internal)\Z")
_EFFORT = re.compile(r"-(?:minimal|low|medium|x?high)\Z")
_RATES = "rates"


def folded(model: str) -> str:
    """Return the name under which the table has a model, given any of its names.

    Makers, regions, dates and the size of the context go, and ``4.6`` is ``4-6``.
    """
    name = _MAKER.sub("", model.strip().lower().rpartition("/")[2], count=1)
    while found := _SUFFIX.search(name):
        name = name[: found.start()]
    return name.replace(".", "-")


class _Span(NamedTuple):
    """The prices of a model from some time on: rates by tier and by the size of the context that they are above."""

    since: float
    rates: Mapping[str, Mapping[int, ModelPrice]]


class PriceList:
    """The prices of models, as far as they have one.

    Attributes:
        date: the day of the table, as ``2026-11-28``.
        source: the list that it was made from.
        times: times at which one of these prices changed, in seconds since the epoch.
        sizes: sizes of a context, in tokens, above which one of these prices is another one.
    """

    def __init__(self, models: Iterable[str], own: Mapping[str, ModelPrice]) -> None:
        """Read the table.

        Args:
            models: the models whose prices are wanted, by any of their names.
            own: prices that a person has set, by names of models; they take precedence.
        """
        table = loads(read_regular(_TABLE).decode())
        self.date: str = table["date"]
        self.source: str = table["source"]
        self._regions: dict[str, float] = table["regions"]
        self._own = {folded(model): price for model, price in own.items()}
        listed = {name: one["prices"] for one in table["models"] for name in one["names"]}
        wanted = {one for model in models for one in _names_of(model)}
        self._models = {name: listed[name] for name in wanted if name in listed}
        self._spans, self._known = cache(self._read), cache(self._price)
        found = [span for prices in self._models.values() for span in prices]
        self.times: Sequence[float] = sorted({_since(span) for span in found} - {0.0})
        above = (key.rpartition("above_")[2] for span in found for key in span)
        self.sizes: Sequence[int] = sorted({int(size) for size in above if size.isdigit()})

    def _read(self, name: str) -> list[_Span]:
        spans = []
        for span in self._models.get(name, ()):
            rates: dict[str, dict[int, ModelPrice]] = {}
            for key, numbers in span.items():
                if key != "since":
                    tier, _, size = key.partition("_above_")
                    rates.setdefault(tier, {})[int(size or 0)] = ModelPrice(*numbers)
            spans.append(_Span(_since(span), rates))
        return spans

    def dollars(self, of: RequestSum) -> float | None:
        """Return what requests of one price cost, as far as their tokens are stated; None if no price is known."""
        if (price := self._price(of.model, of.tier, of.period, of.band)) is None:
            return None
        counts = (of.fresh, of.cache_read, of.cache_write, of.cache_write_1h, of.output)
        return sum(count * rate for count, rate in zip(counts, price, strict=True)) / 1e6

    def rates(self, model: str, tier: str, at: float, context: int) -> ModelPrice | None:
        """Return the prices of one request; None if they are not known.

        Args:
            model: name of the model.
            tier: words that change the price.
            at: seconds since the epoch.
            context: tokens of its input.
        """
        return self._known(model, tier, bisect_right(self.times, at), bisect_left(self.sizes, context))

    def _price(self, model: str, tier: str, period: int, band: int) -> ModelPrice | None:
        names = [one for one in _names_of(model) if one in self._own or one in self._models]
        if not names or SUM in tier.split():
            return None
        if names[0] in self._own:
            return self._own[names[0]]
        at, size = (self.times[period - 1] if period else 0.0), (self.sizes[band - 1] if band else 0)
        spans = [span for span in self._spans(names[0]) if span.since <= at]
        if not spans:
            return None
        words = tier.split()
        factors = [self._regions[word] for word in words if word in self._regions]
        tiers = [word for word in words if word not in self._regions] or [_RATES]
        sized = max(spans, key=lambda span: span.since).rates.get(tiers[0])
        if sized is None or len(tiers) > 1:
            return None  # what this tier costs is not known
        price = sized[max(one for one in sized if one <= size)]
        for factor in factors:
            price = ModelPrice(*(rate * factor for rate in price))
        return price


def _names_of(model: str) -> tuple[str, str]:
    """Return the name of a model in the table, and the one that it has there without a word for its effort."""
    name = folded(model)
    return name, _EFFORT.sub("", name)


def _since(span: Mapping[str, Any]) -> float:
    return float(calendar.timegm(time.strptime(span["since"], "%Y-%m-%d"))) if "since" in span else 0.0
