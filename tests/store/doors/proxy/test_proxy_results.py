"""A result with other content: the rest of it stays, and it is JSON still."""

import json

import pytest

from sightline.doors.proxy.results import read_result, rewritten
from sightline.doors.proxy.spans import Span, array_of, object_of, parse, plain

BLOCKS = [{"type": "text", "text": "a view"}]


@pytest.mark.parametrize("added", [{}, {"theirs": 2}, {"ours": 3}])
@pytest.mark.parametrize("theirs", ["", ',"_meta":{}', ',"_meta":{"theirs":1 }', ',"_meta":null'])
def test_its_meta_has_what_both_sides_say(theirs: str, added: dict[str, int]) -> None:
    text = f'{{"content":[]{theirs},"isError":true}}'
    result = read_result(text, Span(0, 0, len(text), parse(text, object_of(content=array_of(plain)))))
    assert result
    told = json.loads(rewritten(result, BLOCKS, added))
    assert told == {"content": BLOCKS, "isError": True, "_meta": (json.loads(text).get("_meta") or {}) | added}
