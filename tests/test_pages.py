"""The pages: what they name is there."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
PAGES = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("**/*.md")]

pytestmark = pytest.mark.skipif(not PAGES, reason="the tests lie outside a checkout")


def named(page: Path) -> set[str]:
    """Files and folders of the rooms that a page names; NAME stands for any."""
    found = re.findall(r"`((?:store|tui|tests|benchmarks|docs|screenshots)/[\w./]*)`", page.read_text())
    return {path for path in found if "NAME" not in path}


def linked(page: Path) -> set[str]:
    """Files that a page links to, outside of its examples."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"\]\(([^)#:\s]+)(?:#[\w-]+)?\)", text))


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as the site and a forge both make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_links_to_headings_that_are_there(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#:\s]*)#([\w-]+)\)", text)
    wrong = [f"{file}#{part}" for file, part in links if part not in headings(page.parent / file if file else page)]
    assert wrong == []


def test_the_readme_is_two_screens() -> None:
    assert len((REPOSITORY / "README.md").read_text().split()) <= 1_300


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_and_links_what_is_there(page: Path) -> None:
    assert [path for path in sorted(named(page)) if not (REPOSITORY / path).exists()] == []
    assert [path for path in sorted(linked(page)) if not (page.parent / path).exists()] == []


def test_the_walks_through_the_house_name_their_files() -> None:
    assert len(named(REPOSITORY / "docs/architecture.md")) > 25
