"""Calls that the server is at: one that takes long is in the store, and so in the timeline, before it is answered.

Each is a capture of its result that begins with the call: what is kept of a large result goes into it, of one that is
not kept it is discarded. It breaks off where no answer comes, as it does for all to see where the proxy is killed.
"""

import threading
import time
from collections import deque
from collections.abc import Callable

from sightline.capture.result import call_text
from sightline.disk.recording import Recording
from sightline.disk.recovery import adopt
from sightline.doors.mcp.service import Service
from sightline.doors.proxy.calls import Ledger, ToolCall
from sightline.log.sessions import working_directory

LONG_SECONDS = 0.25
"""After so long a call is written down: most are answered sooner, and cost nothing."""

END_SECONDS = 5.0
"""How long the end may take where the index is locked."""


class RunningCalls:
    """Writes calls down that take long, on a thread of its own, which sleeps while there are none.

    Args:
        service: opens the store when it is first needed.
        ledger: the calls that have no answer yet.
        warn: takes what goes wrong.
    """

    def __init__(self, service: Service, ledger: Ledger, warn: Callable[[Exception], None]) -> None:
        self._service = service
        self._ledger = ledger
        self._warn = warn
        self._cwd = working_directory()
        self._broken_off = deque[ToolCall]()
        self._woken = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sightline-running", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """There is a call: look at it when it has taken long."""
        if not self._woken.is_set():
            self._woken.set()

    def break_off(self, call: ToolCall) -> None:
        """No answer will come of a call that the ledger no longer has."""
        self._broken_off.append(call)
        self._woken.set()

    def finish(self) -> None:
        """The server has ended: no answer will come of the calls that are left."""
        self._is_over.set()
        self._woken.set()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        while not self._is_over.is_set():
            self._woken.wait()
            self._woken.clear()
            while not self._is_over.is_set() and (delay := self._look()) is not None:
                self._is_over.wait(delay)
        for call in self._ledger.take_calls():
            self._end(call)
        self._end_all()

    def _look(self) -> float | None:
        """Write down what has taken long; seconds until the next one has, None where there is none."""
        self._end_all()
        now = time.time()
        waiting = [call for call in self._ledger.calls() if not call.is_written]
        for call in waiting:
            if now - call.began >= LONG_SECONDS:
                self._begin(call)
        left = [LONG_SECONDS - (now - call.began) for call in waiting if not call.is_written]
        return max(min(left), 0.0) if left else None

    def _begin(self, call: ToolCall) -> None:
        """Begin the capture of its result; it is none where the answer has come meanwhile."""
        call.is_written = True
        try:
            recording = self._recording(call)
            if not self._ledger.attach(call, recording):
                recording.discard()
        except Exception as error:  # the call goes on, and its answer passes
            self._warn(error)

    def _recording(self, call: ToolCall) -> Recording:
        desk = self._service.desk()
        session, _ = desk.caller(call.context)
        command = call_text(call.name, call.told)
        recording = desk.store.begin("tool", command, self._cwd, session.name, created=call.began)
        recording.register()
        return recording

    def _end_all(self) -> None:
        while self._broken_off:
            self._end(self._broken_off.popleft())

    def _end(self, call: ToolCall) -> None:
        try:
            recording = call.recording or self._recording(call)
            recording.abandon()
            store = self._service.desk().store
            adopt(store.layout, store.index, recording.name)
        except Exception as error:
            self._warn(error)
