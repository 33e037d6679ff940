"""``sightline export``: what a file holds and a receiver of OpenTelemetry is sent."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

_MEMBERS = {"traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"}
_MEMBERS |= {"attributes", "status"}


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
    assert cli("export", session, "--otlp", "http://:x").code == 2
    assert cli("export", "nobody", "--otlp", "-").code == 2
