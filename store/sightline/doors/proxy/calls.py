"""The requests that the server has yet to answer, and which of them a line of the server answers."""

import json
import math
import re
import threading
import time
from collections.abc import Iterator

from sightline.doors.tools.protocol import META, Context, Id, client_label
from sightline.light.json_text import TooDeep
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any

if TYPE_CHECKING:  # loaded only when a call takes long
    from sightline.store import Recording

LOOKS_LIKE_OURS = re.compile(rb"tools/(?:call|list)|notifications/cancelled|clientInfo|\\")
"""Matches each line of a client that the proxy must read; one with a backslash may spell a name in another way."""

LONG_LINE_BYTES = 4_096
"""The arguments of a request up to this size are logged as they are."""

_LONG_TEXT = 2_000  # characters
_MANY_ITEMS = 20

_VERSION = rb'\s*"jsonrpc"\s*:\s*"2\.0"\s*'
_ID = rb'\s*"id"\s*:\s*(-?[0-9.eE+]+|"(?:[^"\\]|\\.)*")\s*'
_RESULT = rb'\s*"(?:result|error)"\s*:'
_BEGINS_WITH_ID = re.compile(rb"\s*\{(?:%b,)?%b,(?:%b,)?%b" % (_VERSION, _ID, _VERSION, _RESULT))
_BEGINS_WITH_RESULT = re.compile(rb"\s*\{(?:%b,)?%b" % (_VERSION, _RESULT))
_ENDS_WITH_ID = re.compile(rb",%b(?:,%b)?\}\s*\Z" % (_ID, _VERSION))
_END_BYTES = 1_024


class Listing(NamedTuple):
    """A page of the list of tools.

    Attributes:
        first: whether it is the first page.
    """

    first: bool


class ProxiedCall:
    """A call of a tool.

    Attributes:
        name: the tool.
        arguments: the arguments; None for none.
        told: the arguments for names and the log, with long texts cut.
        context: what the request says of itself beside the arguments.
        began: when, seconds since the epoch.
        is_written: whether it has taken so long that its capture was begun, or tried.
        recording: the capture of its result, if that was begun before the result came.
    """

    __slots__ = ("arguments", "began", "context", "is_written", "name", "recording", "told")

    def __init__(self, name: str, arguments: Any, told: Any, context: Context) -> None:
        """It is called now."""
        self.name = name
        self.arguments = arguments
        self.told = told
        self.context = context
        self.began = time.time()
        self.is_written = False
        self.recording: Recording | None = None

    def discard(self) -> None:
        """Discard the capture: the call is answered, and its result is not kept."""
        recording, self.recording = self.recording, None
        if recording:
            recording.discard()


class CallLedger:
    """Calls and listings without an answer, by the request's id. Any thread may use it."""

    def __init__(self) -> None:
        self._open: dict[tuple[bool, Id], ProxiedCall | Listing] = {}
        self._lock = threading.Lock()  # of what is taken, and what is attached to it

    def __bool__(self) -> bool:
        return bool(self._open)

    def open(self) -> list[ProxiedCall | Listing]:
        """All of them."""
        return list(self._open.values())

    def calls(self) -> list[ProxiedCall]:
        """All calls of tools."""
        return [one for one in self.open() if isinstance(one, ProxiedCall)]

    def put(self, number: Id, asked: ProxiedCall | Listing) -> None:
        """Note a request before the server sees it."""
        self._open[_key(number)] = asked

    def take(self, number: Any) -> ProxiedCall | Listing | None:
        """The request that an answer is for; None if it is not one that is tracked."""
        with self._lock:
            return self._open.pop(_key(number), None) if is_id(number) else None

    def take_calls(self) -> list[ProxiedCall]:
        """Take all open calls of tools out."""
        with self._lock:
            calls = self.calls()
            self._open.clear()
        return calls

    def attach(self, call: ProxiedCall, recording: "Recording") -> bool:
        """Give an open call its recording; False if the call has been answered."""
        with self._lock:
            if not any(one is call for one in self._open.values()):
                return False
            call.recording = recording
            return True


def _key(number: Id) -> tuple[bool, Id]:
    return isinstance(number, str), number


