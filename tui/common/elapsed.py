"""When a line came, in words that fit a column, and which waits are worth a mark."""

_SECOND = 1_000_000_000
LONG_SECONDS = 1.0
LONG_SHARE = 0.02
SHORTEST_LONG_SECONDS = 0.1
"""A wait is marked when it took a second, or in a short run its 50th part and a tenth of a second."""

TIME_COLUMNS, WAIT_COLUMNS = 9, 7


def is_long(wait: int, whole: int) -> bool:
    """Whether a wait for the next line stands out.

    Args:
        wait: nanoseconds.
        whole: nanoseconds that all lines took.
    """
    return wait >= min(LONG_SECONDS * _SECOND, max(SHORTEST_LONG_SECONDS * _SECOND, LONG_SHARE * whole))


def time_text(nanoseconds: int) -> str:
    """Time since the start: ``12.345``, ``3:07.2``, ``1:02:03``, never wider than TIME_COLUMNS for a day."""
    minutes, rest = divmod(nanoseconds, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest // _SECOND:02}"
    tenths = rest // (_SECOND // 10)
    return f"{minutes}:{tenths // 10:02}.{tenths % 10}" if minutes else f"{rest // 1_000_000 / 1000:.3f}"


def wait_text(nanoseconds: int) -> str:
    """How long one waited: ``+0.4s``, ``+12s``, ``+3m20s``, ``+2h05m``, in at most WAIT_COLUMNS."""
    seconds = nanoseconds / _SECOND
    if seconds < 9.95:
        return f"+{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"+{whole}s"
    if whole < 3600:
        return f"+{whole // 60}m{whole % 60:02}s"
    return f"+{whole // 3600}h{whole // 60 % 60:02}m"
