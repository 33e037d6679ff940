"""Recorded transcripts, made ones, and what came of importing them."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sightline.imports.importer import Importer
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.records import Buffer, View
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


def buffers(store: Store) -> list[Buffer]:
    """All that is in the store, oldest first."""
    return [item.buffer for item in store.listed(10_000)][::-1]


def views(store: Store) -> list[tuple[View, str]]:
    """All views with their texts, oldest first."""
    return [(one.view, view_text(store, one)) for one in reversed(list_views(store))]


def read(store: Store, buffer: Buffer, stream: str = "out") -> bytes:
    """The bytes of a stream."""
    return Path(store.layout.stream(buffer.name, stream)).read_bytes()
