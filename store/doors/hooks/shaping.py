"""Mode ``shape``: an agent is shown our view of what a command or a tool gave, in place of it."""

from collections.abc import Callable
from typing import Any

from sightline.audit.accounting import alone_bytes, what_of
from sightline.doors.cli.output import render_text
from sightline.doors.hooks.called import Called
from sightline.doors.hooks.facts import Facts
from sightline.doors.hooks.pending import Pending
from sightline.doors.hooks.record import VERB, request_of
from sightline.doors.mcp.calls import calls_in
from sightline.doors.mcp.options import TOOLS
from sightline.profile import load_profile
from sightline.records import Buffer, Session
from sightline.shape.segments import join_segments
from sightline.store import Store
from sightline.verbs.asking import Asking
from sightline.verbs.command_view import command_reply, ending_of
from sightline.verbs.delivery import deliver
from sightline.verbs.reply import Reply


def _asking(store: Store, session: Session) -> Asking:
    return Asking(store, session, calls_in(TOOLS), load_profile(store.settings.profile, "profile"))


def view_of(store: Store, session: Session, pending: Pending, buffer: Buffer) -> bytes:
    """The view of a rewritten command's output, as it is printed where that would have gone.

    It is logged with this, unless it is not known how the command ended: the harness tells that beside it, and then
    `after_tool` shows another view in its place, or what the model is shown is logged as the harness tells it.
    """
    asking = _asking(store, session)
    call = Called("", {}, pending.use, pending.session, session.cwd, command=pending.command)
    request = request_of(pending.harness, call, None)  # by itself: depends on the code, which is told afterwards
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
    """The reply without the code, which the harness tells; where all is there, without the note that it is merged."""
    fields = {name: value for name, value in reply.fields.items() if name != "exit_code"}
    return reply._replace(fields=fields, missing=fields not in ({}, {"note": "merged"}))


def replaced(
    store: Store,
    session: Session,
    facts: Facts,
    event: str,
    call: Called,
    buffer: Buffer,
    given: dict[str, Any],
) -> dict[str, Any] | None:
    """The answer that puts a view in the place of a large result; None where it is short, or must stay."""
    asking = _asking(store, session)
    form = _FORMS[facts.name](event, call, given)
    # Of what was cut the harness' own words tell more than a view of it.
    if form is None or buffer.partial or buffer.kind == "file" or buffer.bytes <= asking.profile.short.limit_bytes:
        return None
    what = what_of(is_command=bool(call.command))
    size = buffer.bytes if call.shown is None else len(call.shown.encode(errors="surrogatepass"))
    request = request_of(facts.name, call, alone_bytes(facts.name, what, size, failed=call.failed))
    sent: list[str] = []
    deliver(asking, _reply(asking, buffer, call, request), render_text, sent.append)
    return form(sent[0])


def _reply(asking: Asking, buffer: Buffer, call: Called, request: dict[str, Any]) -> Reply:
    if buffer.kind == "cmd":
        return command_reply(
            asking, buffer, ending_of(buffer), verbosity="auto", verb="capture", request=request, always_ref=True
        )
    from sightline.verbs.result_view import result_reply

    return result_reply(asking, buffer, verb=VERB, request=request, failed=call.failed, always_ref=True)


Form = Callable[[str], dict[str, Any]]
"""Makes the answer that shows a model a text instead of what a tool gave."""


def _claude_code(event: str, call: Called, given: dict[str, Any]) -> Form | None:
    """What is put in its place must be of the same shape; a file that was read stays, since its lines get numbers."""
    response = given.get("tool_response")

    def answer(output: Any) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": event, "updatedToolOutput": output}}

    if call.command and isinstance(response, dict):
        same = {"stderr": "", "interrupted": bool(response.get("interrupted")), "isImage": False}
        return lambda text: answer({"stdout": text, **same})
    if isinstance(response, list):
        return lambda text: answer([{"type": "text", "text": text}])
    return answer if isinstance(response, str) else None


def _codex(_: str, call: Called, __: dict[str, Any]) -> Form | None:
    return (lambda text: {"decision": "block", "reason": text}) if call.blocks else None


def _gemini(_: str, call: Called, __: dict[str, Any]) -> Form | None:
    return None if call.path else lambda text: {"decision": "deny", "reason": text}


def _opencode(_: str, __: Called, ___: dict[str, Any]) -> Form | None:
    return lambda text: {"output": text}


_FORMS: dict[str, Callable[[str, Called, dict[str, Any]], Form | None]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}
