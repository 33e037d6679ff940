"""What the two eras of MCP have each their own way: versions, who the client is, and what a result must carry.

Since 2026-07-28 every request says in its ``_meta`` which version it speaks and who sends it; before that an
``initialize`` says so once. One process serves both, request by request.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from sightline.doors.mcp.wire import INVALID_PARAMS

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
VERSIONS = (MODERN, *LEGACY)
"""Protocol versions that are served, newest first."""

BATCHES = "2025-03-26"
"""The only version that knows JSON-RPC's batches."""

UNSUPPORTED_VERSION = -32022
RESOURCE_NOT_FOUND = -32002
"""Error codes of MCP's own; the second one only before 2026-07-28, where invalid params have taken its place."""

META = "io.modelcontextprotocol/"
"""How MCP's own keys of ``_meta`` begin."""

_HOUR_MS = 3_600_000
_CACHED_MS = {
    "server/discover": _HOUR_MS,
    "tools/list": _HOUR_MS,
    "resources/templates/list": _HOUR_MS,
    "resources/list": 0,
    "resources/read": 0,
}
"""How long a client may keep the results of the methods that must say so, in milliseconds."""

_CLIENT_CHARACTERS = 100


class Rejected(Exception):
    """A request that gets a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Context(NamedTuple):
    """What a request says of itself beside its parameters.

    Attributes:
        version: protocol version that its answer must follow.
        client: name and version of the client, empty where it does not tell.
        meta: its ``_meta``.
    """

    version: str
    client: str = ""
    meta: Mapping[str, Any] = {}

    @property
    def modern(self) -> bool:
        """Whether the request stands alone, as since 2026-07-28."""
        return self.version == MODERN

    def not_found(self, message: str, data: Any = None) -> Rejected:
        """The error for a resource that is not there."""
        return Rejected(INVALID_PARAMS if self.modern else RESOURCE_NOT_FOUND, message, data)


def context_of(method: str, params: Mapping[str, Any], opened: Context) -> Context:
    """The context of a request.

    Args:
        method: its method.
        params: its parameters.
        opened: what ``initialize`` settled on, or is assumed before it.

    Raises:
        Rejected: it speaks a version that is not served, or lacks what that version demands.
    """
    given = params.get("_meta")
    meta: Mapping[str, Any] = given if isinstance(given, dict) else {}
    version = meta.get(META + "protocolVersion")
    if method == "initialize":
        return opened._replace(meta=meta)
    if version is None:
        # The probe of a client that wants to know the era is answered however little it brings.
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
    """What an ``initialize`` settles on: its version where that is served, else the newest of its era.

    Raises:
        Rejected: it names no version.
    """
    wanted = params.get("protocolVersion")
    if not isinstance(wanted, str):
        raise Rejected(INVALID_PARAMS, "initialize: protocolVersion is missing or no string")
    return Context(wanted if wanted in LEGACY else LEGACY[0], client_label(params.get("clientInfo")))


def client_label(info: Any) -> str:
    """``claude-code 2.1.329`` of a client's own name and version; empty where it gives no name."""
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
    return {"name": "sightline", "title": "Sightline", "version": server_version()}


def finished(result: dict[str, Any], method: str, context: Context) -> dict[str, Any]:
    """A result with what its era demands of every one."""
    if not context.modern:
        return result
    meta = {META + "serverInfo": _server(), **result.get("_meta", {})}
    more: dict[str, Any] = {"resultType": "complete", "_meta": meta}
    if method in _CACHED_MS:
        more |= {"ttlMs": _CACHED_MS[method], "cacheScope": "private"}
    return {**result, **more}


def server_version() -> str:
    """Our version, from the name of the installed metadata's folder; ``0`` where nothing is installed.

    importlib.metadata would tell it too, and take as long as everything else until the first answer.
    """
    global _version
    if not _version:
        _version = next(_versions(), "0")
    return _version


_version = ""


def _versions() -> Any:
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith("sightline-") and name.endswith((".dist-info", ".egg-info")):
                yield name.removeprefix("sightline-").rpartition(".")[0]
