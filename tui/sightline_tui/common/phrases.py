"""Words facts about a buffer for the screen: marks, ages, short sizes, endings. Pure functions of records."""

import time

from sightline.base.records import Buffer
from sightline.log.call_names import call_name
from sightline.shape.summary import human_bytes, human_seconds
from sightline_tui.common.visible_text import title

_AGES = ((60.0, 1.0, "s"), (3600.0, 60.0, "m"), (86400.0, 3600.0, "h"), (86400.0 * 365, 86400.0, "d"))
_AGE_GRAIN_SECONDS = 10  # ages are redrawn about this often, so finer ones would be wrong
_UNITS = "KMGTP"


def state_of(buffer: Buffer) -> str:
    """Name the state for marks: ``running``, ``ok``, ``failed``, ``unknown``, ``interrupted`` or ``evicted``."""
    if buffer.shown_state == "unknown":
        return "unknown"
    if buffer.state in ("running", "interrupted", "evicted"):
        return buffer.state
    if buffer.failed:
        return "failed"
    return "unknown" if buffer.kind == "cmd" and buffer.exit_code is None else "ok"


def name_of(buffer: Buffer) -> str:
    """Return what to call a buffer, safe to show: a command as typed, anything else by what it is about."""
    return title(buffer.command if buffer.kind == "cmd" and buffer.command else call_name(buffer))


def is_void(buffer: Buffer | None) -> bool:
    """Return whether a buffer has nothing to read, and never will."""
    return buffer is not None and (buffer.state == "evicted" or not (buffer.bytes or buffer.state == "running"))


MARKS = {"running": "●", "ok": "✓", "failed": "✗", "unknown": "?", "interrupted": "◌", "evicted": "·"}
PIN = "◆"
PARTIAL = "◔"
"""The mark of an output of which only a part reached the store, and of the places where something is missing."""

ALTERED = "≠"
"""The mark of an output whose bytes were changed after its capture."""


def age(seconds: float) -> str:
    """Write an age in at most four characters: ``now``, ``30s``, ``5m``, ``3h``, ``12d``, ``2y``."""
    if seconds < _AGE_GRAIN_SECONDS:
        return "now"
    for below, unit, letter in _AGES:
        if seconds < below:
            count = int(seconds // unit)
            return f"{count - count % _AGE_GRAIN_SECONDS if letter == 's' else count}{letter}"
    return f"{int(seconds // (86400 * 365))}y"


def used(buffer: Buffer) -> float:
    """Return the time of the last use, in seconds since the epoch; for an import, the time of the original call."""
    ended = buffer.created if buffer.ended is None else buffer.ended
    return ended if buffer.artifact and buffer.accessed - ended > _LATER_SECONDS else buffer.accessed


_LATER_SECONDS = 86400.0  # an import was used when it was imported; what a hook kept, when it was called


def day_of(when: float) -> tuple[int, int]:
    """Return (year, day of the year) here at a time in seconds since the epoch."""
    local = time.localtime(when)
    return local.tm_year, local.tm_yday


def short_bytes(count: int) -> str:
    """Write a size in at most five characters: ``512B``, ``64K``, ``1.2M``."""
    if count < 1000:
        return f"{count}B"
    size, units = count / 1024, iter(_UNITS)
    unit = next(units)
    while size >= 999.5 and (larger := next(units, "")):
        size, unit = size / 1024, larger
    return f"{size:.1f}{unit}" if size < 9.95 else f"{size:.0f}{unit}"


def short_count(count: int) -> str:
    """Write a number of lines in at most five characters: ``0``, ``9999``, ``12K``, ``1.2M``."""
    if count < 10_000:
        return str(count)
    size, units = count / 1000, iter(_UNITS)
    unit = next(units)
    while size >= 999.5 and (larger := next(units, "")):
        size, unit = size / 1000, larger
    return f"{size:.1f}{unit}" if size < 9.95 else f"{size:.0f}{unit}"


def duration(buffer: Buffer, now: float) -> str:
    """Write how long it took or has been running, in at most five characters: ``0.4s``, ``2m05``, ``3h20``, ``2d``.

    It is empty if that is not known.
    """
    seconds = _seconds(buffer, now)
    if buffer.kind != "cmd" or seconds is None:
        return ""
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours = minutes // 60
    if hours:
        return f"{hours}h{minutes % 60:02}" if hours < 10 else f"{hours}h" if hours < 100 else f"{hours // 24}d"
    return f"{minutes}m{rest:02}" if minutes else f"{rest}s"


def _seconds(buffer: Buffer, now: float) -> float | None:
    if buffer.shown_state == "unknown":
        return None
    return max(now - buffer.created, 0.0) if buffer.ended is None else buffer.seconds


def exit_text(buffer: Buffer) -> str:
    """Write the exit code for a column; empty if there is none."""
    if buffer.timed_out:
        return "time"
    return "" if buffer.exit_code is None else str(buffer.exit_code)


def ending(buffer: Buffer) -> str:
    """Say how it ended, or that it runs: ``running``, ``ok``, ``exit 1``, ``exit unknown``, ``signal 9`` …"""
    if buffer.state in ("running", "interrupted", "evicted"):
        return buffer.shown_state
    if buffer.timed_out:
        return "timed out"
    if buffer.signal:
        return f"signal {buffer.signal}"
    if state_of(buffer) == "unknown":
        return "exit unknown"
    return f"exit {buffer.exit_code}" if buffer.exit_code else "ok"


def counted(count: int, noun: str) -> str:
    """Write a count with its noun: ``1 line``, ``2,004 lines``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def facts(buffer: Buffer, now: float, called: str = "", grown: tuple[int, int] | None = None) -> list[str]:
    """Return the facts that a person wants to know of a buffer, the most important first.

    Args:
        buffer: its record.
        now: seconds since the epoch.
        called: what to call its session, if not by its name.
        grown: the lines and bytes that have come since the record was made, with those of before.
    """
    lines, size = grown or (buffer.lines, buffer.bytes)
    told = [ending(buffer), counted(lines, "line"), human_bytes(size)]
    if buffer.kind == "cmd" and (seconds := _seconds(buffer, now)) is not None:
        told.append(human_seconds(seconds))
    if err := buffer.stream("err").lines:
        told.append(f"{err:,} on stderr")
    told[1:1] = [
        f"altered: {buffer.altered}" if buffer.altered else "",
        f"partial: {buffer.lost}" if buffer.partial else "",
    ]
    told += [buffer.label, buffer.note, "pinned" if buffer.pinned else "", buffer.cwd, called or buffer.session]
    return [fact for fact in told if fact]


def tombstone_text(stone: dict[str, object] | None, buffer: Buffer) -> tuple[str, ...]:
    """Return what to show instead of an output that is gone."""
    how = {"file": "Read the file again", "tool": "Call the tool again"}.get(buffer.kind, "Run the command again")
    fate = "was removed" if stone and stone.get("reason") == "removed" else "has expired"
    held = f"It held {counted(buffer.lines, 'line')}, {human_bytes(buffer.bytes)}."
    return f"{buffer.ref} {fate}", held, f"{how} to have it back."
