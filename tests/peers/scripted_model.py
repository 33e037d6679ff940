"""A model that says what a test has it say, over HTTP on loopback, in the four dialects that harnesses speak.

Each harness sends the whole conversation with every request: what it holds of results of tools is exactly what a model
would be shown.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

Json = dict[str, Any]


class Use(NamedTuple):
    """A tool that the model wants called.

    Attributes:
        tool: its bare name; the harness' own prefix is added.
        arguments: its arguments.
        ours: whether it is a tool of our server, rather than one of the harness' own.
    """

    tool: str
    arguments: Json
    ours: bool = True


class Seen(NamedTuple):
    """A result as the model was shown it.

    Attributes:
        id: the id of the tool's use.
        blocks: its texts, one a block, where the dialect keeps blocks apart.
        failed: whether it was marked as an error, where the dialect can say so.
    """

    id: str
    blocks: tuple[str, ...]
    failed: bool = False


Step = Callable[[list[Seen]], Use | tuple[Use, ...]]
"""What the model does next, given all that it was shown: one use of a tool, or several at once."""


class Dialect:
    """One vendor's API.

    Attributes:
        prefix: what the harness puts before the name of a tool.
    """

    prefix = ""

    def usage(self, number: int) -> Json:
        """The tokens that it says its answer took, given the number of the request."""
        raise NotImplementedError

    def seen(self, body: Json) -> list[Seen]:
        """The results in a request."""
        raise NotImplementedError

    def offered(self, body: Json) -> list[str]:
        """The bare names of our tools in a request; none where it is about something else, such as a title."""
        names = [str(tool.get("name")) for tool in self._tools(body)]
        return [name.removeprefix(self.prefix) for name in names if name.startswith(self.prefix)]

    def _tools(self, body: Json) -> Iterator[Json]:
        """What a request says of each tool; ``name`` is its name."""
        yield from body.get("tools") or []

    def named(self, use: Use) -> str:
        """What the harness calls a tool."""
        return (self.prefix if use.ours else "") + use.tool

    def say(self, number: int, body: Json, uses: tuple[Use, ...], *, streamed: bool) -> Iterator[bytes]:
        """An answer's bytes: to use tools, or that all is done."""
        raise NotImplementedError


_WALL_TIME = re.compile(r"Wall time: [\d.]+ seconds\nOutput:")


def _event(data: Json, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


class Messages(Dialect):
    """``POST /v1/messages``, as Claude Code speaks it."""

    prefix = "mcp__sightline__"

    def usage(self, number: int) -> Json:
        return {"input_tokens": 1, "output_tokens": 1}

    def seen(self, body: Json) -> list[Seen]:
        blocks = [
            block
            for message in body.get("messages", [])
            if isinstance(message.get("content"), list)
            for block in message["content"]
            if block.get("type") == "tool_result"
        ]
        return [
            Seen(block["tool_use_id"], _texts(block.get("content", "")), bool(block.get("is_error")))
            for block in blocks
        ]

    def say(self, number: int, body: Json, uses: tuple[Use, ...], *, streamed: bool) -> Iterator[bytes]:
        begun = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model")}
        usage = self.usage(number)
        stop = {"stop_reason": "tool_use" if uses else "end_turn", "stop_sequence": None}
        blocks = [self._block(number, place, use) for place, use in enumerate(uses)] or [
            ({"type": "text", "text": ""}, {"type": "text_delta", "text": "All done."}, {"text": "All done."})
        ]
        if not streamed:
            content = [{**block, **whole} for block, _, whole in blocks]
            yield json.dumps({**begun, "content": content, **stop, "usage": usage}).encode()
            return
        opened = {**begun, "content": list[Json](), "stop_reason": None, "stop_sequence": None}
        opened["usage"] = {**usage, "output_tokens": 1}
        events: list[Json] = [{"type": "message_start", "message": opened}]
        for place, (block, delta, _) in enumerate(blocks):
            events += (
                {"type": "content_block_start", "index": place, "content_block": block},
                {"type": "content_block_delta", "index": place, "delta": delta},
                {"type": "content_block_stop", "index": place},
            )
        events += ({"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"})
        for event in events:
            yield _event(event, event["type"])

    def _block(self, number: int, place: int, use: Use) -> tuple[Json, Json, Json]:
        """A block as it begins, what is added to it, and what makes it whole."""
        block = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": self.named(use), "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(use.arguments)}
        return block, delta, {"input": use.arguments}


