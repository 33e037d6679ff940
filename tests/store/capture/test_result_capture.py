"""Results of tools: every block whole, large fields streams of their own, nothing announced that is not stored."""

import json
import os
from typing import Any

import pytest

from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer
from sightline.capture.recorder import Size, Unkept
from sightline.capture.result import ResultBlock, blocks_of, call_text, capture_result, fields_of
from sightline.disk.index_filling import rebuild_buffers
from sightline.disk.pretty import facts_of
from sightline.settings.config import Settings
from sightline.store import Store, Target


def captured(store: Store, *blocks: ResultBlock, **more: Any) -> Buffer:
    kept = capture_result(store, blocks, command="tool", cwd="/", session="s", **more)
    assert isinstance(kept, Buffer)
    return kept


def raw(store: Store, buffer: Buffer, stream: str) -> bytes:
    with store.open(Target(buffer, stream)) as source:
        return source.read(0, source.byte_count)


def text(store: Store, buffer: Buffer, stream: str = "part.0") -> bytes:
    with store.open_text(Target(buffer, stream)) as source:
        return source.read(0, source.byte_count)


def test_a_result_is_called_by_its_tool_and_arguments() -> None:
    assert call_text("list_issues", {"state": "öffen", "n": 3}) == 'list_issues {"state":"öffen","n":3}'
    assert call_text("ping", {}) == call_text("ping") == "ping"


def test_blocks_are_streams_and_json_is_read_as_lines_of_its_pretty_form(store: Store) -> None:
    data = b'{"a":[1,2],"b":"\\u00e9"}'
    buffer = captured(
        store, ResultBlock([data[:5], data[5:]]), ResultBlock([b"text\n"]), ResultBlock([b"\x89PNG"], "image/png")
    )
    assert (buffer.kind, buffer.state, buffer.exit_code) == ("tool", "sealed", None)
    assert [raw(store, buffer, f"part.{n}") for n in range(3)] == [data, b"text\n", b"\x89PNG"]
    assert text(store, buffer).decode() == '{\n  "a": [\n    1,\n    2\n  ],\n  "b": "é"\n}\n'
    assert [info.lines for info in buffer.streams.values()] == [7, 1, 0]
    assert buffer.stream("part.2").mime == "image/png"
    assert text(store, buffer, "part.1") == b"text\n"
    assert store.resolve(buffer.ref).stream == "part.0"


def test_large_string_fields_are_streams_of_their_own(store: Store) -> None:
    value = {"small": "x" * 7999, "body": 'é"' * 4000, "n": 1, "a,b": "\ud800" + "y" * 8000, "deep": {"in": "z" * 9000}}
    buffer = captured(store, ResultBlock([json.dumps(value).encode()]), ResultBlock([b"more"]))
    assert [(field.block, field.name, field.stream) for field in fields_of(buffer)] == [
        (0, "body", "part.2"),
        (0, "a,b", "part.3"),
    ]
    assert raw(store, buffer, "part.2").decode() == value["body"]
    assert raw(store, buffer, "part.3") == b"\\ud800" + b"y" * 8000
    assert json.loads(raw(store, buffer, "part.0")) == value


def test_identical_results_share_their_storage(store: Store) -> None:
    data = json.dumps(list(range(3000))).encode()
    one, other = captured(store, ResultBlock([data])), captured(store, ResultBlock([data]))
    paths = [store.path(Target(buffer, "part.0")) for buffer in (one, other)]
    assert os.path.samefile(*paths)


@pytest.mark.parametrize("damage", ["missing", "cut", "changed"])
def test_the_pretty_form_is_made_again_when_it_is_not_what_it_was(store: Store, damage: str) -> None:
    buffer = captured(store, ResultBlock([b'{"a":[1,2]}']))
    path, whole = store.layout.pretty(buffer.name, "part.0"), text(store, buffer)
    os.chmod(path, 0o600)
    if damage == "missing":
        os.unlink(path)
    else:
        with open(path, "r+b") as file:
            file.truncate(5) if damage == "cut" else file.write(b"[")
    assert text(store, buffer) == whole
    assert os.stat(path).st_mode & 0o777 == 0o400
    assert not [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".tmp")]


def test_the_pretty_form_counts_as_nothing_and_survives_a_new_index(store: Store) -> None:
    data = [json.dumps({"rows": list(range(50 * n))}).encode() for n in (1, 2)]
    buffer = captured(store, *(ResultBlock([one]) for one in data))
    assert set(buffer.streams) == {"part.0", "part.1"}
    assert buffer.bytes == sum(map(len, data))
    store.access.start_anew()
    rebuild_buffers(store.layout, store.index)
    found = store.resolve(f"{buffer.ref}.1")
    assert found.buffer.streams == buffer.streams
    assert facts_of(found.buffer, "part.1")
    assert text(store, found.buffer, "part.1").count(b"\n") == found.buffer.stream("part.1").lines


@pytest.mark.parametrize("data", [b"", b"plain", b'"a string"', b"[1, 2", b'{"a":1}\n{"a":2}\n'])
def test_what_is_no_single_json_container_is_kept_as_text(store: Store, data: bytes) -> None:
    buffer = captured(store, ResultBlock([data]))
    assert facts_of(buffer, "part.0") is None
    assert text(store, buffer) == data


def test_where_storing_fails_the_text_is_given_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sightline.disk.buffer_writer.write_all", full)
    kept = capture_result(
        store, [ResultBlock([b"out"]), ResultBlock([b"\0"], "image/png")], command="t", cwd="/", session="s"
    )
    assert isinstance(kept, Unkept)
    assert kept.out == b"out"
    assert isinstance(kept.error, StoreFailed)
    assert os.listdir(store.layout.buffers) == []


def test_nothing_is_kept_where_capture_is_off(tmp_path: Any) -> None:
    with Store(str(tmp_path / "r"), Settings(capture_off=(str(tmp_path),))) as store:
        kept = capture_result(store, [ResultBlock([b"out"])], command="t", cwd=str(tmp_path), session="s")
    assert kept == Unkept(b"out", b"", None, out_size=Size(3, 1))


def test_an_mcp_result_is_taken_apart() -> None:
    content = [
        {"type": "text", "text": "hi"},
        {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "there", "mimeType": "text/markdown"}},
        {"type": "resource_link", "uri": "file:///b", "name": "b"},
    ]
    found = blocks_of({"content": content, "isError": True})
    assert found
    blocks, failed = found
    assert failed
    assert [(b"".join(block.chunks), block.mime) for block in blocks[:3]] == [
        (b"hi", "text/plain"),
        (b"\x89PNG", "image/png"),
        (b"there", "text/plain"),
    ]
    assert json.loads(b"".join(blocks[3].chunks)) == content[3]


@pytest.mark.parametrize(
    "value", [[], {}, {"content": "x"}, {"content": []}, {"content": [1]}, {"content": [{"a": 1}]}]
)
def test_other_json_is_no_mcp_result(value: object) -> None:
    assert blocks_of(value) is None
