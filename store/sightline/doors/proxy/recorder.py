"""Keeps large results of the calls that pass, logs all others, and shows a long call in the store while it runs."""

import threading
import time
from collections import deque
from collections.abc import Callable

from sightline.base.errors import SightlineError
from sightline.base.project import working_directory
from sightline.base.records import TOOL_FAILED, Buffer, Session
from sightline.capture.result import call_text, capture_result
from sightline.doors.proxy.calls import CallLedger, ProxiedCall, dumped
from sightline.doors.proxy.results import Result, is_error, parts_of, read_result, told, with_content, without_secrets
from sightline.doors.tools.handlers import Caller, render, result_of
from sightline.doors.tools.protocol import Context
from sightline.doors.tools.service import Service
from sightline.light.typing_names import Any
from sightline.log.log import LogWriter
from sightline.log.sessions import header_of
from sightline.log.views import Appended, Shows, append_view, index_view
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.segments import Segment
from sightline.store import Recording
from sightline.verbs.delivery import deliver
from sightline.verbs.result_view import result_reply

INDEXED_WITHIN_SECONDS = 0.02
"""How long lists may lag behind the log: calls within this time go into the index together, and delay no answer."""

LONG_SECONDS = 0.25
"""After so long the capture of a call begins; most calls are answered sooner, and cost nothing."""

END_SECONDS = 5.0
"""How long to wait for a locked index when calls that were never answered are recorded at the end."""

_SHORT_BYTES = 1 << 16  # whatever a person has set: to log a longer line would keep the client waiting

VERB = "tool"
"""The verb of such a call in the log; the request names the tool."""

Send = Callable[[Any], None]
"""Sends a result instead of the server's."""


