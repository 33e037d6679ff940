"""Whoever is killed at whatever moment: nothing that it had announced is lost, and nobody else is held up.

``SIGHTLINE_KILLS=200 pytest tests/faults/test_kills.py`` kills each kind at that many moments.
"""

import fcntl
import json
import os
import pty
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.base.records import Buffer
from sightline.doors.doctor.doctor import examine
from sightline.log import log
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.settings.config import Settings
from sightline.store import Store, Target
from tests.faults.kill_kit import Moments, Nursery, is_gone, refs_in, soon

MOST = 4000
"""The largest number that any command counts to."""

LEFT = (
    # A command that is just being started holds what its starter held, for the blink of an eye after that one's death.
    "its writer is dead: marked interrupted",
    "before it had a record: dropped",
    "was an empty folder without a record: removed",
    "was left by a writer that died; removed",
    "was missing in the index: added",  # while others hold the index, a capture is listed only once it has ended
)
"""What `doctor` may say of a killed writer: nothing of it was announced."""

RUNS = [["run", "-c", "seq 3000; echo e >&2"], ["run", "--label", "two", "--", "seq", "2000"]]
BYSTANDER = [["run", "-c", "sleep 0.02; seq 40"]] * 2
CALLS = ["seq 1500", "seq 3", "seq 2500; exit 1"]
ANSWER = r'{"jsonrpc":"2.0","id":\1,"result":{"content":[{"type":"text","text":"%s\1"}]}}'
REPLACED = rf's/.*"id": *\([0-9]*\).*/{ANSWER}/'


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    made = Nursery(tmp_path_factory.mktemp("none"))
    yield made
    made.close()


@pytest.fixture
def nursery(loaded: Nursery, tmp_path: Path) -> Iterator[Nursery]:
    loaded.folder = tmp_path
    yield loaded
    loaded.kill_all()


@pytest.fixture
def bystander(nursery: Nursery, tmp_path: Path) -> Callable[[], None]:
    """Another process, that captures all the time; waits until it has done so once more."""
    out = tmp_path / "bystander"
    out.touch()
    nursery.start(*BYSTANDER, out=str(out))

    def goes_on() -> None:
        before = out.stat().st_size
        soon(lambda: out.stat().st_size > before)

    goes_on()
    return goes_on


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "root"), Settings()) as opened:
        yield opened


def counted(to: int) -> bytes:
    return b"".join(b"%d\n" % number for number in range(1, to + 1))


def content(store: Store, buffer: Buffer) -> bytes:
    with store.open(Target(buffer, "out")) as reader:
        return bytes(reader.read(0, reader.byte_count))


def whole(store: Store, name: str) -> None:
    """An output that was announced when it had ended: it is there, all of it."""
    buffer = store.resolve(f"@{name}").buffer
    assert buffer.state == "sealed"
    assert content(store, buffer) == counted(int(buffer.command.split()[1].rstrip(";")))


def check(store: Store) -> None:
    """The store is sound: what the killed one wrote can be read, and is marked where it is not all."""
    for item in store.listed(100_000):
        if item.buffer.state == "running":
            continue  # the bystander's
        out = content(store, item.buffer)
        assert item.buffer.stream("out").bytes == len(out)
        if item.buffer.state == "interrupted":
            assert counted(MOST).startswith(out)
    findings = [finding for finding in examine(store) if finding.level in ("problem", "mended")]
    assert not [one for one in findings if not any(left in one.text for left in LEFT)], findings


def wait_for(out: Path, answers: int, mark: str, after: float) -> None:
    """Until a process has answered so often, and a moment more."""
    soon(lambda: out.exists() and out.read_text().count(mark) >= answers)
    threading.Event().wait(after)


def test_a_killed_command_line_loses_nothing_it_has_told(
    tmp_path: Path, nursery: Nursery, bystander: Callable[[], None], store: Store
) -> None:
    for at, (answers, after) in enumerate(Moments("run", usual=3, answers=3)):
        out = tmp_path / f"out-{at}"
        pid = nursery.start(*RUNS, out=str(out))
        wait_for(out, answers, "output_id", after)
        nursery.kill(pid)
        for name in refs_in(out.read_text()):
            whole(store, name)
        check(store)
        bystander()


def test_a_killed_capture_in_the_background_is_interrupted_and_readable(
    tmp_path: Path, nursery: Nursery, bystander: Callable[[], None], store: Store
) -> None:
    request = {
        "root": store.root,
        "settings": Settings()._asdict(),
        "argv": ["sh", "-c", f"seq 3000; echo $$ > {tmp_path}/child; exec sleep 600"],
        "command": "counts",
        "cwd": str(tmp_path),
        "session": "s",
        "label": "",
        "timeout": None,
    }
    asked, child = tmp_path / "request", tmp_path / "child"
    asked.write_text(json.dumps(request))
    for at, (_, after) in enumerate(Moments("background", usual=2, answers=0)):
        out = tmp_path / f"out-{at}"
        nursery.start(["@background"], stdin=str(asked), out=str(out))
        wait_for(out, 1, "\n", after)
        name = json.loads(out.read_text())["name"]
        worker = int(Path(store.layout.marker(name)).read_text().split()[0])
        soon(lambda: child.exists() and child.read_text())
        os.kill(worker, 9)
        soon(lambda worker=worker: is_gone(worker))
        buffer = store.resolve(f"@{name}").buffer
        assert buffer.state == "interrupted"
        assert counted(MOST).startswith(content(store, buffer))
        os.kill(int(child.read_text()), 9)
        child.unlink()
        check(store)
        bystander()


