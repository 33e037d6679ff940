"""The proxy: what becomes of each line between a client and a server; large results are kept on their way.

Only answers to ``tools/list`` and ``tools/call`` are read, and of these only what must be is written anew. Whatever
goes wrong here costs no line: it is passed on as it came.
"""

import contextlib
import json
import os
import select
import threading
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from sightline.doors.mcp.call import Call, Outcome
from sightline.doors.mcp.options import Options
from sightline.doors.mcp.protocol import META, Context, Rejected, finished
from sightline.doors.mcp.service import Service
from sightline.doors.mcp.wire import INTERNAL_ERROR, Id, LineWriter, encode, error_of, result_of
from sightline.doors.proxy.calls import LOOKS_LIKE_OURS, Ledger, Listing, ToolCall, asked_of, is_id, opened_by
from sightline.doors.proxy.long import LongLine
from sightline.doors.proxy.short import one_text
from sightline.doors.proxy.spans import (
    RESULT,
    NotPlain,
    Span,
    array_of,
    object_of,
    parse,
    plain,
    replaced,
    without,
)
from sightline.doors.proxy.tools import ADDED, Names, next_call
from sightline.errors import OutOfProcesses, SightlineError
from sightline.threads import start_thread

if TYPE_CHECKING:  # loaded while the server starts
    from sightline.doors.proxy.keep import ResultKeeper
    from sightline.doors.proxy.running_calls import RunningCalls

Change = tuple[int, int, str]
"""A part of a line and what is sent instead: (start, end, text)."""

_LOOK_SECONDS = 0.05

_message = object_of(result=object_of(**RESULT, tools=array_of(object_of())))
_batch = array_of(_message)


def _tell(line: bytes) -> bool:
    """Write a line, cut to what never waits, to standard error; False where it has no room, or nobody reads it."""
    room = select.poll()
    room.register(2, select.POLLOUT)
    if not room.poll(0):
        return False
    with contextlib.suppress(OSError):
        os.write(2, line[: select.PIPE_BUF - 1] + b"\n")
        return True
    return False


def _changed(send: Callable[[list[Change]], None], span: Span, instead: str) -> None:
    send([(span.start, span.end, instead)])


