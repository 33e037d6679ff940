"""Examines an output once: which tools wrote it, which of its lines are failures, and what it counts.

The tools are recognised by the command, and by a glance at enough of each stream without reading a large one whole.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice

from sightline.light.typing_names import TYPE_CHECKING
from sightline.shape.clean import clean_line, without_colour
from sightline.shape.failure.catalogue import Catalogue, RuleFile, built_in, with_added
from sightline.shape.failure.ci_steps import Steps, find_steps
from sightline.shape.failure.classes import SEARCH, warnings_fail
from sightline.shape.failure.failure_scan import FailureHit, Failures, NamedFailure, find_failures, named
from sightline.shape.failure.judge import (
    CACHED_LINES,
    EXCEPTION,
    EXIT,
    LOCATED,
    Judge,
    LineVerdict,
    judged_part,
    name_and_place,
)
from sightline.shape.failure.judgement import EVERYTHING, Judgement, is_shell_warning, judgement_for
from sightline.shape.failure.layers import header_of
from sightline.shape.failure.picker import Picker
from sightline.shape.failure.prefilter import NUMBERS
from sightline.shape.failure.rare_lines import rare_lines
from sightline.shape.failure.reason import Reason, reason_of
from sightline.shape.failure.stated_limits import disbelieved, limits_of
from sightline.shape.failure.tallies import ToolTally, tally
from sightline.shape.failure.tool_rules import BlockRule, FailureSort, Rule
from sightline.shape.levels import is_log
from sightline.shape.repeated_lines import Span, free_spans
from sightline.shape.source import Source

if TYPE_CHECKING:
    from sightline.shape.failure.limited_pattern import TimeLimit
    from sightline.shape.failure.report import Report

_PLACE_LINES = 600  # failure lines in which a place is searched

_PLACE = re.compile(r"((?<![\w.@+~/-])[\w.@+~/-]*\w\.[A-Za-z]\w{0,7})(?:[:(]\[?|\", line )(\d{1,15})(?!\d)")
_NUMBER_DIGITS = 16  # a longer number is none of a line, and Python reads none of more than 4,300
_NEAR_LINES = 2  # lines below a failure line without a place that may have one

Places = dict[str, list[int]]
"""Line numbers by file, in the order in which the files occur."""

_NO_WORD = re.compile(
    r"[^\w :,/=<>!#%&@~-]"
)  # what a regular expression, or a call that is pasted, would take otherwise

SEARCHED_LITERALS = 6  # a search with more of them is too long to read
TITLED_HITS = 12  # failure lines of a tool and weight whose headers are searched: more than a summary names

QUIET_BYTES = 1 << 24
"""The largest output of a success that is searched for lines that say otherwise."""

LOG_ERRORS_PERCENT = 20
"""Share of error lines in a log that is shown; if there are more, they are what it is about, and any view has some."""

TITLE_LINES = 4
"""Lines above or below a block's start in which its name is searched."""


