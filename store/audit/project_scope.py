"""What of a store concerns one project: its buffers, and the calls about them."""

from collections.abc import Iterable

from sightline.audit.timeline import Call
from sightline.project import Project, known_project
from sightline.records import Buffer
from sightline.store import Reading


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
