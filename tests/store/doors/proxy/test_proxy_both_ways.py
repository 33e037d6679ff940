"""Lines go both ways whatever holds up the other: nobody is waited for who waits for us."""

import contextlib
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sightline.doors.tools.line_io import LineWriter
from tests.store.doors.proxy.proxy_kit import PATIENCE_SECONDS, PROGRAM, SERVER, Client, answer, text_result

Make = Callable[..., Client]
Until = Callable[[Callable[[], object]], None]

SHORT, LONG = "b'n' * 100 + b'\\n'", "b'n' * 300_000 + b'\\n'"

WRITES_UNREAD = """
import os, sys, threading
def write():
    while True: os.write(1, {line})
threading.Thread(target=write, daemon=True).start()
for line in sys.stdin.buffer:
    with open("heard", "ab") as heard: heard.write(line)
"""


def heard(folder: Path) -> bytes:
    return (folder / "heard").read_bytes() if (folder / "heard").exists() else b""


@pytest.mark.parametrize("line", [SHORT, LONG], ids=["short lines", "long lines"])
@pytest.mark.parametrize("size", [50, 100_000])
def test_a_server_hears_a_client_that_does_not_read(
    client: Make, tmp_path: Path, until: Until, line: str, size: int
) -> None:
    through = client(command=[sys.executable, "-c", WRITES_UNREAD.format(line=line)])
    sent = b""
    for _ in range(40):
        sent += b"x" * size + b"\n"
        through.send(b"x" * size + b"\n")
    until(lambda: heard(tmp_path) == sent)


# Where it can see that, it goes on once nothing more can be written to it: whoever tries is held up.
NEVER_READS = """
import os, select
room = select.poll()
if os.path.isdir("/proc/self/fd"): room.register(os.open("/proc/self/fd/0", os.O_WRONLY), select.POLLOUT)
for number in range(300):
    os.write(1, b"line %d\\n" % number)
    if number % 100 == 99:
        open("go").read()
        while room.poll(0): select.select([], [], [], 0.005)
"""


