"""Turns a session's calls into spans of OpenTelemetry, in the JSON form of its protocol (OTLP/JSON).

Names of members are those of ``opentelemetry/proto/trace/v1/trace.proto`` in lowerCamelCase; ids are hexadecimal,
64-bit integers are strings, as in the protocol's JSON encoding. Names of attributes are those of the semantic
conventions for generative AI, version 0.1.0, (``invoke_agent``, ``execute_tool`` and ``chat`` spans) and for processes;
a name that these lack begins with ``sightline.``, such as that of money. A count that is not stated is left out. Only
hashes and sizes of outputs and replies are given, never their content.
"""

import hashlib
from collections.abc import Iterable, Sequence

from sightline.audit.prices import PriceList
from sightline.audit.timeline import Call
from sightline.base.records import Session
from sightline.base.request_usage import RequestUsage
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

_INTERNAL = 1  # SPAN_KIND_INTERNAL
_CLIENT = 3  # SPAN_KIND_CLIENT
_ERROR = 2  # STATUS_CODE_ERROR
_LOOKS = ("read_output", "read_file", "list_outputs", "query")
"""Verbs that run no command; their outputs were captured before."""

_PROVIDERS = {"claude": "anthropic", "gpt": "openai", "o3": "openai", "o4": "openai", "gemini": "gcp.gemini"}
"""Providers by the beginning of a model's name; of others it is not known."""

Attributes = dict[str, Any]


class Spans(NamedTuple):
    """The spans of a session.

    Attributes:
        resource: attributes of the program that made them.
        spans: the spans as JSON objects, the session's own first.
    """

    resource: list[Attributes]
    spans: list[dict[str, Any]]


def spans_of(
    session: Session, calls: Sequence[Call], requests: Sequence[RequestUsage] = (), prices: PriceList | None = None
) -> Spans:
    """Make the spans of a session: one for the session, and below it one for each call and each request to a model.

    The ids are hashes of names that do not change, so spans that are sent twice are equal.

    Args:
        session: the session.
        calls: its calls, the oldest first.
        requests: its requests, the oldest first.
        prices: the prices of their models; None to state none.
    """
    trace, root = _id(session.name, 16), _id(f"{session.name}/session", 8)
    agent = session.harness
    shared = {
        "gen_ai.agent.name": agent,
        "gen_ai.conversation.id": session.harness_id or session.name,
        "sightline.session": session.name,
    }
    of_calls = [_span(call, trace, root, shared) for call in calls]
    of_calls += (_request_span(one, trace, root, shared, prices) for one in requests)
    ends = [int(one["endTimeUnixNano"]) for one in of_calls]
    whole = {
        "traceId": trace,
        "spanId": root,
        "name": f"invoke_agent {agent}",
        "kind": _INTERNAL,
        "startTimeUnixNano": str(min([_nanos(session.started), *(int(one["startTimeUnixNano"]) for one in of_calls)])),
        "endTimeUnixNano": str(max([_nanos(session.started), *ends])),
        "attributes": _attributes(
            {**shared, "gen_ai.operation.name": "invoke_agent", "process.working_directory": session.cwd}
        ),
    }
    return Spans(_attributes({"service.name": agent, "service.version": session.client}), [whole, *of_calls])


