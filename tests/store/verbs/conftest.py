"""A store, those who ask it, and what they are told."""

import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.base.records import Buffer, Session, View
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.settings.config import Settings
from sightline.store import Store, Target
from sightline.verbs import read_output as reading
from sightline.verbs import run_command as running
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.head_line import render_text
from sightline.verbs.next_call import cli_call
from sightline.verbs.reply import Reply
from sightline.verbs.run_command import Doorway


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No harness, no settings and no store but the test's own."""
    for name in os.environ:
        if name.startswith(("SIGHTLINE_", "CLAUDE", "CODEX_", "GEMINI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "a store"))
    monkeypatch.chdir(tmp_path)


class Caller:
    """Someone who calls verbs in a store and gets replies, each of them delivered as the command line would."""

    def __init__(self, store: Store, name: str, harness: str) -> None:
        self.store = store
        session = Session(name, harness, "", "", os.getcwd(), 0.0)
        self.asking = Asker(store, session, cli_call)
        self.told = ""

    def deliver(self, reply: Reply) -> Reply:
        sent: list[str] = []
        deliver(self.asking, reply, render_text, sent.append)
        self.told = "".join(sent)
        return reply

    def run(self, command: str = "", doorway: Doorway | None = None, **more: Any) -> Reply:
        return self.deliver(running.run_command(self.asking, running.RunRequest(command, **more), doorway))

    def read(self, ref: str, **more: Any) -> Reply:
        return self.deliver(reading.read_output(self.asking, reading.ReadRequest(ref, **more)))

    def follow(self, call: str) -> Reply:
        """Make the next call of a reply, as the command line writes it."""
        words = shlex.split(call)
        assert words[:2] == ["sightline", "show"], call
        options = dict(zip(words[3::2], words[4::2], strict=True))
        given: dict[str, Any] = {name.lstrip("-"): text for name, text in options.items()}
        for name in ("offset", "limit", "wait", "context"):
            if name in given:
                given[name] = int(given[name])
        return self.read(words[2], **given)

    def newest(self) -> Buffer:
        """The newest command of the store."""
        return self.store.resolve("@last").buffer

    def views(self) -> list[View]:
        """All views of the store, oldest first."""
        return [indexed.view for indexed in list_views(self.store)][::-1]

    def logged(self) -> str:
        """The text of the newest view, as the log has it."""
        return view_text(self.store, list_views(self.store)[0])

    def raw(self, buffer: Buffer, stream: str = "out") -> bytes:
        with self.store.open(Target(buffer, stream)) as source:
            return source.read(0, source.byte_count)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store whose path has a space in it."""
    with Store(settings=Settings()) as opened:
        yield opened


@pytest.fixture
def agent(store: Store) -> Caller:
    """An agent known by its harness."""
    return Caller(store, "claude-code-1", "claude-code")


@pytest.fixture
def person(store: Store) -> Caller:
    """A person at a shell."""
    return Caller(store, "shell-1", "shell")


@pytest.fixture
def caller() -> Callable[[Store, str, str], Caller]:
    """Makes further callers."""
    return Caller
