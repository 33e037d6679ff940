"""JSON-RPC 2.0 as MCP has it on stdio: one message a line, read within a bound, written whole.

Nothing here knows a method: the server and the proxy both stand on it.
"""

import json
import os
import re
import select
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

LINE_LIMIT_BYTES = 64 << 20
"""The longest line that is read as a message."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
"""The error codes of JSON-RPC 2.0, section 5.1."""

Id = int | str
_READ_BYTES = 1 << 16  # what a pipe holds


class Request(NamedTuple):
    """A call that wants an answer."""

    id: Id
    method: str
    params: dict[str, Any]


class Notification(NamedTuple):
    """A call that wants none."""

    method: str
    params: dict[str, Any]


class Response(NamedTuple):
    """An answer of the other side: ``result``, or else ``error``."""

    id: Id | None
    result: Any
    error: dict[str, Any] | None


class Invalid(NamedTuple):
    """Something that is no message, with the error that answers it (None as id: it has none that can be told)."""

    id: Id | None
    code: int
    message: str


Message = Request | Notification | Response | Invalid


class Batch(NamedTuple):
    """An array of messages, never empty; only one version of MCP has them."""

    messages: tuple[Message, ...]


class LineTooLong(Exception):
    """A line was longer than the limit, and has been skipped.

    Attributes:
        size: its length in bytes, without the newline.
    """

    def __init__(self, size: int) -> None:
        super().__init__(f"a line of {size:,} bytes")
        self.size = size


class LineReader:
    """Lines of a file descriptor, holding at most the limit and one read window of them in memory.

    Args:
        fd: what is read; it stays the caller's to close.
        limit: bytes of the longest line that is handed out.
        wait: called before each reading, until which it may wait; what it raises passes.
    """

    def __init__(self, fd: int, *, limit: int = LINE_LIMIT_BYTES, wait: Callable[[int], None] | None = None) -> None:
        self._fd = fd
        self._wait = wait
        self._limit = limit
        self._held = bytearray()
        self._ended = False

    def read(self) -> bytes | None:
        """The next line without its newline, be it ended by one or by the end of input; None when there is no more.

        Raises:
            LineTooLong: it has been skipped; the next call gives the one after it.
            OSError: the descriptor cannot be read.
        """
        searched = 0
        while True:
            at = self._held.find(b"\n", searched)
            if at > self._limit or (at < 0 and len(self._held) > self._limit):
                self._skip()
            if at >= 0:
                line = bytes(memoryview(self._held)[:at])
                del self._held[: at + 1]
                return line
            searched = len(self._held)
            if not self._fill():
                line, self._held = bytes(self._held), bytearray()
                return line or None

    def _fill(self) -> bool:
        if self._ended:
            return False
        if self._wait:
            self._wait(self._fd)
        data = os.read(self._fd, _READ_BYTES)
        self._ended = not data
        self._held += data
        return bool(data)

    def _skip(self) -> NoReturn:
        size = 0
        while True:
            at = self._held.find(b"\n")
            skipped = at if at >= 0 else len(self._held)
            size += skipped
            del self._held[: skipped + 1]
            if at >= 0 or not self._fill():
                raise LineTooLong(size)


class LineWriter:
    """Writes whole lines to a file descriptor, from any thread.

    Args:
        fd: what is written to; it stays the caller's to close.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self._is_within_line = False
        self._room = select.poll()
        self._room.register(fd, select.POLLOUT)

    @property
    def is_cut_off(self) -> bool:
        """Whether nobody reads the other side any more."""
        room = select.poll()  # of its own: two threads may not ask the same one
        room.register(self._fd, select.POLLOUT)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in room.poll(0))

    def write_now(self, data: bytes) -> bool:
        """Write what already has its newlines, up to ``select.PIPE_BUF`` bytes; False where that had to wait.

        Raises:
            BrokenPipeError: the other side has gone.
        """
        if len(data) > select.PIPE_BUF or not self._lock.acquire(blocking=False):
            return False
        try:
            if not self._room.poll(0):
                return False
            self._write(data)
            return True
        finally:
            self._lock.release()

    def write(self, line: bytes) -> None:
        """Write a line; the newline is added, and one before it where the line there was never ended.

        Raises:
            BrokenPipeError: the other side has gone.
        """
        with self._lock:
            if self._is_within_line:
                self._write(b"\n")
            self._write(line)
            self._write(b"\n")

    def write_pieces(self, pieces: Iterator[bytes]) -> None:
        """Write what already has its newlines, with nothing of another thread between its pieces.

        The last words of all may have none.
        """
        with self._lock:
            for piece in pieces:
                self._write(piece)

    def _write(self, data: bytes) -> None:
        if data:
            self._is_within_line = not data.endswith(b"\n")
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._fd, view) :]
            except BlockingIOError:  # who shares it has made it so
                self._room.poll()


def decode(line: bytes) -> Message | Batch:
    """What a line says; Invalid for what is no JSON (``PARSE_ERROR``) or no message (``INVALID_REQUEST``)."""
    try:
        value = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return Invalid(None, PARSE_ERROR, f"not JSON: {error}"[:200])
    if isinstance(value, list):
        if not value:
            return Invalid(None, INVALID_REQUEST, "an empty batch")
        return Batch(tuple(map(message_of, value)))
    return message_of(value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def message_of(value: Any) -> Message:
    """A parsed value as a message."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return Invalid(_id_of(value), INVALID_REQUEST, 'not a JSON-RPC 2.0 object with "jsonrpc": "2.0"')
    number = _id_of(value)
    if "method" not in value:
        if ("result" in value) == ("error" in value):
            return Invalid(number, INVALID_REQUEST, "neither a method, nor one of result and error")
        error = value.get("error")
        return Response(number, value.get("result"), error if isinstance(error, dict) else None)
    method, params = value["method"], value.get("params", {})
    if not isinstance(method, str):
        return Invalid(number, INVALID_REQUEST, "method is no string")
    if not isinstance(params, dict):
        return Invalid(number, INVALID_REQUEST, "params is no object")
    if "id" not in value:
        return Notification(method, params)
    if number is None:
        return Invalid(None, INVALID_REQUEST, "id is neither a string nor a whole number")
    return Request(number, method, params)


def _id_of(value: Any) -> Id | None:
    number = value.get("id") if isinstance(value, dict) else None
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


def encode(value: Any) -> bytes:
    """JSON on one line in UTF-8, without its newline; what UTF-8 has no bytes for (lone surrogates) is replaced."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "�", text).encode()


def result_of(number: Id, result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": number, "result": result}


def error_of(number: Id | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """The answer to a request that failed."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": number, "error": error}


def notification_of(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A message that wants no answer."""
    return {"jsonrpc": "2.0", "method": method, "params": params}
