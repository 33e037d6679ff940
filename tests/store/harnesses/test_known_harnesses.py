"""What each harness has to give, and that a new one is known by its file alone."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sightline.harnesses as package
from sightline.harnesses import find, known, of_client
from sightline.harnesses.base import MODES, Harness
from sightline.harnesses.formats import find_sources, open_reading
from sightline.log.sessions import current_session
from sightline.settings.entry_points import refresh_plugins

REPOSITORY = Path(__file__).parents[3]
HAL = """
from sightline.harnesses.base import AFTER, Harness, Hook
from sightline.harnesses.transcript import Candidate, TranscriptReading

class Hal(Harness):
    name, title, endings, reader = "hal-9000", "HAL", (".hal",), __name__
    clients = ("hal-9000-mcp-client",)
    hooks = (Hook("Done", AFTER),)

def reading_of(file):
    return file.of_document(lambda document: iter(())) if file.head.startswith(b"{") else None

HARNESS = Hal()
"""


@pytest.fixture
def forgetful() -> Iterator[None]:
    """What is known of harnesses is looked for anew."""
    _forget()
    yield
    for name in ("sightline.harnesses.hal_9000", "hal_9000"):
        sys.modules.pop(name, None)
    _forget()


def _forget() -> None:
    for looked_up in (find, known, of_client):
        looked_up.cache_clear()


@pytest.fixture
def hal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful: None) -> Harness:
    """A harness that is one file more in the package."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "hal_9000.py").write_text(HAL)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / "package")])
    return known()["hal-9000"]


@pytest.mark.usefixtures("forgetful")
def test_another_distribution_adds_a_harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = tmp_path / "hal-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: hal\nVersion: 1.0\n")
    wrong = "broken = no_such_module:HARNESS\nmisnamed = hal_9000:HARNESS\nnone = hal_9000:Hook\n"
    (described / "entry_points.txt").write_text(f"[sightline.harnesses]\nhal-9000 = hal_9000:HARNESS\n{wrong}")
    (tmp_path / "hal_9000.py").write_text(HAL)
    ours = {name for name, harness in known().items() if type(harness).__module__.startswith("sightline.")}
    _forget()
    monkeypatch.syspath_prepend(tmp_path)
    assert set(known()) == ours | {"hal-9000"}
    assert find("hal-9000") is None  # nobody has looked yet for what is installed: no event of a hook waits for that
    root = tmp_path / "store"
    root.mkdir()
    monkeypatch.setenv("SIGHTLINE_HOME", str(root))
    refresh_plugins(str(root))
    _forget()
    assert find("hal-9000") is known()["hal-9000"]
    assert find("broken") is find("misnamed") is find("none") is None


def test_a_harness_is_added_by_one_file(hal: Harness, tmp_path: Path) -> None:
    assert find("hal-9000") is of_client("hal-9000-mcp-client") is hal
    assert hal.when("Done") == "after"
    (tmp_path / "s.hal").write_text("{}")
    (source,) = find_sources(str(tmp_path))
    reading = open_reading(source)
    assert reading
    reading.close()


@pytest.mark.parametrize("harness", known().values(), ids=known())
def test_what_a_harness_gives_fits_together(harness: Harness) -> None:
    assert find(harness.name) is harness
    assert harness.servers or harness.reader  # else there is nothing that it is known for
    assert all(client.startswith(f"{harness.name}-") for client in harness.clients)
    assert set(harness.limits) <= {"cmd", "file", "tool"}
    assert all(set(hook.modes) <= set(MODES) for hook in harness.hooks)
    if harness.servers:
        (servers, hooks), (_, of_project) = harness.user_settings("/h", {}), harness.project_settings("/p")
        assert [bool(file) for file in (servers, hooks, of_project)] == [True, bool(harness.hooks), bool(harness.hooks)]
        assert "mcp" in str(harness.server_entry(["/python", "mcp"], {"A": "b"}))
    if harness.reader:
        reader = harness.transcripts()
        assert hasattr(reader, "FolderReading" if harness.transcript_folder else "reading_of")
        assert harness.transcript_folder or harness.endings
    if harness.transcribes:
        parser = harness.transcripts().Parser("/nowhere.jsonl", 0.0)
        assert parser.is_idle
        assert isinstance(harness.transcripts().TURN, bytes)


@pytest.mark.parametrize(
    "variable", ["CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_SESSION_ID"]
)
def test_a_session_of_the_environment_is_one_of_a_known_harness(variable: str) -> None:
    assert find(current_session({variable: "x"}).harness)


def test_the_page_says_of_each_harness_with_which_version_it_was_tried_or_that_it_was_not() -> None:
    """And the tests with real programs name these versions."""
    page = (REPOSITORY / "docs" / "harnesses.md").read_text().partition("## What was tried")[2].partition("\n## ")[0]
    peers = (REPOSITORY / "tests" / "peers" / "README.md").read_text()
    rows = {row.split("|")[1].split(",")[0].strip(): row for row in page.splitlines() if row.startswith("| ")}
    for harness in known().values():
        if not (harness.hooks or harness.servers):
            continue  # only its past sessions are read, or it is none
        row = rows[harness.title]
        assert (f"| {harness.seen} |" in row and "tried" in row) if harness.seen else "by documentation" in row, row
        if "tried, " in row:
            assert f"@{harness.seen} " in f"{peers} ".replace("\n", " "), row
