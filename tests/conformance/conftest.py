"""Calls verbs as an agent would, under any profile, in a store of the test's own."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.base.profile import Profile, load_profile
from sightline.base.records import Buffer, Session
from sightline.capture.result import ResultBlock, capture_result
from sightline.settings.config import Settings
from sightline.store import Store
from sightline.verbs import query, read_file, read_output, run_command
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.head_line import render_text
from sightline.verbs.next_call import cli_call
from sightline.verbs.reply import Reply
from sightline.verbs.result_view import result_reply
from sightline.verbs.run_command import Doorway


class Agent:
    """An agent of a known harness, with one profile."""

    def __init__(self, store: Store, profile: Profile) -> None:
        self.store = store
        session = Session("agent-1", "claude-code", "", "", os.getcwd(), 0.0)
        self.asking = Asker(store, session, cli_call, profile)

    def run(self, command: str, doorway: Doorway | None = None, **more: Any) -> Reply:
        return run_command.run_command(self.asking, run_command.RunRequest(command, **more), doorway)

    def read(self, ref: str, **more: Any) -> Reply:
        return read_output.read_output(self.asking, read_output.ReadRequest(ref, **more))

    def file(self, path: Path, **more: Any) -> Reply:
        return read_file.read_file(self.asking, read_file.FileRequest(str(path), **more))

    def result(self, value: object, *, verbosity: str = "auto") -> Reply:
        """Keep a tool's result: JSON, or bytes as they are."""
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        kept = capture_result(
            self.store,
            [ResultBlock([data])],
            command="tool",
            cwd=os.getcwd(),
            session=self.asking.session.name,
            sampling=self.asking.profile.results,
        )
        assert isinstance(kept, Buffer)
        self.newest = kept
        return result_reply(self.asking, kept, verb="capture", request={}, verbosity=verbosity)

    def raw(self, ref: str) -> bytes:
        """The bytes that a ref names, as they are stored."""
        with self.store.open(self.store.resolve(ref)) as source:
            return source.read(0, source.byte_count)

    def query(self, pipeline: str) -> Reply:
        return query.query(self.asking, query.QueryRequest(pipeline))

    def say(self, out: bytes, err: bytes = b"", *, exit_code: int = 0, **more: Any) -> Reply:
        """Run a command that writes some bytes to both streams."""
        Path("out").write_bytes(out)
        Path("err").write_bytes(err)
        return self.run(f"cat out; cat err >&2; exit {exit_code}", **more)

    def tell(self, reply: Reply) -> str:
        """Deliver a reply, and with that log it; the exact text."""
        told: list[str] = []
        deliver(self.asking, reply, render_text, told.append)
        return "".join(told)


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Agent]]:
    """Makes agents of one store: takes the name of a profile."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "a store"))
    monkeypatch.chdir(tmp_path)
    with Store(settings=Settings()) as store:
        yield lambda name: Agent(store, load_profile(name))


@pytest.fixture
def agent(request: pytest.FixtureRequest, agents: Callable[[str], Agent]) -> Agent:
    """An agent with the default profile, or with that which a test or its module names."""
    named = getattr(request, "param", None) or getattr(request.module, "PROFILE", "sightline")
    return agents(named)


@pytest.fixture
def keep(agent: Agent) -> Callable[..., str]:
    """Makes a buffer of some bytes of both streams; its ref."""

    def made(out: bytes, err: bytes = b"") -> str:
        agent.say(out, err)
        return agent.store.resolve("@last").buffer.ref

    return made
