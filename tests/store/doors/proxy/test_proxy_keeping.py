"""Large results are kept byte for byte and shown in part; of the server's line only what must change does."""

import base64
import json
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.audit.timeline import calls_of
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from tests.examples import examples
from tests.store.doors.proxy.proxy_kit import Client, answer, text_result

Make = Callable[..., Client]
LOG = "".join(f"line {n}: something was done é\n" for n in range(2000))
ROWS = [{"id": n, "name": f"Item {n}"} for n in range(1000)]


def fields(result: Any) -> Any:
    return json.loads(result["content"][0]["text"])


def test_a_large_text_is_kept_whole_and_shown_in_part(client: Make) -> None:
    through = client()
    result = through.call(text_result(LOG), arguments={"path": "/var/log é", "n": 3})
    told = fields(result)
    assert list(told) == ["output_id", "truncated", "lines", "total_bytes", "description", "next"]
    assert told["total_bytes"] == len(LOG.encode())
    assert through.stream(told["output_id"]) == LOG.encode()
    body = result["content"][1]["text"]
    assert body.startswith("line 0: something was done é\n")
    assert body.endswith("line 1999: something was done é\n")
    assert len(body.encode()) <= 8192
    with through.store() as store:
        buffer = store.resolve(told["output_id"]).buffer
        assert (buffer.kind, buffer.command) == ("tool", 'big {"path":"/var/log é","n":3}')
        stream = {"bytes": buffer.bytes, "sha256": buffer.stream("part.0").sha256}
        assert result["_meta"] == {"sightline/outputs": [{"ref": told["output_id"], "streams": {"part.0": stream}}]}


