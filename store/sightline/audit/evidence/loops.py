"""Finds loops: the same output of a failed check, the same edit made and taken back, the same read, again and again.

A row of runs goes on until one ends otherwise, or says anything else. A row of edits ends with a commit, for which
people take changes apart, and with a prompt. A read is of the same lines of the same bytes, as long as the context
still held them and nothing but reads came between.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache, partial

from sightline.audit.buffer_failures import Failure, failures_if_quick
from sightline.audit.evidence.call_facts import command_of, request_of
from sightline.audit.evidence.check_relations import makes_good
from sightline.audit.evidence.checks import FAILED, PASSED, Check
from sightline.audit.evidence.edits import Edit
from sightline.audit.evidence.evidence_records import Alarm, Ground, ground_of_call, ground_of_check
from sightline.audit.evidence.trail import Trail
from sightline.audit.failure_changes import has_all_failures, identity_of
from sightline.audit.finding_kinds import LOOP
from sightline.audit.held_lines import HELD, Holding
from sightline.audit.output_prices import reply_dollars
from sightline.audit.timeline import Call
from sightline.base.errors import SightlineError
from sightline.harnesses.file_changes import changes_in, changes_in_patch
from sightline.light.named_tuple import NamedTuple
from sightline.search.diff.normaliser import without_volatile
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.programs import programs_of
from sightline.store import Reading, Store, Target

LEAST = 3
"""How often something is done before it is a loop."""

_LEAST_EDITS = 4  # an edit that is taken back once, and made again, tries whether a test fails without it

_MOST_GROUNDS = 8
_LEAST_DOLLARS = 0.005  # that are worth words
_NAMELESS = "Traceback "  # what a program says of any failure
_FOLDER = re.compile(r"[/\\]")
_LEAST_BYTES = 500  # of a read
_MOST_BYTES = 1 << 20  # of an output that is compared
_GROWING = re.compile(r"\.(?:log|out|output)\b")  # files in which agents wait for more
_READERS = frozenset(("cat", "nl", "sed", "head", "tail", "bat", "less"))


def loops(store: Reading, trail: Trail, session: str, holding: Holding) -> list[Alarm]:
    """Return an alarm for each loop, with the calls that it is made of, and what all but the first of these cost.

    Args:
        store: the store.
        trail: the checks, edits and calls of the session, and of its helpers.
        session: its name; a helper's loops are alarms of its own.
        holding: what its context holds.
    """
    found = [
        *_same_failures(store, trail, session),
        *_same_edits(trail, session, holding),
        *_same_reads(trail, session, holding),
    ]
    dollars = reply_dollars(store, session) if found and isinstance(store, Store) else {}
    return [Alarm(LOOP, f"{one.text}{_cost(one.calls[1:], dollars)}", *_grounded(one)) for one in found]


class _Loop(NamedTuple):
    """A loop in words, and its calls with what each is."""

    text: str
    calls: Sequence[Call]
    grounds: Sequence[Ground]


def _grounded(loop: _Loop) -> tuple[tuple[Ground, ...], str]:
    return tuple(loop.grounds[-_MOST_GROUNDS:]), loop.calls[-1].asked


def _cost(calls: Sequence[Call], dollars: Mapping[int, float]) -> str:
    known = [dollars[call.view.number] for call in calls if call.view.number in dollars]
    return f"; all replies but the first cost ${sum(known):,.2f}" if known and sum(known) >= _LEAST_DOLLARS else ""


def _same_failures(store: Reading, trail: Trail, session: str) -> Iterator[_Loop]:
    of_check = dict[object, list[Check]]()
    for check in trail.checks:
        is_own = check.view.session == session
        if is_own and check.outcome == FAILED and (words := _words(command_of(check.call))):
            of_check.setdefault((check.kind, check.phrase, check.folder, words), []).append(check)
    passed = [check for check in trail.checks if check.outcome == PASSED]
    for runs in of_check.values():
        row = list[Check]()
        for check in runs if len(runs) >= LEAST else ():
            if row and not (_is_same(store, row[-1], check) and not _made_good(passed, row[-1], check)):
                yield from _row_of(store, trail, row)
                row = []
            row.append(check)
        yield from _row_of(store, trail, row)


def _made_good(passed: Iterable[Check], run: Check, later: Check) -> bool:
    return any(run.view.time < one.view.time < later.view.time and makes_good(one, run) for one in passed)


def _is_same(store: Reading, run: Check, later: Check) -> bool:
    """Return whether two runs surely had the same failures: each is known, and the outputs say nothing else."""
    named = _named(store, run)
    return bool(named) and named == _named(store, later) and _said(store, run) == _said(store, later) != frozenset()


def _row_of(store: Reading, trail: Trail, row: Sequence[Check]) -> Iterator[_Loop]:
    if len(row) < LEAST:
        return
    failures = len(_named(store, row[-1]))
    what = f"{failures:,} failures" if failures > 1 else "failure"
    edits = sum(row[0].view.time < one.time < row[-1].view.time for one in trail.edits)
    between = f", with {edits:,} edit{'s' if edits > 1 else ''} between" if edits else ""
    text = f"{row[-1].phrase} had the same {what} {len(row):,} times in a row{between}"
    yield _Loop(text, [one.call for one in row], [*map(ground_of_check, row)])


def _failures(store: Reading, check: Check) -> tuple[Failure, ...]:
    """Return the failures of a run; none if they are not all known one by one, or in a moment."""
    buffer = check.call.buffer
    try:
        found = failures_if_quick(store, buffer) if buffer and has_all_failures(buffer) else None
    except SightlineError:
        return ()
    return () if found is None or any(one.is_rest or one.text.startswith(_NAMELESS) for one in found) else found


def _named(store: Reading, check: Check) -> frozenset[str]:
    return frozenset(map(identity_of, _failures(store, check)))


def _said(store: Reading, check: Check) -> frozenset[bytes]:
    """Return the lines of a run's output, without times, numbers and the like; none of a large one."""
    buffer = check.call.buffer
    if buffer is None or buffer.bytes > _MOST_BYTES:
        return frozenset()
    try:
        texts = [store.open_text(Target(buffer, stream)) for stream in buffer.streams]
        with ExitStack() as opened:
            sources = [opened.enter_context(one) for one in texts]
            read = (bytes(one.read(0, one.byte_count)) for one in sources)
            return frozenset(without_volatile(line) for text in read for line in text.splitlines())
    except SightlineError:
        return frozenset()


