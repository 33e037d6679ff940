"""A command line in a folder of its own, in which nothing of the person's is left."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_PROGRAM = [sys.executable, "-m", "sightline.doors.cli.main"]
_SECONDS = 60

Sightline = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(("SIGHTLINE_", "CLAUDE", "CODEX_", "GEMINI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "root"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def sightline(tmp_path: Path) -> Sightline:
    """Runs ``sightline`` with words, on the store of the fixture ``store``."""

    def run(*words: str | bytes, **more: Any) -> "subprocess.CompletedProcess[bytes]":
        environment = {**os.environ, "LANG": "C.UTF-8", **more.pop("environment", {})}
        return subprocess.run(
            [*_PROGRAM, *words], capture_output=True, env=environment, cwd=tmp_path, timeout=_SECONDS, **more
        )

    return run
