"""Finds what failed in a buffer, and which failures were overlooked, because they stood in no view.

A failure is what a tool names, such as a test, even if several places tell of it; or a region of lines without a name.
It was seen if any line that tells of it stood in a view.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.coverage import Coverage, StreamCoverage
from sightline.audit.line_spans import Spans, common, size, spans_of
from sightline.base.errors import SightlineError, StoreFailed
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.base.sha256 import sha256_hex
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.shape.clean import clean_line
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.failure_scan import Failures, find_failures
from sightline.shape.failure.judge import ECHO, LOCATED, WORD, last_part
from sightline.shape.failure.judgement import Judgement, is_tried_again, judgement_for
from sightline.shape.failure.regions import MOST_HITS, Region, regions_of
from sightline.shape.memory_stream import BytesSource
from sightline.shape.source import Source
from sightline.shape.summary import one_line
from sightline.store import Reading, Rows, Target

QUICK_BYTES = 16 << 20
"""The largest buffer that is examined in about a second, in the worst case."""

_SMALL_BYTES = 1 << 16  # of an output without a failure, to examine it again takes as long as to keep that

TEXT_CHARACTERS = 200
"""Characters of a failure's line in lists and reports."""

_FAILURES = "failures/15"  # raise the number when the same bytes would be judged differently
_UNJUDGED = "unjudged/7"  # likewise
_REST = "more failures, not told apart: "
_NOT_JUDGED = {"file": "a file's lines were written by others", "tool": "a tool's result is not that of a run"}
"""Kinds of buffer that are not judged, with the reason."""


class FailurePlace(NamedTuple):
    """A place that tells of a failure.

    Attributes:
        stream: name of the stream.
        first: first line, from 1.
        last: last line, inclusive.
        telling: the lines among these that tell of the failure.
        spots: for long ones among them, (line, first byte, last byte) of the telling part, bytes from 1.
    """

    stream: str
    first: int
    last: int
    telling: Spans
    spots: tuple[tuple[int, int, int], ...] = ()

    def is_seen(self, coverage: StreamCoverage) -> bool:
        """Return whether a line that tells of it stood in a view, whole or with its telling part."""
        if common(self.telling, coverage.seen):
            return True
        return any(coverage.shows(line, (first, last)) for line, first, last in self.spots)


class Failure(NamedTuple):
    """Something that failed.

    Attributes:
        name: its name, such as a test's; empty if nothing names it.
        at: where it happened, such as ``src/x.py:12``; empty if the output does not say.
        text: its first telling line.
        places: the places that tell of it, in order.
    """

    name: str
    at: str
    text: str
    places: tuple[FailurePlace, ...]

    @property
    def is_rest(self) -> bool:
        """Whether it stands for all failures from a line on, where there are too many to tell one from another."""
        return not self.name and self.text.startswith(_REST)

    def ref(self, buffer: str) -> str:
        """Return the ref of the first place: ``@cmd_a1b2c3.err:12-20``."""
        place = self.places[0]
        return format_ref(buffer, place.stream, place.first, place.last)

    def is_shown_whole(self, coverage: Coverage) -> bool:
        """Return whether every line that tells of it stood in a view."""
        return all(
            (stream := coverage.streams.get(place.stream)) is not None
            and common(place.telling, stream.seen) == place.telling
            for place in self.places
        )

    def is_seen(self, coverage: Coverage) -> bool:
        """Return whether any line that tells of it stood in a view; of a cut line, its telling part; of a rest, all."""
        if self.is_rest:
            seen = ((coverage.streams[one.stream].seen, one.telling) for one in self.places)
            return all(common(lines, telling) == telling for lines, telling in seen)
        return any(place.is_seen(stream) for place in self.places if (stream := coverage.streams.get(place.stream)))


class Unjudged(NamedTuple):
    """Lines that look like failures and are not judged.

    Attributes:
        why: the reason, such as ``cat only reads``.
        lines: the lines, by stream.
    """

    why: str
    lines: Mapping[str, Spans]

    def unseen(self, coverage: Coverage) -> int:
        """Return the number of them that stood in no view."""
        streams = coverage.streams
        return sum(size(common(spans, streams[name].unseen)) for name, spans in self.lines.items() if name in streams)

    def told(self, coverage: Coverage) -> str:
        """Return a sentence about them: ``2 error lines unseen; not judged, since cat only reads``; empty for none."""
        if not (count := sum(map(size, self.lines.values()))):
            return ""
        unseen = self.unseen(coverage)
        lines = f"{unseen or count:,} error line{'' if (unseen or count) == 1 else 's'}"
        return f"{lines} {'unseen' if unseen else 'seen'}; not judged, since {self.why}"


