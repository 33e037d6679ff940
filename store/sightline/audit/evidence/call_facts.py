"""Facts of a call that evidence rests on: its request, its command line, its exit code."""

from collections.abc import Mapping
from functools import lru_cache

from sightline.audit.timeline import Call
from sightline.base.records import View
from sightline.light.json_text import loads


def command_of(call: Call) -> str:
    """Return the command line of a call that ran one; empty for any other call."""
    view = call.view
    if view.verb == "run_command" or (view.verb == "tool" and '"command"' in view.request):
        value = _request(view.request).get("command")
        return value if isinstance(value, str) else ""
    if view.verb == "capture" and call.buffer:
        return call.buffer.command
    return ""


@lru_cache(maxsize=1024)
def _request(text: str) -> Mapping[str, object]:
    found = loads(text)
    return found if isinstance(found, dict) else {}


def request_of(view: View) -> Mapping[str, object]:
    """Return the request that a view answered."""
    return _request(view.request)


def exit_code_of(call: Call) -> int | None:
    """Return the exit code of the line; None if it is not known."""
    return call.buffer.exit_code if call.buffer and call.buffer.exit_code is not None else call.view.exit_code
