"""Who captures and asks in the soak: each slot is one real process at a time, driven by a thread of the benchmark."""

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.measure import SIGHTLINE
from benchmarks.soaking.ledger import Ledger, Made, lines_of
from benchmarks.terminal import Terminal

_REF = re.compile(r"@(?:cmd|tool)_[0-9a-f]{6,}")
_WARMING_ROUNDS, _WARMING_SECONDS = 30, 0.05
_GONE = ("expired", "is gone", "was removed")
_OPENING = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "0"}},
}
_WRITER = (
    "import json, sys\n"
    "from sightline.capture.command import CommandCapture\n"
    "from sightline.capture.child import shell_argv\n"
    "from sightline.store import Store\n"
    "from sightline.log.retention import enforce_limits\n"
    "with Store() as store:\n"
    "    for line in sys.stdin:\n"
    "        argv, session = shell_argv(json.loads(line)), 'writer-' + sys.argv[1]\n"
    "        captured = CommandCapture(store, argv, command=argv[-1], session=session).run()\n"
    "        enforce_limits(store)\n"
    "        print(captured.buffer.ref if captured.buffer else captured.unkept.error, flush=True)\n"
)
_UPSTREAM = (
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    request = json.loads(line)\n"
    "    result = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}},\n"
    "              'serverInfo': {'name': 'lines', 'version': '0'}}\n"
    "    if request['method'] == 'tools/call':\n"
    "        given = request['params']['arguments']\n"
    "        text = ''.join(given['line'] % n for n in range(1, given['count'] + 1))\n"
    "        result = {'content': [{'type': 'text', 'text': text}]}\n"
    "    if 'id' in request:\n"
    "        print(json.dumps({'jsonrpc': '2.0', 'id': request['id'], 'result': result}), flush=True)\n"
)


class Ended(Exception):
    """A process that was to go on has ended; it tells what it said."""


class Slot(ABC):
    """One process, or one after another; `step` does one thing and waits for its end.

    Attributes:
        kind: what is counted together.
        lasts: whether it is one process from the first step to the last, which must not grow.
    """

    kind = ""
    lasts = True

    def __init__(self, ledger: Ledger, environment: dict[str, str], number: int) -> None:
        self.ledger = ledger
        self.environment = environment
        self.number = number

    @property
    def pid(self) -> int:
        """Of its process; 0 where there is none now."""
        return 0

    def open(self) -> None:  # noqa: B027 (most need not)
        """Start it, where it lasts."""

    @abstractmethod
    def step(self) -> None:
        """Do one thing."""

    def close(self) -> None:  # noqa: B027 (most need not)
        """End it, in its own way."""

    def start(self, words: Sequence[str], **options: Any) -> "subprocess.Popen[str]":
        """Start a program in the soak's environment."""
        return subprocess.Popen(words, env=self.environment, text=True, stdout=subprocess.PIPE, **options)

    def ask(self, *words: str) -> str:
        """Run ``sightline`` to its end; what it says. That a buffer was evicted meanwhile is no fault."""
        told = subprocess.run(
            [*SIGHTLINE, *words], env=self.environment, text=True, stdin=subprocess.DEVNULL, capture_output=True
        )
        if told.returncode and not any(word in told.stdout + told.stderr for word in _GONE):
            self.ledger.fault("a command failed", f"{words} {told.returncode} {told.stdout} {told.stderr}")
        self.ledger.count(words[0])
        return "" if told.returncode else told.stdout

    def expect(self, what: str, told: str, wanted: str, made: Made) -> None:
        """Hold an answer against what it must be."""
        if told != wanted and not self.ledger.is_gone(made.ref):
            self.ledger.fault("wrong answer", f"{what} on {made}: {told[:200]!r}, not {wanted[:200]!r}")