class Overlooked(NamedTuple):
    """A failure that stood in no view."""

    buffer: Buffer
    failure: Failure

    @property
    def ref(self) -> str:
        """Return the ref of the lines that stood in no view."""
        return self.failure.ref(self.buffer.name)


def told_count(failures: Collection[Failure]) -> str:
    """Write the number of some failures: ``1 failure``, or ``at least 20,001 failures`` if one is a rest."""
    return number_told(len(failures), at_least=any(failure.is_rest for failure in failures))


def number_told(number: int, *, at_least: bool) -> str:
    """Write a number of failures, which is a lower bound if one of them is a rest."""
    return f"{'at least ' if at_least else ''}{number:,} failure{'' if number == 1 else 's'}"


def failures_of(store: Reading, buffer: Buffer) -> tuple[Failure, ...]:
    """Return what failed in a buffer, in order. For an ended buffer it is found once, and kept in the index.

    It is empty if the output is not judged (`judgement_of`), or nothing in its judged lines says that it failed.

    Raises:
        ExpiredRef, StoreFailed: the bytes are gone.
    """
    if buffer.kind == "file" or not buffer.bytes:
        return ()
    final = buffer.state in ("sealed", "interrupted")
    kept = store.index.derived(buffer.name, _key(rules_of(store), buffer)) if final else None
    if kept is not None:
        return tuple(_read(row) for row in loads(kept))
    found = _examine(store, buffer)
    if final and (found or buffer.bytes > _SMALL_BYTES):
        store.index.put_derived(buffer.name, _key(rules_of(store), buffer), dumps(found, ensure_ascii=False))
    return found


def is_of_failures(key: str) -> bool:
    """Return whether it is a key under which failures are kept, by whatever rules."""
    return key.startswith(_FAILURES.partition("/")[0] + "/")


class HostJudgement(NamedTuple):
    """What a host found in one of its outputs.

    Attributes:
        rules: the rules by which it judged, from `rules_of`.
        why_not: why the output is not judged; empty if it is.
        failures: the failures in it, as they are kept in an index.
    """

    rules: str
    why_not: str
    failures: list[Any]


def judge_for_others(store: Reading, buffer: Buffer) -> HostJudgement:
    """Return what is found in an output that has ended, for readers elsewhere. Raises what `failures_of` raises."""
    rules = rules_of(store)
    kept = store.index.derived(buffer.name, _key(rules, buffer))
    found = loads(kept) if kept is not None else _examine(store, buffer) if buffer.bytes else ()
    return HostJudgement(rules, judgement_of(buffer).why_not, loads(dumps(found)))


def keep_judgement(rows: Rows, buffer: Buffer, told: HostJudgement) -> bool:
    """Keep what a host found in an output, so that it is not examined again where the rules are the same.

    Returns:
        Whether it could be kept; False if it is no such finding.
    """
    try:
        is_sound = all(_is_sound(_read(row)) for row in told.failures)
    except (ValueError, TypeError):
        is_sound = False
    if is_sound:
        rows.put_derived(buffer.name, _key(told.rules, buffer), dumps(told.failures, ensure_ascii=False))
    return is_sound


def _is_sound(failure: Failure) -> bool:
    texts = [failure.name, failure.at, failure.text, *(place.stream for place in failure.places)]
    spans = [(place.first, place.last) for place in failure.places]
    spans += [span for place in failure.places for span in place.telling]
    numbers = [number for place in failure.places for spot in place.spots for number in spot]
    return (
        all(isinstance(text, str) for text in texts)
        and bool(failure.places)
        and all(place.telling for place in failure.places)
        and all(type(number) is int and number > 0 for number in (*numbers, *(end for span in spans for end in span)))
    )


def failures_if_quick(store: Reading, buffer: Buffer) -> tuple[Failure, ...] | None:
    """Return what failed in a buffer if that takes a moment; None for a large one that was not examined yet.

    Raises what `failures_of` raises.
    """
    if (
        buffer.bytes > QUICK_BYTES
        and buffer.kind != "file"
        and store.index.derived(buffer.name, _key(rules_of(store), buffer)) is None
    ):
        return None
    return failures_of(store, buffer)


def rules_of(store: Reading, what: str = _FAILURES) -> str:
    """Return the name of the rules by which a store judges; it changes with them."""
    files = store.rule_files
    return f"{what}+{sha256_hex(repr(files).encode())[:12]}" if files else what


