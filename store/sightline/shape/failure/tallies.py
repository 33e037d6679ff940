"""Reads what tools count themselves: tests passed and failed, errors, warnings. What no tool says is not counted."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from sightline.light.named_tuple import NamedTuple
from sightline.shape.failure.judge import Judge, judged_part
from sightline.shape.failure.prefilter import NUMBERS, Prefilter
from sightline.shape.failure.tool_rules import Count, Rule
from sightline.shape.source import Source

_BAD = ("fail", "error", "conflict", "offense", "violation", "problem", "broken", "fatal", "crash", "issue")

_TOOK = re.compile(r"\b(\d+(?:\.\d+)?) ?(?:m?s|secs?|seconds?)\b")
TELLING_DIGITS = 3  # of a run's duration, in which two runs with equal counts hardly agree
TELLING_LINES = 16  # before a total, in which two runs with equal counts hardly agree
COMPARED = 2_000  # times that a total is compared with an equal one

OTHERS = 20_000  # lines that are kept as looking like counts to a search for literals without being some


class ToolTally(NamedTuple):
    """The counts of one tool.

    Attributes:
        rule: the tool's rule.
        numbers: counts by name, in the order of the rule; empty if none was found.
        counted: names whose count no line states, because lines were counted or added up here.
        unclear: whether lines count whose sum cannot be told.
    """

    rule: Rule
    numbers: dict[str, int]
    counted: frozenset[str] = frozenset()
    unclear: bool = False

    @property
    def bad(self) -> int:
        """The sum of counts that mean that something is wrong."""
        return sum(number for noun, number in self.numbers.items() if noun.startswith(_BAD))

    @property
    def states_failures(self) -> bool:
        """Whether lines of the tool state how many failures there are, even if that is none."""
        nouns = [noun for noun in self.numbers if noun.startswith(_BAD)]
        return bool(nouns) and not any(count.each in nouns for count in self.rule.counts)


def tally(sources: Iterable[Source], judge: Judge) -> list[ToolTally]:
    """Return the counts of each tool whose output this is, from one pass over the streams."""
    counters = [_Counter(rule, count) for rule in judge.rules for count in rule.counts]
    others: set[bytes] = set()
    literals = sorted({literal.encode() for counter in counters for literal in counter.count.has})
    for source in sources if literals else ():
        for number, line in Prefilter((), literals).lines(source.blocks()):
            key = judged_part(line).translate(NUMBERS)
            if key in others:
                continue
            text = judge.text(judged_part(line))
            if not sum([counter.feed(text, source, number) for counter in counters]) and len(others) < OTHERS:
                others.add(key)  # such a line has no count, whatever its numbers
    return [_together(rule, [one for one in counters if one.rule is rule]) for rule in judge.rules]


class _Total(NamedTuple):
    """A line that states the numbers of a run or module so far, and its place."""

    numbers: dict[str, int]
    text: str
    source: Source
    number: int
    after: int  # number of the last such line before it of another run or module in the source; 0 for none
    most: dict[str, int]  # the largest number under each name in any total of its run or module so far

    @property
    def timed(self) -> bool:
        """Whether it states a duration so exactly that another run would not have the same."""
        took = _TOOK.search(self.text)
        return took is not None and len(took[1].replace(".", "").lstrip("0")) >= TELLING_DIGITS

    def led_to_as(self, other: "_Total") -> bool | None:
        """Return whether the same lines stand before it as before another one; None if that says nothing."""
        ours, theirs = self._before(), other._before()
        count = min(len(ours), len(theirs))
        return ours[-count:] == theirs[-count:] if count else None

    def _before(self) -> list[bytes]:
        first = max(self.after + 1, self.number - TELLING_LINES)
        return [line.data for line in self.source.lines(first, self.number - 1) if line.data.strip()]


class _Counter:
    """The numbers of one sort of line.

    Of running totals, the last line of a module counts. A total that is repeated, as at the end of a log, is not
    counted again. If it cannot be told which of these a line is, there is no number.
    """

    def __init__(self, rule: Rule, count: Count) -> None:
        self.rule = rule
        self.count = count
        self.numbers: dict[str, int] = {}  # of finished runs and modules
        self._lines: Counter[str] = Counter()  # number of lines that state more than 0, by name
        self._runs = 0
        self._running: dict[tuple[str | None, ...], _Total] = {}  # the last total of each run or module that may go on
        self._totals: dict[str, list[_Total]] = {}  # totals of finished ones, by their words
        self._last: _Total | None = None
        self._compared = 0
        # These note whether modules were separated; totals changed without the last being the largest; the last was the
        # sum of the others; and two equal totals may be one that was repeated.
        self._parted = self._changed = self._falls = self._sums_up = self._alike = False

    def feed(self, text: str, source: Source, number: int) -> bool:
        """Take a line, and return whether it is of this sort, or separates modules."""
        count = self.count
        if not any(literal in text for literal in count.has):
            return False
        parts = bool(count.module and count.module.search(text))
        if parts:
            self.end()
            self._parted = True
        found = count.line.search(text)
        if not found:
            return parts
        if count.each:
            self._add({count.each: 1})
            return True
        read = {noun: _number(pattern.search(text)) for noun, pattern in count.numbers.items()}
        if numbers := {noun: number for noun, number in read.items() if number is not None}:
            last = self._last
            after = last.number if last and last.source is source else 0
            self._last = _Total(numbers, text, source, number, after, numbers)
            self._take(found.groups(), self._last)
        return True

    def _take(self, module: tuple[str | None, ...], total: _Total) -> None:
        if self.count.total and not self.count.module:
            self._end(total)
            return
        if before := self._running.get(module):
            self._changed |= before.numbers != total.numbers
            most = {noun: max(number, total.numbers.get(noun, 0)) for noun, number in before.most.items()}
            after = before.after if before.source is total.source else 0
            total = total._replace(after=after, most={**total.numbers, **most})
        elif len(self._running) > OTHERS:
            self._falls = True
            return
        self._running[module] = total

    def end(self) -> None:
        """Finish the runs and modules that may go on."""
        for total in self._running.values():
            self._falls |= any(number > total.numbers.get(noun, 0) for noun, number in total.most.items())
            self._end(total)
        self._running.clear()

    def _end(self, total: _Total) -> None:
        if not self._told_again(total):
            self._add(total.numbers)

    def _told_again(self, total: _Total) -> bool:
        """Return whether a total repeats an earlier one."""
        if not self.count.total or not any(total.numbers.values()) or len(self._totals) > OTHERS:
            return False
        alike = self._totals.setdefault(total.text, [])
        if alike and total.timed:
            return True
        for other in alike:
            self._compared += 1
            same = total.led_to_as(other) if self._compared < COMPARED else None
            if same is None or (same and total.after == other.number and total.source is other.source):
                self._alike = True  # repeated at once, or a run of the same size: the lines do not tell which
            elif same:
                return True
        if self._compared < COMPARED:
            alike.append(total)
        return False

    def _add(self, numbers: dict[str, int]) -> None:
        stated = {noun for noun, number in numbers.items() if number}
        self._sums_up = self._runs > 1 and all(numbers.get(noun, 0) == sum_ for noun, sum_ in self.numbers.items())
        self._runs += bool(stated)
        self._lines.update(stated)
        for noun, number in numbers.items():
            self.numbers[noun] = self.numbers.get(noun, 0) + number

    @property
    def unclear(self) -> bool:
        """Whether the sum of its lines cannot be told."""
        if self._parted or not any(self.numbers.values()):
            return False
        if self.count.total and not self.count.module:
            return self._alike or (self.count.sums and self._sums_up)
        return self._falls or (self.count.total and self._changed)

    @property
    def counted(self) -> set[str]:
        """Return the names of numbers that no line states."""
        return {noun for noun, lines in self._lines.items() if lines > 1 or noun == self.count.each}


def _number(found: re.Match[str] | None) -> int | None:
    if not found:
        return None
    digits = found[found.lastindex or 0].replace(",", "")
    return int(digits) if digits.isdecimal() and len(digits) < 16 else None


def _together(rule: Rule, counters: Sequence[_Counter]) -> ToolTally:
    """Return the numbers of a rule; if two sorts of line count the same, the first sort that has it decides."""
    numbers: dict[str, int] = {}
    counted: set[str] = set()
    for counter in counters:
        counter.end()
        if not counter.unclear:
            counted |= counter.counted - numbers.keys()
            numbers |= {noun: number for noun, number in counter.numbers.items() if noun not in numbers}
    return ToolTally(rule, numbers, frozenset(counted), any(counter.unclear for counter in counters))
