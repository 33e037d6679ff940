"""Settings as people write them: any JSON with comments, trailing commas and their own way of breaking lines."""

import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no defect."""

_WORDS = st.text("ab_é\"\\/ {}[],:#'\n\t", max_size=6)
_SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | _WORDS


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@st.composite
def _rendered(draw: st.DrawFn, value: Any, indent: str, broken: bool) -> str:
    """A value's text, on lines of its own or on one."""
    if not isinstance(value, dict | list):
        return _quoted(value)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    pairs = value.items() if isinstance(value, dict) else [(None, one) for one in value]
    inner = indent + "  "
    lines = []
    for key, one in pairs:
        text = draw(_rendered(one, inner, broken and draw(st.booleans())))
        lines.append(text if key is None else f"{_quoted(key)}: {text}")
    if not lines:
        return opening + closing
    trailing = draw(st.booleans())
    parts = [opening]
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        comma = "," if not last or trailing else ""
        note = draw(st.sampled_from(["", " // note }, ]", ' /* a, "b" { */'])) if broken else ""
        above = draw(st.sampled_from(["", "// above {\n" + inner])) if broken else ""
        parts.append(f"\n{inner}{above}{line}{comma}{note}" if broken else f"{' ' if number else ''}{line}{comma}")
    parts.append(f"\n{indent}{closing}" if broken else closing)
    return "".join(parts)


_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3), max_leaves=6
)


@st.composite
def documents(draw: st.DrawFn, *, listing: bool = False) -> tuple[str, dict[str, Any]]:
    """The text of an object, and what it says: maybe an object ``servers`` among the rest, and a list ``hooks``."""
    value = draw(st.dictionaries(_WORDS, _VALUES, max_size=3))
    if draw(st.booleans()):
        value["servers"] = draw(st.dictionaries(_WORDS, _VALUES, max_size=3))
    if listing or draw(st.booleans()):
        value["hooks"] = draw(st.lists(_VALUES, max_size=3))
    value = dict(draw(st.permutations(list(value.items()))))
    text = draw(_rendered(value, "", draw(st.booleans())))
    text = draw(st.sampled_from(["", "\ufeff", "// head\n"])) + text + draw(st.sampled_from(["", "\n", "\n// end\n"]))
    return (text.replace("\n", "\r\n") if draw(st.booleans()) else text), value
