"""Sessions as the inspector has them: what they are called, and that of the person who asks and writes in it."""

import os
from functools import cache

from sightline.log.sessions import current_session
from sightline.records import Session
from sightline.store import Reading

CLIENT = "inspector"
_NAME_CHARACTERS = 24  # of a session's name: those made of a harness and a UUID are told apart by their beginning


@cache
def person_session() -> Session:
    """The session of this process' person; the same one each time."""
    name = f"{CLIENT}-{os.getpid()}-{os.urandom(3).hex()}"
    return current_session({}, name=name, client=CLIENT)


def session_name(store: Reading, name: str) -> str:
    """What a person calls a session, else its name, cut where it is long."""
    known = store.index.session(name)
    called = (known.title if known else "") or name
    return called if len(called) <= _NAME_CHARACTERS else called[: _NAME_CHARACTERS - 1] + "…"
