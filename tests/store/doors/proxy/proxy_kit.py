"""A client of a proxied server, each a process of its own."""

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sightline.settings.config import Settings
from sightline.store import Store, Target
from tests.fork_server import Forked, ForkServer

PATIENCE_SECONDS = 30.0
SERVER = [sys.executable, str(Path(__file__).with_name("scripted_server.py"))]
PROGRAM = [sys.executable, "-m", "sightline.doors.cli.main", "proxy"]


class Client:
    """Speaks lines with a server, through ``sightline proxy``, which is a fork or a program, or without it."""

    def __init__(
        self,
        forks: ForkServer,
        folder: Path,
        options: list[str],
        command: list[str],
        *,
        proxied: bool = True,
        forked: bool = True,
        **more: str,
    ) -> None:
        self.home = folder / "store"
        self.received_at = folder / "received"
        self.count = 0
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "SIGHTLINE_HOME": str(self.home),
            **more,
        }
        command = command or [*SERVER, str(self.received_at)]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        words = [*options, *([] if "--url" in options else ["--", *command])]
        self.process: subprocess.Popen[bytes] | Forked
        if proxied and forked:
            self.process = forks.start(["proxy", *words], env=environment, cwd=folder, **pipes)
        else:
            words = [*PROGRAM, *words] if proxied else command
            self.process = subprocess.Popen(words, env=environment, cwd=folder, bufsize=0, **pipes)
        self._held = bytearray()

    def send(self, line: str | bytes) -> None:
        """Write exactly this."""
        assert self.process.stdin
        data = memoryview(line.encode() if isinstance(line, str) else line)
        while data:
            data = data[self.process.stdin.write(data) :]

    def read(self) -> bytes:
        """The next line with its newline; empty at the end."""
        assert self.process.stdout
        fd = self.process.stdout.fileno()
        searched = 0
        while (at := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            assert select.select([fd], [], [], PATIENCE_SECONDS)[0], "no line came"
            data = os.read(fd, 1 << 16)
            if not data:
                rest, self._held = bytes(self._held), bytearray()
                return rest
            self._held += data
        line = bytes(self._held[: at + 1])
        del self._held[: at + 1]
        return line

    def request(self, method: str, *lines: str, meta: dict[str, Any] | None = None, **params: Any) -> int:
        """Send a request that the scripted server answers with these lines; its id."""
        self.count += 1
        params["_meta"] = {**({"test/lines": lines} if lines else {}), **(meta or {})}
        message = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}
        self.send(json.dumps(message) + "\n")
        return self.count

    def ask(self, method: str, *lines: str, **params: Any) -> bytes:
        """Send a request and read a line."""
        self.request(method, *lines, **params)
        return self.read()

    def call(self, result: object, *, tool: str = "big", arguments: object = None) -> Any:
        """Call a tool that gives this result; what came of it."""
        line = result if isinstance(result, str) else answer(result)
        told = self.ask("tools/call", line, name=tool, arguments=arguments if arguments is not None else {"n": 1})
        return json.loads(told)["result"]

    def own(self, name: str, **arguments: Any) -> Any:
        """Call a tool that the proxy answers."""
        return json.loads(self.ask("tools/call", name=name, arguments=arguments))["result"]

    def close(self) -> tuple[bytes, int]:
        """End the input; what still came, and the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        rest = bytearray()
        while line := self.read():
            rest += line
        return bytes(rest), self.process.wait(PATIENCE_SECONDS)

    @property
    def received(self) -> bytes:
        """What the server has been sent so far."""
        return self.received_at.read_bytes()

    @property
    def errors(self) -> str:
        """All that was written to standard error; for after the end."""
        assert self.process.stderr
        return self.process.stderr.read().decode()

    @contextlib.contextmanager
    def store(self) -> Iterator[Store]:
        """The store that the proxy keeps in."""
        with Store(str(self.home), Settings()) as opened:
            yield opened

    def stream(self, ref: str) -> bytes:
        """The bytes of a kept stream."""
        with self.store() as store:
            target = store.resolve(ref)
            with store.open(Target(target.buffer, target.stream)) as source:
                return source.read(0, source.byte_count)

    def end(self) -> None:
        """Kill it, where a test has failed."""
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()
        self.process.wait()


def answer(result: object) -> str:
    """A line with a result, for the request at hand."""
    return f'{{"jsonrpc":"2.0","id":$ID,"result":{json.dumps(result, ensure_ascii=False)}}}\n'


def text_result(text: str, **more: object) -> dict[str, object]:
    """A result of one text block."""
    return {"content": [{"type": "text", "text": text}], **more}
