"""Keeps what is known of each output: judges in batches those in doubt, and reads what is kept of all others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import failures_if_quick
from sightline.audit.coverage import Share
from sightline.audit.output_facts import EXPIRED, UNSEEN, UNSURE, facts_of, facts_of_removed, output_rules
from sightline.audit.people_views import Onlookers
from sightline.audit.timeline import calls_about
from sightline.base.errors import SightlineError, StoreFailed
from sightline.base.records import NO_STREAM, Buffer, OutputFacts, Session
from sightline.light.typing_names import Any
from sightline.store import Reading

AT_ONCE = 128
"""Outputs whose records and calls are read together: with these, as many take a megabyte."""


def facts_for(store: Reading, buffers: Iterable[Buffer], *, most_bytes: int | None = None) -> dict[str, OutputFacts]:
    """Return what is known of some outputs that have ended, by name; those in doubt are judged first.

    Args:
        store: the store.
        buffers: their records.
        most_bytes: bytes of the largest that is judged now; a larger one is left out while it is in doubt.
    """
    wanted = {one.name: one for one in buffers if one.state != "running"}
    found = store.index.facts_of(output_rules(store), wanted)
    missing = [
        name for name, one in wanted.items() if name not in found and (most_bytes is None or one.bytes <= most_bytes)
    ]
    for start in range(0, len(missing), AT_ONCE):
        found |= judge(store, store.index.doubts_of(missing[start : start + AT_ONCE]))
    return found


def facts_so_far(store: Reading, buffer: Buffer) -> OutputFacts:
    """Return what is known of an output that is not judged, since it runs or is large: above all what was shown of it.

    Its failures count once somebody was shown some of it, if it can be examined in a moment.
    """
    now = store.with_progress(buffer)
    coverage = coverage_of(store, now)
    failures = (failures_if_quick(store, now) if coverage.contributions else None) or ()
    unseen = sum(not one.is_seen(coverage) for one in failures)
    flags = (UNSEEN if unseen else 0) | (UNSURE if coverage.at_most else 0)
    return OutputFacts(flags, len(failures), unseen, now.lines, coverage.weight)


def share_in(facts: OutputFacts, buffer: Buffer) -> Share:
    """Return how much of an output was seen, by what is known of it."""
    return Share(facts.seen, buffer.lines, buffer.is_partial, bool(facts.flags & UNSURE))


def judge(store: Reading, wanted: Sequence[tuple[str, str]], unread: set[str] | None = None) -> dict[str, OutputFacts]:
    """Judge outputs in doubt, keep what is found, and return it by name. What cannot be judged now is left out.

    Args:
        store: the store.
        wanted: (name, doubt) of each, from the index.
        unread: gets the names of those that cannot be read.
    """
    index, doubts = store.index, dict(wanted)
    there = index.buffers(doubts)
    removed = dict(_removed(store, (name for name in doubts if name not in there)))
    calls = calls_about(store, there | removed, Onlookers(store))
    found = dict[str, OutputFacts]()
    for name in doubts:
        if name in removed:
            found[name] = facts_of_removed(removed[name], calls[name])
        elif there[name].was_removed:
            found[name] = facts_of_removed(there[name], calls[name]) if calls[name] else OutputFacts(EXPIRED)
        elif there[name].state != "running":
            try:
                found[name] = facts_of(store, store.checked(there[name]), calls[name])
            except StoreFailed:
                if unread is not None:
                    unread.add(name)
            except SightlineError:
                continue  # it was removed meanwhile, which puts it in doubt again
        del calls[name]  # of each, its views take some KB
    index.place_removed(one for one in removed.values() if one.session)
    _forget_sessions(store, {one.session for one in there.values() if one.name in found})
    index.keep_facts(output_rules(store), [(name, doubts[name], facts) for name, facts in found.items()])
    return found


def _removed(store: Reading, names: Iterable[str]) -> Iterator[tuple[str, Buffer]]:
    """Yield (name, record) of outputs without a row, by what is left of them; of a file, nothing is."""
    for name in names:
        kind = name.rpartition("/")[2].partition("_")[0]
        left: Mapping[str, Any] = (store.tombstone(name) if kind != "file" else None) or {}
        streams = {
            stream: NO_STREAM._replace(bytes=info["bytes"], lines=info["lines"])
            for stream, info in left.get("streams", {}).items()
        }
        texts = (left.get("cwd", ""), left.get("session", ""))
        created = left.get("created", 0.0)
        yield name, Buffer(
            name, kind, "evicted", "", *texts, created, None, created, None, 0, False, "", False, "", "", "", streams,
            project=left.get("project", ""),
        )  # fmt: skip


def _forget_sessions(store: Reading, captors: set[str]) -> None:
    """Have the sessions judged anew that captured some outputs, with those that share their harness' session."""
    related = families(store.index.sessions()).values()
    store.index.forget_verdicts_of(captors.union(*(names for names in related if captors.intersection(names))))


def families(sessions: Iterable[Session]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the names of sessions that share a session of a harness: helpers, and the one whose they are."""
    found = dict[tuple[str, str], tuple[str, ...]]()
    for one in sessions:
        if one.harness_id:
            key = one.harness, one.harness_id
            found[key] = tuple(sorted((*found.get(key, ()), one.name)))
    return found
