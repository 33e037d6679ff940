"""Answers that are one short text, read in one go."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.doors.proxy.relay import _message
from sightline.doors.proxy.results import read_result, told
from sightline.doors.proxy.short import one_text
from sightline.doors.proxy.spans import parse


def answer(**result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "result": result}).encode() + b"\n"


TEXT = {"type": "text", "text": "a\nb"}


def test_the_id_and_the_text_of_one_text_are_told() -> None:
    for more in ({}, {"isError": False}, {"_meta": {"id": 8}}):
        assert one_text(answer(content=[TEXT], **more)) == (7, "a\nb")
    assert one_text(answer(content=[TEXT]).rstrip()) == (7, "a\nb")


@given(st.text())
def test_it_is_the_text_that_reading_closely_tells(text: str) -> None:
    for ascii_only in (True, False):
        message = {"id": "x", "result": {"content": [{"text": text, "type": "text"}]}}
        line = json.dumps(message, ensure_ascii=ascii_only).encode(errors="surrogatepass")
        span = parse(line.decode(), _message)["result"]
        result = read_result(line.decode(), span)
        assert result is not None
        assert one_text(line) == ("x", told(result)) == ("x", text)


@pytest.mark.parametrize(
    "line",
    [
        answer(content=[]),
        answer(content=[TEXT, TEXT]),
        answer(content=[{"type": "image", "data": "", "mimeType": "image/png"}]),
        answer(content=[{"type": "resource_link", "text": "a"}]),
        answer(content=[{"type": "text", "text": 3}]),
        answer(content=["text"]),
        answer(content=TEXT),
        answer(content=[TEXT], structuredContent={"a": 1}),
        answer(tools=[]),
        b'{"id":7,"error":{"code":1,"message":"no"}}\n',
        b'{"id":7,"method":"x","result":{"content":[{"type":"text","text":"a"}]}}\n',
        b'{"result":{"content":[{"type":"text","text":"a"}]}}\n',
        b'[{"id":7,"result":{"content":[{"type":"text","text":"a"}]}}]\n',
        b'{"id":7,"result":{"content":[{"type":"text","text":"a"}]}} x\n',
        b'{"id":7,"result":{"content":[{"type":"text","text":"a"}]}\n',
        b'{"id":7,"result":null}\n',
        b"null\n",
        b"\xff\n",
        b"",
    ],
)
def test_any_other_line_is_left_to_who_reads_closely(line: bytes) -> None:
    assert one_text(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":7,"id":8,"result":{"content":[{"type":"text","text":"a"}]}}\n',
        b'{"id":7,"result":{"content":[]},"result":{"content":[{"type":"text","text":"a"}]}}\n',
        b'{"id":7,"result":{"content":[{"type":"text","text":"a","te\\u0078t":"b"}]}}\n',
    ],
)
def test_so_is_one_with_a_key_that_stands_twice_since_readers_may_differ_on_it(line: bytes) -> None:
    assert one_text(line) is None
