"""Results on their way through: large ones are kept and shown in part, all others only logged."""

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sightline.capture.result import call_text, capture_result
from sightline.doors.mcp.calls import render, result_of
from sightline.doors.mcp.protocol import Context
from sightline.doors.mcp.service import Service
from sightline.doors.proxy.calls import ToolCall
from sightline.doors.proxy.redacted import without_secrets
from sightline.doors.proxy.results import Result, parts_of, read_result, rewritten, told
from sightline.doors.proxy.spans import Span
from sightline.log.log import Appending
from sightline.log.sessions import working_directory
from sightline.log.views import Appended, Shows, append_view, header_of, index_view
from sightline.records import TOOL_FAILED, Buffer, Session
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.segments import Segment
from sightline.verbs.delivery import deliver
from sightline.verbs.result_view import result_reply
from sightline.verbs.structured_view import sampling_of

if TYPE_CHECKING:
    from sightline.doors.mcp.caller import Caller

INDEXED_WITHIN_SECONDS = 0.02
"""How long lists may lag behind the log: what comes within it goes into the index at once, and holds up no answer."""

_SHORT_BYTES = 1 << 16  # whatever a person has set: a longer line is not read a second time

VERB = "tool"
"""What the log calls a call of a proxied server's tool; its request tells which."""


