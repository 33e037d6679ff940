"""Finds the project of a folder: its repository, where a linked worktree counts by itself, or else the folder."""

import os

from sightline.base.refs import host_of
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Iterable, Sequence

if TYPE_CHECKING:
    from sightline.base.records import Buffer

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


def has_branch(root: str, name: str) -> bool:
    """Return whether the repository of a working tree has a branch that is not the one checked out there."""
    repository = main_worktree(root) if root else ""
    git = os.path.join(repository, ".git")
    if not repository or _first_line(os.path.join(git, "HEAD")) == f"ref: refs/heads/{name}":
        return False
    if os.path.isfile(os.path.join(git, "refs", "heads", name)):
        return True
    try:
        with open(os.path.join(git, "packed-refs"), encoding="utf-8", errors="surrogateescape") as file:
            return any(line.rstrip("\n").endswith(f" refs/heads/{name}") for line in file)
    except OSError:
        return False


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(_LINK_BYTES).rstrip("\n")
    except OSError:
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


class FolderCount(NamedTuple):
    """How many buffers were made in a folder.

    Attributes:
        project: the root that they record; empty if they record none.
        folder: their working directory.
        buffers: how many there are.
        host: whose they are, at a place that hosts share; else empty.
    """

    project: str
    folder: str
    buffers: int
    host: str = ""

    @property
    def root(self) -> str:
        """The root of their project. One that they do not record is looked for here, unless another host made them."""
        return self.project or (self.folder if self.host else known_project(self.folder))


class Project(NamedTuple):
    """A project, and what tells which buffers belong to it; at a place that hosts share also a host, or both.

    Attributes:
        root: its root; None for all projects of a host.
        folders: working directories in it of buffers that do not record their project.
        host: the only host whose buffers belong to it; empty for any.
    """

    root: str | None
    folders: tuple[str, ...] = ()
    host: str = ""

    @property
    def name(self) -> str:
        """Its name for people: ``shop``, ``host7``, or ``shop on host7``."""
        own = "" if self.root is None else named(self.root, main_worktree(self.root) if self.root else "")
        return " on ".join(filter(None, (own, self.host)))

    @property
    def title(self) -> str:
        """Its root and its host."""
        return " on ".join(filter(None, (self.root, self.host)))

    def has(self, buffer: "Buffer") -> bool:
        """Return whether a buffer belongs to it."""
        host = host_of(buffer.name)
        if self.host and self.host != host:
            return False
        return self.root is None or FolderCount(buffer.project, buffer.cwd, 1, host).root == self.root


def project_of(root: str | None, rows: Iterable[FolderCount], host: str = "") -> Project:
    """Return a project by its root, from the rows of `Index.folders`; of one host, if that is named."""
    return Project(root, tuple({one.folder: None for one in rows if not one.project and one.root == root}), host)


def project_here(folder: str, rows: Sequence[FolderCount]) -> Project | None:
    """Return the repository around a folder if anything was captured there; else None."""
    root = repository_of(folder)
    return project_of(root, rows) if root and any(one.root == root for one in rows) else None


class Scope(NamedTuple):
    """What a verdict is about; by default, all.

    Attributes:
        session: name of the one session; None for all.
        since: earliest beginning, seconds since the epoch; 0 for the beginning of the log.
        project: the one project, or the projects of one host; None for all.
    """

    session: str | None = None
    since: float = 0.0
    project: Project | None = None


ALL = Scope()
"""Everything that a store has."""


def working_directory() -> str:
    """Return the current folder; if it was removed, its former path."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.environ.get("PWD", "")
