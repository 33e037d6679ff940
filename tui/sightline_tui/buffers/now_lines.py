"""The lines of now above the list: for each agent that runs something its command, its last line, what it said last."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual.widget import Widget

from sightline.base.project import Project
from sightline.base.records import Buffer
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading
from sightline_tui.common.bar import Bar
from sightline_tui.common.command_words import LEFT_OUT, left_out
from sightline_tui.common.phrases import MARKS, age, duration, ending, name_of, state_of
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.strips import StripPart, cut, fitted, pad, width_of
from sightline_tui.common.visible_text import title

if TYPE_CHECKING:
    from sightline.audit.at_work import AtWork

with late_modules(globals()):
    from sightline.audit import at_work as work  # 20 ms, in a thread: the first screen waits for nobody at work
    from sightline.audit import project_scope, verdict

LEAST_SECONDS = 1.5  # a command that ends before has no line, which would come and go
LINGER_SECONDS = 10.0  # a line stays so long after its command: the agent's next one mostly comes within
LINE_SECONDS = 1.0  # between two reads of last lines
FIRST_SECONDS = 0.5  # to wait after the first screen

_ONE_LINE_CELLS = 76  # from this width on, all of an agent stands in one line
_A_LINE_EACH = 5  # lines of the pane for each agent that has one
_AGENT_CELLS = 11
_FOLLOW = (StripPart("F", "key"), StripPart(" follows ", "dim"))
_FOLLOW_ALL = (StripPart("F", "key"), StripPart(" follows all ", "dim"))  # the output used last, of any agent

Line = tuple[Sequence[StripPart], Sequence[StripPart]]


class AgentNow(NamedTuple):
    """An agent that has a line.

    Attributes:
        work: what it runs, or ran last.
        ended: when that had ended, in seconds since the epoch; 0 while it runs.
    """

    work: "AtWork"
    ended: float = 0.0


def agents_after(
    before: Sequence[AgentNow], running: Iterable["AtWork"], records: Mapping[str, Buffer], now: float
) -> list[AgentNow]:
    """Return the agents that have a line now; each keeps its place.

    Args:
        before: those that had one.
        running: the agents that run something.
        records: what is known of outputs that ran before, by name; those that are missing were removed.
        now: seconds since the epoch.
    """
    by_session = {one.session: one for one in running}
    kept = list[AgentNow]()
    for agent, ended in before:
        if agent.session in by_session:
            kept.append(AgentNow(by_session.pop(agent.session)))
        elif now - (ended or now) < LINGER_SECONDS and (record := records.get(agent.buffer.name)) is not None:
            kept.append(AgentNow(agent._replace(buffer=record), ended or now))
    return kept + [AgentNow(one) for one in by_session.values() if now - one.buffer.created >= LEAST_SECONDS]


def lines_of(agent: AgentNow, width: int, now: float, keys: Sequence[StripPart] = _FOLLOW) -> list[Line]:
    """Return an agent's line, or two where the pane is narrow: the second has what it printed and said."""
    one, buffer = agent.work, agent.work.buffer
    if agent.ended:
        state = StripPart(f" {MARKS[state_of(buffer)]} {ending(buffer)}, {age(now - agent.ended)} ", "dim")
    else:
        since = duration(buffer._replace(kind="cmd"), now) + (f" +{one.others}" if one.others else "")
        state = StripPart(f" {MARKS['running']} {since:<5} ", "running")
    who = StripPart(pad(title(one.agent or one.session), _AGENT_CELLS) + " ", "key")
    right = () if agent.ended else keys
    room = width - width_of(right) - 1
    is_narrow = width < _ONE_LINE_CELLS
    cells = room if is_narrow else room // 2
    called = _called(buffer, cells - width_of([state, who]))
    lead = fitted([state, who, StripPart(called, "dim" if agent.ended else "strong")], cells)
    if is_narrow:
        return [(lead, right), (_words(one, "   ", width), ())]
    return [([*lead, *_words(one, "  ", room - width_of(lead))], right)]


def _called(buffer: Buffer, cells: int) -> str:
    """The label, or else the command, without a folder at its beginning where it is too long."""
    if buffer.label:
        return title(buffer.label)
    command = name_of(buffer)
    start = left_out(command, cells)
    return f"{LEFT_OUT}{command[start:]}" if start else command


