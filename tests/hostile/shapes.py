"""Texts made to be slow to read, and a limit on the processor time of whatever reads them."""

import contextlib
import signal
import time
from collections.abc import Iterator
from types import FrameType

BYTES = 1_000_000

REPEATED = (
    " ", "\t", "\n", "\r", "\b", "a", "0", "a b ", "x\n", "[", "(", "{", "'", '"', "\\", "`", "@", "@last ", "[… ",
    "@cmd_a1b2c3:1-", "[… 3-345] ", "/", "../", "\x1b[", "\x1b[31m", "…", "e\u0301", "🎉", "| cat ", "; cd a", "<<E\n",
    "$(", "$((", "${a:-", "set -", "--x ", "a=", "0-", "0,", "[a-", "(a+)+", '{"a":', '"a": ', "rm ", "error: ",
    'File "a', "at a:", "http://", "if ", "2>&1 ", "a&&", "a||", "a;",
)  # fmt: skip
"""What a text consists of, again and again."""

FRAMES = (("", ""), ("cat @last", "x; id"), ("'", "' x"), ("make | tail ", "!"))
"""What stands before and behind."""

SECONDS = 1.0
"""Processor time for one call; what takes the square of the length of its text takes minutes."""

_TURNS = 1 << 18
_USUAL_SECONDS = 0.012  # what so many turns take on a processor of 2020


def shapes(length: int = BYTES, *, framed: bool = True) -> Iterator[str]:
    """Texts of about this many bytes."""
    for place, unit in enumerate(REPEATED):
        for begin, end in (FRAMES[0], FRAMES[1 + place % 3])[: 1 + framed]:
            yield begin + unit * (length // len(unit.encode())) + end


def _is_slower() -> float:
    """How much slower than usual this processor is; 1 if it is not."""
    started = time.process_time()
    for _ in range(_TURNS):
        pass
    return max((time.process_time() - started) / _USUAL_SECONDS, 1.0)


@contextlib.contextmanager
def in_bounded_time(what: str, seconds: float = SECONDS) -> Iterator[None]:
    """Raise AssertionError in whatever takes longer than its processor time."""

    def too_long(_: int, frame: FrameType | None) -> None:
        raise AssertionError(f"{what} takes too long, in {frame}")

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds * SLOWNESS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


SLOWNESS = _is_slower()
