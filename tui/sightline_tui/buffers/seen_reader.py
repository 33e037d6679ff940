"""Reads in a thread what the list says of a buffer: what was seen or overlooked of it, and what a rerun changed."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sightline.base.records import Buffer
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading

if TYPE_CHECKING:
    from sightline.audit.failure_changes import FailureChanges
    from sightline.base.records import OutputFacts

with late_modules(globals()):
    from sightline.audit import failure_changes, kept_facts, output_facts  # 45 ms, in the thread that reads

STEP_SECONDS = 0.05
"""How long failures are looked for before what was found is drawn."""

QUICK_BYTES = 16 << 20
"""The largest buffer that is judged here; a larger one is judged when the header's verdict comes to it."""

_KEPT_CHANGES = 5_000

_PAUSE_SECONDS = 0.001  # pause between two buffers, so that the UI's thread gets its turn


class Seen(NamedTuple):
    """What was seen of one buffer.

    Attributes:
        share: seen of its lines, 0 to 1.
        overlooked: whether it has a failure that none of its views shows; None while that is not known.
        at_most: whether the share is an upper bound.
        fails: for what went into a command's filters, whether it has a failure; None while that is not known.
        changes: which failures differ from those of the run before; None if there are none, or they are not known.
    """

    share: float
    overlooked: bool | None = None
    at_most: bool = False
    fails: bool | None = None
    changes: "FailureChanges | None" = None


class SeenFacts(NamedTuple):
    """What has been read.

    Attributes:
        seen: of the buffers that were asked for, by name.
        lines: how many lines were seen of every buffer, by name; None where no order goes by it, or nothing changed.
        done: whether everything about these buffers is known.
        failed: names of all outputs that are known to have failed; None where nobody asks.
    """

    seen: Mapping[str, Seen]
    lines: Mapping[str, float] | None
    done: bool
    failed: frozenset[str] | None = None


class SeenReader:
    """Reads for a list. One thread at a time may use it."""

    def __init__(self, store: Reading) -> None:
        self._store = store
        self._lines: Mapping[str, float] = {}
        self._changes: dict[str, FailureChanges | None] = {}  # of outputs that have ended

    def read(self, buffers: Sequence[Buffer], *, everything: bool, counts: bool = False) -> SeenFacts:
        """What is known of some buffers; those in doubt are judged for a moment. Raises as the store does.

        Args:
            buffers: the records of those that are on the screen.
            everything: whether the order goes by how much was seen, so that all buffers are needed.
            counts: whether all failed ones are needed, which the headings of groups count.
        """
        seen, done, ends = dict[str, Seen](), True, time.monotonic() + STEP_SECONDS
        known = kept_facts.facts_for(self._store, buffers, most_bytes=-1)
        for buffer in buffers:
            facts = known.get(buffer.name)
            if facts is None and time.monotonic() >= ends:
                done = False
                continue
            if facts is None:
                facts = kept_facts.facts_for(self._store, [buffer], most_bytes=QUICK_BYTES).get(buffer.name)
                time.sleep(_PAUSE_SECONDS)
            seen[buffer.name] = self._seen(buffer, facts)
            if facts is not None:
                known[buffer.name] = facts
        done = self._compare([buffer for buffer in buffers if buffer.name in seen], known, ends) and done
        seen = {name: one._replace(changes=self._changes.get(name)) for name, one in seen.items()}
        return SeenFacts(
            seen, self._lines_of_all() if everything else None, done, self._all_failed() if counts else None
        )

    def _all_failed(self) -> frozenset[str]:
        """Names of the outputs that failed, among those that are judged, as the header counts them."""
        rules = output_facts.output_rules(self._store)
        return frozenset(name for name, _ in self._store.index.with_flags(rules, output_facts.FAILED))

    def _compare(self, buffers: Sequence[Buffer], known: "Mapping[str, OutputFacts]", ends: float) -> bool:
        """Compare runs with those before them, until a time; return whether none is left.

        Where neither has a failure, as most have not, no output is read for that.
        """
        new = [one for one in buffers if one.kind == "cmd" and one.state == "sealed" and one.name not in self._changes]
        if not new:
            return True
        if len(self._changes) > _KEPT_CHANGES:
            self._changes.clear()
        index = self._store.index
        earlier = index.previous_runs([one.name for one in new])
        records = index.buffers(earlier.values())
        known = {**kept_facts.facts_for(self._store, records.values(), most_bytes=-1), **known}
        for at, buffer in enumerate(new):
            before = records.get(earlier.get(buffer.name, ""))
            if before is None or not any(
                (facts := known.get(one.name)) is None or facts.failures for one in (before, buffer)
            ):
                self._changes[buffer.name] = None
                continue
            if time.monotonic() >= ends and at:
                return False
            self._changes[buffer.name] = failure_changes.known_changes(self._store, before, buffer)
            time.sleep(_PAUSE_SECONDS)
        return True

    def _seen(self, buffer: Buffer, facts: "OutputFacts | None") -> Seen:
        is_known = facts is not None or buffer.state == "running"
        facts = facts or kept_facts.facts_so_far(self._store, buffer)
        share = kept_facts.share_in(facts, buffer)
        fails = bool(facts.failures) if is_known and buffer.origin and buffer.kind == "cmd" else None
        return Seen(share.share, bool(facts.unseen) if is_known else None, share.at_most, fails)

    def _lines_of_all(self) -> Mapping[str, float] | None:
        """Return how many lines were seen of each buffer; None if that is as before."""
        index = self._store.index
        lines = index.seen_lines()
        lines |= {one.name: kept_facts.facts_so_far(self._store, one).seen for one in index.running()}
        if lines == self._lines:
            return None
        self._lines = lines
        return lines


def percent(share: float, *, at_most: bool = False) -> str:
    """A share in at most four characters: ``3%``, ``<1%``, ``99%``; 0 and 100 only if exactly that is so.

    An upper bound is ``≤34%``, or ``<all`` if it is close to all.
    """
    if 0 < share < 0.01:
        return "<1%"
    if at_most and share:
        up = math.ceil(round(share * 100, 6))
        return f"≤{up}%" if up < 100 else "<all" if share < 1 else "≤all"
    return f"{min(round(share * 100), 99 if share < 1 else 100)}%"
