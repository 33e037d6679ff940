"""What JSON is said to be: in a line, and as a skeleton."""

import json

import pytest
from hypothesis import given

from sightline.base.profile import Sampling
from sightline.shape.json.schema import describe, skeleton
from sightline.shape.json.tree import read_document
from sightline.shape.memory_stream import BytesSource
from tests.store.shape.json.json_kit import texts, unhurried


def described(text: str) -> str:
    source = BytesSource(text.encode())
    return describe(read_document(source, Sampling()), source)


def skeleton_of(text: str) -> object:
    made = skeleton(BytesSource(text.encode()))
    return made and json.loads(made)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([{"id": n, "name": f"Item {n}", "data": "X" * 30} for n in range(2000)], "[{id, name, data}] (2000 items)"),
        ({f"key{n}": n for n in range(10)}, "{key0, key1, key2, key3, key4, key5, key6, key7, key8, key9}"),
        (
            {f"key{n}": n for n in range(100)},
            "{key0, key1, key2, key3, key4, key5, key6, key7, key8, key9, ...} (100 keys)",
        ),
        (["a"] * 12, "[string] (12 items)"),
        ([None], "[null] (1 items)"),
        ([{f"k{n}": 1 for n in range(15)}], "[{" + ", ".join(f"k{n}" for n in range(15)) + "}] (1 items)"),
        ([], "[]"),
        ({}, "{}"),
        ([[1], [2]], "[array] (2 items)"),
        ([{"id": 1, "note": ""}, {"id": 2}], "[{id, note?}] (2 items)"),
        ([1, "a", None, {"x": 1}, True], "[{x} | string | number | boolean | null] (5 items)"),
        (None, "null"),
        ("text", "string"),
        (7, "number"),
    ],
)
def test_json_is_described_in_a_line(value: object, told: str) -> None:
    assert described(json.dumps(value)) == told
    assert described(json.dumps(value, indent=2)) == told


def test_large_elements_are_described_too() -> None:
    elements = [{"id": n, "text": "x" * 300_000, **({"late": 1} if n == 6 else {})} for n in range(8)]
    assert described(json.dumps(elements)) == "[{id, text, late?}] (8 items)"


def test_json_lines_and_text_are_told_as_such() -> None:
    assert described('{"a": 1}\n{"a": 2, "b": 3}\n') == "JSON lines: {a, b?} (2 lines)"
    assert described("# A title\n") == "text content"


def test_keys_are_told_as_they_read() -> None:
    assert described('{"é": 1, "\\u65e5": 2, "a\\nb": 3}').startswith("{é, ")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (
            {"name": "t", "count": 42, "items": [{"id": 1}]},
            {"name": "string", "count": "number", "items": [{"id": "number"}]},
        ),
        ([], []),
        ({"a": [], "b": None, "c": True}, {"a": [], "b": "null", "c": "boolean"}),
        ([{"a": 1}, {"a": None, "b": []}], [{"a": "number | null", "b?": []}]),
        ([1, "a", {"x": 1}, [[2]]], [{"x": "number"}, [["number"]], "string | number"]),
        ([{"a": 1}, {"a": {"b": 2}}], [{"a": {"one of": [{"b": "number"}, "number"]}}]),
        ("text", "string"),
    ],
)  # fmt: skip
def test_the_skeleton_has_types_for_values_and_one_element_for_all(value: object, told: object) -> None:
    assert skeleton_of(json.dumps(value)) == told


def test_the_skeleton_of_large_values_is_that_of_small_ones() -> None:
    record = {"id": 1, "tags": ["a"], "deep": {"n": None}}
    small = skeleton_of(json.dumps({"rows": [record, {"id": "x"}]}))
    assert skeleton_of(json.dumps({"rows": [record] * 5000 + [{"id": "x"}]})) == small
    assert skeleton_of("\n".join(json.dumps(record) for _ in range(500))) == skeleton_of(json.dumps(record))


def test_data_in_keys_does_not_make_a_skeleton_of_it() -> None:
    made = skeleton_of(json.dumps({f"user {n}": {"n": n} for n in range(5000)}))
    assert isinstance(made, dict)
    assert len(made) == 101


def test_there_is_no_skeleton_of_text() -> None:
    assert skeleton_of("[1, 2") is None


@unhurried
@given(texts())
def test_every_text_has_a_skeleton_and_a_description_of_one_line(data: bytes) -> None:
    source = BytesSource(data)
    assert json.loads(skeleton(source) or "") is not None
    assert "\n" not in describe(read_document(source, Sampling()), source)
