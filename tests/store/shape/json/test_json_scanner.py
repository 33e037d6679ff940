"""Stepping through JSON: the same that json.loads finds, wherever the windows fall."""

import json
import json.decoder
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.profile import Sampling
from sightline.shape.json import scanner as json_scan
from sightline.shape.json.scanner import DEPTH_LIMIT, NotJson, Scanner
from sightline.shape.json.schema import describe
from sightline.shape.json.tree import read_document
from sightline.shape.memory_stream import BytesSource
from tests.each import each
from tests.store.shape.json.json_kit import SPELLED, VALUES, lines_of_json, texts, unhurried, written

WINDOWS = st.one_of(st.integers(1, 40), st.sampled_from([64, 300, 1 << 17]))


def accepts(data: bytes, window: int = 1 << 17) -> bool:
    scanner = Scanner(BytesSource(data), window)
    try:
        return scanner.space(scanner.value_end(scanner.start())) == len(data)
    except NotJson:
        return False


def loads(text: str) -> Any:
    def refuse(name: str) -> None:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


NOT_IN_STRINGS = st.sampled_from(["", '"', "\\q", "\\u12", "\\u12g4", "\\", "\n", "\x01"])


@unhurried
@given(SPELLED, NOT_IN_STRINGS, SPELLED, st.sampled_from(['"', '",', ""]), WINDOWS)
def test_a_string_ends_where_json_says(before: str, among: str, after: str, end: str, window: int) -> None:
    data = f'"{before}{among}{after}{end}'.encode()
    try:
        expected = json.decoder.scanstring(data.decode("latin-1"), 1)[1]
    except ValueError:
        with pytest.raises(NotJson):
            Scanner(BytesSource(data), window).value_end(0)
    else:
        assert Scanner(BytesSource(data), window).value_end(0) == expected


@unhurried
@given(texts(), WINDOWS)
def test_a_value_ends_where_it_ends(data: bytes, window: int) -> None:
    assert accepts(data, window)
    assert not accepts(data.rstrip()[:-1], window)


@unhurried
@given(texts(), st.data(), WINDOWS)
def test_a_damaged_text_is_json_just_where_json_loads_takes_it(data: bytes, draws: st.DataObject, window: int) -> None:
    at = draws.draw(st.integers(0, len(data)))
    damage = draws.draw(st.sampled_from([b"", b",", b"]", b"}", b'"', b"\\", b"1", b"-", b"e", b" ", b"\n", b"\x00"]))
    cut = data[:at] + damage + data[at + draws.draw(st.integers(0, 2)) :]
    try:
        loads(cut.decode("latin-1"))
        expected = True
    except ValueError:
        expected = False
    assert accepts(cut, window) == expected


@unhurried
@given(st.lists(VALUES, min_size=1, max_size=20), st.sampled_from([{}, {"indent": 1}]), WINDOWS)
def test_children_are_counted_and_elements_found(values: list[Any], style: dict[str, Any], window: int) -> None:
    data = written(values, style)
    scanner = Scanner(BytesSource(data), window)
    _, first = scanner.opened(scanner.start())
    assert scanner.rest(first, "]") == (len(values), len(data))
    for index, value in enumerate(values):
        start = scanner.elements(first, index)
        found = scanner.raw(start, scanner.value_end(start))
        assert json.loads(found.decode(errors="surrogatepass")) == value


@pytest.mark.parametrize("window", [5, 64, 1 << 17])
def test_elements_are_found_in_long_arrays(window: int) -> None:
    data = json.dumps([{"n": n} for n in range(500)]).encode()
    scanner = Scanner(BytesSource(data), window)
    _, first = scanner.opened(0)
    start = scanner.elements(first, 431)
    assert scanner.raw(start, scanner.value_end(start)) == b'{"n": 431}'


@each(
    "text",
    ["", "[1,]", "[,1]", "[1 2]", '{"a"}', '{"a":}', "{a:1}", "[01]", "[1.]", "[.5]", "[+1]", "[NAN]", "[-NaN]",
     "nul", '["\t"]', '["\\x"]', '["\\u12"]', "[1]]", "[1}", "{]", '{"a":1,}', "['a']", "[1] [2]"],
)  # fmt: skip
@each("window", [1, 2, 3, 1 << 17])
def test_what_is_no_json_is_refused(text: str, window: int) -> None:
    assert not accepts(text.encode(), window)


