"""The MCP server on standard input and output: reads lines, hands calls to threads, writes answers as they come."""

import select
import threading
import time

from sightline.base.errors import OutOfProcesses
from sightline.base.threads import start_thread
from sightline.doors.tools.line_io import LineReader, LineTooLong, LineWriter
from sightline.doors.tools.protocol import (
    BATCHES,
    EVERY_SECONDS,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    LEGACY,
    META,
    METHOD_NOT_FOUND,
    ROOTS_CHANGED,
    CallRequest,
    Context,
    Id,
    Invalid,
    Message,
    MessageBatch,
    Notification,
    OpenCall,
    Outcome,
    Rejected,
    Response,
    context_of,
    decode,
    encode,
    error_of,
    finished,
    has_roots,
    introduction,
    notification_of,
    opened_by,
    result_of,
    wanted_uris,
)
from sightline.doors.tools.service import Service
from sightline.light.library import partial, suppress
from sightline.light.typing_names import Any, Callable

LINE_LIMIT_BYTES = 16 << 20
"""A longer request is refused unread; no command or query needs that much."""

CALLS_AT_ONCE = 512
"""More calls at once are refused: each has a thread, and the agent no longer waits for most of them."""

END_GRACE_SECONDS = 1.0
"""How long calls may run on once the input has ended, as after a piped script. Together with the time to end
commands this stays below the 2 s after which clients kill a server."""

LAST_WORDS_SECONDS = 0.2
"""How long answers may take after that: those of commands that were just ended, and those to subscriptions."""

LISTEN = "subscriptions/listen"
UPDATED = "notifications/resources/updated"
_INLINE = ("tools/list", "resources/templates/list")
_MODERN_ONLY = ("server/discover", LISTEN)
_LEGACY_ONLY = ("initialize", "ping", "resources/subscribe", "resources/unsubscribe")


_Send = Callable[[dict[str, Any]], None]


