"""``sightline export``: what a file holds and a receiver of OpenTelemetry is sent."""

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.store.audit.usage_kit import MODEL, NAME, Requests
from tests.store.harnesses.past_kit import write_lines

IN_PROCESS = True

_MEMBERS = {"traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"}
_MEMBERS |= {"attributes", "status"}
_IDS = {"traceId", "spanId", "parentSpanId"}


@pytest.fixture
def session(cli: Any) -> str:
    """A session with a command that succeeds, one that fails, and a look at what the first one wrote."""
    cli.environment["SIGHTLINE_SESSION"] = "s1"
    cli("run", "-c", "seq 1 3")
    cli("run", "-c", "echo no; exit 4")
    cli("show", "@last~1")
    return str(cli("sessions", "--json").data[0]["name"])


def _spans(text: str) -> list[dict[str, Any]]:
    (resource,) = json.loads(text)["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    assert scope["scope"]["name"] == "sightline"
    return list(scope["spans"])


def _about(span: dict[str, Any]) -> dict[str, Any]:
    values = {one["key"]: next(iter(one["value"].items())) for one in span["attributes"]}
    return {name: int(value) if kind == "intValue" else value for name, (kind, value) in values.items()}


class _Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.got.append((self.path, dict(self.headers), body.decode()))
        status, said = server.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def receiver() -> Iterator[Any]:
    """Answers with ``answer`` and keeps what it got."""
    server: Any = HTTPServer(("127.0.0.1", 0), _Receiver)
    server.got, server.answer = [], (200, b'{"partialSuccess": {}}')
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_each_call_is_a_span_below_that_of_the_session_with_its_content_by_hash_only(cli: Any, session: str) -> None:
    ran = cli("export", session, "--otlp", "-")
    assert ran.code == 0, ran.err
    whole, *calls = _spans(ran.out)
    assert all(set(span) <= _MEMBERS for span in (whole, *calls))
    assert _about(whole)["gen_ai.operation.name"] == "invoke_agent"
    assert {span["parentSpanId"] for span in calls} == {whole["spanId"]}
    assert {span["traceId"] for span in (whole, *calls)} == {whole["traceId"]}
    assert (len(whole["traceId"]), len(whole["spanId"])) == (32, 16)
    assert len({span["spanId"] for span in (whole, *calls)}) == len(calls) + 1
    good, bad, look = (_about(span) for span in calls)
    assert good["process.command_line"] == "seq 1 3"
    assert good["sightline.stream.out.sha256"] == hashlib.sha256(b"1\n2\n3\n").hexdigest()
    assert (good["process.exit.code"], bad["process.exit.code"]) == (0, 4)
    assert (calls[0]["status"], calls[1]["status"], bad["error.type"]) == ({}, {"code": 2}, "exit 4")
    assert "process.command_line" not in look
    assert look["sightline.ref"] == good["sightline.ref"]
    assert int(whole["startTimeUnixNano"]) <= int(calls[0]["startTimeUnixNano"]) <= int(calls[0]["endTimeUnixNano"])
    assert int(calls[-1]["endTimeUnixNano"]) <= int(whole["endTimeUnixNano"])
    assert cli("export", session, "--otlp", "-").out == ran.out, "the same spans have the same ids"


def test_a_file_gets_what_standard_output_would(cli: Any, session: str) -> None:
    ran = cli("export", session, "--otlp", "spans.json")
    assert "4 spans written to spans.json" in ran.err
    assert (cli.folder / "spans.json").read_text() == cli("export", session, "--otlp", "-").out
    assert (cli.folder / "spans.json").stat().st_mode & 0o077 == 0


def test_a_receiver_is_sent_it_where_the_protocol_says_with_the_headers_that_are_asked_for(
    cli: Any, session: str, receiver: Any
) -> None:
    ran = cli("export", session, "--otlp", receiver.url, OTEL_EXPORTER_OTLP_HEADERS="x-key=a%20b,other=c")
    assert (ran.code, ran.err) == (0, "4 spans sent\n")
    ((path, headers, body),) = receiver.got
    assert path == "/v1/traces"
    assert (headers["Content-Type"], headers["x-key"], headers["other"]) == ("application/json", "a b", "c")
    assert _spans(body) == _spans(cli("export", session, "--otlp", "-").out)
    cli("export", session, "--otlp", f"{receiver.url}/other/traces?x=1")
    assert receiver.got[-1][0] == "/other/traces?x=1"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((500, b"no room"), "answered 500 Internal Server Error: no room"),
        ((307, b""), "answered 307"),
        ((200, b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}'), "rejected 2 spans: too old"),
    ],
)
def test_what_a_receiver_does_not_take_is_told(cli: Any, session: str, receiver: Any, answer: Any, told: str) -> None:
    receiver.answer = answer
    ran = cli("export", session, "--otlp", receiver.url)
    assert ran.code == 1
    assert told in ran.err


