"""Sessions in the inspector: what to call them, and the session of the person who asks and writes in it."""

import os
from collections.abc import Iterable
from functools import cache

from sightline.base.records import Session
from sightline.log.sessions import INSPECTOR, current_session, session_title
from sightline.store import Reading

_NAME_CHARACTERS = 24  # shown of a session's name: those made of a harness and a UUID differ in their beginning


@cache
def person_session() -> Session:
    """Return the session of this process' person, the same one each time."""
    name = f"{INSPECTOR}-{os.getpid()}-{os.urandom(3).hex()}"
    return current_session({}, name=name, client=INSPECTOR)


def session_titles(sessions: Iterable[Session]) -> dict[str, str]:
    """Return titles of those sessions that have one, by name."""
    called = {session.name: session_title(session) for session in sessions}
    return {name: title for name, title in called.items() if title != name}


def session_name(store: Reading, name: str) -> str:
    """Return what to call a session (see `session_title`), cut if it is long."""
    known = store.index.session(name)
    called = session_title(known) if known else name
    return called if len(called) <= _NAME_CHARACTERS else called[: _NAME_CHARACTERS - 1] + "…"
