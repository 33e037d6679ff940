"""Calls verbs as an agent would, in a store of the test's own."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sightline.store.config import Settings
from sightline.store.doors.cli.output import cli_call
from sightline.store.records import Session
from sightline.store.store import Store
from sightline.store.tools import query, read_output, run_command
from sightline.store.tools.asking import Asking
from sightline.store.tools.reply import Reply


class Agent:
    """An agent of a known harness."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.asking = Asking(store, Session("agent-1", "claude-code", "", "", os.getcwd(), 0.0), cli_call)

    def run(self, command: str, **more: Any) -> Reply:
        return run_command.run_command(self.asking, run_command.Request(command, **more))

    def read(self, ref: str, **more: Any) -> Reply:
        return read_output.read_output(self.asking, read_output.Request(ref, **more))

    def query(self, pipeline: str) -> Reply:
        return query.query(self.asking, query.Request(pipeline))


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "a store"))
    monkeypatch.chdir(tmp_path)
    with Store(settings=Settings()) as store:
        yield Agent(store)


@pytest.fixture
def keep(agent: Agent, tmp_path: Path) -> Callable[..., str]:
    """Makes a buffer of some bytes of both streams; its ref."""

    def made(out: bytes, err: bytes = b"") -> str:
        (tmp_path / "out").write_bytes(out)
        (tmp_path / "err").write_bytes(err)
        agent.run("cat out; cat err >&2")
        return agent.store.resolve("@last").buffer.ref

    return made
