"""Finds the project of a folder: its repository, a linked worktree as one by itself, or else the folder."""

import os
from collections.abc import Iterable, Sequence

from sightline.named_tuple import NamedTuple

_LINK = "gitdir: "
_LINK_BYTES = 4096  # of the file that stands for `.git` in a linked worktree: one line, which is a path


def find_project(folder: str) -> str:
    """The root of the working tree that a folder lies in, else the folder; empty where that is no absolute path.

    A few look-ups in the file system, and no process: each capture asks.
    """
    return repository_of(folder) or (os.path.normpath(folder) if os.path.isabs(folder) else "")


def repository_of(folder: str) -> str:
    """The root of the working tree that a folder lies in, whether or not it is still there; empty for none."""
    at = os.path.normpath(folder) if os.path.isabs(folder) else ""
    while at:
        if os.path.exists(os.path.join(at, ".git")):
            return at
        above = os.path.dirname(at)
        at = above if above != at else ""
    return ""


_known: dict[str, str] = {}


def known_project(folder: str) -> str:
    """As `find_project`, asked once a folder: for those of buffers that do not say it themselves."""
    if folder not in _known:
        _known[folder] = find_project(folder)
    return _known[folder]


def main_worktree(root: str) -> str:
    """The repository that a linked worktree belongs to, by its root; the root itself for any other."""
    try:
        with open(os.path.join(root, ".git"), encoding="utf-8", errors="surrogateescape") as link:
            text = link.read(_LINK_BYTES).strip()
    except OSError:
        return root  # a folder, as in most; or it is gone
    git, _, kept = text.removeprefix(_LINK).rpartition("/worktrees/")
    return os.path.dirname(git) if text.startswith(_LINK) and kept and git.endswith(".git") else root


def named(root: str, repository: str) -> str:
    """What a person calls a project: ``shop``, or of a linked worktree ``shop (fix-login)``."""
    own = root.rpartition("/")[2] or root or "unknown"
    return own if repository == root else f"{repository.rpartition('/')[2]} ({own})"


class Project(NamedTuple):
    """A project, and which buffers belong to it.

    Attributes:
        root: of it.
        folders: working directories of buffers that do not say to which project they belong, and lie in it.
    """

    root: str
    folders: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What a person calls it."""
        return named(self.root, main_worktree(self.root) if self.root else "")


def project_of(root: str, rows: Iterable[tuple[str, str, int]]) -> Project:
    """A project by its root, of the rows that `Index.folders` gives."""
    return Project(root, tuple(cwd for project, cwd, _ in rows if not project and known_project(cwd) == root))


def project_here(folder: str, rows: Sequence[tuple[str, str, int]]) -> Project | None:
    """The repository that a folder lies in, where anything was captured there; None otherwise."""
    root = repository_of(folder)
    if not root or not any((project or known_project(cwd)) == root for project, cwd, _ in rows):
        return None
    return project_of(root, rows)