def is_id(value: Any) -> bool:
    """Whether a value can be a request's id. JSON knows no whole numbers, so 1.0 is one as well as 1."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def asked_of(message: dict[str, Any], opened: Context, size: int) -> ProxiedCall | Listing | None:
    """What a request asks for, None for anything else.

    Args:
        message: the client's message.
        size: bytes of the line that it stands in.
        opened: what its ``initialize`` said.
    """
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    if not is_id(message.get("id")):
        return None
    if message.get("method") == "tools/list":
        return Listing(params.get("cursor") is None)
    name = params.get("name")
    if message.get("method") == "tools/call" and isinstance(name, str):
        arguments = params.get("arguments")
        told = arguments if size <= LONG_LINE_BYTES else shortened(arguments)
        return ProxiedCall(name, arguments, told, _context(params.get("_meta"), opened))
    return None


def _context(meta: Any, opened: Context) -> Context:
    """The context of a request; the server judges whether its version allows it."""
    meta = meta if isinstance(meta, dict) else {}
    version = meta.get(META + "protocolVersion")
    if not isinstance(version, str):
        return opened._replace(meta=meta) if meta else opened
    return Context(version, client_label(meta.get(META + "clientInfo")), meta)


def opened_by(message: dict[str, Any]) -> Context | None:
    """What ``initialize`` says of a client, once for all requests, before 2026-07-28; None for any other request."""
    params = message.get("params")
    if message.get("method") != "initialize" or not isinstance(params, dict):
        return None
    return Context("", client_label(params.get("clientInfo")))


def shortened(value: Any) -> Any:
    """Arguments with long texts and lists cut, so that a file that an agent writes is not kept twice more."""
    if isinstance(value, str) and len(value) > _LONG_TEXT:
        half = _LONG_TEXT // 2
        return f"{value[:half]}[… {len(value) - _LONG_TEXT:,} characters elided …]{value[-half:]}"
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    if isinstance(value, list):
        more = [f"[… {len(value) - _MANY_ITEMS:,} more items elided …]"] if len(value) > _MANY_ITEMS else []
        return [shortened(one) for one in value[:_MANY_ITEMS]] + more
    return value


def parsed(line: bytes) -> Any:
    """Parse a line of the server.

    Raises:
        ValueError: it is not JSON or is nested too deep, a key stands twice in it, so that readers may differ on it, or
            a number is too large to be written again.
    """
    try:
        return _read(line.decode())
    except RecursionError as error:
        raise TooDeep from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice")
    return members


def _finite(spelled: str) -> float:
    number = float(spelled)
    if math.isinf(number):
        raise ValueError("a number that is too large")
    return number


_read = json.JSONDecoder(object_pairs_hook=_distinct, parse_float=_finite).decode


def dumped(value: Any) -> str:
    """A value as compact JSON; if it has lone surrogates, which UTF-8 cannot encode, all but ASCII is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def written(value: Any, line: bytes) -> bytes:
    """A message as a line, with the same line end as the line that it replaces."""
    end = line[-2:]  # of a long line, a copy would take as long as writing it
    return dumped(value).encode() + end[len(end.rstrip(b"\r\n")) :]


class LongLine:
    """A line of a server that passes as it comes; its last piece is held back until it is known what the line answers.

    An answer has three members, in any order. So its id stands in its first bytes, or in its last ones, where it can be
    part of no inner object or string, since these would have to be closed first.

    Attributes:
        size: bytes that have come so far.
        last: the piece that is held back.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        """Take the first piece."""
        self._pieces = pieces
        self._head = self._tail = self.last = next(pieces, b"")
        self.size = len(self.last)

    def all_but_the_last(self) -> Iterator[bytes]:
        """The pieces as they come, but for the last one."""
        for piece in self._pieces:
            yield self.last
            self._tail = self._tail[-_END_BYTES:] + piece[-_END_BYTES:]
            self.size += len(piece)
            self.last = piece

    def answered(self) -> Any:
        """The id of the request that it answers, once all has come; None for any other message."""
        found = _BEGINS_WITH_ID.match(self._head)
        if not found and _BEGINS_WITH_RESULT.match(self._head):
            found = _ENDS_WITH_ID.search(self._tail)
        return _id_of(found[1]) if found else None


def _id_of(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None
