"""What a profile may say of JSON: what null is called, whether element one speaks for all, how size is counted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.profile import Sampling
from sightline.shape.json.schema import describe
from sightline.shape.json.strings import string_text, text_size
from sightline.shape.json.tree import read_document
from sightline.shape.memory_stream import BytesSource

FIRST = Sampling(null_name="object", mark_mixed=False)


def described(value: object, sampling: Sampling) -> str:
    source = BytesSource(json.dumps(value).encode())
    return describe(read_document(source, sampling), source, sampling)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "object"),
        ([None], "[object] (1 items)"),
        ([None, 1], "[object] (2 items)"),
        ([{"id": 1, "note": ""}, {"id": 2}], "[{id, note}] (2 items)"),
        ([{"id": 1}, None], "[{id}] (2 items)"),
        (["a", 1], "[string] (2 items)"),
        ([], "[]"),
        ([[1], 2], "[array] (2 items)"),
    ],
)
def test_the_first_element_speaks_for_all_where_the_profile_says_so(value: object, told: str) -> None:
    assert described(value, FIRST) == told


def test_the_first_line_speaks_for_all_lines() -> None:
    source = BytesSource(b'\n{"a": 1}\n{"b": 2}\n')
    assert describe(read_document(source, FIRST), source, FIRST) == "JSON lines: {a} (2 lines)"


def test_null_keeps_its_name_where_elements_differ() -> None:
    assert described([{"a": 1}, None], Sampling(null_name="nothing")) == "[{a} | nothing] (2 items)"
    assert described([{"a": 1}, None], Sampling()) == "[{a} | null] (2 items)"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 5), st.booleans())
def test_a_text_is_counted_in_the_unit_asked_for_however_it_is_cut(text: str, step: int, ascii_only: bool) -> None:
    data = text.encode()
    chunks = [data[at : at + step] for at in range(0, len(data), step)]
    assert text_size(chunks, "bytes") == len(data)
    assert text_size(chunks, "utf-16") == len(text.encode("utf-16-le")) // 2
    written = json.dumps(text, ensure_ascii=ascii_only).encode()
    size = text_size(string_text(BytesSource(written), 0, len(written)), "utf-16")
    assert size == len(text.encode("utf-16-le")) // 2 <= len(written) - 2
