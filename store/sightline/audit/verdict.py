"""The verdict on a scope: what failed, was cut, seen by nobody, altered or lost, and which claims nothing supports.

It is the one model behind every number of that kind: the header, the brief, the audit with its exit code, the board of
sessions, the timeline, the choice of projects and the report all read it, so that one scope has one verdict.

An output is judged alone (`output_facts`), a session by all of its calls (`evidence`). Both are kept in the index, by
the rules that judged them. What changes puts its output in doubt, and a session is judged anew when its log, that of a
helper, or one of its outputs has changed. So a verdict is a sum over what is kept, once what is new has been judged.
Nothing is left out: as long as something is not judged, the verdict says so.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from sightline.audit import output_facts
from sightline.audit.coverage import share_of
from sightline.audit.finding_kinds import CLAIMS
from sightline.audit.judging_processes import (
    MANY_BYTES,
    MANY_OUTPUTS,
    JudgingProcesses,
    shares_of_outputs,
    shares_of_sessions,
)
from sightline.audit.kept_facts import AT_ONCE, judge
from sightline.audit.kept_sessions import KeptSessions, LogSizes, each_once, log_sizes
from sightline.audit.output_facts import output_rules
from sightline.audit.project_scope import agents_within, running_in
from sightline.base.errors import StoreFailed
from sightline.base.project import ALL
from sightline.base.project import Scope as Scope
from sightline.base.records import Buffer, Session, Tally
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING
from sightline.log.log_index import catch_up, fill_index
from sightline.shape.summary import counted
from sightline.store import JudgedSession, Reading, StatedAlarm, StatedSessions, Store

if TYPE_CHECKING:
    from sightline.audit.evidence.evidence_records import SessionEvidence

_MANY = 10_000  # outputs; the files of more are compared with their seals by an audit, or behind a screen
_LOOK_SECONDS = 0.02  # of a step for that
_NEVER = 1e12  # seconds since the epoch that no clock shows
_TOLD_SECONDS = 0.2  # between two reports of how far it is
_SHARE = 4  # a session that goes on is judged again after this many times the seconds that it took


class Verdict(NamedTuple):
    """What is known of a scope.

    Attributes:
        captured: number of outputs whose bytes are there.
        ran: number of commands that were run, those that run and those whose output has expired included.
        failed: number of these that did not end well.
        failures: number of failures in outputs.
        unseen: number of these that stood in no reply.
        at_least: whether there may be more than these.
        cut: number of replies that were cut before a failure or an end.
        untold: number of outputs that failed after the last reply about them.
        lost: number of outputs that failed, or may have, of which a part never arrived.
        altered: number of outputs whose bytes were changed after their capture.
        alarms: what is wrong in sessions, by their evidence.
        broken: what is wrong with logs.
        incomplete: number of commands' outputs of which a part never arrived.
        unread: names of outputs and sessions that could not be read.
        gone: number of outputs that went before all was shown.
        removed: names of those of them that a person removed.
        large: number of outputs that are too large to be fetched and examined.
        unexamined: number of outputs that neither their hosts nor this reader have judged by the rules that hold here.
        unjudged: number of outputs that only show what others wrote.
        unsealed: number of outputs of which nothing tells whether they were changed.
        lines: number of lines of the outputs.
        seen: how many of them were shown, a cut line by its part.
        partial: number of outputs of which only a part is there.
        unsure: number of outputs of which less may have been seen.
        unopened: number of outputs of which no line was shown.
        messages: number of agents' messages.
        not_read: number of these that no rule could read.
        left: number of outputs and sessions that are not judged yet.
        read_since: of a fleet that was not asked, the time before which nothing was read, in seconds since the epoch;
            0 if all was.
    """

    captured: int = 0
    ran: int = 0
    failed: int = 0
    failures: int = 0
    unseen: int = 0
    at_least: bool = False
    cut: int = 0
    untold: int = 0
    lost: int = 0
    altered: int = 0
    alarms: tuple[StatedAlarm, ...] = ()
    broken: tuple[str, ...] = ()
    incomplete: int = 0
    unread: frozenset[str] = frozenset()
    gone: int = 0
    removed: tuple[str, ...] = ()
    large: int = 0
    unexamined: int = 0
    unjudged: int = 0
    unsealed: int = 0
    lines: int = 0
    seen: float = 0.0
    partial: int = 0
    unsure: int = 0
    unopened: int = 0
    messages: int = 0
    not_read: int = 0
    left: int = 0
    read_since: float = 0.0

    @property
    def is_done(self) -> bool:
        """Whether all is judged."""
        return not self.left

    @property
    def progress(self) -> float:
        """Share of the outputs and sessions that are judged, about; 0 to 1."""
        return self.captured / (self.captured + self.left) if self.left else 1.0

    @property
    def claims(self) -> int:
        """Number of claims that are not supported."""
        return sum(one.kind in CLAIMS for one in self.alarms)

    @property
    def share(self) -> float:
        """Share of the lines that were seen, 0 to 1."""
        return share_of(self.seen, self.lines, partial=bool(self.partial))

    @property
    def at_most(self) -> bool:
        """Whether the share is an upper bound, because less may have been seen."""
        return bool(self.partial or self.unsure)

    @property
    def counts(self) -> dict[str, int]:
        """What an audit counts, and what it could not judge, by name, for programs."""
        names = (
            "failed failures unseen cut untold lost altered claims incomplete gone large unexamined unjudged unsealed"
            " messages not_read left"
        )
        counts = {name: int(getattr(self, name)) for name in names.split()}
        return counts | {"alarms": len(self.alarms), "broken": len(self.broken), "unread": len(self.unread)}

    @property
    def has_findings(self) -> bool:
        """Whether an audit reports anything."""
        outputs = self.unseen or self.cut or self.untold or self.lost or self.altered
        return bool(outputs or self.alarms or self.broken)

    @property
    def is_sure(self) -> bool:
        """Whether all that matters could be judged."""
        unknown = self.unread or self.gone or self.large or self.unexamined or self.incomplete or self.read_since
        return not (unknown or self.left)

    @property
    def is_good(self) -> bool:
        """Whether nothing went wrong unseen, for certain."""
        return not self.has_findings and self.is_sure and bool(self.captured or self.ran)

    @property
    def facts(self) -> tuple[str, ...]:
        """What went wrong, in a few words each; empty if nothing did."""
        doubts = len(self.alarms) - self.claims
        least = "at least " if self.at_least else ""
        found = (
            (self.failed, f"{counted(self.failed, 'command')} failed"),
            (self.cut, f"{self.cut:,} cut before {'its' if self.cut == 1 else 'their'} end"),
            (self.unseen, f"{least}{counted(self.unseen, 'failure')} unseen"),
            (self.untold, f"{self.untold:,} failed after the last reply"),
            (self.lost, f"{self.lost:,} incomplete"),
            (self.altered, f"{self.altered:,} altered"),
            (self.claims, f"{counted(self.claims, 'claim')} not supported"),
            (doubts, counted(doubts, "doubt")),
            (self.broken, f"{counted(len(self.broken), 'log')} altered"),
        )
        return tuple(words for count, words in found if count)

    @property
    def words(self) -> str:
        """The verdict in one line, such as ``3 commands failed · 1 cut before its end · 2 failures unseen``."""
        if self.has_findings:
            return " · ".join(self.facts)
        if not (self.captured or self.ran or self.left):
            return "nothing was captured" if not self.unread else "nothing could be read"
        so_far = " known" if not self.is_sure else ""
        if self.failed:
            return f"{counted(self.failed, 'command')} failed, {'all ' if self.failed > 1 else ''}seen"
        if self.failures:
            return f"{counted(self.failures, 'failure')}, all seen"
        return f"no failures{so_far}"

    @property
    def headline(self) -> str:
        """The gravest fact alone, for where there is little room."""
        if not self.has_findings:
            return self.mark + self.words
        facts = [words for words in self.facts if not words.endswith(" failed")]
        return self.mark + next((words for words in facts if words.endswith(" unseen")), facts[0])

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was not judged beside what was, in a few words each."""
        found = (
            (len(self.unread), "unreadable"),
            (self.large, "too large"),
            (self.unexamined, "not judged"),
            (self.incomplete, "incomplete"),
            (self.gone, "gone"),
        )
        counts = (f"{count:,} {what}" for count, what in found if count)
        return (*counts, *((f"since {day(self.read_since)}",) if self.read_since else ()))

    @property
    def mark(self) -> str:
        """``!`` for findings, ``✓`` where all is well for certain; else nothing."""
        return "! " if self.has_findings else "✓ " if self.is_good else ""

    @property
    def unknown(self) -> tuple[str, ...]:
        """What could not be judged and why, in sentences."""
        nobody = "nobody can say what failed there"
        found = (
            (self.altered, f"{counted(self.altered, 'output')} changed after the capture: {nobody}"),
            (self.unread, f"{len(self.unread):,} of the outputs and logs could not be read: {nobody}"),
            (
                self.incomplete,
                f"of {counted(self.incomplete, 'output')} only a part reached the store: nobody can say what else"
                " failed there",
            ),
            (self.gone, f"{counted(self.gone, 'output')} went before all was shown: {nobody}"),
            (self.large, f"{counted(self.large, 'output')} of other hosts too large to fetch: {nobody}"),
            (
                self.unexamined,
                f"{counted(self.unexamined, 'output')} not judged by their hosts, or only by other rules: {nobody}",
            ),
            (
                self.not_read,
                f"{self.not_read:,} of {counted(self.messages, 'message')} are in languages whose claims are not read",
            ),
            (
                self.unjudged,
                f"{counted(self.unjudged, 'output')} not judged, since they only show what others wrote",
            ),
        )
        before = f"nothing from before {day(self.read_since)} was read here, as its fleet was not asked"
        return (*(words for count, words in found if count), *((before,) if self.read_since else ()))


