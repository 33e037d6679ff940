"""Works out what a session's context still holds of what it was shown, by what is known of compactions and the like.

A view is *held* if all that happens to the context is reported, and nothing has taken the view out. It *went* with a
compaction, a ``/clear``, a rewind or a pruning. If nobody reports what happens to a context, as in what older
versions recorded, it is *unknown*.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sightline.audit.coverage import Contribution, Coverage, joined, within
from sightline.audit.line_spans import NONE, Spans, minus, size, union
from sightline.audit.quoted_lines import How, match_lines
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer, View
from sightline.light.named_tuple import NamedTuple
from sightline.log.call_names import use_of_view
from sightline.log.session_events import (
    CLEARED,
    COMPACTED,
    COMPACTING,
    PRUNED,
    REWOUND,
    ContextChange,
)
from sightline.log.session_history import SessionEvents, events_of
from sightline.store import Reading, Target

HELD, WENT, UNKNOWN = "held", "went", "unknown"

LOSSES = (COMPACTED, CLEARED, REWOUND, PRUNED)
"""Kinds of event that take views out of a context."""

_MATCHED_BYTES = 16 << 20  # in a larger stream a summary's quotations are not searched


class Fate(NamedTuple):
    """What became of a view.

    Attributes:
        state: HELD, WENT or UNKNOWN.
        change: the event with which it went; None if it has not, or that is not known.
    """

    state: str
    change: ContextChange | None = None


_HELD, _UNKNOWN = Fate(HELD), Fate(UNKNOWN)


class Holding:
    """What became of the views of one session.

    Attributes:
        events: what is known of the session's context.
    """

    def __init__(self, events: SessionEvents) -> None:
        self.events = events

    def fate(self, view: View, *, until: float | None = None) -> Fate:
        """Return what became of a view, by a time in seconds since the epoch if one is given."""
        use, is_unknown = use_of_view(view), False
        for change in self.events.changes:
            if change.time < view.time or (until is not None and change.time > until):
                continue
            took = _takes(change, use)
            if took == WENT:
                return Fate(WENT, change)
            is_unknown |= took == UNKNOWN
        told_from = self.events.told_from
        return _UNKNOWN if is_unknown or told_from is None or view.time < told_from else _HELD

    @property
    def has_lost(self) -> bool:
        """Whether the context is known to have lost anything."""
        return any(change.event in LOSSES for change in self.events.changes)

    def held_summary(self, when: float | None = None) -> str:
        """Return the summary that the context has at a time, or now; empty for none."""
        for change in reversed(self.events.changes):
            if when is not None and change.time > when:
                continue
            if change.event == COMPACTED:
                return change.summary or ""
            if change.event == CLEARED:
                return ""
        return ""


def _takes(change: ContextChange, use: str) -> str:
    """Return the state in which a change leaves an earlier view, which answered this use of a tool."""
    if change.event == CLEARED:
        return WENT
    if change.event == COMPACTED:
        return HELD if use and change.kept and use in change.kept else WENT
    if change.event in (REWOUND, PRUNED):
        if change.lost is None or not use:
            return UNKNOWN
        return WENT if use in change.lost else HELD
    return UNKNOWN if change.event == COMPACTING else HELD


class Holdings:
    """The holdings of all sessions, each read at its first use. Make a new one for each question."""

    def __init__(self, store: Reading) -> None:
        self._store = store
        self._known: dict[str, Holding] = {}

    def of(self, session: str) -> Holding:
        """Return the holding of one session."""
        if session not in self._known:
            self._known[session] = Holding(events_of(self._store, session))
        return self._known[session]


def is_told(store: Reading, sessions: Iterable[str]) -> bool:
    """Return whether anything is told of the context of any of some sessions; of an MCP client's nothing is."""
    return any(events_of(store, name).changes for name in sessions)


class HeldLines(NamedTuple):
    """The lines of a stream by what contexts hold of them.

    Attributes:
        held: lines in a view that a context still has, or word for word in a summary.
        before: lines that stood in a view, and that no context has any more.
        unknown: lines in a view of which nobody can tell whether a context has it.
        never: lines that stood in no view, or only in part.
        total: number of the stream's lines.
    """

    held: Spans
    before: Spans
    unknown: Spans
    never: Spans
    total: int


class HeldCoverage(NamedTuple):
    """A buffer's lines by what contexts hold of them, by stream."""

    buffer: str
    streams: Mapping[str, HeldLines]

    def count(self, state: str) -> int:
        """Return the number of lines in a state: ``held``, ``before``, ``unknown`` or ``never``."""
        return sum(size(getattr(lines, state)) for lines in self.streams.values())


def held_of(
    store: Reading,
    buffer: Buffer,
    coverage: Coverage,
    *,
    until: float | None = None,
    holdings: Holdings | None = None,
) -> HeldCoverage:
    """Work out what contexts hold of a buffer.

    Args:
        store: the store.
        buffer: its record.
        coverage: what was shown of it, to the sessions in question.
        until: a time in seconds since the epoch; None for now.
        holdings: holdings that are read already.
    """
    holdings = holdings or Holdings(store)
    fates = [(one, holdings.of(one.view.session).fate(one.view, until=until)) for one in coverage.contributions]
    by_state = {
        state: [one for one, fate in fates if held_state(buffer, fate) == state] for state in (HELD, WENT, UNKNOWN)
    }
    summaries = [text for session in coverage.sessions if (text := holdings.of(session).held_summary(until))]
    return HeldCoverage(
        buffer.name,
        {
            name: _parted(store, buffer, name, stream.total, by_state, summaries)
            for name, stream in coverage.streams.items()
        },
    )


