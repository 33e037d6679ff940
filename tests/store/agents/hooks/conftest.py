"""Sessions of harnesses, with a store of their own."""

from pathlib import Path

import pytest

from sightline.harnesses.base import BEFORE, KEEP, SHAPE
from sightline.harnesses.claude_code import ClaudeCode
from tests.store.agents.hooks.hook_kit import Harness


@pytest.fixture(autouse=True)
def _closed(closing_stores: None) -> None:
    """The process of a hook ends with its store open."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store that hooks find in their environment."""
    root = tmp_path / "store"
    monkeypatch.setenv("SIGHTLINE_HOME", str(root))
    monkeypatch.setenv("SHELL", "/bin/bash")
    for name in ("SHELLOPTS", "BASHOPTS", "CLAUDE_CODE_SHELL"):
        monkeypatch.delenv(name, raising=False)
    return root


@pytest.fixture
def claude(root: Path, tmp_path: Path) -> Harness:
    """A session of Claude Code."""
    return Harness("claude-code", root, tmp_path)


@pytest.fixture
def piping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Claude Code stand for a harness whose commands are kept whole by pipes, which get both streams."""
    hooks = [one._replace(modes=(KEEP, SHAPE)) if one.when == BEFORE else one for one in ClaudeCode.hooks]
    monkeypatch.setattr(ClaudeCode, "hooks", tuple(hooks))
    monkeypatch.setattr(ClaudeCode, "shell_start", "")
