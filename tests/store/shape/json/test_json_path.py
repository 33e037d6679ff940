"""JSON paths: what they find, and what they say when they do not."""

import json

import pytest

from sightline.shape.json.path import BadPath, NotFound, find, parse_path
from sightline.shape.memory_stream import BytesSource
from tests.each import each

DATA = {
    "users": [{"name": "alice"}, {"name": "bob"}],
    "deps": {"a": "1", "b": "2"},
    "a.b": {'q"x': [1, 2, 3], "日本": True},
    "empty": [],
    "": "nameless",
    "a-b": None,
}
SOURCE = BytesSource(json.dumps(DATA).encode())


def found(path: str, window: int = 1 << 17) -> object:
    place = find(SOURCE, parse_path(path), window)
    text = SOURCE.read(place.start, place.end - place.start).decode()
    return json.loads(f"[{text}]" if place.taken is not None else text)


@each("window", [1, 20, 1 << 17])
@each(
    ("path", "value"),
    [
        ("$", DATA),
        ("$.deps", DATA["deps"]),
        ("$.users[0]", {"name": "alice"}),
        ("users[-1].name", "bob"),
        ("$.users[-1:]", [{"name": "bob"}]),
        ("$.users[-9:]", DATA["users"]),
        ("$.users[-1:][0].name", "bob"),
        ("$.users[-9:][0].name", "alice"),
        ('$["a.b"]["q\\"x"][1]', 2),
        ("$['a.b'].日本", True),
        ("$.empty[-3:]", []),
        ('$[""]', "nameless"),
        ("$.a-b", None),
    ],
)
def test_a_path_finds_its_value(path: str, value: object, window: int) -> None:
    assert found(path, window) == value


@pytest.mark.parametrize("segment", ["[1:3]", "[::2]", "[1:]", "[abc]", "[+1]", "[]", "[*]", "[?(@.a)]", "[01]"])
def test_what_is_not_supported_is_named_and_is_not_called_missing(segment: str) -> None:
    with pytest.raises(BadPath) as told:
        parse_path(f"$.users{segment}.name")
    assert segment in told.value.message
    assert "not supported" in told.value.message
    assert "not found" not in told.value.message


@pytest.mark.parametrize("path", ["$.users[-0]", "$.users[-0:]"])
def test_minus_nought_is_told_as_nought(path: str) -> None:
    with pytest.raises(BadPath) as told:
        parse_path(path)
    assert "[0]" in told.value.hint


@pytest.mark.parametrize("path", ["$..name", "$.", "$users", "users[0", "$.users[-1:].name", '$["a', '["\\x"]'])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(BadPath):
        parse_path(path)


def test_a_missing_key_lists_the_keys_that_are_there() -> None:
    with pytest.raises(NotFound) as told:
        found("$.deps.c")
    assert told.value.hint == "its keys: a, b"
    many = BytesSource(json.dumps({f"k{n}": n for n in range(30)}).encode())
    with pytest.raises(NotFound) as told:
        find(many, parse_path("$.x"))
    assert told.value.hint.endswith("k9, …")


def test_an_index_out_of_range_states_the_length() -> None:
    for path in ("$.users[2]", "$.users[-3]"):
        with pytest.raises(NotFound) as told:
            found(path)
        assert "2 items" in told.value.message
        assert "out of range" in told.value.message


@pytest.mark.parametrize(("path", "kind"), [("$.users.name", "array"), ("$.deps[0]", "object"), ("$.a-b.x", "null")])
def test_a_step_into_the_wrong_kind_says_which_it_is(path: str, kind: str) -> None:
    with pytest.raises(NotFound) as told:
        found(path)
    assert kind in told.value.message


def test_of_a_key_that_occurs_twice_the_last_counts() -> None:
    place = find(BytesSource(b'{"a": 1, "\\u0061": 22}'), parse_path("a"))
    assert place.end - place.start == 2


def test_a_key_that_needs_brackets_needs_no_quotes() -> None:
    source = BytesSource(b'{"a key": {"x.y": 7}}')
    value = find(source, parse_path("$[a key][x.y]"))
    assert source.read(value.start, value.end - value.start) == b"7"
