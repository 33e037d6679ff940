"""A tool's call: its arguments become a verb's, and the verb's reply becomes two blocks of text."""

import json
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from sightline.doors.mcp.arguments import checked
from sightline.doors.mcp.call import Call, Cancelled
from sightline.doors.mcp.confine import under
from sightline.doors.mcp.options import Options
from sightline.errors import SightlineError
from sightline.shape.segments import Segment
from sightline.verbs.asking import Asking, Calls
from sightline.verbs.delivery import deliver
from sightline.verbs.reply import Reply, error_reply

if TYPE_CHECKING:  # loaded by the calls that need them
    from sightline.doors.mcp.caller import Caller
    from sightline.doors.mcp.commands import Commands

_REFS_TOLD = 8  # of the outputs that a reply is about: a query may name any number


def calls_in(tools: tuple[str, ...]) -> Calls:
    """How a next call is written: as a call of the tool, or where that is not offered, of the command line."""

    def calls(verb: str, **arguments: Any) -> str:
        if verb not in tools:
            from sightline.doors.cli.output import cli_call

            return cli_call(verb, **arguments)
        given = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
        return f"{verb}({given})"

    return calls


class Errand(NamedTuple):
    """One call of a tool, and what doing it takes.

    Attributes:
        asking: who asks, and of which store.
        caller: what is known of them, for the log.
        call: what is answered.
        options: how the server is to behave.
        commands: where a command runs.
    """

    asking: Asking
    caller: "Caller"
    call: Call
    options: Options
    commands: "Commands"

    def cancellable(self) -> Asking:
        """Who asks, such that a query or a wait ends with the call."""
        from sightline.search.processes import Cancel

        cancel = Cancel()
        self.call.at_cancel(cancel.cancel)
        return self.asking._replace(cancel=cancel)

    def confined(self, path: str) -> str:
        """A path as it may be used. Raises UsageError."""
        return under(self.options.root, path) if self.options.root else path


def call_tool(errand: Errand, tool: str, arguments: dict[str, Any]) -> None:
    """Call a tool, log what it replies and answer with that; a call that was withdrawn is not answered.

    Raises:
        sqlite3.Error: the index cannot be read or written.
    """
    try:
        reply = _VERBS[tool](errand, checked(tool, arguments))
    except Cancelled:
        return
    except SightlineError as error:
        reply = error_reply(error, tool, arguments)
    if errand.call.cancelled:  # nobody is shown this: it must not stand in the log
        return
    reply = with_caller(reply, errand.caller)
    deliver(errand.asking, reply, render, lambda text: errand.call.answer(result_of(errand.asking, reply, text)))


def with_caller(reply: Reply, caller: "Caller") -> Reply:
    """The reply, in whose log entry the caller will stand beside the request."""
    logged = caller.logged()
    request = {**reply.shows.request, **({"caller": logged} if logged else {})}
    return reply._replace(shows=reply.shows._replace(request=request))


# Each loads its verb only when it is called: the first answer must not wait for all of them.


def _run_command(errand: Errand, values: dict[str, Any]) -> Reply:
    from sightline.verbs.run_command import Doorway, Request, run_command

    # A confirmation brings its folder along, so that it is known only there.
    doorway = Doorway(run=lambda capture: errand.commands.run(capture, errand.call), confine=errand.confined)
    return run_command(errand.asking, Request(**values), doorway)


def _read_file(errand: Errand, values: dict[str, Any]) -> Reply:
    from sightline.verbs.read_file import Request, read_file

    path = errand.confined(values["path"])
    return read_file(errand.asking, Request(**{**values, "path": path}, exact=bool(errand.options.root)))


def _read_output(errand: Errand, values: dict[str, Any]) -> Reply:
    from sightline.verbs.read_output import Request, read_output

    if "wait" in values:
        values["wait"] = min(values["wait"], errand.options.patience_secs)
    return read_output(errand.cancellable(), Request(**values))


def _query(errand: Errand, values: dict[str, Any]) -> Reply:
    from sightline.verbs.query import Request, query

    return query(errand.cancellable(), Request(**values))


def _list_outputs(errand: Errand, values: dict[str, Any]) -> Reply:
    from sightline.verbs.list_outputs import Request, list_outputs

    return list_outputs(errand.asking, Request(**values))


_VERBS: dict[str, Callable[[Errand, dict[str, Any]], Reply]] = {
    "run_command": _run_command,
    "read_file": _read_file,
    "read_output": _read_output,
    "query": _query,
    "list_outputs": _list_outputs,
}


def render(reply: Reply) -> tuple[Segment, ...]:
    """The text of a reply: its fields as JSON on one line, then the body."""
    return (Segment(json.dumps(reply.fields, ensure_ascii=False, separators=(",", ":")) + "\n"), *reply.body)


def result_of(asking: Asking, reply: Reply, text: str) -> dict[str, Any]:
    """The result of ``tools/call``: a block with the fields, a block with the body where there is one.

    There is no structured content: it would double the bytes, and some clients then hide the text.
    """
    fields, _, body = text.partition("\n")
    result: dict[str, Any] = {"content": [{"type": "text", "text": part} for part in (fields, body) if part]}
    if "error" in reply.fields:
        result["isError"] = True
    if outputs := _outputs(asking, reply.shows.refs[:_REFS_TOLD]):
        result["_meta"] = {"sightline/outputs": outputs}
    return result


def _outputs(asking: Asking, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Ref, and bytes and hash of each stream, of the outputs that a reply is about; for programs, not for models."""
    try:
        buffers = [asking.store.index.buffer(name) for name in names]
    except sqlite3.Error:  # the reply itself matters more
        return []
    return [
        {
            "ref": buffer.ref,
            "streams": {
                name: {"bytes": info.bytes, **({"sha256": info.sha256} if info.sha256 else {})}
                for name, info in asking.store.with_progress(buffer).streams.items()
            },
        }
        for buffer in buffers
        if buffer is not None and buffer.state != "evicted"
    ]