class Examination:
    """What is known of an output; each fact is found at its first use.

    Attributes:
        quiet: whether the output is from a success, with lines that say that something failed.
        is_log: whether it is a log that the command shows, of which the lines of level error count.
    """

    def __init__(
        self,
        out: Source,
        err: Source,
        command: str = "",
        scope: Judgement = EVERYTHING,
        of_kind: int | None = None,
        added: tuple[RuleFile, ...] = (),
    ) -> None:
        """Take an output; nothing is read yet.

        Args:
            out: standard output.
            command: the command line; empty if it is not known.
            scope: decides which lines that look like failures count; by default all do.
            of_kind: most failure lines of one kind to keep, from the beginning; None for what a view has room for.
            added: added files of rules.
        """
        self._streams = (out, err)
        self._scope = scope
        self._of_kind = of_kind
        self._counted: dict[bytes, bool] = {}
        self._command = command
        self._failures: dict[int, Failures] = {}
        self._steps: dict[int, Steps] = {}
        self._rare: dict[int, list[int]] = {}
        self._limits: dict[str, TimeLimit] = {}
        self.quiet = self.is_log = False
        self._catalogue: Catalogue = with_added(added) if added else built_in()

    @cached_property
    def _glanced(self) -> bytes:
        return b"\n".join([glance(source) for source in self._streams])

    @cached_property
    def report(self) -> "Report | None":
        """The report in JSON that standard output is; None for any other text, or if a program only shows it."""
        out = self._streams[0]
        if (
            not self._scope.all_counts
            or not may_be_report(out)
            or judgement_for(self._command, failed=True, exit_code=1).shown
        ):
            return None
        from sightline.shape.failure.report import read_report  # 2 ms, which other texts do not need

        return read_report(out)

    @cached_property
    def judge(self) -> Judge:
        """The judge of lines: of a report, by its structure; else by rules, then by general classes."""
        if not self.report:
            return self._by_rules
        from sightline.shape.failure.report import ReportJudge

        return ReportJudge(self.report, self._streams[0], self._by_rules)

    @cached_property
    def _by_rules(self) -> Judge:
        """The judge by the rules of the tools that ran, as far as these name no more than the tools count."""
        judge = self._recognised
        if self.report or not any(rule.counts and rule.names for rule in judge.rules):
            return judge
        limits = limits_of(self.tallies)
        if not limits:
            return judge
        counts = partial(_is_no_shell_warning, judge)
        scans = [find_failures(one, judge, first_of_kind=self._of_kind, counts=counts) for one in self._streams]
        if not (excess := disbelieved(limits, scans)):
            if self._scope.all_counts:
                self._failures = dict(enumerate(scans))
            return judge
        return Judge(judge.rules, judge.prefix, excess, strict=judge.strict)

    @cached_property
    def _recognised(self) -> Judge:
        """The judge by all rules of the tools that ran, by the command and by the streams' ends."""
        prefix = prefix_of(sampled_lines(self._glanced))
        known = self._catalogue.recognise(self._command, without_prefix(self._glanced, prefix))
        strict = self._scope.failed and warnings_fail(self._glanced)
        return Judge([rule for name in known if (rule := self._rule(name))], prefix, strict=strict)

    def _rule(self, name: str) -> Rule | None:
        """Return the rule of a tool, an added one with its time limit; None if there is none."""
        rule = self._catalogue.rule(name)
        if rule is None or name not in self._catalogue.added:
            return rule
        from sightline.shape.failure.limited_pattern import limit_rule  # 17 ms, for a library

        try:
            limited, self._limits[name] = limit_rule(rule)
        except ValueError:
            return None
        return limited

    @property
    def given_up(self) -> list[str]:
        """Return the tools with added rules that have used up their time and find nothing more."""
        return [name for name, limit in self._limits.items() if limit.is_used_up]

    def pattern_seconds(self, name: str) -> float:
        """Return the seconds of processor time that an added rule's patterns have taken; 0 for our own rules."""
        limit = self._limits.get(name)
        return limit.spent if limit else 0.0

    @cached_property
    def run(self) -> frozenset[str]:
        """Names of the tools that the command runs, whatever the output says."""
        return frozenset(self._catalogue.recognise(self._command, b""))

    def failures(self, source: Source) -> Failures:
        """Return the failure lines of a stream; the first time, it is read once through."""
        place = 0 if source is self._streams[0] else 1
        if place not in self._failures:
            self._failures[place] = find_failures(source, self.judge, first_of_kind=self._of_kind, counts=self.counts)
        return self._failures[place]

    def steps(self, source: Source) -> Steps:
        """Return the steps of a stream, if it is a log of steps, one of which failed."""
        place = 0 if source is self._streams[0] else 1
        if place not in self._steps:
            self._steps[place] = find_steps(source, self.judge)
        return self._steps[place]

    def of_success(self, exit_code: int | None) -> "Examination | None":
        """Return the examination of a success with a few failure lines; None if there are none, or it is huge."""
        if sum(source.byte_count for source in self._streams) > QUIET_BYTES:
            return None
        scope = judgement_for(self._command, failed=False, exit_code=exit_code)._replace(lenient=True)
        shows_log = scope.may_show_log and is_log(sampled_lines(self._glanced), self._recognised.prefix)
        made = Examination(
            *self._streams, self._command, scope._replace(why_not="", of_log=True) if shows_log else scope
        )
        made.report, made.judge, made._recognised = None, self._by_rules, self._recognised
        made.quiet, made.is_log = True, shows_log
        lines = sum(source.line_count for source in self._streams)
        return made if made.total and not (shows_log and 100 * made.total > LOG_ERRORS_PERCENT * lines) else None

    def is_failure(self, data: bytes) -> bool:
        """Return whether a raw line is a failure line that counts."""
        verdict = self.judge.verdict(data)
        return verdict is not None and self.counts(verdict, data)

    def counts(self, verdict: LineVerdict, data: bytes) -> bool:
        """Return whether a raw line that looks like a failure is one, given how its command ended."""
        if not _is_no_shell_warning(self.judge, verdict, data):
            return False
        if self._scope.all_counts or self._scope.why_not:
            return not self._scope.why_not
        key = judged_part(data).translate(NUMBERS)
        known = self._counted.get(key)
        if known is None and self._only_passed and not self._may_end_badly(verdict):
            return False
        if known is None:
            known = self._scope.counts(verdict, self.judge.text(data), self._counts_failures)
            if len(self._counted) < CACHED_LINES:
                self._counted[key] = known
        return known

    def ignores(self, verdict: LineVerdict, data: bytes) -> bool:
        """Return whether a raw line that looks like a failure is not one."""
        return not self.counts(verdict, data)

    def settle(self) -> None:
        """Read now what `counts` needs of the streams, which may be closed later."""
        if self._only_passed or any(rule.logs for rule in self.judge.rules):  # the judge itself reads the streams, too
            self._counts_failures()

    @cached_property
    def _only_passed(self) -> bool:
        """Whether one command of tests wrote all of it, which ended well and counts none that failed.

        What passing tests print is then not judged, because many log errors on purpose.
        """
        if self._scope.failed or not self._scope.alone or self._counts_failures():
            return False
        is_named = bool(_NAMES_TESTS.search(self._command))
        return any(
            one.numbers and not _PASSES.isdisjoint(one.numbers) and (is_named or one.rule.name in self.run)
            for one in self.tallies
        )

    def _may_end_badly(self, verdict: LineVerdict) -> bool:
        """Return whether a line may say that a run of passing tests ended badly, as where coverage is too low."""
        return bool(self._scope.hidden and verdict.rule and verdict.rank < EXCEPTION)

    def _counts_failures(self) -> bool:
        return any(tally.bad for tally in self.tallies)

    @cached_property
    def tallies(self) -> list[ToolTally]:
        """Return what the tools count that the command runs, or whose marks occur."""
        if self.report:
            return [self.report.tally]
        return tally(self._streams, self._recognised)

    @cached_property
    def failed(self) -> list[NamedFailure]:
        """Return what the tools name as failed, in their order."""
        if self.report:
            return self.report.named
        titled: list[FailureHit] = []
        seen: Counter[tuple[str, int]] = Counter()
        for source in self._streams:
            for hit in self.failures(source).hits:
                if hit.verdict.rule:
                    key = (hit.verdict.rule.name, hit.verdict.rank)
                    seen[key] += 1
                    titled.append(self.titled(hit, source, deep=seen[key] <= TITLED_HITS))
        return named(titled)

    @property
    def total(self) -> int:
        """Number of failure lines."""
        return sum(self.failures(source).total for source in self._streams)

    @cached_property
    def reason(self) -> Reason | None:
        """Return the line that explains most, or, if none looks like a failure, the last one."""
        return reason_of([(one, self.failures(one), self.steps(one)) for one in self._streams], self.judge)

    def titled(self, hit: FailureHit, source: Source, *, deep: bool) -> FailureHit:
        """Complete a hit's name and place from lines near it.

        The header of a failure line may be far above it, and is searched there only with ``deep``.
        """
        sort, verdict = hit.verdict.sort, hit.verdict
        if isinstance(sort, BlockRule):
            titles = [(sort.titled, hit.line + 1, hit.line + TITLE_LINES, sort.end)]
            header = header_of(hit, source, self.judge) if deep and not verdict.name else 0
            titles += [(sort.under, header or max(1, hit.line - TITLE_LINES), header or hit.line - 1, None)]
        elif isinstance(sort, FailureSort) and deep and sort.under and sort.under.groupindex:
            header = header_of(hit, source, self.judge)
            titles = [(sort.under, header, header, None)] if header else []
        else:
            return hit
        for title, first, last, end in titles:
            if not title or not title.groupindex or (verdict.name and verdict.place):
                continue
            for text in [self.judge.text(line.data) for line in source.lines(first, last)]:
                if end and end.search(text):
                    break  # what follows belongs to another failure
                if found := title.search(text):
                    name, place = name_and_place(found)
                    if place and verdict.place.isdecimal():
                        place = f"{place}:{verdict.place}"
                    verdict = verdict._replace(name=verdict.name or name, place=place or verdict.place)
        return hit._replace(verdict=verdict._replace(place="") if verdict.place.isdecimal() else verdict)

    def picker(self, source: Source, *, gap_bytes: int, fold_bytes: int, short: bool = False) -> Picker:
        """Make a picker of lines of a stream for a body; see `Picker`."""
        failures, steps = self.failures(source), self.steps(source)
        judge, is_error = self.judge, self.is_failure
        return Picker(
            source,
            judge,
            failures,
            steps,
            is_error=is_error,
            gap_bytes=gap_bytes,
            fold_bytes=fold_bytes,
            short=short,
            rare=self.rare(source),
        )

    def rare(self, source: Source) -> Sequence[int]:
        """Return the lines of a stream whose shape is rare, the rarest first."""
        place = 0 if source is self._streams[0] else 1
        if place not in self._rare:
            self._rare[place] = [] if self.quiet else rare_lines(source, self.failures(source).rare)
        return self._rare[place]

    def places(self, source: Source, shown: Sequence[Span]) -> Places:
        """Return where the failures of a stream are that stand in none of the shown lines."""
        return _places_of(source, self.failures(source), shown)

    @property
    def says_failed(self) -> bool:
        """Whether the output says that something failed, whatever the exit code."""
        hits = (hit for source in self._streams for hit in self.failures(source).hits)
        return self._counts_failures() or any(hit.verdict.rank < EXIT for hit in hits)

    @property
    def search(self) -> str:
        """A case-insensitive search that lists most failure lines, for a reader who wants to see those not shown."""
        literals = [_NO_WORD.sub(".", literal.decode("utf-8", "replace")) for literal in self._recognised.literals]
        return "|".join([SEARCH, *literals]) if len(literals) <= SEARCHED_LITERALS else SEARCH


