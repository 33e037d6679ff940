"""Which calls a command of the audit is about: ``--session S`` and ``--since 2h``."""

import re
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from sightline.audit.timeline import Call
from sightline.doors.cli.arguments import ArgumentParser
from sightline.errors import UsageError
from sightline.log.session_list import find_session, list_sessions
from sightline.store import Store

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")


class Scope(NamedTuple):
    """What is looked at.

    Attributes:
        session: name of the one session; None for all.
        since: seconds since the epoch; 0 for the beginning.
    """

    session: str | None
    since: float

    def sessions(self, store: Store, calls: Iterable[Call]) -> list[str]:
        """Names of the sessions whose captures are looked at."""
        if self.session is not None:
            return [self.session]
        return sorted({*(call.view.session for call in calls), *(one.session.name for one in list_sessions(store))})


def add_scope(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--session", default="", metavar="SESSION", help="look at this session only, by its name or the beginning of it"
    )
    parser.add_argument(
        "--since", default="", metavar="AGE", help="look only at what is younger, such as 30m, 2h or 7d"
    )


def scope_of(store: Store, given: Any) -> Scope:
    """The scope that the options name.

    Raises:
        UnknownSession: there is no such session; UsageError: the age is none.
    """
    session = find_session(store, given.session).session.name if given.session else None
    return Scope(session, _since(given.since) if given.since else 0.0)


def _since(text: str) -> float:
    match = _AGE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"--since does not know {text!r}", "it is a number and a unit: 90s, 30m, 2h, 7d or 1w")
    return time.time() - float(match[1]) * _UNITS[match[2]]
