"""Projects: found from a folder without a process, kept with each buffer, and what of a store belongs to one."""

from pathlib import Path

import pytest

from sightline.audit.project_scope import belongs, calls_in, projects_of
from sightline.audit.timeline import calls_of
from sightline.base.project import Project, find_project, main_worktree, project_here, project_of, repository_of
from sightline.store import Store
from tests.tui.tui_kit import add


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with a linked worktree beside it."""
    root = tmp_path / "shop"
    (root / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (root / "src" / "deep").mkdir(parents=True)
    (tmp_path / "fix").mkdir()
    (tmp_path / "fix" / ".git").write_text(f"gitdir: {root}/.git/worktrees/fix\n")
    return root


def test_a_folder_belongs_to_its_repository_or_to_itself(shop: Path, tmp_path: Path) -> None:
    assert find_project(f"{shop}/src/deep") == find_project(str(shop)) == str(shop)
    assert find_project(f"{shop}/src/gone/long/ago") == str(shop)
    assert find_project(f"{tmp_path}/fix") == f"{tmp_path}/fix"
    assert find_project("/nowhere/at/all/") == "/nowhere/at/all"
    assert repository_of("/nowhere/at/all") == find_project("") == find_project("src") == ""


def test_a_linked_worktree_tells_its_repository(shop: Path, tmp_path: Path) -> None:
    assert main_worktree(f"{tmp_path}/fix") == str(shop)
    assert main_worktree(str(shop)) == str(shop)
    assert main_worktree("/nowhere") == "/nowhere"


def fill(store: Store, shop: Path, tmp_path: Path) -> None:
    for name, cwd in (("a", shop), ("b", shop / "src"), ("c", tmp_path / "fix"), ("d", "/srv/x")):
        add(store, f"cmd_00000{name}", "make", b"x\n", cwd=str(cwd), session="one")
    older = store.index.buffer("cmd_00000b")
    assert older is not None
    store.index.put_buffer(older._replace(project=""))  # as a version captured it that did not say


def test_each_buffer_says_its_project_and_older_ones_are_found_by_their_folder(
    store: Store, shop: Path, tmp_path: Path
) -> None:
    fill(store, shop, tmp_path)
    assert [store.index.buffer(f"cmd_00000{name}").project for name in "abcd"] == [
        str(shop),
        "",
        f"{tmp_path}/fix",
        "/srv/x",
    ]
    of_shop = project_of(str(shop), store.index.folders())
    assert of_shop == Project(str(shop), (f"{shop}/src",))
    assert {one.buffer.name for one in store.listed(9, project=of_shop)} == {"cmd_00000a", "cmd_00000b"}
    assert len(store.index.list_facts(9, before=None, characters=9, project=of_shop)) == 2


def test_worktrees_stand_with_their_repository_and_are_told_apart(store: Store, shop: Path, tmp_path: Path) -> None:
    fill(store, shop, tmp_path)
    assert [(one.name, one.buffers) for one in projects_of(store.index.folders())] == [
        ("shop", 2),
        ("shop (fix)", 1),
        ("x", 1),
    ]


def test_here_is_the_repository_that_one_stands_in_where_anything_was_captured(
    store: Store, shop: Path, tmp_path: Path
) -> None:
    assert project_here(str(shop), store.index.folders()) is None
    fill(store, shop, tmp_path)
    here = project_here(f"{shop}/src/deep", store.index.folders())
    assert here is not None
    assert here.root == str(shop)
    assert project_here("/srv/x", store.index.folders()) is None
    assert [belongs(store.index.buffer(f"cmd_00000{name}"), here) for name in "abcd"] == [True, True, False, False]
    assert calls_in(store, calls_of(store), here) == []