class ResultKeeper:
    """Keeps and logs the results of one server, all on one thread; the index follows the log on another one.

    Args:
        service: opens the store when it is first needed.
        min_bytes: a result of more bytes than these is kept, as it is sent; None for one that is not short.
        warn: takes what goes wrong with the index.
        before_wait: called before the log of a short answer is waited for.

    Attributes:
        short_bytes: an answer in a line up to this size need not be looked at closely: nothing of it is ever changed.

    Raises:
        SightlineError: the store cannot be used.
    """

    def __init__(
        self,
        service: Service,
        *,
        min_bytes: int | None,
        warn: Callable[[Exception], None],
        before_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self._service = service
        self._before_wait = before_wait
        self._warn = warn
        self._cwd = working_directory()
        self._store = service.desk().store
        self._keeps_above = service.desk().profile.short.limit_bytes if min_bytes is None else min_bytes
        self.short_bytes = 0 if self._store.settings.redacts else min(self._keeps_above, _SHORT_BYTES)
        self._file: Appending | None = None  # of the session that asked last: its calls follow each other
        self._called: tuple[Context, Session, dict[str, Any]] | None = None  # most say nothing of themselves anew
        self._logged: deque[Appended] = deque()
        self._catching_up = threading.Lock()
        self._has_logged = threading.Event()
        self._is_over = threading.Event()
        self._indexing = threading.Thread(target=self._index, name="sightline-index", daemon=True)
        self._indexing.start()

    def finish(self) -> None:
        """Put the last of what was logged into lists; nothing may be logged after it."""
        self._is_over.set()
        self._has_logged.set()
        self._indexing.join()

    def result(self, call: ToolCall, text: str, span: Span, send: Callable[[str], None] | None) -> bool:
        """Keep a large result and send what is shown of it instead.

        Args:
            call: what the client called.
            text: the server's line.
            span: where the result stands in it, ``content`` walked into.
            send: takes the result that is sent instead; None where it may not be kept.

        Returns:
            False where nothing was sent: the result is to pass as it is, and has been logged if it could be.
        """
        result = read_result(text, span)
        if result and send and result.size > self._keeps_above and self._keep(call, result, send):
            return True
        if send and self._store.settings.redacts and self._hide(call, text, span, send, _is_error(result, span)):
            return True
        self.passed(call, told(result) if result else text[span.start : span.end], failed=_is_error(result, span))
        return False

    def _hide(self, call: ToolCall, text: str, span: Span, send: Callable[[str], None], failed: bool) -> bool:
        """Send a result without its secrets, and log that; False where it has none."""
        hidden = without_secrets(self._store, text[span.start : span.end])
        if hidden is None:
            return False
        clean, said = hidden
        self._log(call, said, len(clean.encode(errors="surrogatepass")), failed=failed)
        send(clean)
        return True

    def passed(self, call: ToolCall, text: str, *, failed: bool = False) -> None:
        """Log what passes as it is; lists have it soon after.

        Args:
            call: what the client called.
            text: what it is answered.
            failed: whether that is an error.

        Raises:
            SightlineError: it could not be logged.
        """
        size = len(text.encode(errors="surrogatepass"))
        redaction = self._store.redaction()
        if redaction and redaction.text(text) != text:
            told = f"[{size:,} bytes, passed on as they came; not logged, since they hold a secret]\n"
            self._log(call, told, size, failed=failed)
        elif size > HARD_LIMIT_BYTES:
            self.passed_long(call, size, failed=failed)
        else:
            self._log(call, text, size, failed=failed)

    def passed_long(self, call: ToolCall, size: int, *, failed: bool = False) -> None:
        """Log that so many bytes pass. Raises SightlineError."""
        self._log(call, f"[{size:,} bytes, passed on as they came]\n", size, failed=failed)

    def _log(self, call: ToolCall, text: str, size: int, *, failed: bool) -> None:
        if self._called is None or self._called[0] is not call.context:
            self._called = call.context, *self._caller_of(call.context)
        _, session, caller = self._called
        shows = Shows(VERB, {"tool": call.name, "arguments": call.told, **caller}, bytes_total=size, failed=failed)
        self._logged.append(append_view(self._store, session, shows, (Segment(text),), file=self._file))
        self._has_logged.set()
        if call.recording:  # nothing of it is kept; before it is answered, or it would have ended without an answer
            self._before_wait()
            call.discard()

    def _caller_of(self, context: Context) -> tuple[Session, dict[str, Any]]:
        """Who calls, and what a request's log says of that; the session's file is open then."""
        session, caller = self._service.desk().caller(context)
        path, header = self._store.layout.audit_file(session.name), header_of(session)
        if self._file is None or (self._file.path, self._file.header) != (path, header):
            if self._file:
                self._file.close()
            self._file = Appending(path, header, self._before_wait)
        return session, _logged(caller)

    def _index(self) -> None:
        is_last = False
        while not is_last:
            self._has_logged.wait()
            self._has_logged.clear()
            is_last = self._is_over.wait(INDEXED_WITHIN_SECONDS)
            try:
                self._catch_up()
            except Exception as error:  # the log has it, and the server's lines pass on
                self._warn(error)

    def _catch_up(self) -> None:
        """Put what was logged so far into lists, in its order; what cannot be stays for the next time."""
        with self._catching_up:
            logged = tuple(self._logged)
            store = self._service.desk().store
            with store.index.transaction():
                for view in logged:
                    index_view(store, view)
            for _ in logged:
                self._logged.popleft()

    def _keep(self, call: ToolCall, result: Result, send: Callable[[str], None]) -> bool:
        asking, caller = self._service.desk().asking(call.context)
        parts = parts_of(result)
        about = [TOOL_FAILED] if result.failed else []
        kept = capture_result(
            asking.store,
            [part.block for part in parts],
            command=call_text(call.name, call.told),
            cwd=self._cwd,
            session=asking.session.name,
            note="; ".join([*about, *(part.about for part in parts if part.about)]),
            sampling=sampling_of(asking.profile),
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
        self._catch_up()  # lists go by the order in which they learn of views

        def sending(text: str) -> None:
            made = result_of(asking, reply, text)
            send(rewritten(result, made["content"], made.get("_meta", {})))

        deliver(asking, reply, render, sending)
        return True


def _is_error(result: Result | None, span: Span) -> bool:
    """Whether a tool's result, in whatever form, says that it is an error."""
    if result:
        return result.failed
    return isinstance(span.value, dict) and "isError" in span.value and span.value["isError"].value is True


def _logged(caller: "Caller") -> dict[str, Any]:
    return {"caller": logged} if (logged := caller.logged()) else {}
