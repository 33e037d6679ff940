"""Times as people say them."""

import time
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.errors import UsageError
from sightline.base.time_words import Span, span_of

NOON = time.mktime((2026, 3, 11, 12, 0, 0, 0, 0, -1))
"""A Wednesday."""


def at(*parts: int) -> float:
    return time.mktime((*parts, *(0,) * (6 - len(parts)), 0, 0, -1))


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("today", (at(2026, 3, 11), at(2026, 3, 12))),
        ("yesterday", (at(2026, 3, 10), at(2026, 3, 11))),
        ("mon", (at(2026, 3, 9), at(2026, 3, 10))),
        ("Thursday", (at(2026, 3, 5), at(2026, 3, 6))),
        ("wed", (at(2026, 3, 11), at(2026, 3, 12))),
        ("2026-02-28", (at(2026, 2, 28), at(2026, 3, 1))),
        ("14:05", (at(2026, 3, 11, 14, 5), at(2026, 3, 11, 14, 6))),
        ("2026-01-02T9:30", (at(2026, 1, 2, 9, 30), at(2026, 1, 2, 9, 31))),
        ("2026-01-02 09:30", (at(2026, 1, 2, 9, 30), at(2026, 1, 2, 9, 31))),
        ("2h", (NOON - 7200, NOON - 7200)),
        ("1.5d", (NOON - 129_600, NOON - 129_600)),
    ],
)
def test_a_time_is_read(text: str, span: tuple[float, float]) -> None:
    assert span_of(text, NOON) == Span(*span)


@pytest.mark.parametrize(
    "text", ["", "x", "mo", "2026-02-30", "25:00", "12:60", "2h30", "-1h", "2026", "1e9d", "T", "t9:30"]
)
def test_what_is_no_time_is_refused_with_those_that_are(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        span_of(text, NOON)
    assert "yesterday" in refused.value.hint


@given(st.dates(date(1971, 1, 2), date(2037, 12, 30)))
def test_a_day_ends_where_the_next_one_begins(day: date) -> None:
    assert span_of(str(day)).end == span_of(str(day + timedelta(days=1))).start
