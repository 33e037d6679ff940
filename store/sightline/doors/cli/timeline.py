"""``sightline timeline``: lists call by call what was asked and shown, and the totals."""

import time
from collections.abc import Mapping, Sequence
from functools import cache
from operator import itemgetter

from sightline.audit.accounting import Accounted
from sightline.audit.conversation import Said, said_in
from sightline.audit.coverage import percent, told_share
from sightline.audit.file_trail import changes_of, lines_changed, stated_diff
from sightline.audit.held_lines import HeldTokens, Holdings, Loss, held_tokens, losses_of
from sightline.audit.output_prices import reply_dollars
from sightline.audit.report.data import totals_data
from sightline.audit.session_cost import scope_cost
from sightline.audit.timeline import BYTES_A_TOKEN, Call, CallFilter, CallTotals, filtered, totals_of
from sightline.audit.verdict import Scope, Verdict, verdict_of
from sightline.base.refs import format_ref
from sightline.doors.cli.note import as_data as note_data
from sightline.doors.cli.note import row as note_row
from sightline.doors.cli.scope import add_scope, calls_in_scope, captured_in_scope, scope_of
from sightline.doors.cli.views import as_data as view_data
from sightline.doors.cli.views import gone_of
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door, print_json, red, write_out
from sightline.harnesses.file_changes import FileChange
from sightline.light.typing_names import Any
from sightline.log.notes import list_notes, notes_for
from sightline.log.sessions import session_title
from sightline.shape.summary import counted, human_bytes, one_line
from sightline.store import Reading, Store
from sightline.verbs.printable_text import printable

_ASKED_CHARACTERS = 90
_SAID_CHARACTERS = 160
_SESSION_CHARACTERS = 40


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "List the calls of agents, the oldest first: when each came, what it asked, how much of the output it was "
        "shown, what was cut, and what it had been shown before. Between them stand prompts, and what agents said, as "
        "far as messages are kept. The totals stand at the end. Tokens are estimated as a quarter of the bytes.",
        "sightline timeline --since 2h",
        "sightline timeline --session claude-code-42 --failed",
    )
    add_scope(made)
    made.add_argument("--verb", default="", metavar="VERB", help="list only calls of this verb, such as query")
    made.add_argument("--ref", default="", metavar="REF", help="list only calls about this output")
    made.add_argument("--failed", action="store_true", help="list only calls whose command failed")
    made.add_argument(
        "--text",
        default="",
        metavar="TEXT",
        help="list only calls with this text in their question or their reply, and words that have it",
    )
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    with Door(given) as door:
        scope = scope_of(door.store, given)
        verdict = verdict_of(door.store, scope)
        calls = calls_in_scope(door.store, scope)
        totals = totals_of(calls, captured_in_scope(door.store, scope, calls))
        wanted = CallFilter(given.verb, door.buffer_named(given.ref) if given.ref else "", given.failed, given.text)
        shown = filtered(door.store, calls, wanted)
        notes = notes_for(list_notes(door.store), (call.view for call in calls), scope.session, scope.since)
        said = _said_between(door.store, scope, calls, wanted)
        find = cache(door.store.index.buffer)
        context = _Context(door.store, scope.session, calls) if scope.session else None
        dollars = _dollars_of(door.store, scope.session)
        if given.json:
            rows = [
                {**as_data(call), "gone": gone_of(find, call.view), "dollars": dollars.get(call.view.number)}
                for call in shown
            ]
            print_json(
                {
                    "calls": rows,
                    "notes": [note_data(one) for one in notes],
                    "said": [said_data(one) for one in said],
                    "totals": totals_data(totals, verdict),
                    "context": context.data if context else None,
                }
            )
            return 0
        plain = wanted == CallFilter()
        titles = {one.name: session_title(one) for one in door.store.index.sessions()} if scope.session is None else {}
        rows_at = [
            (one.view.time, _row(one, gone_of(find, one.view), titles, dollars.get(one.view.number))) for one in shown
        ]
        rows_at += [(note.time, f"note  {note_row(note)}\n") for note in notes if plain]
        rows_at += [(one.time, _said_row(one, titles)) for one in said]
        rows_at += [(one.change.time, _rule(one)) for one in (context.losses if context else ()) if plain]
        rows_at.sort(key=itemgetter(0))
        write_out("".join(row for _, row in rows_at) or "nothing matches\n")
        write_out(_totals(totals, verdict))
        write_out(_held(context.tokens) if context else "")
        write_out("".join(f"{printable(one)}\n" for one in scope_cost(door.store, scope)))
        return 0


