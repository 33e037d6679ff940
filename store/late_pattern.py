"""Regular expressions that are compiled when they are first used: each takes 0.05 to 0.5 ms, and a start meets dozens.

A function of `re` that is given the text compiles it late, too, but cannot begin at a place, and is slower each time.
"""

import re

from sightline.typing_names import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import compile as late_pattern
else:

    class _LatePattern:
        """Has the methods of a pattern from its first use on, and nothing before."""

        def __init__(self, text: str | bytes, flags: int = 0) -> None:
            self._given = text, flags

        def __getattr__(self, name: str) -> Any:
            pattern = re.compile(*self._given)
            vars(self).update((each, getattr(pattern, each)) for each in dir(pattern) if not each.startswith("_"))
            return getattr(pattern, name)

    late_pattern = _LatePattern

__all__ = ["late_pattern"]
