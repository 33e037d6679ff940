"""Who an event is about: the session, which its commands and our own server have, too, and the use of a tool."""

import time

from sightline.store.audit.sessions import safe_name
from sightline.store.disk.recording import storable
from sightline.store.records import Session


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


def use_key(session: str, use: str, *, unfiltered: bool = False) -> str:
    """Under which a buffer is found again by the use of a tool that made it; empty for a use without an id.

    Args:
        session: name of the session.
        use: the harness' id of the use.
        unfiltered: whether the buffer has what went into the command's filters, and not what came of it.
    """
    return f"{session}:{use}{':unfiltered' * unfiltered}" if use else ""
