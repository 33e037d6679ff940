"""Finds the projects of a store, and the buffers, sessions, calls and notes of one."""

from collections.abc import Iterable, Sequence

from sightline.audit.timeline import Call
from sightline.base.project import FolderCount, Project, Scope, main_worktree, named
from sightline.base.records import Buffer, Note
from sightline.base.refs import host_of, parse_ref
from sightline.light.named_tuple import NamedTuple
from sightline.log.session_list import SessionFacts
from sightline.log.sessions import is_onlooker
from sightline.store import Reading


class KnownProject(NamedTuple):
    """A project in which something was captured, or at a place that hosts share a host, or a project there.

    Attributes:
        root: root of the repository, or the folder; None for all projects of a host.
        repository: for a linked worktree, its main repository; else the root itself.
        buffers: number of its buffers.
        host: the host that is meant alone; empty for any.
        hosts: number of hosts that its buffers are of.
    """

    root: str | None
    repository: str
    buffers: int
    host: str = ""
    hosts: int = 1

    @property
    def name(self) -> str:
        """The name for people: ``shop``, or for a linked worktree ``shop (fix-login)``; for a host its own."""
        return self.host if self.root is None else named(self.root, self.repository)


def projects_of(rows: Iterable[FolderCount]) -> list[KnownProject]:
    """Return all hosts and projects in the rows of `Index.folders`.

    Hosts come first, then the projects, the largest first, worktrees after their repository. A project that several
    hosts have is followed by that of each of them.
    """
    of_host, of_root = dict[str, int](), dict[str, dict[str, int]]()
    for row in rows:
        of_host[row.host] = of_host.get(row.host, 0) + row.buffers
        counts = of_root.setdefault(row.root, {})
        counts[row.host] = counts.get(row.host, 0) + row.buffers
    repositories = {
        root: root if row_hosts.keys() != {""} or not root else main_worktree(root)
        for root, row_hosts in of_root.items()
    }
    of_repository = dict[str, int]()
    for root, counts in of_root.items():
        of_repository[repositories[root]] = of_repository.get(repositories[root], 0) + sum(counts.values())
    order = sorted(
        of_root,
        key=lambda root: (-of_repository[repositories[root]], repositories[root], root != repositories[root], root),
    )
    known = [KnownProject(None, "", count, host) for host, count in sorted(of_host.items()) if host]
    for root in order:
        counts, repository = of_root[root], repositories[root]
        hosts = sorted(filter(None, counts))
        alone = hosts[0] if len(hosts) == len(counts) == 1 else ""
        known.append(KnownProject(root, repository, sum(counts.values()), alone, max(len(hosts), 1)))
        if len(hosts) > 1:
            known += [KnownProject(root, repository, counts[host], host) for host in hosts]
    return known


def belongs(buffer: Buffer, project: Project | None) -> bool:
    """Return whether a buffer belongs to a project; True if none is given."""
    return project is None or project.has(buffer)


def buffers_in(buffers: Iterable[Buffer], project: Project | None) -> list[Buffer]:
    """Return the buffers that belong to a project."""
    return [buffer for buffer in buffers if belongs(buffer, project)]


def running_in(store: Reading, scope: Scope) -> list[Buffer]:
    """Return the buffers of a scope whose capture has not ended."""
    return [
        one
        for one in store.index.running()
        if scope.session in (None, one.session) and one.created >= scope.since and belongs(one, scope.project)
    ]


def agents_within(store: Reading, scope: Scope) -> set[str]:
    """Return the names of the sessions of a scope, without those of people who only look on."""
    session, since, project = scope
    if session is not None:
        return {session}
    everyone = {one.name: one for one in store.index.sessions()}
    names = set(everyone)
    if project is not None:
        names = {*started_in(store, project), *store.index.sessions_about(Scope(project=project))}
    if since:
        names &= store.index.active_since(since)
    return {one for one in names if one not in everyone or not is_onlooker(everyone[one])}


def started_in(store: Reading, project: Project) -> frozenset[str]:
    """Return the names of the sessions that were begun in a project."""
    return frozenset(
        one.name
        for one in store.index.sessions()
        if (not project.host or host_of(one.name) == project.host)
        and (project.root is None or FolderCount("", one.cwd, 0, host_of(one.name)).root == project.root)
    )


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
