"""What is written and read is what `json` writes and reads, errors included."""

import json
import runpy
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.light import json_text
from sightline.light.json_text import dumps, encoder, first_value, loads

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


@pytest.mark.parametrize("indent", [None, 2])
def test_one_value_is_written_as_by_json(indent: int | None) -> None:
    value = {"é": [1, None, 2.5], "a": {}}
    for ensure_ascii in (True, False):
        written = dumps(value, ensure_ascii=ensure_ascii, sort_keys=True, indent=indent)
        assert written == json.dumps(value, ensure_ascii=ensure_ascii, sort_keys=True, indent=indent)


def _read(read: Callable[[str | bytes], object], text: str | bytes) -> tuple[object, ...]:
    """What a function makes of a text: its value as Python writes it, since NaN equals nothing, or its error."""
    try:
        return (repr(read(text)),)
    except ValueError as error:
        return type(error), str(error)


@given(values(NAMES), st.text(" \t\r\n", max_size=3), st.text(" \n,}x\ufeff", max_size=2))
def test_it_reads_what_json_reads(value: object, before: str, after: str) -> None:
    text = before + json.dumps(value) + after
    assert _read(loads, text) == _read(json.loads, text)
    assert _read(loads, text.encode()) == _read(json.loads, text.encode())


@given(st.text('[]{}",:0-1.eE tfnull\\\x01\udcff', max_size=9))
def test_it_refuses_what_json_refuses_and_says_where(text: str) -> None:
    assert _read(loads, text) == _read(json.loads, text)


@given(st.text('[]{}",:0-1.eE tfnull\\\\', max_size=6), values(NAMES), st.text(" ,]x", max_size=2))
def test_the_value_at_a_place_is_the_one_that_json_finds_there(before: str, value: object, after: str) -> None:
    text = before + json.dumps(value) + after
    for at in (0, len(before)):
        found = _read(lambda text, at=at: first_value(str(text), at), text)
        assert found == _read(lambda text, at=at: json.JSONDecoder().raw_decode(str(text), at), text)


@pytest.mark.parametrize("text", ["NaN", "[1, -Infinity]", '{"a": Infinity}', '"NaN"', "[1]"])
def test_what_json_does_not_have_is_an_error_where_that_is_wanted(text: str) -> None:
    def refused(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    assert _read(lambda text: loads(text, strict=True), text) == _read(
        lambda text: json.loads(text, parse_constant=refused), text
    )


@pytest.mark.parametrize("text", ["{", '{"a"', "[1,", '"x', "tru"])
def test_what_is_no_json_is_told_before_json_is_loaded(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for read in (loads, lambda text: loads(text, strict=True), first_value):
        for name in ("json", "json.decoder"):  # where the C code looks for the error
            monkeypatch.delitem(sys.modules, name)
        with pytest.raises(ValueError):
            read(text)
        monkeypatch.undo()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32-be"])
def test_other_encodings_are_read_as_json_reads_them(encoding: str) -> None:
    assert loads('{"é": [1]}'.encode(encoding)) == {"é": [1]}


def test_without_the_interpreters_own_code_it_reads_and_writes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_json", None)
    slow = runpy.run_path(json_text.__file__)
    assert slow["encoder"](ensure_ascii=False, compact=True)({"é": [1, None]}) == '{"é":[1,null]}'
    assert slow["loads"](' {"é": [1, null]}') == {"é": [1, None]}