def test_where_nobody_listens_that_is_told(cli: Any, session: str, receiver: Any) -> None:
    receiver.shutdown()
    receiver.server_close()
    ran = cli("export", session, "--otlp", receiver.url)
    assert ran.code == 1
    assert "cannot be reached" in ran.err
    assert "4318" in ran.err


@pytest.mark.parametrize(
    ("target", "headers", "told"),
    [
        ("http://:x", "", "is no address"),
        ("http://[::1", "", "is no address"),
        ("HTTP://127.0.0.1:x", "", "is no address"),
        ("http://127.0.0.1:1", "a=b%0d%0aX: y", "OTEL_EXPORTER_OTLP_HEADERS"),
    ],
)
def test_an_address_or_a_header_that_is_none_is_an_error(
    cli: Any, session: str, target: str, headers: str, told: str
) -> None:
    ran = cli("export", session, "--otlp", target, OTEL_EXPORTER_OTLP_HEADERS=headers)
    assert ran.code == 2
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert cli("export", "nobody", "--otlp", "-").code == 2


_OWN = ("sightline.session", "sightline.ref", "sightline.view", "sightline.partial", "gen_ai.conversation.id")
"""Names of an export that depend on the store."""


def _facts(spans: list[dict[str, Any]]) -> list[Any]:
    """What calls were, when, and how they ended, without what only their store has."""
    facts = []
    for span in spans:
        about = {
            name: value
            for name, value in _about(span).items()
            if name not in _OWN and not name.startswith(("sightline.stream.", "sightline.view."))
        }
        facts.append((span["name"], span["startTimeUnixNano"], span["endTimeUnixNano"], span["status"], about))
    return facts


def test_what_was_exported_is_imported_elsewhere_as_the_same_calls_and_never_as_whole_outputs(
    cli: Any, session: str, tmp_path: Path
) -> None:
    cli("export", session, "--otlp", "spans.json")
    elsewhere = {"SIGHTLINE_HOME": str(tmp_path / "elsewhere")}
    ran = cli("import", "--otlp", "spans.json", **elsewhere)
    assert "3 calls of 1 session imported, 3 partial" in ran.out
    assert "1 unchanged" in cli("import", "--otlp", "spans.json", **elsewhere).out
    (name,) = [one["name"] for one in cli("sessions", "--json", **elsewhere).data if one["buffers"]]
    again = cli("export", name, "--otlp", "-", **elsewhere).out
    assert _facts(_spans(again)[1:]) == _facts(_spans((cli.folder / "spans.json").read_text())[1:])
    listed = cli("list", "--json", **elsewhere).data
    assert all("not its content" in one["partial"] for one in listed)


def test_what_was_exported_is_known_to_the_store_that_it_came_from(cli: Any, session: str) -> None:
    cli("export", session, "--otlp", "spans.json")
    assert cli("import", "--otlp", "spans.json").out.startswith("0 calls of 0 sessions imported, 3 known before")
    (cli.folder / "other.json").write_text("{}")
    refused = cli("import", "--otlp", "other.json")
    assert (refused.code, "no spans of OpenTelemetry" in refused.err) == (2, True)