# whose output it is

WHOLE_BYTES = 1 << 18
"""A stream up to this size is read whole; of a larger one, its ends and some windows between them."""

HEAD_BYTES, TAIL_BYTES = 1 << 16, 1 << 17
WINDOWS = 24
WINDOW_BYTES = 1 << 12

SEARCHED_BYTES = 1 << 23
"""Up to this size, windows are where failure is mentioned, which costs reading the stream; above, evenly spaced."""

SAMPLED_LINES = 150


def _is_no_shell_warning(judge: Judge, _verdict: LineVerdict, data: bytes) -> bool:
    return b"sh: " not in data or not is_shell_warning(judge.text(data))


_PASSES = frozenset(("passed", "passed_packages", "tests"))  # counts that tools state of what passed
_NAMES_TESTS = re.compile(
    r"(?:(?<= )--|(?<![\w./-]))(?:run[-_])?(?:unit[-_:]?|integration[-_:]?)?(?:tests?|check|specs?)(?![\w/=-])"
)
_BEGINNING_BYTES, _BEFORE_JSON = 64, b"\xef\xbb\xbf \t\r\n"
_WORDS = (b"FAIL", b"rror")
_LINE_END = re.compile(rb"(?<!\r)\r+\n")


def may_be_report(source: Source) -> bool:
    """Return whether a text may be JSON, by its beginning."""
    return source.read(0, _BEGINNING_BYTES).lstrip(_BEFORE_JSON)[:1] in (b"{", b"[")


