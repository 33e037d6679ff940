"""Chooses what to show for a failure line, from its core outwards: first the lines that say why, last the context."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile

from sightline.light.named_tuple import NamedTuple
from sightline.shape.failure.ci_steps import CiStep, Steps, lines_above, spans_of_lines
from sightline.shape.failure.classes import frames_in, indent_of, is_frame
from sightline.shape.failure.failure_scan import FailureHit, Failures
from sightline.shape.failure.judge import (
    CAUSE,
    ECHO,
    EXCEPTION,
    EXIT,
    FAILED,
    LOCATED,
    MINOR,
    NAME,
    WORD,
    Judge,
    LineVerdict,
    last_part,
)
from sightline.shape.failure.tool_rules import BlockRule, FailureSort, LatePattern
from sightline.shape.repeated_lines import Span
from sightline.shape.source import Source

_LATER = {EXCEPTION: 0.0, LOCATED: 0.5, FAILED: 1.0, ECHO: 3.0, EXIT: 3.0, WORD: 5.0, MINOR: 4.0}
"""How far down the order the first line of a weight comes; each repetition of its kind comes one further down."""

BEFORE_END_LINES = 25  # what stands this shortly before the message of a bad end is usually its reason
SOONER = 2.0
OTHER_FILE = 0.1  # how much later a kind of message comes for each further file
LIKE_KIND, LIKE_WORDS, LIKE_MOST = 0.2, 2, 10  # the same for each further message that begins with the same words
WHOLE_CAUSES = 2  # causes that come with their whole explanation before the names of others
NAMED_ALL = range(4, 13)  # this many names may fit after one such cause, but not after two
ALONE = 0.4  # place of these names
ALONE_LINES = 24
AFTER_NAMES = 0.7  # place of what these names' failures say
SAID_ENOUGH = 3  # times that one kind of cause comes before others get their turn
REDUNDANT = 4.0  # place of the name of a failure that is shown with its cause anyway

STEP = -1
"""Weight of the end of a failed step, which is no failure line because it does not say why."""

RARE = -2
"""Weight of a line whose shape is rare in its output, though none of its words says that something failed."""

RARE_PLACE, RARE_STEP = 5.2, 0.3
"""Place of the first line of a rare shape, right behind the first with a word for failure, and of each further one."""

RARE_LINES, RARE_MOST = 20, 40
"""Lines of rare shapes that are placed; of an output with more than the latter none is, since they are no exception."""

ABOVE_LINES = (5, 10, 16, 30)
"""Lines above the end of a failed step, with each layer."""

OTHER_END = 0.4  # place of the end of another failed step, as the first one may have been tolerated
OTHER_STEP, GOOD_STEP = 0.5, 8.0  # how much later lines of another failed step come, and those of a good one

_NO_STEPS = Steps()

Layers = tuple[tuple[Span, ...], ...]
"""Spans of lines for each layer; a layer contains the ones before it."""

CONTEXT_LINES = 5
"""Lines shown at most on each side of what looks like an error."""

HOLE_LINES = 2
NEAR_LINES = 2
BESIDE_LINES = 6
TOLD_ABOVE_LINES = 60  # before a verdict, among which its reason begins
NEAR_ABOVE = 7  # of these lines, shown at once
DETAIL_LINES = 4  # lines after a failure that are shown with it at once, such as what was expected
PARAGRAPH_LINES = 14
KEY_LINES = 8  # of a block, shown at once
SHORT_BLOCK_LINES = 8  # a shorter block is shown whole at once
SHORT_STACK_LINES = 3  # of frames and their source, in such a block
LONG_BLOCK_LINES = 24  # of a longer one, the lines near its key lines come before the others
OPENED_LINES = 3  # of a text that a key line opens, shown with it
HEADER_LINES = 400  # how far above a line its header is searched

_DETAIL = re.compile(
    r"^\s*(?:[|^~>+-]|\d+ ?\||at |in |File |-->|=|note|help|hint|caused|reason|because|message"
    r"|(?:expected|actual|received|got|left|right|diff|stdout|stderr|output|where)\b)",
    re.IGNORECASE,
)
_SERVICE = re.compile(r"[A-Za-z][\w.-]{0,39} {0,40}\| ")  # of docker compose, in a log that has other lines, too
_OPENS = re.compile(r":\s*[|>][-+]?$")
_LIBRARY = re.compile(
    r"\b(?:javax?|jdk|sun|com\.sun|kotlin|scala|groovy|org\.(?:junit|gradle|apache|testng|mockito|hamcrest|assertj))\."
    r"|node:internal|\binternal/|node_modules|(?:site|dist)-packages|/lib/python\d|/rustc/|\b(?:core|std|alloc)::"
    r"|^\s*at (?:processTicks|new Promise|<anonymous>)|/usr/(?:lib|local/go)/|\bruntime\.\w+\("
)
_PLACE = re.compile(r"File \".*\", line \d+|(?<![\w/.-])[\w/.-]+\.\w{1,6}[:(]\d+")


class Placed(NamedTuple):
    """A hit, and its place in the order of a view.

    Attributes:
        place: place of what it says.
        hit: the hit.
        alone: the earlier place of its line alone, if that names one more failure; None for no such place.
    """

    place: float
    hit: FailureHit
    alone: float | None = None


def in_order(failures: Failures, steps: Steps = _NO_STEPS) -> list[Placed]:
    """Order hits as a view should show them.

    Heavier ones come first, and among equals the earlier lines. A repetition comes the later, the more often its kind
    was shown; and of repetitions, those about another file come first. After the first causes come the names of all
    other failures, a line each. If steps are known, the end of the first failed one leads, followed by its lines, and
    lines of other steps come last.
    """
    main = steps.bad[0] if steps.bad else None
    ended = {step.last for step in steps.bad}
    told = [hit for hit in failures.hits if hit.line not in ended]
    mine = [hit for hit in told if main is None or main.first <= hit.line <= main.last]
    known = any(hit.verdict.rank in (CAUSE, NAME) for hit in mine)
    later = 3.0 if known else 0.0
    ends = [hit.line for hit in told if hit.verdict.rank in (ECHO, EXIT)]
    repeats = _repeats(told)
    last = told[-1].line if told else 1
    causes = [hit.line for hit in told if hit.verdict.rank in (CAUSE, EXCEPTION, LOCATED)]

    def _is_explained(line: int) -> bool:
        """Return whether something right above a verdict says why."""
        at = bisect_right(causes, line - 1)
        return bool(at) and line - causes[at - 1] <= DETAIL_LINES

    def of_itself(hit: FailureHit) -> float:
        rank = hit.verdict.rank
        if rank in (CAUSE, NAME):
            return repeats[hit.line]
        if hit.verdict.sort and hit.verdict.sort.above and not _is_explained(hit.line):
            return repeats[hit.line]
        at = bisect_right(ends, hit.line)
        sooner = SOONER if at < len(ends) and ends[at] - hit.line <= BEFORE_END_LINES else 0
        early = 1 - hit.line / last if rank == WORD else 0.0
        return later + _LATER[rank] + repeats[hit.line] + early - sooner

    placed = [(of_itself(hit) + _elsewhere(hit.line, steps, main), hit) for hit in told]
    placed += [
        (_of_step(step, main, known=known), FailureHit(step.last, 0, LineVerdict(STEP, ""))) for step in steps.bad
    ]
    return _with_names(sorted(placed, key=lambda one: (one[0], one[1].line)))


def rare_in_order(lines: Sequence[int]) -> list[Placed]:
    """Place lines of a rare shape, given the rarest first, behind the first lines of each weight that has words."""
    return [
        Placed(RARE_PLACE + RARE_STEP * nth, FailureHit(line, 0, LineVerdict(RARE, "")))
        for nth, line in enumerate(lines[:RARE_LINES] if len(lines) <= RARE_MOST else ())
    ]


def _repeats(hits: Sequence[FailureHit]) -> dict[int, float]:
    """Return how often each line's text was said before, counted as less if it was about another file."""
    abouts: Counter[tuple[int, str]] = Counter()
    likes: Counter[tuple[int, str]] = Counter()
    seen: set[tuple[int, str, str]] = set()
    found: dict[int, float] = {}
    for hit in hits:
        verdict = hit.verdict
        kind = verdict.rank, verdict.kind
        place = (*kind, verdict.about)
        if not hit.nth or (verdict.rank <= LOCATED and verdict.about and place not in seen):
            found[hit.line] = OTHER_FILE * abouts[kind]
            abouts[kind] += 1
            if not verdict.rule and not hit.nth:
                like = verdict.rank, " ".join(verdict.kind.split()[:LIKE_WORDS])
                found[hit.line] += LIKE_KIND * min(likes[like], LIKE_MOST)
                likes[like] += 1
        else:
            found[hit.line] = 0.5 * hit.nth if hit.nth < SAID_ENOUGH else hit.nth
        seen.add(place)
    return found


