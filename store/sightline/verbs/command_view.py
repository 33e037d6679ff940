"""Makes what an agent is shown of a command's output: all of a short one, else a view that says what is missing."""

from sightline.base.profile import Profile
from sightline.base.records import Buffer
from sightline.light.late_imports import late_modules
from sightline.light.library import cache
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable
from sightline.log.views import Shows, parts_of, settled, shown_of
from sightline.shape.budgets import HARD_LIMIT_BYTES, ROOMY, Room, budget_for
from sightline.shape.segments import Shaped, join_segments, terminated, uncut
from sightline.shape.source import Source
from sightline.store import Target
from sightline.verbs.asker import Asker, Calls
from sightline.verbs.head_line import fitted_head, head_bytes, with_paid_head
from sightline.verbs.reply import Reply, fitting, in_order
from sightline.verbs.short_output import clean, cut_to_lines_only, short_body

if TYPE_CHECKING:
    from sightline.shape.failure.examination import Examination
    from sightline.shape.json.result import Structured

with late_modules(globals()):
    from sightline.shape import (
        markers,  # 3 ms of patterns: few outputs are cut or partial
        memory_stream,
        repeated_lines,  # an output that is not cut has no gaps
        summary,
    )
    from sightline.shape.failure import examination as failure_examination  # 12 ms, most of it patterns
    from sightline.verbs import (
        file_facts,
        structured_view,  # 10 ms: a short output needs no shape
    )

_MAY_FIT = 4
"""An output of up to this many times its budget may fit after cleaning and folding."""

_NEXT_LINES = 200  # left-out lines that the ready-made next call asks for


class Ending(NamedTuple):
    """How a command ended, or that it still runs.

    Attributes:
        exit_code: its exit code; None if it is not known, or there is none.
        seconds: how long it ran; None if that is not known.
        signal: number of the signal that ended it; 0 for none.
        timed_out: whether the time limit ended it.
        running: whether it still runs.
        told_elsewhere: whether the caller shows an exit code that is not known here.
        answer: what its exit code answers, such as ``no match``, if that is no failure; else empty.
    """

    exit_code: int | None
    seconds: float | None = None
    signal: int = 0
    timed_out: bool = False
    running: bool = False
    told_elsewhere: bool = False
    answer: str = ""

    @property
    def process_code(self) -> int:
        """The exit code of a command line that ran it: 124 after a timeout, as from timeout(1)."""
        return 124 if self.timed_out else (self.exit_code or 0)


def ending_of(buffer: Buffer) -> Ending:
    """Return how a buffer's command ended, from its record."""
    running = buffer.state == "running"
    return Ending(buffer.exit_code, buffer.seconds, buffer.signal, buffer.timed_out, running, answer=buffer.answer)


def command_reply(
    asking: Asker,
    buffer: Buffer,
    ending: Ending,
    *,
    verbosity: str,
    verb: str,
    request: dict[str, Any],
    always_ref: bool = False,
    only: str = "",
    **more: Any,
) -> Reply:
    """Make the reply for a command's buffer.

    Args:
        asking: who asks.
        buffer: the buffer's record.
        ending: how the command ended.
        verbosity: ``auto`` or a mode; an explicit mode always wins.
        verb: the verb.
        request: its arguments.
        always_ref: whether even a short output gets a ref.
        only: the only stream to show, ``out`` or ``err``; empty for both.
        more: further fields, such as warning or note.
    """
    store, profile = asking.store, asking.profile
    with store.open_text(Target(buffer, "out")) as raw_out, store.open_text(Target(buffer, "err")) as raw_err:
        out, err = clean(raw_out, profile), clean(raw_err, profile)
        if only:
            out, err = (out, memory_stream.BytesSource(b"")) if only == "out" else (memory_stream.BytesSource(b""), err)

        @cache
        def examination() -> "Examination":
            return failure_examination.Examination(out, err, buffer.command, added=store.rule_files)

        status = "running" if ending.running else "interrupted" if buffer.state == "interrupted" else None
        notes = "; ".join(filter(None, (buffer.note, more.pop("note", None)))) or None
        first = {"exit_code": ending.exit_code, "status": status, "timed_out": ending.timed_out or None, "note": notes}
        if not (always_ref or ending.running or ending.timed_out):
            fields = in_order({**first, **more})
            by_budget = verbosity != "auto" or profile.short.measure == "budget"
            good = not (ending.exit_code or has_failed(ending, examination))
            own = budget_for(verbosity, good, profile.budgets) if by_budget else None
            if short := short_body(profile, fields, out, err, own, asking.room):
                return _reply(fields, short, buffer, verb, request, ending, missing=set(fields) > {"exit_code"})
        hints = _hints(asking, buffer, ending)
        bare = not (always_ref or ending.running or ending.timed_out or notes or more)
        shaped, fields = cut_view(
            asking.calls,
            profile,
            (out, err),
            ending,
            {"output_id": buffer.ref, **first, **hints, **more},
            verbosity=verbosity,
            examination=examination,
            bare=bare,
            room=asking.room,
        )
        if shaped.truncated and profile.files.shown:
            fields |= file_facts.file_fields(store, buffer, profile)
        if not ending.running and (slow := examination().given_up):
            told = f"the rules of {', '.join(slow)} took too long and were given up; `sightline doctor` tries them"
            fields["warning"] = "; ".join(filter(None, (fields.get("warning"), told)))
        missing = shaped.truncated or not bare
        reply = _reply(in_order(fields), shaped, buffer, verb, request, ending, missing=missing)
        return _settled(reply, buffer, (out, err)) if ending.running else reply


