"""``sightline export``: gives the calls of a session to other tools, as spans of OpenTelemetry."""

import os
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import unquote, urlsplit

from sightline.audit.otlp import Spans, spans_of, traces_data
from sightline.audit.prices import PriceList
from sightline.audit.timeline import Call, calls_of
from sightline.base.distribution import version
from sightline.base.errors import SightlineError, UsageError
from sightline.base.records import Session
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door, write_err, write_file, write_out
from sightline.light.json_text import dumps, loads
from sightline.log.session_list import find_session
from sightline.store import Store

_SPANS_A_REQUEST = 500
_PATIENCE_SECONDS = 30
_ANSWER_BYTES = 64 << 10
_HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"


class NotReceived(SightlineError):
    """The receiver could not be reached, or refused the spans."""


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Give a session to other tools, as spans of OpenTelemetry: one of the session, one of each call, with its "
        "command, exit code and times, and one of each request to a model, with its tokens and what they cost. Of "
        "outputs and replies only hashes and sizes are given. Command lines may contain secrets; mind who gets them.",
        "sightline export claude-code-42 --otlp spans.json",
        "sightline export claude-code-42 --otlp http://127.0.0.1:4318",
        json=False,
    )
    made.add_argument("session", metavar="SESSION", help="the session, by its name or the beginning of it")
    made.add_argument(
        "--otlp",
        required=True,
        metavar="TARGET",
        help="a file for OTLP/JSON, - for standard output, or the URL of a receiver for OTLP over HTTP; without a path "
        f"in it /v1/traces is meant. {_HEADERS} is heeded",
    )
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    with Door(given) as door:
        door.store.bring_up_to_date()
        session = find_session(door.store, given.session).session
        calls, store = calls_of(door.store, session=session.name), door.store
        made = _priced(store, session, calls) if isinstance(store, Store) else spans_of(session, calls)
    ours = version() or "0"
    if given.otlp.lower().startswith(("http://", "https://")):
        for at in range(0, len(made.spans), _SPANS_A_REQUEST):
            _send(given.otlp, made, at, ours)
        write_err(f"{len(made.spans):,} spans sent\n")
        return 0
    text = dumps(traces_data(made, made.spans, ours), ensure_ascii=False) + "\n"
    if given.otlp == "-":
        write_out(text)
        return 0
    write_file(given.otlp, text)
    write_err(f"{len(made.spans):,} spans written to {given.otlp}\n")
    return 0


def _priced(store: Store, session: Session, calls: list[Call]) -> Spans:
    requests = store.index.requests.of([session.name]).get(session.name, [])
    return spans_of(session, calls, requests, PriceList({one.model for one in requests}, dict(store.settings.prices)))


def _send(url: str, made: Spans, at: int, ours: str) -> None:
    """Send some of the spans. Raises NotReceived, UsageError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise UsageError(f"{url} is no address", "give http://HOST:PORT or https://HOST:PORT")
    body = dumps(traces_data(made, made.spans[at : at + _SPANS_A_REQUEST], ours)).encode()
    path = (parts.path.rstrip("/") or "/v1/traces") + (f"?{parts.query}" if parts.query else "")
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connect(host, port, timeout=_PATIENCE_SECONDS)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json", **_headers()})
        answer = connection.getresponse()
        said = answer.read(_ANSWER_BYTES).decode(errors="replace")
    except ValueError as error:
        raise UsageError(f"the headers in {_HEADERS} cannot be sent: {error}", "write them as name=value,…") from error
    except (OSError, HTTPException) as error:
        hint = "is a receiver for OTLP over HTTP listening there? the usual port is 4318"
        raise NotReceived(f"{url} cannot be reached: {error}", hint) from error
    finally:
        connection.close()
    if answer.status not in (200, 202):
        raise NotReceived(f"{url} answered {answer.status} {answer.reason}: {said[:200]}", "look at its log")
    if rejected := _rejected(said):
        raise NotReceived(f"{url} rejected {rejected}", "look at its log")


def _rejected(said: str) -> str:
    """Return what a receiver says it has rejected; empty if it took everything."""
    try:
        partial = loads(said or "{}").get("partialSuccess") or {}
        count = int(partial.get("rejectedSpans") or 0)
    except (ValueError, AttributeError, TypeError):
        return ""
    return f"{count:,} spans: {str(partial.get('errorMessage', ''))[:200]}" if count else ""


def _headers() -> dict[str, str]:
    """Read headers from the variable: ``name=value,name=value`` with percent-encoded values."""
    pairs = (pair.partition("=") for pair in os.environ.get(_HEADERS, "").split(",") if "=" in pair)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}
