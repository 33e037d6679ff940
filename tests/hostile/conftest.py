"""A command line in a folder of its own, in which nothing of the person's is left."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fork_server import ForkServer

Sightline = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(("SIGHTLINE_", "CLAUDE", "CODEX_", "GEMINI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "root"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def sightline(tmp_path: Path, fork_server: ForkServer) -> Sightline:
    """Runs ``sightline`` with words, on the store of the fixture ``store``."""

    def run(*words: str | bytes, **more: Any) -> "subprocess.CompletedProcess[bytes]":
        environment = {**os.environ, "LANG": "C.UTF-8", **more.pop("environment", {})}
        return fork_server.run(words, env=environment, cwd=tmp_path, **more)

    return run
