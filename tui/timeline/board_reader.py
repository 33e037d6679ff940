"""What every agent does and missed, as the board of sessions tells it: read off the UI's thread, in steps."""

import os

from sightline.audit.failures import Overlooked
from sightline.audit.project_scope import sessions_in
from sightline.audit.verdict import Verdict, VerdictReader
from sightline.log.session_list import SessionFacts, list_sessions
from sightline.named_tuple import NamedTuple
from sightline.project import Project, known_project, main_worktree, named
from sightline.records import Buffer, View
from sightline.store import Reading

STEP_SECONDS = 0.1
"""How long outputs are looked through for failures before the UI gets word."""

_MOST_LATEST = 100  # sessions of which the last call is read


class Agent(NamedTuple):
    """A session, and how it stands.

    Attributes:
        facts: what it is, and what it did so far.
        project: what the project is called that it was begun in; empty where that is not known.
        running: its captures that run now, the one that began last first.
        latest: its last call, where it is one of those that asked last.
        missed: failures in its outputs that no agent saw, as far as they have been found.
    """

    facts: SessionFacts
    project: str = ""
    running: tuple[Buffer, ...] = ()
    latest: View | None = None
    missed: tuple[Overlooked, ...] = ()

    @property
    def name(self) -> str:
        """What the log calls the session."""
        return self.facts.session.name


class Board(NamedTuple):
    """All agents, those at work first, then the one that asked last.

    Attributes:
        agents: of them.
        is_judged: whether all failures have been looked for.
    """

    agents: tuple[Agent, ...]
    is_judged: bool


class BoardReader:
    """Reads the sessions of a project, or of all. One thread at a time may use it."""

    def __init__(self, store: Reading, project: Project | None = None) -> None:
        """Prepare; nothing is read before `step`."""
        self._store = store
        self._project = project
        self._verdicts = VerdictReader(store, project)
        self._verdict: Verdict | None = None
        self._agents: list[Agent] = []
        self._names = dict[str, str]()  # of projects, by the folder that a session was begun in

    def step(self, *, fresh: bool) -> Board:
        """How things stand, once something more has been read; raises as the store does.

        Args:
            fresh: whether to read who is there and what each does now; failures are looked for in the other steps, for
                a moment each, and after the first of those in all.
        """
        if fresh:
            self._agents = self._read_agents()
        if not fresh or self._verdict is not None:
            self._verdict = self._verdicts.step(STEP_SECONDS)
        return self._board(self._verdict or Verdict())

    def _read_agents(self) -> list[Agent]:
        self._store.end_dead_captures()
        known = [one for one in list_sessions(self._store) if not one.is_removed]
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

    def _project_name(self, folder: str) -> str:
        if folder not in self._names:
            root = known_project(folder) if os.path.isabs(folder) else ""
            self._names[folder] = named(root, main_worktree(root)) if root else ""
        return self._names[folder]

    def _board(self, verdict: Verdict) -> Board:
        missed = dict[str, list[Overlooked]]()
        for one in verdict.missed:
            missed.setdefault(one.buffer.session, []).append(one)
        agents = (agent._replace(missed=tuple(missed.get(agent.name, ()))) for agent in self._agents)
        return Board(tuple(agents), verdict.done)
