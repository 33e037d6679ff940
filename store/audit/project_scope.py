"""Finds the projects of a store, and the buffers, sessions, calls and notes of one."""

from collections.abc import Iterable, Sequence

from sightline.audit.timeline import Call
from sightline.log.session_list import SessionFacts
from sightline.named_tuple import NamedTuple
from sightline.project import Project, known_project, main_worktree, named
from sightline.records import Buffer, Note
from sightline.refs import parse_ref
from sightline.store import Reading


class KnownProject(NamedTuple):
    """A project in which something was captured.

    Attributes:
        root: root of the repository, or the folder.
        repository: for a linked worktree, its main repository; else the root itself.
        buffers: number of its buffers.
    """

    root: str
    repository: str
    buffers: int

    @property
    def name(self) -> str:
        """The name for people: ``shop``, or for a linked worktree ``shop (fix-login)``."""
        return named(self.root, self.repository)


def projects_of(rows: Iterable[tuple[str, str, int]]) -> list[KnownProject]:
    """Return all projects in the rows of `Index.folders`, the largest first, worktrees after their repository."""
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
    """Return whether a buffer belongs to a project; True if none is given."""
    return project is None or (buffer.project or known_project(buffer.cwd)) == project.root


def buffers_in(buffers: Iterable[Buffer], project: Project | None) -> list[Buffer]:
    """Return the buffers that belong to a project."""
    return [buffer for buffer in buffers if belongs(buffer, project)]


def started_in(store: Reading, project: Project) -> frozenset[str]:
    """Return the names of the sessions that were begun in a project."""
    return frozenset(one.name for one in store.index.sessions() if known_project(one.cwd) == project.root)


def sessions_in(store: Reading, sessions: Iterable[SessionFacts], project: Project | None) -> list[SessionFacts]:
    """Return the sessions of a project: those begun in it, and those that captured something there."""
    if project is None:
        return list(sessions)
    here = started_in(store, project)
    return [
        one
        for one in sessions
        if one.session.name in here
        or (one.counts.buffers and store.index.listed(1, session=one.session.name, project=project))
    ]


def call_belongs(call: Call, project: Project, here: frozenset[str]) -> bool:
    """Return whether a call belongs to a project: by its buffer or, without one, by its session, if begun `here`."""
    return belongs(call.buffer, project) if call.buffer is not None else call.view.session in here


def calls_in(store: Reading, calls: Iterable[Call], project: Project | None) -> list[Call]:
    """Return the calls of a project: those about its buffers, and those of its sessions that are about none."""
    if project is None:
        return list(calls)
    here = started_in(store, project)
    return [call for call in calls if call_belongs(call, project, here)]


def notes_in(store: Reading, notes: Sequence[Note], project: Project | None) -> list[Note]:
    """Return the notes on buffers of a project; notes on unknown buffers belong to none."""
    if project is None:
        return list(notes)
    about = {note.ref: store.index.buffer(parse_ref(note.ref).name) for note in notes}
    return [note for note in notes if (buffer := about[note.ref]) is not None and belongs(buffer, project)]