def test_what_is_shown_is_in_the_log_and_so_are_small_results(client: Make) -> None:
    through = client("--session", "mine")
    through.request("initialize", clientInfo={"name": "a-client", "version": "1.2"})
    through.read()
    kept = through.call(text_result(LOG))
    through.call(text_result("short"), tool="small", arguments={"a": 1})
    through.call({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b\n"}]})
    through.ask("tools/call", '{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"no"}}\n', name="big")
    through.close()
    with through.store() as store:
        views = list(reversed(list_views(store, session="mine")))
        texts = [view_text(store, one) for one in views]
        session = store.index.session("mine")
    assert texts[0] == "\n".join(block["text"] for block in kept["content"])
    assert texts[1:] == ["short", "[part 0]\na\n[part 1]\nb\n", '{"code":1,"message":"no"}']
    assert [json.loads(one.view.request)["tool"] for one in views] == ["big", "small", "big", "big"]
    assert json.loads(views[1].view.request)["arguments"] == {"a": 1}
    assert views[0].view.truncated
    assert session
    assert (session.client, session.harness) == ("a-client 1.2", "a-client")


def test_the_clients_own_session_is_found_in_each_request_since_2026(client: Make) -> None:
    through = client(CLAUDE_CODE_SESSION_ID="abc")
    info = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2"},
    }
    through.request("tools/call", answer(text_result("short")), name="big", meta=info)
    through.read()
    through.close()
    with through.store() as store:
        (session,) = store.index.sessions()
    assert (session.name, session.client, session.harness) == ("claude-code-abc", "claude-code 2", "claude-code")


def test_all_but_the_content_stays(client: Make) -> None:
    through = client()
    before = ' {"vendor" : 1.50e1, "result": {"isError" :false'
    more = ' "resultType":"complete","_meta": {"a/b" :[1.0 ] } ,"x":12345678901234567890,'
    content = f'"content" : [{{"type":"text","text":{json.dumps(LOG)}}}]'
    line = f'{before} , {more} {content} }} ,"id" :$ID,"jsonrpc":"2.0"}} \r\n'
    told = through.ask("tools/call", line, name="big", arguments={})
    assert told.endswith(b"}\r\n")
    message, sent = json.loads(told), json.loads(line.replace("$ID", "1"))
    assert list(message) == ["vendor", "result", "id", "jsonrpc"]
    result = message["result"]
    assert "@tool_" in result.pop("content")[0]["text"]
    assert "sightline/outputs" in result["_meta"]
    del result["_meta"]["sightline/outputs"], sent["result"]["content"]
    assert message == sent


def test_what_could_not_be_written_again_as_it_is_passes_and_is_not_kept(client: Make) -> None:
    through = client()
    line = (
        f'{{"jsonrpc":"2.0","id":$ID,"result":{{"x":1e400,"content":[{{"type":"text","text":{json.dumps(LOG)}}}]}}}}\n'
    )
    assert through.ask("tools/call", line, name="big", arguments={}) == line.replace("$ID", "1").encode()


def test_structured_content_is_a_stream_of_its_own(client: Make) -> None:
    through = client()
    structured = '{ "rows" : [' + ", ".join(f"{n}.0e1" for n in range(3000)) + '], "é":"\\u00e9" }'
    line = answer({"content": [{"type": "text", "text": "3000 rows"}], "structuredContent": 0})
    result = through.call(line.replace("0}", structured + "}").replace("3,000", ""))
    told = fields(result)
    assert "structuredContent" not in result
    assert told["note"] == "part 1 is structuredContent"
    assert through.stream(told["output_id"] + ".0") == b"3000 rows"
    assert through.stream(told["output_id"] + ".1") == structured.encode()
    assert result["content"][1]["text"].startswith("[part 0]\n3000 rows\n[part 1]\n")


@pytest.mark.parametrize(
    ("text", "structured"),
    [(json.dumps({"rows": ROWS}, indent=2), {"rows": ROWS}), (LOG, {"content": LOG}), (LOG, {"result": LOG})],
)
def test_structured_content_that_says_the_same_is_kept_and_not_shown_twice(
    client: Make, text: str, structured: object
) -> None:
    through = client()
    result = through.call(text_result(text, structuredContent=structured))
    told = fields(result)
    assert told["note"] == "part 1 is structuredContent, which says the same"
    assert told["total_bytes"] == len(text.encode())
    assert "[part 0]" not in result["content"][1]["text"]
    assert json.loads(through.stream(told["output_id"] + ".1")) == structured


def test_structured_content_alone_is_kept(client: Make) -> None:
    through = client()
    for result in ({"structuredContent": {"rows": ROWS}}, {"content": [], "structuredContent": {"rows": ROWS}}):
        kept = through.call(result)
        told = fields(kept)
        assert told["description"] == "{rows}"
        assert json.loads(through.stream(told["output_id"])) == {"rows": ROWS}
        assert set(kept) == {"content", "_meta"}


def test_an_error_stays_one_and_what_explains_it_is_shown_first(client: Make) -> None:
    through = client()
    lines = [f"step {n} is fine" for n in range(3000)]
    lines[1500] = "error: the disk is on fire"
    result = through.call(text_result("\n".join(lines), isError=True))
    assert result["isError"] is True
    assert "error: the disk is on fire\n" in result["content"][1]["text"]
    assert fields(result)["note"] == "the tool reported an error"


def test_what_failed_is_marked_in_the_log_however_it_passes(client: Make) -> None:
    through = client()
    through.call(text_result(LOG))  # from here on short answers pass without being read closely
    through.call(text_result("fine"))
    through.call(text_result("not so", isError=True))
    through.call(text_result(LOG, isError=True))
    through.ask("tools/call", '{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"no"}}\n', name="big")
    through.close()
    with through.store() as store:
        assert [call.failed for call in calls_of(store)] == [False, False, True, True, True]


def test_an_error_inside_a_large_field_is_shown_too(client: Make) -> None:
    through = client()
    lines = [f"step {n} is fine" for n in range(3000)]
    lines[1500] = "error: the disk is on fire"
    result = through.call(text_result(json.dumps({"ok": False, "log": "\n".join(lines)}), isError=True))
    assert "\n[part 1]\n" in result["content"][1]["text"]
    assert "error: the disk is on fire\n" in result["content"][1]["text"]


def test_other_blocks_are_streams_and_what_is_small_or_unknown_stays(client: Make) -> None:
    through = client()
    small, large = base64.b64encode(b"i" * 3000).decode(), base64.b64encode(b"l" * 60_000).decode()
    blocks: list[dict[str, Any]] = [
        {"type": "image", "data": small, "mimeType": "image/png"},
        {"type": "text", "text": LOG},
        {"type": "image", "data": large, "mimeType": "image/png"},
        {"type": "audio", "data": large, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///r", "name": "r"},
        {"type": "resource", "resource": {"uri": "file:///t", "text": "# Title\n", "mimeType": "text/markdown"}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": small}},
        {"type": "novel", "payload": "?" * 70_000},
    ]
    result = through.call({"content": blocks})
    told = fields(result)
    ref = told["output_id"]
    assert result["content"][2:] == [blocks[0], blocks[4], blocks[6], blocks[7]]
    body = result["content"][1]["text"]
    assert f"[part 2]\n[… 60,000 bytes of image/png: {ref}.2 …]\n" in body
    assert f"[part 3]\n[… 60,000 bytes of audio/wav: {ref}.3 …]\n" in body
    assert "[part 5]\n# Title\n" in body
    assert not any(f"[part {n}]" in body for n in (0, 4, 6, 7))
    assert told["note"] == "part 5 is file:///t; part 6 is file:///b"
    kept = [through.stream(f"{ref}.{n}") for n in (0, 1, 2, 3, 5, 6)]
    assert kept == [b"i" * 3000, LOG.encode(), b"l" * 60_000, b"l" * 60_000, b"# Title\n", b"i" * 3000]
    assert json.loads(through.stream(f"{ref}.7")) == blocks[7]


def test_many_blocks_are_kept_as_one_text(client: Make) -> None:
    through = client()
    blocks = [{"type": "text", "text": f"block {n} " + "x" * 50} for n in range(1000)]
    result = through.call({"content": blocks})
    told = fields(result)
    assert told["note"] == "part 0 is all 1,000 blocks as JSON"
    assert told["description"] == "[{type, text}] (1000 items)"
    assert json.loads(through.stream(told["output_id"])) == blocks


def test_lists_have_small_results_in_order_however_long_the_index_is_locked(client: Make) -> None:
    through = client("--session", "mine")
    through.call(text_result(LOG), tool="first")
    through.call(text_result("short"), tool="next")  # and nothing is left to do of the first
    with through.store() as store:
        index = sqlite3.connect(store.layout.index, isolation_level=None)
    index.execute("BEGIN IMMEDIATE")
    for n in range(3):
        assert through.call(text_result(f"short {n}"), tool=f"small {n}") == text_result(f"short {n}")
    index.execute("ROLLBACK")
    index.close()
    through.call(text_result(LOG), tool="large")
    through.call(text_result("short"), tool="last")
    through.close()
    with through.store() as store:
        tools = [json.loads(one.view.request)["tool"] for one in reversed(list_views(store, session="mine"))]
    assert tools == ["first", "next", "small 0", "small 1", "small 2", "large", "last"]


def test_long_arguments_are_cut_in_the_name_and_in_the_log(client: Make) -> None:
    through = client()
    written = "w" * 1_000_000
    told = fields(through.call(text_result(LOG), arguments={"path": "a", "text": written, "n": [*range(999)]}))
    with through.store() as store:
        command = store.resolve(told["output_id"]).buffer.command
        (view,) = list_views(store, limit=1)
    assert len(command) < 3000
    assert '"path":"a"' in command
    assert "998,000 characters elided" in command
    assert '18,19,"[… 979 more items elided …]"]' in command
    assert len(view.view.request) < 3000
    assert json.loads(through.received)["params"]["arguments"]["text"] == written


def test_answers_are_told_apart_by_the_type_of_their_ids(client: Make) -> None:
    through = client()
    call = '{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},{meta}}}}}\n'
    meta = f'"_meta":{{"test/lines":[{json.dumps(answer(text_result(LOG)))}]}}'
    for number, tool in (("1", "big"), ('"1"', "small"), ("2.0", "other")):
        through.send(call.format(id=number, tool=tool, meta=meta))
        told = json.loads(through.read())
        assert told["id"] == json.loads(number)
        with through.store() as store:
            assert store.resolve(fields(told["result"])["output_id"]).buffer.command == tool


def test_a_withdrawn_call_is_forgotten(client: Make) -> None:
    through = client()
    through.request("tools/call", "", name="big", arguments={})
    through.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
    late = answer(text_result(LOG)).replace("$ID", "1")
    assert through.ask("ping", late) == late.encode()
    assert "notifications/cancelled" in through.received.decode()


def test_a_batch_of_answers_is_rewritten_where_it_must_be(client: Make) -> None:
    through = client()
    big, other = answer(text_result(LOG)).strip(), '{"jsonrpc":"2.0", "method":"x"}'
    batch = f" [{big.replace('$ID', '5')} , {other},{big.replace('$ID', '6')}, 7 ]\n"
    names = {5: "big", 6: "small"}
    calls: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name}}
        for number, name in names.items()
    ]
    calls[1]["params"]["_meta"] = {"test/lines": [batch]}
    through.send(json.dumps(calls) + "\n")
    line = through.read().decode()
    told = json.loads(line)
    assert told[1::2] == [json.loads(other), 7]
    with through.store() as store:
        for answered in (told[0], told[2]):
            buffer = store.resolve(fields(answered["result"])["output_id"]).buffer
            assert buffer.command == names[answered["id"]]