class Proxy:
    """One client and one server. A thread hands in the client's lines, another one the server's.

    What is kept goes to the default store, which is opened when it is first needed.

    Attributes:
        before_wait: called by the thread with the server's lines before it waits for others with a line of which
            `passes` said that it need not.
    """

    before_wait: Callable[[], None] = staticmethod(lambda: None)

    def __init__(
        self,
        client: LineWriter,
        *,
        profile: str = "",
        session: str = "",
        min_bytes: int | None = None,
        only: Collection[str] = (),
    ) -> None:
        """Nothing is loaded or opened yet that only a result needs.

        Args:
            client: takes lines for the client.
            profile: name of the profile; empty for that of the settings.
            session: name of the session of all calls; empty to go by client and harness.
            min_bytes: a result of more bytes than these is kept, as it is sent; None for one that is not short.
            only: names of the tools whose results may be kept; all by default.
        """
        self._client = client
        self._min_bytes = min_bytes
        self._only = frozenset(only)
        self._names = Names()
        self._service = Service(Options(tools=ADDED, profile=profile, session=session), next_call(self._names))
        self._ledger = Ledger()
        self._opened = Context("")
        self._ours: dict[Id, tuple[Call, threading.Thread]] = {}
        self._server_info: Any = None
        self._made: ResultKeeper | None = None
        self._running: RunningCalls | None = None
        self._has_warned = False

    @property
    def waits(self) -> bool:
        """Whether the server still owes an answer that must be read whole, because it may be changed."""
        return any(isinstance(asked, Listing) or self._may_keep(asked.name) for asked in self._ledger.open())

    def from_client(self, line: bytes) -> bytes:
        """What the server gets of a client's line: all of it, but for calls of the added tools, which are answered."""
        if not LOOKS_LIKE_OURS.search(line):
            return line
        try:
            value = json.loads(line)
            if isinstance(value, dict):
                return b"" if self._takes(value, len(line), in_batch=False) else line
            if isinstance(value, list):
                return self._batch_from_client(line, value)
        except (ValueError, RecursionError):
            pass  # no JSON in UTF-8: the server will say so
        return line

    def _batch_from_client(self, line: bytes, messages: list[Any]) -> bytes:
        taken = [isinstance(one, dict) and self._takes(one, len(line), in_batch=True) for one in messages]
        if not any(taken):
            return line
        text = line.decode()
        spans = parse(text, array_of(plain))
        rest = [text[span.start : span.end] for span, ours in zip(spans, taken, strict=True) if not ours]
        return f"[{','.join(rest)}]\n".encode() if rest else b""

    def _takes(self, message: dict[str, Any], size: int, *, in_batch: bool) -> bool:
        """Note what a message asks for; whether it is for us alone."""
        self._opened = opened_by(message) or self._opened
        if message.get("method") == "notifications/cancelled":
            return self._withdraw(message.get("params"))
        asked = asked_of(message, self._opened, size)
        if asked is None:
            return False
        number: Id = message["id"]
        verb = self._names.verb(asked.name, asked.arguments) if isinstance(asked, ToolCall) else None
        if verb is None or isinstance(asked, Listing):
            self._ledger.put(number, asked)
            if isinstance(asked, ToolCall) and self._running:
                self._running.wake()
            return False
        self._answer(number, verb, asked, in_batch)
        return True

    def _withdraw(self, params: Any) -> bool:
        number: Any = params.get("requestId") if isinstance(params, dict) else None
        theirs = self._ledger.take(number)
        if isinstance(theirs, ToolCall) and self._running:
            self._running.break_off(theirs)
        ours = self._ours.get(number) if is_id(number) else None
        if ours:
            ours[0].cancel()
        return ours is not None

    def _answer(self, number: Id, verb: str, asked: ToolCall, in_batch: bool) -> None:
        """Answer a call of an added tool, on a thread of its own."""

        def reply(outcome: Outcome) -> None:
            if isinstance(outcome, Rejected):
                answer = error_of(number, outcome.code, outcome.message, outcome.data)
            else:
                if self._server_info and asked.context.modern:
                    meta = {META + "serverInfo": self._server_info}
                    outcome = {**outcome, "_meta": {**outcome.get("_meta", {}), **meta}}
                answer = result_of(number, finished(outcome, "tools/call", asked.context))
            try:
                self._client.write(encode([answer] if in_batch else answer))
            except OSError:
                pass  # the client has gone, and whoever copies the server's lines will learn of it

        call = Call("tools/call", {"name": verb, "arguments": asked.arguments}, asked.context, reply)

        def run() -> None:
            self._service.answer(call)
            self._ours.pop(number, None)

        thread = threading.Thread(target=run, name="sightline-answer", daemon=True)
        self._ours[number] = call, thread
        try:
            start_thread(thread)
        except OutOfProcesses as error:
            del self._ours[number]
            call.answer(Rejected(INTERNAL_ERROR, f"{error.message}: {error.hint}"))

    def prepare(self) -> None:
        """Load and open what the first result needs, while the server starts."""
        try:
            self._service.desk()
            import sightline.doors.proxy.keep  # noqa: F401
            from sightline.doors.proxy.running_calls import RunningCalls

            self._running = RunningCalls(self._service, self._ledger, self._warn)
            self._running.wake()
        except Exception as error:  # whatever it is, the server's lines pass on; nothing is kept
            self._warn(error)

    def finish(self, seconds: float) -> None:
        """Wait for the answers of the added tools that are still being made, while the client reads; nothing follows.

        Args:
            seconds: how long at most.
        """
        until = time.monotonic() + seconds
        for call, thread in list(self._ours.values()):
            while thread.is_alive() and time.monotonic() < until and not self._client.is_cut_off:
                thread.join(_LOOK_SECONDS)
            call.cancel()
        if self._running:
            self._running.finish()
        if self._made:
            self._made.finish()

    def from_server(self, line: bytes) -> None:
        """Send a server's line to the client. Raises BrokenPipeError where it has gone."""
        if not self._ledger:
            self._write(line)
            return
        if self._made and len(line) <= self._made.short_bytes and self._passes_short(self._made, line):
            return
        try:
            text = line.decode()
            is_batch = text.lstrip()[:1] == "["
            messages = [span.value for span in parse(text, _batch)] if is_batch else [parse(text, _message)]
        except (UnicodeDecodeError, NotPlain):
            self.pass_on(iter((line,)))
            return
        if not messages or not self._rewrite(text, messages):
            self._write(line)

    def _write(self, line: bytes) -> None:
        if not self._client.write_now(line):
            self.before_wait()
            self._client.write_pieces(iter((line,)))

    def passes(self, line: bytes) -> bool:
        """Whether a line of the server can be sent as it is, without a wait but for a disk that is slow."""
        asked = self._ledger.open()
        if not asked:
            return True
        short_bytes = self._made.short_bytes if self._made else 0
        return len(line) <= short_bytes and not any(isinstance(one, Listing) for one in asked)

    def _passes_short(self, keeper: "ResultKeeper", line: bytes) -> bool:
        """Log and send an answer that is too short to be kept; False where it is something else."""
        found = one_text(line)
        asked = self._ledger.take_call(found[0]) if found else None
        if found is None or asked is None:
            return False
        try:
            keeper.passed(asked, found[1])
        except Exception as error:
            self._warn(error)
            asked.discard()
        self._write(line)
        return True

    def pass_on(self, pieces: Iterator[bytes]) -> None:
        """Send a line of the server that is not read, as it comes; an answer's end, once the log has it.

        Raises BrokenPipeError.
        """
        self.before_wait()
        self._client.write_pieces(self._passing(LongLine(pieces)))

    def _passing(self, line: LongLine) -> Iterator[bytes]:
        yield from line.all_but_the_last()
        asked = self._ledger.take(line.answered())
        if isinstance(asked, ToolCall):
            try:
                self._keeper.passed_long(asked, line.size)
            except Exception as error:
                self._warn(error)
                asked.discard()
        yield line.last

    @property
    def _keeper(self) -> "ResultKeeper":
        """Keeps and logs; made by the thread that hands in the server's lines."""
        if self._made is None:
            from sightline.doors.proxy.keep import ResultKeeper

            self._made = ResultKeeper(
                self._service, min_bytes=self._min_bytes, warn=self._warn, before_wait=lambda: self.before_wait()
            )
        return self._made

    def _may_keep(self, tool: str) -> bool:
        return not self._only or tool in self._only

    def _rewrite(self, text: str, messages: list[Any]) -> bool:
        """Send a line with what is to be changed in it; False where nothing is."""
        if len(messages) == 1:
            return self._answered(text, messages[0], lambda changes: self._send(text, changes))
        changes: list[Change] = []
        for message in messages:
            self._answered(text, message, changes.extend)
        if changes:
            self._send(text, changes)
        return bool(changes)

    def _send(self, text: str, changes: list[Change]) -> None:
        self._client.write_pieces(iter((replaced(text, changes).encode(),)))

    def _answered(self, text: str, message: Any, send: Callable[[list[Change]], None]) -> bool:
        """Whether a message was an answer of which something else was sent."""
        if not isinstance(message, dict) or "method" in message or "id" not in message:
            return False
        asked = self._ledger.take(message["id"].value)
        if asked is None:
            return False
        is_sent = False

        def sending(changes: list[Change]) -> None:
            nonlocal is_sent
            is_sent = True
            send(changes)

        try:
            if isinstance(asked, Listing):
                return "result" in message and self._listed(text, message["result"], asked, sending)
            return self._called(text, message, asked, sending)
        except Exception as error:
            if is_sent:
                raise
            self._warn(error)
            return False
        finally:
            if isinstance(asked, ToolCall):
                asked.discard()

    def _called(
        self, text: str, message: dict[str, Span], call: ToolCall, send: Callable[[list[Change]], None]
    ) -> bool:
        if result := message.get("result"):
            change = partial(_changed, send, result)
            return self._keeper.result(call, text, result, change if self._may_keep(call.name) else None)
        if error := message.get("error"):
            self._keeper.passed(call, text[error.start : error.end], failed=True)
        return False

    def _listed(self, text: str, result: Span, asked: Listing, send: Callable[[list[Change]], None]) -> bool:
        """A page of the list of tools: without schemas that a kept result would not fit, on the last one with ours."""
        members = result.value
        if not isinstance(members, dict) or not isinstance(tools := members.get("tools"), Span):
            return False
        if not isinstance(tools.value, list):
            return False
        if asked.first:
            self._names.begin()
        changes: list[Change] = []
        for tool in tools.value:
            name = tool.value["name"].value if isinstance(tool.value, dict) and "name" in tool.value else None
            if not isinstance(name, str):
                continue
            self._names.take(name)
            if "outputSchema" in tool.value and self._may_keep(name):
                changes.append((tool.start, tool.end, without(text, tool, tool.value, "outputSchema")))
        if "nextCursor" not in members or members["nextCursor"].value is None:
            ours = ",".join(encode(definition).decode() for definition in self._names.definitions())
            changes.append((tools.end - 1, tools.end - 1, f"{',' if tools.value else ''}{ours}"))
        if (meta := members.get("_meta")) and isinstance(meta.value, dict):
            self._server_info = meta.value.get(META + "serverInfo")
        if changes:
            send(changes)
        return bool(changes)

    def _warn(self, error: Exception) -> None:
        """Say once, where the server's own complaints go, what is wrong with the store: nobody else is told."""
        if not self._has_warned:
            hint = f" {error.hint}" if isinstance(error, SightlineError) else ""
            told = f"{type(error).__name__}: {error}" if not hint else f"{error}.{hint}"
            line = f"sightline proxy: results may pass unkept, or unlogged: {told}"
            self._has_warned = _tell(line.encode(errors="backslashreplace"))
