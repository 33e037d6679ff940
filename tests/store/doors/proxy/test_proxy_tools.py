"""The list of tools as the client sees it, and the two tools that are added to it."""

import ast
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.store.doors.proxy.proxy_kit import Client, answer, text_result

Make = Callable[..., Client]
LOG = "".join(f"line {n}\n" for n in range(3000))
ROWS = [{"id": n, "name": f"Item {n}"} for n in range(1000)]


def listed(told: bytes) -> list[Any]:
    return list(json.loads(told)["result"]["tools"])


def names(told: bytes) -> list[str]:
    return [tool["name"] for tool in listed(told)]


def ref_of(result: Any) -> str:
    return str(json.loads(result["content"][0]["text"])["output_id"])


def test_two_tools_stand_at_the_end_of_the_list(client: Make) -> None:
    tools = listed(client().ask("tools/list"))
    assert [tool["name"] for tool in tools] == ["big", "small", "other", "read_output", "query"]
    for tool in tools[3:]:
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["inputSchema"]["required"]
        assert "@tool_a1b2c3" in json.dumps(tool)
        assert not any(ref in json.dumps(tool) for ref in ("@cmd_", "@file_", "@last"))  # there are none behind a proxy


def test_all_else_in_the_list_stays(client: Make) -> None:
    before = ' { "result":{"ttlMs":1.0e3, "tools" : [ {"x":1.50,"name":"a\\u0062","inputSchema" : {} }'
    line = before + ' ],"cacheScope":"private","nextCursor":null},"id":$ID ,"jsonrpc":"2.0"}\n'
    told = json.loads(client().ask("tools/list", line))
    assert [tool["name"] for tool in told["result"]["tools"][1:]] == ["read_output", "query"]
    del told["result"]["tools"][1:]
    assert told == json.loads(line.replace("$ID", "1"))


def test_a_page_that_nothing_is_added_to_passes_as_it_came(client: Make) -> None:
    line = ' { "result":{"tools" : [ {"name":"a\\u0062" } ],"nextCursor":"2"},"id":$ID ,"jsonrpc":"2.0"}\n'
    assert client().ask("tools/list", line) == line.replace("$ID", "1").encode()


def test_an_empty_list_gets_the_two_tools(client: Make) -> None:
    assert names(client().ask("tools/list", answer({"tools": []}))) == ["read_output", "query"]


def test_schemas_of_results_are_left_out_for_tools_that_may_be_kept(client: Make) -> None:
    schema = {"type": "object", "properties": {"outputSchema": {"type": "object"}}}
    tools = [
        {"name": name, "outputSchema": schema, "inputSchema": schema, "_meta": {"outputSchema": 1}}
        for name in ("big", "small")
    ]
    kept = {name: value for name, value in tools[0].items() if name != "outputSchema"}
    assert listed(client().ask("tools/list", answer({"tools": tools})))[:2] == [kept, {**kept, "name": "small"}]
    assert listed(client("--only", "big").ask("tools/list", answer({"tools": tools})))[:2] == [kept, tools[1]]


def test_names_that_are_taken_are_not_taken_away(client: Make) -> None:
    through = client()
    taken = [{"name": name} for name in ("query", "read_output", "sightline_read_output")]
    assert names(through.ask("tools/list", answer({"tools": taken}))) == [
        "query",
        "read_output",
        "sightline_read_output",
        "sightline_read_output_2",
        "sightline_query",
    ]
    result = through.call(text_result(LOG))
    call = json.loads(result["content"][0]["text"])["next"]
    assert call.startswith("sightline_read_output_2(ref=")
    assert through.own("sightline_query", pipeline=f"wc -l {ref_of(result)}")["content"][-1]["text"].startswith("3000 ")
    theirs = answer(text_result("the server's own"))
    asked = through.ask("tools/call", theirs, name="query", arguments={"pipeline": f"wc -l {ref_of(result)}"})
    assert json.loads(asked)["result"] == text_result("the server's own")


def test_the_two_tools_stand_on_the_last_page_only(client: Make) -> None:
    through = client()
    first = through.ask("tools/list", answer({"tools": [{"name": "query"}], "nextCursor": "2"}))
    assert names(first) == ["query"]
    assert names(through.ask("tools/list", answer({"tools": [{"name": "b"}]}), cursor="2")) == [
        "b",
        "read_output",
        "sightline_query",
    ]
    again = through.ask("tools/list", answer({"tools": [{"name": "b"}]}))
    assert names(again) == ["b", "read_output", "query"]


def test_a_server_without_tools_is_left_alone(client: Make) -> None:
    line = '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found"}}\n'
    assert client().ask("tools/list", line) == line.replace("$ID", "1").encode()


