"""Where a person has turned redaction on, neither the store nor a reply holds a secret, whichever way it came in."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.past_sessions.importer import Importer
from sightline.base.errors import SettingError
from sightline.base.records import Buffer, Session
from sightline.capture.command import CommandCapture
from sightline.capture.file import capture_file
from sightline.capture.result import ResultBlock, capture_result
from sightline.harnesses.formats import find_sources
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.settings.config import Settings, load_settings
from sightline.store import Store, Target
from sightline.verbs.asker import Asker
from sightline.verbs.next_call import cli_call
from sightline.verbs.read_file import read_file
from sightline.verbs.requests import FileRequest

Sightline = Callable[..., "subprocess.CompletedProcess[bytes]"]
TOKEN = "npm_" + "aB3" * 12
SHOWN = "[redacted: npm-token]"
TURNED_ON = "[redact]\nknown = true\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store in which well-known formats are hidden."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "config.toml").write_text(TURNED_ON)
    with Store(str(root)) as opened:
        yield opened


def files_with(root: str, secret: str = TOKEN) -> list[str]:
    """Every file below the root that holds the secret."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
    return [path for path in paths if secret.encode() in Path(path).read_bytes()]


def stored(store: Store, buffer: Buffer, stream: str = "out") -> str:
    with store.open(Target(buffer, stream)) as source:
        return source.read(0, source.byte_count).decode()


def shell(store: Store, script: str, **more: Any) -> CommandCapture:
    return CommandCapture(store, ["sh", "-c", script], command=script, session="s", **more)


def test_a_secret_that_comes_in_pieces_and_on_both_streams_is_stored_nowhere(store: Store) -> None:
    seen: list[bytes] = []
    script = f"printf {TOKEN[:9]}; sleep 0.05; printf '{TOKEN[9:]}\\nrest'; printf 'e {TOKEN}' >&2"
    captured = shell(store, script, echo=lambda stream, data: seen.append(bytes(data))).run()
    assert captured.buffer
    assert (stored(store, captured.buffer), stored(store, captured.buffer, "err")) == (f"{SHOWN}\nrest", f"e {SHOWN}")
    assert captured.buffer.note == "redacted: 2"
    assert captured.buffer.stream("out").lines == 2
    assert captured.buffer.command.endswith(f"'e {SHOWN}' >&2")
    assert TOKEN.encode() in b"".join(seen)  # what a person watches is the command's own
    assert not files_with(store.root)


def test_what_goes_into_trailing_filters_is_hidden_too_and_the_answer_is_the_shells(
    sightline: Sightline, store: Store
) -> None:
    done = sightline("run", "-c", f"printf 'a {TOKEN}\\nb\\nc' | tail -n 2")
    assert done.stdout.endswith(b"b\nc")
    done = sightline("show", "@last", "--json")
    assert not files_with(store.root)
    assert any(SHOWN in stored(store, listed.buffer) for listed in store.listed(5))


