"""An MCP server over standard input and output that has what the conformance suite asks a server to have for it alone.

Names and contents are those that the suite's scenarios look for; what needs requests to the client is left out.
"""

import json
import sys
from typing import Any

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
_SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

_TEXT = {"type": "text", "text": "This is a simple text response for testing."}
_IMAGE = {"type": "image", "data": _PIXEL, "mimeType": "image/png"}
_RESULTS: dict[str, list[dict[str, Any]]] = {
    "test_simple_text": [_TEXT],
    "test_image_content": [_IMAGE],
    "test_audio_content": [{"type": "audio", "data": _SOUND, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        {
            "type": "resource",
            "resource": {"uri": "test://embedded-resource", "mimeType": "text/plain", "text": "An embedded resource."},
        }
    ],
    "test_multiple_content_types": [
        {"type": "text", "text": "Multiple content types test:"},
        _IMAGE,
        {
            "type": "resource",
            "resource": {
                "uri": "test://mixed-content-resource",
                "mimeType": "application/json",
                "text": '{"test":"data","value":123}',
            },
        },
    ],
}
_RESOURCES = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": _PIXEL},
    "test://template/123/data": {"mimeType": "application/json", "text": '{"id":"123","data":"Data for ID: 123"}'},
    "test://watched-resource": {"mimeType": "text/plain", "text": "watched"},
}


def _called(name: str) -> dict[str, Any]:
    if name == "test_error_handling":
        told = "This tool intentionally returns an error for testing"
        return {"content": [{"type": "text", "text": told}], "isError": True}
    return {"content": _RESULTS[name]}


def _answer(method: str, given: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            able = {"tools": {}, "resources": {"subscribe": True}, "completions": {}}
            about = {"name": "fixtures", "version": "1"}
            return {"protocolVersion": given["protocolVersion"], "capabilities": able, "serverInfo": about}
        case "tools/list":
            names = [*_RESULTS, "test_error_handling"]
            return {
                "tools": [
                    {"name": name, "description": f"for {name}", "inputSchema": {"type": "object"}} for name in names
                ]
            }
        case "tools/call":
            return _called(given["name"])
        case "resources/list":
            return {
                "resources": [{"uri": uri, "name": uri, "mimeType": _RESOURCES[uri]["mimeType"]} for uri in _RESOURCES]
            }
        case "resources/templates/list":
            return {"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "template"}]}
        case "resources/read":
            return {"contents": [{"uri": given["uri"], **_RESOURCES[given["uri"]]}]}
        case "completion/complete":
            return {"completion": {"values": ["paris", "park"], "total": 2, "hasMore": False}}
        case "ping" | "resources/subscribe" | "resources/unsubscribe":
            return {}
    raise LookupError(method)


def main() -> None:
    """Answer until standard input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            answer["result"] = _answer(message["method"], message.get("params") or {})
        except LookupError:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
