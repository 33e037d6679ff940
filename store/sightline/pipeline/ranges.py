"""Works out which raw lines of a stream a query's reply shows, if that can be known exactly.

A pipeline is understood if its first program passes on unchanged lines of one ref (cat, head, tail, sed -n
with line addresses, grep and the like), and every other one only picks a range of them (head -n, sed -n 'A,Bp').
"""

from sightline.light.late_pattern import late_pattern, re
from sightline.light.library import partial
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Callable, Iterable
from sightline.pipeline.argument_check import Argument, ProgramArguments, check
from sightline.pipeline.parse import ParsedQuery, QueryStage
from sightline.pipeline.run import DEFAULT_LIMITS, QueryLimits, run
from sightline.search.processes import Cancel

Range = tuple[int, int]

_END = 10**15  # past the last line of any stream
MOST_RANGES = 4096
"""Ranges of a stream's lines that are recorded as input of an answer; further ones are joined."""

_MOST_NUMBERED = 1_000_000  # lines of a grep that are read to find the input of an answer
_SEARCHERS = ("grep", "egrep", "fgrep", "rg")
_CAT_FLAGS = {"-n", "-b", "-A", "-e", "-E", "-t", "-T", "-u", "-v", "--number", "--number-nonblank", "--show-all",
              "--show-ends", "--show-tabs", "--show-nonprinting"}  # fmt: skip
_GREP_FLAGS = {"-E", "-F", "-G", "-P", "-e", "-i", "-w", "-x", "-v", "-s", "-m", "-b", "-n", "-h", "-I", "-a", "-A",
               "-B", "-C", "--extended-regexp", "--fixed-strings", "--basic-regexp", "--perl-regexp", "--regexp",
               "--ignore-case", "--no-ignore-case", "--invert-match", "--word-regexp", "--line-regexp",
               "--no-messages", "--max-count", "--byte-offset", "--line-number", "--no-filename", "--text",
               "--after-context", "--before-context", "--context", *(f"-{digit}" for digit in range(10))}  # fmt: skip
_RG_FLAGS = (_GREP_FLAGS - {"-E", "-G", "-h", "-s"} - {f"-{digit}" for digit in range(10)}) | {
    "-N", "-S", "-s", "--smart-case", "--case-sensitive", "--no-line-number", "--crlf", "--trim"}  # fmt: skip
_SED_ITEM = late_pattern(r"([0-9]{1,15})(?:,([0-9]{1,15}|\$))?p")
_SED_QUIT = late_pattern(r"([0-9]{1,15})q")
_NUMBERED = late_pattern(rb"([0-9]{1,15})[:-]")


class _Window(NamedTuple):
    """Lines ``first`` to ``last`` of a program's input, counted from 1."""

    first: int
    last: int


def exact_ranges(
    pipeline: ParsedQuery,
    shown: int,
    *,
    lines_of: Callable[[str], int | None],
    limits: QueryLimits = DEFAULT_LIMITS,
) -> dict[str, list[Range]] | None:
    """Return the raw lines that a query's reply shows.

    A grep is run again with line numbers, so this is for after the reply is sent.

    Args:
        pipeline: the query.
        shown: number of lines of its answer that were shown.
        lines_of: returns the number of lines of a ref's stream when the query ran; None if it may have been growing.
        limits: limits of the second run.

    Returns:
        By ref, ascending ranges (first, last), from 1 and inclusive; None if it is not known exactly.
    """
    first = pipeline.stages[0]
    if len(pipeline.refs) != 1:
        return None
    windows = [_window(stage) for stage in pipeline.stages[1:]]
    wanted = _Window(1, shown)
    for window in reversed(windows):
        if window is None:
            return None
        wanted = _within(wanted, window)
    ref = pipeline.refs[0]
    if wanted.last < wanted.first:
        return {ref: []}
    made = _made_by(first, wanted, pipeline, lambda: lines_of(ref), limits)
    return None if made is None else {ref: _merged(made)}


