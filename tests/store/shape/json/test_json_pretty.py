"""JSON as lines: the same data, one thing a line, however it comes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.json import pretty as json_pretty
from sightline.shape.json.pretty import pretty
from tests.store.shape.json.json_kit import SPELLED, texts, unhurried


def made(data: bytes, step: int = 1 << 16) -> bytes:
    return b"".join(pretty(data[at : at + step] for at in range(0, len(data), step)))


@unhurried
@given(texts())
def test_pretty_json_says_the_same_in_the_layout_of_json_dumps(data: bytes) -> None:
    text = made(data).decode(errors="surrogatepass")
    value = json.loads(data.decode(errors="surrogatepass"))
    assert json.loads(text) == value
    layout = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    assert text.count("\n") == layout.count("\n")
    assert [len(line) - len(line.lstrip(" ")) for line in text.split("\n")] == [
        len(line) - len(line.lstrip(" ")) for line in layout.split("\n")
    ]


@unhurried
@given(texts(), st.integers(1, 50))
def test_pretty_json_is_the_same_however_it_is_cut(data: bytes, step: int) -> None:
    assert made(data, step) == made(data)


def test_a_long_string_may_be_cut_anywhere() -> None:
    data = json.dumps({"text": "é\U0001f680\x07\\u1234" * 20_000, "n": [1]}).encode()
    whole = made(data, len(data))
    assert json.loads(whole) == json.loads(data)
    assert {made(data, step) for step in (997, 4096, 1 << 16)} == {whole}


@unhurried
@given(st.lists(SPELLED, max_size=4), st.sampled_from([",", " ,", "\n , "]), st.integers(1, 40))
def test_long_strings_mean_the_same_wherever_they_are_cut(strings: list[str], comma: str, step: int) -> None:
    data = "[" + comma.join(f'"{text}"' for text in strings) + "]"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_pretty, "LONG_STRING_BYTES", 2)
        assert json.loads(made(data.encode(), step).decode(errors="surrogatepass")) == json.loads(data)


def test_numbers_keys_and_their_order_stay_as_they_are() -> None:
    data = b'\xef\xbb\xbf{"b":1.50,"a":1e999,"b":-0.0E+5,"n":' + b"9" * 9000 + b"}"
    assert made(data) == b'{\n  "b": 1.50,\n  "a": 1e999,\n  "b": -0.0E+5,\n  "n": ' + b"9" * 9000 + b"\n}\n"


def test_escapes_become_what_they_stand_for_where_that_can_be_read() -> None:
    data = rb'["\u00e9\/\ud83d\ude80", "\u001b\u0085\u0022\ud800\n", "\\u00e9"]'
    assert made(data).decode() == '[\n  "é/🚀",\n  "\\u001b\\u0085\\u0022\\ud800\\n",\n  "\\\\u00e9"\n]\n'


def test_thousands_of_levels_do_not_make_megabytes_of_spaces() -> None:
    data = b"[" * 5000 + b"]" * 5000
    assert len(made(data)) < 1_500_000
    assert made(b"[[],{}]") == b"[\n  [],\n  {}\n]\n"
