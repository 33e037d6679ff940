"""Who an event is about: the session, which its commands and our own server have, too."""

import time

from sightline.disk.recording import storable
from sightline.log.sessions import safe_name
from sightline.records import Session


def session_of(harness: str, harness_session: str, cwd: str) -> Session:
    """A session.

    Args:
        harness: name of the harness.
        harness_session: its id of the session.
        cwd: its working directory.
    """
    return Session(
        name=safe_name(f"{harness}-{harness_session or 'unknown'}"),
        harness=harness,
        harness_id=storable(harness_session),
        client="",
        cwd=storable(cwd),
        started=time.time(),
    )
