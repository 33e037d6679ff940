"""Reads for the board of sessions what each agent does, missed and holds, in steps, outside the UI's thread."""

import os
import time
from collections.abc import Iterable

from sightline.audit.held_lines import HeldTokens, Holdings, held_tokens
from sightline.audit.lineage import Edge, edges_of, tree_rows
from sightline.audit.project_scope import sessions_in
from sightline.audit.timeline import BYTES_A_TOKEN
from sightline.audit.verdict import Scope, Verdict, VerdictReader, by_session
from sightline.base.project import Project, known_project, main_worktree, named
from sightline.base.records import Buffer, View
from sightline.light.named_tuple import NamedTuple
from sightline.log.session_list import SessionFacts, list_sessions
from sightline.log.sessions import is_onlooker, is_person
from sightline.store import Reading

STEP_SECONDS = 0.1
"""How long one step looks for failures, and at what contexts hold, before the UI gets what was found."""

_MOST_LATEST = 100  # sessions whose last call is read, and what their contexts hold


def is_agent(facts: SessionFacts) -> bool:
    """Return whether a session may be an agent's: a person looks on, or asks in a shell that captures nothing."""
    session = facts.session
    return not is_onlooker(session) and not (is_person(session) and not facts.counts.buffers)


class Agent(NamedTuple):
    """A session and its present situation.

    Attributes:
        facts: the session's record and counts.
        project: name of the project in which it was begun; empty if that is not known.
        running: its running captures, the newest first.
        latest: its last call; None if it is not among the sessions that asked last.
        verdict: the verdict on its outputs, as far as they are judged.
        held: what its context holds; None if nothing is told of that, or it is not read.
        depth: number of sessions from which it came, one from the other, that stand above it; 0 unless in a tree.
    """

    facts: SessionFacts
    project: str = ""
    running: tuple[Buffer, ...] = ()
    latest: View | None = None
    verdict: Verdict = Verdict()
    held: HeldTokens | None = None
    depth: int = 0

    @property
    def name(self) -> str:
        """The session's name in the log."""
        return self.facts.session.name


class Board(NamedTuple):
    """All agents: those at work first, then the one that asked last; as a tree, each below that from which it came.

    Attributes:
        agents: the agents, in that order.
        is_judged: whether all failures are found, and all is read of what contexts hold.
    """

    agents: tuple[Agent, ...]
    is_judged: bool


class BoardReader:
    """Reads the sessions of a project, or of all. One thread at a time may use it.

    Attributes:
        as_tree: whether each session stands below the one from which it came.
    """

    as_tree = False

    def __init__(self, store: Reading, project: Project | None = None) -> None:
        """Prepare to read; nothing is read before `step`."""
        self._store = store
        self._project = project
        self._verdicts = VerdictReader(store, Scope(project=project))
        self._verdict: Verdict | None = None
        self._agents: list[Agent] = []
        self._names = dict[str, str]()  # names of projects, by the folder that a session was begun in
        self._held = dict[str, tuple[object, HeldTokens | None]]()  # of sessions, with what it was worked out from
        self._edges = dict[str, Edge]()
        self._unread = list[SessionFacts]()  # sessions of which that may have changed

    def step(self, *, fresh: bool) -> Board:
        """Read some more, and return the board as it is then. Raises what the store raises.

        Args:
            fresh: whether to read the sessions and what each does now. The other steps look for failures and at what
                contexts hold, each for a moment; the step after a fresh one looks at what is new.
        """
        if fresh:
            self._agents = self._read_agents()
            self._edges = edges_of(self._store) if self.as_tree else {}
            self._unread = [one.facts for one in reversed(self._agents[:_MOST_LATEST])]
        else:
            self._read_held()
        if not fresh or self._verdict is not None:
            self._verdict = self._verdicts.step(STEP_SECONDS)
        return self._board(self._verdict)

    def _read_agents(self) -> list[Agent]:
        self._store.end_dead_captures()
        known = [one for one in list_sessions(self._store) if not one.is_removed and is_agent(one)]
        running = self._store.index.running()
        agents = [self._agent(one, running) for one in sessions_in(self._store, known, self._project)]
        agents.sort(key=lambda one: not one.running)
        for at, one in enumerate(agents[:_MOST_LATEST]):
            last = self._store.index.views(session=one.name, limit=1)
            agents[at] = one._replace(latest=last[0].view if last else None)
        return agents

    def _agent(self, facts: SessionFacts, running: list[Buffer]) -> Agent:
        own = [one for one in running if one.session == facts.session.name and not one.origin]
        own.sort(key=lambda one: -one.created)
        return Agent(facts, self._project_name(facts.session.cwd), tuple(own))

    def _read_held(self) -> None:
        """Read for a moment what contexts hold, of those first that are listed first."""
        ends, holdings = time.monotonic() + STEP_SECONDS, Holdings(self._store)
        while self._unread and time.monotonic() < ends:
            facts = self._unread.pop()
            name = facts.session.name
            holding = holdings.of(name)
            made_from = (facts.counts.calls, holding.events.changes)
            if self._held.get(name, (None, None))[0] != made_from:
                views = (one.view for one in self._store.index.views(session=name)) if made_from[1] else ()
                held = held_tokens(holding, views, BYTES_A_TOKEN) if made_from[1] else None
                self._held[name] = (made_from, held)

    def _project_name(self, folder: str) -> str:
        if folder not in self._names:
            root = known_project(folder) if os.path.isabs(folder) else ""
            self._names[folder] = named(root, main_worktree(root)) if root else ""
        return self._names[folder]

    def _board(self, verdict: Verdict | None) -> Board:
        if verdict is None:
            return Board(self._ordered(self._agents), is_judged=False)
        known = by_session(self._store, self._verdicts.scope)
        agents = (
            agent._replace(
                verdict=known.get(agent.name, Verdict()), held=self._held.get(agent.facts.session.name, (None, None))[1]
            )
            for agent in self._agents
        )
        return Board(self._ordered(agents), verdict.is_done and not self._unread)

    def _ordered(self, agents: Iterable[Agent]) -> tuple[Agent, ...]:
        if not self._edges:
            return tuple(agents)
        by_name = {one.name: one for one in agents}
        rows = tree_rows(list(by_name), self._edges)
        return tuple(by_name[row.name]._replace(depth=row.depth) for row in rows)
