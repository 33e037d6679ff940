"""Long answers that may not be kept pass as they come, and are logged for the call that they answer."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.doors.proxy.calls import LongLine
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from tests.store.doors.proxy.proxy_kit import Client, answer, text_result

NUMBERS = st.integers(-5, 10**12) | st.text(max_size=8)
INNER: st.SearchStrategy[Any] = st.recursive(
    NUMBERS | st.sampled_from(['"id":7}', '{"result":1,"id":7}', "\\"]),
    lambda inner: st.dictionaries(st.sampled_from(["id", "result", "jsonrpc", "x"]), inner, max_size=3),
    max_leaves=6,
)


def read_in_pieces(line: bytes, cuts: list[int]) -> tuple[LongLine, bytes]:
    """The line, read to its end, and all of it that was handed on."""
    places = [0, *sorted(cut % len(line) for cut in cuts if cut % len(line) > 400), len(line)]
    reading = LongLine(iter([line[start:end] for start, end in pairwise(places)]))
    return reading, b"".join(reading.all_but_the_last()) + reading.last


@given(NUMBERS, INNER, st.permutations(["jsonrpc", "id", "result"]), st.lists(st.integers(0)), st.booleans())
def test_the_id_of_an_answer_is_found_in_any_order(
    number: Any, inner: Any, order: list[str], cuts: list[int], spaced: bool
) -> None:
    members = {"jsonrpc": "2.0", "id": number, "result": {"a": inner, "text": '"id":7}' * 500, "z": inner}}
    text = json.dumps({name: members[name] for name in order}, separators=None if spaced else (",", ":"))
    line = text.encode() + b"\r\n"
    reading, passed = read_in_pieces(line, cuts)
    assert (reading.answered(), passed, reading.size) == (number, line, len(line))


@given(NUMBERS, INNER, st.permutations(["jsonrpc", "id", "method", "params"]))
def test_no_request_is_taken_for_an_answer(number: Any, inner: Any, order: list[str]) -> None:
    members = {"jsonrpc": "2.0", "id": number, "method": "sampling/createMessage", "params": {"a": inner}}
    reading, _ = read_in_pieces(json.dumps({name: members[name] for name in order}).encode() + b"\n", [])
    assert reading.answered() is None


def test_a_long_answer_of_a_tool_that_is_not_kept_passes_and_is_logged(client: Callable[..., Client]) -> None:
    through = client("--session", "mine", "--only", "other")
    notification = '{"jsonrpc":"2.0","method":"vendor/else","params":{"x":"' + "y" * 100_000 + '"}}\n'
    sent = answer(text_result("a line\n" * 30_000))
    number = through.request("tools/call", notification, sent, name="big", arguments={"a": 1})
    assert through.read() == notification.encode()
    passed = through.read()
    assert passed == sent.replace("$ID", str(number)).encode()
    assert through.call(text_result("short"), tool="big") == text_result("short")
    through.close()
    with through.store() as store:
        short, long = list_views(store, session="mine")
        texts = [view_text(store, one) for one in (long, short)]
    assert texts == [f"[{len(passed):,} bytes, passed on as they came]\n", "short"]
    assert long.view.bytes_total == len(passed)
    assert json.loads(long.view.request)["arguments"] == {"a": 1}


def test_an_answer_that_cannot_be_read_passes_and_is_logged_and_nothing_waits_for_it(
    client: Callable[..., Client],
) -> None:
    through = client("--session", "mine")
    unread = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"a"}],"n":' + "9" * 5_000 + "}}\n"
    passed = through.ask("tools/call", unread, name="big", arguments={})
    assert passed == unread.replace("$ID", "1").encode()
    assert "@tool_" in through.call(text_result("a line\n" * 3_000))["content"][0]["text"]
    through.close()
    with through.store() as store:
        texts = [view_text(store, one) for one in list_views(store, session="mine")]
    assert texts[1:] == [f"[{len(passed):,} bytes, passed on as they came]\n"]


@pytest.mark.parametrize("end", [b'"id":7}', b'{"id":7', b"", b'"x":{"id":7}}\n'])
def test_an_answer_that_breaks_off_answers_nothing(end: bytes) -> None:
    reading, _ = read_in_pieces(b'{"jsonrpc":"2.0","result":{"text":"' + b"x" * 2_000 + end, [1_000])
    assert reading.answered() is None
