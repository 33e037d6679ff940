"""``sightline capture --hook USE``: what a hook has put into a command's pipeline.

Whatever becomes of the store, what comes is passed on: nobody must notice that this stands in the pipe.
"""

import os
from typing import TYPE_CHECKING

from sightline.store.capture.piped import Ended, pass_on, pump, relay, writers_of
from sightline.store.doors.harness.facts import PATIENCE_SECONDS
from sightline.store.doors.harness.mishaps import note_mishap
from sightline.store.doors.harness.pending import Pending, recall
from sightline.store.shape.budgets import HARD_LIMIT_BYTES

if TYPE_CHECKING:
    from sightline.store.capture.keeping import Keeper
    from sightline.store.store import Store

VERB = "capture"
_WORDS = ("capture", "--hook")
_LEFT_BEHIND = "ended before something that it had started: what that writes is not kept"


def main(use: str) -> int:
    """Keep standard input as the output of the command that was remembered; the exit code, 0."""
    pending = recall(use)
    kept = _Kept(pending) if pending else None
    ended = pump(0, None if pending and pending.shape else 1, kept.take if kept else _drop, writers_of(0))
    if kept:
        kept.end(ended)
    if ended.left_open and os.fork() == 0:  # the shell goes on, as it would have
        try:
            relay(0, 1)
        finally:
            os._exit(0)
    return 0


def _drop(_: bytes) -> None:
    return


class _Kept:
    """A capture that may fail without harm: in mode ``shape`` what came is printed then, up to the hard limit."""

    def __init__(self, pending: Pending) -> None:
        self._pending = pending
        self._store: Store | None = None
        self._keeper: Keeper | None = None
        self._head = bytearray()  # in mode ``shape``, for when it has to be printed after all
        try:
            self._begin()
        except Exception as error:
            self._failed(error)

    def _begin(self) -> None:
        from sightline.store.audit.sessions import working_directory
        from sightline.store.capture.keeping import Keeper
        from sightline.store.doors.harness.who import session_of, use_key
        from sightline.store.store import Store

        pending = self._pending
        self._store = store = Store(insist=False, patience=PATIENCE_SECONDS)
        session = session_of(pending.harness, pending.session, working_directory())
        self._session = session
        self._keeper = Keeper()
        self._keeper.begin(
            lambda: store.begin(
                "cmd",
                pending.kept,
                session.cwd,
                session.name,
                artifact=use_key(session.name, pending.use, unfiltered=pending.filtered),
            )
        )

    def take(self, data: bytes) -> None:
        """The next bytes."""
        if self._keeper is None:
            if self._pending.shape:
                pass_on(1, data)
            return
        if self._pending.shape:
            self._head += data[: HARD_LIMIT_BYTES - len(self._head)]
        try:
            self._keeper.take("out", data)
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        self._keeper = None
        note_mishap((*_WORDS, self._pending.use), error)
        pass_on(1, bytes(self._head))

    def end(self, ended: Ended) -> None:
        """All has come. The store is left open: closing it takes longer than all else here, and the process ends."""
        if self._keeper is None or self._store is None:
            return
        try:
            self._seal(self._keeper, self._store, ended)
        except Exception as error:
            self._failed(error)

    def _seal(self, keeper: "Keeper", store: "Store", ended: Ended) -> None:
        from sightline.store.capture.fallback import Unkept

        told = ["merged" * self._pending.merged, _LEFT_BEHIND * ended.left_open]
        if ended.cut:
            from sightline.store.capture.tap import CUT

            told.append(CUT)
        note = "; ".join(filter(None, told))
        kept = keeper.end(lambda recording: recording.seal(exit_code=None, note=note))
        if isinstance(kept, Unkept) and kept.error:
            note_mishap((*_WORDS, self._pending.use), kept.error)
        if self._pending.shape:
            from sightline.store.doors.harness.shaping import print_view

            print_view(store, self._session, self._pending, kept)