def _key(rules: str, buffer: Buffer) -> str:
    """Return the key under which a result is kept; it changes with the rules, and with how the command ended."""
    return f"{rules} {'failed' if buffer.failed else 'ended'} {buffer.exit_code}"


def not_judged(buffers: Iterable[Buffer]) -> int:
    """Return how many of some buffers have content and are not judged."""
    return sum(bool(buffer.bytes and judgement_of(buffer).why_not) for buffer in buffers)


def unjudged_of(store: Reading, buffer: Buffer) -> Unjudged:
    """Return lines of a buffer that look like failures and do not count, with the rules and errors of `failures_of`."""
    judgement = judgement_of(buffer)
    if judgement.all_counts or not buffer.bytes:
        return Unjudged(judgement.why, {})
    final = buffer.state in ("sealed", "interrupted")
    kept = store.index.derived(buffer.name, _key(rules_of(store, _UNJUDGED), buffer)) if final else None
    if kept is None:
        kept = dumps(dict(_not_counting(store, buffer, judgement)))
        if final:
            store.index.put_derived(buffer.name, _key(rules_of(store, _UNJUDGED), buffer), kept)
    lines = {name: spans_of((first, last) for first, last in spans) for name, spans in loads(kept).items()}
    return Unjudged(judgement.why, lines)


def unjudged_if_quick(store: Reading, buffer: Buffer) -> Unjudged | None:
    """Return what `unjudged_of` does if that takes a moment; None for a large buffer that was not examined yet."""
    if (
        buffer.bytes > QUICK_BYTES
        and store.index.derived(buffer.name, _key(rules_of(store, _UNJUDGED), buffer)) is None
    ):
        return None
    return unjudged_of(store, buffer)


def _not_counting(store: Reading, buffer: Buffer, judgement: Judgement) -> Iterator[tuple[str, Spans]]:
    """Yield (stream, lines) for the streams that have any, up to the number that is reported."""
    names = [("out", "err")] if buffer.kind == "cmd" else [(stream, "") for stream in buffer.streams]
    for first, second in names:
        with ExitStack() as opened:
            out = opened.enter_context(store.open_text(Target(buffer, first)))
            err = opened.enter_context(store.open_text(Target(buffer, second))) if second else BytesSource(b"")
            examination = Examination(out, err, buffer.command, judgement, added=store.rule_files)
            for stream, source in ((first, out), (second, err)):
                if spans := find_failures(source, examination.judge, counts=examination.ignores).spans:
                    yield stream, spans


def overlooked_in(store: Reading, buffer: Buffer, coverage: Coverage) -> list[Failure]:
    """Return the failures of a buffer that stood in no view of a coverage. Raises what `failures_of` raises."""
    return unseen_of(store, buffer, failures_of(store, buffer), coverage)


def unseen_of(store: Reading, buffer: Buffer, failures: Iterable[Failure], coverage: Coverage) -> list[Failure]:
    """Return those of a buffer's failures that stood in no view, without those that a later run of it has again."""
    unseen = [one for one in failures if not one.is_seen(coverage)]
    later = store.index.later_run(buffer) if unseen else None
    if later is None or later.state == "running":
        return unseen
    try:
        again = {one.name or one.text for one in failures_if_quick(store, later) or ()}
    except SightlineError:
        return unseen
    return [one for one in unseen if (one.name or one.text) not in again]


def overlooked(
    store: Reading, buffers: Iterable[Buffer], *, session: str | None = None, unread: set[str] | None = None
) -> list[Overlooked]:
    """Return the failures of some buffers that stood in no view; a buffer that is gone has none.

    Args:
        store: the store.
        buffers: the buffers.
        session: the only session whose views count; None for all.
        unread: gets the names of buffers that are there and cannot be read, though they are not altered.
    """
    found = []
    for buffer in buffers:
        if buffer.state == "evicted":
            continue
        try:
            if failures_of(store, buffer):
                coverage = coverage_of(store, buffer, session=session)
                found += [Overlooked(buffer, failure) for failure in overlooked_in(store, buffer, coverage)]
        except SightlineError as error:
            if unread is not None and isinstance(error, StoreFailed) and not buffer.altered:
                unread.add(buffer.name)
    return found


def _read(row: list[Any]) -> Failure:
    name, at, text, places = row
    made = [
        FailurePlace(
            stream,
            first,
            last,
            spans_of((start, end) for start, end in telling),
            tuple((line, begin, stop) for line, begin, stop in spots),
        )
        for stream, first, last, telling, spots in places
    ]
    return Failure(name, at, text, tuple(made))