def _of_step(step: CiStep, main: CiStep | None, *, known: bool) -> float:
    if step != main:
        return OTHER_END
    return 1.0 if known else 0.0


def _with_names(placed: Sequence[tuple[float, FailureHit]]) -> list[Placed]:
    """Reorder hits so that the first causes come whole, and of all others the names before their text."""
    causes = [hit for place, hit in placed if hit.verdict.rank == CAUSE and place < GOOD_STEP]
    whole = causes[: 1 if len({hit.verdict.name for hit in causes}) in NAMED_ALL else WHOLE_CAUSES]
    explained = {last_part(hit.verdict.name) for hit in whole} - {""}
    named = {last_part(hit.verdict.name) for _, hit in placed if hit.verdict.rank == NAME} - {""}
    found: list[Placed] = []
    count = 0
    for place, hit in placed:
        rank, name = hit.verdict.rank, last_part(hit.verdict.name)
        if rank == NAME:
            place += REDUNDANT if name in explained else ALONE
            found.append(Placed(place, hit))
        elif rank == CAUSE and place < GOOD_STEP and hit not in whole:
            count += 1
            is_named = name in named or count > ALONE_LINES or not _names_something(hit.verdict)
            found.append(Placed(max(place, AFTER_NAMES), hit, None if is_named else min(place, ALONE) + 0.01 * count))
        else:
            found.append(Placed(place, hit))
    return found