def _words(one: "AtWork", indent: str, room: int) -> list[StripPart]:
    """What it printed last, and what it said last; each has half of the room where both need more."""
    said = f"“{title(one.said)}”" if one.said else ""
    line = f"↳ {title(one.last_line)}" if one.last_line else ""
    most = room - len(indent) - 2
    if said and line and len(said) + len(line) > most:
        line = cut(line, max(most // 2, most - len(said)))
    gap = "  " if said and line else ""
    return fitted([StripPart(indent), StripPart(line), StripPart(gap), StripPart(said, "dim")], room)


class NowLines(Bar):
    """The lines. They take room only while an agent is at work, or has just been."""

    def __init__(
        self, store: Reading, project: Project | None, clock: Callable[[], float], resized: Callable[[int], None]
    ) -> None:
        """Make the lines.

        Args:
            store: whose agents they are about.
            project: the only one whose agents have lines; None for all.
            clock: what durations are counted from.
            resized: called with the number of lines by which they have become more, or less.
        """
        super().__init__(id="now")
        self._resized = resized
        self.display = False
        self._store = store
        self._project = project
        self._clock = clock
        self._agents: list[AgentNow] = []
        self._height = 0
        self._is_stale = True
        self._reads: StoreRead[tuple[list[AtWork], dict[str, Buffer]]] = StoreRead(self, lambda: self._read, self._take)

    def on_mount(self) -> None:
        """Begin after the first screen."""
        self.set_timer(FIRST_SECONDS, self._begin)

    def _begin(self) -> None:
        self.set_interval(LINE_SECONDS, self._tick)
        self._tick()

    def show_project(self, project: Project | None) -> None:
        """Show the agents of another project, or of all."""
        self._project, self._agents = project, []
        self.changed()
        self._tell()

    def changed(self) -> None:
        """Read again soon what runs."""
        self._is_stale = True

    def went_on(self, names: frozenset[str]) -> None:
        """Read again soon what was printed last, if it is of one of these outputs."""
        self._is_stale = self._is_stale or any(one.work.buffer.name in names for one in self._agents)

    def _tick(self) -> None:
        if self._is_stale:
            self._is_stale = False
            self._reads.ask()
        elif self._agents:
            self._tell()

    def _read(self) -> "tuple[list[AtWork], dict[str, Buffer]]":
        running = project_scope.running_in(self._store, verdict.Scope(project=self._project))
        records = self._store.index.buffers([one.work.buffer.name for one in self._agents])
        return work.at_work(self._store, [one for one in running if one.shown_state == "running"]), records

    def _take(self, read: "tuple[list[AtWork], dict[str, Buffer]]") -> None:
        running, records = read
        now = self._clock()
        self._agents = agents_after(self._agents, running, records, now)
        shown = {one.work.session for one in self._agents}
        # A line that is still to come, or to go, is looked at again without a change in the store.
        self._is_stale = self._is_stale or any(one.ended for one in self._agents) or len(running) > len(shown)
        self._tell()

    def on_resize(self) -> None:
        """Lay the lines out at the new width."""
        self._tell()

    def _tell(self) -> None:
        if not isinstance(self.parent, Widget):
            return
        pane, now = self.parent.size, self._clock()
        most = max(pane.height // _A_LINE_EACH, 1)
        if len(self._agents) == most + 1:
            most += 1  # naming the last one takes hardly more room than counting it
        keys: list[Sequence[StripPart]] = [_FOLLOW] if len(self._agents) == 1 else [_FOLLOW_ALL, *[()] * (most - 1)]
        lines = [
            line
            for one, named in zip(self._agents, keys, strict=False)
            for line in lines_of(one, pane.width, now, named)
        ]
        if (more := len(self._agents) - most) > 0:
            lines.append(([StripPart(f"   {more:,} more: ", "dim"), StripPart("W", "key")], ()))
        if len(lines) != self._height:
            self._resized(len(lines) - self._height)
            self._height = len(lines)
            self.styles.height, self.display = max(len(lines), 1), bool(lines)
        self.say(*lines)
