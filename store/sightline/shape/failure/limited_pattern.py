"""Limits the time on a view of patterns that others wrote and that may take very long, and then gives them up.

`re` cannot be stopped; the library regex can, in any thread. It is loaded only for the rule of a person or a package.
"""

import time
from collections.abc import Callable, Mapping

import regex

from sightline.light.typing_names import Any
from sightline.shape.failure.tool_rules import LatePattern, Rule

VIEW_SECONDS = 0.05
"""The time for all patterns of one rule on one view, in seconds of processor time."""

MAX_PATTERN_CHARACTERS = 4_000
"""Length of a pattern at most: compiling it cannot be stopped, and takes a few milliseconds for this much."""


class TimeLimit:
    """The time that the patterns of one rule still have.

    Attributes:
        left: seconds of processor time.
    """

    def __init__(self) -> None:
        self.left = VIEW_SECONDS

    @property
    def is_used_up(self) -> bool:
        """Whether the rule is given up."""
        return self.left <= 0

    @property
    def spent(self) -> float:
        """Seconds that the patterns have taken."""
        return VIEW_SECONDS - self.left


class LimitedPattern(LatePattern):
    """A pattern that finds nothing any more once its rule has used up its time."""

    __slots__ = ("_compiled", "_limit")

    def __init__(self, text: str, limit: TimeLimit) -> None:
        """Compile it within the time. Raises ValueError for a faulty pattern, or one that is too long."""
        super().__init__(text)
        self._limit = limit
        self._compiled = _NOTHING if limit.is_used_up else _compiled(text, limit)
        self.search: Callable[[str], Any] = self._limited_search

    @property
    def groupindex(self) -> Mapping[str, int]:
        """The names of its groups."""
        names: Mapping[str, int] = self._compiled.groupindex
        return names

    def _limited_search(self, line: str) -> Any:
        limit = self._limit
        if limit.left <= 0:
            return None
        began = time.thread_time()
        try:
            found = self._compiled.search(line, timeout=limit.left)
        except TimeoutError:
            limit.left = 0
            return None
        limit.left -= time.thread_time() - began
        return found


_NOTHING = regex.compile(r"(?!)")


def _compiled(text: str, limit: TimeLimit) -> Any:
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise ValueError(f"a pattern is longer than {MAX_PATTERN_CHARACTERS:,} characters: {text[:40]}…")
    began = time.thread_time()
    try:
        return regex.compile(text, regex.VERSION0)
    except regex.error as error:
        raise ValueError(f"a pattern is no regular expression: {error}") from error
    except RecursionError:
        raise ValueError(f"a pattern is too deep: {text[:40]}…") from None
    finally:
        limit.left -= time.thread_time() - began


def limit_rule(rule: Rule) -> tuple[Rule, TimeLimit]:
    """Return a rule for one view, and the time of all its patterns. Raises ValueError for a faulty pattern."""
    limit = TimeLimit()
    return _limited(rule, limit), limit


def _limited(part: Any, limit: TimeLimit) -> Any:
    """Return a part of a rule with limited patterns in place of others."""
    if isinstance(part, LatePattern):
        return LimitedPattern(part.text, limit)
    if isinstance(part, tuple):
        values = [_limited(one, limit) for one in part]
        return type(part)(*values) if hasattr(part, "_fields") else tuple(values)
    if isinstance(part, Mapping):
        return {key: _limited(one, limit) for key, one in part.items()}
    return part