class StdioServer:
    """One client's connection.

    Args:
        service: answers the calls.
        source: descriptor that requests are read from.
        sink: descriptor that answers are written to.
    """

    def __init__(self, service: Service, source: int, sink: int) -> None:
        self._service = service
        self._source = source
        self._writer = LineWriter(sink)
        self._sink = sink
        self._opened = Context(LEGACY[0])
        self._progress = ProgressSender(lambda params: self._send(notification_of("notifications/progress", params)))
        self._lock = threading.Lock()
        self._calls: dict[Id, OpenCall] = {}
        self._working = 0  # calls that a thread is answering
        self._gone = False

    def serve(self, wait: Callable[[int], None]) -> None:
        """Answer until the input ends or nobody reads any more.

        Args:
            wait: waits until a descriptor can be read; an error that it raises ends the connection.
        """
        reader = LineReader(self._source, limit=LINE_LIMIT_BYTES, wait=wait)
        while not self._gone:
            try:
                line = reader.read()
            except LineTooLong as error:
                told = f"a line of {error.size:,} bytes; at most {LINE_LIMIT_BYTES:,} are read"
                self._send(error_of(None, INVALID_REQUEST, told))
                continue
            except OSError:
                return
            if line is None:
                return
            if not line.isspace() and line:
                self._take_line(line)

    def close(self, *, wait: bool) -> None:
        """End all calls and subscriptions.

        Args:
            wait: whether calls may still finish, since the client has closed only its input.
        """
        deadline = time.monotonic() + (END_GRACE_SECONDS if wait and not self._gone and self._is_read() else 0.0)
        while self._working and time.monotonic() < deadline:
            time.sleep(0.005)
        # Calls that end now are still answered with what there is, if that works at once. Writing may block forever,
        # so another thread does it.
        self._service.close()
        ending = threading.Thread(target=self._end_subscriptions, daemon=True)
        with suppress(OutOfProcesses):
            start_thread(ending)
        deadline = time.monotonic() + LAST_WORDS_SECONDS
        while (self._working or ending.is_alive()) and time.monotonic() < deadline and not self._gone:
            time.sleep(0.005)
        self._service.settle()
        with self._lock:
            calls = list(self._calls.values())
        for call in calls:
            call.cancel()

    def _is_read(self) -> bool:
        """Whether anyone can still read what is written."""
        poll = select.poll()
        poll.register(self._sink, 0)
        return not any(event & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, event in poll.poll(0))

    # messages

    def _take_line(self, line: bytes) -> None:
        message = decode(line)
        if not isinstance(message, MessageBatch):
            self._take(message, self._send)
        elif self._opened.version != BATCHES:
            self._send(error_of(None, INVALID_REQUEST, f"this version of MCP has no batches (only {BATCHES} has)"))
        else:
            answers = _Answers(sum(isinstance(one, CallRequest | Invalid) for one in message.messages), self._write)
            for one in message.messages:
                self._take(one, answers.add, answers.withdraw)

    def _take(self, message: Message, send: _Send, withdraw: Callable[[], None] | None = None) -> None:
        """Do what a message asks for.

        Args:
            message: the message.
            send: takes its answer.
            withdraw: called instead if the client has cancelled the request.
        """
        match message:
            case Invalid():
                send(error_of(message.id, message.code, message.message))
            case CallRequest():
                self._request(message, send, withdraw)
            case Notification():
                self._notified(message)
            case Response():
                if self._service.roots:
                    self._service.roots.take(message.id, message.result)

    def _notified(self, message: Notification) -> None:
        """Handle a notification: of roots, or of a cancellation of a request that is being answered."""
        if self._service.roots and message.method in ("notifications/initialized", ROOTS_CHANGED):
            self._service.roots.ask()
            return
        number = message.params.get("requestId")
        if message.method != "notifications/cancelled" or not isinstance(number, int | str) or isinstance(number, bool):
            return
        with self._lock:
            call = self._calls.pop(number, None)
        if call is not None:
            call.cancel()

    def _request(self, message: CallRequest, send: _Send, withdraw: Callable[[], None] | None) -> None:
        method, params = message.method, message.params
        try:
            context = context_of(method, params, self._opened)
            if method in (_LEGACY_ONLY if context.modern else _MODERN_ONLY):
                raise Rejected(METHOD_NOT_FOUND, f"Method not found in {context.version}: {method}")
            if method == "initialize":
                context = self._opened = opened_by(params)
                if has_roots(params) and not self._service.options.root:
                    from sightline.doors.tools.roots import (
                        ClientRoots,  # `urllib` takes 4 ms, and few clients have roots
                    )

                    self._service.roots = ClientRoots(self._send)
        except Rejected as rejection:
            send(error_of(message.id, rejection.code, rejection.message, rejection.data))
            return
        call = OpenCall(method, params, context, lambda outcome: self._answered(message.id, call, outcome, send))
        if withdraw:
            call.at_cancel(withdraw)
        if method in ("initialize", "server/discover"):
            call.answer(introduction(context, self._service.instructions()))
        elif method == "ping":
            call.answer({})
        elif method in _INLINE:
            self._service.answer(call)
        else:
            self._begin(message.id, call)

    def _begin(self, number: Id, call: OpenCall) -> None:
        with self._lock:
            full = self._working >= CALLS_AT_ONCE
            if not full:
                self._working += 1
                self._calls[number] = call
        if full:
            call.answer(Rejected(INTERNAL_ERROR, f"{CALLS_AT_ONCE} calls are being answered; wait for one to end"))
            return
        self._progress.follow(call)
        try:
            self._service.threads.start(lambda: self._work(number, call))
        except OutOfProcesses as error:
            with self._lock:
                self._working -= 1
            call.answer(Rejected(INTERNAL_ERROR, f"{error.message}: {error.hint}"))

    def _work(self, number: Id, call: OpenCall) -> None:
        try:
            if call.method in ("resources/subscribe", "resources/unsubscribe"):
                self._service.answer(call, self._subscribe)
            elif call.method == LISTEN:
                self._service.answer(call, lambda service, call: self._listen(service, call, number))
            else:
                self._service.answer(call)
        finally:
            with self._lock:
                self._working -= 1

    def _answered(self, number: Id, call: OpenCall, outcome: Outcome, send: _Send) -> None:
        with self._lock:
            if self._calls.get(number) is call:
                del self._calls[number]
        if isinstance(outcome, Rejected):
            send(error_of(number, outcome.code, outcome.message, outcome.data))
        else:
            send(result_of(number, finished(outcome, call.method, call.context)))

    # subscriptions

    def _subscribe(self, service: Service, call: OpenCall) -> None:
        """Subscribe a client from before 2026-07-28 to one resource; notifications need nothing further."""
        handlers, uri = service.handlers(), str(call.params.get("uri"))
        ref = handlers.ref_of(uri, call)
        if call.method == "resources/subscribe":
            handlers.watch.add(uri, ref, uri, lambda uri: self._send(notification_of(UPDATED, {"uri": uri})))
        else:
            handlers.watch.remove(uri)
        call.answer({})

    def _listen(self, service: Service, call: OpenCall, number: Id) -> None:
        """Subscribe a client since 2026-07-28: a stream of notifications, open until the client cancels it."""
        meta = {META + "subscriptionId": number}
        acknowledged = threading.Event()
        honoured: list[str] = []

        def tell(uri: str) -> None:
            acknowledged.wait()
            call.while_open(lambda: self._send(notification_of(UPDATED, {"_meta": meta, "uri": uri})))

        try:
            for uri in wanted_uris(call.params.get("notifications")):
                handlers, key = service.handlers(), (number, uri)
                try:
                    ref = handlers.ref_of(uri, call)
                except Rejected:
                    continue  # a subscription that is not acknowledged is not watched
                honoured.append(uri)
                call.at_cancel(partial(handlers.watch.remove, key))
                handlers.watch.add(key, ref, uri, tell)
            filtered = {"resourceSubscriptions": honoured} if honoured else {}
            params = {"_meta": meta, "notifications": filtered}
            call.while_open(lambda: self._send(notification_of("notifications/subscriptions/acknowledged", params)))
        finally:
            acknowledged.set()  # otherwise the watch would wait forever

    def _end_subscriptions(self) -> None:
        with self._lock:
            open_ones = [(number, call) for number, call in self._calls.items() if call.method == LISTEN]
        for number, call in open_ones:
            call.answer({"_meta": {META + "subscriptionId": number}})

    def _send(self, message: dict[str, Any]) -> None:
        self._write(encode(message))

    def _write(self, line: bytes) -> None:
        try:
            self._writer.write(line)
        except OSError:
            self._gone = True


