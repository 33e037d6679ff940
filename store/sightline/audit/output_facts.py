"""Judges one output by its bytes and the replies about it: what failed, what was seen, what was cut, altered, or lost.

An output is judged alone, whoever asks: by all replies but those to people who only look on. So what is found is kept
with its row, and the verdict of any scope is a sum.
"""

import re
from collections.abc import Iterable, Sequence

from sightline.audit.buffer_coverage import coverage_of, filtered_from
from sightline.audit.buffer_failures import (
    QUICK_BYTES,
    Failure,
    failures_if_quick,
    failures_of,
    judgement_of,
    rules_of,
    unseen_of,
)
from sightline.audit.coverage import Coverage, cover
from sightline.audit.quoting_views import find_quotes
from sightline.audit.timeline import Call, count_lines, is_shown_whole
from sightline.base.errors import StoreFailed
from sightline.base.records import READ_LATER, TOOL_FAILED, Buffer, OutputFacts
from sightline.base.refs import format_ref
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading

_VERSION = "verdict/13"  # raise the number when the same output would be judged differently

RAN, FAILED, UNSEEN, LEAST, CUT, UNTOLD, LOST, ALTERED = (1 << bit for bit in range(8))
PARTIAL, INCOMPLETE, UNJUDGED, UNSEALED, GONE, UNOPENED, UNSURE, EXPIRED, AGAIN, LARGE, UNANSWERED, REMOVED = (
    1 << bit for bit in range(8, 20)
)
UNTOLD_BY_HOST = 1 << 20
"""What is known of an output, a bit each.

    RAN          a command that was run, and not what went into its filters
    FAILED       it did not end well
    UNSEEN       a failure in it stood in no reply
    LEAST        its failures are too many to tell apart
    CUT          it failed, its reply was cut, and no later reply is about it
    UNTOLD       it failed after the last reply about it
    LOST         it failed, or may have, and only a part of it reached the store
    ALTERED      its bytes are not those that were captured
    PARTIAL      only a part of it reached the store, and it is no file, of which a reader may ask for some lines
    INCOMPLETE   likewise, of a command that failed, or whose end is not known
    UNJUDGED     it only shows what others wrote
    UNSEALED     nothing tells whether its bytes were changed
    GONE         it expired before it was shown whole
    UNOPENED     no line of it was shown
    UNSURE       lines that count as seen may have been cut
    EXPIRED      its bytes are gone
    AGAIN        lines of it were shown again
    LARGE        it is too large to be fetched and examined
    UNANSWERED   a call of a tool without an answer
    REMOVED      a person removed it before it was shown whole
    UNTOLD_BY_HOST  its host has not told what it found in it, by the rules that hold here
"""

FOUND = UNSEEN | CUT | UNTOLD | LOST | ALTERED
"""Those that an audit reports."""


_ENDS_WITH_0 = re.compile(
    r"\|\|\s{0,9}(?:true|:|exit 0|echo)\b|\|\|\s{0,9}:|\btrap\b[^\n]{0,60}\bexit 0|[;\n]\s{0,9}(?:exit 0|true)\b"
    r"|(?<!\S)(?:--exit-zero|--ignore-errors|--fail-never|-fn|--(?:issues|failure)-exit-code[= ]0)(?!\S)"
    r"|\bmake\b[^;&|\n]{0,200} -[a-hj-zA-Z]{0,9}i[a-zA-Z]{0,9}(?!\S)"
    r"|-Dmaven\.test\.failure\.ignore\b(?!=false)|\|\s{0,9}(?:tail|head|cat|tee|grep)\b(?=[^\n]{0,200}['\"])"
)
"""Words with which a command ends with 0 although something failed, also in a script that it hands on."""


_SERVES = re.compile(
    r"(?:^|[;&|] {0,9}|\b(?:npx|bunx|exec|run|cd [^;&|\n]{1,200} &&) )(?:[A-Z_]{1,40}=\S{0,99} )*"
    r"(?:(?:npm|pnpm|yarn|bun)(?: run)? (?:dev|start|serve|preview)|(?:next|astro|nuxt|tauri|wrangler|vercel|remix) dev"
    r"|vite(?! build)(?: (?:dev|serve|preview))?|astro preview|webpack serve|webpack-dev-server|uvicorn|flask run"
    r"|python3? -m http\.server|(?:python3? )?manage\.py runserver|rails s(?:erver)?)(?![\w-])(?=[^|;&\n]*$)"
)
"""A command that serves what is developed, and does not end by itself, as the last part of a line."""


