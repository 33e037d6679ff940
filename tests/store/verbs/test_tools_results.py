"""What an agent is shown of JSON, diffs and tools' results, and how it reads on."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import BadRef, SightlineError, UsageError
from sightline.base.records import Buffer
from sightline.capture.result import ResultBlock, capture_result
from sightline.shape.json.path import BadPath, NotFound
from sightline.verbs import read_file as files
from sightline.verbs.query import query
from sightline.verbs.reply import Reply
from sightline.verbs.requests import QueryRequest
from sightline.verbs.result_view import result_reply

ROWS = [{"id": n, "name": f"Item {n}", "data": "X" * 30} for n in range(2000)]


@pytest.fixture
def result(agent: Any) -> Callable[..., tuple[Buffer, Reply]]:
    """Captures a result and delivers the reply for it."""

    def made(*blocks: object, verbosity: str = "auto") -> tuple[Buffer, Reply]:
        given = [
            block
            if isinstance(block, ResultBlock)
            else ResultBlock([(block if isinstance(block, str) else json.dumps(block)).encode()])
            for block in blocks
        ]
        buffer = capture_result(agent.store, given, command="tool", cwd="/", session="s")
        assert isinstance(buffer, Buffer)
        reply = result_reply(agent.asking, buffer, verb="capture", request={}, verbosity=verbosity)
        return buffer, agent.deliver(reply)

    return made


def test_a_short_result_is_given_whole_without_a_ref(result: Any) -> None:
    _, reply = result({"ok": True})
    assert (reply.fields, reply.text, reply.missing) == ({}, '{"ok": true}', False)


def test_a_long_json_result_is_sampled_and_described(agent: Any, result: Any) -> None:
    buffer, reply = result({"rows": ROWS, "next": None})
    assert reply.fields == {
        "output_id": buffer.ref,
        "truncated": True,
        "lines": "30 of 10005",
        "total_bytes": buffer.bytes,
        "description": "{rows, next}",
        "next": f"sightline show {buffer.ref}.0 --path '$.rows[5]'",
    }
    assert f"[… 1,995 more items elided: {buffer.ref}.0:28-10002 …]" in reply.text
    assert agent.logged() == agent.told
    following = agent.follow(reply.fields["next"])
    assert json.loads(following.text) == ROWS[5]
    lines = agent.read(f"{buffer.ref}.0:28-32")
    assert lines.text == '    {\n      "id": 5,\n      "name": "Item 5",\n      "data": "' + "X" * 30 + '"\n    },\n'


def test_the_size_of_a_result_counts_its_fields_once(result: Any) -> None:
    whole = json.dumps({"title": "t", "body": "line of text\n" * 5000})
    _, reply = result(whole)
    assert reply.fields["total_bytes"] == len(whole)


def _ends(text: str, key: str) -> tuple[str, str, str]:
    """What stands in a view of the field of a key: its beginning, its marker and its end."""
    found = re.search(rf'"{key}": "(.*?)(\[… [^…]* of this string elided[^…]* …\])(.*)",?$', text, re.MULTILINE)
    assert found
    return found[1], found[2], found[3]


@pytest.mark.parametrize("lines", [5_000, 200_000])
def test_a_large_field_shows_both_its_ends_around_its_ref(agent: Any, result: Any, lines: int) -> None:
    whole = "".join(f"line {n} of text\n" for n in range(lines))
    buffer, reply = result({"title": "t", "body": whole, "n": 1})
    head, marker, tail = _ends(reply.text, "body")
    written = json.dumps(whole)[1:-1]
    assert written.startswith(head)
    assert written.endswith(tail)
    assert 1_300 < len(head) <= 1_433
    assert 500 < len(tail) <= 615
    elided = len(whole) - sum(len(json.loads(f'"{end}"')) for end in (head, tail))  # of text, not of its escapes
    assert marker == f"[… {elided:,} bytes of this string elided: {buffer.ref}.1 …]"
    assert agent.read(f"{buffer.ref}.1:3-3").text == "line 2 of text\n"
    agent.read(f"{buffer.ref}.1", lines="1-2")


def test_a_large_field_that_holds_json_is_described_where_it_stands(result: Any) -> None:
    buffer, reply = result(
        {"ok": True, "body": json.dumps(ROWS), "odd": json.dumps({"a… ]": "x" * 9_000}, ensure_ascii=False)}
    )
    assert f"elided: {buffer.ref}.1, [{{id, name, data}}] (2000 items) …]" in _ends(reply.text, "body")[1]
    assert f"elided: {buffer.ref}.2, {{a... ]}} …]" in _ends(reply.text, "odd")[1]


def test_large_fields_show_shorter_ends_or_their_refs_alone_where_there_is_little_room(result: Any) -> None:
    fields = {f"field{n}": f"{n}" * 9_000 for n in range(10)}
    buffer, reply = result(fields, verbosity="concise")
    assert len(reply.text.encode()) <= 2048
    for n in range(10):
        head, marker, tail = _ends(reply.text, f"field{n}")
        assert len(head) >= len(tail)
        assert f"{buffer.ref}.{n + 1} …]" in marker


def test_several_blocks_are_shown_in_order(result: Any) -> None:
    buffer, reply = result("some words\n" * 2000, ROWS, ResultBlock([b"\x89PNG" * 50], "image/png"))
    assert reply.text.startswith("[part 0]\nsome words\n")
    assert "\n[part 1]\n[\n  {\n" in reply.text
    assert reply.text.endswith(f"[part 2]\n[… 200 bytes of image/png: {buffer.ref}.2 …]\n")
    assert reply.fields["description"] == "text content; [{id, name, data}] (2000 items); image/png"
    assert len(reply.text.encode()) <= 8192


@pytest.mark.parametrize("verbosity", ["silent", "concise", "normal", "verbose", "full"])
def test_a_results_budget_is_that_of_its_verbosity(agent: Any, result: Any, verbosity: str) -> None:
    budget = {"silent": 200, "concise": 2048, "normal": 8192, "verbose": 16384, "full": 65536}[verbosity]
    long_keys = {"a_long_key_of_the_result_" * 3 + str(n): ROWS for n in range(12)}
    for value in (ROWS, long_keys, {"body": "text\n" * 9_000}):
        _, reply = result(value, verbosity=verbosity)
        assert len((agent.told if verbosity != "full" else reply.text).encode()) <= budget


def test_a_result_is_paged_and_searched_by_lines_and_kept_by_bytes(agent: Any, result: Any) -> None:
    buffer, _ = result({"rows": ROWS})
    page = agent.read(buffer.ref)
    assert page.text.startswith('{\n  "rows": [\n    {\n')
    assert page.fields["total_bytes"] == buffer.bytes
    assert agent.read(buffer.ref, search='"Item 1999"').text == '10000:      "name": "Item 1999",\n'
    assert agent.read(buffer.ref, offset=0, limit=9).text == '{"rows": '
    counted = query(agent.asking, QueryRequest(f"grep -c Item {buffer.ref}"))
    assert agent.deliver(counted).text == "2000\n"
    assert agent.run(f"wc -l < {buffer.ref}").text.strip() == "10004"


def test_a_path_gives_strings_raw_and_all_else_as_lines(agent: Any, result: Any) -> None:
    buffer, _ = result({"users": [{"name": "al\nice"}, {"name": "bob"}], "count": 1.50})
    assert agent.read(buffer.ref, path="$.users[0].name").text == "al\nice"
    assert agent.read(buffer.ref, path="$.count").text == "1.5\n"
    slice_ = agent.read(buffer.ref, path="$.users[-1:]")
    assert slice_.text == '[\n  {\n    "name": "bob"\n  }\n]\n'
    assert slice_.fields["description"] == "[{name}] (1 items)"
    root = agent.read(buffer.ref, path="$")
    assert json.loads(root.text)["count"] == 1.5
    assert root.fields["lines"] == "1-11"
    assert not root.missing


def test_a_large_value_is_given_in_part_and_the_next_call_goes_on(agent: Any, result: Any) -> None:
    buffer, _ = result({"rows": ROWS, "text": "word " * 20_000})
    reply = agent.read(buffer.ref, path="$.rows")
    assert reply.fields["truncated"]
    assert len(reply.text.encode()) <= 40_960
    shown = reply.text.count("\n")
    following = agent.follow(reply.fields["next"])
    with agent.store.open_text(agent.store.resolve(buffer.ref)) as source:
        lines = [line.data.decode().strip() for line in source.lines(3, 400 + shown)]
    seen = [line.strip() for line in (reply.text + following.text).splitlines()][1:]
    assert seen == lines[: len(seen)]
    assert following.text
    reply = agent.read(buffer.ref, path="$.text")
    assert reply.text.startswith("word word")
    assert agent.follow(reply.fields["next"]).text.startswith('"word word')


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"path": "$.nope"}, NotFound, "its keys: rows"),
        ({"path": "$.rows[9]"}, NotFound, "2 items"),
        ({"path": "$.rows[1:2]"}, BadPath, "[1:2]"),
        ({"path": "$", "lines": "1-2"}, UsageError, "cannot be combined"),
        ({"schema": True, "search": "x"}, UsageError, "cannot be combined"),
        ({"path": "$", "offset": 0}, UsageError, "cannot be combined"),
    ],
)
def test_a_path_that_cannot_be_followed_says_why(
    agent: Any, result: Any, arguments: dict[str, Any], error: type[SightlineError], told: str
) -> None:
    buffer, _ = result({"rows": [1, 2]})
    with pytest.raises(error) as raised:
        agent.read(buffer.ref, **arguments)
    assert told in raised.value.message + raised.value.hint


def test_the_lines_of_a_cut_value_are_those_shown(agent: Any, result: Any) -> None:
    buffer, _ = result({"rows": [{"id": n, "text": "x" * 50} for n in range(3000)]})
    reply = agent.read(buffer.ref, path="$.rows")
    assert reply.fields["lines"] == f"2-{1 + reply.text.count(chr(10))}"
    assert f":{1 + reply.text.count(chr(10)) + 1}-" in reply.fields["next"].replace("--lines ", ":")


@pytest.mark.parametrize(
    ("text", "skeleton"), [("123", "number"), ('"a b"', "string"), ("null", "null"), ("true", "boolean")]
)
def test_a_scalar_is_json_too(agent: Any, text: str, skeleton: str) -> None:
    agent.run(f"printf %s {text!r}")
    assert agent.read("@last", schema=True).text == f'"{skeleton}"\n'
    assert agent.read("@last", path="$").text.rstrip("\n") == text.strip('"')


def test_the_schema_is_the_skeleton(agent: Any, result: Any) -> None:
    buffer, _ = result({"name": "t", "items": [{"id": 1}, {"id": None}]})
    reply = agent.read(buffer.ref, schema=True)
    assert json.loads(reply.text) == {"name": "string", "items": [{"id": "number | null"}]}


def test_paths_and_schema_of_text_are_refused(agent: Any, result: Any) -> None:
    text, _ = result("words")
    lines, _ = result('{"a": 1}\n{"a": 2}\n')
    for arguments in ({"path": "$"}, {"schema": True}):
        with pytest.raises(UsageError, match="not JSON"):
            agent.read(text.ref, **arguments)
    with pytest.raises(UsageError, match="JSON value on each line"):
        agent.read(lines.ref, path="$")
    assert json.loads(agent.read(lines.ref, schema=True).text) == {"a": "number"}


def test_a_commands_json_is_sampled_on_its_own_lines(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps(ROWS, indent=1))
    reply = agent.run("cat rows.json; echo note >&2")
    ref = reply.fields["output_id"]
    assert reply.fields["description"] == "[{id, name, data}] (2000 items)"
    assert f"[… 1,995 more items elided: {ref}:27-10001 …]\n]\n[stderr]\nnote\n" in reply.text
    assert len(reply.text.encode()) <= 1024
    assert agent.follow(reply.fields["next"]).text.startswith(' {\n  "id": 5,\n')


def test_json_on_one_line_is_sampled_as_pretty_parts_of_it(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps({"rows": ROWS}))
    reply = agent.run("cat rows.json")
    assert '\n      "id": 4,\n' in reply.text
    assert "1,995 more items elided" in reply.text
    assert (reply.fields["stdout_shown"], reply.fields["stdout_total"]) == (1, 1)
    assert json.loads(agent.follow(reply.fields["next"]).text) == ROWS[5]


def test_a_failures_json_is_sampled_and_other_failures_keep_their_errors(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "found.json").write_text(json.dumps(ROWS, indent=1))
    assert agent.run("cat found.json; exit 1").fields["description"] == "[{id, name, data}] (2000 items)"
    lines = "".join(json.dumps({"n": n, "text": "y" * 20}) + "\n" for n in range(900))
    (tmp_path / "log.jsonl").write_text(lines[:20_000] + '\n{"error": "ValueError: it broke"}\n' + lines)
    reply = agent.run("cat log.jsonl; exit 1")
    assert "description" not in reply.fields
    assert "it broke" in reply.text


def test_a_diff_is_given_as_a_diffstat(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("".join(f"line {n}\n" for n in range(900)))
    (tmp_path / "b").write_text("".join(f"line {n * (1 + (n % 3 == 0))}\n" for n in range(900)))
    reply = agent.run("diff -u a b; true")
    assert reply.fields["description"] == "diff of 1 file: +299 -299"
    assert "[… +299 -299 in this file …]" in reply.text
    assert agent.run("diff -u a b", verbosity="full").fields.get("description") is None


def test_a_json_file_is_sampled_and_a_range_of_it_is_not(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(ROWS, indent=1))
    reply = agent.deliver(files.read_file(agent.asking, files.FileRequest(str(path))))
    assert reply.fields["description"] == "[{id, name, data}] (2000 items)"
    assert reply.fields["lines"] == "27 of 10002"
    assert agent.follow(reply.fields["next"]).text.startswith(' {\n  "id": 5,\n')
    part = agent.deliver(files.read_file(agent.asking, files.FileRequest(str(path), 1, 3)))
    assert part.text == '[\n {\n  "id": 0,\n'


def test_all_and_out_of_a_result_are_its_block(
    result: Callable[..., tuple[Buffer, Reply]], agent: Any, tmp_path: Path
) -> None:
    one, _ = result("words of it\n")
    for stream in ("", ".out", ".all", ".0"):
        assert agent.run(f"cat {one.ref}{stream}; true").text == "words of it\n"
        assert "words of it" in agent.read(f"{one.ref}{stream}").text
    assert "words of it" in agent.read(one.ref, stream="all").text
    two, _ = result("first", "second")
    for ask in (lambda: agent.run(f"touch ran; cat {two.ref}.all"), lambda: agent.read(two.ref, stream="all")):
        with pytest.raises(BadRef) as error:
            ask()
        assert error.value.hint == f"name one: {two.ref}.0, {two.ref}.1"
    assert not (tmp_path / "ran").exists()