def input_ranges(
    pipeline: ParsedQuery,
    *,
    lines_of: Callable[[str], int | None],
    numbered: bool = True,
) -> dict[str, list[Range]]:
    """Return the raw lines that went into a query's answer: those that its first program passed on, if it only picks.

    Args:
        pipeline: the query.
        lines_of: see `exact_ranges`.
        numbered: whether a grep may be run again, with line numbers.

    Returns:
        By ref, ascending ranges; for a stream of unknown length, the last one may end past its end.
    """
    first = pipeline.stages[0]
    made: dict[str, list[Range]] = {}
    for ref in pipeline.refs:
        found: list[Range] | None = None
        if ref in first.refs and ref not in {other for stage in pipeline.stages[1:] for other in stage.refs}:
            if first.program in _SEARCHERS and numbered:
                one, wanted = _only(first, ref), _Window(1, _MOST_NUMBERED)
                alone = ParsedQuery((one,), (ref,), pipeline.text)
                found = _matching(one, _call(one, first=True), wanted, alone, all_of_it=True)
            elif first.refs == (ref,):
                found = _picked(first.program, _call(first, first=True), partial(lines_of, ref))
        picked = [(1, _END)] if found is None else found
        made[ref] = _bounded(_merged(_sliced(picked, _Window(1, _END), lines_of(ref) or _END)))
    return made


def _only(stage: QueryStage, ref: str) -> QueryStage:
    """Return the stage with only one of its refs as file, so that no names stand before its lines."""
    kept = [(word, given) for word, given in zip(stage.words[1:], stage.argv[1:], strict=False) if word in (given, ref)]
    if len(stage.refs) == 1:
        return stage
    path = stage.paths[stage.refs.index(ref)]
    return stage._replace(
        argv=(stage.argv[0], *(given for _, given in kept)),
        words=(stage.words[0], *(word for word, _ in kept)),
        refs=(ref,),
        paths=(path,),
    )


def _bounded(ranges: list[Range]) -> list[Range]:
    if len(ranges) <= MOST_RANGES:
        return ranges
    return [*ranges[: MOST_RANGES - 1], (ranges[MOST_RANGES - 1][0], ranges[-1][1])]


def _within(wanted: _Window, window: _Window) -> _Window:
    """Return which part of a window's input is wanted if this part of its output is."""
    return _Window(window.first + wanted.first - 1, min(window.last, window.first + wanted.last - 1))


def _call(stage: QueryStage, *, first: bool) -> ProgramArguments:
    pairs = zip(stage.words[1:], stage.argv[1:], strict=False)
    return check(stage.program, [Argument(word, word != given) for word, given in pairs], first=first)


def _window(stage: QueryStage) -> _Window | None:
    """Return the lines that a program picks from its pipe; None if it does anything else."""
    call = _call(stage, first=False)
    if call.files:
        return None
    if stage.program == "head":
        count = _head_count(call)
        return _Window(1, count) if count is not None and count >= 0 else None
    if stage.program == "sed":
        items = _sed_items(call)
        if items is not None and len(items) == 1:
            return _Window(*items[0])
    return None


def _made_by(
    stage: QueryStage,
    wanted: _Window,
    pipeline: ParsedQuery,
    total: Callable[[], int | None],
    limits: QueryLimits,
) -> list[Range] | None:
    """Return the raw lines behind some lines of the first program's output."""
    call = _call(stage, first=True)
    if len(call.files) != 1:
        return None
    if stage.program in _SEARCHERS:
        return _matching(stage, call, wanted, pipeline, limits)
    picked = _picked(stage.program, call, total)
    return None if picked is None else _sliced(picked, wanted, total() or _END)


def _picked(program: str, call: ProgramArguments, total: Callable[[], int | None]) -> list[Range] | None:
    """Return the lines that a program passes on unchanged; None if it does anything else, or nobody can tell."""
    if program == "cat":
        return [(1, _END)] if {option.name for option in call.options} <= _CAT_FLAGS else None
    if program == "head":
        count = _head_count(call)
        if count is None:
            return None
        if count >= 0:
            return [(1, count)]
        lines = total()
        return None if lines is None else [(1, lines + count)]
    if program == "tail":
        return _tail(call, total)
    return _sed_items(call) if program == "sed" else None


def _sliced(ranges: Iterable[Range], wanted: _Window, total: int) -> list[Range]:
    """Return some of the lines in ranges, one range after the other; ``total`` ends the last of them."""
    taken: list[Range] = []
    before = 0
    for first, end in ranges:
        last = min(end, total)
        if last < first:
            continue
        start = max(first, first + wanted.first - 1 - before)
        stop = min(last, first + wanted.last - 1 - before)
        if start <= stop:
            taken.append((start, stop))
        before += last - first + 1
    return taken