def day(when: float) -> str:
    """Write the day of a time, such as ``2026-11-20``; of one that no clock shows, ``now``."""
    return time.strftime("%Y-%m-%d", time.localtime(when)) if when < _NEVER else "now"


def summed(tallies: Sequence[Tally], verdict: Verdict | None = None) -> Verdict:
    """Add what is known of outputs to a verdict."""

    def count(flag: int) -> int:
        return sum(one.outputs for one in tallies if one.flags & flag)

    there = [one for one in tallies if not one.flags & (output_facts.EXPIRED | output_facts.UNANSWERED)]
    return (verdict or Verdict())._replace(
        captured=sum(one.outputs for one in there),
        ran=count(output_facts.RAN),
        failed=count(output_facts.FAILED),
        failures=sum(one.failures for one in tallies),
        unseen=sum(one.unseen for one in tallies),
        at_least=bool(count(output_facts.LEAST)),
        cut=count(output_facts.CUT),
        untold=count(output_facts.UNTOLD),
        lost=count(output_facts.LOST),
        altered=count(output_facts.ALTERED),
        incomplete=sum(one.outputs for one in there if one.flags & output_facts.INCOMPLETE),
        gone=count(output_facts.GONE),
        large=count(output_facts.LARGE),
        unexamined=count(output_facts.UNTOLD_BY_HOST),
        unjudged=sum(one.outputs for one in there if one.flags & output_facts.UNJUDGED),
        unsealed=sum(one.outputs for one in there if one.flags & output_facts.UNSEALED),
        lines=sum(one.lines for one in there),
        seen=sum(one.seen for one in there),
        partial=sum(one.outputs for one in there if one.flags & output_facts.PARTIAL),
        unsure=count(output_facts.UNSURE),
        unopened=count(output_facts.UNOPENED),
    )


