"""Reads for one step of a replay the reply as it was sent, and what had been seen by then."""

from collections.abc import Sequence

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import Failure, failures_if_quick
from sightline.audit.conversation import Said, said_before, said_in, said_since
from sightline.audit.coverage import NO_LINES, Coverage, GradedLines, Share, share_of, within
from sightline.audit.file_trail import FileTrail, KnownFile
from sightline.audit.held_lines import HeldTokens, Holdings, held_of, held_tokens, is_told
from sightline.audit.line_spans import common, union
from sightline.audit.timeline import (
    BYTES_A_TOKEN,
    Call,
    CallTotals,
    Timeline,
    captured_by,
    seen_after,
    share_seen,
    totals_of,
)
from sightline.base.errors import OfNewerVersion, SightlineError
from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.log.sessions import session_title
from sightline.log.view_text import TextGone, view_text
from sightline.store import Reading
from sightline_tui.timeline.step_coverage import Standing, standing

_MOST_OUTPUTS = 200
_MOST_FILES = 500


class ReplayOutput(NamedTuple):
    """An output of a session, and how much of it had been seen at a step.

    Attributes:
        buffer: its record.
        share: share of its lines that had been seen, 0 to 1.
        is_now: whether the call of this step is about it.
    """

    buffer: Buffer
    share: float
    is_now: bool

    @property
    def at_most(self) -> bool:
        """Whether the share is an upper bound, because less may have been seen."""
        return self.buffer.is_partial


class ReplayStep(NamedTuple):
    """A call of a session, with what had been seen by then.

    Attributes:
        at: index of the call, from 0.
        steps: number of calls.
        call: the call.
        text: the reply as it was sent; empty if it is gone.
        gone: why the text is gone; empty if it is there.
        buffer: the output that is shown; None if the call is about none, or the output is gone.
        streams: its streams at this step.
        outputs: outputs of the session so far, the one asked about last first.
        totals: totals of all calls so far.
        seen: how much they had shown of what was captured by then.
        held: what the context then had of all that it was shown; None if nothing is told of that context.
        called: what to call the session.
        why: the last prompt, and what the agent said last before the call; none if that is not kept.
        said: all that was said since the call before this one; if nothing, the same as `why`.
        changed: the files that the call changed.
    """

    at: int
    steps: int
    call: Call
    text: str
    gone: str
    buffer: Buffer | None
    streams: Sequence[Standing]
    outputs: Sequence[ReplayOutput]
    totals: CallTotals
    seen: Share
    held: HeldTokens | None = None
    called: str = ""
    why: Sequence[Said] = ()
    said: Sequence[Said] = ()
    changed: Sequence[KnownFile] = ()


