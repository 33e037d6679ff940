"""Finds the lines behind an answer: exactly if its programs only pick lines, else the lines that it was made from."""

from sightline.base.records import LinePart, Shown
from sightline.base.refs import format_ref
from sightline.light.late_pattern import late_pattern
from sightline.light.typing_names import Callable, Iterable, Mapping
from sightline.log.views import Traced
from sightline.pipeline.parse import ParsedQuery
from sightline.pipeline.ranges import Range, exact_ranges, input_ranges
from sightline.pipeline.run import QueryResult
from sightline.shape.line_cut import common_head
from sightline.store import Reading, Target

RERUN_SECONDS = 1.5
"""A longer search is not repeated for its line numbers, because the caller waits for the process to end."""


def lines_of(target: Target) -> int:
    """Return the number of lines that a target names, by its record."""
    return target.buffer.lines if target.stream == "all" else target.buffer.stream(target.stream).lines


def tracer(
    store: Reading, pipeline: ParsedQuery, result: QueryResult, targets: Mapping[str, Target], *, everything: bool
) -> Callable[[], Traced]:
    """Finds the raw lines behind an answer.

    Args:
        store: the store.
        pipeline: the query.
        result: its result.
        targets: what its refs named when it ran.
        everything: whether all of the answer was shown, whatever its size.
    """

    def total(ref: str) -> int | None:
        return None if _may_grow(targets[ref]) else lines_of(targets[ref])

    def find() -> Traced:
        again = result.seconds <= RERUN_SECONDS
        if any(_may_grow(target) and target.stream == "all" for target in targets.values()):
            return Traced()  # lines of both streams have no final numbers yet
        shown = result.stdout_total if everything else result.stdout_shown
        searches = pipeline.stages[0].program in ("grep", "egrep", "fgrep", "rg")
        exact = exact_ranges(pipeline, shown, lines_of=total) if again or not searches else None
        if exact is not None:
            found = tuple(_of_streams(store, targets, exact, whole=True))
            return _cut(store, found[0], result) if result.clipped_bytes and found else Traced(shown=found)
        made_of = input_ranges(pipeline, lines_of=total, numbered=again)
        return Traced(asked=tuple(_of_streams(store, targets, made_of, whole=False)))

    return find


def _cut(store: Reading, only: Shown, result: QueryResult) -> Traced:
    """Trace the only line of an answer, which was too long for it, as far as its beginning is unchanged."""
    with store.open_text(store.resolve(format_ref(only.buffer, only.stream))) as source:
        line = next(iter(source.lines(only.first, only.first)), None)
        if line is None:
            return Traced()
        before = _NUMBER.match(result.stdout) if not line.data.startswith(result.stdout[:_SURE_BYTES]) else None
        shown = result.stdout[before.end() if before else 0 :]
        begin = line.data if line.whole else line.data[: len(line.data) // 2]
        size = common_head(begin, shown)
    return Traced(parts=(LinePart(only.buffer, only.stream, *line.cut((0, size))),))


_SURE_BYTES = 64  # enough to tell a line that begins with digits from one after its number
_NUMBER = late_pattern(rb"\s*\d+(?:[:\-\t]| +)")  # of grep -n, cat -n


def _may_grow(target: Target) -> bool:
    return target.buffer.state == "running"


def _of_streams(
    store: Reading, targets: Mapping[str, Target], ranges: Mapping[str, Iterable[Range]], *, whole: bool
) -> Iterable[Shown]:
    """Return ranges by ref as ranges of streams; for a growing one with ``whole``, without an unfinished last line."""
    for ref, found in ranges.items():
        target = targets[ref]
        end = lines_of(target) - (whole and _may_grow(target))
        there = [(first, min(last, end)) for first, last in found if first <= end]
        if target.stream != "all":
            yield from (Shown(target.buffer.name, target.stream, first, last) for first, last in there)
        elif there:
            yield from _of_both(store, target, there)


def _of_both(store: Reading, target: Target, ranges: Iterable[Range]) -> Iterable[Shown]:
    merged = store.open_merged(target.buffer)
    try:
        for first, last in ranges:
            for run in merged.runs(first, last):
                yield Shown(target.buffer.name, run.stream, run.first, run.first + run.length - 1)
    finally:
        merged.close()
