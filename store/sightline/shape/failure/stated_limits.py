"""Holds the names of failures against what their tool counts: where a rule names more, its names are not believed.

A tool prints the names of tests that passed, too, and a pattern may take some of them for failures.
"""

from collections.abc import Iterable, Mapping

from sightline.shape.failure.failure_scan import Failures
from sightline.shape.failure.judge import CAUSE, NAME, last_part
from sightline.shape.failure.tallies import ToolTally

Disbelieved = Mapping[tuple[str, int], frozenset[str]]
"""By a rule's name and the weight of its lines: the last parts of those names that are believed all the same."""


def limits_of(tallies: Iterable[ToolTally]) -> dict[str, int]:
    """Return how many failures each tool states, by its name; a tool that states no such number is missing.

    One that counts only what passed states that nothing failed. Numbers that were counted from its lines here are not
    stated, nor are those whose sum cannot be known. A tool that also names groups of failures states none, but that
    nothing failed.
    """
    found: dict[str, int] = {}
    for tally in tallies:
        only_passed = tally.numbers.get("passed", 0) and not any(count.each for count in tally.rule.counts)
        if (
            not tally.unclear
            and (tally.states_failures or (only_passed and not tally.bad))
            and not (tally.rule.groups and tally.bad)
        ):
            found[tally.rule.name] = tally.bad
    return found


def disbelieved(limits: Mapping[str, int], found: Iterable[Failures]) -> Disbelieved:
    """Return which failures exceed what their tools count.

    Where the tool lists the names of failures within its count, only blocks and lines of these are believed.

    Args:
        limits: from `limits_of`.
        found: the failure lines of each stream.
    """
    names: dict[tuple[str, int], set[str]] = {}
    for failures in found:
        for hit in failures.hits:
            verdict = hit.verdict
            if verdict.rule and verdict.name and verdict.rank in (NAME, CAUSE) and verdict.rule.name in limits:
                names.setdefault((verdict.rule.name, verdict.rank), set()).add(verdict.name)
    made: dict[tuple[str, int], frozenset[str]] = {}
    for (tool, rank), own in names.items():
        if len(own) > limits[tool]:
            listed = names.get((tool, NAME), set()) if rank == CAUSE else set()
            made[tool, rank] = frozenset(map(last_part, listed)) if len(listed) <= limits[tool] else frozenset()
    return made
