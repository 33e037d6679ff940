"""The tool that the page on rules adds, added: what it says holds."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.shape.failure import tool_rules
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.tool_rules import catalogue, recognise
from sightline.shape.memory import BytesSource

GUIDE = Path(__file__).parents[4] / "docs" / "rules.md"


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The guide's tool, as the only one there is."""
    (text,) = re.findall(r"^```toml\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "added.toml").write_text(text)
    monkeypatch.setattr(tool_rules, "FOLDER", str(tmp_path))
    caches = (catalogue, tool_rules._marks)
    for cached in caches:
        cached.cache_clear()
    yield tomllib.loads(text)
    for cached in caches:
        cached.cache_clear()


def test_the_guide_adds_a_tool_that_is_not_there_yet(added: dict[str, Any]) -> None:
    known = {
        name
        for file in Path(tool_rules.__file__).parents[1].glob("rules/*.toml")
        for name in tomllib.loads(file.read_text())
    }
    assert known and known.isdisjoint(added)


def test_the_guides_tool_is_recognised_by_its_command_and_by_its_text(added: dict[str, Any]) -> None:
    ((name, table),) = added.items()
    assert [known.name for known in catalogue()] == [name]
    (example,) = table["example"]
    assert recognise(example["command"], b"") == [name]
    assert recognise("make check", example["output"].encode()) == [name]


def test_the_guides_example_holds_what_it_promises(added: dict[str, Any]) -> None:
    ((_, table),) = added.items()
    (example,) = table["example"]
    out = BytesSource(example["output"].encode())
    examination = Examination(out, BytesSource(b""), example["command"])
    assert [hit.line for hit in examination.failures(out).hits] == example["failures"]
    assert [tally.numbers for tally in examination.tallies] == [example["counts"]]
    assert [one.text for one in examination.failed] == example["named"]