def glance(source: Source) -> bytes:
    """Return parts of a stream, without colours, and with plain newlines between lines."""
    data = without_colour(b"\n".join(_parts(source)))
    return _LINE_END.sub(b"\n", data) if b"\r\n" in data else data


def sampled_lines(data: bytes) -> Iterator[str]:
    """Yield some cleaned lines from all over a text."""
    lines = data.split(b"\n")
    step = max(1, len(lines) // SAMPLED_LINES)
    for line in lines[::step]:
        yield clean_line(line[:400])


def _parts(source: Source) -> Iterator[bytes]:
    size = source.byte_count
    if size <= WHOLE_BYTES:
        yield source.read(0, size)
        return
    yield source.read(0, HEAD_BYTES)
    yield from _windows(source, HEAD_BYTES, size - TAIL_BYTES)
    yield source.read(size - TAIL_BYTES, TAIL_BYTES)


def _windows(source: Source, start: int, end: int) -> Iterator[bytes]:
    if end - start > SEARCHED_BYTES:
        step = (end - start) // WINDOWS
        for at in range(start, start + WINDOWS * step, step):
            yield source.read(at, WINDOW_BYTES)
        return
    data = source.read(start, end - start)
    at = found = 0
    while found < WINDOWS and at < len(data):
        places = [place for word in _WORDS if (place := data.find(word, at)) >= 0]
        if not places:
            return
        at = max(min(places) - WINDOW_BYTES // 2, at)
        yield data[at : at + WINDOW_BYTES]
        at += WINDOW_BYTES
        found += 1


# What a log puts before each line of its commands: times, names of services and jobs. Patterns for the beginning of a
# tool's line apply behind such a prefix.
_FORMS = (
    r"[^\t\n]{1,80}\t[^\t\n]{1,80}\t(?=\d{4}-)",  # gh run view --log: job, step
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d)?\]?(?: \d\d[OE]\+?)? ?",
    r"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:? ",
    r"(?:DEBUG|INFO) [\w.-]+:\d+: {1,4}",  # mock
    r"#\d+ \d+\.\d+ ",  # docker build, plain progress
    r"[\w.-]{1,40} {0,20}\| ",  # docker compose
    r"(?!\[(?:INFO|ERROR|WARN|WARNING|DEBUG|TRACE|FATAL|info|error|warn|debug|success|stderr|stdout|\d+/\d+)\])"
    r"\[[\w@][\w@:/.-]*(?: [\w@:/.-]+)*\] ",  # concurrently, npm-run-all
    r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?: ",  # syslog, journal
    r"(?:@[\w.-]+/)?[\w-]{1,40}:[a-z][a-z:-]{1,30}: ",  # turbo, lerna
)
_SAMPLED = 200
_LEAST_LINES = 5
_SHARE = 0.6


