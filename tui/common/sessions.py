"""Sessions as the inspector has them: what they are called, and that of the person who asks and writes in it."""

import os
from functools import cache

from sightline.log.sessions import INSPECTOR, current_session, session_title
from sightline.records import Session
from sightline.store import Reading

_NAME_CHARACTERS = 24  # of a session's name: those made of a harness and a UUID are told apart by their beginning


@cache
def person_session() -> Session:
    """The session of this process' person; the same one each time."""
    name = f"{INSPECTOR}-{os.getpid()}-{os.urandom(3).hex()}"
    return current_session({}, name=name, client=INSPECTOR)


def session_titles(store: Reading) -> dict[str, str]:
    """What sessions are called that are not called by their names, by these."""
    called = {session.name: session_title(session) for session in store.index.sessions()}
    return {name: title for name, title in called.items() if title != name}


def session_name(store: Reading, name: str) -> str:
    """What a session is called, see `session_title`, cut where it is long."""
    known = store.index.session(name)
    called = session_title(known) if known else name
    return called if len(called) <= _NAME_CHARACTERS else called[: _NAME_CHARACTERS - 1] + "…"