def by_session(store: Reading, scope: Scope = ALL) -> dict[str, Verdict]:
    """Return what is known of the outputs of each session in a scope, by name."""
    found = dict[str, list[Tally]]()
    for name, tally in store.index.tallies(output_rules(store), scope, by="session"):
        found.setdefault(name, []).append(tally)
    running = running_in(store, scope)
    return {
        name: _with_running(summed(found.get(name, ())), [one for one in running if one.session == name])
        for name in found.keys() | {one.session for one in running}
    }


def _with_running(known: Verdict, running: Sequence[Buffer]) -> Verdict:
    """Add outputs whose capture has not ended, of which nothing else is known yet."""
    return known._replace(
        captured=known.captured + len(running),
        ran=known.ran + sum(one.kind == "cmd" and not one.origin for one in running),
    )


def verdict_of(store: Reading, scope: Scope = ALL) -> Verdict:
    """Judge whatever is not judged yet in a scope, and return its verdict. Raises what the store raises."""
    return VerdictReader(store, scope).all()


def evidence_within(store: Reading, scope: Scope, sessions: Iterable[Session]) -> "list[SessionEvidence]":
    """Judge whatever is not judged yet in a scope, and return the evidence of some of its sessions.

    Raises what the store raises.
    """
    if store.place is None:
        verdict_of(store, scope)
    kept = KeptSessions(store, log_sizes(store))
    return [found for one in sessions if (found := kept.evidence(one.name))]


