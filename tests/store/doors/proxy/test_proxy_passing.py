"""What passes through the proxy passes as it came: byte for byte, in both directions, whatever its spelling."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.store.doors.proxy.proxy_kit import Client, answer, text_result

Make = Callable[..., Client]

SMALL = [
    '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"short"}]}}\n',
    ' { "result" : {"content":[] , "x":1.50e1} ,"id": $ID,"jsonrpc" :"2.0" } \r\n',
    '{"\\u0069d":$ID,"res\\u0075lt":{"content":[{"type":"text","text":"\\ud83d\\ude00\\/é"}]},"jsonrpc":"2.0"}\n',
    '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"no","data":{"content":[1]}}}\n',
    '{"jsonrpc":"2.0","id":$ID,"result":{"content":"not a list"}}\n',
    '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"no":"type"}]}}\n',
    '{"jsonrpc":"2.0","id":$ID,"result":[1,2]}\n',
    '{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","inputRequests":{"a":{}}}}\n',
    '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"image","data":"iVBORw==","mimeType":"image/png"}]}}\n',
    '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"novel","of":["unknown",1e400]}],"vendor":{"x":null}}}\n',
    '{"jsonrpc":"2.0","id":$ID,"result":{"structuredContent":{"a":1},"content":[]}}\n',
    '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"","n":' + "9" * 5_000 + "}]}}\n",
]


@pytest.mark.parametrize("line", SMALL, ids=lambda line: line[:60])
def test_small_and_strange_answers_pass_as_they_came(client: Make, line: str) -> None:
    through = client()
    number = through.request("tools/call", line, name="big", arguments={})
    assert through.read() == line.replace("$ID", str(number)).encode()


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.50}}\n',
        '{"jsonrpc":"2.0","id":$ID,"method":"sampling/createMessage","params":{"result":{"content":[]}}}\n',
        '{"jsonrpc":"2.0","method":"vendor/else","params":{"x":"' + "y" * 100_000 + '"}}\n',
        "no JSON at all\n",
        "\n",
        '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"a"}]},"id":$ID}\n',
        '{"jsonrpc":"2.0","id":"other","result":{"content":[{"type":"text","text":"' + "z" * 20_000 + '"}]}}\n',
        b'{"jsonrpc":"2.0","method":"bytes","params":"\xff\xfe"}\n'.decode(errors="surrogateescape"),
        '{"a":' * 30_000 + "1" + "}" * 30_000 + "\n",
    ],
    ids=lambda line: line[:60],
)
def test_whatever_else_a_server_says_passes_while_an_answer_is_awaited(client: Make, line: str) -> None:
    through = client()
    last = answer(text_result("done"))
    number = through.request("tools/call", line, last, name="big", arguments={})
    assert through.read() == line.replace("$ID", str(number)).encode(errors="surrogateescape")
    assert through.read() == last.replace("$ID", str(number)).encode()


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":1,"method":"tools\\/call","params":{"name":"big","arguments":{"a":1.0e2}}}\n',
        ' {"method":"notifications/cancelled","params":{"requestId":77},"jsonrpc":"2.0"}\r\n',
        '{"jsonrpc":"2.0","id":"s","result":{"roots":[]}}\n',
        '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":3}}\n',
        '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"read_output","arguments":{"ref":"@last"}}}\n',
        '[{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"big"}}, {"jsonrpc":"2.0","method":"x"}]\n',
        '{"jsonrpc":"2.0","method":"big","params":{"x":"' + "y" * 300_000 + '"}}\n',
    ],
    ids=lambda line: line[:60],
)
def test_a_clients_lines_reach_the_server_as_they_were_written(client: Make, line: str) -> None:
    through = client()
    through.send(line)
    through.close()
    assert through.received == line.encode()


def test_lines_that_are_no_messages_reach_the_server_too(client: Make, tmp_path: Any) -> None:
    through = client(command=["cat"])
    sent = (
        b'no JSON tools/call \\ \n\xff\xfe tools/list\n[1, {"method":"tools/call"\n[]\n3 tools/call\nunended tools/list'
    )
    through.send(sent)
    assert through.close() == (sent, 0)


def test_a_result_that_is_larger_than_any_line_that_is_read_passes(client: Make) -> None:
    through = client(command=["sh", "-c", "head -c 70000000 /dev/zero | tr '\\0' x; echo; cat >/dev/null"])
    through.request("tools/call", name="big", arguments={})
    assert len(through.read()) == 70_000_001


def test_results_of_other_methods_pass_however_large(client: Make) -> None:
    through = client()
    line = answer({"contents": [{"uri": "a", "text": "x" * 300_000}]})
    assert through.ask("resources/read", line) == line.replace("$ID", "1").encode()
    line = answer({"content": [{"type": "text", "text": "x" * 300_000}]})
    assert through.ask("tasks/result", line) == line.replace("$ID", "2").encode()


def test_only_the_tools_that_are_named_are_kept(client: Make) -> None:
    through = client("--only", "big", "other")
    result = text_result("words\n" * 5000, structuredContent={"a": 1})
    assert through.call(result, tool="small") == result
    for tool in ("big", "other"):
        assert "@tool_" in through.call(result, tool=tool)["content"][0]["text"]


def test_a_size_can_be_given(client: Make) -> None:
    through = client("--min-bytes", "100")
    result = text_result("words\n" * 10)
    assert through.call(result) == result
    text = "".join(f"{n}\n" for n in range(100))
    kept = through.call(text_result(text))
    assert json.loads(kept["content"][0]["text"])["lines"] == "100 of 100"
    assert kept["content"][1]["text"] == text


def test_nothing_is_touched_where_nothing_may_be_kept(client: Make, tmp_path: Any) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "config.toml").write_text(f'[directories."{tmp_path}"]\ncapture = "off"\n')
    through = client()
    result = text_result("words\n" * 5000)
    assert through.call(result) == result
    assert [tool["name"] for tool in json.loads(through.ask("tools/list"))["result"]["tools"]] == [
        "big",
        "small",
        "other",
    ]


def test_a_store_that_cannot_be_made_costs_no_server(client: Make, tmp_path: Any) -> None:
    (tmp_path / "store").write_text("a file where the store should be")
    through = client()
    result = text_result("words\n" * 5000)
    assert through.call(result) == result
    assert through.close() == (b"", 0)
    assert "cannot be used" in through.errors


def test_a_result_passes_as_it_came_where_storing_fails(client: Make, tmp_path: Any) -> None:
    through = client()
    assert "@tool_" in through.call(text_result("words\n" * 5000))["content"][0]["text"]
    buffers = tmp_path / "store" / "buffers"
    buffers.rename(tmp_path / "store" / "gone")
    buffers.write_text("no folder")
    line = answer(text_result("words\n" * 5000))
    for number in (2, 3):
        assert through.ask("tools/call", line, name="big", arguments={}) == line.replace("$ID", str(number)).encode()
    through.close()


def test_a_store_that_breaks_under_way_costs_no_answer(client: Make, tmp_path: Any) -> None:
    through = client()
    through.call(text_result("words\n" * 5000))
    for name in ("index.sqlite", "index.sqlite-wal"):
        (tmp_path / "store" / name).write_bytes(b"no database" * 1000)
    through.call(text_result("short"))
    assert through.call(text_result("words\n" * 5000))["content"]
    told = through.own("read_output", ref="@tool_000000")
    assert "error" in json.loads(told["content"][0]["text"])
    assert through.close()[1] == 0
