"""Reads what tools count themselves: tests passed and failed, errors, warnings. What they do not say is not counted."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sightline.store.shape.clean import without_colour
from sightline.store.shape.failure.failures import lines_with
from sightline.store.shape.failure.judge import JUDGED_BYTES, Judge
from sightline.store.shape.failure.tool_rules import Count, Rule
from sightline.store.shape.source import Source

_BAD = ("fail", "error", "conflict", "offense", "violation", "problem", "broken", "fatal", "crash", "issue")


class Tally(NamedTuple):
    """What one tool counts.

    Attributes:
        rule: the tool.
        numbers: what is counted to how many, in the order of the rule; empty where no count was found.
    """

    rule: Rule
    numbers: dict[str, int]

    @property
    def bad(self) -> int:
        """How much of it says that something is wrong."""
        return sum(number for noun, number in self.numbers.items() if noun.startswith(_BAD))


def tally(sources: Iterable[Source], judge: Judge) -> list[Tally]:
    """What each tool whose output it is counts, in one pass over the streams for the lines that count."""
    counters = [_Counter(rule, count) for rule in judge.rules for count in rule.counts]
    literals = sorted({counter.count.has.encode() for counter in counters})
    for source in sources if literals else ():
        for first, block in source.blocks():
            block = without_colour(block)
            for _, start, end in lines_with(first, block, (), literals):
                text = judge.text(block[start : min(end, start + JUDGED_BYTES)])
                for counter in counters:
                    counter.feed(text)
    return [Tally(rule, _together(rule, counters)) for rule in judge.rules]


class _Counter:
    """The numbers of one sort of line."""

    def __init__(self, rule: Rule, count: Count) -> None:
        self.rule = rule
        self.count = count
        self.numbers: dict[str, int] = {}

    def feed(self, text: str) -> None:
        if self.count.has not in text or not self.count.line.search(text):
            return
        found = {noun: _number(pattern.search(text)) for noun, pattern in self.count.numbers.items()}
        if self.count.each:
            found[self.count.each] = 1
        read = {noun: number for noun, number in found.items() if number is not None}
        if not read:
            return
        if self.count.total or self.count.each:
            for noun, number in read.items():
                self.numbers[noun] = self.numbers.get(noun, 0) + number
        else:
            self.numbers = read


def _number(found: re.Match[str] | None) -> int | None:
    if not found:
        return None
    digits = (found[1] if found.re.groups else found[0]).replace(",", "")
    return int(digits) if digits.isdecimal() and len(digits) < 16 else None


def _together(rule: Rule, counters: Sequence[_Counter]) -> dict[str, int]:
    """The numbers of a rule; what two sorts of line count is taken from the first that has it."""
    numbers: dict[str, int] = {}
    for counter in counters:
        if counter.rule is rule:
            for noun, number in counter.numbers.items():
                numbers.setdefault(noun, number)
    return numbers