def test_kept_results_can_be_read_on_in(client: Make) -> None:
    through = client()
    through.ask("tools/list")
    ref = ref_of(through.call(text_result(LOG)))
    told = through.own("read_output", ref=ref, lines="1500-1501")
    assert json.loads(told["content"][0]["text"])["lines"] == "1500-1501"
    assert told["content"][1:] == [{"type": "text", "text": "line 1499\nline 1500\n"}]
    found = through.own("read_output", ref=ref, search="line 299\\d")
    assert json.loads(found["content"][0]["text"])["matches_total"] == 10
    rows = ref_of(through.call(text_result(json.dumps(ROWS))))
    assert through.own("read_output", ref=rows, path="$[-1].name")["content"][1]["text"] == "Item 999"
    counted = through.own("query", pipeline=f"grep -o 'Item [0-9]*' {rows} | wc -l")
    assert counted["content"][-1]["text"].strip() == "1000"
    assert "read_output" not in through.received.decode()


def test_the_next_call_of_a_reply_is_one_that_can_be_made(client: Make) -> None:
    through = client()
    told = json.loads(through.call(text_result(LOG))["content"][0]["text"])
    name, _, arguments = told["next"].partition("(")
    given = dict(part.split("=", 1) for part in arguments.rstrip(")").split(", "))
    values = {key: ast.literal_eval(value) for key, value in given.items()}
    reply = through.own(name, **values)
    assert json.loads(reply["content"][0]["text"])["lines"] == values["lines"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"ref": "@tool_000000"}, "@tool_000000"),
        ({"ref": "@tool_000000", "colour": "red"}, "colour"),
        ({"ref": "@tool_000000", "offset": "x"}, "offset"),
        ({}, "ref"),
        (None, "ref"),
        ([], "ref"),
    ],
)
def test_a_call_that_cannot_be_answered_gets_a_small_error(client: Make, arguments: Any, told: str) -> None:
    through = client()
    through.ask("tools/list")
    result = json.loads(through.ask("tools/call", name="read_output", arguments=arguments))["result"]
    assert result["isError"] is True
    assert told in json.loads(result["content"][0]["text"])["error"]


def test_before_the_list_was_read_a_call_is_told_by_its_arguments(client: Make) -> None:
    through = client()
    ref = ref_of(through.call(text_result(LOG)))
    assert through.own("query", pipeline=f"wc -l {ref}")["content"][-1]["text"].startswith("3000 ")
    assert through.own("sightline_read_output", ref=ref, lines="1-1")["content"][1]["text"] == "line 0\n"
    theirs = through.ask("tools/call", answer(text_result("rows")), name="query", arguments={"pipeline": "SELECT 1"})
    assert json.loads(theirs)["result"] == text_result("rows")


def test_answers_of_our_own_carry_what_their_era_demands(client: Make) -> None:
    through = client()
    modern = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    info = {"name": "a server", "version": "1"}
    through.ask("tools/list", answer({"tools": [], "_meta": {"io.modelcontextprotocol/serverInfo": info}}))
    ref = ref_of(through.call(text_result(LOG)))
    through.request("tools/call", name="read_output", arguments={"ref": ref}, meta=modern)
    result = json.loads(through.read())["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == info
    assert "resultType" not in through.own("read_output", ref=ref)


def test_what_the_two_tools_show_is_in_the_log(client: Make) -> None:
    through = client("--session", "mine")
    ref = ref_of(through.call(text_result(LOG)))
    through.own("read_output", ref=ref, lines="1-3")
    through.close()
    with through.store() as store:
        from sightline.log.log_index import list_views

        view = list_views(store, session="mine")[0].view
    assert (view.verb, view.shown[0][2:]) == ("read_output", (1, 3))


def test_our_tools_in_a_batch_are_taken_out_of_it(client: Make) -> None:
    through = client()
    ref = ref_of(through.call(text_result(LOG)))
    ours = {
        "jsonrpc": "2.0",
        "id": "ours",
        "method": "tools/call",
        "params": {"name": "read_output", "arguments": {"ref": ref, "lines": "1-1"}},
    }
    through.send(f'[{json.dumps(ours)} , {{"jsonrpc":"2.0", "method":"x"}}]\n')
    (told,) = json.loads(through.read())
    assert (told["id"], told["result"]["content"][1]["text"]) == ("ours", "line 0\n")
    through.send(json.dumps([ours]) + "\n")
    assert json.loads(through.read())[0]["id"] == "ours"
    through.close()
    assert through.received.splitlines()[1:] == [b'[{"jsonrpc":"2.0","method":"x"}]']


def test_a_withdrawn_call_of_ours_is_not_answered_and_the_server_hears_nothing_of_it(client: Make) -> None:
    through = client()
    through.ask("tools/list")
    ref = ref_of(through.call(text_result(LOG)))
    cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}\n'
    endless = {"name": "query", "arguments": {"pipeline": f"sed -e :a -e ba {ref}"}}
    through.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": endless}) + "\n")
    through.send(cancel % "true")  # is no id, and Python's 1: the server may make of it what it will
    through.send(cancel % "1")
    assert through.close() == (b"", 0)
    received = through.received.decode()
    assert "sed -e" not in received
    assert [json.loads(line)["params"] for line in received.splitlines() if "cancelled" in line] == [
        {"requestId": True}
    ]