def cut_view(
    calls: Calls,
    profile: Profile,
    streams: tuple[Source, Source],
    ending: Ending,
    fields: dict[str, Any],
    *,
    verbosity: str,
    examination: Callable[[], "Examination"],
    bare: bool = True,
    room: Room = ROOMY,
) -> tuple[Shaped, dict[str, Any]]:
    """Make the body of an output that is not short, and the fields above it.

    Args:
        calls: writes a next call.
        profile: the budgets, and the way of cutting.
        streams: standard output, standard error.
        ending: how the command ended.
        fields: the known fields, with ``output_id``.
        verbosity: ``auto`` or a mode.
        examination: returns what is known of the output; called only if that is needed.
        bare: whether a body that lacks nothing has no fields.
        room: the size that the reply may have.
    """
    out, err = streams
    known = None if ending.running else examination()
    failed = has_failed(ending, examination)
    budget = budget_for(verbosity, not (failed or ending.exit_code), profile.budgets)
    few = cut_to_lines_only(profile, out, err)
    ref = str(fields["output_id"])
    looked_into = known
    if known and not failed and profile.budgets.measure == "reply":
        looked_into = known.of_success(ending.exit_code)

    def told(at_most: int | None = None) -> str:
        quiet = looked_into if looked_into and looked_into.quiet else None
        return summary.summary(out, err, **ending._asdict(), examination=known, quiet=quiet, at_most=at_most)

    def made_for(body: int | None) -> "Structured":
        return fitting(
            fields,
            HARD_LIMIT_BYTES,
            lambda limit: structured_view.shape_output(
                profile, out, err, budget=body, failed=failed, examination=looked_into, short=few, limit=limit
            ),
            lambda made: join_segments(made.shaped.segments),
            room,
        )

    def headed(shaped: Shaped, description: str = "", path: str = "") -> dict[str, Any]:
        """Return the fields above a body."""
        full = fields | counts_of(shaped) | {"description": description or None}
        if path and out.line_count == 1 and "next" not in full:  # one line cannot be divided by line numbers
            full["next"] = calls("read_output", ref=ref, path=path)
        if shaped.truncated and "next" not in full:
            reported = looked_into if failed or (looked_into and looked_into.quiet) else None
            full["next"] = _next_call(calls, shaped, reported, out, err, ref)
        full = in_order(full)
        return full if paid is None else fitted_head(full, paid, failed=failed, summary=told)

    fields = {**fields, "summary": told(), "total_bytes": out.byte_count + err.byte_count}
    paid = budget if profile.budgets.measure == "reply" else None
    if paid is None or (bare and fields["total_bytes"] <= _MAY_FIT * paid):
        made = made_for(budget)
        if paid is None or not made.shaped.truncated:
            return made.shaped, headed(*made)
    widest = max(out.line_count, err.line_count, 1)
    at_most = Shaped((), widest, widest, widest, err.line_count and widest, True, known is not None)
    made, above = with_paid_head(
        paid,
        head_bytes(headed(at_most)),
        made_for,
        lambda made: join_segments(made.shaped.segments),
        lambda made: headed(*made),
    )
    return made.shaped, above