class VerdictReader:
    """Judges what is new in a store, in steps, and sums up. Only one thread at a time may use it.

    Attributes:
        scope: what the verdict is about; outputs of all scopes are judged.
        judging: ``outputs`` or ``sessions``: what the last step came to.
    """

    def __init__(self, store: Reading, scope: Scope = ALL, *, with_sessions: bool = True) -> None:
        """Prepare to read; nothing is read before `step`. Without sessions, only outputs are judged."""
        self._store = store
        self._with_sessions = with_sessions
        self.scope = scope
        self.judging = "outputs"
        self._unread: set[str] = set()
        self._not_before: dict[str, float] = {}
        self._patient = True
        self._sizes: LogSizes = {}
        self._known: Mapping[str, JudgedSession] = {}
        self._handed_over = set[str]()
        self._processes = JudgingProcesses(store)

    def all(self) -> Verdict:
        """Judge everything, and return the verdict. Where somebody watches, it is told how far that is."""
        self._patient = False
        if self._store.index.totals().buffers <= _MANY:
            self._store.look_for_changes()
        told, most = self._store.local.judged, dict[str, int]()
        while not (verdict := self.step(_TOLD_SECONDS if told else float("inf"))).is_done:
            most[self.judging] = max(most.get(self.judging, 0), verdict.left)
            if told:
                told(most[self.judging] - verdict.left, most[self.judging], self.judging)
        if told and most:
            told(most[self.judging], most[self.judging], self.judging)
        return verdict

    def step(self, seconds: float) -> Verdict:
        """Judge what is new for this many seconds, and return the verdict so far. Raises what the store raises."""
        ends = time.monotonic() + seconds
        if not self._processes.wait(ends):
            return self._summed(self._known, self._processes.left or 1)
        self._store.end_dead_captures()
        self._sizes = log_sizes(self._store)
        _take_in_logs(self._store, self._sizes)
        self._store.index.renew_copies()
        self._unread.clear()
        if self._patient:
            self._store.look_for_changes(_LOOK_SECONDS)
        stated = self._store.stated_sessions(self.scope) if self._with_sessions else None
        self.judging = "outputs"
        if left := self._judge_outputs(ends):
            return self._summed({}, left)
        if not self._with_sessions:
            return self._summed({}, 0)
        self.judging = "sessions"
        self._known, left = self._judge_sessions(ends, stated)
        if self._store.place and (more := self._judge_outputs(ends)):  # calls that were taken in put outputs in doubt
            left += more
        return self._summed(self._known, left)

    @property
    def rules(self) -> str:
        """The rules that outputs are judged by."""
        return output_rules(self._store)

    def _summed(self, sessions: Mapping[str, JudgedSession], left: int) -> Verdict:
        tallies = [tally for _, tally in self._store.index.tallies(self.rules, self.scope)]
        judged = sessions.values()
        known = _with_running(summed(tallies), running_in(self._store, self.scope))
        gone = self._store.index.with_flags(self.rules, output_facts.REMOVED, self.scope) if known.gone else ()
        return known._replace(
            removed=tuple(sorted(name for name, _ in gone)),
            alarms=tuple(each_once(alarm for one in judged for alarm in one.alarms)),
            broken=tuple(one.broken for one in judged if one.broken),
            messages=sum(one.messages for one in judged),
            not_read=sum(one.not_read for one in judged),
            unread=frozenset(self._unread),
            left=left,
            read_since=since if (place := self._store.place) and (since := place.since) > self.scope.since else 0.0,
        )

    # outputs

    def _judge_outputs(self, ends: float) -> int:
        """Judge outputs in doubt until a time, at least some, and return how many are left."""
        index, rules, skipped = self._store.index, self.rules, set[str]()
        count = index.count_in_doubt(rules)
        if count < MANY_OUTPUTS:
            self._handed_over.discard("outputs")
        elif self._is_left_to_others("outputs", count, shares_of_outputs):
            return count
        while wanted := [one for one in index.in_doubt(rules, AT_ONCE + len(skipped)) if one[0] not in skipped]:
            skipped |= {name for name, _ in wanted} - judge(self._store, wanted, self._unread).keys()
            if time.monotonic() >= ends:
                return max(index.count_in_doubt(rules) - len(skipped), 0)
        return 0

    def _is_left_to_others(self, what: str, count: int, shares: Callable[[], Sequence[Sequence[str]]]) -> bool:
        """Have processes judge what is much, and return whether to wait; what they cannot judge is judged here."""
        if what in self._handed_over or not self._processes.begin(what, shares(), count):
            return False
        if self._processes.left:
            self._handed_over.add(what)
        return True

    # sessions

    def _judge_sessions(self, ends: float, stated: StatedSessions | None) -> tuple[dict[str, JudgedSession], int]:
        """Judge sessions of the scope that have changed until a time; return what is known, and how many are left."""
        kept = KeptSessions(self._store, log_sizes(self._store) if stated else self._sizes)
        wanted = sorted(stated.unknown if stated else agents_within(self._store, self.scope))
        found = dict(stated.known) if stated else {}
        found |= {name: known for name in wanted if (known := kept.find(name))}
        due = [name for name in wanted if name not in found]
        now = time.monotonic()
        ready = [name for name in due if not self._patient or now >= self._not_before.get(name, 0.0)]
        if len(ready) < 2 or kept.log_bytes(ready) < MANY_BYTES:
            self._handed_over.discard("sessions")
        elif self._is_left_to_others("sessions", len(ready), lambda: shares_of_sessions(kept, ready)):
            self._not_before |= dict.fromkeys(ready, now + _SHARE)
            return found, len(due)
        judged, left = 0, len(due) - len(ready)
        for name in ready:
            now = time.monotonic()
            if judged and now >= ends:
                left += 1
                continue
            judged += 1
            try:
                found[name] = kept.judge(name)
            except StoreFailed:
                self._unread.add(name)
            self._not_before[name] = time.monotonic() + _SHARE * (time.monotonic() - now)
        if left and time.monotonic() < ends:  # sessions that go on wait for their turn
            time.sleep(min(_WAIT_SECONDS, ends - time.monotonic()))
        return dict(sorted(found.items())), left


_WAIT_SECONDS = 0.1


def _take_in_logs(store: Reading, sizes: Mapping[str, tuple[int, int]]) -> None:
    """Index what logs have beyond the index, however lately that was looked for."""
    fill_index(store)
    if isinstance(store, Store) and not store.index.unwritable and not store.index.views_stale():
        known = store.index.logs()
        catch_up(store, [name for name, (size, _) in sizes.items() if size > known.get(name, 0)])