def test_spans_of_others_have_their_results_where_they_tell_them(cli: Any) -> None:
    values = {"gen_ai.operation.name": "execute_tool", "gen_ai.agent.name": "other", "gen_ai.conversation.id": "c1"}
    values |= {"gen_ai.tool.name": "look", "gen_ai.tool.call.result": "found", "gen_ai.tool.call.arguments": '{"a": 1}'}
    span = {
        "traceId": "0" * 32,
        "spanId": "1" * 16,
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": 1700000001000000000,
        "attributes": [{"key": name, "value": {"stringValue": value}} for name, value in values.items()],
    }
    spans = [span | {"spanId": str(at) * 16} for at in (1, 2)]
    lines = [json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}) for one in spans]
    (cli.folder / "lines.jsonl").write_text("\n".join(lines) + "\n")
    assert "2 calls of 1 session imported," in cli("import", "--otlp", "lines.jsonl").out
    (one, _) = cli("list", "--json").data
    assert (one["command"], one["partial"]) == ('look {"a":1}', None)
    assert "found" in cli("show", one["ref"]).out


class _Otlp:
    """The protocol's own definitions, with the ids in hexadecimal, which protobuf's JSON has in base64."""

    def __init__(self) -> None:
        self._json = pytest.importorskip("google.protobuf.json_format")
        self.trace = pytest.importorskip("opentelemetry.proto.trace.v1.trace_pb2")
        self.service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")

    def read(self, text: str, message: Any) -> Any:
        """What they read of JSON, which they refuse where a name or a value is not theirs."""
        return self._json.ParseDict(self._with_ids(json.loads(text), self._in_base64), message)

    def written(self, message: Any) -> str:
        """The JSON that a collector writes of a message."""
        told = self._json.MessageToDict(message, use_integers_for_enums=True)
        return json.dumps(self._with_ids(told, self._in_hexadecimal))

    @staticmethod
    def _in_base64(one: str) -> str:
        return base64.b64encode(bytes.fromhex(one)).decode()

    @staticmethod
    def _in_hexadecimal(one: str) -> str:
        return base64.b64decode(one).hex()

    @staticmethod
    def _with_ids(spans: Any, form: Callable[[str], str]) -> Any:
        for resource in spans.get("resourceSpans", ()):
            for span in resource["scopeSpans"][0]["spans"]:
                span.update({name: form(span[name]) for name in _IDS & span.keys()})
        return spans


@pytest.fixture
def otlp() -> _Otlp:
    """The protocol's own definitions."""
    return _Otlp()


def test_what_is_exported_is_what_the_protocols_own_definitions_read(cli: Any, session: str, otlp: _Otlp) -> None:
    read = otlp.read(cli("export", session, "--otlp", "-").out, otlp.trace.TracesData())
    whole, *calls = read.resource_spans[0].scope_spans[0].spans
    assert {one.parent_span_id for one in calls} == {whole.span_id}
    assert [one.status.code for one in calls] == [0, 2, 0]
    assert {one.key: one.value.int_value for one in calls[1].attributes}["process.exit.code"] == 4


def test_what_a_receiver_got_and_wrote_down_is_imported_as_the_same_calls(
    cli: Any, session: str, receiver: Any, tmp_path: Path, otlp: _Otlp
) -> None:
    """The receiver reads requests and writes files by the protocol's own definitions, as collectors do."""
    receiver.answer = (200, otlp.written(otlp.service.ExportTraceServiceResponse()).encode())
    assert cli("export", session, "--otlp", receiver.url).code == 0
    [(_, _, body)] = receiver.got
    got = otlp.read(body, otlp.service.ExportTraceServiceRequest())
    (cli.folder / "got.json").write_text(otlp.written(got))
    elsewhere = {"SIGHTLINE_HOME": str(tmp_path / "elsewhere")}
    assert "3 calls of 1 session imported, 3 partial" in cli("import", "--otlp", "got.json", **elsewhere).out
    (name,) = [one["name"] for one in cli("sessions", "--json", **elsewhere).data if one["buffers"]]
    again = cli("export", name, "--otlp", "-", **elsewhere).out
    assert _facts(_spans(again)[1:]) == _facts(_spans(cli("export", session, "--otlp", "-").out)[1:])
    assert cli("import", "--otlp", "got.json").out.startswith("0 calls of 0 sessions imported, 3 known before")


