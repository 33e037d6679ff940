"""Results on their way through: large ones are kept and shown in part, all others only logged."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sightline.store.audit.sessions import working_directory
from sightline.store.audit.views import Appended, Shows, append_view, index_view
from sightline.store.capture.result import FAILED_NOTE, call_text, capture_result
from sightline.store.doors.mcp.calls import render, result_of
from sightline.store.doors.mcp.proxy_calls import ToolCall
from sightline.store.doors.mcp.proxy_results import Result, parts_of, read_result, rewritten, told
from sightline.store.doors.mcp.proxy_spans import Span
from sightline.store.doors.mcp.service import Service
from sightline.store.records import Buffer
from sightline.store.shape.budgets import HARD_LIMIT_BYTES
from sightline.store.shape.segments import Segment
from sightline.store.tools.reply import deliver
from sightline.store.tools.result_view import result_reply
from sightline.store.tools.structured_view import sampling_of

if TYPE_CHECKING:
    from sightline.store.doors.mcp.caller import Caller

VERB = "tool"
"""What the log calls a call of a proxied server's tool; its request tells which."""


class ResultKeeper:
    """Keeps and logs the results of one server; all on one thread.

    Args:
        service: opens the store when it is first needed.
        min_bytes: a result of more bytes than these is kept, as it is sent; None for one that is not short.
    """

    def __init__(self, service: Service, *, min_bytes: int | None) -> None:
        self._service = service
        self._min_bytes = min_bytes
        self._cwd = working_directory()
        self._logged: list[Appended] = []

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
        if result and send and self._is_large(result) and self._keep(call, result, send):
            return True
        self.passed(call, told(result) if result else text[span.start : span.end])
        return False

    def _is_large(self, result: Result) -> bool:
        short = self._service.desk().profile.short.limit_bytes
        return result.size > (short if self._min_bytes is None else self._min_bytes)

    def passed(self, call: ToolCall, text: str) -> None:
        """Log what passes as it is; `catch_up` puts it into lists, once it has. Raises SightlineError."""
        asking, caller = self._service.desk().asking(call.context)
        size = len(text)
        if size > HARD_LIMIT_BYTES:
            text = f"[{size:,} characters, passed on as they came]\n"
        shows = Shows(VERB, _request(call, caller), bytes_total=size)
        self._logged.append(append_view(asking.store, asking.session, shows, (Segment(text),)))

    def catch_up(self) -> None:
        """Put what was logged into lists. Raises SightlineError."""
        logged, self._logged = self._logged, []
        for view in logged:
            index_view(self._service.desk().store, view)

    def _keep(self, call: ToolCall, result: Result, send: Callable[[str], None]) -> bool:
        asking, caller = self._service.desk().asking(call.context)
        parts = parts_of(result)
        about = [FAILED_NOTE] if result.failed else []
        kept = capture_result(
            asking.store,
            [part.block for part in parts],
            command=call_text(call.name, call.told),
            cwd=self._cwd,
            session=asking.session.name,
            note="; ".join([*about, *(part.about for part in parts if part.about)]),
            sampling=sampling_of(asking.profile),
        )
        if not isinstance(kept, Buffer):
            return False
        reply = result_reply(
            asking,
            kept,
            verb=VERB,
            request=_request(call, caller),
            failed=result.failed,
            blocks=[number for number, part in enumerate(parts) if part.shown],
            always_ref=True,
        )

        def sending(text: str) -> None:
            made = result_of(asking, reply, text)
            send(rewritten(result, made["content"], made.get("_meta", {})))

        deliver(asking, reply, render, sending)
        return True


def _request(call: ToolCall, caller: "Caller") -> dict[str, Any]:
    request = {"tool": call.name, "arguments": call.told}
    return {**request, **({"caller": logged} if (logged := caller.logged()) else {})}
