"""Spans of OpenTelemetry for tool calls of agents, as ``sightline export --otlp`` and others write them (OTLP/JSON).

A file is one ``TracesData`` of ``opentelemetry/proto/trace/v1/trace.proto``, or one on each line, as collectors write.
Spans whose ``gen_ai.operation.name`` is ``execute_tool`` are calls, and those of `_REQUESTS` requests to models. Ours
have hashes and sizes instead of outputs and replies. ``gen_ai.tool.call.arguments`` and ``gen_ai.tool.call.result``,
which the conventions make optional, are read where they are given.
"""

from collections.abc import Iterator

from sightline.base.records import Gap
from sightline.base.request_usage import COUNTS, RequestUsage
from sightline.harnesses.base import Harness
from sightline.harnesses.tool_call import CallSession, ToolCall, dict_of, list_of, plain, text_of
from sightline.harnesses.transcript import (
    DOCUMENT_BYTES,
    SHAPE_ERRORS,
    BadRecord,
    Candidate,
    ToldUsage,
    Transcript,
    TranscriptItem,
    TranscriptReading,
    count_of,
    misshapen,
)
from sightline.light.json_text import loads
from sightline.light.typing_names import Any
from sightline.log.past_views import at_its_time

_HEAD_BYTES = 4096
_ERROR = 2  # STATUS_CODE_ERROR
_REQUESTS = ("chat", "text_completion", "generate_content")
_INPUT = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
_OUTPUT = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
_READ = (
    *("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
    "gen_ai.usage.input_tokens.cached",
)
_WRITTEN = (
    *("gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens"),
    *("gen_ai.usage.cache_creation_input_tokens", "gen_ai.usage.input_tokens.cache_write"),
)
_REASONING = ("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.output_tokens.reasoning")
"""The names of counts: today's (conventions 0.1.0), then older ones."""

_PREFIX = "sightline.stream."
_LEFT_OUT = "spans tell of an output its size and hash, not its content"
_NOT_TOLD = "spans tell of a reply its size and hash, not its text"


class Otlp(Harness):
    """No harness, but files that any of them may have been exported into."""

    name, title = "otlp", "OpenTelemetry"
    endings = (".json", ".jsonl")
    reader = __name__


HARNESS = Otlp()


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of spans; None for another file."""
    if not _is_of_spans(file.head[:_HEAD_BYTES]):
        return None
    is_spread = file.head.lstrip()[1:].lstrip(b" ").startswith((b"\n", b"\r"))
    if is_spread or b"\n" not in file.transcript.head(DOCUMENT_BYTES):  # a line without an end may still be written
        return file.of_document(lambda document: read_spans(document, 0))
    return file.of_lines(Parser())


class Parser:
    """Makes calls from lines, each of which is a document."""

    waiting = False
    newest = 0.0

    def feed(self, record: dict[str, Any], line: int) -> Iterator[TranscriptItem]:
        """Yield the calls of a line."""
        return read_spans(record, line)

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield nothing, because nothing waits."""
        return iter(())


def read_spans(document: Any, line: int) -> Iterator[TranscriptItem]:
    """Yield the calls that spans tell of; ``line`` is the line of the document, 0 if there are no lines."""
    for resource in list_of(dict_of(document).get("resourceSpans")):
        service = _values(dict_of(resource.get("resource")).get("attributes"))
        for scope in list_of(resource.get("scopeSpans")):
            for span in list_of(scope.get("spans")):
                try:
                    about = {**service, **_values(span.get("attributes"))}
                    if about.get("gen_ai.operation.name") == "execute_tool":
                        yield _call(span, about, line)
                    elif about.get("gen_ai.operation.name") in _REQUESTS and (usage := _usage(span, about)):
                        yield ToldUsage(_session(about, usage.time), usage)
                except SHAPE_ERRORS as error:
                    yield misshapen(line, error)
    if not isinstance(document, dict) or not isinstance(document.get("resourceSpans"), list):
        yield BadRecord(line, "no spans")


def _call(span: dict[str, Any], about: dict[str, Any], line: int) -> ToolCall:
    command, tool = text_of(about.get("process.command_line")), text_of(about.get("gen_ai.tool.name")) or "tool"
    asked, answered = (_seconds(span[name]) for name in ("startTimeUnixNano", "endTimeUnixNano"))
    code = about.get("process.exit.code")
    call = ToolCall(
        session=_session(about, asked),
        id=_id(span, about),
        use=text_of(about.get("gen_ai.tool.call.id")),
        line=line,
        asked=asked,
        answered=answered,
        tool=plain(tool),
        arguments=_json(about.get("gen_ai.tool.call.arguments")),
        kind="cmd" if command else "tool",
        command=plain(command),
        cwd=plain(text_of(about.get("process.working_directory"))),
        exit_code=code if isinstance(code, int) else None,
        failed=dict_of(span.get("status")).get("code") in (_ERROR, "STATUS_CODE_ERROR"),
    )
    result = about.get("gen_ai.tool.call.result")
    if isinstance(result, str):
        return call.with_text(plain(result))._replace(shown=(plain(result),))
    sizes = {name: size for name, size in about.items() if name.startswith(_PREFIX) and name.endswith(".bytes")}
    gaps = tuple(Gap(_stream(name), 0, size, "bytes") for name, size in sizes.items() if isinstance(size, int) and size)
    told = text_of(about.get("sightline.partial"))
    partial = "; ".join(filter(None, (_LEFT_OUT * bool(gaps or not sizes), told)))
    return call._replace(shown=("",), unknown=_NOT_TOLD, partial=partial, gaps=gaps)


def _usage(span: dict[str, Any], about: dict[str, Any]) -> RequestUsage | None:
    """Return what a request took; None if it states nothing of that.

    The input holds what was read from caches and written to them. Where these are more, it does not, as programs wrote
    it before the conventions said so.
    """
    whole, read, written, output, reasoning = (
        next((count for name in names if (count := count_of(about.get(name))) is not None), None)
        for names in (_INPUT, _READ, _WRITTEN, _OUTPUT, _REASONING)
    )
    if (whole, read, written, output) == (None,) * 4:
        return None
    hour, cached = count_of(about.get("sightline.usage.cache_write_1h.input_tokens")), (read or 0) + (written or 0)
    fresh = whole if whole is None or cached > whole else whole - cached
    at_least = (name for name in text_of(about.get("sightline.usage.at_least")).split() if name in COUNTS)
    price = about.get("sightline.cost.own_usd")
    own, response = text_of(about.get("sightline.request")), text_of(about.get("gen_ai.response.id"))
    return RequestUsage(
        id=own or f"otlp:{response or span['traceId'] + ':' + span['spanId']}",
        time=_seconds(span["endTimeUnixNano"]),
        model=plain(text_of(about.get("gen_ai.response.model")) or text_of(about.get("gen_ai.request.model"))),
        fresh=fresh,
        cache_read=read,
        cache_write=None if written is None else max(0, written - (hour or 0)),
        cache_write_1h=hour,
        output=output,
        reasoning=reasoning,
        computed=("fresh",) if cached and fresh != whole else (),
        at_least=tuple(at_least),
        tier=text_of(about.get("sightline.usage.tier")),
        own_price=float(price) if isinstance(price, int | float) else None,
    )


def _seconds(nanoseconds: Any) -> float:
    """Return a time within the microsecond that spans give, so that it is exported as the same again."""
    return (int(nanoseconds) + 500) / 1e9


def _id(span: dict[str, Any], about: dict[str, Any]) -> str:
    """Return the id of a call; of one of ours that by which its own store knows it, see `known_calls`."""
    view = about.get("sightline.view")
    return at_its_time(view, int(span["endTimeUnixNano"])) if view else f"{span['traceId']}:{span['spanId']}"


def has_spans(path: str) -> bool:
    """Return whether a file begins as files of spans do. Raises NotReadable."""
    file = Transcript(path)
    try:
        return _is_of_spans(file.head(_HEAD_BYTES))
    finally:
        file.close()


def _is_of_spans(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and b'"resourceSpans"' in head


def _session(about: dict[str, Any], started: float) -> CallSession:
    harness = text_of(about.get("gen_ai.agent.name")) or text_of(about.get("service.name")) or HARNESS.name
    ours = text_of(about.get("sightline.session")).removeprefix(f"{harness}-")
    client = text_of(about.get("service.version")) or harness
    return CallSession(harness, ours or text_of(about.get("gen_ai.conversation.id")) or "session", client, "", started)


def _stream(name: str) -> str:
    return name.removeprefix(_PREFIX).removesuffix(".bytes")


def _values(attributes: Any) -> dict[str, Any]:
    """Return attributes by name, those that are texts, numbers or truth values."""
    return {text_of(one.get("key")): _value(dict_of(one.get("value"))) for one in map(dict_of, list_of(attributes))}


def _value(value: dict[str, Any]) -> Any:
    if "intValue" in value:
        return int(value["intValue"])
    return value.get("stringValue", value.get("boolValue", value.get("doubleValue")))


def _json(text: Any) -> Any:
    try:
        return loads(text) if isinstance(text, str) else {}
    except ValueError:
        return text
