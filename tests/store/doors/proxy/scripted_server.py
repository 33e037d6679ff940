"""An MCP server that answers in exactly the words that the request asks for; run as ``scripted_server.py RECEIVED``.

A request's ``params._meta["test/lines"]`` are the lines to write, ``$ID`` in them standing for its id as JSON. Without
any, tools/list is answered with three tools and the rest with ``{}``, but in a batch with nothing. All lines that come
in are copied to the file RECEIVED. ``test/does`` makes the server do something else: exit, die, close or hang.
"""

import json
import os
import signal
import sys
from typing import Any

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("big", "small", "other")]


def write(line: str) -> None:
    """Write a line as it is; with an exotic spelling of JSON where the test wants one."""
    data = memoryview(line.encode(errors="surrogateescape"))
    while data:
        data = data[os.write(1, data) :]


def answer(request: dict[str, Any], *, in_batch: bool) -> None:
    """Do what a request asks for."""
    meta = request.get("params", {}).get("_meta", {})
    match meta.get("test/does"):
        case "exit":
            os._exit(meta["test/code"])
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "close":
            os.close(0)
            os.close(1)
            signal.pause()
        case "hang":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.pause()
    for line in meta.get("test/lines") or ([] if in_batch else default(request)):
        write(line.replace("$ID", json.dumps(request.get("id"))))


def default(request: dict[str, Any]) -> list[str]:
    """The answer where the test gives none."""
    if "id" not in request or "method" not in request:
        return []
    result = {"tools": TOOLS} if request["method"] == "tools/list" else {}
    return [json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n"]


def main() -> None:
    """Answer until the input ends."""
    if ignored := os.environ.get("TEST_IGNORES"):
        signal.signal(getattr(signal, ignored), signal.SIG_IGN)
    print("the server's own complaint", file=sys.stderr, flush=True)
    with open(sys.argv[1], "ab", buffering=0) as received:
        for line in sys.stdin.buffer:
            received.write(line)
            value = json.loads(line)
            for request in value if isinstance(value, list) else [value]:
                answer(request, in_batch=isinstance(value, list))
    if os.environ.get("TEST_STAYS"):
        signal.pause()


if __name__ == "__main__":
    main()