class Ended(NamedTuple):
    """A finding about an output that follows from how it ended and what replies said: a flag, a call, and words."""

    flag: int
    text: str
    call: Call | None = None


def output_rules(store: Reading) -> str:
    """Return the name of the rules by which a store judges outputs; it changes with them."""
    return f"{_VERSION} {rules_of(store)}"


def facts_of(store: Reading, buffer: Buffer, calls: Sequence[Call]) -> OutputFacts:
    """Judge an output that has ended, after `Reading.checked`.

    Args:
        store: the store.
        buffer: its record.
        calls: the calls about it, oldest first, from `calls_about`.

    Raises:
        ExpiredRef, StoreFailed: its bytes cannot be read.
    """
    if buffer.is_unanswered:
        return OutputFacts(UNANSWERED)
    told = [call for call in calls if not call.looks_on]
    again = _shown_again(calls)
    flags = _of_record(buffer, is_here=store.place is None) | (AGAIN if again else 0)
    if buffer.state == "evicted":
        flags |= sum(one.flag for one in ended(buffer, calls))
        return OutputFacts(flags | EXPIRED | gone_flag(buffer, told), again=again)
    failures = _failures(store, buffer)
    coverage = _coverage(store, buffer, told, failures or ())
    unseen = unseen_of(store, buffer, failures or (), coverage)
    flags |= sum(one.flag for one in ended(buffer, calls, is_told=_is_told(store, buffer, failures or (), coverage)))
    flags |= UNSEEN if unseen else 0
    flags |= LARGE if failures is None else 0
    flags |= LEAST if any(one.is_rest for one in unseen) else 0
    flags |= UNSURE if any(call.parts[buffer.name].unsure for call in told) else 0
    seen = coverage.weight
    flags |= UNOPENED if buffer.lines and not seen else 0
    return OutputFacts(flags, len(failures or ()), len(unseen), buffer.lines, seen, again)


def facts_of_removed(buffer: Buffer, calls: Sequence[Call]) -> OutputFacts:
    """Judge an output that a person removed, given what is left of its record and the calls about it."""
    gone = gone_flag(buffer, calls)
    return OutputFacts(EXPIRED | gone | (REMOVED if gone else 0))


def gone_flag(buffer: Buffer, calls: Sequence[Call]) -> int:
    """Return GONE for an output without bytes of which some line was shown to nobody; else 0. Files do not count."""
    return 0 if buffer.kind == "file" or is_shown_whole(buffer, calls) else GONE


def _of_record(buffer: Buffer, *, is_here: bool) -> int:
    flags = RAN if buffer.kind == "cmd" and not filtered_from(buffer) else 0
    flags |= FAILED if flags and buffer.failed else 0
    flags |= PARTIAL if buffer.is_partial and buffer.kind != "file" else 0
    flags |= INCOMPLETE if buffer.kind == "cmd" and _hides_failures(buffer) else 0
    flags |= UNSEALED if is_here and buffer.is_unsealed else 0  # elsewhere, what is read is compared with its hash
    return flags | (UNJUDGED if buffer.bytes and judgement_of(buffer).why_not else 0)


def _hides_failures(buffer: Buffer) -> bool:
    """Return whether something may have failed in what is missing of an output, and nobody has looked there.

    Nothing has, where a command's own exit code is 0 and its words do not make it that, or it only shows what others
    wrote.
    """
    if not buffer.is_partial or READ_LATER in buffer.note or _goes_on_serving(buffer):
        return False
    judgement = judgement_of(buffer)
    own_end = buffer.exit_code == 0 and not judgement.hidden and not _ENDS_WITH_0.search(buffer.command)
    states_end = bool(judgement.why_not) or own_end
    return buffer.kind != "cmd" or not states_end


def _goes_on_serving(buffer: Buffer) -> bool:
    """Return whether a server for development had not ended yet, and nothing is missing but what it wrote after."""
    at_end = all(gap.missing is None and gap.after >= buffer.stream(gap.stream).lines for gap in buffer.gaps)
    return buffer.exit_code is None and bool(buffer.gaps) and at_end and bool(_SERVES.search(buffer.command))


def _failures(store: Reading, buffer: Buffer) -> tuple[Failure, ...] | None:
    """Return what failed in it; None of one that would have to be fetched whole for that."""
    is_far = store.place is not None and buffer.bytes > QUICK_BYTES
    try:
        return failures_if_quick(store, buffer) if is_far else failures_of(store, buffer)
    except StoreFailed:
        if buffer.altered:  # a file of it is gone, or none any more, which is reported as that
            return ()
        raise


