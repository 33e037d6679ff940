"""A result as it is told in the log, and with other content: the rest of it stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.doors.proxy.calls import dumped, parsed, written
from sightline.doors.proxy.results import parts_of, read_result, told, with_content

BLOCKS = [{"type": "text", "text": "a view"}]


@pytest.mark.parametrize("added", [{}, {"theirs": 2}, {"ours": 3}])
@pytest.mark.parametrize("theirs", [{}, {"_meta": {}}, {"_meta": {"theirs": 1}}, {"_meta": None}])
def test_its_meta_has_what_both_sides_say(theirs: dict[str, Any], added: dict[str, int]) -> None:
    result = read_result({"content": [], **theirs, "isError": True})
    assert result
    made = with_content(result, BLOCKS, added)
    assert made == {"content": BLOCKS, "isError": True, "_meta": (theirs.get("_meta") or {}) | added}


@given(st.text(st.characters(exclude_categories=())))
def test_of_one_text_it_is_that(text: str) -> None:
    assert told({"content": [{"text": text, "type": "text"}]}) == text


@pytest.mark.parametrize("value", [None, [1, 2], {"content": "no list"}, {"content": [{"no": "type"}]}])
def test_what_is_no_result_is_told_as_it_is(value: Any) -> None:
    assert read_result(value) is None
    assert told(value) == json.dumps(value, separators=(",", ":"))


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON, st.booleans(), st.sampled_from([b"", b"\n", b"\r\n"]))
def test_a_line_that_is_written_anew_says_the_same_and_ends_as_it_did(value: Any, plain: bool, end: bytes) -> None:
    line = json.dumps(value, ensure_ascii=plain, indent=None if plain else 1).replace("\n", " ").encode() + end
    again = written(parsed(line), line)
    assert (json.loads(again), again.endswith(end)) == (value, True)


def test_half_characters_are_written_as_escapes() -> None:
    assert dumped({"é": "cut \ud83d"}) == '{"\\u00e9":"cut \\ud83d"}'
    assert dumped({"é": "\U0001f600"}) == '{"é":"\U0001f600"}'


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":7,"id":8}',
        b'{"id":7,"result":{"content":[{"type":"text","text":"a","te\\u0078t":"b"}]}}',
        b'{"id":1e400}',
        b'{"id":' + b"9" * 5_000 + b"}",
        b'{"a":' * 30_000 + b"1" + b"}" * 30_000,
        b'{"id":7} x',
        b"\xff",
        b"",
    ],
    ids=lambda line: repr(line[:40]),
)
def test_what_cannot_be_written_again_as_everyone_reads_it_is_not_read(line: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        parsed(line)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ('{"result":{"structuredContent" : {"a" :1.50e1}}}', '{"a" :1.50e1}'),
        ('{"result":{"note":"\\"structuredContent\\":1","structuredContent":[ 1 ]}}', "[ 1 ]"),
        ('{"result":{"x":{"structuredContent":2},"structuredContent":[ 1 ]}}', "[ 1 ]"),
        ('{"result":{"structured\\u0043ontent":{"a" :1.50e1}}}', '{"a":15.0}'),
    ],
)
def test_structure_is_kept_as_it_is_spelled_but_where_its_name_is_spelled_otherwise(line: str, kept: str) -> None:
    result = read_result(json.loads(line)["result"])
    assert result
    (part,) = parts_of(result, line.encode())
    assert b"".join(part.block.chunks).decode() == kept