class _Answers:
    """The answers to one batch, sent together once the last one is there; cancelled requests get none."""

    def __init__(self, expected: int, write: Callable[[bytes], None]) -> None:
        self._expected = expected
        self._write = write
        self._lock = threading.Lock()
        self._answers: list[dict[str, Any]] = []

    def add(self, answer: dict[str, Any]) -> None:
        """Take one answer."""
        with self._lock:
            self._answers.append(answer)
            complete = len(self._answers) == self._expected
        if complete:
            self._write(encode(self._answers))

    def withdraw(self) -> None:
        """Note that one answer less is to come."""
        with self._lock:
            self._expected -= 1
            complete = len(self._answers) == self._expected
        if complete and self._answers:
            self._write(encode(self._answers))


class ProgressSender:
    """Sends notifications of progress for calls; its thread lives as long as there are any.

    Args:
        notify: sends the parameters of a ``notifications/progress``.
    """

    def __init__(self, notify: Callable[[dict[str, Any]], None]) -> None:
        self._notify = notify
        self._lock = threading.Lock()
        self._calls: dict[OpenCall, float] = {}
        self._running = False

    def follow(self, call: OpenCall) -> None:
        """Report a call's progress until it is answered, if its client has given a token for that."""
        if call.progress_token is None:
            return
        with self._lock:
            self._calls[call] = time.monotonic()
            if self._running:
                return
            self._running = True
        try:
            start_thread(threading.Thread(target=self._run, name="sightline-progress", daemon=True))
        except OutOfProcesses:  # the call goes on without notifications
            with self._lock:
                self._calls.clear()
                self._running = False

    def _run(self) -> None:
        while True:
            time.sleep(EVERY_SECONDS)
            now = time.monotonic()
            with self._lock:
                calls = dict(self._calls)
            over = [call for call, began in calls.items() if not self._tell(call, now - began)]
            with self._lock:
                for call in over:
                    del self._calls[call]
                if not self._calls:
                    self._running = False
                    return

    def _tell(self, call: OpenCall, seconds: float) -> bool:
        """Send one notification, unless the call has been answered; return whether the call is still open."""
        if seconds < EVERY_SECONDS / 2:
            return call.while_open(lambda: None)
        params: dict[str, Any] = {"progressToken": call.progress_token, "progress": round(seconds, 1)}
        if message := call.telling():
            params["message"] = message
        return call.while_open(lambda: self._notify(params))
