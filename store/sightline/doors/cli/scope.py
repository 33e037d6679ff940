"""Narrows commands of the audit to some calls, by ``--session S`` and ``--since 2h``."""

import os
from collections.abc import Iterable

from sightline.audit.project_scope import buffers_in, calls_in
from sightline.audit.timeline import Call, calls_of, captured_by
from sightline.audit.verdict import Scope
from sightline.base.project import Project, find_project, project_of
from sightline.base.records import Buffer
from sightline.base.time_words import TAKES, span_of
from sightline.doors.terminal.arguments import CommandParser, add_store
from sightline.light.typing_names import Any
from sightline.log.session_list import find_session, list_sessions
from sightline.store import Reading


def calls_in_scope(store: Reading, scope: Scope) -> list[Call]:
    """Return the calls in a scope, oldest first."""
    return calls_in(store, calls_of(store, session=scope.session, since=scope.since), scope.project)


def captured_in_scope(store: Reading, scope: Scope, calls: Iterable[Call]) -> list[Buffer]:
    """Return the buffers in a scope, oldest first, given its calls."""
    names = {*(call.view.session for call in calls), *(one.session.name for one in list_sessions(store))}
    sessions = sorted(names) if scope.session is None else [scope.session]
    return buffers_in(captured_by(store, sessions, scope.since), scope.project)


def add_scope(parser: CommandParser) -> None:
    """Declare the options."""
    add_store(parser)
    parser.add_argument(
        "--session",
        default="",
        metavar="SESSION",
        help="look only at this session, given by its name or the beginning of it",
    )
    parser.add_argument("--since", default="", metavar="TIME", help=f"look only at what came after this: {TAKES}")
    add_project(parser)


def add_project(parser: CommandParser) -> None:
    """Declare the option that names a project."""
    parser.add_argument(
        "--project", default="", metavar="DIR", help="look only at the project that this folder belongs to"
    )


def project_option(store: Reading, folder: str) -> Project | None:
    """Return the project that an option names; None if the option was not given."""
    return project_of(find_project(os.path.realpath(folder)), store.index.folders()) if folder else None


def scope_of(store: Reading, given: Any) -> Scope:
    """Return the scope that the options name.

    Raises:
        UnknownSession: there is no such session. UsageError: the age is not one.
    """
    since = span_of(given.since).start if given.since else 0.0
    store.bring_up_to_date(since or None)
    session = find_session(store, given.session).session.name if given.session else None
    return Scope(session, since, project_option(store, given.project))