@lru_cache(maxsize=512)
def _words(command: str) -> tuple[tuple[str, ...], ...]:
    """Return what a command line runs, without filters; nothing if that is not clear."""
    try:
        return tuple(one.words for one in programs_of(command))
    except Unclear:
        return ()


def _same_edits(trail: Trail, session: str, holding: Holding) -> Iterator[_Loop]:
    """Yield an alarm for each text of a file that was changed, changed back, and again, for one prompt."""
    ends = sorted((*(one.time for one in holding.events.prompts), *_commits(trail)))
    last = dict[tuple[int, str, frozenset[str]], list[tuple[str, Edit]]]()
    for edit in trail.all_edits:
        is_known = edit.path and edit.sure and edit.call.view.session == session
        pairs = set(_replaced_by(edit)) if is_known else set[tuple[str, str]]()
        for old, new in pairs:
            row = last.setdefault((bisect_right(ends, edit.time), edit.path, frozenset((old, new))), [])
            if (new, old) in pairs or (row and row[-1][0] == new):
                continue  # the same edit, or the one that takes it back, at another place
            row.append((new, edit))
    longest = dict[str, list[tuple[str, Edit]]]()  # of a file, since one change may be several edits
    for (_, path, _), row in last.items():
        if len(row) >= max(_LEAST_EDITS, len(longest.get(path, ())) + 1):
            longest[path] = row
    for path, row in longest.items():
        text = f"an edit of {_FOLDER.split(path)[-1]} was made and taken back again and again: {len(row):,} edits"
        calls = [edit.call for _, edit in row]
        yield _Loop(text, calls, [*map(ground_of_call, calls)])


def _commits(trail: Trail) -> Iterator[float]:
    """Yield when something was committed, or put aside."""
    for call in trail.calls:
        if any(words[:2] in (("git", "commit"), ("git", "stash")) for words in _words(command_of(call))):
            yield call.view.time


def _replaced_by(edit: Edit) -> Iterator[tuple[str, str]]:
    """Yield the old and the new text of what an edit replaced, as far as the log has them whole."""
    request = request_of(edit.call.view)
    tool, patch = request.get("tool"), command_of(edit.call) or request.get("patch")
    changes = changes_in_patch(patch) if isinstance(patch, str) else changes_in(str(tool), request.get("arguments"))
    for change in changes:
        if edit.path.endswith(change.path.removeprefix("./")) and not change.cut:
            yield from ((piece.old, piece.new) for piece in change.pieces if piece.old != piece.new)


def _same_reads(trail: Trail, session: str, holding: Holding) -> Iterator[_Loop]:
    """Yield an alarm for what was read again and again, unchanged, with nothing but reads between.

    It counts only while the context still held it.
    """
    prompted = [one.time for one in holding.events.prompts]
    of_read = dict[object, list[Call]]()
    for call in (one for one in trail.calls if one.view.session == session):
        if (key := _read_of(call)) is None:
            yield from _rows_of_reads(of_read, holding)
            of_read.clear()
            continue
        of_read.setdefault((bisect_right(prompted, call.view.time), key), []).append(call)
    yield from _rows_of_reads(of_read, holding)


def _rows_of_reads(of_read: Mapping[object, Sequence[Call]], holding: Holding) -> Iterator[_Loop]:
    for calls in of_read.values():
        row = list[Call]()
        for call in calls if len(calls) >= LEAST else ():
            held = partial(holding.fate, until=call.view.time)
            row = [*(one for one in row if held(one.view).state == HELD), call]
        is_large = bool(row) and row[-1].view.bytes_shown >= _LEAST_BYTES
        if len(row) >= LEAST and is_large and not _GROWING.search(row[-1].asked):
            text = f"the same was read {len(row):,} times, unchanged, while the context still held it"
            yield _Loop(text, row, [*map(ground_of_call, row)])


def _read_of(call: Call) -> object:
    """Return what a call read: what was asked for, with the bytes of the answer; None for no read of files."""
    buffer = call.buffer
    if buffer is None or call.looks_on or buffer.state != "sealed":
        return None
    if buffer.kind != "file" and not _reads_files(command_of(call)):
        return None
    return call.asked, tuple(one.sha256 for one in buffer.streams.values()), call.view.bytes_shown


def _reads_files(command: str) -> bool:
    """Return whether a command line only prints files."""
    words = _words(command)
    return bool(words) and all(one[0] in _READERS and len(one) > 1 for one in words)
