"""Looks an output over once: whose it is, which lines of it are failures, what it counts."""

import re
from collections import Counter
from functools import cached_property

from sightline.shape.failure.classes import SEARCH
from sightline.shape.failure.counting import Tally, tally
from sightline.shape.failure.failures import Failures, Hit, find_failures
from sightline.shape.failure.findings import header_of
from sightline.shape.failure.glance import glance, sampled_lines
from sightline.shape.failure.judge import CACHED_LINES, EXIT, Judge, Verdict, judged_part, name_and_place
from sightline.shape.failure.judged import EVERYTHING, Judged
from sightline.shape.failure.naming import Named, named
from sightline.shape.failure.prefixes import prefix_of
from sightline.shape.failure.sieve import NUMBERS
from sightline.shape.failure.tool_rules import Block, Failure, load_rule, recognise
from sightline.shape.source import Source

SEARCHED_LITERALS = 6  # more of them make a search that nobody would read
TITLED_HITS = 12  # failure lines of a tool and weight whose headers are looked for: more than a summary names

TITLE_LINES = 4
"""Lines above or below a block's start in which its name is looked for."""


class Examination:
    """What is known of an output, found when it is first asked for."""

    def __init__(
        self, out: Source, err: Source, command: str = "", judged: Judged = EVERYTHING, of_kind: int | None = None
    ) -> None:
        """Take an output.

        Args:
            out: what was written to standard output; err, to standard error.
            command: the command line; empty where it is unknown.
            judged: which of the lines that look like failures count; all do, where nobody says.
            of_kind: failure lines of one kind that are kept from the beginning on; None for what a view has room for.
        """
        self._streams = (out, err)
        self._judged = judged
        self._of_kind = of_kind
        self._counted: dict[bytes, bool] = {}
        self._command = command
        self._failures: dict[int, Failures] = {}

    @cached_property
    def judge(self) -> Judge:
        """What judges the lines, by what the command and the ends of the streams tell of the tools that ran."""
        data = b"\n".join([glance(source) for source in self._streams])
        rules = [load_rule(name) for name in recognise(self._command, data)]
        return Judge(rules, prefix_of(sampled_lines(data)))

    @cached_property
    def run(self) -> frozenset[str]:
        """Names of the tools that the command runs, whatever the output says."""
        return frozenset(recognise(self._command, b""))

    def failures(self, source: Source) -> Failures:
        """The failure lines of one of the streams; the first time in one pass over it."""
        place = 0 if source is self._streams[0] else 1
        if place not in self._failures:
            counts = None if self._judged.all_counts else self.counts
            self._failures[place] = find_failures(source, self.judge, first_of_kind=self._of_kind, counts=counts)
        return self._failures[place]

    def counts(self, verdict: Verdict, data: bytes) -> bool:
        """Whether a raw line that looks like a failure is one, by how its command ended."""
        if self._judged.all_counts or self._judged.why_not:
            return not self._judged.why_not
        key = judged_part(data).translate(NUMBERS)
        known = self._counted.get(key)
        if known is None:
            known = self._judged.counts(verdict, self.judge.text(data), self._counts_failures)
            if len(self._counted) < CACHED_LINES:
                self._counted[key] = known
        return known

    def ignores(self, verdict: Verdict, data: bytes) -> bool:
        """Whether a raw line that looks like a failure is none."""
        return not self.counts(verdict, data)

    def settle(self) -> None:
        """Read now what `counts` needs of the streams, which may be closed by then."""
        if any(rule.logs for rule in self.judge.rules):
            self._counts_failures()

    def _counts_failures(self) -> bool:
        return any(tally.bad for tally in self.tallies)

    @cached_property
    def tallies(self) -> list[Tally]:
        """What the tools count; those that the command runs, or whose marks are there."""
        return tally(self._streams, self.judge)

    @cached_property
    def failed(self) -> list[Named]:
        """What the tools name as failed, in the order in which they do."""
        titled: list[Hit] = []
        seen: Counter[tuple[str, int]] = Counter()
        for source in self._streams:
            for hit in self.failures(source).hits:
                if hit.verdict.rule:
                    key = (hit.verdict.rule.name, hit.verdict.rank)
                    seen[key] += 1
                    titled.append(self.titled(hit, source, deep=seen[key] <= TITLED_HITS))
        return named(titled)

    def titled(self, hit: Hit, source: Source, *, deep: bool) -> Hit:
        """The hit, with what the lines near it say of name and place where it has none itself.

        The header of a failure line may stand far above it: it is looked for where ``deep`` is set.
        """
        sort, verdict = hit.verdict.sort, hit.verdict
        if isinstance(sort, Block):
            titles = [(sort.titled, hit.line + 1, hit.line + TITLE_LINES, sort.end)]
            titles += [(sort.under, max(1, hit.line - TITLE_LINES), hit.line - 1, None)]
        elif isinstance(sort, Failure) and deep and sort.under and sort.under.groupindex:
            header = header_of(hit, source, self.judge)
            titles = [(sort.under, header, header, None)] if header else []
        else:
            return hit
        for title, first, last, end in titles:
            if not title or not title.groupindex or (verdict.name and verdict.place):
                continue
            for text in [self.judge.text(line.data) for line in source.lines(first, last)]:
                if end and end.search(text):
                    break  # what follows is said of something else
                if found := title.search(text):
                    name, place = name_and_place(found)
                    if place and verdict.place.isdecimal():
                        place = f"{place}:{verdict.place}"
                    verdict = verdict._replace(name=verdict.name or name, place=place or verdict.place)
        return hit._replace(verdict=verdict._replace(place="") if verdict.place.isdecimal() else verdict)

    @property
    def says_failed(self) -> bool:
        """Whether the output, whatever the exit code, says that something failed."""
        hits = (hit for source in self._streams for hit in self.failures(source).hits)
        return self._counts_failures() or any(hit.verdict.rank < EXIT for hit in hits)

    @property
    def search(self) -> str:
        """A search, in any case, that lists most failure lines, for whoever wants to see those that are not shown."""
        literals = [re.escape(literal.decode("utf-8", "replace")) for literal in self.judge.literals]
        return "|".join([SEARCH, *literals]) if len(literals) <= SEARCHED_LITERALS else SEARCH
