"""Every text argument of every verb may be a megabyte of anything: it is answered, or refused, within a second."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sightline.capture.command import CommandCapture
from sightline.capture.result import ResultBlock, capture_result
from sightline.doors.cli.output import cli_call, render_text
from sightline.doors.hooks.event import answer_to
from sightline.errors import SightlineError
from sightline.pipeline.parse import MAX_CHARACTERS
from sightline.records import Buffer, Session
from sightline.shell_words import LONGEST_COMMAND
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.list_outputs import ListRequest, list_outputs
from sightline.verbs.query import QueryRequest, query
from sightline.verbs.read_file import FileRequest, read_file
from sightline.verbs.read_output import ReadRequest, read_output
from sightline.verbs.reply import Reply, error_reply
from sightline.verbs.run_command import Doorway, RunRequest, run_command
from tests.hostile.shapes import BYTES, in_bounded_time, shapes

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


@pytest.mark.parametrize("word", ["if ", "for i in a; do ", "( ", "{ ", "while "])
def test_a_hook_leaves_commands_nested_too_deep_alone(tmp_path: Path, word: str) -> None:
    given = {"session_id": "s1", "cwd": str(tmp_path), "hook_event_name": "PreToolUse", "tool_name": "Bash"}
    given |= {"tool_use_id": "toolu_1", "tool_input": {"command": f"{word * 10_000}make | tail"}}  # type: ignore[dict-item]
    assert answer_to(["claude-code", "PreToolUse", "--mode", "keep"], json.dumps(given).encode()) == b""
