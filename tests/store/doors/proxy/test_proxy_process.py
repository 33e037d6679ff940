"""Two processes and a client: none outlives the others, and each is told what it would be told without the proxy."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.search.processes import DEFAULT_SECONDS
from tests.store.doors.proxy.proxy_kit import PATIENCE_SECONDS, SERVER, Client, answer, text_result

Make = Callable[..., Client]
Until = Callable[[Callable[[], object]], None]
NUMBERED = "import os; print(os.getpid(), flush=True);"


def started(client: Make, code: str) -> tuple[Client, int]:
    """A client of a server that tells its process number first, and then runs this."""
    through = client(command=["python3", "-c", NUMBERED + code])
    return through, int(through.read())


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_the_servers_exit_code_and_complaints_are_passed_on(client: Make) -> None:
    through = client()
    through.request("tools/call", name="big", meta={"test/does": "exit", "test/code": 7})
    assert through.process.wait(PATIENCE_SECONDS) == 7
    assert through.errors == "the server's own complaint\n"


def test_a_signal_that_ends_the_server_is_told_as_a_shell_tells_it(client: Make) -> None:
    through = client()
    through.request("tools/call", name="big", meta={"test/does": "die"})
    assert through.process.wait(PATIENCE_SECONDS) == 128 + signal.SIGKILL
    assert through.read() == b""


def test_what_the_server_wrote_last_arrives_after_its_end(client: Make) -> None:
    code = 'import sys; sys.stdin.readline(); sys.stdout.write(\'{"id":1,"result":"%s"}\' % (\'x\' * 2_000_000))'
    through = client(command=["python3", "-c", code])
    through.request("tools/call", name="big", arguments={})
    assert through.read() == b'{"id":1,"result":"' + b"x" * 2_000_000 + b'"}'
    assert through.process.wait(PATIENCE_SECONDS) == 0


def test_the_server_ends_with_the_input(client: Make) -> None:
    assert client().close() == (b"", 0)


def test_a_call_of_an_added_tool_is_answered_although_the_input_has_ended(client: Make) -> None:
    through = client()
    told = through.call(text_result("line\n" * 5000))
    ref = json.loads(told["content"][0]["text"])["output_id"]
    number = through.request("tools/call", name="query", arguments={"pipeline": f"wc -l {ref}"})
    rest, code = through.close()
    assert (json.loads(rest)["id"], code) == (number, 0)


def test_an_answer_of_ours_that_nobody_waits_for_does_not_hold_us(client: Make) -> None:
    through = client()
    ref = json.loads(through.call(text_result("line\n" * 5000))["content"][0]["text"])["output_id"]
    assert through.process.stdin
    assert through.process.stdout
    for _ in range(2):
        through.request("tools/call", name="query", arguments={"pipeline": f"sed -e :a -e ba {ref}"})
    through.process.stdin.close()
    through.process.stdout.close()
    assert through.process.wait(DEFAULT_SECONDS / 2) == 0  # a query that nobody ends takes all of them


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_are_passed_on(client: Make, number: signal.Signals) -> None:
    code = f"import signal, sys; signal.signal({int(number)}, lambda *_: sys.exit(5)); print('ready', flush=True);"
    through, _ = started(client, code + "signal.pause()")
    assert through.read() == b"ready\n"
    through.process.send_signal(number)
    assert through.process.wait(PATIENCE_SECONDS) == 5


def test_a_server_that_does_not_heed_its_end_is_ended(client: Make) -> None:
    code = "import signal; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); signal.pause()"
    through, pid = started(client, code)
    assert through.read() == b"ready\n"
    through.process.terminate()
    assert through.process.wait(PATIENCE_SECONDS) == 128 + signal.SIGKILL
    assert is_gone(pid)


def test_a_server_whose_client_has_gone_ends_although_it_waits_for_nothing(client: Make) -> None:
    through, pid = started(client, "import signal; signal.pause()")
    assert through.process.stdin
    assert through.process.stdout
    through.process.stdin.close()
    through.process.stdout.close()
    assert through.process.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM
    assert is_gone(pid)


def test_a_server_that_talks_to_a_client_that_has_gone_learns_of_it(client: Make) -> None:
    through, pid = started(client, "import time\nwhile True: os.write(1, b'x' * 1000 + b'\\n')")
    assert through.process.stdout
    through.process.stdout.close()
    assert through.process.wait(PATIENCE_SECONDS) != 0
    assert is_gone(pid)


def test_a_killed_proxy_leaves_no_server_behind(client: Make, until: Until) -> None:
    through, pid = started(client, "import sys; sys.stdin.read()")
    through.process.kill()
    until(lambda: is_gone(pid))


def test_a_server_that_hears_nothing_any_more_is_no_reason_to_end(client: Make) -> None:
    code = "import sys, time; os.close(0); sys.stderr.write('closed\\n'); sys.stderr.flush(); signal.pause()"
    through, _ = started(client, "import signal;" + code)
    assert through.process.stderr
    assert through.process.stderr.readline() == b"closed\n"
    with pytest.raises(BrokenPipeError):
        while True:
            through.send("x" * 1000 + "\n")
    assert through.process.poll() is None
    through.process.terminate()
    assert through.process.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM


def test_a_process_that_the_server_leaves_behind_does_not_hold_us(client: Make) -> None:
    code = "import subprocess, sys; print(subprocess.Popen(['sleep', '300']).pid, flush=True); sys.stdin.readline()"
    through = client(command=["python3", "-c", code])
    left = int(through.read())
    try:
        through.send("\n")
        assert through.process.wait(PATIENCE_SECONDS) == 0
        assert not is_gone(left)
    finally:
        os.kill(left, signal.SIGKILL)


def test_a_server_that_is_not_there_is_told_as_a_shell_tells_it(client: Make) -> None:
    through = client(command=["no-such-server-at-all"])
    assert through.process.wait(PATIENCE_SECONDS) == 127
    assert "no-such-server-at-all: command not found" in through.errors


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 2, "give a server"),
        (["--url", "http://127.0.0.1:1/", "--", "cat"], 2, "give a server"),
        (["--min-bytes", "-1", "--", "cat"], 2, "--min-bytes: invalid size value"),
        (["--profile", "nobody", "--", "cat"], 2, "nobody"),
        (["--help"], 0, "sightline proxy -- npx"),
    ],
)
def test_the_command_line_is_told_off_or_explained(cli: Any, words: list[str], code: int, told: str) -> None:
    ran = cli("proxy", *words)
    assert ran.code == code
    assert told in ran.out + ran.err


def test_a_wrong_setting_is_an_error(cli: Any) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text("max_buffers = 'many'\n")
    ran = cli("proxy", "--", "cat")
    assert (ran.code, "max_buffers" in ran.err) == (2, True)


def test_words_before_the_mark_are_ours_and_all_after_it_the_servers(cli: Any) -> None:
    for words in (["--only", "a", "b", "--", "echo"], ["--only=a,b", "echo"], ["--min-bytes", "5", "echo"]):
        assert cli("proxy", *words, "--profile", "x").out == "--profile x\n"


def test_a_profile_decides_what_is_large_and_how_it_is_shown(client: Make, tmp_path: Path) -> None:
    through = client("--profile", "gh-aw")
    told = json.loads(through.call(text_result(json.dumps([{"id": n} for n in range(5000)])))["content"][0]["text"])
    assert told["full_output"].endswith(".json")


def test_starting_waits_for_no_other_part_of_the_program(client: Make, tmp_path: Path) -> None:
    server = ["env", "-u", "PYTHONPROFILEIMPORTTIME", *SERVER, str(tmp_path / "received")]
    through = client(command=server, forked=False, PYTHONPROFILEIMPORTTIME="1")
    through.call(text_result("x" * 20_000))
    through.close()
    loaded = {line.rpartition("|")[2].strip() for line in through.errors.splitlines()}
    assert "sightline.doors.proxy.relay" in loaded
    unwanted = {"asyncio", "mcp", "textual", "pydantic", "anyio", "subprocess", "rapidfuzz"}
    assert not loaded & unwanted


def test_lines_of_many_answers_never_mix(client: Make) -> None:
    through = client()
    ref = json.loads(through.call(text_result("line\n" * 5000))["content"][0]["text"])["output_id"]
    sent = set()

    def send() -> None:
        for at in range(30):
            sent.add(through.request("tools/call", name="read_output", arguments={"ref": ref, "lines": f"1-{at + 1}"}))
            sent.add(through.request("tools/call", answer(text_result("y" * 9_000)), name="big", arguments={"at": at}))
            sent.add(through.request("resources/read", answer({"contents": "z" * 200_000})))

    sender = threading.Thread(target=send)  # who sends and does not read fills the pipes
    sender.start()
    told = {json.loads(through.read())["id"] for _ in range(90)}
    sender.join()
    assert told == sent


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not say what a process was given")
@pytest.mark.parametrize("more", [{}, {"LC_CTYPE": "C.UTF-8"}, {"LANG": "C.UTF-8", "PYTHONPATH": "/none"}])
@pytest.mark.parametrize("verb", [["proxy", "--"], ["run", "--"]])
def test_a_program_gets_the_environment_as_it_came(verb: list[str], more: dict[str, str], tmp_path: Path) -> None:
    """Python itself adds LC_CTYPE where the locale is C."""
    given = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "store"), **more}
    words = [sys.executable, "-E", "-P", "-m", "sightline.doors.cli.main", *verb, "env"]
    ran = subprocess.run(words, env=given, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    got = dict(line.split("=", 1) for line in ran.stdout.decode().splitlines() if "=" in line)
    assert got == given
