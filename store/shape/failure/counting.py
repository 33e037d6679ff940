"""Reads what tools count themselves: tests passed and failed, errors, warnings. What they do not say is not counted."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sightline.shape.failure.judge import Judge, judged_part
from sightline.shape.failure.sieve import NUMBERS, Sieve
from sightline.shape.failure.tool_rules import Count, Rule
from sightline.shape.source import Source

_BAD = ("fail", "error", "conflict", "offense", "violation", "problem", "broken", "fatal", "crash", "issue")

_TOOK = re.compile(r"\d(?:\.\d+)? ?(?:m?s|secs?|seconds?)\b")
"""How long a run took: two that took the same, and count the same, are one."""

OTHERS = 20_000  # lines remembered that look like counts to a search for literals, and are none


class Tally(NamedTuple):
    """What one tool counts.

    Attributes:
        rule: the tool.
        numbers: what is counted to how many, in the order of the rule; empty where no count was found.
        counted: those of them that no line states: they were counted here, or added up of several lines.
    """

    rule: Rule
    numbers: dict[str, int]
    counted: frozenset[str] = frozenset()

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
        for _, line in Sieve((), literals).lines(source.blocks()):
            _feed(judged_part(line), judge, counters, others)
    return [_together(rule, counters) for rule in judge.rules]


def _feed(line: bytes, judge: Judge, counters: Sequence["_Counter"], others: set[bytes]) -> None:
    """Have all counters read a line, unless it is one, but for its numbers, in which nothing is counted."""
    key = line.translate(NUMBERS)
    if key in others:
        return
    text = judge.text(line)
    if not sum([counter.feed(text) for counter in counters]) and len(others) < OTHERS:
        others.add(key)


class _Counter:
    """The numbers of one sort of line."""

    def __init__(self, rule: Rule, count: Count) -> None:
        self.rule = rule
        self.count = count
        self.numbers: dict[str, int] = {}
        self.counted: set[str] = set()
        self._timed: set[str] = set()

    def feed(self, text: str) -> bool:
        """Take a line; whether it is of this sort."""
        if not any(literal in text for literal in self.count.has) or not self.count.line.search(text):
            return False
        found = {noun: _number(pattern.search(text)) for noun, pattern in self.count.numbers.items()}
        if self.count.each:
            found[self.count.each] = 1
        read = {noun: number for noun, number in found.items() if number is not None}
        if not read:
            return True
        if self.count.total and _TOOK.search(text):
            if text in self._timed:
                return True  # the same run, told again, as at the end of a log
            self._timed.add(text)
        if self.count.total or self.count.each:
            for noun, number in read.items():
                if noun == self.count.each or (number and self.numbers.get(noun)):
                    self.counted.add(noun)
                self.numbers[noun] = self.numbers.get(noun, 0) + number
        else:
            self.numbers = read
        return True


def _number(found: re.Match[str] | None) -> int | None:
    if not found:
        return None
    digits = (found[1] if found.re.groups else found[0]).replace(",", "")
    return int(digits) if digits.isdecimal() and len(digits) < 16 else None


def _together(rule: Rule, counters: Sequence[_Counter]) -> Tally:
    """The numbers of a rule; what two sorts of line count is taken from the first that has it."""
    numbers: dict[str, int] = {}
    counted: set[str] = set()
    for counter in counters:
        if counter.rule is rule:
            counted |= counter.counted - numbers.keys()
            for noun, number in counter.numbers.items():
                numbers.setdefault(noun, number)
    return Tally(rule, numbers, frozenset(counted))