def test_a_file_of_one_line_is_whole_without_a_newline_at_its_end(cli: Any, session: str, tmp_path: Path) -> None:
    spans = json.loads(cli("export", session, "--otlp", "-").out)
    (cli.folder / "line.json").write_text(json.dumps(spans))
    elsewhere = {"SIGHTLINE_HOME": str(tmp_path / "elsewhere")}
    assert "3 calls of 1 session imported" in cli("import", "--otlp", "line.json", **elsewhere).out


def _chats(text: str) -> list[dict[str, Any]]:
    return [about for span in _spans(text) if (about := _about(span))["gen_ai.operation.name"] == "chat"]


def test_requests_to_models_are_spans_with_todays_names_and_come_back_as_the_same_sums(
    cli: Any, tmp_path: Path
) -> None:
    usage = {"cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 20}}
    session = Requests().reply("x" * 4000, written=50, read=1000, output=7)
    session.lines[0]["message"]["usage"] |= usage
    write_lines(tmp_path / "s" / "5e551011.jsonl", *session.reply(read=11, stop=None).lines)
    cli("import", str(tmp_path / "s"))
    first, second = _chats(cli("export", NAME, "--otlp", "spans.json") and (tmp_path / "spans.json").read_text())
    counts = {name: value for name, value in first.items() if "tokens" in name}
    assert counts == {
        "gen_ai.usage.input_tokens": 1050,
        "gen_ai.usage.cache_read.input_tokens": 1000,
        "gen_ai.usage.cache_write.input_tokens": 50,
        "gen_ai.usage.output_tokens": 7,
        "sightline.usage.cache_write_1h.input_tokens": 20,
    }
    assert (first["gen_ai.provider.name"], first["gen_ai.response.model"]) == ("anthropic", MODEL)
    assert first["sightline.cost.usd"] == pytest.approx((1000 * 0.5 + 30 * 6.25 + 20 * 10 + 7 * 25) / 1e6, abs=1e-6)
    assert second["sightline.usage.at_least"] == "output"
    assert "sightline.cost.usd" not in second
    total = cli("cost", "--json").data["total"]
    assert cli("import", "--otlp", "spans.json").code == 0
    assert cli("cost", "--json").data["total"] == total
    elsewhere = {"SIGHTLINE_HOME": str(tmp_path / "elsewhere")}
    assert cli("import", "--otlp", "spans.json", **elsewhere).code == 0
    there = cli("cost", "--json", **elsewhere).data["total"]
    assert there == total | {"computed": 2}


def test_older_names_of_counts_are_read(cli: Any, tmp_path: Path) -> None:
    old = {"input_tokens": 10, "output_tokens": 5, "cache_creation.input_tokens": 3, "cache_read.input_tokens": 4}
    older = {"prompt_tokens": 10, "completion_tokens": 5, "cache_read_input_tokens": 400}  # the input has none of them
    spans = []
    for number, counts in enumerate((old, older)):
        values = {f"gen_ai.usage.{name}": {"intValue": str(count)} for name, count in counts.items()}
        values |= {"gen_ai.operation.name": {"stringValue": "chat"}, "gen_ai.request.model": {"stringValue": "m"}}
        about = [{"key": name, "value": value} for name, value in values.items()]
        times = dict.fromkeys(("startTimeUnixNano", "endTimeUnixNano"), str(1_700_000_000_000_000_000 + number))
        spans.append({"traceId": "a" * 32, "spanId": f"{number:016}", "attributes": about, **times})
    (tmp_path / "old.json").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    assert cli("import", "--otlp", "old.json").code == 0
    total = cli("cost", "--json").data["total"]
    counts = {name: total[name] for name in ("requests", "fresh", "cache_read", "cache_write", "output")}
    assert counts == {"requests": 2, "fresh": 13, "cache_read": 404, "cache_write": 3, "output": 10}
