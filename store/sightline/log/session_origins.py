"""Says from which other session one came, as transcripts state it: one entry of its log, without anybody's words."""

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

RESUME, FORK, SPAWN, REVIEW, COMPACTION, TEAM = "resume", "fork", "spawn", "review", "compaction", "team"
ORIGINS = (RESUME, FORK, SPAWN, REVIEW, COMPACTION, TEAM)
"""How a session can have come from another: it goes on with that one's history, or does a part of its work."""


class SessionOrigin(NamedTuple):
    """How a session began, as its transcript states it.

    Attributes:
        time: when it began, seconds since the epoch.
        how: one of ORIGINS.
        parent: the harness' id of the session from which it came; empty if that is not stated.
        helper: id of the helper, within that session, from which it came; empty for the agent itself.
        use: id of the tool use that began it; empty if that is not stated.
        agent: the kind or the name of the agent; empty if it has none. The lead of a team has none.
        team: name of the team; empty without one.
    """

    time: float
    how: str
    parent: str = ""
    helper: str = ""
    use: str = ""
    agent: str = ""
    team: str = ""


def entry_of(origin: SessionOrigin) -> dict[str, Any]:
    """Encode an origin for the log."""
    return {"kind": "origin", **{name: value for name, value in origin._asdict().items() if value != ""}}


def origin_in(record: Any) -> SessionOrigin | None:
    """Return the origin that an entry states; None if it was changed from outside."""
    texts = {name: record.get(name, "") for name in SessionOrigin._fields[1:]}
    when = record.get("time", 0.0)
    if texts["how"] not in ORIGINS or not all(isinstance(one, str) for one in texts.values()):
        return None
    return SessionOrigin(float(when) if isinstance(when, int | float) else 0.0, **texts)
