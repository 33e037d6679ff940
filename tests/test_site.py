"""The site of the pages: what is made is up to date, it builds without a warning, it loads nothing from elsewhere."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(not (REPOSITORY / "mkdocs.yml").is_file(), reason="the tests lie outside a checkout")


def test_what_pages_tell_of_the_code_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=REPOSITORY, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built."""
    pytest.importorskip("mkdocs", reason="the site needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


def test_the_site_has_every_page_and_what_they_link_to(site: Path) -> None:
    pages = {path.stem for path in (REPOSITORY / "docs").glob("*.md")}
    assert pages <= {path.stem for path in site.glob("*.html")}
    assert (site / "project/screenshots/missed.svg").is_file()
    assert (site / "project/SECURITY.html").is_file()


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    loading = re.compile(
        r"(?:<(?:script|img|link|iframe)\b[^>]*(?:src|href)=\"|url\(|@import\s+[\"'])(?:https?:)?//[^\s\")]+"
    )
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".svg")]
    assert len(files) > 20
    assert [found[0] for path in files for found in loading.finditer(path.read_text(errors="replace"))] == []


def test_what_makes_the_pictures_finds_all_that_it_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(REPOSITORY / "screenshots")
    assert callable(importlib.import_module("make").main)
    for name in ("make", "session"):
        del sys.modules[name]