class Responses(Dialect):
    """``POST /v1/responses``, as Codex speaks it: a block of its own, with the time taken, stands before a result's."""

    namespace = "mcp__sightline"

    def usage(self, number: int) -> Json:
        return {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}

    def _tools(self, body: Json) -> Iterator[Json]:
        for tool in body.get("tools") or []:
            if tool.get("name") == self.namespace:
                yield from tool["tools"]

    def seen(self, body: Json) -> list[Seen]:
        results = [one for one in body.get("input", []) if one.get("type") == "function_call_output"]
        return [
            Seen(one["call_id"], tuple(text for text in _texts(one["output"]) if not _WALL_TIME.fullmatch(text)))
            for one in results
        ]

    def say(self, number: int, body: Json, uses: tuple[Use, ...], *, streamed: bool) -> Iterator[bytes]:
        text = {"type": "output_text", "text": "All done.", "annotations": []}
        done: Json = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [text]}
        items = [self._item(f"{number}_{place}", use) for place, use in enumerate(uses)] or [done]
        items = [{**item, "status": "completed"} for item in items]
        usage = self.usage(number)
        response = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": body.get("model")}
        events: list[tuple[str, Json]] = [
            ("response.created", {"response": {**response, "status": "in_progress", "output": []}})
        ]
        for place, item in enumerate(items):
            events.append(("response.output_item.added", {"output_index": place, "item": item}))
            events.append(("response.output_item.done", {"output_index": place, "item": item}))
        ended = {**response, "status": "completed", "output": items, "usage": usage}
        events.append(("response.completed", {"response": ended}))
        for place, (name, more) in enumerate(events):
            yield _event({"type": name, "sequence_number": place, **more}, name)

    def _item(self, number: str, use: Use) -> Json:
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": use.tool}
        namespace = {"namespace": self.namespace} if use.ours else {}
        return {**item, **namespace, "arguments": json.dumps(use.arguments)}


class Code(Responses):
    """The same where the model has one tool, ``exec``, and calls all others from a program that it writes."""

    def seen(self, body: Json) -> list[Seen]:
        results = [one for one in body.get("input", []) if one.get("type") == "custom_tool_call_output"]
        # The first block is Codex' own: whether the program came to its end, and when.
        return [Seen(one["call_id"], _texts(one["output"])[1:]) for one in results]

    def offered(self, body: Json) -> list[str]:
        """``exec`` where the model is told that there are tools of ours behind it."""
        return ["exec"] if f"- {self.namespace}" in json.dumps(body) else []

    def _item(self, number: str, use: Use) -> Json:
        call = f"await tools.{self.namespace}__{use.tool}({json.dumps(use.arguments)})"
        program = f"for (const block of ({call}).content) text(block.text)"
        item = {"type": "custom_tool_call", "id": f"ctc_{number}", "call_id": f"call_{number}"}
        return {**item, "name": "exec", "namespace": "functions", "input": program}


class Contents(Dialect):
    """``:generateContent``, as Gemini CLI speaks it."""

    prefix = "mcp_sightline_"

    def _tools(self, body: Json) -> Iterator[Json]:
        for tool in body.get("tools") or []:
            yield from tool.get("functionDeclarations", ())

    def seen(self, body: Json) -> list[Seen]:
        results = [
            part["functionResponse"]
            for content in body.get("contents", [])
            for part in content.get("parts", [])
            if "functionResponse" in part
        ]
        return [
            Seen(one.get("id", ""), _texts(one["response"].get("output", one["response"])), "error" in one["response"])
            for one in results
        ]

    def say(self, number: int, body: Json, uses: tuple[Use, ...], *, streamed: bool) -> Iterator[bytes]:
        parts: list[Json] = [
            {"functionCall": {"name": self.named(use), "args": use.arguments, "id": f"call-{number}-{place}"}}
            for place, use in enumerate(uses)
        ]
        if not parts:
            # Without tools it is asked which model suits; any JSON does.
            parts = [{"text": "All done." if self.offered(body) else json.dumps({"model_choice": "flash"})}]
        answer = {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
            "modelVersion": "scripted",
        }
        yield _event(answer) if streamed else json.dumps(answer).encode()