def _names_something(verdict: LineVerdict) -> bool:
    """Return whether a line alone says what failed; a heading such as “What went wrong:” does not."""
    return bool(verdict.name or verdict.place) or not isinstance(verdict.sort, BlockRule)


def _elsewhere(line: int, steps: Steps, main: CiStep | None) -> float:
    """Return how much later a line comes because it is not in the failed step."""
    if main is None or main.first <= line <= main.last:
        return 0.0
    step = steps.at(line)
    return OTHER_STEP if step and step.bad else GOOD_STEP


def layers_of(hit: FailureHit, source: Source, judge: Judge, steps: Steps = _NO_STEPS) -> Layers:
    """Return the layers of lines to show for a hit."""
    if hit.verdict.rank == STEP and (step := steps.at(hit.line)):
        return tuple(lines_above(step, source, judge, ABOVE_LINES))
    if hit.verdict.rank == RARE:
        return (((hit.line, hit.line),),)
    layers = own_layers(hit, source, judge)
    sort = hit.verdict.sort
    if sort and sort.above:
        layers = _with_above(hit, sort.above, layers, source, judge)
    return (*layers, *_beside(hit, layers[-1], source))


def _beside(hit: FailureHit, told: tuple[Span, ...], source: Source) -> Layers:
    """Return lines beside a failure's text, worth more than the ends of an output, and less than everything else."""
    if hit.verdict.rank != WORD and not (hit.verdict.rank == CAUSE and hit.verdict.sort):
        return ()  # a block has its region, or is told in a line
    first, last = told[0][0], told[-1][1]
    around = (max(1, min(first, hit.line) - BESIDE_LINES), min(source.line_count, last + BESIDE_LINES))
    return ((around,),) if last - first < PARAGRAPH_LINES else ()


def own_layers(hit: FailureHit, source: Source, judge: Judge) -> Layers:
    """Return the layers of lines that tell of a hit itself, without those above or beside it."""
    sort = hit.verdict.sort
    if isinstance(sort, BlockRule):
        return _of_block(hit, sort, source, judge)
    if hit.verdict.rank in (NAME, MINOR) or (isinstance(sort, FailureSort) and sort.under):
        return _of_line(hit, source, judge)
    if hit.verdict.rank in (ECHO, EXIT):
        return _of_end(hit)
    return _of_region(hit, source, judge)


