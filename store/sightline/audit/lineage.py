"""Finds from which session each one came, with the evidence for that, and orders sessions as the trees that these form.

That a session came from another says nothing of what each cost; `audit.cost` adds up own costs alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sightline.base.records import Session
from sightline.light.named_tuple import NamedTuple
from sightline.log.log_index import fill_index
from sightline.log.session_origins import FORK, RESUME, REVIEW, SPAWN, TEAM, SessionOrigin, origin_in
from sightline.log.sessions import safe_name
from sightline.store import Reading

STATED, NAMED, TIMED = "stated", "by its id", "matched by time"
"""The evidence for an edge: a transcript states it; the id of a helper names its agent's session; or only one session
of the folder was busy when this one began."""

_WORDS = {FORK: "forked from", RESUME: "resumed from", SPAWN: "spawned by", REVIEW: "review of", TEAM: "in the team of"}


class Edge(NamedTuple):
    """How one session came from another.

    Attributes:
        parent: name of the session from which it came, whether the store has that or not; empty if it is not known.
        how: one of `log.session_origins.ORIGINS`.
        evidence: STATED, NAMED or TIMED; empty if the parent is not known.
        agent: the kind or the name of the agent; empty if that is not stated.
        use: id of the tool use that began it, in that session; empty if it is not stated.
        team: name of the team; empty without one.
    """

    parent: str
    how: str
    evidence: str = ""
    agent: str = ""
    use: str = ""
    team: str = ""

    @property
    def kind(self) -> str:
        """How it came from there, in a word: ``forked``, ``spawned``, ``review``."""
        return _WORDS.get(self.how, self.how).partition(" ")[0] if self.how != TEAM else self.how

    def in_words(self, name: str = "") -> str:
        """Return the edge in words, with its evidence, such as ``spawned by codex-1 as Ada (stated)``.

        Args:
            name: what people call the parent; its name in the store by default.
        """
        how = _WORDS.get(self.how, f"{self.how} of")
        who = f" as {self.agent}" if self.agent else ""
        return (
            f"{how} {name or self.parent}{who} ({self.evidence})" if self.parent else f"{how} an unknown session{who}"
        )


class TreeRow(NamedTuple):
    """A session in a tree: its name, and how many sessions are above it."""

    name: str
    depth: int


def edges_of(store: Reading) -> dict[str, Edge]:
    """Return from which session each one came, by name; sessions that came from no other are left out.

    A parent need not be in the store. None is guessed: a review that does not name its parent is matched only if
    exactly one other session of its harness and folder was busy when it began.
    """
    fill_index(store)
    sessions = {one.name: one for one in store.index.sessions()}
    stated = {name: origin for name, record in store.index.origins().items() if (origin := origin_in(record))}
    leads = {
        (*_place(sessions[name]), one.team): name
        for name, one in stated.items()
        if one.how == TEAM and not one.agent and name in sessions
    }
    found = dict[str, Edge]()
    for name, session in sessions.items():
        if origin := stated.get(name):
            if origin.how != TEAM or origin.agent:
                found[name] = _edge(session, origin, leads)
        elif session.harness_id and (own := _name_of(session, session.harness_id)) != name and own in sessions:
            found[name] = Edge(own, SPAWN, NAMED)
    reviews = [name for name, edge in found.items() if edge.how == REVIEW and not edge.parent]
    if reviews:
        _match_by_time(store, sessions, found, reviews)
    return found


def _edge(session: Session, origin: SessionOrigin, leads: Mapping[tuple[str, str, str], str]) -> Edge:
    if origin.parent:
        parent = _name_of(session, origin.parent, origin.helper)
    else:
        parent = leads.get((*_place(session), origin.team), "")
    return Edge(parent, origin.how, STATED if parent else "", origin.agent, origin.use, origin.team)


def _match_by_time(
    store: Reading, sessions: Mapping[str, Session], found: dict[str, Edge], reviews: Iterable[str]
) -> None:
    counts = store.index.session_counts()
    for name in reviews:
        session = sessions[name]
        busy = [
            other
            for other, one in sessions.items()
            if other not in found
            and (_place(one), one.cwd) == (_place(session), session.cwd)
            and min(one.started, counts[other].first if other in counts else one.started) <= session.started
            and other in counts
            and session.started <= counts[other].last
        ]
        if len(busy) == 1:
            found[name] = found[name]._replace(parent=busy[0], evidence=TIMED)


def _place(session: Session) -> tuple[str, str]:
    """Return host, empty on this machine, and harness of a session."""
    return session.name.rpartition("/")[0], session.harness


def _name_of(session: Session, harness_id: str, helper: str = "") -> str:
    """Return the name of the session, or of a helper in it, that the harness of this one calls so."""
    host = session.name.rpartition("/")[0]
    return f"{host}/" * bool(host) + safe_name("-".join(filter(None, (session.harness, harness_id, helper))))


_HELPERS = (SPAWN, REVIEW, TEAM)


def helpers_of(session: str, edges: Mapping[str, Edge]) -> list[str]:
    """Return the sessions that worked for one, directly or for each other: no forks, and not itself."""
    found, met = list[str](), {session}
    for name in (parents := [session]):
        later = [one for one, edge in edges.items() if edge.parent == name and edge.how in _HELPERS and one not in met]
        met.update(later)
        parents += later
        found += later
    return found


def begun_by(session: str, use: str, edges: Mapping[str, Edge]) -> list[str]:
    """Return the sessions that a tool use of a session began; none if nothing states that."""
    return [one for one, edge in edges.items() if use and (edge.parent, edge.use) == (session, use)]


def tree_rows(names: Sequence[str], edges: Mapping[str, Edge]) -> Iterator[TreeRow]:
    """Yield each name once, below the one from which it came if that is among them; otherwise their order stays."""
    below, known = dict[str, list[str]](), set(names)
    roots = list[str]()
    for name in names:
        parent = edges[name].parent if name in edges else ""
        (below.setdefault(parent, []) if parent in known and parent != name else roots).append(name)
    met = set[str]()
    for start in (*roots, *names):  # no root leads to a circle, which only a changed log can have
        stack = [TreeRow(start, 0)]
        while stack:
            row = stack.pop()
            if row.name not in met:
                met.add(row.name)
                yield row
                stack += (TreeRow(one, row.depth + 1) for one in reversed(below.get(row.name, ())))
