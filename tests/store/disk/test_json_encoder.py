"""What an encoder writes is what `json.dumps` writes."""

import json
from json import encoder as standard

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.disk.json_encoder import encoder

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text('\udcff"\\\n\x1b aé\u2028', max_size=9)
NAMES = st.text(max_size=4)


def values(names: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Values whose objects have such names."""
    return st.recursive(
        PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
    )


@given(values(NAMES | st.integers()), st.booleans(), st.booleans())
def test_it_writes_what_json_dumps_writes(value: object, ensure_ascii: bool, compact: bool) -> None:
    written = encoder(ensure_ascii=ensure_ascii, compact=compact)(value)
    assert written == json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":") if compact else None)


@given(values(NAMES))
def test_names_are_in_order_where_that_is_wanted(value: object) -> None:
    assert encoder(sort_keys=True)(value) == json.dumps(value, sort_keys=True)


def test_a_value_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        encoder()({"a": {1, 2}})


def test_without_the_interpreters_own_it_writes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standard, "c_make_encoder", None)
    assert encoder(ensure_ascii=False, compact=True)({"é": [1, None]}) == '{"é":[1,null]}'