@given(
    st.lists(
        st.text(st.characters(exclude_categories=()), min_size=1, max_size=30),
        min_size=1,
        max_size=3,
    ),
    st.booleans(),
)
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_kept_as_it_is(one: Client, texts: list[str], ascii_only: bool) -> None:
    result = {"content": [{"type": "text", "text": text * 400} for text in texts]}
    line = f'{{"id":$ID,"result":{json.dumps(result, ensure_ascii=ascii_only)},"jsonrpc":"2.0"}}\n'
    if not ascii_only and any("\ud800" <= char <= "\udfff" for text in texts for char in text):
        return  # no UTF-8 for a lone surrogate
    kept = one.call(line)
    if "_meta" in kept:
        for number, text in enumerate(texts):
            stored = one.stream(f"{fields(kept)['output_id']}.{number}")
            assert stored == (text * 400).encode(errors="backslashreplace")
    else:
        assert kept == json.loads(json.dumps(result))


@pytest.fixture
def one(client: Make) -> Client:
    return client()


HALF = "cut \ud83d"


@pytest.mark.parametrize("arguments", [{"q": HALF}, {HALF: 1}])
def test_half_a_character_in_a_call_keeps_nothing_from_being_kept(client: Make, arguments: dict[str, object]) -> None:
    through = client()
    small = f'{{"jsonrpc":"2.0","id":$ID,"result":{json.dumps(text_result(HALF))}}}\n'
    assert through.call(small, arguments=arguments)["content"][0]["text"] == HALF
    kept = through.call(text_result("y" * 50_000), arguments=arguments)
    assert "@tool_" in kept["content"][0]["text"]
    through.close()
    assert "could not" not in through.errors
    with through.store() as store:
        newest, oldest = list_views(store)
        assert view_text(store, oldest) == "cut \\ud83d"
        assert "cut \\\\ud83d" in newest.view.request