def prefix_of(lines: Iterable[str]) -> re.Pattern[str] | None:
    """Return the pattern for the prefix of most of some lines; None if they have no common one."""
    texts = [line for line in lines if line.strip()][:_SAMPLED]
    if len(texts) < _LEAST_LINES:
        return None
    most_misses = len(texts) - math.ceil(_SHARE * len(texts))
    found: list[str] = []
    if _misses(re.compile("|".join(_FORMS)), texts, most_misses):
        return None  # most outputs have no prefix, which is soon seen
    for form in (*_FORMS, *_FORMS):  # a time may stand before or behind the name of a job
        if form not in found and not _misses(
            re.compile("".join(f"(?:{one})?" for one in found) + f"(?:{form})"), texts, most_misses
        ):
            found.append(form)
    return re.compile("".join(f"(?:{form})?" for form in found)) if found else None


def _misses(pattern: re.Pattern[str], texts: Iterable[str], most: int) -> bool:
    """Return whether more than so many texts do not begin with a pattern."""
    return len(list(islice((None for text in texts if not pattern.match(text)), most + 1))) > most


def without_prefix(data: bytes, prefix: re.Pattern[str] | None) -> bytes:
    """Return a text without its log's prefixes, because a tool's marks may span several lines."""
    return re.sub(b"(?m)^" + prefix.pattern.encode(), b"", data) if prefix else data


def _places_of(source: Source, failures: Failures, shown: Iterable[Span]) -> Places:
    """Return the places of failure lines that a view does not show, files without any shown line first."""
    blocks = list(shown)
    hits = [hit for hit in failures.hits if hit.verdict.rank <= LOCATED]
    hidden = [hit for hit in hits if free_spans(blocks, hit.line, hit.line)]
    lines = {hit.line for hit in hidden}
    seen = {hit.verdict.about for hit in hits if hit.line not in lines}
    found: Places = {}
    later: Places = {}
    for hit in hidden[:_PLACE_LINES]:
        if place := _place(hit, source):
            known = later if hit.verdict.about in seen else found
            known.setdefault(place[0], []).append(place[1])
    return found | {file: lines for file, lines in later.items() if file not in found}


def _place(hit: FailureHit, source: Source) -> tuple[str, int] | None:
    file, _, line = hit.verdict.place.rpartition(":")
    if file and line.isdecimal() and len(line) < _NUMBER_DIGITS:
        return file, int(line)
    for one in source.lines(hit.line, hit.line + (_NEAR_LINES if hit.verdict.sort else 0)):
        if found := _PLACE.search(clean_line(judged_part(one.data))):
            return found[1], int(found[2])
    return None
