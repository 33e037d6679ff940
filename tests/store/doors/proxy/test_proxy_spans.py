"""Places of values in a JSON text: true for any text that Python reads as JSON, and nothing else is taken."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.doors.proxy.spans import NotPlain, Span, array_of, object_of, parse, plain, replaced, without

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)
SPACING = st.sampled_from([None, 0, 2, "\t"])


def checked(text: str, found: dict[str, Span] | list[Span], value: Any) -> None:
    """Every span is the text of its value."""
    items = found.items() if isinstance(found, dict) else enumerate(found)
    told = {key: json.loads(text[span.start : span.end]) for key, span in items}
    assert (told if isinstance(found, dict) else list(told.values())) == value


@given(OBJECTS, SPACING, st.booleans())
def test_spans_of_members_are_their_text_however_it_is_spelled(value: Any, indent: Any, ascii_only: bool) -> None:
    text = f" {json.dumps(value, indent=indent, ensure_ascii=ascii_only)}\r\n"
    found = parse(text, object_of())
    checked(text, found, value)
    assert {key: json.loads(text[span.key : span.start].rstrip(" :\n\t")) for key, span in found.items()} == {
        key: key for key in value
    }


@given(st.lists(OBJECTS, max_size=4), SPACING)
def test_spans_go_down_where_they_are_asked_to(value: Any, indent: Any) -> None:
    text = json.dumps({"a": value}, indent=indent)
    found = parse(text, object_of(a=array_of(object_of())))
    for span, one in zip(found["a"].value, value, strict=True):
        checked(text, span.value, one)


@given(OBJECTS, st.data())
def test_an_object_without_a_member_keeps_all_others_as_they_were(value: Any, data: Any) -> None:
    text = json.dumps(value, indent=1)
    key = data.draw(st.sampled_from(sorted(value)) if value else st.just("none"))
    whole = Span(0, 0, len(text), None)
    left = without(text, whole, parse(text, object_of()), key)
    assert json.loads(left) == {name: one for name, one in value.items() if name != key}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a":1,}',
        '{"a" 1}',
        "{a:1}",
        '{"a":1} 2',
        '{"a":1,"a":2}',
        '{"a":tru}',
        '{"a":"\t"}',
        '{"a":1 "b":2}',
        '{"a":' + "[" * 100_000 + "}",
        '{"a":' + "9" * 5_000 + "}",
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_plain_json_object_is_not_taken(text: str) -> None:
    with pytest.raises(NotPlain):
        parse(text, object_of())


@pytest.mark.parametrize("text", ["[1,]", "[1 2]", "[", '["a":1]'])
def test_what_is_no_plain_json_array_is_not_taken(text: str) -> None:
    with pytest.raises(NotPlain):
        parse(text, array_of(plain))


def test_other_values_are_read_plainly_where_an_object_or_an_array_was_expected() -> None:
    assert parse("[1, 2]", object_of()) == [1, 2]
    assert parse('{"a": 1}', array_of(plain)) == {"a": 1}


def test_changes_stand_where_they_were_asked_for() -> None:
    assert replaced("0123456789", [(1, 3, "AB!"), (5, 5, "+"), (9, 10, "")]) == "0AB!34+5678"