def _settled(reply: Reply, buffer: Buffer, sources: tuple[Source, Source]) -> Reply:
    """Return the reply with its unfinished last lines not counted as shown."""
    shows = reply.shows
    for stream, source in zip(("out", "err"), sources, strict=True):
        if source.byte_count and not terminated(source):
            shows = settled(shows, buffer.name, stream, source.line_count - 1)
    return reply._replace(shows=shows)


def has_failed(ending: Ending, examination: Callable[[], "Examination"]) -> bool:
    """Return whether failures come first in the view; if the exit code is not known, the output decides."""
    if ending.running:
        return False
    if ending.exit_code is None and not ending.timed_out:
        return examination().says_failed
    return ending.timed_out or (bool(ending.exit_code) and not ending.answer)


def _hints(asking: Asker, buffer: Buffer, ending: Ending) -> dict[str, Any]:
    if ending.running:
        return {"next": asking.calls("read_output", ref=buffer.ref, wait=20)}
    if ending.timed_out:
        return {
            "hint": "the time limit ended it; what it wrote is kept. "
            "Run it with a larger timeout, or in the background",
        }
    return {}


def counts_of(shaped: Shaped) -> dict[str, Any]:
    """Return the fields that say how much of an output is shown."""
    fields: dict[str, Any] = {
        "truncated": shaped.truncated or None,
        "stdout_shown": shaped.out_shown,
        "stdout_total": shaped.out_total,
    }
    if shaped.err_total:
        fields |= {"stderr_shown": shaped.err_shown, "stderr_total": shaped.err_total}
    return fields


def _next_call(calls: Calls, shaped: Shaped, known: "Examination | None", out: Source, err: Source, ref: str) -> str:
    """Return the call that reads the likeliest of the missing lines.

    These are the failures that are counted and not shown; else the lines nearest to what explains the failure; else the
    first that are missing.
    """
    if shaped.errors_elided and known and not known.quiet:
        both = {"stream": "all"} if shaped.err_total and shaped.out_total else {}
        place = ref if shaped.out_total or not shaped.err_total else err.ref
        return calls("read_output", ref=place, search=known.search, **both)
    gaps = [
        (source, *gap)
        for source in (out, err)
        for gap in repeated_lines.free_spans(_accounted(shaped, source.ref), 1, source.line_count)
    ]
    if not gaps:
        return calls("read_output", ref=ref, offset=0)
    source, first, last = gaps[0]
    if known and (reason := known.reason):
        near = [gap for gap in gaps if gap[0] is reason.source]
        source, first, last = min(near or gaps, key=lambda gap: max(gap[1] - reason.line, reason.line - gap[2]))
        if source is reason.source and last < reason.line:
            first = max(first, last - _NEXT_LINES + 1)
    return calls("read_output", ref=source.ref, lines=f"{first}-{min(last, first + _NEXT_LINES - 1)}")


def _accounted(shaped: Shaped, ref: str) -> list[tuple[int, int]]:
    """Return the ranges of a stream's lines that a body shows, or that were overwritten; a next call skips these."""
    found = []
    for segment in uncut(shaped.segments):
        if segment.ref == ref:
            found.append((segment.first, segment.last))
        elif not segment.ref:
            found += [(first, last) for name, first, last in markers.rewritten_lines(segment.text) if name == ref]
    return sorted(found)


def _reply(
    fields: dict[str, Any],
    shaped: Shaped,
    buffer: Buffer,
    verb: str,
    request: dict[str, Any],
    ending: Ending,
    *,
    missing: bool,
) -> Reply:
    shows = Shows(
        verb=verb,
        request=request,
        refs=(buffer.name,),
        records=(buffer,),
        shown=shown_of(shaped.segments),
        lines_total=shaped.out_total + shaped.err_total,
        bytes_total=buffer.bytes,
        exit_code=ending.exit_code,
        truncated=shaped.truncated,
        parts=parts_of(shaped.segments),
    )
    return Reply(fields, shaped.segments, shows, missing=missing, exit_code=ending.process_code)
