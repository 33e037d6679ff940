"""The package that the manual shows is one: what it adds is found, stands its examples, and works."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline import harnesses
from sightline.doors.doctor.doctor import examine_plugins
from sightline.plugins import rule_files
from sightline.shape.failure.catalogue import with_added

EXAMPLE = Path(__file__).parents[1] / "docs" / "example-plugin"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The root of a store, in an environment where the package is installed."""
    described = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    site = tmp_path / "site"
    for package in described["tool"]["setuptools"]["packages"]:
        shutil.copytree(EXAMPLE / package, site / package, ignore=shutil.ignore_patterns("__pycache__"))
    project = described["project"]
    facts = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    rows = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in one.items()) for group, one in groups]
    (facts / "entry_points.txt").write_text("\n".join(rows))
    monkeypatch.syspath_prepend(site)
    (tmp_path / "store").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "store"))
    forget()
    yield str(tmp_path / "store")
    forget()


def forget() -> None:
    harnesses.find.cache_clear()
    harnesses.known.cache_clear()


def test_its_rules_stand_their_examples_and_are_known_to_views(root: str) -> None:
    assert [finding.level for finding in examine_plugins(root)] == ["ok"]
    assert "frob" in with_added(rule_files(root)).recognise("frob --all", b"")


def test_its_harness_is_known_to_whoever_looks_and_then_to_hooks(root: str) -> None:
    assert harnesses.find("frob-agent") is None
    assert harnesses.known()["frob-agent"].title == "Frob"
    list(examine_plugins(root))
    harnesses.find.cache_clear()
    found = harnesses.find("frob-agent")
    assert found and found.when("AfterTool") == "after"


def test_installing_it_writes_its_settings_and_what_hooks_and_views_need(root: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sightline.doors.cli.main", "install", "frob-agent", "--mode", "record"]
    done = subprocess.run(command, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "AfterTool" in (tmp_path / ".frob" / "settings.json").read_text()
    harnesses.find.cache_clear()
    assert harnesses.find("frob-agent")
    assert rule_files(root)