def _dollars_of(store: Reading, session: str | None) -> dict[int, float]:
    """Return what each reply to one session cost at list price, by its number, as far as prices are known."""
    return reply_dollars(store, session) if session and isinstance(store, Store) else {}


def _said_between(store: Reading, scope: Scope, calls: Sequence[Call], wanted: CallFilter) -> list[Said]:
    """Return what was said in the sessions of the calls, as far as the filter takes words without a call."""
    if wanted._replace(text="") != CallFilter():
        return []
    names = dict.fromkeys([*([scope.session] if scope.session else []), *(call.view.session for call in calls)])
    said = [one for name in names for one in said_in(store, name) if one.time >= scope.since]
    return [one for one in said if wanted.text.lower() in one.line.lower()]


def said_data(one: Said) -> dict[str, Any]:
    """Encode words for ``timeline --json``; the text is null if it was blanked."""
    said = {"id": one.id, "session": one.session, "time": one.time, "what": one.what}
    return {**said, "text": one.text, "cut": one.cut}


def _said_row(one: Said, titles: Mapping[str, str]) -> str:
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(one.time))
    called = one_line(titles.get(one.session, ""), _SESSION_CHARACTERS)
    who = f"  {printable(called)}" if called else ""
    return f"   “  {when}{who}  {one.what}  {printable(one_line(one.line, _SAID_CHARACTERS))}\n"


class _Context:
    """What remains of all that one session was shown.

    Attributes:
        losses: what its context has lost.
        tokens: what it still holds.
    """

    def __init__(self, store: Reading, session: str, calls: Sequence[Call]) -> None:
        holding = Holdings(store).of(session)
        views = [call.view for call in calls if call.view.number]
        self.losses = losses_of(holding, views, BYTES_A_TOKEN)
        self.tokens = held_tokens(holding, views, BYTES_A_TOKEN)

    @property
    def data(self) -> dict[str, Any]:
        """Encode this for ``timeline --json``; times are seconds since the epoch."""
        losses = [
            {"event": one.change.event, "time": one.change.time, "replies": one.replies, "tokens_estimated": one.tokens}
            for one in self.losses
        ]
        held = {format_ref(one.buffer): one.tokens for one in self.tokens.outputs if one.buffer}
        sums = {"held": self.tokens.held, "went": self.tokens.went, "not_known": self.tokens.unknown}
        return {"losses": losses, "tokens_estimated": sums, "held_by_output": held}


def _rule(loss: Loss) -> str:
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(loss.change.time))
    return f"────  {when}  {loss.told}\n"


def _held(tokens: HeldTokens) -> str:
    """Say what the session still holds, with the largest outputs by name."""
    parts = [f"~{tokens.held:,} tokens", f"~{tokens.went:,} no longer" if tokens.went else ""]
    parts.append(f"~{tokens.unknown:,} unknown" if tokens.unknown else "")
    most = ", ".join(f"{format_ref(one.buffer)} ~{one.tokens:,}" for one in tokens.outputs[:_LARGEST] if one.buffer)
    return f"in context: {'; '.join(filter(None, parts))}{most and f'; most in {most}'}\n"


_LARGEST = 3
_LEAST_DOLLARS = 0.005  # less reads as $0.00


def as_data(call: Call) -> dict[str, Any]:
    """Encode a call for ``timeline --json``: its view, and what the view was to its session."""
    return {
        **view_data(call.view),
        "asked": call.asked,
        "ref": call.first_ref or None,
        "failed": call.failed,
        "partial": call.partial or None,
        "altered": call.altered or None,
        "by_a_person": call.looks_on,
        "running": call.running,
        "unanswered": call.unanswered,
        "unfiltered": call.unfiltered.ref if call.unfiltered else None,
        "unfiltered_failed": call.failed_before_filter,
        "changes": [_change_data(one) for one in changes_of(call)],
        "new_lines": call.new,
        "again_lines": call.again,
        "cut_lines": call.cut_lines,
        "tokens_estimated": call.tokens,
        "alone_bytes": call.alone_bytes,
    }


