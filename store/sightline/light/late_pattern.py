"""Regular expressions that are compiled when they are first used: each takes 0.05 to 0.5 ms, and a start meets dozens.

A function of `re` that is given the text compiles it late, too, but cannot begin at a place, and is slower each time.
`re` itself is loaded with the first of them: it takes half of what `python -c pass` does, and most commands need none.
"""

from sightline.light.typing_names import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import re as re
    from re import compile as late_pattern
else:

    class _LateRe:
        """Has the names of `re`, which it loads when one is asked for that is no flag."""

        ASCII, DOTALL, IGNORECASE, MULTILINE, VERBOSE = 256, 16, 2, 8, 64

        def __getattr__(self, name: str) -> Any:
            import re

            value = vars(self)[name] = getattr(re, name)
            return value

    re = _LateRe()

    class _LatePattern:
        """Has the methods of a pattern from its first use on, and nothing before."""

        def __init__(self, text: str | bytes, flags: int = 0) -> None:
            self._given = text, flags

        def __getattr__(self, name: str) -> Any:
            pattern = re.compile(*self._given)
            vars(self).update((each, getattr(pattern, each)) for each in dir(pattern) if not each.startswith("_"))
            return getattr(pattern, name)

    late_pattern = _LatePattern

__all__ = ["late_pattern", "re"]