class CallRecorder:
    """Keeps and logs the results of one server, all on one thread; the index follows the log on another one.

    Args:
        service: opens the store when it is first needed.
        ledger: the calls that have no answer yet.
        min_bytes: a result of more bytes than these is kept, as it is sent; None for one that is not short.
        warn: is told what goes wrong with the index, or with a long call.
        before_wait: called before the log of a short answer is waited for.

    Attributes:
        long_calls: writes down calls that take long.

    Raises:
        SightlineError: the store cannot be used.
    """

    def __init__(
        self,
        service: Service,
        ledger: CallLedger,
        *,
        min_bytes: int | None,
        warn: Callable[[Exception], None],
        before_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self._service = service
        self._before_wait = before_wait
        self._warn = warn
        self._cwd = working_directory()
        self._store = service.handlers().store
        self._min_bytes = min_bytes
        self._file: LogWriter | None = None  # of the session that asked last, since its calls follow each other
        self._called: tuple[Context, Session, dict[str, Any]] | None = None  # most requests say the same as the last
        self._logged: deque[Appended] = deque()
        self._catching_up = threading.Lock()
        self._has_logged = threading.Event()
        self._is_over = threading.Event()
        self._indexing = threading.Thread(target=self._index, name="sightline-index", daemon=True)
        self._indexing.start()
        self.long_calls = LongCalls(service, ledger, warn)

    @property
    def _keeps_above(self) -> int:
        """The size in bytes above which a result is kept, by the settings as they are now. Raises SettingError."""
        handlers = self._service.handlers()
        return handlers.profile.short.limit_bytes if self._min_bytes is None else self._min_bytes

    @property
    def short_bytes(self) -> int:
        """The size in bytes of a line up to which an answer is never changed."""
        try:
            self._store.obey_settings()
            return 0 if self._store.settings.redacts else min(self._keeps_above, _SHORT_BYTES)
        except SightlineError:
            return 0  # whoever then logs the answer says what is wrong

    def finish(self) -> None:
        """Put what was logged last into the index; nothing may be logged afterwards."""
        self.long_calls.finish()
        self._is_over.set()
        self._has_logged.set()
        self._indexing.join()

    def result(self, call: ProxiedCall, value: Any, line: bytes, send: Send | None) -> None:
        """Keep a large result and send a view of it instead; log a result that passes as it is.

        Args:
            call: what the client called.
            value: the server's result.
            line: the line that holds it.
            send: sends the view instead; None if the result may not be replaced.

        Raises:
            SightlineError: it could not be logged, and passes as it is.
        """
        keeps_above = self._keeps_above
        if send and len(line) > keeps_above:
            result = read_result(value)
            if result and result.is_larger(keeps_above) and self._keep(call, result, line, send):
                return
        if send and self._hide(call, value, send):
            return
        self.passed(call, told(value), failed=is_error(value))

    def _hide(self, call: ProxiedCall, value: Any, send: Send) -> bool:
        """Send a result with its secrets hidden, and log that; False if it has none, or nobody wants them hidden."""
        redaction = self._store.settings.redaction()
        hidden = without_secrets(redaction, value) if redaction else None
        if hidden is None:
            return False
        clean, said = hidden
        self._log(call, said, len(dumped(clean).encode()), failed=is_error(value))
        send(clean)
        return True

    def passed(self, call: ProxiedCall, text: str, *, failed: bool = False) -> None:
        """Log an answer that passes as it is.

        Args:
            call: what the client called.
            text: the answer.
            failed: whether the answer is an error.

        Raises:
            SightlineError: it could not be logged.
        """
        size = len(text.encode(errors="surrogatepass"))
        redaction = self._store.settings.redaction()
        if redaction and redaction.text(text) != text:
            said = f"[{size:,} bytes, passed on as they came; not logged, since they hold a secret]\n"
            self._log(call, said, size, failed=failed)
        elif size > HARD_LIMIT_BYTES:
            self.passed_long(call, size, failed=failed)
        else:
            self._log(call, text, size, failed=failed)

    def passed_long(self, call: ProxiedCall, size: int, *, failed: bool = False) -> None:
        """Log that so many bytes pass. Raises SightlineError."""
        self._log(call, f"[{size:,} bytes, passed on as they came]\n", size, failed=failed)

    def _log(self, call: ProxiedCall, text: str, size: int, *, failed: bool) -> None:
        if self._called is None or self._called[0] is not call.context:
            self._called = call.context, *self._caller_of(call.context)
        _, session, caller = self._called
        shows = Shows(VERB, {"tool": call.name, "arguments": call.told, **caller}, bytes_total=size, failed=failed)
        self._logged.append(append_view(self._store, session, shows, (Segment(text),), file=self._file))
        self._has_logged.set()
        if call.recording:  # nothing of it is kept; discarded before the answer, or it would be interrupted
            self._before_wait()
            call.discard()

    def _caller_of(self, context: Context) -> tuple[Session, dict[str, Any]]:
        """Who calls, and what the log says of the caller; opens the session's file."""
        session, caller = self._service.handlers().caller(context)
        path, header = self._store.layout.audit_file(session.name), header_of(session)
        if self._file is None or (self._file.path, self._file.header) != (path, header):
            if self._file:
                self._file.close()
            self._file = LogWriter(path, header, self._before_wait)
        return session, _logged(caller)

    def _index(self) -> None:
        is_last = False
        while not is_last:
            self._has_logged.wait()
            self._has_logged.clear()
            is_last = self._is_over.wait(INDEXED_WITHIN_SECONDS)
            try:
                self._catch_up()
            except Exception as error:  # the log has it, and the server's lines go on
                self._warn(error)

    def _catch_up(self) -> None:
        """Put what was logged so far into the index, in order; what fails stays for the next time."""
        with self._catching_up:
            logged = tuple(self._logged)
            store = self._service.handlers().store
            with store.index.transaction():
                for view in logged:
                    index_view(store, view)
            for _ in logged:
                self._logged.popleft()

    def _keep(self, call: ProxiedCall, result: Result, line: bytes, send: Send) -> bool:
        asking, caller = self._service.handlers().asking(call.context)
        parts = parts_of(result, line)
        about = [TOOL_FAILED] if result.failed else []
        kept = capture_result(
            asking.local,
            [part.block for part in parts],
            command=call_text(call.name, call.told),
            cwd=self._cwd,
            session=asking.session.name,
            note="; ".join([*about, *(part.about for part in parts if part.about)]),
            sampling=asking.profile.results,
            recording=call.recording,
        )
        call.recording = None
        if not isinstance(kept, Buffer):
            return False
        reply = result_reply(
            asking,
            kept,
            verb=VERB,
            request={"tool": call.name, "arguments": call.told, **_logged(caller)},
            failed=result.failed,
            blocks=[number for number, part in enumerate(parts) if part.shown],
            always_ref=True,
        )
        self._catch_up()  # lists are in the order in which the index learns of views

        def sending(text: str) -> None:
            made = result_of(asking, reply, text)
            send(with_content(result, made["content"], made.get("_meta", {})))

        deliver(asking, reply, render, sending)
        return True


def _logged(caller: Caller) -> dict[str, Any]:
    return {"caller": logged} if (logged := caller.logged()) else {}


class LongCalls:
    """Writes long calls down, on a thread of its own, which sleeps while there are none.

    For each a capture of its result begins with the call: a large result goes into it, and for one
    that is not kept it is discarded. If no answer comes, or if we are killed, it is listed as interrupted.

    Args:
        service: opens the store when it is first needed.
        ledger: the calls that have no answer yet.
        warn: is told what goes wrong.
    """

    def __init__(self, service: Service, ledger: CallLedger, warn: Callable[[Exception], None]) -> None:
        self._service = service
        self._ledger = ledger
        self._warn = warn
        self._cwd = working_directory()
        self._broken_off = deque[ProxiedCall]()
        self._woken = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sightline-calls", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Watch a call: begin its capture once it has taken long."""
        if not self._woken.is_set():
            self._woken.set()

    def break_off(self, call: ProxiedCall) -> None:
        """End the capture of a call that will never be answered."""
        self._broken_off.append(call)
        self._woken.set()

    def finish(self) -> None:
        """End the captures of all calls that are left, since the server has ended."""
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
        """Write down what has taken long; return the seconds until the next call has, None if no call is open."""
        self._end_all()
        now = time.time()
        waiting = [call for call in self._ledger.calls() if not call.is_written]
        for call in waiting:
            if now - call.began >= LONG_SECONDS:
                self._begin(call)
        left = [LONG_SECONDS - (now - call.began) for call in waiting if not call.is_written]
        return max(min(left), 0.0) if left else None

    def _begin(self, call: ProxiedCall) -> None:
        """Begin the capture of a call's result, unless the answer has come meanwhile."""
        call.is_written = True
        try:
            if not self._service.handlers().store.settings.captures(self._cwd):
                return
            recording = self._recording(call)
            if not self._ledger.attach(call, recording):
                recording.discard()
        except Exception as error:  # the call goes on, and its answer will pass
            self._warn(error)

    def _recording(self, call: ProxiedCall) -> Recording:
        handlers = self._service.handlers()
        session, _ = handlers.caller(call.context)
        command = call_text(call.name, call.told)
        recording = handlers.store.begin("tool", command, self._cwd, session.name, created=call.began)
        recording.register()
        return recording

    def _end_all(self) -> None:
        while self._broken_off:
            self._end(self._broken_off.popleft())

    def _end(self, call: ProxiedCall) -> None:
        try:
            if call.recording is None and not self._service.handlers().store.settings.captures(self._cwd):
                return
            recording = call.recording or self._recording(call)
            recording.abandon()
            self._service.handlers().store.adopt(recording.name)
        except Exception as error:
            self._warn(error)
