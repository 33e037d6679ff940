"""Finds the project of a folder: its repository, where a linked worktree counts by itself, or else the folder."""

import os
from collections.abc import Iterable, Sequence

from sightline.named_tuple import NamedTuple

_LINK = "gitdir: "
_LINK_BYTES = 4096  # of the file in place of `.git` in a linked worktree: one line with a path


def find_project(folder: str) -> str:
    """Return the root of the working tree around a folder, else the folder; empty if that is not an absolute path.

    It takes a few look-ups in the file system and no process, because each capture does it.
    """
    return repository_of(folder) or (os.path.normpath(folder) if os.path.isabs(folder) else "")


def repository_of(folder: str) -> str:
    """Return the root of the working tree around a folder, which may be gone itself; empty for none."""
    at = os.path.normpath(folder) if os.path.isabs(folder) else ""
    while at:
        if os.path.exists(os.path.join(at, ".git")):
            return at
        above = os.path.dirname(at)
        at = above if above != at else ""
    return ""


_known: dict[str, str] = {}


def known_project(folder: str) -> str:
    """Return what `find_project` does, once for each folder, for buffers that do not record it."""
    if folder not in _known:
        _known[folder] = find_project(folder)
    return _known[folder]


def main_worktree(root: str) -> str:
    """Return the root of the repository to which a linked worktree belongs; for any other root, itself."""
    try:
        with open(os.path.join(root, ".git"), encoding="utf-8", errors="surrogateescape") as link:
            text = link.read(_LINK_BYTES).strip()
    except OSError:
        return root  # a folder, as in most; or it is gone
    git, _, kept = text.removeprefix(_LINK).rpartition("/worktrees/")
    return os.path.dirname(git) if text.startswith(_LINK) and kept and git.endswith(".git") else root


def named(root: str, repository: str) -> str:
    """Return a project's name: ``shop``, or for a linked worktree ``shop (fix-login)``."""
    own = root.rpartition("/")[2] or root or "unknown"
    return own if repository == root else f"{repository.rpartition('/')[2]} ({own})"


class Project(NamedTuple):
    """A project, and what tells which buffers belong to it.

    Attributes:
        root: its root.
        folders: working directories in it of buffers that do not record their project.
    """

    root: str
    folders: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name for people."""
        return named(self.root, main_worktree(self.root) if self.root else "")


def project_of(root: str, rows: Iterable[tuple[str, str, int]]) -> Project:
    """Return a project by its root, from the rows of `Index.folders`."""
    return Project(root, tuple(cwd for project, cwd, _ in rows if not project and known_project(cwd) == root))


def project_here(folder: str, rows: Sequence[tuple[str, str, int]]) -> Project | None:
    """Return the repository around a folder if anything was captured there; else None."""
    root = repository_of(folder)
    if not root or not any((project or known_project(cwd)) == root for project, cwd, _ in rows):
        return None
    return project_of(root, rows)