def _head_count(call: ProgramArguments) -> int | None:
    """Return how many lines head shows, negative for "all but"; None if it does not count lines."""
    count = 10
    for option in call.options:
        value = option.values[0].text if option.values else ""
        if option.name in ("-n", "--lines", "-NUM") and re.fullmatch(r"-?[0-9]{1,15}", value):
            count = int(value)
            if value.startswith("-") and count == 0:
                count = _END
        elif option.name not in ("-q", "--quiet", "--silent"):
            return None
    return count


def _tail(call: ProgramArguments, total: Callable[[], int | None]) -> list[Range] | None:
    count, from_start = 10, False
    for option in call.options:
        value = option.values[0].text if option.values else ""
        if option.name in ("-n", "--lines", "-NUM") and re.fullmatch(r"[+-]?[0-9]{1,15}", value):
            count, from_start = abs(int(value)), value.startswith("+")
        elif option.name not in ("-q", "--quiet", "--silent"):
            return None
    if from_start:
        return [(max(1, count), _END)]
    lines = total()
    return None if lines is None else [(max(1, lines - count + 1), _END)]


def _sed_items(call: ProgramArguments) -> list[Range] | None:
    """Return the ranges of ``sed -n 'A,Bp;C,Dp;Eq'`` if they ascend; None for any other script."""
    names = [option.name for option in call.options]
    if not set(names) & {"-n", "--quiet", "--silent"} or set(names) - {
        "-n",
        "--quiet",
        "--silent",
        "-e",
        "--expression",
    }:
        return None
    script = ";".join(call.values("-e", "--expression") or [call.texts[0].text])
    items: list[Range] = []
    end = _END
    for part in re.split(r"(?<!\s)\s*[;\n]\s*", script.strip().strip(";")):
        if quits := _SED_QUIT.fullmatch(part):
            end = min(end, int(quits[1]))
            continue
        item = _SED_ITEM.fullmatch(part)
        if not item or end != _END:
            return None
        first = int(item[1])
        last = first if item[2] is None else _END if item[2] == "$" else max(first, int(item[2]))
        if first < 1 or (items and first <= items[-1][1]):
            return None
        items.append((first, last))
    return [(first, min(last, end)) for first, last in items if first <= end]


def _matching(
    stage: QueryStage,
    call: ProgramArguments,
    wanted: _Window,
    pipeline: ParsedQuery,
    limits: QueryLimits = DEFAULT_LIMITS,
    *,
    all_of_it: bool = False,
) -> list[Range] | None:
    """Run a grep again with line numbers, and return the raw lines of this part of its output, which must exist.

    With ``all_of_it`` the output may have fewer lines, which are then all of them.
    """
    if not {option.name for option in call.options} <= (_RG_FLAGS if stage.program == "rg" else _GREP_FLAGS):
        return None
    if any("\n" in text.text for text in call.texts):
        return None
    words = [word for word in stage.argv[1:] if word not in ("-N", "--no-line-number")]
    numbered = stage._replace(argv=(stage.program, "-n", *words))
    cancel = Cancel()
    reader = _Numbered(wanted.last, cancel)
    ended = run(
        ParsedQuery((numbered,), pipeline.refs, pipeline.text),
        limits=limits,
        sink=reader.feed,
        cancel=cancel,
    )
    lines = reader.lines[wanted.first - 1 : wanted.last]
    if None in lines or (len(reader.lines) < wanted.last and not (all_of_it and ended.exit_code in (0, 1))):
        return None
    return [(line, line) for line in lines if line]


class _Numbered:
    """Reads ``NUMBER:line`` and ``NUMBER-line``, and keeps the numbers of the first lines.

    0 stands for the ``--`` between two matches' contexts, None for a line without a number.
    """

    def __init__(self, most: int, cancel: Cancel) -> None:
        self.lines: list[int | None] = []
        self._most = most
        self._cancel = cancel
        self._head = b""

    def feed(self, data: bytes) -> None:
        for piece in data.splitlines(keepends=True) if b"\r" not in data else re.findall(rb"[^\n]*\n|[^\n]+", data):
            self._piece(piece)
        if len(self.lines) > self._most:
            self._cancel.cancel()

    def _piece(self, piece: bytes) -> None:
        if len(self._head) < 20:
            self._head += piece[:20]
        if piece.endswith(b"\n"):
            number = _NUMBERED.match(self._head)
            separator = self._head == b"--\n"
            self.lines.append(int(number[1]) if number else 0 if separator else None)
            self._head = b""


def _merged(ranges: Iterable[Range]) -> list[Range]:
    merged: list[Range] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged
