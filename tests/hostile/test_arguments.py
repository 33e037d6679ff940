"""Every text argument of every verb may be a megabyte of anything: it is answered, or refused, within a second."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sightline.agents.hooks.event import answer_to
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer, Session
from sightline.capture.command import CommandCapture
from sightline.capture.filters import find_split, inner_filter
from sightline.capture.result import ResultBlock, capture_result
from sightline.doors.proxy.relay import Proxy
from sightline.doors.tools.line_io import LineWriter
from sightline.harnesses import known
from sightline.harnesses.base import AFTER
from sightline.pipeline.parse import MAX_CHARACTERS
from sightline.shell_words import LONGEST_COMMAND
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.programs import programs_of
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.head_line import render_text
from sightline.verbs.list_outputs import list_outputs
from sightline.verbs.next_call import cli_call
from sightline.verbs.query import query
from sightline.verbs.read_file import read_file
from sightline.verbs.read_output import read_output
from sightline.verbs.reply import Reply, error_reply
from sightline.verbs.requests import FileRequest, ListRequest, QueryRequest, ReadRequest, RunRequest
from sightline.verbs.run_command import Doorway, run_command
from sightline.verbs.safety import reason_to_confirm
from tests.hostile.shapes import BYTES, SECONDS, in_bounded_time, shapes

Call = Callable[[Asker, str], Reply]


class NotRun(SightlineError):
    """Everything before the command was done."""


def _stop(_: CommandCapture) -> None:
    raise NotRun("it would run now")


def _run(**more: str) -> Callable[[Asker, str], Reply]:
    name, given = next(iter(more.items()))
    return lambda asking, text: run_command(asking, RunRequest(**{"command": given, name: text}), Doorway(run=_stop))


def _read(name: str) -> Call:
    return lambda asking, text: read_output(asking, ReadRequest(**{"ref": "@last", name: text}))


CALLS: dict[str, Call] = {
    **{f"run_command {name}": _run(**{name: "true"}) for name in ("command", "cwd", "verbosity", "compare", "label")},
    **{f"read_output {name}": _read(name) for name in ("ref", "lines", "search", "stream", "verbosity", "until")},
    "read_output path": lambda asking, text: read_output(asking, ReadRequest("@last~1", path=text)),
    "read_file path": lambda asking, text: read_file(asking, FileRequest(text)),
    "query pipeline": lambda asking, text: query(asking, QueryRequest(text)),
    "list_outputs match": lambda asking, text: list_outputs(asking, ListRequest(text)),
    "list_outputs session": lambda asking, text: list_outputs(asking, ListRequest(session=text)),
    "list_outputs project": lambda asking, text: list_outputs(asking, ListRequest(project=text)),
}
LONGEST = {"query pipeline": MAX_CHARACTERS, "run_command command": LONGEST_COMMAND}


@pytest.fixture
def asking(store: Store) -> Iterator[Asker]:
    buffer = capture_result(store, [ResultBlock([b'{"a": [1, "x"]}'])], command="t", cwd="/", session="s")
    assert isinstance(buffer, Buffer)
    asking = Asker(store, Session("s", "shell", "", "", "/", 0.0), cli_call)
    deliver(asking, run_command(asking, RunRequest("seq 1 2000")), render_text, lambda _: None)
    yield asking


@pytest.mark.parametrize("name", CALLS)
def test_a_megabyte_in_any_argument_is_answered_within_a_second(asking: Asker, name: str) -> None:
    for text in shapes():
        with in_bounded_time(f"{name}={text[:30]!r}"), contextlib.suppress(SightlineError):
            CALLS[name](asking, text)


@pytest.mark.parametrize("name", LONGEST)
def test_the_longest_that_is_read_is_answered_within_a_second(asking: Asker, name: str) -> None:
    """Where limits are large, a pattern that takes the square of the length would still take minutes."""
    for text in shapes(LONGEST[name] - 40):
        with in_bounded_time(f"{name}={text[:30]!r}"), contextlib.suppress(SightlineError):
            CALLS[name](asking, text)


@pytest.mark.parametrize("name", ["query pipeline", "read_output ref", "run_command command"])
def test_the_refusal_of_a_megabyte_is_short_and_says_how_much_is_allowed(asking: Asker, name: str) -> None:
    with pytest.raises(SightlineError) as refused:
        CALLS[name](asking, "x" * BYTES)
    assert "1,000,000 characters" in refused.value.message
    told = list[str]()
    with in_bounded_time("delivery"):
        deliver(asking, error_reply(refused.value, "query", {"pipeline": "x" * BYTES}), render_text, told.append)
    assert len(told[0]) < 300


HOOKS: dict[str, tuple[str, Callable[[str], dict[str, object]]]] = {
    "a command to come": ("PreToolUse", lambda text: {"tool_input": {"command": text}}),
    "a command that ran": (
        "PostToolUse",
        lambda text: {"tool_input": {"command": text}, "tool_response": {"stdout": "x", "stderr": ""}},
    ),
    "an output": (
        "PostToolUse",
        lambda text: {"tool_input": {"command": "make"}, "tool_response": {"stdout": text, "stderr": text}},
    ),
    "a failure": ("PostToolUseFailure", lambda text: {"tool_input": {"command": "make"}, "error": text}),
    "another tool": ("PostToolUse", lambda text: {"tool_name": text, "tool_input": text, "tool_response": text}),
    "names": ("PostToolUse", lambda text: {"session_id": text, "tool_use_id": text, "cwd": text}),
    "a prompt": ("UserPromptSubmit", lambda text: {"prompt": text}),
}


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_takes_a_megabyte_of_anything_within_a_second(tmp_path: Path, name: str) -> None:
    event, fields = HOOKS[name]
    base = {"session_id": "s1", "cwd": str(tmp_path), "hook_event_name": event, "tool_name": "Bash"}
    for number, text in enumerate(shapes(framed=False)):
        given = json.dumps({**base, "tool_use_id": f"toolu_{number}", **fields(text)}).encode()
        with in_bounded_time(f"{name}={text[:30]!r}"):
            answer_to(["claude-code", event, "--mode", "keep"], given)


READERS: dict[str, Callable[[str], object]] = {
    "programs": programs_of,
    "filter": inner_filter,
    "split": find_split,
    "confirmation": reason_to_confirm,
    "mode": lambda text: reason_to_confirm(f"chmod {text[:9]}{'o' * len(text)}"),
}


@pytest.mark.parametrize("name", READERS)
def test_the_longest_command_of_which_an_event_tells_is_read_in_bounded_time(name: str) -> None:
    for text in (*shapes(LONGEST_COMMAND - 80, framed=False), "\n" * BYTES, "o" * (LONGEST_COMMAND - 80)):
        with in_bounded_time(f"{name}: {text[:30]!r}", 3 * SECONDS), contextlib.suppress(Unclear):
            READERS[name](text)


@pytest.mark.parametrize(
    "unit", ["git s{};", "rm a{};", ">f{};", "git -c a={} b;", "docker run x a{};", "sqlite3 a 'b{}';"]
)
def test_a_line_of_thousands_of_different_commands_is_read_in_bounded_time_or_asks(unit: str) -> None:
    line = "".join(map(unit.format, range(LONGEST_COMMAND // len(unit) * 3 // 4)))
    with in_bounded_time(unit):
        assert "the rest is not read" in reason_to_confirm(line)
    assert reason_to_confirm("".join(map("echo {};".format, range(300)))) == ""


HARNESSES = {name: one for name, one in known().items() if one.hooks}


def _told(name: str, text: str) -> dict[str, object]:
    """What an event of a harness has about a command that ran, with a text wherever one is read."""
    blocks = [{"type": "text", "text": text}]
    ran = {"query": text, "result": text, "success": False}
    results: dict[str, object] = {
        "cline": {"id": "use", "name": "run_commands", "input": {"commands": [text]}, "output": [ran]},
        "copilot": {"result_type": "failure", "text_result_for_llm": text},
    }
    shown = {"llmContent": text, "returnDisplay": text, "error": None}
    told = {"command": text, "content": blocks, "output": text, "metadata": {"exit": 1, "outputPath": text}}
    return {
        **told,
        "tool_input": {"command": text},
        "tool_response": text if name == "codex" else shown,
        "tool_output": text,
        "tool_result": results.get(name, text),
        "postToolUse": {"result": text},
    }


@pytest.mark.parametrize("name", HARNESSES)
def test_the_hook_of_each_harness_takes_a_megabyte_within_a_second(tmp_path: Path, name: str) -> None:
    harness = HARNESSES[name]
    event = next(hook.event for hook in harness.hooks if hook.when == AFTER)
    base = {"session_id": "s1", "taskId": "s1", "cwd": str(tmp_path), "hook_event_name": event}
    base |= {"tool_name": harness.runs[0]}
    for number, text in enumerate([*shapes(framed=False)][2::4]):  # the others take their way in Claude Code's hooks
        given = json.dumps({**base, "tool_use_id": f"use_{number}", **_told(name, text)}).encode()
        with in_bounded_time(f"{name}: {text[:30]!r}"):
            answer_to([name, event, "--mode", "shape"], given)
    with Store(str(tmp_path / "root")) as store:
        assert len(list(store.listed(100))) > 10, "it reads other fields"


class Sent(LineWriter):
    """Counts what the client gets."""

    count = 0

    def write(self, data: bytes) -> None:
        self.count += 1

    def write_now(self, data: bytes) -> bool:
        self.count += 1
        return True


PROXIED = {
    "query": lambda text: ("query", {"pipeline": text}),
    **{
        field: lambda text, field=field: ("read_output", {"ref": "@last", field: text})
        for field in ("ref", "lines", "search", "stream", "path", "verbosity", "until")
    },
    "their arguments": lambda text: ("their_tool", {"x": text}),
    "their name": lambda text: (text, {"x": 1}),
}


@pytest.mark.parametrize("name", PROXIED)
def test_a_proxy_takes_a_megabyte_in_any_argument_within_a_second(name: str) -> None:
    client = Sent(1)
    proxy = Proxy(client)
    for number, text in enumerate(shapes(framed=False)):
        tool, arguments = PROXIED[name](text)
        asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
        line = json.dumps({**asked, "params": {"name": tool, "arguments": arguments}}).encode() + b"\n"
        with in_bounded_time(f"{name}: {text[:30]!r}"):
            if proxy.from_client(line):  # it was for the server, which answers
                proxy.from_server(_answered(number, "x"))
            proxy.finish(60)
        assert client.count == number + 1


def test_a_proxy_takes_a_result_of_a_megabyte_within_a_second() -> None:
    client = Sent(1)
    proxy = Proxy(client)
    for number, text in enumerate(shapes(framed=False)):
        asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "theirs", "arguments": {}}}
        with in_bounded_time(f"{text[:30]!r}"):
            assert proxy.from_client(json.dumps(asked).encode() + b"\n")
            proxy.from_server(_answered(number, text))
    proxy.finish(60)
    assert client.count == number + 1


def _answered(number: int, text: str) -> bytes:
    result = {"content": [{"type": "text", "text": text}]}
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode() + b"\n"


@pytest.mark.parametrize("word", ["if ", "for i in a; do ", "( ", "{ ", "while "])
def test_a_hook_leaves_commands_nested_too_deep_alone(tmp_path: Path, word: str) -> None:
    given = {"session_id": "s1", "cwd": str(tmp_path), "hook_event_name": "PreToolUse", "tool_name": "Bash"}
    given |= {"tool_use_id": "toolu_1", "tool_input": {"command": f"{word * 10_000}make | tail"}}  # type: ignore[dict-item]
    assert answer_to(["claude-code", "PreToolUse", "--mode", "keep"], json.dumps(given).encode()) == b""
