"""Reads times as people say them: ``2h``, ``yesterday``, ``mon``, ``14:00``, ``2026-11-20``; by the machine's clock."""

import time

from sightline.base.errors import UsageError
from sightline.light.late_pattern import late_pattern
from sightline.light.named_tuple import NamedTuple

TAKES = "30m, 2h, 7d; today, yesterday, mon; 14:00, 2026-11-20"
"""The values, for help and errors."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGE = late_pattern(r"(\d{1,9}(?:\.\d{1,3})?) ?([smhdw])")
_DATED = late_pattern(r"(?:(\d{4})-(\d\d)-(\d\d))?(?:(?:^|(?<=\d)[t ])(\d\d?):(\d\d))?")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LEAST_LETTERS = 3  # of a weekday's name


class Span(NamedTuple):
    """A span of time, seconds since the epoch; a moment, as an age gives it, ends where it begins."""

    start: float
    end: float


def span_of(text: str, now: float | None = None) -> Span:
    """Return the span that a text names: the moment of an age, a minute, or a day.

    Args:
        text: an age, ``today``, ``yesterday``, a weekday (the last one), a date, a time of today or with a date.
        now: seconds since the epoch; the present by default.

    Raises:
        UsageError: it names none.
    """
    now = time.time() if now is None else now
    typed = text.strip().lower()
    if age := _AGE.fullmatch(typed):
        moment = now - float(age[1]) * _UNITS[age[2]]
        return Span(moment, moment)
    today = time.localtime(now)
    if typed in ("today", "yesterday"):
        return _day(today.tm_year, today.tm_mon, today.tm_mday - (typed == "yesterday"))
    weekday = next((at for at, name in enumerate(_WEEKDAYS) if name.startswith(typed)), None)
    if weekday is not None and len(typed) >= _LEAST_LETTERS:
        return _day(today.tm_year, today.tm_mon, today.tm_mday - (today.tm_wday - weekday) % 7)
    if typed and (dated := _DATED.fullmatch(typed)):
        year, month, day, hour, minute = (int(part) if part else None for part in dated.groups())
        date = (year or today.tm_year, month or today.tm_mon, today.tm_mday if day is None else day)
        if _is_real(date, hour or 0, minute or 0):
            return _day(*date) if hour is None else _minute(date, hour, minute or 0)
    raise UsageError(f"{text!r} is no time", f"give an age or a day: {TAKES}")


def _is_real(date: tuple[int, int, int], hour: int, minute: int) -> bool:
    day = time.localtime(_midnight(*date))
    return (day.tm_year, day.tm_mon, day.tm_mday) == date and hour <= 23 and minute <= 59


def _midnight(year: int, month: int, day: int) -> float:
    return time.mktime((year, month, day, 0, 0, 0, 0, 0, -1))


def _day(year: int, month: int, day: int) -> Span:
    return Span(_midnight(year, month, day), _midnight(year, month, day + 1))


def _minute(date: tuple[int, int, int], hour: int, minute: int) -> Span:
    start = time.mktime((*date, hour, minute, 0, 0, 0, -1))
    return Span(start, start + 60)
