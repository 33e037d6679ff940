"""Finds outputs over the limits of count, bytes and age; a clock that runs ahead must not empty the store.

A start that comes more than a day after the last one may be a person's return, or a clock that jumped. The gap counts
once a start at least a day later agrees with it. Until then nothing expires by its age.
"""

import os
import time

from sightline.base.errors import UnsafeStore
from sightline.base.private_files import read_file, write_atomically
from sightline.base.records import Buffer
from sightline.disk.index_access import IndexAccess
from sightline.disk.layout import Layout
from sightline.disk.record_check import is_time
from sightline.light.json_text import dumps, loads
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Callable
from sightline.settings.config import Settings

_DAY_SECONDS = 86_400.0
_CLOCK_SECONDS = 60.0  # between two looks whether the clock has jumped
_SPARE_BUFFERS = 32  # evicted together at the limit: one by one, `run` takes 1.6 times as long
_NOTED_SECONDS = 3_600.0  # between two notes that only the time has passed


class Clock(NamedTuple):
    """What the starts so far say of the clock. Times are in seconds since the epoch.

    Attributes:
        seen: the time of the last start.
        before: the time of the last start before a gap that does not count yet; None if the clock is agreed on.
        first: the time of the first start after it.
    """

    seen: float
    before: float | None = None
    first: float = 0.0

    def at(self, now: float) -> "Clock":
        """Return what the starts say once there is another one."""
        before, first = self.before, self.first
        if before is None:
            return Clock(now, self.seen, now) if now - self.seen > _DAY_SECONDS else Clock(now)
        if now >= first + _DAY_SECONDS or now - before <= _DAY_SECONDS:
            return Clock(now)  # two starts agree, or the clock was set right again
        return Clock(now, before, min(first, now))

    def in_words(self) -> str:
        """Return why nothing expires by its age, and until when; empty if things do."""
        if self.before is None:
            return ""
        days = (self.seen - self.before) / _DAY_SECONDS
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.first + _DAY_SECONDS))
        return f"the clock is {days:,.0f} days later than at the last use: nothing expires by its age before {until}"


def note_start(layout: Layout, last_use: Callable[[], float | None]) -> Clock:
    """Note that the store is used now, and return what its starts say of the clock.

    Args:
        layout: where the note is kept.
        last_use: returns the time of the last use; asked for a store that has no note yet.
    """
    now = time.time()
    noted = _noted(layout)
    known = noted or Clock(last_use() or now)
    found = known.at(now)
    if noted is None or found[1:] != noted[1:] or abs(now - noted.seen) >= _NOTED_SECONDS:
        with suppress(OSError):  # a store that cannot be written to expires nothing
            write_atomically(layout.clock, dumps(found._asdict()).encode())
    return found


def _noted(layout: Layout) -> Clock | None:
    try:
        fields = loads(read_file(layout.clock))
        clock = Clock(fields["seen"], fields["before"], fields["first"])
    except (FileNotFoundError, UnsafeStore, ValueError, KeyError, TypeError):
        return None
    times = (clock.seen, clock.first, clock.seen if clock.before is None else clock.before)
    return clock if all(map(is_time, times)) else None


class Limits:
    """The limits of one store, as its settings have them."""

    def __init__(self, layout: Layout, access: IndexAccess) -> None:
        self._layout, self._access = layout, access
        self._opened = time.time()
        self._clock: Clock | None = None

    def clock(self) -> Clock:
        """Return what the store's starts say of the clock, by which outputs expire; this counts as one of them."""
        if self._clock is None or abs(time.time() - self._clock.seen) > _CLOCK_SECONDS:
            self._clock = note_start(self._layout, self._last_use)
        return self._clock

    def _last_use(self) -> float | None:
        """Return the last use before this start; asked once, at the first start of a version that notes starts."""
        last = self._access.index.last_use_before(self._opened)
        settings = self._access.settings
        if last is not None and settings.max_age_days == Settings().max_age_days:
            self._access.notices.append(
                f"outputs now stay {settings.max_age_days:.0f} days, {settings.max_buffers:,} of them and "
                f"{settings.max_bytes >> 30} GiB at most: max_age_days, max_buffers and max_bytes in "
                f"{self._layout.config} change that"
            )
        return last

    def over(self, batch: int = 64) -> list[Buffer]:
        """Return buffers over the limits of count, bytes and age, in a batch, least recently used first.

        The buffer used last only goes for its age, because a reply may just have named it. If nothing is over the
        limits, this takes two look-ups. A large store that is over its number of outputs gives some more away, so that
        not each further capture has to evict one.
        """
        index, settings = self._access.index, self._access.settings
        totals = index.totals()
        oldest = time.time() - settings.max_age_days * _DAY_SECONDS
        if self.clock().before is not None:
            oldest = float("-inf")
        size = totals.bytes - settings.max_bytes
        if has_stand_ins(self._layout):
            from sightline.disk.stand_ins import stand_in_bytes  # 1 ms, which few stores need

            size += stand_in_bytes(self._layout)
        count = totals.buffers - settings.max_buffers
        crowded = count > 0 or size > 0
        if count > 0:
            count += min(_SPARE_BUFFERS, settings.max_buffers // 1_000)
        newest = {item.buffer.name for item in index.listed(1)} if crowded else set()
        over = []
        for buffer in index.least_used(batch if crowded else 1):
            in_the_way = (count > 0 or size > 0) and buffer.name not in newest
            if not in_the_way and buffer.accessed >= oldest:
                break
            over.append(buffer)
            count -= 1
            size -= buffer.bytes
        return over


def has_stand_ins(layout: Layout) -> bool:
    """Return whether there are any, which few stores have."""
    return os.path.isdir(layout.refs) and bool(os.listdir(layout.refs))
