"""What is shown of JSON: within its budget, of its own lines, with true counts."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.profile import Sampling
from sightline.shape.clean import clean_text
from sightline.shape.json.pretty import pretty
from sightline.shape.json.result import shape_result
from sightline.shape.json.sample import Sample, sample
from sightline.shape.json.tree import read_document
from sightline.shape.markers import CLIPPED, MARKER
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import join_segments, render_lines, shown_ranges
from tests.store.shape.json.json_kit import lines_of_json, texts, unhurried

REF = "@tool_a1b2c3.0"
SAMPLING = Sampling()
BUDGETS = st.one_of(st.integers(0, 300), st.integers(300, 3000), st.integers(3000, 20_000))
GAP = re.compile(
    r"\[… ([\d,]+) (?:more )?(items?|keys?|lines?) elided: @tool_a1b2c3\.0(?::(\d+)(?:-(\d+))?| \$\S*) …\]"
)


def sampled(data: bytes, room: int, sampling: Sampling = SAMPLING) -> Sample:
    source = BytesSource(data, REF)
    document = read_document(source, sampling)
    assert document
    return sample(document, source, room, sampling)


def body_of(made: Sample) -> str:
    return join_segments(made.body.segments)


def is_one_line(data: bytes) -> bool:
    return b"\n" not in data.strip()


documents = st.one_of(texts(), texts().map(lambda data: b"".join(pretty([data]))), lines_of_json())


@unhurried
@given(documents, BUDGETS)
def test_a_sample_keeps_to_its_budget(data: bytes, room: int) -> None:
    smallest = len(f"[… 1,000 lines elided: {REF}:1-1000 …]\n".encode())
    assert len(body_of(sampled(data, room)).encode()) <= max(room, smallest)


@unhurried
@given(documents.filter(lambda data: not is_one_line(data)), BUDGETS)
def test_every_line_of_a_sample_is_the_texts_or_a_marker(data: bytes, room: int) -> None:
    known = {"", *clean_text(data).split("\n")}
    for line in body_of(sampled(data, room)).split("\n"):
        if line in known or re.fullmatch(MARKER, line):
            continue
        cut = re.search(CLIPPED, line)
        assert cut, line
        head, tail = line[: cut.start()], line[cut.end() :]
        assert any(text.startswith(head) and text.endswith(tail) for text in known)


@unhurried
@given(documents.filter(lambda data: not is_one_line(data)), BUDGETS)
def test_shown_and_elided_lines_of_a_sample_make_up_the_whole(data: bytes, room: int) -> None:
    made = sampled(data, room)
    spans = [(first, last) for _, first, last in shown_ranges(made.body.segments)]
    gaps = [match for segment in made.body.segments if (match := GAP.fullmatch(segment.text.rstrip("\n")))]
    spans += [(int(match[3]), int(match[4] or match[3])) for match in gaps]
    following = 1
    for first, last in sorted(spans):
        assert first == following
        following = last + 1
    source = BytesSource(data, REF)
    assert following == source.line_count + 1
    assert made.body.shown == sum(last - first + 1 for _, first, last in shown_ranges(made.body.segments))
    assert made.body.truncated == bool(gaps or re.search(CLIPPED, body_of(made)))
    for segment in made.body.segments:
        if segment.ref and not segment.partial:
            assert render_lines(source, segment.first, segment.last) == segment.text


@unhurried
@given(documents, BUDGETS)
def test_the_same_text_makes_the_same_sample(data: bytes, room: int) -> None:
    assert sampled(data, room) == sampled(data, room)


@unhurried
@given(st.integers(6, 400), st.sampled_from([2, None]), BUDGETS)
def test_items_shown_and_items_elided_are_all_items(count: int, indent: int | None, room: int) -> None:
    data = json.dumps([{"id": n, "text": "x" * 20} for n in range(count)], indent=indent).encode()
    body = body_of(sampled(data, room))
    elided = sum(int(match[1].replace(",", "")) for match in GAP.finditer(body) if match[2].startswith("item"))
    shown = len(re.findall(r"^  \{", body, re.MULTILINE)) if "[\n" in body else count
    if not re.search("lines? elided", body):
        assert shown + elided == count


@unhurried
@given(texts().filter(is_one_line), BUDGETS)
def test_a_text_on_one_line_is_sampled_as_pretty_lines_of_it(data: bytes, room: int) -> None:
    made = sampled(data, room)
    for segment in made.body.segments:
        if segment.ref:
            assert (segment.first, segment.last, segment.partial) == (1, 1, True)
        else:
            assert re.fullmatch(MARKER, segment.text.rstrip("\n"))
    if room >= 8000 and "elided" not in body_of(made):
        assert _loads(body_of(made)) == _loads(data.decode(errors="replace"))


def _loads(text: str) -> object:
    """Numbers as they are written: a float that is read and written may differ."""
    return json.loads(text, parse_float=str)


def test_a_long_array_shows_five_elements_and_says_how_many_more() -> None:
    data = json.dumps({"rows": [{"id": n} for n in range(2000)], "ok": True}, indent=2).encode()
    body = body_of(sampled(data, 8192))
    assert '      "id": 4\n' in body
    assert '"id": 5' not in body
    assert "[… 1,995 more items elided: @tool_a1b2c3.0:18-6002 …]\n  ],\n" in body
    assert body.endswith('  "ok": true\n}')


def test_an_array_is_not_cut_where_that_saves_nothing() -> None:
    data = json.dumps({"small": [1, 2, 3, 4, 5, 6], "large": list(range(5000))}, indent=2).encode()
    body = body_of(sampled(data, 8192))
    assert "    6\n" in body
    assert "4,995 more items" in body


@pytest.mark.parametrize("indent", [2, None])
def test_a_long_string_shows_its_two_ends(indent: int | None) -> None:
    text = "a" * 5000 + "z" * 5000
    body = body_of(sampled(json.dumps({"text": text, "n": 1}, indent=indent).encode(), 8192))
    cut = re.search(CLIPPED, body)
    assert cut
    assert "7,952 bytes of this string elided" in cut[0]
    assert body[: cut.start()].count("a") == 2048 * 70 // 100
    assert body[cut.end() :].count("z") == 2048 - 2048 * 70 // 100
    assert body.endswith('",\n  "n": 1\n}' + ("" if indent else "\n"))


@pytest.mark.parametrize("indent", [2, None])
def test_no_string_is_cut_by_less_than_its_marker_takes(indent: int | None) -> None:
    for size in range(2040, 2300, 3):
        data = json.dumps({"text": "a" * size, "rows": [{"id": n} for n in range(900)]}, indent=indent).encode()
        body = body_of(sampled(data, 8192))
        line = next(line for line in body.split("\n") if '"text"' in line)
        assert len(line.encode()) <= len(f'  "text": "{"a" * size}",')
        place = ":1" if indent else " $.text"
        marker = f"[… 54 bytes of this string elided: {REF}{place} …]"
        assert ("a" * size in line) == (size < 2048 + len(marker.encode()) + 24)


@pytest.mark.parametrize("unit", ["é", "日", "🚀", '\\"', "\\u00e9", "\\\\", "a\\n"])
def test_no_character_and_no_escape_is_split(unit: str) -> None:
    for room in range(8000, 8004):
        data = f'{{"text": "{"x" * (room % 7)}{unit * 3000}", "n": [\n]}}'.encode()
        body = body_of(sampled(data, room, Sampling(string_bytes=500 + room % 11)))
        cut = re.search(CLIPPED, body)
        assert cut
        assert "�" not in body
        for part in (body[body.index('"text": "') + 9 : cut.start()], body[cut.end() : body.index('", "n"')]):
            json.loads(f'"{part}"')


def test_deep_nesting_is_counted_not_shown() -> None:
    data = json.dumps([[[[[[[[[[1, 2, 3], "x" * 90]]]]]]]]], indent=2).encode()
    body = body_of(sampled(data, 8192))
    assert "[… 2 items elided: @tool_a1b2c3.0:9-14 …]" in body or "items elided" in body
    assert max(len(line) - len(line.lstrip()) for line in body.splitlines()) <= 16


def test_a_large_object_shows_its_first_keys() -> None:
    data = json.dumps({f"k{n}": n for n in range(2000)}, indent=2).encode()
    body = body_of(sampled(data, 1024))
    assert body.startswith('{\n  "k0": 0,\n')
    assert re.search(r"\[… 1,\d{3} more keys elided: @tool_a1b2c3\.0:\d+-2001 …\]\n\}$", body)


def test_elements_that_share_lines_are_counted_as_lines() -> None:
    data = ("[" + ",\n".join("1, 2, 3" for _ in range(500)) + "]").encode()
    body = body_of(sampled(data, 1024))
    assert "items elided" not in body
    assert "lines elided" in body


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([{"id": n, "x": "y" * 20} for n in range(300)], "$[5]"),
        ({"a b": {"rows": [f"row {n}" for n in range(900)]}}, "$[a b].rows[5]"),
        ({'a "b"': {"rows": [f"row {n}" for n in range(900)]}}, "$"),
        ({"items": [{"tags": ["t" * 20 for _ in range(90)]}]}, "$.items[0].tags[5]"),
        ({"few": [1, 2, 3, 4, 5, 6], "rows": [f"row {n}" for n in range(900)]}, "$.rows[5]"),
        ([[1, 2, 3, 4, 5, 6], *(f"row {n}" for n in range(900))], "$[5]"),
    ],
)
def test_the_path_of_what_is_missing_first_is_told(value: object, path: str) -> None:
    for indent in (2, None):
        assert sampled(json.dumps(value, indent=indent).encode(), 2000).path == path


def test_json_lines_show_their_first_ones() -> None:
    data = b"".join(json.dumps({"id": n, "text": "x" * 40}).encode() + b"\n" for n in range(300))
    body = body_of(sampled(data, 8192))
    assert body.count('"id"') == 5
    assert body.endswith("[… 295 more items elided: @tool_a1b2c3.0:6-300 …]\n")


def test_without_a_ref_markers_name_lines_alone() -> None:
    source = BytesSource(json.dumps(list(range(5000)), indent=1).encode())
    document = read_document(source, SAMPLING)
    assert document
    written = sample(document, source, 500, SAMPLING).body
    assert "[… 4,995 more items elided: lines 7-5001 …]" in join_segments(written.segments)
    assert all(not segment.ref for segment in written.segments)


@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize("end", ["Done in 3 s\n", "200", "\nfirst\nsecond\n"])
def test_text_after_json_is_shown_and_the_json_described(indent: int | None, end: str) -> None:
    data = json.dumps({"items": [{"id": n, "v": float("nan")} for n in range(3000)]}, indent=indent) + "\n" + end
    source = BytesSource(data.encode(), REF)
    made = shape_result(source, budget=2048)
    assert made
    body = join_segments(made.shaped.segments)
    assert made.description.startswith("{items}, then ")
    assert body.endswith(end)
    assert "NaN" in body
    assert "2,995 more items elided" in body
    assert len(body.encode()) <= 2048
    assert made.shaped.out_shown == sum(last - first + 1 for _, first, last in shown_ranges(made.shaped.segments))


def test_text_that_is_not_after_json_is_no_json() -> None:
    data = json.dumps({"items": list(range(3000))}) + "\n" + "more text\n" * 9
    assert shape_result(BytesSource(data.encode(), REF), budget=2048) is None
