"""One honest sentence about an output, from what is certain: how the command ended, in what time, after how much text.

What the output says of itself (tests passed, errors found) is for the rules of single tools to tell, never for this.
"""

from sightline.store.shape.source import Source

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")


def summary(
    out: Source,
    err: Source,
    *,
    exit_code: int | None,
    seconds: float | None = None,
    signal: int = 0,
    timed_out: bool = False,
    running: bool = False,
) -> str:
    """Such as ``failed with exit 1 after 3.2 s: 2,004 lines, 64.0 KiB (stderr 12 lines)``.

    Args:
        out: what it wrote to standard output.
        err: what it wrote to standard error; the counts of lines and bytes take in both.
        exit_code: None where it is unknown, or there is none.
        seconds: how long it ran, or has been running; None where that is unknown.
        signal: number of the signal that ended it, 0 for none.
        timed_out: whether the time limit ended it.
        running: whether it still runs; how it ends is then not spoken of.
    """
    return f"{_ending(exit_code, seconds, signal, timed_out, running)}: {_amount(out, err)}"


def human_bytes(count: int) -> str:
    """A size, such as ``512 B`` or ``64.0 KiB``; units are of 1024."""
    if count < 1024:
        return f"{count} B"
    size = count / 1024
    for unit in _UNITS:
        if size < 1023.95 or unit == _UNITS[-1]:  # above that, one decimal would be written as 1024.0
            break
        size /= 1024
    return f"{size:.1f} {unit}"


def human_seconds(seconds: float) -> str:
    """A duration, such as ``0.4 s``, ``2 min 5 s`` or ``3 h 0 min``; below 0.05 s it is ``12 ms``."""
    if seconds < 0.05:
        return f"{max(0, round(seconds * 1000))} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    # Rounded anew: seconds that are not told should not be cut off either.
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min"


def _ending(exit_code: int | None, seconds: float | None, signal: int, timed_out: bool, running: bool) -> str:
    took = "" if seconds is None else human_seconds(seconds)
    after = f" after {took}" if took else ""
    if running:
        return f"still running{after}"
    if timed_out:
        return f"timed out{after}"
    if signal:
        return f"ended by signal {signal}{after}"
    if exit_code is None:
        return f"ended{after}, exit code unknown"
    if exit_code:
        return f"failed with exit {exit_code}{after}"
    return f"ok in {took}" if took else "ok"


def _amount(out: Source, err: Source) -> str:
    if not out.byte_count and not err.byte_count:
        return "no output"
    amount = f"{_lines(out.line_count + err.line_count)}, {human_bytes(out.byte_count + err.byte_count)}"
    return f"{amount} (stderr {_lines(err.line_count)})" if err.byte_count else amount


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
