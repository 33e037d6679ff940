"""A server's last words: all of them, once, each message on a line of its own, however the rest comes to its end."""

import fcntl
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.log.log_index import list_views
from tests.store.doors.proxy.proxy_kit import PATIENCE_SECONDS, Client, answer, text_result

Make = Callable[..., Client]


@pytest.mark.parametrize("size", [4, 65_535, 65_536, 70_000, 300_000])
def test_last_words_without_a_newline_arrive_although_a_process_holds_the_pipe(
    client: Make, tmp_path: Path, size: int
) -> None:
    os.mkfifo(tmp_path / "gate")
    words = f"head -c {size} /dev/zero | tr '\\0' x"
    through = client(command=["sh", "-c", f"cat < gate & echo whole; {words}; exit 4"])
    assert through.read() == b"whole\n"
    assert through.read() == b"x" * size
    assert through.process.wait(PATIENCE_SECONDS) == 4
    (tmp_path / "gate").write_text("")


def test_one_who_writes_without_end_does_not_hold_the_end(client: Make) -> None:
    through = client(command=["sh", "-c", "yes & exit 3"])
    assert through.process.stdout
    deadline = time.monotonic() + PATIENCE_SECONDS
    while os.read(through.process.stdout.fileno(), 1 << 20):
        assert time.monotonic() < deadline
    assert through.process.wait(PATIENCE_SECONDS) == 3


def test_last_words_are_an_answer_like_any_other(client: Make, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir(mode=0o700)
    (tmp_path / "store" / "config.toml").write_text("[redact]\npatterns = ['pin=\\d+']\n")
    os.mkfifo(tmp_path / "gate")
    said = json.dumps({"jsonrpc": "2.0", "id": 1, "result": text_result("pin=12345")})
    through = client(command=["sh", "-c", f"read call; cat < gate & printf '%s' '{said}'"])
    through.request("tools/call", name="big", arguments={})
    assert json.loads(through.read())["result"]["content"][0]["text"] == "[redacted: pattern 1]"
    assert through.process.wait(PATIENCE_SECONDS) == 0
    (tmp_path / "gate").write_text("")
    with through.store() as store:
        assert len(list_views(store)) == 1


def test_last_words_that_wait_for_the_log_do_not_outlive_the_client(client: Make, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    said, last = (answer(text_result("short")).strip().replace("$ID", number) for number in "12")
    code = f"read call; echo '{said}'; read call; cat < gate & printf '%s' '{last}'"
    through = client(command=["sh", "-c", code], SIGHTLINE_SESSION="one")
    through.ask("tools/call", name="big", arguments={})
    with open(tmp_path / "store" / "audit" / "one.jsonl") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        through.request("tools/call", name="big", arguments={})
        assert through.process.stdin
        assert through.process.stdout
        through.process.stdin.close()
        through.process.stdout.close()
        assert through.process.wait(PATIENCE_SECONDS) == 0
    (tmp_path / "gate").write_text("")


@pytest.mark.parametrize("size", [4, 70_000])
def test_an_answer_of_ours_stands_on_another_line_than_last_words(client: Make, tmp_path: Path, size: int) -> None:
    for gate in ("gate", "go"):
        os.mkfifo(tmp_path / gate)
    listed = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}})
    code = f"read asked; echo '{listed}'; cat < gate & cat < go; head -c {size} /dev/zero | tr '\\0' x"
    through = client(command=["sh", "-c", code])
    assert '"name":"query"' in through.ask("tools/list").decode()
    with through.store() as store:
        recording = store.begin("cmd", "seq", "/", "s")
        recording.append("out", b"".join(b"%d\n" % (number * 7919 % 999_983) for number in range(400_000)))
        recording.seal(exit_code=0)
    slow = f"sort @{recording.name} | wc -l"
    number = through.request("tools/call", name="query", arguments={"pipeline": slow})
    (tmp_path / "go").write_text("")
    last, ours = sorted(through.read().strip() for _ in range(2))  # whichever came first
    assert (last, json.loads(ours)["id"]) == (b"x" * size, number)
    assert through.process.wait(PATIENCE_SECONDS) == 0
    (tmp_path / "gate").write_text("")
