"""The projects of a store, and what of it concerns one: its buffers, its sessions, calls and notes."""

from collections.abc import Iterable, Sequence

from sightline.audit.timeline import Call
from sightline.log.session_list import SessionFacts
from sightline.named_tuple import NamedTuple
from sightline.project import Project, known_project, main_worktree, named
from sightline.records import Buffer, Note
from sightline.refs import parse_ref
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


def started_in(store: Reading, project: Project) -> frozenset[str]:
    """Names of the sessions that were begun in a project."""
    return frozenset(one.name for one in store.index.sessions() if known_project(one.cwd) == project.root)


def sessions_in(store: Reading, sessions: Iterable[SessionFacts], project: Project | None) -> list[SessionFacts]:
    """The sessions of a project: those begun in it, and those that captured something there."""
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
    """Whether a call is about a project: about a buffer of it, or about none and asked by a session begun `here`."""
    return belongs(call.buffer, project) if call.buffer is not None else call.view.session in here


def calls_in(store: Reading, calls: Iterable[Call], project: Project | None) -> list[Call]:
    """The calls about a project: those about its buffers, and of those about none what its sessions asked."""
    if project is None:
        return list(calls)
    here = started_in(store, project)
    return [call for call in calls if call_belongs(call, project, here)]


def notes_in(store: Reading, notes: Sequence[Note], project: Project | None) -> list[Note]:
    """The notes on buffers of a project; of one that nothing is known of any more, none."""
    if project is None:
        return list(notes)
    about = {note.ref: store.index.buffer(parse_ref(note.ref).name) for note in notes}
    return [note for note in notes if (buffer := about[note.ref]) is not None and belongs(buffer, project)]