def test_files_standard_input_and_results_are_hidden(sightline: Sightline, store: Store, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(f"one\n{TOKEN}\nthree\n")
    buffer = capture_file(store, str(path), "s")
    assert stored(store, buffer) == f"one\n{SHOWN}\nthree\n"
    done = sightline("capture", "-p", input=f"x {TOKEN}".encode())
    assert done.stdout == f"x {TOKEN}".encode()  # passed on, as it must be
    document = json.dumps({"key": TOKEN, "long": f"{TOKEN}\n" * 300})
    result = capture_result(
        store, [ResultBlock([document[:40].encode(), document[40:].encode()])], command="t", cwd="/", session="s"
    )
    assert isinstance(result, Buffer)
    assert json.loads(stored(store, result, "part.0"))["key"] == SHOWN
    assert TOKEN not in stored(store, result, "part.1")
    path.unlink()
    assert not files_with(store.root)


def test_a_version_that_was_kept_before_redaction_was_turned_on_is_not_shown_again(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(TOKEN)
    os.utime(path, (1, 1))
    with Store(str(tmp_path / "root"), Settings()) as plain:
        before = capture_file(plain, str(path), "s")
    with Store(str(tmp_path / "root"), Settings(redact_known=True)) as store:
        after = capture_file(store, str(path), "s")
        assert after.name != before.name
        assert stored(store, after) == SHOWN
        assert capture_file(store, str(path), "s").name == after.name


def _failing(store: Store, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """The disk takes so many bytes."""
    from sightline.disk import buffer_writer as writing

    left, real = after, writing.write_all

    def write_all(fd: int, data: bytes | memoryview) -> None:
        nonlocal left
        left -= len(data)
        if left < 0:
            raise OSError(28, "No space left on device")
        real(fd, data)

    monkeypatch.setattr(writing, "write_all", write_all)


@pytest.mark.parametrize("after", [0, 100, 2000])
def test_where_storing_fails_the_output_that_is_shown_instead_is_hidden_as_well(
    store: Store, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    capture = shell(store, f"seq 200; printf '{TOKEN[:7]}'; sleep 0.05; echo '{TOKEN[7:]}'; seq 500")
    _failing(store, monkeypatch, after)
    captured = capture.run()
    assert captured.unkept
    assert captured.unkept.redacted == 1
    assert SHOWN.encode() in captured.unkept.out
    assert TOKEN.encode() not in captured.unkept.out
    assert captured.unkept.out.startswith(b"1\n2\n")


def test_half_a_secret_at_the_hard_limit_is_not_shown_either(store: Store) -> None:
    captured = shell(store, f"head -c {(1 << 16) - 9} /dev/zero | tr '\\0' .; echo '{TOKEN}'", keep=False).run()
    assert captured.unkept
    assert b"npm_" not in captured.unkept.out
    assert len(captured.unkept.out) <= 1 << 16


def test_a_file_that_cannot_be_kept_is_shown_without_its_secrets(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text(f"one\n{TOKEN}\nthree\n")
    _failing(store, monkeypatch, 0)
    asking = Asker(store, Session("s", "shell", "", "", "/", 0.0), cli_call)
    reply = read_file(asking, FileRequest("notes.txt", start_line=2, end_line=3))
    assert "warning" in reply.fields
    assert reply.fields["note"] == "redacted: 1"
    assert f"{SHOWN}\n" in reply.text
    assert TOKEN not in reply.text


def test_requests_errors_and_queries_are_hidden_where_they_are_logged(sightline: Sightline, store: Store) -> None:
    for words in (
        ("show", f"@{TOKEN}"),
        ("run", "-c", f"echo {TOKEN}; exit 3"),
        ("query", f"grep {TOKEN} @last"),
        ("show", "@last", "--search", TOKEN),
        ("list", "--match", TOKEN),
        ("run", "--", f"/nowhere/{TOKEN}"),
        ("read", f"/nowhere/{TOKEN}"),
    ):
        done = sightline(*words)
        assert TOKEN.encode() not in done.stdout + done.stderr, words
    assert not files_with(store.root)


def test_views_say_how_many_secrets_were_hidden(sightline: Sightline, store: Store) -> None:
    done = sightline("run", "-c", f"echo {TOKEN}; echo {TOKEN}")
    assert b'note="redacted: 2"' in done.stdout
    for words in (
        ("show", "@last"),
        ("show", "@last", "--lines", "1-1"),
        ("query", "cat @last"),
        ("show", "@last", "--search", "x"),
    ):
        assert b"redacted: 2" in sightline(*words).stdout, words
    assert b"redacted" not in sightline("run", "-c", "echo plain").stdout


def test_a_running_or_broken_off_capture_says_that_something_was_hidden(store: Store) -> None:
    recording = store.begin("cmd", "c", "/", "s")
    recording.register()
    recording.append("out", f"{TOKEN}\npart".encode())
    running = store.resolve(f"@{recording.name}").buffer
    assert (running.note, stored(store, running)) == ("redacted: 1 or more", f"{SHOWN}\n")
    recording.abandon()
    broken = store.resolve(f"@{recording.name}").buffer
    assert (broken.state, broken.note) == ("interrupted", "redacted: 1 or more")
    assert stored(store, broken) == f"{SHOWN}\npart"


_CALL = {"tool_name": "Bash", "tool_use_id": "u", "tool_input": {"command": "c"}, "tool_response": f"a {TOKEN} b"}


@pytest.mark.parametrize(
    ("harness", "event", "given"),
    [
        ("claude-code", "PostToolBatch", {"tool_calls": [_CALL]}),
        (
            "gemini",
            "AfterTool",
            {**_CALL, "tool_name": "run_shell_command", "tool_response": {"llmContent": _CALL["tool_response"]}},
        ),
    ],
)
def test_what_a_harness_showed_its_model_is_hidden_in_the_log(
    sightline: Sightline, store: Store, harness: str, event: str, given: dict[str, Any]
) -> None:
    given = {"session_id": "s1", "cwd": "/", "hook_event_name": event, **given}
    sightline("hook", harness, event, input=json.dumps(given).encode())
    assert not files_with(store.root)
    assert [view_text(store, view) for view in list_views(store)] == [f"a {SHOWN} b"]


def test_what_cleaning_joins_is_hidden_in_views(sightline: Sightline, store: Store) -> None:
    parted = f"{TOKEN[:2]}\\bX\\b{TOKEN[1:]}"
    script = f"printf 'one\\n{parted}\\nthree\\n'; seq 3000"
    sightline("run", "-c", script)
    for words in (
        ("run", "-c", script),
        ("show", "@last"),
        ("show", "@last", "--lines", "1-3"),
        ("show", "@last", "--search", "^three", "--context", "2"),
        ("query", "head -n 3 @last"),
        ("show", "@last", "--offset", "0", "--limit", "200"),
    ):
        done = sightline(*words)
        assert TOKEN.encode() not in done.stdout, words
        assert SHOWN.encode() in done.stdout, words
        assert b"redacted: 1 in this reply" in done.stdout, words
    assert not files_with(store.root)
    assert TOKEN not in "".join(view_text(store, view) for view in list_views(store))


_SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = asked["params"]["arguments"]["result"]
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def _proxied(sightline: Sightline, tmp_path: Path, *results: object, options: tuple[str, ...] = ()) -> list[Any]:
    """What a client gets when a server behind the proxy answers with these results."""
    server = tmp_path / "server.py"
    server.write_text(_SERVER)
    asked = "".join(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": "t", "arguments": {"result": one}},
            }
        )
        + "\n"
        for number, one in enumerate(results)
    )
    done = sightline("proxy", *options, "--", sys.executable, str(server), input=asked.encode())
    return [json.loads(line)["result"] for line in done.stdout.splitlines()]


def test_results_behind_the_proxy_are_hidden_large_small_and_escaped(
    sightline: Sightline, store: Store, tmp_path: Path
) -> None:
    small = {"content": [{"type": "text", "text": f"key {TOKEN}"}], "structuredContent": {"key": TOKEN}}
    large = {"content": [{"type": "text", "text": f"{TOKEN}\n" + "line\n" * 4000}]}
    plain = {"content": [{"type": "text", "text": "nothing"}]}
    told = _proxied(sightline, tmp_path, small, large, plain)
    assert told[0]["content"] == [
        {"type": "text", "text": f"key {SHOWN}"},
        {"type": "text", "text": "redacted: 3"},
    ] or (told[0]["content"][0]["text"] == f"key {SHOWN}" and "redacted: " in told[0]["content"][1]["text"])
    assert told[0]["structuredContent"] == {"key": SHOWN}
    assert "redacted: 1" in told[1]["content"][0]["text"]
    assert TOKEN not in json.dumps(told[1])
    assert told[2] == plain
    assert not files_with(store.root)


def test_what_the_proxy_may_not_change_passes_and_is_not_logged(
    sightline: Sightline, store: Store, tmp_path: Path
) -> None:
    small = {"content": [{"type": "text", "text": f"key {TOKEN}"}]}
    assert _proxied(sightline, tmp_path, small, options=("--only", "other")) == [small]
    assert not files_with(store.root)


_SECRETS = {
    "API_TOKEN": "s3cr3t-in-a-token",
    "DB_PASSWORD": "s3cr3t-in-a-password",
    "AWS_SECRET_ACCESS_KEY": "s3cr3t-key",
}


def test_no_value_of_the_environment_is_recorded(sightline: Sightline, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    for words in (
        ("run", "-c", "true"),
        ("run", "--background", "-c", "true"),
        ("read", "a.txt"),
        ("list",),
        ("doctor",),
    ):
        sightline(*words, environment=_SECRETS)
    told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    call = {"name": "run_command", "arguments": {"command": "true"}}
    asked = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate((("initialize", told), ("tools/call", call)))
    ]
    lines = "".join(json.dumps(one) + "\n" for one in asked).encode()
    assert b"exit_code" in sightline("mcp", input=lines, environment=_SECRETS).stdout
    assert (tmp_path / "root" / "audit").is_dir()
    for secret in _SECRETS.values():
        assert not files_with(str(tmp_path / "root"), secret)


@pytest.mark.parametrize(
    "text",
    [
        'redact = "on"',
        '[redact]\nknown = "yes"',
        "[redact]\npatterns = ['(']",
        "[redact]\npatterns = ['x*']",
        "[redact]\nall = true",
        "[redact]\npatterns = 'x'",
    ],
)
def test_a_wrong_setting_is_an_error_that_names_what_is_allowed(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(SettingError) as caught:
        load_settings(str(tmp_path / "config.toml"), {})
    assert "redact" in caught.value.message
    assert "patterns = [" in caught.value.hint


def test_no_variable_turns_it_off(store: Store) -> None:
    settings = load_settings(store.layout.config, {"SIGHTLINE_REDACT": "off", "SIGHTLINE_REDACT_KNOWN": "false"})
    assert settings.redacts


def test_it_costs_nothing_when_off(tmp_path: Path) -> None:
    with Store(str(tmp_path / "plain"), Settings()) as plain:
        recording = plain.begin("cmd", "c", "/", "s")
        assert recording.append == recording._writer.append
        recording.discard()


def test_past_sessions_are_hidden_too(store: Store, tmp_path: Path) -> None:
    run = {
        "action": f"curl -H {TOKEN}",
        "observation": f"a\n{TOKEN}\n",
        "execution_time": 0.5,
        "state": {"working_dir": "/repo"},
    }
    history = [
        {"role": "assistant", "content": "look", "action": run["action"], "message_type": "action"},
        {"role": "user", "content": f"OBSERVATION:\na\n{TOKEN}\n", "message_type": "observation"},
    ]
    path = tmp_path / "past" / "task.traj"
    path.parent.mkdir()
    path.write_text(json.dumps({"trajectory": [run], "history": history, "environment": "main"}))
    Importer(store).run(find_sources(str(path)))
    (listed,) = store.listed(5)
    assert (stored(store, listed.buffer), listed.buffer.command) == (f"a\n{SHOWN}\n", f"curl -H {SHOWN}")
    assert "redacted: 1" in listed.buffer.note
    (view,) = list_views(store)
    assert view_text(store, view) == f"OBSERVATION:\na\n{SHOWN}\n"
    assert not files_with(store.root)