def held_state(buffer: Buffer, fate: Fate) -> str:
    """Return the state of a view of a buffer: HELD, WENT or UNKNOWN.

    After a compaction a harness may read files again by itself, as Claude Code does, and only its transcript tells.
    """
    change = fate.change
    is_open = change is not None and change.event == COMPACTED and not change.id
    return UNKNOWN if fate.state == WENT and buffer.kind == "file" and is_open else fate.state


def _parted(
    store: Reading,
    buffer: Buffer,
    name: str,
    total: int,
    by_state: Mapping[str, Sequence[Contribution]],
    summaries: Sequence[str],
) -> HeldLines:
    seen = {
        state: within(joined(one.streams[name] for one in made if name in one.streams), total).seen
        for state, made in by_state.items()
    }
    held = seen[HELD]
    gone = minus(union(seen[WENT], seen[UNKNOWN]), held)
    if gone and summaries:
        held = union(held, _quoted(store, buffer, name, gone, summaries))
    unknown = minus(seen[UNKNOWN], held)
    before = minus(minus(seen[WENT], held), unknown)
    every: Spans = ((1, total),) if total else NONE
    return HeldLines(held, before, unknown, minus(every, union(held, before, unknown)), total)


def _quoted(store: Reading, buffer: Buffer, stream: str, among: Spans, summaries: Iterable[str]) -> Spans:
    """Return those of some lines that stand word for word in a summary."""
    if buffer.stream(stream).bytes > _MATCHED_BYTES or buffer.state == "evicted":
        return NONE
    found: list[Spans] = []
    try:
        with store.open_text(Target(buffer, stream)) as source:
            found = [match_lines(text.split("\n"), source, among, How()) for text in summaries]
    except SightlineError:
        return NONE  # the bytes are gone
    return union(*found)


STATE_WORDS = {"held": "held", "before": "seen before", "unknown": "not known", "never": "never seen"}
"""The states of a line, and the words for them."""


def counts_told(held: HeldCoverage, *, never: bool = True) -> str:
    """Count the lines in each state: ``40 held, 60 seen before, 100 never seen``.

    Args:
        held: the lines.
        never: whether to count those that were never seen.
    """
    counts = ((held.count(state), word) for state, word in STATE_WORDS.items() if never or state != "never")
    return ", ".join(f"{count:,} {word}" for count, word in counts if count)


class HeldOutput(NamedTuple):
    """What a context holds of one output: the buffer's name, and the tokens of the views that it still has."""

    buffer: str
    tokens: int


class HeldTokens(NamedTuple):
    """What a session's context holds, in estimated tokens.

    Attributes:
        held: tokens of views that it still has.
        went: tokens of views that it no longer has.
        unknown: tokens of views of which nobody can tell.
        outputs: the held tokens by output, the largest first; views of no output have an empty name.
    """

    held: int
    went: int
    unknown: int
    outputs: tuple[HeldOutput, ...]


def held_tokens(
    holding: Holding, views: Iterable[View], bytes_a_token: int, *, until: float | None = None
) -> HeldTokens:
    """Sum up the views of a session by what its context has now, or had at a time, in seconds since the epoch."""
    sums = dict.fromkeys((HELD, WENT, UNKNOWN), 0)
    outputs = Counter[str]()
    for view in views:
        tokens = -(-view.bytes_shown // bytes_a_token)
        state = holding.fate(view, until=until).state
        sums[state] += tokens
        if state == HELD:
            name = view.refs[0] if view.refs else ""
            outputs[name] += tokens
    return HeldTokens(sums[HELD], sums[WENT], sums[UNKNOWN], _largest(outputs))


class Loss(NamedTuple):
    """What a context lost at once.

    Attributes:
        change: the event.
        replies: number of replies that were lost.
        tokens: their estimated tokens.
        outputs: the tokens of each output among them, the largest first.
    """

    change: ContextChange
    replies: int
    tokens: int
    outputs: tuple[HeldOutput, ...] = ()

    @property
    def told(self) -> str:
        """``compacted (automatic, 150,000 tokens before): 3 replies went, ~1,200 tokens``."""
        before = f"{self.change.before:,} tokens before" if self.change.before is not None else ""
        about = ", ".join(filter(None, (self.change.trigger, before)))
        plural = "y" if self.replies == 1 else "ies"
        return (
            f"{self.change.event}{about and f' ({about})'}: {self.replies:,} repl{plural} went, ~{self.tokens:,} tokens"
        )


def losses_of(holding: Holding, views: Iterable[View], bytes_a_token: int) -> list[Loss]:
    """Return what the context of a session lost, in order, with events that took nothing, too."""
    losses = [change for change in holding.events.changes if change.event in LOSSES]
    replies, outputs = Counter[int](), {one.number: Counter[str]() for one in losses}
    for view in views if losses else ():
        if (change := holding.fate(view).change) is not None:
            replies[change.number] += 1
            outputs[change.number][view.refs[0] if view.refs else ""] += -(-view.bytes_shown // bytes_a_token)
    return [
        Loss(one, replies[one.number], sum(outputs[one.number].values()), _largest(outputs[one.number]))
        for one in losses
    ]


def _largest(tokens: Counter[str]) -> tuple[HeldOutput, ...]:
    return tuple(HeldOutput(*one) for one in tokens.most_common())