class Lines(Slot):
    """A process that lasts, and answers each line with a line."""

    words: Sequence[str] = ()
    process: "subprocess.Popen[str] | None" = None

    @property
    def pid(self) -> int:
        """Of the process."""
        return self.process.pid if self.process else 0

    def open(self) -> None:
        """Start it."""
        self.process = self.start(self.words, stdin=subprocess.PIPE)

    def said(self, line: str) -> str:
        """Send a line and wait for one."""
        assert self.process and self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        if not (answer := self.process.stdout.readline()):
            raise Ended(f"{self.kind} {self.number} ended with {self.process.wait()}")
        return answer

    def close(self) -> None:
        """Leave it, as clients do; it has to end by itself."""
        if self.process is not None:
            try:
                self.process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                self.ledger.fault("did not end", f"{self.kind} {self.number}")
                self.process.kill()
                self.process.communicate()


class Writer(Lines):
    """The library in a process that captures one command after another."""

    kind = "library"

    def open(self) -> None:
        """Start it."""
        self.words = [sys.executable, "-c", _WRITER, str(self.number)]
        super().open()

    def step(self) -> None:
        """Capture one command."""
        made = self.ledger.new()
        self.ledger.keep(made, self.said(json.dumps(made.command())).strip())
        self.ledger.count("captured by the library")


