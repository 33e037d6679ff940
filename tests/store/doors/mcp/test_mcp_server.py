"""The server as a child of its client: answers, errors, and what it does not load."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types import methods

LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = "2026-07-28"
LARGE = "seq 1 5000; echo oh >&2"


def test_both_eras_are_served_by_one_process(client: Any) -> None:
    assert client.opened["protocolVersion"] == "2025-06-18"
    client.version = MODERN
    found = client.request("server/discover")
    assert found["supportedVersions"] == [MODERN, *LEGACY]
    assert found["resultType"] == "complete"
    assert found["instructions"] == client.opened["instructions"]
    assert "resultType" in client.request("tools/list")
    client.version = "2025-06-18"
    assert "resultType" not in client.request("tools/list")
    assert client.request("ping") == {}


@pytest.mark.parametrize("version", [MODERN, *LEGACY])
def test_results_fit_the_schema_of_every_version(connect: Callable[..., Any], version: str) -> None:
    client = connect(version=version)
    client.call("run_command", command=LARGE)
    uri = client.request("resources/list")["resources"][0]["uri"]
    requests: dict[str, dict[str, Any]] = {
        "tools/list": {},
        "tools/call": {"name": "read_output", "arguments": {"ref": "@last"}},
        "resources/list": {},
        "resources/templates/list": {},
        "resources/read": {"uri": uri + "?from=3&to=4"},
        "completion/complete": {
            "ref": {"type": "ref/resource", "uri": "sightline://buffers/{ref}"},
            "argument": {"name": "ref", "value": "cmd_"},
        },
    }
    if version == MODERN:
        requests["server/discover"] = {}
    else:
        methods.validate_server_result("initialize", version, client.opened)
        requests["ping"] = {}
    for method, params in requests.items():
        methods.validate_server_result(method, version, client.request(method, **params))


def test_a_short_output_comes_whole_with_its_exit_code_and_nothing_else(client: Any) -> None:
    assert client.call("run_command", command="echo hi; echo oh >&2; exit 3") == (
        {"exit_code": 3},
        "hi\n[stderr]\noh\n",
    )


def test_an_empty_output_is_the_fields_alone(client: Any) -> None:
    result = client.answer(client.begin("run_command", command="true"))["result"]
    assert [block["text"] for block in result["content"]] == ['{"exit_code":0}']


def test_a_long_output_comes_as_a_view_with_a_ref_and_the_next_call(client: Any) -> None:
    fields, body = client.call("run_command", command=LARGE)
    assert list(fields)[:2] == ["output_id", "exit_code"]
    assert (fields["truncated"], fields["stdout_total"], fields["stderr_total"]) == (True, 5000, 1)
    assert body.startswith("1\n2\n")
    assert fields["next"].startswith(f"read_output(ref='{fields['output_id']}', lines='")


def test_meta_repeats_ref_size_and_hash_of_each_stream(client: Any) -> None:
    result = client.answer(client.begin("run_command", command=LARGE))["result"]
    assert "structuredContent" not in result
    [told] = result["_meta"]["sightline/outputs"]
    with client.store() as store:
        buffer = store.resolve(told["ref"]).buffer
    assert json.loads(result["content"][0]["text"])["output_id"] == told["ref"]
    assert told["streams"] == {
        name: {"bytes": info.bytes, "sha256": info.sha256} for name, info in buffer.streams.items()
    }


def test_every_tool_answers(client: Any, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("one\ntwo\nthree\n")
    ref = client.call("run_command", command=LARGE)[0]["output_id"]
    assert client.call("read_file", path="a file", start_line=2, end_line=2)[1] == "two\n"
    assert client.call("read_output", ref=ref, lines="42-43")[1] == "42\n43\n"
    assert client.call("read_output", ref=ref, search="^499.$")[0]["matches_total"] == 10
    assert client.call("query", pipeline=f"wc -l {ref}") == ({"exit_code": 0}, f"5000 {ref}\n")
    assert ref in client.call("list_outputs")[1]
    assert client.call("run_command", command=f"tail -1 {ref}")[1] == "5000\n"


def test_an_error_is_small_says_what_to_do_and_is_marked(client: Any) -> None:
    for tool, arguments in (
        ("read_output", {"ref": "@cmd_000000"}),
        ("read_output", {"ref": "nonsense"}),
        ("read_file", {"path": "missing"}),
        ("query", {"pipeline": "grep x /etc/passwd"}),
        ("run_command", {"cmd": "ls"}),
    ):
        result = client.answer(client.begin(tool, **arguments))["result"]
        assert result["isError"] is True
        [block] = result["content"]
        assert set(json.loads(block["text"])) == {"error", "hint"}
        assert len(block["text"]) < 1000


def test_an_empty_command_is_told_how_to_give_one_in_this_door(client: Any) -> None:
    told = json.loads(client.answer(client.begin("run_command", command=" "))["result"]["content"][0]["text"])
    assert told["hint"] == "give one, such as: run_command(command='ls -l')"


def test_a_failed_command_is_no_error_of_the_tool(client: Any) -> None:
    assert "isError" not in client.answer(client.begin("run_command", command="exit 1"))["result"]


def test_a_destructive_command_asks_back_and_its_token_confirms(client: Any, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    fields, _ = client.call("run_command", command="rm -rf gone")
    assert (tmp_path / "gone").exists()
    assert fields["next"] == f"run_command(command='{fields['pending_ack']}')"
    client.call("run_command", command=fields["pending_ack"])
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b'"text"', -32600),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        (b'{"jsonrpc":"1.0","method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b"[" * 100_000, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (64 << 20) + b'"}', -32600),
    ],
    ids=["cut off", "no text", "no object", "empty batch", "batch", "no version", "null id", "deep", "64 MB"],
)
def test_what_is_no_message_gets_an_error_and_nothing_dies(client: Any, line: bytes, code: int) -> None:
    client.write(line)
    assert client.answer(None)["error"]["code"] == code
    assert client.request("ping") == {}


def test_requests_that_cannot_be_get_the_errors_of_the_specification(client: Any) -> None:
    assert client.error("no/such/method")["code"] == -32601
    assert client.error("prompts/list")["code"] == -32601
    assert client.error("tools/call", name="no_such_tool", arguments={})["code"] == -32602
    assert client.error("tools/call", name="query", arguments=[1])["code"] == -32602
    assert client.error("resources/read", uri="sightline://buffers/cmd_000000")["code"] == -32002
    assert client.error("resources/read", uri="file:///etc/passwd")["code"] == -32002
    assert client.error("resources/list", cursor="nonsense")["code"] == -32602
    assert client.error("completion/complete", ref={"type": "ref/prompt"}, argument={})["code"] == -32602


def test_methods_of_the_other_era_are_not_found(client: Any) -> None:
    assert client.error("subscriptions/listen", notifications={})["code"] == -32601
    client.version = MODERN
    for method in ("ping", "resources/subscribe"):
        assert client.error(method, uri="sightline://buffers/cmd_000000")["code"] == -32601


def test_strangers_among_messages_are_passed_over(client: Any) -> None:
    client.write(b"")
    client.write(b'{"jsonrpc":"2.0","id":99,"result":{}}')
    client.write(b'{"jsonrpc":"2.0","id":"99","error":{"code":1,"message":"x"}}')
    client.notify("notifications/unheard-of")
    client.cancel(4711)
    client.notify("notifications/cancelled", requestId={"no": "id"})
    assert client.request("ping") == {}
    assert [message for message in client.heard if "result" not in message] == []


def test_the_version_that_has_batches_gets_their_answers_together(connect: Callable[..., Any]) -> None:
    client = connect(version="2025-03-26")
    batch = [
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/unheard-of"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "list_outputs"}},
        5,
    ]
    client.write(json.dumps(batch).encode())
    client.answer("b")
    assert {answer["id"] for answer in client.heard[-1]} == {"a", "b", None}


def test_a_batch_is_answered_without_the_requests_that_were_cancelled(
    connect: Callable[..., Any], tmp_path: Path
) -> None:
    client = connect(version="2025-03-26")
    os.mkfifo(tmp_path / "begun")
    command = {"name": "run_command", "arguments": {"command": "echo > begun; sleep 1000"}}
    batch = [
        {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": command},
        {"jsonrpc": "2.0", "id": "b", "method": "ping"},
    ]
    client.write(json.dumps(batch).encode())
    (tmp_path / "begun").read_text()
    client.cancel("a")
    assert client.answer("b")["result"] == {}
    assert client.heard[-1] == [client.answer("b")]
    client.write(json.dumps(batch[1:]).encode())
    client.until(lambda: client.heard[-2:] == [[client.answer("b")]] * 2)


def test_a_cancellation_without_an_id_cancels_nothing(client: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    arguments = {"command": "cat go"}
    params = {"name": "run_command", "arguments": arguments}
    client.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode())
    client.cancel(True)
    assert client.request("ping") == {}
    (tmp_path / "go").write_text("went\n")
    client.until(lambda: "went" in str(client.heard[-1]))
    assert client.heard[-1]["id"] == 1


def test_pipes_that_do_not_block_are_waited_for(tmp_path: Path) -> None:
    source, requests = os.pipe()
    answers, sink = os.pipe()
    for fd in (source, sink):
        os.set_blocking(fd, False)
    program = [sys.executable, "-m", "sightline.doors.cli.main", "mcp"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "store")}
    with subprocess.Popen(program, stdin=source, stdout=sink, cwd=tmp_path, env=environment) as server:
        os.close(source)
        os.close(sink)
        with open(answers, "rb") as heard, open(requests, "wb", buffering=0) as told:
            for number in range(2):  # the second one finds a server that has waited for it
                told.write(b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n' % number)
                assert json.loads(heard.readline())["id"] == number
    assert server.returncode == 0


def test_nothing_heavy_is_loaded_for_serving_and_little_before_a_call(tmp_path: Path) -> None:
    program = (
        "import json, sys\n"
        "from sightline.doors.cli.main import main\n"
        "main(['mcp'])\n"
        "sys.stderr.write(json.dumps(sorted(sys.modules)))"
    )
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    calls = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(
            [
                ("run_command", {"command": LARGE}),
                ("read_file", {"path": "/etc/passwd"}),
                ("read_output", {"ref": "@last", "search": "1"}),
                ("query", {"pipeline": "wc -l @last"}),
                ("list_outputs", {}),
            ],
            3,
        )
    ]
    reads = [{"jsonrpc": "2.0", "id": 20, "method": "resources/list"}]

    def loaded(messages: list[dict[str, Any]]) -> set[str]:
        server = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "store")},
        )
        assert server.stdin
        assert server.stdout
        for message in messages:
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            answer = json.loads(server.stdout.readline())
            assert answer["id"] == message["id"]
            assert not answer["result"].get("isError")
        return set(json.loads(server.communicate()[1]))

    heavy = {
        "asyncio",
        "mcp",
        "mcp_types",
        "pydantic",
        "anyio",
        "starlette",
        "uvicorn",
        "textual",
        "rich",
        "watchfiles",
    }
    heavy |= {"http", "ssl", "email", "importlib.metadata", "platformdirs", "pygments", "logging", "concurrent"}
    first = loaded([opening, listing])
    assert not first & (heavy | {"sqlite3", "subprocess", "sightline.store", "sightline_tui"})
    assert not loaded([opening, *calls, *reads]) & heavy


def test_options_that_cannot_be_are_told_at_the_start(tmp_path: Path) -> None:
    for words in (
        ["--tools", "no_such_tool"],
        ["--read-only", "--tools", "run_command"],
        ["--profile", "no-such-profile"],
        ["--root", "missing"],
        ["--port", "1"],
        ["--no-token"],
        ["--patience", "long"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "sightline.doors.cli.main", "mcp", *words],
            input=b"",
            capture_output=True,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "store")},
        )
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"Traceback" not in done.stderr
        assert words[0].encode() in done.stderr or b"tool" in done.stderr


def test_a_store_that_cannot_be_used_is_told_to_the_model(connect: Callable[..., Any], tmp_path: Path) -> None:
    client = connect()
    client.home.mkdir(mode=0o700)
    (client.home / "config.toml").write_text("max_buffers = 'many'\n")
    assert len(client.request("tools/list")["tools"]) == 5
    fields, _ = client.call("list_outputs")
    assert "max_buffers" in fields["error"]
    assert client.error("resources/list")["code"] == -32603
    (client.home / "config.toml").unlink()
    assert "error" not in client.call("list_outputs")[0]


def test_an_index_made_anew_under_a_living_server_is_used(client: Any) -> None:
    client.call("run_command", command="echo first")
    with client.store() as store:
        store.access.start_anew()
    client.call("run_command", command="echo second")
    with client.store() as store:
        listed = {item.buffer.command for item in store.listed(5)}
        assert listed == {"echo first", "echo second"}
        client.until(lambda: store.listed(1)[0].buffer.command == "echo second")  # in order once there is a pause