def traces_data(made: Spans, spans: Iterable[dict[str, Any]], version: str) -> dict[str, Any]:
    """Encode some of the spans as ``TracesData``, the content of a file and of a request to a receiver.

    Args:
        made: the spans of the session.
        spans: the ones to encode.
        version: version of Sightline.
    """
    scope = {"scope": {"name": "sightline", "version": version}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": {"attributes": made.resource}, "scopeSpans": [scope]}]}


def _span(call: Call, trace: str, root: str, shared: Attributes) -> dict[str, Any]:
    view, buffer = call.view, call.buffer
    request = _request(view.request)
    tool = str(request.get("tool") or view.verb)
    ran = buffer is not None and buffer.kind == "cmd" and view.verb not in _LOOKS
    started = view.time
    if buffer is not None and view.verb not in _LOOKS:
        started = min(buffer.created, view.time or buffer.created)
    caller = request.get("caller")
    about: Attributes = {
        **shared,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": caller.get("tool_use") if isinstance(caller, dict) else None,
        "sightline.view": view.id if view.number else None,
        "sightline.view.sha256": view.text_sha256 if view.number else None,
        "sightline.view.bytes": view.bytes_shown,
        "sightline.view.truncated": view.truncated,
    }
    if buffer is not None:
        about |= {"sightline.ref": buffer.ref, "sightline.partial": buffer.lost or None}
        about["sightline.altered"] = buffer.altered or None
        if ran:
            about |= {"process.command_line": buffer.command, "process.working_directory": buffer.cwd}
        for name, stream in buffer.streams.items():
            about[f"sightline.stream.{name}.bytes"] = stream.bytes
            about[f"sightline.stream.{name}.sha256"] = stream.sha256
    code = view.exit_code if view.exit_code is not None else buffer.exit_code if ran and buffer else None
    about["process.exit.code"] = code
    if call.failed:
        about["error.type"] = f"exit {code}" if code else "tool_error"
    return {
        "traceId": trace,
        "spanId": _id(view.id if view.number else f"{view.session}/{buffer.name if buffer else started}", 8),
        "parentSpanId": root,
        "name": f"execute_tool {tool}",
        "kind": _INTERNAL,
        "startTimeUnixNano": str(_nanos(started)),
        "endTimeUnixNano": str(_nanos(max(view.time, started))),
        "attributes": _attributes(about),
        "status": {"code": _ERROR} if call.failed else {},
    }


def _request_span(
    usage: RequestUsage, trace: str, root: str, shared: Attributes, prices: PriceList | None
) -> dict[str, Any]:
    """Return the span of a request. Only the time of its reply is known, so the span has no length."""
    written = [count for count in (usage.cache_write, usage.cache_write_1h) if count is not None]
    inputs = [count for count in (usage.fresh, usage.cache_read, *written) if count is not None]
    provider = next((name for start, name in _PROVIDERS.items() if usage.model.startswith(start)), "")
    dollars = _dollars(usage, sum(inputs), prices) if prices else None
    about: Attributes = {
        **shared,
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.response.model": usage.model,
        "gen_ai.usage.input_tokens": sum(inputs) if usage.fresh is not None else None,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_write.input_tokens": sum(written) if written else None,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
        "sightline.request": usage.id,
        "sightline.usage.cache_write_1h.input_tokens": usage.cache_write_1h,
        "sightline.usage.at_least": " ".join(usage.at_least),
        "sightline.usage.tier": usage.tier,
        "sightline.cost.usd": dollars,
        "sightline.cost.list_price_date": prices.date if prices and dollars is not None else None,
        "sightline.cost.own_usd": usage.own_price,
    }
    return {
        "traceId": trace,
        "spanId": _id(usage.id, 8),
        "parentSpanId": root,
        "name": f"chat {usage.model}".rstrip(),
        "kind": _CLIENT,
        "startTimeUnixNano": str(_nanos(usage.time)),
        "endTimeUnixNano": str(_nanos(usage.time)),
        "attributes": _attributes(about),
        "status": {},
    }


def _dollars(usage: RequestUsage, context: int, prices: PriceList) -> float | None:
    """Return what a request cost; None if no price is known, or not all of its tokens are."""
    rates = prices.rates(usage.model, usage.tier, usage.time, context)
    if rates is None or usage.fresh is None or usage.output is None or usage.at_least:
        return None
    counts = (usage.fresh, usage.cache_read, usage.cache_write, usage.cache_write_1h, usage.output)
    return round(sum((count or 0) * rate for count, rate in zip(counts, rates, strict=True)) / 1e6, 6)


def _request(text: str) -> dict[str, Any]:
    try:
        read = loads(text)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _attributes(values: Attributes) -> list[Attributes]:
    """Encode attributes as ``KeyValue`` of ``common.proto``, without those that are empty or not known."""
    return [
        {"key": name, "value": _value(value)} for name, value in values.items() if value is not None and value != ""
    ]


def _value(value: Any) -> Attributes:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": str(value).encode(errors="replace").decode()}


def _nanos(seconds: float) -> int:
    return max(0, int(seconds * 1_000_000)) * 1_000


def _id(name: str, size: int) -> str:
    return hashlib.sha256(f"sightline {name}".encode(errors="surrogatepass")).hexdigest()[: 2 * size]
