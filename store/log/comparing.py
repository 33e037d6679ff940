"""Which audit files have grown beyond what is indexed of them: a look at their sizes."""

import os
import time

from sightline.store import Store

COMPARED_SECONDS = 2.0
"""How often one process looks at all of them at most."""


def sessions_behind(store: Store, session: str | None = None) -> list[str]:
    """The sessions whose file has more than is indexed of it; only the one that is given is looked at each time."""
    if session is not None:
        try:
            size = os.stat(store.layout.audit_file(session)).st_size
        except FileNotFoundError:
            return []
        return [session] if size > store.index.indexed_bytes(session) else []
    now = time.monotonic()
    if now < store.index.compared + COMPARED_SECONDS:
        return []
    store.index.compared = now
    known = store.index.logs()
    with os.scandir(store.layout.audit) as files:
        sizes = [(file.name.removesuffix(".jsonl"), file) for file in files if file.name.endswith(".jsonl")]
        return [name for name, file in sizes if file.stat(follow_symlinks=False).st_size > known.get(name, 0)]
