"""Facts of a call that evidence rests on: its request, its command line, its exit code."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from sightline.audit.timeline import Call
from sightline.base.records import View
from sightline.light.json_text import dumps, loads
from sightline.store import Reading


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


def with_commands(store: Reading, call: Call) -> Iterator[Call]:
    """Yield a call and, of a program that ran commands, these, as calls whose replies are what it showed of them."""
    yield call
    view = call.view
    for name in view.refs[1:] if view.verb == "tool" else ():
        buffer = store.index.buffer(name)
        if buffer and buffer.kind == "cmd":
            request = {"command": buffer.command, "tool": request_of(view).get("tool", "")}
            shown, matched = (tuple(one for one in lines if one.buffer == name) for lines in (view.shown, view.matched))
            parts = None if view.parts is None else tuple(one for one in view.parts if one.buffer == name)
            own = view._replace(
                verb="run_command",
                request=dumps(request),
                refs=(name,),
                shown=shown,
                matched=matched,
                parts=parts,
                exit_code=buffer.exit_code,
            )
            yield call._replace(indexed=call.indexed._replace(view=own), buffer=buffer)
