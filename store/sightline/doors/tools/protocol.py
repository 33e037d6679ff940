"""Messages of MCP: JSON-RPC 2.0, the context of a request in both eras, and a request on its way to its answer.

Since 2026-07-28 every request says in its ``_meta`` which version it speaks and who asks; before that an ``initialize``
says so once. One process serves both, request by request.
"""

import threading

from sightline.base.distribution import version
from sightline.light.json_text import encoder, loads
from sightline.light.late_pattern import re
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Callable, Mapping

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
"""The error codes of JSON-RPC 2.0, section 5.1."""

Id = int | str


class CallRequest(NamedTuple):
    """A call that wants an answer."""

    id: Id
    method: str
    params: dict[str, Any]


class Notification(NamedTuple):
    """A call that wants none."""

    method: str
    params: dict[str, Any]


class Response(NamedTuple):
    """An answer of the other side: it has either ``result`` or ``error``."""

    id: Id | None
    result: Any
    error: dict[str, Any] | None


class Invalid(NamedTuple):
    """Something that is not a message, with the error that answers it; its id is None if no id can be read."""

    id: Id | None
    code: int
    message: str


Message = CallRequest | Notification | Response | Invalid


class MessageBatch(NamedTuple):
    """An array of messages, never empty; only one version of MCP has them."""

    messages: tuple[Message, ...]


def decode(line: bytes) -> Message | MessageBatch:
    """Parse a line; Invalid if it is not JSON (``PARSE_ERROR``) or not a message (``INVALID_REQUEST``)."""
    try:
        value = loads(line, strict=True)
    except ValueError as error:
        return Invalid(None, PARSE_ERROR, f"not JSON: {error}"[:200])
    if isinstance(value, list):
        if not value:
            return Invalid(None, INVALID_REQUEST, "an empty batch")
        return MessageBatch(tuple(map(message_of, value)))
    return message_of(value)


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
    return CallRequest(number, method, params)


def _id_of(value: Any) -> Id | None:
    number = value.get("id") if isinstance(value, dict) else None
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


_encoded = encoder(ensure_ascii=False, compact=True)


def encode(value: Any) -> bytes:
    """JSON on one line in UTF-8, without a newline; lone surrogates, which UTF-8 cannot encode, are replaced."""
    text = _encoded(value)
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
    """A notification, which wants no answer."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
VERSIONS = (MODERN, *LEGACY)
"""Protocol versions that are served, newest first."""

BATCHES = "2025-03-26"
"""The only version of MCP that has JSON-RPC's batches."""

UNSUPPORTED_VERSION = -32022
RESOURCE_NOT_FOUND = -32002
"""Error codes of MCP's own; the second one only before 2026-07-28, where invalid params have taken its place."""

META = "io.modelcontextprotocol/"
"""The prefix of MCP's own keys in ``_meta``."""

_HOUR_MS = 3_600_000
_CACHED_MS = {
    "server/discover": _HOUR_MS,
    "tools/list": _HOUR_MS,
    "resources/templates/list": _HOUR_MS,
    "resources/list": 0,
    "resources/read": 0,
}
"""How long a client may keep the results of the methods that must say so, in milliseconds."""

ROOTS_CHANGED = "notifications/roots/list_changed"

EVERY_SECONDS = 1.0
"""How often a client that wants progress is told that its call is still running."""

_CLIENT_CHARACTERS = 100


class Rejected(Exception):
    """A request that gets a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Context(NamedTuple):
    """The context of a request: what it says of itself beside its parameters.

    Attributes:
        version: protocol version that its answer must follow.
        client: name and version of the client; empty if it does not say.
        meta: its ``_meta``.
    """

    version: str
    client: str = ""
    meta: Mapping[str, Any] = {}  # noqa: RUF012 - a mapping is not changed

    @property
    def modern(self) -> bool:
        """Whether the request carries its own context, as since 2026-07-28."""
        return self.version == MODERN

    def not_found(self, message: str, data: Any = None) -> Rejected:
        """The error code for a resource that is not there."""
        return Rejected(INVALID_PARAMS if self.modern else RESOURCE_NOT_FOUND, message, data)


def context_of(method: str, params: Mapping[str, Any], opened: Context) -> Context:
    """The context of a request.

    Args:
        method: its method.
        params: its parameters.
        opened: what ``initialize`` settled, or what is assumed before it.

    Raises:
        Rejected: its version is not served, or it lacks what that version demands.
    """
    given = params.get("_meta")
    meta: Mapping[str, Any] = given if isinstance(given, dict) else {}
    version = meta.get(META + "protocolVersion")
    if method == "initialize":
        return opened._replace(meta=meta)
    if version is None:
        # A client probes for the era with this method, so it is answered even if it lacks all the rest.
        return Context(MODERN, "", meta) if method == "server/discover" else opened._replace(meta=meta)
    if not isinstance(version, str):
        raise Rejected(INVALID_PARAMS, f"_meta: {META}protocolVersion is no string")
    if version != MODERN:
        after = " it is spoken after initialize" if version in LEGACY else ""
        data = {"supported": list(VERSIONS), "requested": version}
        raise Rejected(UNSUPPORTED_VERSION, f"Unsupported protocol version{':' + after if after else ''}", data)
    if not isinstance(meta.get(META + "clientCapabilities"), dict):
        raise Rejected(INVALID_PARAMS, f"_meta: {META}clientCapabilities is missing or no object")
    return Context(version, client_label(meta.get(META + "clientInfo")), meta)


def opened_by(params: Mapping[str, Any]) -> Context:
    """What an ``initialize`` settles: its version if that is served, else the newest of its era.

    Raises:
        Rejected: it names no version.
    """
    wanted = params.get("protocolVersion")
    if not isinstance(wanted, str):
        raise Rejected(INVALID_PARAMS, "initialize: protocolVersion is missing or no string")
    return Context(wanted if wanted in LEGACY else LEGACY[0], client_label(params.get("clientInfo")))


def has_roots(params: Mapping[str, Any]) -> bool:
    """Whether the client of an ``initialize`` has roots, the folders it works in, which can then be asked for."""
    capabilities = params.get("capabilities")
    return isinstance(capabilities, dict) and isinstance(capabilities.get("roots"), dict)


def client_label(info: Any) -> str:
    """A client's own name and version, as ``claude-code 2.1.329``; empty if it gives no name."""
    if not isinstance(info, dict) or not isinstance(info.get("name"), str) or not info["name"].split():
        return ""
    version = info.get("version")
    label = " ".join(f"{info['name']} {version if isinstance(version, str) else ''}".split())
    return label[:_CLIENT_CHARACTERS]


