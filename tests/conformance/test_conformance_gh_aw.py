"""Cases of gh-aw (K): large fields, their files, and what is said of them."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from sightline.disk.recovery import stream_files
from sightline.doors.doctor.doctor import examine

PROFILE = "gh-aw"


def test_k11_what_is_cut_lies_in_a_file_named_by_its_content(agent: Any) -> None:
    one, two = (json.dumps({f"key{number}": letter * 9 for number in range(1000)}).encode() for letter in "ab")
    names = []
    for data in (one, one, two):
        fields = agent.say(data).fields
        path = Path(fields["full_output"])
        assert fields["output_files"] == [str(path)]
        assert json.loads(path.read_bytes()) == json.loads(data)
        assert path.name == fields["filename"] == hashlib.sha256(data).hexdigest() + ".json"
        names.append(path.name)
    assert names[0] == names[1] != names[2]


def test_k11_the_second_name_is_no_stream_and_goes_with_the_buffer(agent: Any) -> None:
    fields = agent.say(b"x" * 9000).fields
    buffer = agent.store.resolve("@last").buffer
    assert [stream for stream, _ in stream_files(agent.store.layout, buffer.name)] == ["out"]
    assert not [finding for finding in examine(agent.store, rebuild=True) if finding[0] == "problem"]
    assert agent.store.remove(buffer, "removed")
    assert not Path(fields["full_output"]).exists()


# K: large fields, and what they are said to be

ROWS = [{"id": n, "name": f"Item {n}", "data": "X" * 30} for n in range(2000)]
GOLDEN = "bb28168fe5604623b804546db0e8c90eaf9e8dcd0f418761787d5159198b4fd8.json"


def _names(reply: Any) -> list[str]:
    return [Path(path).name for path in reply.fields["output_files"]]


def _name_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest() + ".json"


@pytest.mark.parametrize("letter", ["x", "é", "你"])
def test_k02_a_field_of_64_001_utf_16_units_is_large_and_one_less_is_not(agent: Any, letter: str) -> None:
    for units, files in ((64_000, 1), (64_001, 2)):
        reply = agent.result({"body": letter * units})
        assert len(_names(reply)) == files
        assert (f"{agent.newest.ref}.1, text content …]" in reply.text) == (files == 2)
    assert len(_names(agent.result({"body": "😀" * 32_000}))) == 1
    assert len(_names(agent.result({"body": "😀" * 32_001}))) == 2


def test_k04_two_thousand_objects_have_their_name_and_description(agent: Any) -> None:
    data = json.dumps(ROWS, indent=2).encode()
    assert len(data) == 187_782
    reply = agent.result(data)
    assert reply.fields["description"] == "[{id, name, data}] (2000 items)"
    assert _names(reply) == [GOLDEN]
    assert Path(reply.fields["full_output"]).read_bytes() == data
    assert agent.say(data).fields["description"] == "[{id, name, data}] (2000 items)"


def test_k04_in_a_field_they_have_the_same_name(agent: Any) -> None:
    data = json.dumps(ROWS, indent=2).encode()
    reply = agent.result({"title": "t", "body": data.decode()})
    assert _names(reply)[1:] == [GOLDEN]
    assert reply.fields["filename"] == GOLDEN
    assert (
        f"187,782 bytes of this string elided: {agent.newest.ref}.1, [{{id, name, data}}] (2000 items) …]" in reply.text
    )
    assert agent.raw(f"{agent.newest.ref}.1") == data


def test_k05_even_plain_text_is_named_json_and_described_as_text(agent: Any) -> None:
    body = "".join(f"## Section {n}\n\n{'word ' * 240}\n\n" for n in range(1000)).encode()
    reply = agent.result(body)
    assert len(body) > 1_200_000
    assert (_names(reply), reply.fields["description"]) == ([_name_of(body)], "text content")
    assert _names(agent.result({"body": body.decode()}))[1:] == [_name_of(body)]


def test_k07_a_large_field_is_replaced_and_a_short_one_stays(agent: Any) -> None:
    reply = agent.result({"title": "short", "body": "x" * 70_000})
    assert reply.text == (
        '{\n  "title": "short",\n'
        f'  "body": "[… 70,000 bytes of this string elided: {agent.newest.ref}.1, text content …]"\n}}\n'
    )
    assert _names(reply)[1:] == [_name_of(b"x" * 70_000)]
    assert json.loads(agent.raw(agent.newest.ref)) == {"title": "short", "body": "x" * 70_000}


def test_k08_every_large_field_is_replaced_not_only_the_first(agent: Any) -> None:
    reply = agent.result({"one": "x" * 70_000, "small": 1, "two": "y" * 70_001})
    ref = agent.newest.ref
    assert f'"one": "[… 70,000 bytes of this string elided: {ref}.1, text content …]"' in reply.text
    assert f'"two": "[… 70,001 bytes of this string elided: {ref}.2, text content …]"' in reply.text
    assert (agent.raw(f"{ref}.1"), agent.raw(f"{ref}.2")) == (b"x" * 70_000, b"y" * 70_001)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({f"k{n}": 1 for n in range(10)}, "{k0, k1, k2, k3, k4, k5, k6, k7, k8, k9}"),
        ({f"k{n}": 1 for n in range(11)}, "{k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, ...} (11 keys)"),
        ([{f"k{n}": 1 for n in range(15)}], "[{" + ", ".join(f"k{n}" for n in range(15)) + "}] (1 items)"),
        ([None], "[object] (1 items)"),
        (None, "object"),
    ],
)
def test_k10_descriptions(agent: Any, value: object, told: str) -> None:
    agent.result({"value": value})
    assert agent.read(agent.newest.ref, path="$.value").fields["description"] == told


@pytest.mark.parametrize("agent", ["gh-aw", "sightline"], indirect=True)
def test_k14_skeleton(agent: Any) -> None:
    agent.result({"name": "t", "count": 42, "items": [{"id": 1}], "none": [], "nothing": None})
    assert json.loads(agent.read(agent.newest.ref, schema=True).text) == {
        "name": "string",
        "count": "number",
        "items": [{"id": "number"}],
        "none": [],
        "nothing": "null",
    }


@pytest.mark.parametrize("agent", ["sightline"], indirect=True)
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"a": 1}\n{"a": 2, "b": 3}\n' * 600, "JSON lines: {a, b?} (1200 lines)"),
        (json.dumps([1, "a", None, {"x": 1}] * 500).encode(), "[{x} | string | number | null] (2000 items)"),
        (json.dumps([None] * 3000).encode(), "[null] (3000 items)"),
    ],
)
def test_k16_lines_mixed_arrays_and_null_are_told_and_the_reply_has_a_ref(agent: Any, data: bytes, told: str) -> None:
    reply = agent.result(data)
    assert reply.fields["description"] == told
    assert agent.raw(reply.fields["output_id"]) == data
