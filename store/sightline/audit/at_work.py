"""Says of each agent that runs a command now: which command, its last line of output, and what the agent said last."""

import contextlib
import sqlite3
from collections.abc import Iterable

from sightline.base.errors import SightlineError
from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.log.session_history import events_of
from sightline.log.sessions import agent_of
from sightline.shape.clean import clean_line
from sightline.store import Reading

_LAST_LINES = 5  # of an output, among which its last line that is not blank is looked for
_LINE_BYTES = 2_000


class AtWork(NamedTuple):
    """An agent that runs something.

    Attributes:
        session: its session.
        agent: its harness, or the given name of a shell's session; empty if the harness is not known.
        buffer: the running output that was begun last.
        others: number of its other running outputs.
        last_line: the last line of that output that is not blank; empty if there is none.
        said: what the agent said last, in one line; empty if that is not known.
        said_at: when it said that, in seconds since the epoch.
    """

    session: str
    agent: str
    buffer: Buffer
    others: int
    last_line: str
    said: str
    said_at: float


def at_work(store: Reading, running: Iterable[Buffer]) -> list[AtWork]:
    """Return the agents that running outputs belong to, the one that began something last first."""
    own = dict[str, list[Buffer]]()
    for buffer in sorted(running, key=lambda one: -one.created):
        if not buffer.origin:  # what goes into a command's filters runs with the command
            own.setdefault(buffer.session, []).append(buffer)
    agents = {one.name: agent_of(one) for one in store.index.sessions()} if own else {}
    return [
        AtWork(
            name,
            agents.get(name, ""),
            buffers[0],
            len(buffers) - 1,
            last_line(store, buffers[0]),
            *said_last(store, name),
        )
        for name, buffers in own.items()
    ]


def last_line(store: Reading, buffer: Buffer) -> str:
    """Return the last line of an output that is not blank, as far as it is near its end; empty if it cannot be read."""
    try:
        with contextlib.closing(store.open_merged(buffer)) as merged:
            last = merged.line_count
            lines = list(merged.lines(max(last - _LAST_LINES + 1, 1), last, _LINE_BYTES))
    except (SightlineError, OSError, sqlite3.Error):
        return ""  # it has gone meanwhile
    texts = (clean_line(line.data).strip() for _, line in reversed(lines))
    return next(filter(None, texts), "")


def said_last(store: Reading, session: str) -> tuple[str, float]:
    """Return what an agent said last, in one line, and when; ("", 0.0) if that is not known."""
    said = next((one for one in reversed(events_of(store, session).messages) if one.text), None)
    return (" ".join((said.text or "").split()), said.time) if said else ("", 0.0)
