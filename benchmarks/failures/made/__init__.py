"""Outputs made by rule, a set for each way in which a view finds the reason; the tools' own forms, the words invented.

Each set has at least twenty cases of at least five tools. ``CASES`` makes a set by its name; a case is an entry of a
manifest and its bytes. The same seed makes the same text, so nothing of it is kept in files.
"""

from collections.abc import Callable

from benchmarks.failures.made import above, again, blocks, closing, floods, forms, quiet, redrawn, steps, words
from benchmarks.failures.made.kit import Made

CASES: dict[str, Callable[[], list[Made]]] = {
    "names": blocks.names,
    "markers": blocks.scattered,
    "steps": steps.cases,
    "above": above.cases,
    "context": blocks.context,
    "floods": floods.cases,
    "words": words.cases,
    "quiet": quiet.cases,
    "redrawn": redrawn.cases,
    "again": again.cases,
    "closing": closing.cases,
    "stacks": forms.stacks,
    "below": forms.below,
    "calm": forms.calm,
    "passing": forms.passing,
    "warned": forms.warned,
    "reports": forms.reports,
}