def _with_above(hit: FailureHit, above: LatePattern, layers: Layers, source: Source, judge: Judge) -> Layers:
    """Add what a tool printed before it said that it failed; that comes first if nothing else explains the failure."""
    told: list[int] = []
    for line in reversed(list(source.lines(max(1, hit.line - TOLD_ABOVE_LINES), hit.line - 1))):
        text = judge.text(line.data)
        if above.search(text):
            break
        if text.strip():
            told.append(line.number)
    else:
        if hit.line > TOLD_ABOVE_LINES:
            return layers  # nothing shows where it begins
    if not told:
        return layers
    says = sum(last - first + 1 for first, last in layers[0])
    nearest = [(*spans_of_lines([*told[:count], hit.line]),) for count in (NEAR_ABOVE, len(told))]
    first = layers[0] if says > 1 else nearest[0]
    return (first, (*layers[0], *nearest[0]), *layers[1:], (*layers[-1], *nearest[1]))


def _of_line(hit: FailureHit, source: Source, judge: Judge) -> Layers:
    """Return the layers of the line alone, with its header if it has one, and of the block below it."""
    header = header_of(hit, source, judge)
    own = [header, hit.line] if header else [hit.line]
    texts = _by_one_writer(_texts(source, judge, hit.line, hit.line + PARAGRAPH_LINES), 0)
    below = [hit.line + at for at in _below(texts, 0)]
    return tuple(spans_of_lines(lines) for lines in ((own, [*own, *below]) if below else (own,)))


def _below(texts: Sequence[str], at: int) -> list[int]:
    """Return the lines of the more indented block below one, without the frames of stacks after the first."""
    depth = indent_of(texts[at])
    block = takewhile(
        lambda place: not texts[place].strip() or indent_of(texts[place]) > depth, range(at + 1, len(texts))
    )
    told = [place for place in block if texts[place].strip()]
    return [place for place in told if place == told[0] or not is_frame(texts[place])]


def _of_end(hit: FailureHit) -> Layers:
    """Return the layers of a message that something ended badly: its reason stands before it."""
    return tuple(((max(1, hit.line - before), hit.line),) for before in (0, 5, 14))


def header_of(hit: FailureHit, source: Source, judge: Judge) -> int:
    """Return the nearest line above that names what a failure line is about; 0 if there is none."""
    sort = hit.verdict.sort
    if not sort or not sort.under:
        return 0
    found = 0
    for line in source.lines(max(1, hit.line - HEADER_LINES), hit.line - 1):
        if judge.is_header(sort.under, line.data):
            found = line.number
    return found


def _of_block(hit: FailureHit, block: BlockRule, source: Source, judge: Judge) -> Layers:
    texts = _texts(source, judge, hit.line, hit.line + block.lines)
    length = _block_length(texts, block)
    texts = texts[:length]
    last = hit.line + length - 1
    header = header_of(hit, source, judge)
    above = ((header, header),) if header else ()
    whole = (*above, (hit.line, last))
    framed = frames_in(texts)
    if length <= SHORT_BLOCK_LINES and len(framed) <= SHORT_STACK_LINES:
        return (whole,)
    keys = [hit.line + at for at in _with_opened(texts, _without_further_frames(texts, block.key))]
    if not block.key:
        keys = [*keys[:5], *keys[-3:]]
    if len(keys) > KEY_LINES:
        keys = [*keys[: KEY_LINES - 2], *keys[-2:]]
    core = spans_of_lines(_without_holes([hit.line, *keys]))
    frames = {hit.line + at for at in framed} - {*keys}
    lines = range(hit.line, last + 1)
    near = {line for line in lines if any(abs(line - key) <= NEAR_LINES for key in (hit.line, *keys))}
    outer = [spans_of_lines({*some} - frames) for some in ((near, lines) if length > LONG_BLOCK_LINES else (lines,))]
    return ((*above, *core), *((*above, *spans) for spans in outer), whole)


def _without_further_frames(texts: Sequence[str], key: LatePattern | None) -> list[int]:
    """Return the key lines, or without a key those with any text; of the frames below a line, only the first of them.

    Without a key, that is the first frame outside libraries.
    """
    found: list[int] = []
    frames = 0
    for at, text in enumerate(texts):
        is_key = key.search(text) if key else text.strip() and not (is_frame(text) and _LIBRARY.search(text))
        if not is_frame(text):
            frames = 0
        elif is_key:
            frames += 1
        if is_key and frames <= 1:
            found.append(at)
    return found


