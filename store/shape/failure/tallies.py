"""Reads what tools count themselves: tests passed and failed, errors, warnings. What they do not say is not counted."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from sightline.named_tuple import NamedTuple
from sightline.shape.failure.judge import Judge, judged_part
from sightline.shape.failure.sieve import NUMBERS, Sieve
from sightline.shape.failure.tool_rules import Count, Rule
from sightline.shape.source import Source

_BAD = ("fail", "error", "conflict", "offense", "violation", "problem", "broken", "fatal", "crash", "issue")

_TOOK = re.compile(r"\b(\d+(?:\.\d+)?) ?(?:m?s|secs?|seconds?)\b")
TELLING_DIGITS = 3  # of how long a run took, in which two runs that count the same hardly agree
TELLING_LINES = 16  # before a total, in which two runs that count the same hardly agree
COMPARED = 2_000  # times that a total is compared with one of the same words

OTHERS = 20_000  # lines remembered that look like counts to a search for literals, and are none


class Tally(NamedTuple):
    """What one tool counts.

    Attributes:
        rule: the tool.
        numbers: what is counted to how many, in the order of the rule; empty where no count was found.
        counted: those of them that no line states: they were counted here, or added up of several lines.
        unclear: whether lines count of which it cannot be told what they come to.
    """

    rule: Rule
    numbers: dict[str, int]
    counted: frozenset[str] = frozenset()
    unclear: bool = False

    @property
    def bad(self) -> int:
        """How much of it says that something is wrong."""
        return sum(number for noun, number in self.numbers.items() if noun.startswith(_BAD))


def tally(sources: Iterable[Source], judge: Judge) -> list[Tally]:
    """What each tool whose output it is counts, in one pass over the streams for the lines that count."""
    counters = [_Counter(rule, count) for rule in judge.rules for count in rule.counts]
    others: set[bytes] = set()
    literals = sorted({literal.encode() for counter in counters for literal in counter.count.has})
    for source in sources if literals else ():
        for number, line in Sieve((), literals).lines(source.blocks()):
            key = judged_part(line).translate(NUMBERS)
            if key in others:
                continue
            text = judge.text(judged_part(line))
            if not sum([counter.feed(text, source, number) for counter in counters]) and len(others) < OTHERS:
                others.add(key)  # nothing is counted in such a line, whatever its numbers
    return [_together(rule, [one for one in counters if one.rule is rule]) for rule in judge.rules]


class _Total(NamedTuple):
    """A line that states the numbers of a run or module so far, and where it stands."""

    numbers: dict[str, int]
    text: str
    source: Source
    number: int
    after: int  # the number of the last such line before it of another run or module in the source; 0 for none
    most: dict[str, int]  # that any total of its run or module so far had of each

    @property
    def timed(self) -> bool:
        """Whether it tells how long the run took so exactly that another run would not have taken the same."""
        took = _TOOK.search(self.text)
        return took is not None and len(took[1].replace(".", "").lstrip("0")) >= TELLING_DIGITS

    def led_to_as(self, other: "_Total") -> bool | None:
        """Whether the same lines led to it as to another one; None where that says nothing."""
        ours, theirs = self._before(), other._before()
        count = min(len(ours), len(theirs))
        return ours[-count:] == theirs[-count:] if count else None

    def _before(self) -> list[bytes]:
        first = max(self.after + 1, self.number - TELLING_LINES)
        return [line.data for line in self.source.lines(first, self.number - 1) if line.data.strip()]


class _Counter:
    """The numbers of one sort of line.

    Of a running total the last line of a module counts. A total that is told again, as at the end of a log, is no
    other one. What cannot be told apart from either is no number.
    """

    def __init__(self, rule: Rule, count: Count) -> None:
        self.rule = rule
        self.count = count
        self.numbers: dict[str, int] = {}  # of the runs and modules that are over
        self._lines: Counter[str] = Counter()  # that stated more than none of each
        self._runs = 0
        self._running: dict[tuple[str | None, ...], _Total] = {}  # the last one of each that may go on
        self._totals: dict[str, list[_Total]] = {}  # of those that are over, those of the same words
        self._last: _Total | None = None
        self._compared = 0
        # Whether modules were parted; totals of one changed, and the last was not the most; the last of all was the sum
        # of the others; and two of the same words may be one told twice.
        self._parted = self._changed = self._falls = self._sums_up = self._alike = False

    def feed(self, text: str, source: Source, number: int) -> bool:
        """Take a line; whether it is of this sort, or parts modules of it."""
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
        """Take what goes on for over."""
        for total in self._running.values():
            self._falls |= any(number > total.numbers.get(noun, 0) for noun, number in total.most.items())
            self._end(total)
        self._running.clear()

    def _end(self, total: _Total) -> None:
        if not self._told_again(total):
            self._add(total.numbers)

    def _told_again(self, total: _Total) -> bool:
        """Whether a total is one of before, told again."""
        if not self.count.total or not any(total.numbers.values()) or len(self._totals) > OTHERS:
            return False
        alike = self._totals.setdefault(total.text, [])
        if alike and total.timed:
            return True
        for other in alike:
            self._compared += 1
            same = total.led_to_as(other) if self._compared < COMPARED else None
            if same is None or (same and total.after == other.number and total.source is other.source):
                self._alike = True  # told again at once, or a run of the same size: the lines do not tell
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
        """Whether it cannot be told what its lines come to."""
        if self._parted or not any(self.numbers.values()):
            return False
        if self.count.total and not self.count.module:
            return self._alike or (self.count.sums and self._sums_up)
        return self._falls or (self.count.total and self._changed)

    @property
    def counted(self) -> set[str]:
        """What of its numbers no line states."""
        return {noun for noun, lines in self._lines.items() if lines > 1 or noun == self.count.each}


def _number(found: re.Match[str] | None) -> int | None:
    if not found:
        return None
    digits = found[found.lastindex or 0].replace(",", "")
    return int(digits) if digits.isdecimal() and len(digits) < 16 else None


def _together(rule: Rule, counters: Sequence[_Counter]) -> Tally:
    """The numbers of a rule; what two sorts of line count is taken from the first that has it."""
    numbers: dict[str, int] = {}
    counted: set[str] = set()
    for counter in counters:
        counter.end()
        if not counter.unclear:
            counted |= counter.counted - numbers.keys()
            numbers |= {noun: number for noun, number in counter.numbers.items() if noun not in numbers}
    return Tally(rule, numbers, frozenset(counted), any(counter.unclear for counter in counters))
