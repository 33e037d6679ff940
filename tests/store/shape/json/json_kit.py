"""JSON texts for properties: values, and the many ways in which they may be written."""

import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

unhurried = settings(deadline=None)  # a busy machine is no defect

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(["", '"', "\\", "\\u00e9", "é", "日本語" * 40, "\ud800", "x" * 700, "a,b],{", "\x7f\x85"]),
)
KEYS = st.one_of(st.sampled_from(["id", "name", "a b", "x.y", "é", ""]), st.text(max_size=6))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=9), st.dictionaries(KEYS, inner, max_size=9)),
    max_leaves=40,
)
RECORDS = st.lists(st.fixed_dictionaries({"id": st.integers(), "tags": st.lists(st.text(max_size=5), max_size=8)}))
CONTAINERS = st.one_of(
    st.lists(VALUES, max_size=12),
    st.dictionaries(KEYS, VALUES, max_size=12),
    RECORDS,
    st.integers(0, 300).map(lambda count: [{"id": n, "name": f"item {n}", "data": "X" * 30} for n in range(count)]),
    st.integers(0, 300).map(lambda count: {f"key{n}": n for n in range(count)}),
    st.integers(0, 400).map(lambda count: list(range(count))),
)
STYLES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 0},
        {"indent": 1, "separators": (" ,", " : ")},
        {"separators": (",", ":")},
        {},
        {"separators": (",\n", ":\n")},
        {"indent": 2, "ensure_ascii": False},
        {"separators": ("\r\n\t, ", ": ")},
    ]
)

ESCAPES = [
    "\\\\",
    '\\"',
    "\\/",
    "\\n",
    "\\u0007",
    "\\u0022",
    "\\u005c",
    "\\u00e9",
    "\\ud83d\\ude80",
    "\\ud83d",
    "\\ude80",
]
"""As strings spell them, one unit or half a pair each."""

SPELLED = st.lists(st.sampled_from([*ESCAPES, "a", "é", "u0041", " , ", "x" * 30]), max_size=20).map("".join)
"""The insides of strings."""


def written(value: Any, style: dict[str, Any]) -> bytes:
    """A value as JSON."""
    return json.dumps(value, **style).encode(errors="surrogatepass")


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """JSON texts of one container."""
    return written(draw(CONTAINERS), draw(STYLES)) + draw(st.sampled_from([b"", b"\n", b" \n\n"]))


@st.composite
def lines_of_json(draw: st.DrawFn) -> bytes:
    """Two containers and more, one a line."""
    values = draw(st.lists(CONTAINERS, min_size=2, max_size=60))
    return b"\n".join(written(value, {}) for value in values) + draw(st.sampled_from([b"", b"\n"]))