class ReplayReader:
    """Reads the steps of one session. One thread at a time may use it."""

    def __init__(self, store: Reading, session: str) -> None:
        """Prepare to read; nothing is read before `step`."""
        self._store = store
        self._session = session
        self._timeline = Timeline(store, session=session)
        self._trail: FileTrail | None = None

    def place_of(self, view_id: str) -> int:
        """Return a view's call as its index from 0; the last call if the view is unknown. Raises as the store does."""
        self._timeline.refresh()
        calls = self._timeline.calls
        return next((at for at, call in enumerate(calls) if call.view.id == view_id), len(calls) - 1)

    def step(self, at: int, which: int = 0) -> ReplayStep | None:
        """Read a step, or the nearest one that exists. None if the session has no calls.

        Args:
            at: index of the call, from 0.
            which: index of the output among those that the call is about, from 0; counting starts over after the last.
        """
        self._timeline.refresh()
        calls = self._timeline.calls
        if not calls:
            return None
        at = max(0, min(at, len(calls) - 1))
        call, so_far = calls[at], calls[: at + 1]
        text, gone = self._text(call)
        names = list(call.view.refs)
        name = names[which % len(names)] if names else ""
        captured = [one for one in captured_by(self._store, [self._session]) if one.created <= call.view.time]
        buffer, streams = self._output(call, name)
        outputs = self._outputs(so_far, captured, name)
        held, holding = None, Holdings(self._store).of(self._session)
        if holding.events.changes:
            held = held_tokens(holding, (one.view for one in so_far), BYTES_A_TOKEN, until=call.view.time)
        totals, seen = totals_of(so_far, captured), share_seen(so_far, captured)
        known = self._store.index.session(self._session)
        called = session_title(known) if known else self._session
        spoken = said_in(self._store, self._session)
        why = said_before(spoken, call.begun)
        said = said_since(spoken, calls[at - 1].begun if at else 0.0, call.begun) or why
        files = self._followed(calls).changed_at(at)
        return ReplayStep(
            at, len(calls), call, text, gone, buffer, streams, outputs, totals, seen, held, called, why, said, files
        )

    def _followed(self, calls: Sequence[Call]) -> FileTrail:
        """Return what the calls tell of files."""
        if self._trail is None:
            known = self._store.index.session(self._session)
            self._trail = FileTrail(self._store, known.cwd if known else "")
        self._trail.take(calls)
        return self._trail

    def files(self, at: int) -> list[KnownFile]:
        """Return what was known at a step of the files that calls had read or changed, the last ones first."""
        self._timeline.refresh()
        trail = self._followed(self._timeline.calls)
        return [trail.at(path, at) for path in trail.files(at)[:_MOST_FILES]]

    def next_miss(self, at: int, now: str) -> tuple[int, int] | None:
        """Find the next call that is the first about an output with a failure that no agent had been shown by then.

        After the last call the search goes on with the first.

        Args:
            at: index of the call to start from, from 0.
            now: name of the output that is shown already, which is skipped.

        Returns:
            The index of the call, from 0, and of the output among those of the call; None if there is none.
        """
        self._timeline.refresh()
        calls = self._timeline.calls
        first = dict[str, tuple[int, int]]()
        for place, call in enumerate(calls):
            for which, name in enumerate(call.view.refs):
                first.setdefault(name, (place, which))
        later = sorted((place, which, name) for name, (place, which) in first.items() if name != now)
        for place, which, name in sorted(later, key=lambda one: one[0] <= at):
            if any(one.missed for one in self._output(calls[place], name)[1]):
                return place, which
        return None

    def _text(self, call: Call) -> tuple[str, str]:
        try:
            return view_text(self._store, call.indexed), ""
        except (TextGone, OfNewerVersion) as gone:
            return "", gone.message

    def _output(self, call: Call, name: str) -> tuple[Buffer | None, list[Standing]]:
        """Return the output of a call, and what its session had seen of it by then; (None, []) without one."""
        buffer = self._store.index.buffer(name) if name else None
        if buffer is None or buffer.state == "evicted":
            return None, []
        buffer = self._store.with_progress(buffer)
        coverage = coverage_of(self._store, buffer, session=self._session, until=call.view)
        part, missed = call.parts.get(name), self._missed(buffer, coverage)
        told = is_told(self._store, [self._session])
        held = held_of(self._store, buffer, coverage, until=call.view.time).streams if told else {}
        found = []
        for stream in sorted(buffer.streams, key=lambda one: (one == "err", len(one), one)):
            covered = coverage.streams.get(stream)
            missing = (place.telling for one in missed for place in one.places if place.stream == stream)
            shown = standing(
                stream,
                buffer.streams[stream].lines,
                part.streams.get(stream) if part else None,
                covered.lines if covered else NO_LINES,
                union(*missing),
            )
            if lines := held.get(stream):
                gone, unsure = common(lines.before, shown.before), common(lines.unknown, shown.before)
                shown = shown._replace(gone=gone, open=unsure, is_told=True)
            found.append(shown._replace(unsure=bool(covered and covered.unsure)))
        return buffer, found

    def _missed(self, buffer: Buffer, coverage: Coverage) -> list[Failure]:
        """Return the failures of an output that had not been shown by then."""
        try:
            failures = failures_if_quick(self._store, buffer) or ()
        except SightlineError:
            return []
        return [failure for failure in failures if not failure.is_seen(coverage)]

    def _outputs(self, so_far: Sequence[Call], captured: Sequence[Buffer], now: str) -> list[ReplayOutput]:
        seen = seen_after(so_far, len(so_far))
        order = dict.fromkeys([name for call in reversed(so_far) for name in call.view.refs])
        known = {buffer.name: buffer for buffer in captured}
        found = []
        for name in list(order)[:_MOST_OUTPUTS]:
            buffer = known.get(name) or self._store.index.buffer(name)
            if buffer is not None:
                found.append(ReplayOutput(buffer, _share(buffer, seen.get(name, {})), name == now))
        return found


def _share(buffer: Buffer, seen: dict[str, GradedLines]) -> float:
    lines = sum(within(seen[name], info.lines).weight for name, info in buffer.streams.items() if name in seen)
    return share_of(lines, buffer.lines, partial=buffer.is_partial)