def _coverage(store: Reading, buffer: Buffer, told: Iterable[Call], failures: Iterable[Failure]) -> Coverage:
    """Return the coverage of an output, after later replies were searched for failures that were not shown."""
    made = [call.parts[buffer.name] for call in told]
    totals = {name: info.lines for name, info in buffer.streams.items()}
    coverage = cover(buffer.name, totals, made, partial=buffer.is_partial)
    unseen = [
        (place.stream, place.telling) for one in failures if not one.is_shown_whole(coverage) for place in one.places
    ]
    if unseen:
        find_quotes(store, buffer, unseen)
    elif not filtered_from(buffer):  # what its filters passed on was shown, too
        return coverage
    return coverage_of(store, buffer)


def _is_told(store: Reading, buffer: Buffer, failures: Sequence[Failure], coverage: Coverage) -> bool:
    """Return whether all that failed was shown, whatever else was cut, or the command was run again."""
    acts = judgement_of(buffer).acts  # else they are complaints of a search, of which one tells of all
    if failures and all(one.is_shown_whole(coverage) or (not acts and one.is_seen(coverage)) for one in failures):
        return True
    return buffer.failed and store.index.later_run(buffer) is not None


def _shown_again(calls: Iterable[Call]) -> int:
    seen: dict[tuple[str, str, str], tuple[tuple[int, int], ...]] = {}
    return sum(count_lines(call.view, call.parts, seen)[1] for call in calls)


def ended(buffer: Buffer, calls: Sequence[Call], *, is_told: bool = False) -> list[Ended]:
    """Return what is to be said of how an output ended.

    Args:
        buffer: its record.
        calls: the calls about it, oldest first.
        is_told: whether all that failed in it was shown, so that nothing of that was cut.
    """
    if buffer.was_removed:
        return []
    told = [call for call in calls if not call.looks_on]
    found = [Ended(CUT, text, call) for call, text in ([] if is_told else _cut(buffer.name, told))]
    if buffer.state == "evicted":
        return found
    if buffer.altered:
        found.append(Ended(ALTERED, buffer.altered))
    if buffer.may_have_failed and _hides_failures(buffer):
        found.append(Ended(LOST, f"{how_it_ended(buffer)}; {buffer.lost}"))
    if _is_untold(buffer, told):
        found.append(Ended(UNTOLD, f"{how_it_ended(buffer)}, and nobody was told"))
    return found


def _cut(name: str, told: Sequence[Call]) -> list[tuple[Call, str]]:
    """Return the last call about an output, with words, if it failed and its reply was cut."""
    if not told:
        return []
    call, view = told[-1], told[-1].view
    has_all = call.buffer is not None and call.buffer.is_partial and view.lines_shown >= view.lines_total
    if not (call.failed and view.truncated and view.refs[0] == name) or has_all:
        return []
    in_part = f", {call.cut_lines:,} in part" if call.cut_lines else ""
    return [(call, f"{view.lines_shown:,} of {view.lines_total:,} lines shown{in_part}, never read again")]


def _is_untold(buffer: Buffer, told: Sequence[Call]) -> bool:
    """Return whether an output failed after the last call about it.

    A reply with the exit code has told of the failure, whatever the times say, as a harness may have another clock.
    """
    if not buffer.failed or filtered_from(buffer) or not buffer.ended:
        return False
    last = max((call.view.time for call in told if call.view.number), default=0.0)
    codes = {call.view.exit_code for call in told if call.view.refs[0] == buffer.name}
    return last < buffer.ended and (buffer.exit_code is None or buffer.exit_code not in codes)


def how_it_ended(buffer: Buffer) -> str:
    """Say how an output ended."""
    if buffer.timed_out:
        return "timed out"
    if buffer.exit_code is not None:
        return f"ended with exit {buffer.exit_code}" + (f" ({buffer.exit_meaning})" if buffer.exit_meaning else "")
    if buffer.state == "interrupted":
        return "was interrupted"
    return (
        TOOL_FAILED
        if buffer.kind != "cmd" or TOOL_FAILED in buffer.note
        else "ended with an exit code that is not known"
    )


def ref_of(buffer: Buffer) -> str:
    """Return the ref of an output."""
    return format_ref(buffer.name)
