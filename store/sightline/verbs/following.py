"""Waits for what a running output writes: new lines, a line that matches, its end."""

import time

from sightline.base.errors import UsageError
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.log.log_index import seen_lines
from sightline.store import Target
from sightline.verbs.asker import Asker
from sightline.verbs.line_pieces import open_lines

with late_modules(globals()):
    from sightline.search import line_search  # 10 ms, for a wait for a line

WAIT_SECONDS = 50.0  # few clients wait longer for a reply
QUIET_SECONDS = 2.0  # new lines followed by this much quiet are worth a reply
_LOOK_SECONDS = 0.05
_SEARCH_SHARE = 4  # a search is repeated after this many times its own duration


class Arrivals(NamedTuple):
    """The result of a wait.

    Attributes:
        target: the stream as it is now.
        seen: the last line that the session had been shown before.
        total: number of whole lines.
        match: number of the first matching line that was not shown before, else of the first matching one; 0 for none.
    """

    target: Target
    seen: int
    total: int
    match: int = 0

    @property
    def running(self) -> bool:
        """Whether the command is still running."""
        return self.target.buffer.state == "running"


def wait_for(
    asking: Asker, target: Target, seconds: float | None, until: str = "", *, either: bool = False
) -> Arrivals:
    """Wait until the output ends, a line matches, or new lines are followed by a pause; at most this long.

    With a pattern, a pause before its line does not end the wait.

    Args:
        asking: who waits; lines that this session has not been shown are new.
        target: the stream.
        seconds: most seconds to wait, up to WAIT_SECONDS; None for these.
        until: a regular expression, or plain text if it is not a valid one; empty for none.
        either: whether to wait for standard error, too, once there is any.

    Raises:
        UsageError: it is not a stream of a command, or the pattern is faulty.
    """
    if target.stream not in ("out", "err", "all"):
        raise UsageError("only the output of a command can be followed", "read this one by lines or bytes")
    seen = _seen(asking, target)
    deadline = time.monotonic() + (WAIT_SECONDS if seconds is None else min(max(seconds, 0.0), WAIT_SECONDS))
    sought = _Sought(asking, until) if until else None
    known, changed = -1, 0.0
    while True:
        target = target._replace(buffer=asking.store.resolve(target.buffer.ref).buffer)
        if either and target.stream == "out" and target.buffer.stream("err").bytes:
            target = target._replace(stream="all")
            seen = _seen(asking, target)
        arrived = Arrivals(target, seen, _whole_lines(asking, target))
        now = time.monotonic()
        if arrived.total != known:
            known, changed = arrived.total, now
        if sought and (match := sought.match(arrived)):
            return arrived._replace(match=match)
        if not arrived.running or now >= deadline or (asking.cancel and asking.cancel.cancelled):
            return arrived
        if not sought and arrived.total > seen and now - changed >= QUIET_SECONDS:
            return arrived
        time.sleep(_LOOK_SECONDS)


def _whole_lines(asking: Asker, target: Target) -> int:
    with open_lines(asking.store, target) as lines:
        return lines.line_count - (len(lines.unended) if target.buffer.state == "running" else 0)


class _Sought:
    """Searches a line in an output that grows, no more often than is cheap."""

    def __init__(self, asking: Asker, pattern: str) -> None:
        self._asking = asking
        self._pattern = pattern
        self._searched = 0
        self._again_at = 0.0

    def match(self, arrived: Arrivals) -> int:
        """Return the matching line; 0 if none matches, or nothing new was searched."""
        began = time.monotonic()
        if arrived.total == self._searched or (arrived.running and began < self._again_at):
            return 0
        found = [line for line in self._found(arrived.target) if line <= arrived.total]
        self._searched = arrived.total
        took = time.monotonic() - began
        self._again_at = began + took + _SEARCH_SHARE * took
        return next((line for line in found if line > arrived.seen), found[0] if found else 0)

    def _found(self, target: Target) -> tuple[int, ...]:
        path = self._asking.store.local_copy(target)
        return line_search.search(path, self._pattern, first=_MOST_MATCHES, cancel=self._asking.cancel).lines


_MOST_MATCHES = 10_000  # among which the first new one is picked


def _seen(asking: Asker, target: Target) -> int:
    """Return the last line that the session has been shown; for both streams, the number of lines from the first on."""
    log, session = asking.local, asking.session
    if target.stream != "all":
        return seen_lines(log, session, target)
    seen = {Target(target.buffer, name).ref: Target(target.buffer, name) for name in ("out", "err")}
    last = {ref: seen_lines(log, session, stream) for ref, stream in seen.items()}
    with open_lines(asking.store, target) as lines:
        before = 0
        for ref, line in lines.numbered(1, sum(last.values())):
            if line.number > last[ref]:
                break
            before += 1
    return before