def judgement_of(buffer: Buffer) -> Judgement:
    """Return how a buffer is judged: a command's output by how it ended, and anything else not at all."""
    if why_not := _NOT_JUDGED.get(buffer.kind):
        return Judgement(why_not)
    return judgement_for(buffer.command, failed=buffer.failed, exit_code=buffer.exit_code)


def _examine(store: Reading, buffer: Buffer) -> tuple[Failure, ...]:
    judgement = judgement_of(buffer)
    if judgement.why_not:
        return ()
    with store.open_text(Target(buffer, "out")) as out, store.open_text(Target(buffer, "err")) as err:
        examination = Examination(out, err, buffer.command, judgement, MOST_HITS, store.rule_files)
        found, rests = [], list[Failure]()
        for stream, source in (("out", out), ("err", err)):
            for region in regions_of(examination, source):
                if judgement.ended_well and _is_tried_again(source, region):
                    continue
                line = next(iter(source.lines(region.telling[0][0], region.telling[0][0])), None)
                text = examination.judge.telling_text(line.data) if line else ""
                found.append((stream, region, one_line(text, TEXT_CHARACTERS)))
            rests += _rest(stream, examination.failures(source), source.line_count)
    return (*(_grouped(found) if judgement.acts else _as_one(_grouped(found))), *rests)


def _as_one(failures: list[Failure]) -> list[Failure]:
    """Make one failure of what programs complain of that only search or show: that they could not do it all."""
    if len(failures) < 2:
        return failures
    return [failures[0]._replace(places=tuple(place for one in failures for place in one.places))]


def _is_tried_again(source: Source, region: Region) -> bool:
    """Return whether a line right below a failure says that it is tried once more."""
    below = source.lines(region.last + 1, region.last + _RETRY_LINES)
    return any(is_tried_again(clean_line(line.data)) for line in below)


_RETRY_LINES = 2


def _rest(stream: str, found: Failures, line_count: int) -> Iterator[Failure]:
    """Yield what stands for the failure lines of a stream behind those that were told apart."""
    if found.total <= MOST_HITS or len(found.hits) < MOST_HITS:
        return
    first = found.hits[MOST_HITS - 1].line + 1
    if first <= line_count:
        text = f"{_REST}{found.total:,} lines of {stream} tell of failures, and the first {MOST_HITS:,} were examined"
        yield Failure("", "", text, (FailurePlace(stream, first, line_count, ((first, line_count),)),))


def _counting(found: list[tuple[str, Region, str]]) -> list[tuple[str, Region, str]]:
    """Keep the regions that count: a tool's own if it has any, then general ones; echoes only if alone."""
    strong = [row for row in found if row[1].rank < ECHO]
    ruled = [row for row in strong if row[1].by_rule]
    sure = [row for row in ruled if not row[1].logged]
    return sure or ruled or strong or [row for row in found if row[1].rank <= WORD]


def _grouped(found: list[tuple[str, Region, str]]) -> list[Failure]:
    """Make one failure of regions with the same name, and of equal lines about the same place.

    Every other region is a failure by itself. Regions that do not count still tell of the failure with their name, if
    one that counts has it.
    """
    made: list[Failure] = []
    named: dict[str, list[int]] = {}
    said: dict[str, list[int]] = {}
    counting = _counting(found)
    count = len(counting)
    others = [row for row in found if row[1].name and row[1].rank >= ECHO] if count < len(found) else []
    for nth, row in enumerate((*counting, *others)):
        stream, region, text = row
        place = FailurePlace(stream, region.first, region.last, spans_of(region.telling), region.spots)
        if region.name:
            alike = named.setdefault(last_part(region.name), [])
            known = next((at for at in alike if _same(made[at].name, region.name)), None)
        else:
            lone = place.telling == ((region.first, region.first),) and (region.place or region.rank == LOCATED)
            alike = said.setdefault(text, []) if lone else []
            known = alike[0] if alike else None
        if known is not None:
            made[known] = _joined(made[known], region, place)
        elif nth < count:
            alike.append(len(made))
            made.append(Failure(region.name, region.place, text, (place,)))
    return made


def _joined(failure: Failure, region: Region, place: FailurePlace) -> Failure:
    name = max(failure.name, region.name, key=len)
    return failure._replace(name=name, at=failure.at or region.place, places=(*failure.places, place))


def _same(a: str, b: str) -> bool:
    """Return whether two names mean the same: the longer ends with the shorter."""
    short, long = sorted((a.strip(), b.strip()), key=len)
    return long.endswith(short) and (len(long) == len(short) or not long[-len(short) - 1].isalnum())
