"""The projects of a store, and what of it concerns one: its buffers, and the calls about them."""

from collections.abc import Iterable

from sightline.audit.timeline import Call
from sightline.named_tuple import NamedTuple
from sightline.project import Project, known_project, main_worktree, named
from sightline.records import Buffer
from sightline.store import Reading


class KnownProject(NamedTuple):
    """A project that something was captured in.

    Attributes:
        root: of the repository, or the folder.
        repository: the repository that it is a linked worktree of; itself for any other.
        buffers: how many there are.
    """

    root: str
    repository: str
    buffers: int

    @property
    def name(self) -> str:
        """What a person calls it: ``shop``, or of a linked worktree ``shop (fix-login)``."""
        return named(self.root, self.repository)


def projects_of(rows: Iterable[tuple[str, str, int]]) -> list[KnownProject]:
    """All projects of the rows that `Index.folders` gives, the largest first; linked worktrees behind their own."""
    counts = dict[str, int]()
    for project, folder, count in rows:
        root = project or known_project(folder)
        counts[root] = counts.get(root, 0) + count
    known = [KnownProject(root, main_worktree(root) if root else root, count) for root, count in counts.items()]
    of_repository = dict[str, int]()
    for one in known:
        of_repository[one.repository] = of_repository.get(one.repository, 0) + one.buffers
    return sorted(
        known, key=lambda one: (-of_repository[one.repository], one.repository, one.root != one.repository, one.root)
    )


def belongs(buffer: Buffer, project: Project | None) -> bool:
    """Whether a buffer is of a project; of none that is asked for, each."""
    return project is None or (buffer.project or known_project(buffer.cwd)) == project.root


def buffers_in(buffers: Iterable[Buffer], project: Project | None) -> list[Buffer]:
    """The buffers that are of a project."""
    return [buffer for buffer in buffers if belongs(buffer, project)]


def calls_in(store: Reading, calls: Iterable[Call], project: Project | None) -> list[Call]:
    """The calls about a project: those about its buffers, and of those about none what its sessions asked."""
    if project is None:
        return list(calls)
    here = {session.name for session in store.index.sessions() if known_project(session.cwd) == project.root}
    return [
        call
        for call in calls
        if (belongs(call.buffer, project) if call.buffer is not None else call.view.session in here)
    ]
