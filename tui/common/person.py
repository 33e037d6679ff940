"""Who asks and writes in the inspector: a session of its own, a person's whatever the inspector was started from."""

import os
from functools import cache

from sightline.log.sessions import current_session
from sightline.records import Session

CLIENT = "inspector"


@cache
def person_session() -> Session:
    """The session of this process' person; the same one each time."""
    name = f"{CLIENT}-{os.getpid()}-{os.urandom(3).hex()}"
    return current_session({}, name=name, client=CLIENT)
