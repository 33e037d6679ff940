"""Whether a session's log still holds what was logged: its chain by itself, its end by what the index knows of it."""

from collections.abc import Callable, Mapping
from typing import Any

from sightline.log import log
from sightline.log.view_list import fill_index
from sightline.store import Reading


def last_known(store: Reading) -> Mapping[str, int]:
    """By session, the number of the last view that is known; to be asked for before any log is read, which may grow."""
    fill_index(store)
    return store.index.last_entries()


def verify_log(
    store: Reading, session: str, last: int, take: Callable[[log.Place, dict[str, Any]], None] | None = None
) -> int:
    """Check a session's log; how many lines it has, 0 where nothing was ever logged.

    Args:
        store: the store.
        session: name of the session.
        last: number of the last view that is known of it, 0 for none.
        take: as `log.verify_lines` has it.

    Raises:
        BrokenChain: it was changed, its newest lines were cut off, or all of it is gone.
    """
    try:
        with store.open_log(session) as file:
            lines = log.verify_lines(file, f"{session}.jsonl", take)
    except FileNotFoundError:
        lines = 0
    if last and not lines:
        raise log.BrokenChain(f"the log of session {session} is gone", "it was removed from outside")
    if last and lines <= last:
        raise log.BrokenChain(
            f"the log of session {session} ends before its view {last}", "its end was cut off from outside"
        )
    return lines