def _change_data(change: FileChange) -> dict[str, Any]:
    """Encode how a call changed a file: its lines, as far as the call states them, behind ``+``, ``-`` or a blank."""
    diff = [f"{line.sign}{line.text}" for line in stated_diff(change) if line.sign != "@"]
    return {"path": change.path, "what": change.what, "moved": change.moved or None, "diff": diff, "cut": change.cut}


def _row(call: Call, gone: list[str], titles: Mapping[str, str], dollars: float | None) -> str:
    view, alone = call.view, call.alone_bytes
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(view.time))
    called = one_line(titles.get(view.session, ""), _SESSION_CHARACTERS)
    who = f"  {printable(called)}" if called else ""
    marks = [
        red(_failure(call)) if call.failed else "",
        "cut" if view.truncated else "",
        "partial" if call.partial else "",
        "altered" if call.altered else "",
        "by a person" if call.looks_on else "",
        "running" if call.running else "",
        _before_filter(call),
        f"{call.again:,} again" if call.again else "",
        "+{:,} -{:,} lines of files".format(*lines_changed(call)) if changes_of(call) else "",
        "gone" if gone else "",
    ]
    parts = [
        f"{view.number or '…':>4}  {when}{who}  {view.verb}",
        _lines(call) if view.lines_total else "",
        f"{human_bytes(view.bytes_shown)} (~{call.tokens:,} tokens)",
        "" if dollars is None or dollars < _LEAST_DOLLARS else f"${dollars:,.2f}",
        "" if alone is None else f"alone {human_bytes(alone)}",
        *marks,
        call.first_ref,
        printable(call.asked)[:_ASKED_CHARACTERS],
    ]
    return "  ".join(filter(None, parts)) + "\n"


def _failure(call: Call) -> str:
    """Say how a call failed."""
    if call.unanswered:
        return "ended without an answer"
    return f"exit {call.view.exit_code}" if call.view.exit_code else "failed"


def _before_filter(call: Call) -> str:
    """Say what a command's filters got, and how the program before them ended."""
    if call.unfiltered is None:
        return ""
    told = f"└ before the filter {call.unfiltered.ref}"
    code = call.unfiltered.exit_code
    return f"{told} {red(f'exit {code}' if code else 'failed')}" if call.failed_before_filter else told


def _lines(call: Call) -> str:
    in_part = f", {call.cut_lines:,} in part" if call.cut_lines else ""
    return f"{call.lines:,} of {call.view.lines_total:,} lines{in_part}"


def _totals(totals: CallTotals, verdict: Verdict) -> str:
    plural = "" if totals.calls == 1 else "s"
    seen = f"seen {int(verdict.seen):,} of {counted(verdict.lines, 'line')} ({told_share(verdict)})"
    told = (
        f"\n{totals.calls:,} call{plural}, {totals.cut:,} cut; shown {human_bytes(totals.shown_bytes)} "
        f"(~{totals.tokens:,} tokens, estimated) of {human_bytes(totals.captured_bytes)} captured\n"
        f"{_accounted(totals.accounted)}"
        f"{seen if verdict.lines else 'no lines captured'}; "
        f"shown again {totals.again:,} of {totals.lines:,} ({percent(totals.again_ratio)})\n"
    )
    words = verdict.mark + verdict.words
    told += f"{red(words) if verdict.has_findings else words}\n"
    return told + "".join(f"{sentence}\n" for sentence in verdict.unknown)


def _accounted(account: Accounted) -> str:
    """Compare the calls of known harnesses with what these would have shown by themselves."""
    if not account.calls:
        return ""
    return (
        f"{account.calls:,} of them through known harnesses: shown {human_bytes(account.shown_bytes)}, "
        f"alone they would have shown {human_bytes(account.alone_bytes)}: {account.told}\n"
    )