@each("text", ["[NaN]", "[-Infinity, Infinity]", '{"a": NaN, "b": [1, NaN]}'])
@each("window", [1, 2, 3, 1 << 17])
def test_numbers_that_pythons_json_writes_are_taken(text: str, window: int) -> None:
    assert accepts(text.encode(), window)


@pytest.mark.parametrize("window", [64, 1 << 17])
def test_what_json_loads_stumbles_over_is_survived(window: int) -> None:
    digits = b"9" * 10_000
    assert accepts(b'[1e999, -0.0E+05, %s, "\\ud800", {"a":1,"a":2}]' % digits, window)
    assert accepts(b"[" * 5000 + b"]" * 5000, window)
    assert accepts(b'{"a":' * 3000 + b"1" + b"}" * 3000, window)


def test_endless_nesting_is_given_up() -> None:
    depth = 2 * DEPTH_LIMIT
    assert not accepts(b"[" * depth + b"]" * depth)
    assert not accepts(b"[" * 2_000_000)


def test_a_byte_order_mark_stands_before_json() -> None:
    assert accepts('﻿ {"a": 1}'.encode())


@unhurried
@given(lines_of_json(), WINDOWS)
def test_json_lines_are_counted(data: bytes, window: int) -> None:
    document = read_document(BytesSource(data), Sampling(), window)
    assert document
    assert document.root.kind == "lines"
    assert document.root.total == len(data.splitlines())
    assert document.several == 0


MARK = "7777777777777777"
FORGED = [
    '{"a":[{}\n{}]}\n{},MARK,{}\n'.replace("MARK", mark) for mark in ("0", MARK, MARK + ".0", "7.777777777777777e15")
]


@pytest.mark.parametrize("text", ["1\n2\n", "[1]\nx\n", "[1] [2]\n", '{"a":1}\n7\n', "[1\n2]\n3", "[1\n[2]", *FORGED])
def test_lines_of_anything_else_are_text(text: str) -> None:
    text += "[]\n" * 90  # so that what follows the first values is leapt over
    for window in (1, 7, 1 << 17):
        assert read_document(BytesSource(("[]\n" * 40 + text).encode()), Sampling(), window) is None
        assert read_document(BytesSource(text.encode()), Sampling(), window) is None


def test_values_over_several_lines_may_follow_each_other() -> None:
    document = read_document(BytesSource(b'{\n"a": 1\n}\n{\n"a": 2\n}\n' * 50), Sampling())
    assert document
    assert (document.root.total, document.several) == (100, 100)


@unhurried
@given(texts(), WINDOWS)
def test_the_document_is_the_same_wherever_windows_fall(data: bytes, window: int) -> None:
    source = BytesSource(data)
    one, other = (read_document(source, Sampling(), size) for size in (window, 1 << 17))
    assert one
    assert other
    assert one.root == other.root
    assert describe(one, source) == describe(other, source)


@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_how_deep_it_may_be_nested_does_not_depend_on_what_the_c_scanner_takes(
    monkeypatch: pytest.MonkeyPatch, pair: str
) -> None:
    def takes_all(text: str, at: int) -> tuple[list[object], int]:
        return [], len(text)

    monkeypatch.setattr(json_scan, "scan", takes_all)
    opening, closing = ("[", "]") if pair == "[]" else ('{"a":', "}")
    depth = DEPTH_LIMIT + 100
    assert not accepts((opening * depth + "1" + closing * depth).encode())
    assert not accepts(f'["{"]" * depth}",{opening * depth}1{closing * depth}]'.encode())


def test_many_brackets_beside_each_other_or_in_strings_are_no_nesting() -> None:
    assert accepts(b"[" + b"[],{}," * 20_000 + b"[]]")
    assert accepts(b'["' + b"\\u001b[31m" * 40_000 + b'", {}]')
    assert accepts(b'["' + b"[" * 40_000 + b'", {}]')