def _with_opened(texts: Sequence[str], keys: Sequence[int]) -> list[int]:
    """Return key lines with the first lines of a text that one of them opens, as ``error: |-`` does in YAML."""
    found = {*keys}
    for at in keys:
        if _OPENS.search(texts[at]):
            found.update(_below(texts, at)[:OPENED_LINES])
    return sorted(found)


def _without_holes(lines: Sequence[int]) -> list[int]:
    """Return lines, in order, with those between two of them if they are as few as a marker is worth."""
    return [*lines, *(one for a, b in pairwise(lines) if b - a <= HOLE_LINES + 1 for one in range(a + 1, b))]


def _block_length(texts: Sequence[str], block: BlockRule) -> int:
    """Return the number of a block's lines, with the first; up to a blank line if no pattern shows its end."""
    for at, text in enumerate(texts[1:], 1):
        if block.end and block.end.search(text):
            return at
        if block.last and block.last.search(text):
            return at + 1
    if block.end or block.last:
        return len(texts)
    for at, text in enumerate(texts[1:], 1):
        if not text.strip():
            return at
    return len(texts)


def _of_region(hit: FailureHit, source: Source, judge: Judge) -> Layers:
    """Return the layers of a line and its continuation; then its paragraph, if it says much; then lines around it."""
    first = max(1, hit.line - CONTEXT_LINES)
    at = hit.line - first
    texts = _by_one_writer(_texts(source, judge, first, hit.line + PARAGRAPH_LINES), at)
    count = source.line_count
    before = _place_before(texts, at) or (_heading_before(texts, at) if hit.verdict.rank == EXCEPTION else ())
    core = spans_of_lines(first + one for one in (*before, at, *_details(texts, at)))
    if hit.verdict.rank == WORD:
        return (core,)
    begin = end = at
    while begin and texts[begin - 1].strip():
        begin -= 1
    while end + 1 < len(texts) and texts[end + 1].strip():
        end += 1
    around = range(max(0, at - CONTEXT_LINES), min(len(texts), at + CONTEXT_LINES + 1))
    near = range(max(0, at - NEAR_LINES), min(len(texts), at + NEAR_LINES + 1))
    told = [_without_frames(texts, lines, first) for lines in (near, range(begin, end + 1), around)]
    below = spans_of_lines(first + one for one in (*before, at, *_below(texts, at)))
    return (core, told[0], below, *told[1:], ((first, min(count, hit.line + CONTEXT_LINES)),))


def _without_frames(texts: Sequence[str], places: Iterable[int], first: int) -> tuple[Span, ...]:
    """Return some lines, from one on, without the frames of stacks, of which the first ones are shown otherwise."""
    return spans_of_lines(first + at for at in places if not is_frame(texts[at]))


def _place_before(texts: Sequence[str], at: int) -> range:
    """Return the lines just before one that say where it happened."""
    for back in (1, 2):
        if at >= back and _PLACE.search(texts[at - back]) and all(text.strip() for text in texts[at - back : at]):
            return range(at - back, at)
    return range(at, at)


def _heading_before(texts: Sequence[str], at: int) -> range:
    """Return the line right before one that is less indented, because it says whose it is."""
    above = texts[at - 1] if at else ""
    is_heading = bool(above.strip()) and indent_of(above) < indent_of(texts[at]) and not is_frame(above)
    return range(at - 1, at) if is_heading else range(at, at)


def _details(texts: Sequence[str], at: int) -> list[int]:
    """Return the lines after one that belong to it: of a stack, the first frame outside libraries."""
    depth = indent_of(texts[at])
    found: list[int] = []
    skipped = False
    for place in range(at + 1, len(texts)):
        text = texts[place]
        if not _continues(text, depth) or len(found) >= DETAIL_LINES:
            break
        if _LIBRARY.search(text):
            skipped = True
            continue
        found.append(place)
        if skipped or is_frame(text):
            break
    return found


def _continues(text: str, depth: int) -> bool:
    return bool(text.strip()) and (indent_of(text) > depth or bool(_DETAIL.match(text)))


def _by_one_writer(texts: list[str], at: int) -> list[str]:
    """Return lines without the name of a service before them that one of them has, so that their indents compare."""
    named = _SERVICE.match(texts[at])
    return [text.removeprefix(named[0]) for text in texts] if named else texts


def _texts(source: Source, judge: Judge, first: int, last: int) -> list[str]:
    return [judge.text(line.data) for line in source.lines(first, last)]
