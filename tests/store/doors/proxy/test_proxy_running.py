"""A call that takes long is in the timeline while the server is at it, and says what became of it."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.audit.timeline import Call, calls_of, captured_by
from tests.store.doors.proxy.proxy_kit import PATIENCE_SECONDS, Client, answer, text_result

Make = Callable[..., Client]
Until = Callable[[Callable[[], object]], None]
SECRET = "pin=" + "4" * 6


def calls(through: Client) -> list[Call]:
    if not (through.home / "index.sqlite").exists():
        return []
    with through.store() as store:
        return calls_of(store)


def told(through: Client) -> list[tuple[str, bool, bool, bool]]:
    return [(call.view.verb, call.running, call.unanswered, call.failed) for call in calls(through)]


@pytest.fixture
def slow(client: Make, tmp_path: Path, until: Until) -> Callable[..., Client]:
    """A client with a call under way, whose server answers with a line once ``gate`` has been written to."""

    def make(result: object, **arguments: Any) -> Client:
        os.mkfifo(tmp_path / "gate")
        (tmp_path / "answer").write_text(answer(result).replace("$ID", "1"))
        through = client("--session", "s", command=["sh", "-c", "read call; cat gate; cat answer; cat > /dev/null"])
        through.request("tools/call", name="big", arguments=arguments)
        until(lambda: calls(through))
        return through

    return make


def test_a_call_is_in_the_timeline_until_its_short_answer_is(slow: Callable[..., Client], tmp_path: Path) -> None:
    through = slow(text_result("done"), path="/src")
    (call,) = calls(through)
    assert (call.asked, call.running, call.view.session) == ("big src", True, "s")
    (tmp_path / "gate").write_text("")
    assert json.loads(through.read())["result"] == text_result("done")
    through.close()
    assert told(through) == [("tool", False, False, False)]
    with through.store() as store:
        assert (store.listed(10), os.listdir(store.layout.buffers), os.listdir(store.layout.live)) == ([], [], [])


def test_what_is_kept_of_it_goes_into_the_capture_that_began_with_the_call(
    slow: Callable[..., Client], tmp_path: Path
) -> None:
    through = slow(text_result("line\n" * 9_000))
    (before,) = calls(through)
    (tmp_path / "gate").write_text("")
    fields = json.loads(json.loads(through.read())["result"]["content"][0]["text"])
    assert before.buffer
    assert fields["output_id"] == before.buffer.ref
    assert through.stream(fields["output_id"]) == b"line\n" * 9_000
    through.close()
    assert told(through) == [("tool", False, False, False)]


@pytest.mark.parametrize("who", ["proxy", "server", "client"])
def test_one_that_is_never_answered_is_told_as_that(
    slow: Callable[..., Client], tmp_path: Path, until: Until, who: str
) -> None:
    through = slow(text_result("never"))
    if who == "client":
        through.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
    else:
        through.process.send_signal(signal.SIGKILL if who == "proxy" else signal.SIGTERM)  # which the server gets
        through.process.wait(PATIENCE_SECONDS)
    until(lambda: told(through) == [("tool", False, True, True)])
    (tmp_path / "gate").write_text("")
    through.close()
    assert told(through) == [("tool", False, True, True)]
    with through.store() as store:
        assert os.listdir(store.layout.live) == []
        assert captured_by(store, ["s"]) == []  # there is nothing of it that anybody could have overlooked


def test_one_that_ends_soon_with_its_server_is_told_as_well(client: Make) -> None:
    through = client()
    through.request("tools/call", name="big", meta={"test/does": "exit", "test/code": 7})
    assert through.process.wait(PATIENCE_SECONDS) == 7
    assert told(through) == [("tool", False, True, True)]


def test_a_secret_in_its_arguments_is_not_written(slow: Callable[..., Client], tmp_path: Path) -> None:
    (tmp_path / "store").mkdir(mode=0o700)
    (tmp_path / "store" / "config.toml").write_text("[redact]\npatterns = ['pin=\\d+']\n")
    through = slow(text_result("done"), login=SECRET)
    (call,) = calls(through)
    assert call.asked == "big [redacted: pattern 1]"
    assert not [path for path in (tmp_path / "store").rglob("*") if path.is_file() and SECRET in _text(path)]
    through.process.kill()
    (tmp_path / "gate").write_text("")


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")


def test_the_command_line_says_that_it_runs_and_that_it_was_not_answered(
    slow: Callable[..., Client], tmp_path: Path, cli: Any
) -> None:
    through = slow(text_result("never"))
    cli.environment["SIGHTLINE_HOME"] = str(through.home)
    assert "  tool  0 B (~0 tokens)  running  @tool_" in cli("timeline").out
    through.process.kill()
    (tmp_path / "gate").write_text("")
    through.process.wait(PATIENCE_SECONDS)
    assert "  ended without an answer  @tool_" in cli("timeline").out
    assert cli("audit", "--fail-on", "failed-partial").code == 0