class Chat(Dialect):
    """``POST /v1/chat/completions``, as opencode speaks it."""

    prefix = "sightline_"

    def _tools(self, body: Json) -> Iterator[Json]:
        for tool in body.get("tools") or []:
            yield tool["function"]

    def seen(self, body: Json) -> list[Seen]:
        results = [one for one in body.get("messages", []) if one.get("role") == "tool"]
        return [Seen(one["tool_call_id"], _texts(one["content"])) for one in results]

    def say(self, number: int, body: Json, uses: tuple[Use, ...], *, streamed: bool) -> Iterator[bytes]:
        said: Json = {"role": "assistant", "content": "All done."}
        if uses:
            functions = [{"name": self.named(use), "arguments": json.dumps(use.arguments)} for use in uses]
            calls = [
                {"index": place, "id": f"call_{number}_{place}", "type": "function", "function": function}
                for place, function in enumerate(functions)
            ]
            said = {"role": "assistant", "tool_calls": calls}
        finish = "tool_calls" if uses else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": f"chat-{number}", "created": 1, "model": body.get("model")}
        if not streamed:
            choice: Json = {"index": 0, "message": said, "finish_reason": finish}
            yield json.dumps({**answer, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
            return
        answer["object"] = "chat.completion.chunk"
        yield _event({**answer, "choices": [{"index": 0, "delta": said, "finish_reason": None}]})
        yield _event({**answer, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage})
        yield b"data: [DONE]\n\n"


def _texts(content: Any) -> tuple[str, ...]:
    """The texts of a result, whose blocks a dialect keeps apart or not; what is no text, as JSON."""
    if isinstance(content, str):
        return (content,)
    if isinstance(content, list):
        return tuple(one["text"] if isinstance(one.get("text"), str) else json.dumps(one) for one in content)
    return (json.dumps(content, ensure_ascii=False),)


class ScriptedModel(ThreadingHTTPServer):
    """A model for one session of one harness; ends with the block that it is used in.

    Attributes:
        dialect: whose API it speaks.
        asked: every request that is the agent's, in order.
        seen: what the last of them held of results.
        failures: what went wrong while answering.
    """

    daemon_threads = True

    def __init__(self, dialect: Dialect, steps: Sequence[Step], tool: str = "") -> None:
        """Begin to listen.

        Args:
            dialect: whose API it speaks.
            steps: what it does.
            tool: a tool by which the agent's own requests are known, where that is not one of ours.
        """
        super().__init__(("127.0.0.1", 0), _Handler)
        self._tool = tool
        self.dialect = dialect
        self.asked: list[Json] = []
        self.seen: list[Seen] = []
        self.failures: list[str] = []
        self._steps = steps
        self._uses: dict[int, tuple[Use, ...]] = {}  # by how many results it had seen: a request may come twice
        self._lock = threading.Lock()
        self._number = 0
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def answer(self, body: Json, *, streamed: bool) -> bytes:
        """The next thing that it says."""
        with self._lock:
            self._number += 1
            uses: tuple[Use, ...] = ()
            if self._is_agent(body):
                self.asked.append(body)
                self.seen = self.dialect.seen(body)
                uses = self._next(len(self.seen))
            return b"".join(self.dialect.say(self._number, body, uses, streamed=streamed))

    def _is_agent(self, body: Json) -> bool:
        """Whether a request is about the work, rather than about a title, say."""
        if self._tool:
            return json.dumps(self._tool) in json.dumps(body.get("tools") or [])
        return bool(self.dialect.offered(body))

    def _next(self, shown: int) -> tuple[Use, ...]:
        """What it uses now that it was shown so many results; nothing at the script's end."""
        if shown not in self._uses and len(self._uses) < len(self._steps):
            try:
                said = self._steps[len(self._uses)](self.seen)
            except Exception as error:
                self.failures.append(f"step {len(self._uses)}: {error!r}, shown {self.seen}")
                return ()
            self._uses[shown] = (said,) if isinstance(said, Use) else said
        return self._uses.get(shown, ())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedModel

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send(b"")

    def do_GET(self) -> None:
        self._send(b'{"data": [], "models": []}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if "ount" in self.path and "okens" in self.path:  # count_tokens, countTokens
            size = len(json.dumps(body)) // 4
            self._send(json.dumps({"input_tokens": size, "totalTokens": size}).encode())
            return
        streamed = bool(body.get("stream")) or "stream" in self.path
        said = self.server.answer(body, streamed=streamed)
        self._send(said, "text/event-stream" if streamed else "application/json")

    def _send(self, data: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
