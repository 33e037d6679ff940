"""Recorded transcripts, made ones, and what came of importing them."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sightline.agents.past_sessions.importer import Importer
from sightline.base.records import Buffer, View
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.store import Store

RECORDED = Path(__file__).parent / "recorded"
HARNESSES = ("claude-code", "codex", "gemini", "opencode")

Import = Callable[[Path], Importer]


def recorded(harness: str, folder: Path) -> Path:
    """A copy of a recorded session; opencode's with its database made of the rows."""
    place = folder / harness
    shutil.copytree(RECORDED / harness, place, ignore=shutil.ignore_patterns("seen.json", "events.jsonl"))
    make_database(place)
    return place


def make_database(place: Path) -> None:
    """Make opencode's database of its recorded rows, where a session has some."""
    tables = place / "tables.json"
    if not tables.exists():
        return
    data = json.loads(tables.read_text())
    tables.unlink()
    database = sqlite3.connect(place / "opencode.db")
    for name, columns in data["columns"].items():
        database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", data["rows"][name])
    database.commit()
    database.close()


def write_lines(path: Path, *records: Any) -> Path:
    """A transcript of lines; texts and bytes stand there as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line(record) for record in records))
    return path


def line(record: Any) -> bytes:
    """One line of a transcript."""
    if isinstance(record, bytes):
        return record
    return json.dumps(record).encode() + b"\n"


class Claude:
    """Lines of Claude Code's, of one session."""

    def __init__(self, session: str = "5e551011", **more: Any) -> None:
        self.common = {"sessionId": session, "cwd": "/home/user/project", "version": "2.1.329", **more}
        self.minute = 0

    def _stamp(self) -> str:
        self.minute += 1
        return f"2026-01-02T{self.minute // 60:02}:{self.minute % 60:02}:00.000Z"

    def use(self, number: int | str, command: str = "", **block: Any) -> dict[str, Any]:
        """A call: of Bash, or of another tool."""
        tool = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": command}, **block}
        message = {"role": "assistant", "content": [tool]}
        return {
            "type": "assistant",
            "uuid": f"a{number}",
            "timestamp": self._stamp(),
            **self.common,
            "message": message,
        }

    def result(self, number: int | str, content: Any, told: Any = None, *, error: bool = False) -> dict[str, Any]:
        """Its result; ``told`` is what stands beside it."""
        block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content, "is_error": error}
        record = {"type": "user", "uuid": f"r{number}", "timestamp": self._stamp(), **self.common}
        more = {} if told is None else {"toolUseResult": told}
        return {**record, "message": {"role": "user", "content": [block]}, **more}

    def ran(self, number: int | str, out: str, command: str = "./step") -> list[dict[str, Any]]:
        """A command that went well, and what it wrote."""
        told = {"stdout": out, "stderr": "", "interrupted": False}
        return [self.use(number, command), self.result(number, out.rstrip("\n") or "(no output)", told)]


LONG_AGO = datetime(2026, 6, 1, 10, tzinfo=UTC).timestamp()
ENDED = "Process exited with code {}"


class Rollout:
    """Lines of a rollout, a second apart."""

    def __init__(self, session: str, since: float = LONG_AGO, **meta: Any) -> None:
        self.now = since
        self.session = session
        self.lines = [self.line("session_meta", id=session, cwd="/repo", cli_version="0.142.0", **meta)]

    def line(self, kind: str, **payload: Any) -> dict[str, Any]:
        stamp = datetime.fromtimestamp(self.now, UTC).isoformat().replace("+00:00", "Z")
        return {"timestamp": stamp, "type": kind, "payload": payload}

    def call(self, use: str, name: str, arguments: dict[str, Any], result: str) -> "Rollout":
        """Add a call, and its result a second later."""
        asked = self.line(
            "response_item", type="function_call", name=name, arguments=json.dumps(arguments), call_id=use
        )
        self.now += 1
        self.lines += [asked, self.line("response_item", type="function_call_output", call_id=use, output=result)]
        return self

    def ran(self, use: str, command: str, out: str = "", state: str = ENDED.format(0)) -> "Rollout":
        """Add a command."""
        return self.call(use, "exec_command", {"cmd": command}, _codex_result(state, out))

    def polled(self, use: str, out: str, state: str) -> "Rollout":
        """Add a look at what the command that goes on has written since."""
        return self.call(use, "write_stdin", {"session_id": 77, "chars": ""}, _codex_result(state, out))

    def said(self, text: str) -> "Rollout":
        """Add a message of the agent."""
        block = {"type": "output_text", "text": text}
        self.lines.append(self.line("response_item", type="message", role="assistant", content=[block]))
        return self

    def copy(self, other: "Rollout") -> "Rollout":
        """Add the lines of another rollout at this time, as a fork does."""
        self.lines += [{**one, "timestamp": self.lines[0]["timestamp"]} for one in other.lines]
        self.now += 5
        return self

    def write(self, folder: Path) -> Path:
        """Write it, as a file that nobody writes any more."""
        path = write_lines(folder / f"rollout-2026-06-01T10-00-00-{self.session}.jsonl", *self.lines)
        os.utime(path, (LONG_AGO, LONG_AGO))
        return path


def _codex_result(state: str, out: str) -> str:
    return f"Chunk ID: a1\nWall time: 1.0 seconds\n{state}\nOriginal token count: 2\nOutput:\n{out}"


def buffers(store: Store) -> list[Buffer]:
    """All that is in the store, oldest first."""
    return [item.buffer for item in store.listed(10_000)][::-1]


def views(store: Store) -> list[tuple[View, str]]:
    """All views with their texts, oldest first."""
    return [(one.view, view_text(store, one)) for one in reversed(list_views(store))]


def read(store: Store, buffer: Buffer, stream: str = "out") -> bytes:
    """The bytes of a stream."""
    return Path(store.layout.stream(buffer.name, stream)).read_bytes()
