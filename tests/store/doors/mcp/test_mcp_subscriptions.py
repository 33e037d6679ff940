"""What watches outputs for their subscribers goes on whatever becomes of the store."""

import sqlite3
import threading
from types import SimpleNamespace
from typing import Any

from sightline.doors.tools.subscriptions import Watch


def test_an_index_that_fails_for_a_while_ends_no_subscription() -> None:
    states: list[Any] = [("running", 1), sqlite3.DatabaseError("malformed"), OSError("gone"), ("sealed", 2)]
    told = threading.Event()

    def resolve(ref: str) -> Any:
        state = states.pop(0)
        if isinstance(state, Exception):
            raise state
        return SimpleNamespace(buffer=SimpleNamespace(state=state[0], bytes=state[1]))

    store: Any = SimpleNamespace(resolve=resolve)
    watch = Watch(lambda: store)
    watch.add("key", "@cmd_a1b2c3", "a uri", lambda uri: told.set())
    assert told.wait(30)
    watch.close()
