"""The package that the manual shows is one: what it adds is found, stands its examples, and works."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline import harnesses
from sightline.agents.past_sessions.importer import Importer
from sightline.doors.doctor.doctor import examine_plugins
from sightline.harnesses.formats import find_sources
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.settings.plugins import rule_files
from sightline.shape.failure.catalogue import with_added
from sightline.store import Store
from tests.store.agents.hooks.hook_kit import Harness

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
    for name in [one for one in sys.modules if one.partition(".")[0] == "sightline_vibe"]:
        del sys.modules[name]  # it lies in a folder of one test
    harnesses.find.cache_clear()
    harnesses.known.cache_clear()


def test_its_rules_stand_their_examples_and_are_known_to_views(root: str) -> None:
    assert [finding.level for finding in examine_plugins(root)] == ["ok"]
    assert "frob" in with_added(rule_files(root)).recognise("frob --all", b"")


def test_its_harness_is_known_to_whoever_looks_and_then_to_hooks(root: str) -> None:
    assert harnesses.find("vibe") is None
    assert harnesses.known()["vibe"].title == "Mistral Vibe"
    list(examine_plugins(root))
    harnesses.find.cache_clear()
    found = harnesses.find("vibe")
    assert found
    assert found.when("post_tool") == "after"


def _sightline(tmp_path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "sightline.doors.cli.main", *words]
    return subprocess.run(command, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True)


def test_installing_it_writes_its_hooks_and_what_hooks_and_views_need_and_undoing_leaves_nothing(
    root: str, tmp_path: Path
) -> None:
    done = _sightline(tmp_path, "install", "vibe", "--mode", "record")
    assert (done.returncode, done.stderr) == (0, "")
    (hook,) = tomllib.loads((tmp_path / ".vibe" / "hooks.toml").read_text())["hooks"]
    assert (hook["type"], "vibe post_tool --mode record" in hook["command"]) == ("post_tool", True)
    harnesses.find.cache_clear()
    assert harnesses.find("vibe")
    assert rule_files(root)
    assert "Mistral Vibe, user: installed, mode record" in _sightline(tmp_path, "doctor").stdout
    assert _sightline(tmp_path, "uninstall", "vibe").returncode == 0
    assert not (tmp_path / ".vibe" / "hooks.toml").exists()


def test_its_sessions_are_imported_with_what_its_model_was_shown(root: str, tmp_path: Path) -> None:
    def message(role: str, *content: dict[str, object], **more: str) -> dict[str, object]:
        return {"message": {"content": content, "role": role, **more}, "source": "history", "turn_index": 0}

    def asks(use: str, **arguments: str) -> dict[str, object]:
        return {"arguments": {"type": "json", "value": arguments}, "id": use, "name": "bash", "type": "tool_call"}

    def gives(use: str, text: str) -> dict[str, object]:
        return message("tool", {"text": text, "type": "text"}, name="bash", outcome="success", tool_call_id=use)

    folder = tmp_path / "unified" / "dfb60a3b"
    (folder / "chunks").mkdir(parents=True)
    (folder / "tool-results").mkdir()
    (folder / "meta.json").write_text('{"session_id": "dfb60a3b", "environment": {"working_directory": "/repo"}}')
    long = {"command": "make all", "returncode": 4, "stderr": "e\n", "stdout": "line\n" * 9_000}
    saved = folder / "tool-results" / "bash-c2.json"
    saved.write_text(json.dumps(long, indent=2))
    short = '{"command":"make","returncode":0,"stderr":"","stdout":"fine\\n"}'
    cut = f"<system>The tool output is large. It was saved to the file system under {saved}.\nSize: 9</system>\n…"
    messages = [
        message("user", {"text": "please run the tests", "type": "text"}),
        message("assistant", asks("c1", command="make"), asks("c2", command="make all")),
        *(gives("c1", short), gives("c2", cut)),
    ]
    (folder / "chunks" / "9060.json").write_text(json.dumps(messages, separators=(",", ":")))
    (folder / "chunks" / "57f3.json").write_text('[{"content": [], "type": "message"}]')
    harnesses.known()
    with Store(root) as store:
        Importer(store).run(find_sources(str(tmp_path / "unified")))
        all_, one = (item.buffer for item in store.listed(10))
        assert (one.command, one.exit_code, one.cwd, one.session) == ("make", 0, "/repo", "vibe-dfb60a3b")
        assert (all_.exit_code, all_.stream("out").lines, all_.stream("err").lines, all_.partial) == (4, 9_000, 1, "")
        assert sorted(view_text(store, view) for view in list_views(store)) == sorted([short, cut])


@pytest.mark.usefixtures("closing_stores")
def test_of_its_commands_both_streams_are_kept_whole_with_exit_codes(root: str, tmp_path: Path) -> None:
    list(examine_plugins(root))
    harnesses.find.cache_clear()
    vibe = Harness("vibe", Path(root), tmp_path)
    told = {"command": "make", "returncode": 3, "stdout": "a\n\n", "stderr": "b\n", "was_truncated": False}
    about = {"tool_name": "file_system.bash", "tool_call_id": "c1", "tool_input": {"command": "make"}}
    assert vibe.tell("post_tool", **about, tool_output=told, tool_output_text="…", tool_status="success") is None
    (buffer,) = vibe.buffers()
    assert (vibe.content(buffer), vibe.content(buffer, "err")) == (b"a\n\n", b"b\n")
    assert (buffer.command, buffer.exit_code, buffer.partial, buffer.note) == ("make", 3, "", "")
    ((_, text),) = vibe.views()
    assert text == '{"command":"make","returncode":3,"stderr":"b\\n","stdout":"a\\n\\n","was_truncated":false}'