class Piped:
    """A server whose requests come through a pipe, and whose answers go to a file."""

    def __init__(self, nursery: Nursery, folder: Path, name: str, *words: str) -> None:
        self.out = folder / f"{name}.out"
        pipe = str(folder / f"{name}.in")
        os.mkfifo(pipe)
        self.pid = nursery.start(list(words), stdin=pipe, out=str(self.out))
        self._pipe = os.open(pipe, os.O_WRONLY)
        self._count = 0
        told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        self.ask("initialize", **told)

    def ask(self, method: str, **params: Any) -> None:
        self._count += 1
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        os.write(self._pipe, json.dumps(message).encode() + b"\n")

    def call(self, tool: str, **arguments: Any) -> None:
        self.ask("tools/call", name=tool, arguments=arguments)

    def shown(self) -> list[str]:
        """The texts of the answers to calls that have come whole."""
        lines = [json.loads(line) for line in self.out.read_text().split("\n")[:-1]]
        results = [line["result"]["content"] for line in lines if "content" in line.get("result", {})]
        return ["\n".join(block["text"] for block in blocks) for blocks in results]

    def close(self) -> None:
        os.close(self._pipe)


def logged(root: str, since: float) -> set[str]:
    """What was shown from a time on, by the log as lists know it for whoever opens the store now; they know all."""
    with Store(root, Settings()) as store:
        return _logged(store, since)


def _logged(store: Store, since: float) -> set[str]:
    files = [os.path.join(store.layout.audit, file) for file in os.listdir(store.layout.audit)]
    there = [entry for file in files for _, entry in log.read_all(file) if entry["kind"] == "view"]
    known = list_views(store)
    assert len({one.view.id for one in known}) == len(known)
    assert len(known) >= len(there)  # the bystander's go on
    return {view_text(store, one).removesuffix("\n") for one in known if one.view.time >= since}


def test_a_killed_mcp_server_loses_nothing_it_has_answered(
    tmp_path: Path, nursery: Nursery, bystander: Callable[[], None], store: Store
) -> None:
    for at, (answers, after) in enumerate(Moments("mcp", usual=3, answers=9)):
        began = time.time()
        server = Piped(nursery, tmp_path, f"mcp-{at}", "mcp")
        for command in CALLS:
            server.call("run_command", command=command)
            server.call("query", pipeline="wc -l @last")
            server.call("list_outputs")
        wait_for(server.out, answers, '"id"', after)
        nursery.kill(server.pid)
        server.close()
        texts = logged(store.root, began)
        for text in server.shown():
            assert text.removesuffix("\n") in texts
            for name in refs_in(text):
                whole(store, name)
        check(store)
        bystander()


def test_the_commands_of_a_killed_mcp_server_end_and_leave_what_they_wrote(
    tmp_path: Path, nursery: Nursery, store: Store
) -> None:
    server = Piped(nursery, tmp_path, "mcp", "mcp")
    for at in (1, 2):
        server.call("run_command", command=f"seq 7; echo $$ > pid-{at}; trap '' TERM HUP PIPE; sleep 600; sleep 600")
    pids = [tmp_path / "pid-1", tmp_path / "pid-2"]
    # The ward is told of a command before the store is of its output.
    soon(lambda: [content(store, item.buffer) for item in store.listed(9)] == [counted(7)] * 2)
    soon(lambda: all(pid.exists() and pid.read_text() for pid in pids))
    nursery.kill(server.pid)
    server.close()
    soon(lambda: all(is_gone(int(pid.read_text())) for pid in pids))
    assert {(item.buffer.state, content(store, item.buffer)) for item in store.listed(9)} == {
        ("interrupted", counted(7))
    }
    check(store)


def test_a_killed_proxy_loses_nothing_it_has_passed_on(
    tmp_path: Path, nursery: Nursery, bystander: Callable[[], None], store: Store
) -> None:
    replies = [REPLACED % "small ", REPLACED % ("large " * 5_000)]
    script = f"/big/{{{replies[1]};b}};{replies[0]}"
    for at, (answers, after) in enumerate(Moments("proxy", usual=3, answers=20)):
        began = time.time()
        proxy = Piped(nursery, tmp_path, f"proxy-{at}", "proxy", "--", "sed", "-u", script)
        for number in range(24):
            proxy.call("big" if number % 6 == 5 else "small", number=number)
        wait_for(proxy.out, answers, '"id"', after)
        nursery.kill(proxy.pid)
        proxy.close()
        texts = logged(store.root, began)
        shown = proxy.shown()[1:]
        assert all(text.removesuffix("\n") in texts for text in shown)
        kept = [name for text in shown for name in refs_in(text)]
        assert all(store.resolve(f"@{name}").buffer.bytes > 30_000 for name in kept)
        check(store)
        bystander()


def test_a_killed_inspector_leaves_the_store_as_it_was(
    tmp_path: Path, nursery: Nursery, bystander: Callable[[], None], store: Store
) -> None:
    nursery.load("sightline_tui.app")
    for answers, after in Moments("inspector", usual=1, answers=30):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        os.set_blocking(master, False)
        pid = nursery.start([], stdin=os.ttyname(slave), out=os.ttyname(slave))
        drawn = 0
        while drawn < answers * 1_000 + 1:
            try:
                drawn += len(os.read(master, 1 << 16))
                os.write(master, b"jk\x1b[B/seq")
            except BlockingIOError:
                threading.Event().wait(0.002)
        threading.Event().wait(after)
        nursery.kill(pid)
        os.close(slave)
        os.close(master)
        check(store)
        bystander()