def introduction(context: Context, instructions: str) -> dict[str, Any]:
    """The result of ``initialize`` and of ``server/discover``."""
    features: dict[str, Any] = {
        "capabilities": {"tools": {}, "resources": {"subscribe": True}, "completions": {}},
        "instructions": instructions,
    }
    if context.modern:
        return {"supportedVersions": list(VERSIONS), **features}
    if context.version == "2024-11-05":
        del features["capabilities"]["completions"]
    return {"protocolVersion": context.version, "serverInfo": _server(), **features}


def _server() -> dict[str, str]:
    return {"name": "sightline", "title": "Sightline", "version": version() or "0"}


def finished(result: dict[str, Any], method: str, context: Context) -> dict[str, Any]:
    """A result with the members that its era demands of each result."""
    if not context.modern:
        return result
    meta = {META + "serverInfo": _server(), **result.get("_meta", {})}
    more: dict[str, Any] = {"resultType": "complete", "_meta": meta}
    if method in _CACHED_MS:
        more |= {"ttlMs": _CACHED_MS[method], "cacheScope": "private"}
    return {**result, **more}


def wanted_uris(notifications: Any) -> list[str]:
    """The resources that a ``subscriptions/listen`` names; other kinds that it may name do not exist here."""
    uris = notifications.get("resourceSubscriptions") if isinstance(notifications, dict) else None
    return [uri for uri in uris if isinstance(uri, str)] if isinstance(uris, list) else []


Outcome = dict[str, Any] | Rejected
"""A result, or the error in its place."""


class Withdrawn(Exception):
    """The client has withdrawn the request, so nobody waits for its outcome."""


class OpenCall:
    """One request that is being answered. Any thread may use it.

    Attributes:
        method: its method.
        params: its parameters.
        context: its era, its client, its ``_meta``.
        telling: returns how far it is, for notifications of progress; empty if there is nothing to say.
    """

    def __init__(self, method: str, params: dict[str, Any], context: Context, reply: Callable[[Outcome], None]) -> None:
        """Begin with a request.

        Args:
            method: its method.
            params: its parameters.
            context: its context.
            reply: sends its outcome to the client; called at most once.
        """
        self.method = method
        self.params = params
        self.context = context
        self.telling: Callable[[], str] = str
        self._reply = reply
        self._lock = threading.Lock()
        self._open = True
        self._cancelled = False
        self._at_cancel: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        """Whether the client has withdrawn it."""
        return self._cancelled

    @property
    def progress_token(self) -> int | str | None:
        """The token that its notifications of progress must name; None if the client wants none."""
        token = self.context.meta.get("progressToken")
        return token if isinstance(token, int | str) and not isinstance(token, bool) else None

    def answer(self, outcome: Outcome) -> None:
        """Send the outcome, unless one was sent already or the client has withdrawn the request."""
        with self._lock:
            if not self._open:
                return
            self._open = False
        self._reply(outcome)

    def cancel(self) -> None:
        """Withdraw it for the client: end what can be ended, and answer nothing."""
        with self._lock:
            if not self._open:
                return
            self._open, self._cancelled = False, True
            acts, self._at_cancel = self._at_cancel, []
        for act in acts:
            act()

    def at_cancel(self, act: Callable[[], None]) -> None:
        """Call something when the call is cancelled, or at once if it is already."""
        with self._lock:
            if not self._cancelled:
                self._at_cancel.append(act)
                return
        act()

    def while_open(self, send: Callable[[], None]) -> bool:
        """Send something that must not come after the answer; return whether that was still possible."""
        with self._lock:
            if self._open:
                send()
            return self._open