def test_a_client_reads_a_server_that_hears_nothing(client: Make, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    through = client(command=[sys.executable, "-c", NEVER_READS])
    many = threading.Event()

    def send() -> None:
        with contextlib.suppress(BrokenPipeError):  # the server has ended
            for number in range(50_000):  # 5 MB: more than all pipes on the way hold
                through.send(b"x" * 99 + b"\n")
                if number == 50:  # which the smallest pipes hold
                    many.set()

    sender = threading.Thread(target=send, daemon=True)
    for number in range(300):
        assert through.read() == b"line %d\n" % number
        if number == 99:
            sender.start()
            assert many.wait(PATIENCE_SECONDS)
        if number % 100 == 99:
            (tmp_path / "go").write_text("")
    assert through.read() == b""
    sender.join(PATIENCE_SECONDS)


def test_a_server_that_says_no_more_still_hears(client: Make, tmp_path: Path, until: Until) -> None:
    code = (
        "import os, sys\nos.close(1)\n"
        "for line in sys.stdin.buffer:\n with open('heard', 'ab') as heard: heard.write(line)"
    )
    through = client(command=[sys.executable, "-c", code])
    sent = b""
    for number in range(5):
        sent += b"%d\n" % number
        through.send(b"%d\n" % number)
        until(lambda: heard(tmp_path) == sent)  # noqa: B023 - it is waited for at once
    assert through.process.stdin
    through.process.stdin.close()
    assert through.process.wait(PATIENCE_SECONDS) == 0


def test_a_line_that_comes_bit_by_bit_holds_up_none_the_other_way(client: Make, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    code = "import os; open('go').read(); os.write(1, b'told\\n'); os.read(0, 99)"
    through = client(command=[sys.executable, "-c", code])
    through.send(b"half")
    (tmp_path / "go").write_text("")
    assert through.read() == b"told\n"
    through.send(b" a line\n")
    assert through.process.wait(PATIENCE_SECONDS) == 0


def test_calls_short_and_long_in_any_order_are_answered_in_it(client: Make) -> None:
    through = client()
    for round_ in range(8):
        sizes = [10, 3_000, 20_000, 10, 10, 300_000, 10]
        for size in sizes[round_ % 7 :] + sizes[: round_ % 7]:
            result = through.call(text_result("y" * size), arguments={"data": "x" * (size if round_ % 2 else 1)})
            assert result["content"][0]["text"].startswith("y" * 10 if size <= 3_000 else "{")


def test_what_a_client_sends_at_once_arrives_in_its_order(client: Make) -> None:
    through = client()
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": f"i{number}", "method": "ping", "params": {"x": "p" * size}})
        for number, size in enumerate([1, 9_000, 1, 1, 200_000, 2, 3])
    ]
    through.send("".join(line + "\n" for line in lines))
    told = [json.loads(through.read()) for _ in lines]
    assert [one["id"] for one in told] == [f"i{number}" for number in range(7)]
    assert through.received.decode().splitlines() == lines


def test_a_client_is_heard_while_an_answer_waits_for_the_log(client: Make, tmp_path: Path, until: Until) -> None:
    through = client(SIGHTLINE_SESSION="one")
    for _ in range(3):
        through.call(text_result("short"))
    with open(tmp_path / "store" / "audit" / "one.jsonl") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        through.request("tools/call", answer(text_result("held up")), name="big", arguments={})
        until(lambda: b"held up" in through.received)
        through.request("tools/call", answer(text_result("later")), name="big", arguments={})
        until(lambda: b"later" in through.received)
    assert b"held up" in through.read()
    assert b"later" in through.read()


def test_a_client_that_goes_is_not_outlived_because_the_log_is_locked(client: Make, tmp_path: Path) -> None:
    through = client(SIGHTLINE_SESSION="one")
    through.call(text_result("short"))
    with open(tmp_path / "store" / "audit" / "one.jsonl") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        through.request("tools/call", answer(text_result("held up")), name="big", arguments={})
        assert through.process.stdin
        assert through.process.stdout
        through.process.stdin.close()
        through.process.stdout.close()
        assert through.process.wait(PATIENCE_SECONDS) == 0


FILLS_ERRORS = """
import contextlib, os, runpy, sys
os.set_blocking(2, False)
with contextlib.suppress(BlockingIOError):
    while True: os.write(2, b"x" * 512)
with contextlib.suppress(BlockingIOError):
    while True: os.write(2, b"x")
os.set_blocking(2, True)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_warning_that_finds_no_room_costs_no_answer(client: Make, tmp_path: Path) -> None:
    server = [sys.executable, "-c", FILLS_ERRORS, *SERVER[1:], str(tmp_path / "received")]
    through = client(command=server, SIGHTLINE_SESSION="one")
    for _ in range(3):
        through.call(text_result("short"))
    with open(tmp_path / "store" / "audit" / "one.jsonl", "ab") as log:
        log.write(b"what is no entry\n")
    failed = '{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"refused"}}\n'
    for _ in range(2):
        assert b"refused" in through.ask("tools/call", failed, name="big", arguments={})
    assert through.process.stderr
    os.set_blocking(through.process.stderr.fileno(), False)
    assert not through.process.stderr.read().strip(b"x")
    assert b"refused" in through.ask("tools/call", failed, name="big", arguments={})
    assert through.close() == (b"", 0)
    assert through.errors.count("sightline proxy: ") == 1  # told where there was room again


def test_a_warning_that_nobody_hears_costs_no_answer(client: Make, tmp_path: Path) -> None:
    through = client(SIGHTLINE_SESSION="one")
    through.call(text_result("short"))
    assert through.process.stderr
    through.process.stderr.close()
    with open(tmp_path / "store" / "audit" / "one.jsonl", "ab") as log:
        log.write(b"what is no entry\n")
    failed = '{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"refused"}}\n'
    for _ in range(2):
        assert b"refused" in through.ask("tools/call", failed, name="big", arguments={})
    assert through.call(text_result("short"))["content"][0]["text"] == "short"


def test_a_pipe_that_another_made_not_to_block_is_waited_for() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    line = b"x" * 300_000

    def written() -> None:
        with open(write, "wb", buffering=0):
            LineWriter(write).write(line)

    writing = threading.Thread(target=written)
    writing.start()
    with open(read, "rb") as there:
        assert there.read() == line + b"\n"
    writing.join(PATIENCE_SECONDS)


def test_a_client_that_is_cut_off_still_gets_the_last_words(tmp_path: Path) -> None:
    code = "import os, sys; os.write(1, b'ready\\n'); sys.stdin.read(); os.write(1, b'last words\\n')"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ours = socket.create_connection(listening.getsockname())
        theirs, _ = listening.accept()
    process = subprocess.Popen(
        [*PROGRAM, "--", sys.executable, "-c", code],
        stdin=theirs,
        stdout=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "store")},
    )
    theirs.close()
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ours.close()  # and not an end that was told
    rest, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert rest == b"last words\n"
    assert process.returncode == 0


def test_what_would_wait_is_not_written_now() -> None:
    read, write = os.pipe()
    with open(read, "rb", buffering=0) as there:
        writer = LineWriter(write)
        assert writer.write_now(b"now\n")
        assert there.read(99) == b"now\n"
        assert not writer.write_now(b"x" * (select.PIPE_BUF + 1))
        held = threading.Event()

        def pieces() -> Iterator[bytes]:
            held.set()
            while writer.write_now(b"in between\n"):
                pass
            yield b"alone\n"

        another = threading.Thread(target=writer.write_pieces, args=(pieces(),))
        another.start()
        assert held.wait(PATIENCE_SECONDS)
        another.join(PATIENCE_SECONDS)
        assert there.read(99) == b"alone\n"
        while writer.write_now(b"x" * 999 + b"\n"):
            pass
        there.read(1 << 16)
        assert writer.write_now(b"room again\n")
    os.close(write)
