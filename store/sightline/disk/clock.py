"""Judges whether the clock can be trusted with the age of outputs: one that runs ahead must not empty the store.

A start that comes more than a day after the last one may be a person's return, or a clock that jumped. The gap counts
once a start at least a day later agrees with it. Until then nothing expires by its age.
"""

import time

from sightline.base.errors import UnsafeStore
from sightline.base.private_files import read_file, write_atomically
from sightline.disk.layout import Layout
from sightline.disk.record_check import is_time
from sightline.light.json_text import dumps, loads
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Callable

_DAY_SECONDS = 86_400.0
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
