"""Cases of reading JSON results, describing and sampling them, as the default profile holds them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.errors import BadRange
from sightline.base.profile import Sampling
from sightline.base.records import Buffer, Session
from sightline.capture.result import ResultBlock, capture_result
from sightline.settings.config import Settings
from sightline.shape.json.path import BadPath, NotFound, parse_path
from sightline.shape.json.result import shape_result
from sightline.shape.json.schema import describe, skeleton
from sightline.shape.json.tree import read_document
from sightline.shape.memory_stream import BytesSource
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.read_output import read_output
from sightline.verbs.reply import Reply
from sightline.verbs.requests import ReadRequest

ROWS = [{"id": n, "name": f"Item {n}", "data": "X" * 30} for n in range(2000)]


def described(text: str) -> str:
    source = BytesSource(text.encode())
    return describe(read_document(source, Sampling()), source)


@pytest.fixture
def read(tmp_path: Any) -> Any:
    """Keeps a value as a result, and reads it."""
    with Store(str(tmp_path / "root"), Settings()) as store:
        asking = Asker(store, Session("s", "test", "", "", "/", 0.0), lambda verb, **arguments: f"{verb} {arguments}")

        def reading(value: object, **arguments: Any) -> Reply:
            data = json.dumps(value).encode()
            buffer = capture_result(store, [ResultBlock([data])], command="t", cwd="/", session="s")
            assert isinstance(buffer, Buffer)
            return read_output(asking, ReadRequest(buffer.ref, **arguments))

        yield reading


def test_i01_a_tool_ref_reads_as_pretty_json(read: Callable[..., Reply]) -> None:
    reply = read({"a": [1]}, lines="1-")
    assert (reply.text, reply.fields["total_lines"]) == ('{\n  "a": [\n    1\n  ]\n}\n', 5)


def test_i11_paths(read: Callable[..., Reply]) -> None:
    value = {"users": [{"n": "alice"}, {"n": "bob"}], "deps": {"a": 1, "b": 2}, "symbols": [{"body": "fn x() {}\n"}]}
    assert read(value, path="$").fields["description"] == "{users, deps, symbols}"
    assert read(value, path="$.deps").fields["description"] == "{a, b}"
    assert "bob" not in read(value, path="$.users[0]").text
    assert read(value, path="$.symbols[0].body").text == "fn x() {}\n"
    with pytest.raises(NotFound):
        read(value, path="$.missing")


@pytest.mark.parametrize("segment", ["[1:3]", "[::2]", "[1:]", "[abc]", "[+1]", "[-0]", "[-0:]"])
def test_i13_unsupported_segments_are_named(segment: str) -> None:
    with pytest.raises(BadPath) as told:
        parse_path("$.a" + segment)
    assert segment in told.value.message
    assert "[0]" in told.value.hint or not segment.startswith("[-0")


def test_i17_keys_with_dots_quotes_and_unicode_are_reachable(read: Callable[..., Reply]) -> None:
    value = {"a.b": {'q"x': {"日本": "there"}}}
    assert read(value, path='$["a.b"]["q\\"x"].日本').text == "there"
    with pytest.raises(BadRange, match="which has"):
        read(value, offset=10_000)


def test_k04_a_large_array_of_objects_is_described() -> None:
    text = json.dumps(ROWS, indent=2)
    assert len(text) == 187_782
    assert described(text) == "[{id, name, data}] (2000 items)"


def test_k05_markdown_is_text_content() -> None:
    assert described("## Section 1\n\nwords\n" * 1000) == "text content"


def test_k10_ten_keys_are_told_and_an_eleventh_is_counted() -> None:
    assert described(json.dumps({f"k{n}": n for n in range(10)})).endswith("k9}")
    assert described(json.dumps({f"k{n}": n for n in range(11)})).endswith("k9, ...} (11 keys)")
    assert described("[null]") == "[null] (1 items)"


def test_k14_the_skeleton() -> None:
    made = skeleton(BytesSource(b'{"name":"t","count":42,"items":[{"id":1}],"none":[],"nil":null}'))
    assert json.loads(made or "") == {
        "name": "string",
        "count": "number",
        "items": [{"id": "number"}],
        "none": [],
        "nil": "null",
    }


def test_k16_json_lines_differing_elements_and_null() -> None:
    assert described('{"a": 1}\n{"b": 2}\n') == "JSON lines: {a?, b?} (2 lines)"
    assert described('[1, "a", null]') == "[string | number | null] (3 items)"
    assert described("null") == "null"


def test_n01_n02_rows_are_sampled_where_that_saves_bytes() -> None:
    made = shape_result(BytesSource(json.dumps(ROWS, indent=2).encode(), "@tool_a1b2c3.0"), budget=8192)
    assert made
    text = "".join(segment.text for segment in made.shaped.segments)
    assert text.count('"id"') == 5
    assert "[… 1,995 more items elided: @tool_a1b2c3.0:27-10001 …]" in text


@given(st.integers(1, 2000))
def test_n07_any_depth_of_nesting_terminates(depth: int) -> None:
    data = b"[" * depth + b"1" + b"]" * depth + b" " * 9000
    made = shape_result(BytesSource(data, "@tool_a1b2c3.0"), budget=1024)
    assert made
    assert len("".join(segment.text for segment in made.shaped.segments).encode()) <= 1024
