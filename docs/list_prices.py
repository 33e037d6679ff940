#!/usr/bin/env python3
"""Writes ``store/sightline/audit/prices.toml``, the dated table of list prices, from the public list of genai-prices.

Each release renews it, in an environment that has the newest ``genai-prices`` (MIT): ``python docs/list_prices.py``.
It takes only models that the supported harnesses can state: those that write text, of the providers below.
"""

import re
import sys
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parent.parent / "store/sightline/audit/prices.toml"
PROVIDERS = ("anthropic", "openai", "google", "x-ai", "moonshotai", "zai", "deepseek", "minimax", "mistral")
"""Where two of them have one name, the first counts: a model's maker, and not one who resells it."""

NOT_TEXT = re.compile(
    r"audio|image|tts|embed|ocr|live|realtime|transcri|voxtral|voice|robotics|vision|search|computer|pixtral|omni|saba"
    r"|gpt-3|gpt-4(?!\.1|o)|davinci|babbage|curie|^ada|^ft:|claude-2|claude-v1|gemini-1|gemini-pro|gemma|nano-banana",
    re.IGNORECASE,
)
COLUMNS = ("input", "cache_read", "cache_write", "cache_write_1h", "output")
MILLION = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok", "output_mtok")
TIERS = ("fast", "priority", "flex", "batch")
REGIONS = {"us": "1.1"}
"""What Anthropic charges where a request must stay in a region: times the price (platform.claude.com, pricing)."""


def names_of(model: Any) -> list[str]:
    """The names of a model, folded as a look-up folds them."""
    from sightline.audit.prices import folded  # this checkout's

    found = {folded(model.id)}
    for clause in getattr(model.match, "or_", [model.match]):
        found |= {folded(text) for kind in ("equals", "starts_with") if (text := getattr(clause, kind, ""))}
    return sorted(name for name in found if name and not NOT_TEXT.search(name))


def spans_of(prices: Any) -> Iterator[tuple[str, Any]]:
    """The prices of a model, and since when each of them holds; the first holds from the beginning."""
    if not isinstance(prices, list):
        yield "", prices
        return
    for one in prices:
        start = getattr(one.constraint, "start_date", None)
        if one.constraint is None or start:
            yield str(start or ""), one.prices


def number(value: Decimal) -> str:
    """A price as TOML has it, in dollars per million tokens."""
    text = f"{value.normalize():f}"
    return text if "." in text else f"{text}.0"


def rates(price: Any, base: Any, size: int) -> str:
    """The rates of a context of more than this size; what a price leaves out is as in its base, or as input."""
    found: list[Decimal] = []
    for name in MILLION:
        rate = getattr(price, name, None)
        rate = getattr(base, name, None) if rate is None else rate
        if rate is not None and hasattr(rate, "tiers"):
            rate = next((tier.price for tier in reversed(rate.tiers) if tier.start <= size), rate.base)
        if rate is None:
            rate = found[2] if name == "cache_write_1h_mtok" else found[0] if found else Decimal(0)
        found.append(Decimal(rate))
    return f"[{', '.join(map(number, found))}]"


def sizes(price: Any) -> list[int]:
    """The sizes of a context above which a price is another one, in tokens."""
    found = (getattr(price, name, None) for name in MILLION)
    return sorted({tier.start for rate in found if hasattr(rate, "tiers") for tier in rate.tiers})


def entries(model: Any) -> Iterator[str]:
    """The lines of a model: one for each span of time, each with the prices of its tiers."""
    for since, price in spans_of(model.prices):
        if not getattr(price, "input_mtok", None) or not getattr(price, "output_mtok", None):
            continue
        parts = {"since": f'"{since}"'} if since else {}
        tiers = {next(iter(one.when.values())): one.prices for one in model.price_variants or ()}
        for tier, of_tier in {"rates": price, **{name: tiers[name] for name in TIERS if name in tiers}}.items():
            for size in (0, *sizes(of_tier)):
                parts[f"{tier}_above_{size}" if size else tier] = rates(of_tier, price, size)
        yield f"{{ {', '.join(f'{name} = {value}' for name, value in parts.items())} }}"


def main() -> int:
    """Write the table."""
    import genai_prices.data as data

    lines, known = list[str](), set[str]()
    providers = {one.id: one for one in data.providers}
    for provider in PROVIDERS:
        for model in sorted(providers[provider].models, key=lambda one: one.id):
            names = [name for name in names_of(model) if name not in known]
            prices = list(entries(model))
            if not names or not prices or NOT_TEXT.search(model.id):
                continue
            known.update(names)
            lines += ["", "[[models]]", f"names = {names!r}".replace("'", '"'), f"prices = [{', '.join(prices)}]"]
    head = [
        "# List prices in US dollars per million tokens. `python docs/list_prices.py` writes this file.",
        f'date = "{date.today()}"',
        f'source = "genai-prices {version("genai-prices")}"',
        f"columns = {list(COLUMNS)!r}".replace("'", '"'),
        "",
        "[regions]",
        *(f"{name} = {factor}" for name, factor in REGIONS.items()),
    ]
    TABLE.write_text("\n".join([*head, *lines, ""]))
    print(f"{TABLE.name}: {len(known)} names, {TABLE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
