"""Sessions of harnesses, with a store of their own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.store import Store
from tests.store.doors.hooks.hook_kit import Harness


@pytest.fixture(autouse=True)
def _closed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process of a hook ends with its store open; here it goes on."""
    stores = list[Store]()
    begin = Store.__init__

    def begun(self: Store, *words: Any, **named: Any) -> None:
        begin(self, *words, **named)
        stores.append(self)

    monkeypatch.setattr(Store, "__init__", begun)
    yield
    for store in stores:
        store.close()


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