class Protocol(Lines):
    """A server of MCP."""

    _last = 0

    def open(self) -> None:
        """Start it, and shake hands."""
        super().open()
        self.said(json.dumps(_OPENING))
        assert self.process and self.process.stdin
        self.process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def call(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """Call a tool: the fields and the body of its reply."""
        self._last += 1
        params = {"name": tool, "arguments": arguments}
        answer = json.loads(
            self.said(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": "tools/call", "params": params}))
        )
        if answer.get("id") != self._last or "result" not in answer:
            raise Ended(f"no answer to {tool}: {str(answer)[:300]}")
        texts = [block["text"] for block in answer["result"]["content"]]
        fields = json.loads(texts[0]) if texts[0].startswith("{") else {}
        if not answer["result"].get("isError"):
            self.ledger.replied(self.environment["SIGHTLINE_SESSION"])
        elif not any(word in texts[0] for word in _GONE):
            self.ledger.fault("a call failed", f"{tool} {arguments} {texts[0]}")
        return fields, "".join(texts[1:])


class Server(Protocol):
    """``sightline mcp`` with an agent that runs, reads and asks."""

    kind = "mcp"
    words = (*SIGHTLINE, "mcp")

    def step(self) -> None:
        """One call."""
        calls: list[Callable[[], None]] = [self._run, self._run, self._run, self._background, self._list]
        if made := self.ledger.recent():
            calls += (partial(self._query, made), partial(self._page, made))
        random.choice(calls)()

    def _run(self) -> None:
        made = self.ledger.new()
        fields, body = self.call("run_command", command=made.command())
        if not fields.get("output_id"):
            self.expect("run_command", body.partition("[stderr]\n")[0], made.text, made)
        self.ledger.keep(made, fields.get("output_id", ""))
        self.ledger.count("run_command")

    def _background(self) -> None:
        made = self.ledger.new()
        fields, _ = self.call("run_command", command=made.command(2, 0.3), background=True)
        ref = str(fields.get("output_id", ""))
        while "running" in str(fields.get("status", "")):
            fields, _ = self.call("read_output", ref=ref, wait=20)
        self.ledger.keep(made, ref)
        self.ledger.count("run_command in the background")

    def _query(self, made: Made) -> None:
        _, body = self.call("query", pipeline=f"grep -c '{made.name}' {made.ref}")
        self.expect("query", body, f"{made.lines}\n", made)
        self.ledger.count("query over MCP")

    def _page(self, made: Made) -> None:
        first = random.randint(1, made.lines - 1)
        _, body = self.call("read_output", ref=made.ref, lines=f"{first}-{first + 1}")
        self.expect("read_output", body, lines_of(made.name, first, first + 1), made)
        self.ledger.count("read_output")

    def _list(self) -> None:
        self.call("list_outputs", limit=20)
        self.ledger.count("list_outputs")


class Proxy(Protocol):
    """``sightline proxy`` before a server whose results are large."""

    kind = "proxy"
    words = (*SIGHTLINE, "proxy", "--", sys.executable, "-c", _UPSTREAM)

    def step(self) -> None:
        """One call."""
        made = self.ledger.new(long=True)._replace(err=0)
        line = lines_of(made.name, 0, 0).replace("000000", "%06d", 1)
        fields, _ = self.call("lines", line=line, count=made.lines)
        self.ledger.keep(made, str(fields["output_id"]))
        self.ledger.count("call through the proxy")


class Runner(Slot):
    """``sightline run``, each for some seconds; now and then in the background."""

    kind = "run"
    lasts = False
    _pid = 0

    @property
    def pid(self) -> int:
        """Of the command line that runs."""
        return self._pid

    def step(self) -> None:
        """One command to its end."""
        made = self.ledger.new(long=True)
        command = made.command(4, random.uniform(1, 5))
        if random.random() < 0.2:
            return self._background(made, command)
        process = self.start([*SIGHTLINE, "run", "-c", command], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self._pid = process.pid
        told, error = process.communicate()
        self._pid = 0
        ref = _REF.search(told)
        if process.returncode or not ref:
            self.ledger.fault("a command failed", f"run {process.returncode} {told[:200]} {error}")
        else:
            self.ledger.keep(made, ref[0])
        return self.ledger.count("run")

    def _background(self, made: Made, command: str) -> None:
        ref = _REF.search(self.ask("run", "--background", "-c", command))
        while ref and (told := self.ask("show", ref[0], "--wait", "20", "--json")):
            if json.loads(told).get("status") != "running":
                self.ledger.keep(made, ref[0])
                break


class Asker(Slot):
    """A person at the command line: each command is a process of its own."""

    kind = "asker"
    lasts = False

    def step(self) -> None:
        """One command."""
        made = self.ledger.recent()
        if made is None:
            return
        what = random.choice(("query", "show", "list", "views", "coverage", "pin", "unpin", "rm", "gc", "sessions"))
        if what == "query":
            told = self.ask(what, f"grep -c '{made.name}' {made.ref}")
            self.expect(what, told, f"{made.lines}\n", made)
        elif what == "show":
            self.expect(
                what, self.ask(what, made.ref, "--lines", "2-2").split("]\n")[-1], lines_of(made.name, 2, 2), made
            )
        elif what in ("coverage", "pin", "unpin", "rm"):
            self.ask(what, made.ref)
        else:
            self.ask(what)


class Watcher(Slot):
    """The inspector in a terminal, where somebody moves about."""

    kind = "inspector"
    _keys = ("j", "j", "k", "Enter", "G", "g", "Escape", "Tab", "/", "C", "n")

    def open(self) -> None:
        """Start it."""
        self._lock = threading.Lock()
        self._terminal = Terminal(self.environment)
        self._terminal.start([*SIGHTLINE])
        self._pid = self._terminal.pid()
        self._terminal.settled(time.perf_counter())
        for key in self._keys * _WARMING_ROUNDS:  # what is loaded and kept once it is first used is no growth
            self._terminal.keys(key, "Escape")
            time.sleep(_WARMING_SECONDS)

    @property
    def pid(self) -> int:
        """Of the inspector."""
        return self._pid

    def step(self) -> None:
        """One key; what it opened is closed again."""
        with self._lock:
            self._terminal.keys(random.choice(self._keys))
            self._terminal.keys("Escape")
            if not os.path.exists(f"/proc/{self._pid}"):
                raise Ended(f"the inspector has ended: {self._terminal.screen()}")
        self.ledger.count("key in the inspector")

    def close(self) -> None:
        """Quit."""
        with self._lock:
            self._terminal.keys("Escape", "Escape", "C-c")
            if not self._terminal.ended(20):
                self.ledger.fault("did not end", self._terminal.screen())
            self._terminal.__exit__()
