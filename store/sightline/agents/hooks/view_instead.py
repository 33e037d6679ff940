"""Mode ``shape``: shows an agent our view in the place of the output of a command or a tool."""

from sightline.agents.hooks.pending_commands import PendingCommand
from sightline.agents.hooks.tool_result import VERB, request_of
from sightline.base.profile import load_profile
from sightline.base.records import Buffer, Session
from sightline.harnesses.base import Harness
from sightline.harnesses.tool_call import ToolCall
from sightline.light.late_imports import late_modules
from sightline.light.typing_names import Any
from sightline.shape.segments import join_segments
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.command_view import command_reply, ending_of
from sightline.verbs.delivery import deliver
from sightline.verbs.head_line import render_text
from sightline.verbs.next_call import TOOLS, calls_in
from sightline.verbs.reply import Reply

with late_modules(globals()):
    from sightline.verbs import result_view  # few modes show views


def _asking(store: Store, session: Session) -> Asker:
    return Asker(store, session, calls_in(TOOLS), load_profile(store.settings.profile, "profile"))


def view_of(store: Store, session: Session, pending: PendingCommand, buffer: Buffer) -> bytes:
    """The view of a rewritten command's output, as bytes to be printed in the place of that output.

    The view is logged here, unless the exit code is not known yet. In that case the harness tells the code later, and
    either `after_tool` shows another view instead, or what the model is shown is logged as the harness tells it.
    """
    asking = _asking(store, session)
    caller = {"client": pending.harness, "harness_session": pending.session, "tool_use": pending.use}
    request = {"tool": "", "command": pending.command, "caller": {key: one for key, one in caller.items() if one}}
    known = buffer.exit_code is not None
    ending = ending_of(buffer)._replace(told_elsewhere=not known)
    reply = _without_code(command_reply(asking, buffer, ending, verbosity="auto", verb="capture", request=request))
    if known:
        sent: list[str] = []
        deliver(asking, reply, render_text, sent.append)
    else:
        sent = [join_segments(render_text(reply))]
    return sent[0].encode(errors="surrogateescape")


def _without_code(reply: Reply) -> Reply:
    """The reply without the exit code, which the harness tells; a whole output goes without the note ``merged``."""
    fields = {name: value for name, value in reply.fields.items() if name != "exit_code"}
    return reply._replace(fields=fields, missing=fields not in ({}, {"note": "merged"}))


def replaced(
    store: Store,
    session: Session,
    harness: Harness,
    event: str,
    call: ToolCall,
    buffer: Buffer,
    given: dict[str, Any],
) -> dict[str, Any] | None:
    """The answer that replaces a large result by a view; None if the result is short, or must stay."""
    asking = _asking(store, session)
    form = harness.replacement(event, call, given)
    # Where the harness cut the result, its own words say more than a view of the rest.
    if form is None or buffer.partial or buffer.kind == "file" or buffer.bytes <= asking.profile.short.limit_bytes:
        return None
    size = len("".join(call.shown).encode(errors="surrogatepass")) if call.shown else buffer.bytes
    request = request_of(call, harness.alone_bytes(call.kind, size, failed=call.failed))
    sent: list[str] = []
    deliver(asking, _reply(asking, buffer, call, request), render_text, sent.append)
    return form(sent[0])


def _reply(asking: Asker, buffer: Buffer, call: ToolCall, request: dict[str, Any]) -> Reply:
    if buffer.kind == "cmd":
        return command_reply(
            asking, buffer, ending_of(buffer), verbosity="auto", verb="capture", request=request, always_ref=True
        )
    return result_view.result_reply(asking, buffer, verb=VERB, request=request, failed=call.failed, always_ref=True)
