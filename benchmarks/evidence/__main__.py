"""How well claims and alarms are found in sessions whose truth is known: ``python -m benchmarks.evidence``.

Precision is the share of what was found that is true, recall the share of what is true that was found, of each kind.
``--transcripts PATH …`` counts instead how many of some real sessions have each kind: of these the truth is not known.
With ``--labels FILE`` these sessions are held against the labels of somebody who had not seen the verdict, beside those
of the project's own sessions; ``--to-read FOLDER`` writes them as text to be labelled (`benchmarks.evidence.labels`).
``--calls N`` tells instead how long the evidence of a session of that many calls takes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from benchmarks.evidence import labels as labelling
from benchmarks.evidence.reading import write_session
from benchmarks.evidence.sessions import FAILED, PASSED, SESSIONS, Truth
from benchmarks.evidence.transcripts import Compacted, Edited, Ran, Read, Said, Step, write_transcript
from benchmarks.evidence.unseen_sessions import UNSEEN_SESSIONS
from benchmarks.measure import SIGHTLINE
from sightline.agents.past_sessions.importer import Importer
from sightline.audit.evidence.evidence_records import SessionEvidence
from sightline.audit.evidence.session_evidence import evidence_of
from sightline.audit.finding_kinds import CONTRADICTED_CLAIM, STALE_CLAIM, UNSUPPORTED_CLAIM
from sightline.audit.verdict import verdict_of
from sightline.base.records import Session
from sightline.harnesses.formats import find_sources
from sightline.log.session_list import list_sessions
from sightline.settings.config import Settings
from sightline.shape.summary import one_line
from sightline.store import Store

_OF_CLAIMS = (CONTRADICTED_CLAIM, STALE_CLAIM, UNSUPPORTED_CLAIM)
LEAST_PRECISION, LEAST_RECALL = 0.95, 0.85


class Score(NamedTuple):
    """Of one kind: how many were found and true, found and not true, true and not found."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        """0 to 1; 1 where nothing was found."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """0 to 1; 1 where there is nothing to find."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def found_in(truth: Truth) -> SessionEvidence:
    """What is found in a session that was written as a transcript and imported."""
    with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/root", Settings()) as store:
        write_transcript(truth.harness, "5e55", truth.steps, folder)
        Importer(store).run(find_sources(f"{folder}/{truth.harness}"))
        return evidence_of(store, list_sessions(store)[0].session)


def pairs_of(truth: Truth, found: SessionEvidence) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(what is true, what was found), each as (kind, text); claims by their verdict."""
    wanted = [(f"claim: {verdict}", words) for words, verdict in truth.claims] + list(truth.alarms)
    there = [(f"claim: {one.verdict}", one.claim.words) for one in found.claims]
    there += [(one.kind, f"{one.text} {one.command}") for one in found.alarms if one.kind not in _OF_CLAIMS]
    return wanted, there


def compared(truth: Truth, found: SessionEvidence) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """(right, wrong, missed) by kind."""
    wanted, there = pairs_of(truth, found)
    right, wrong, missed = Counter[str](), Counter[str](), Counter[str]()
    for kind, part in wanted:
        match = next((one for one in there if one[0] == kind and part in one[1]), None)
        if match:
            there.remove(match)
            right[kind] += 1
        else:
            missed[kind] += 1
    wrong.update(kind for kind, _ in there)
    return right, wrong, missed


def main() -> int:
    """Print the table; 1 where less was reached than is aimed at."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evidence", description=__doc__)
    parser.add_argument("--transcripts", nargs="+", default=[], metavar="PATH", help="count kinds in real sessions")
    parser.add_argument("--claims", action="store_true", help="of these print each claim with its verdict")
    parser.add_argument("--labels", default="", metavar="FILE", help="print precision and recall of labelled sessions")
    parser.add_argument("--show", action="store_true", help="of these print each finding that differs, with its words")
    parser.add_argument("--to-read", default="", metavar="FOLDER", help="write them as text, without any verdict")
    parser.add_argument("--calls", type=int, default=0, metavar="N", help="time a session of so many calls")
    given = parser.parse_args()
    if given.calls:
        return _time(given.calls)
    if given.to_read:
        return _write(given.transcripts, given.to_read)
    if given.transcripts and not given.labels:
        return _count(given.transcripts, claims=given.claims)
    if given.labels:
        _hold_against(given.labels, given.transcripts, shows=given.show)
        print("\nthe project's own sessions, whose truth is known")
    totals: dict[str, Score] = {}
    for truth in (*SESSIONS, *UNSEEN_SESSIONS):
        _add(totals, compared(truth, found_in(truth)))
    _print_table(totals)
    worst = [kind for kind, one in totals.items() if one.precision < LEAST_PRECISION or one.recall < LEAST_RECALL]
    return int(bool(worst or totals.get("claim: contradicted", Score()).wrong))


def _add(totals: dict[str, Score], more: tuple[Counter[str], Counter[str], Counter[str]]) -> None:
    right, wrong, missed = more
    for kind in {*right, *wrong, *missed}:
        score = totals.get(kind, Score())
        totals[kind] = Score(score.right + right[kind], score.wrong + wrong[kind], score.missed + missed[kind])


def _print_table(totals: Mapping[str, Score]) -> None:
    print(f"{'kind':24} {'precision':>10} {'recall':>8}   right wrong missed")
    for kind, score in sorted(totals.items()):
        print(
            f"{kind:24} {score.precision:10.0%} {score.recall:8.0%}   {score.right:5} {score.wrong:5} {score.missed:6}"
        )


@contextmanager
def _imported(paths: Sequence[str]) -> Iterator[Store]:
    """Give a store of its own with the sessions of some transcripts, none of which is evicted."""
    settings = Settings(max_buffers=1_000_000, max_bytes=1 << 40, max_age_days=100_000.0)
    with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/root", settings) as store:
        for path in paths:
            Importer(store).run(find_sources(path))
        yield store


def _write(paths: Sequence[str], folder: str) -> int:
    """Write sessions as text to be labelled."""
    os.makedirs(folder, exist_ok=True)
    with _imported(paths) as store:
        for facts in list_sessions(store):
            print(write_session(store, facts.session, folder))
    return 0


def _hold_against(path: str, paths: Sequence[str], *, shows: bool) -> None:
    """Print precision and recall of each kind in labelled sessions, and how many have a false doubt."""
    labelled, totals, read, noisy = labelling.read_labels(path), dict[str, Score](), 0, 0
    others = Counter[str]()
    with _imported(paths) as store:
        verdict_of(store)
        for facts in list_sessions(store):
            key = labelling.session_key(facts.session)
            if key not in labelled:
                continue
            evidence = evidence_of(store, facts.session)
            there = labelling.found_marks(store, facts.session, evidence)
            found = [one for one in there if one.kind in labelling.OF_LABELS]
            others.update(one.kind for one in there if one.kind not in labelling.OF_LABELS)
            result = labelling.compared(found, labelled[key])
            read += 1
            noisy += any(kind != labelling.FAILED for kind in result[1])
            _add(totals, result)
            if shows:
                _show(store, facts.session, found, labelled[key])
    print(f"{read:,} labelled sessions; {noisy:,} of them with a doubt that is not so")
    if others:
        print(f"not held against labels: {', '.join(f'{count:,} {kind}' for kind, count in others.items())}")
    _print_table(totals)


def _show(
    store: Store,
    session: Session,
    found: Sequence[labelling.Mark],
    labels: labelling.Labels,
) -> None:
    texts = labelling.texts_of(store, session)
    every = [*labels.sure, *labels.arguable]
    for mark in found:
        if not any(one.kind == mark.kind and one.places & mark.places for one in every):
            print(f"wrong  {mark.kind} {session.name}: {[one_line(texts.get(at, at), 160) for at in mark.places]}")
    for label in labels.sure:
        if not any(one.kind == label.kind and one.places & label.places for one in found):
            print(f"missed {label.kind} {session.name}: {[one_line(texts.get(at, at), 160) for at in label.places]}")


def _time(calls: int) -> int:
    """Print what ``sightline evidence`` takes for a long session, its own start included."""
    steps: list[Step] = []
    for at in range(calls // _CALLS_A_ROUND):
        test = "pytest -q" if at % 3 else f"pytest -q tests/test_{at}.py | tail -2"
        ran = Ran(test, FAILED, int(bool(at % 3))) if at % 5 == 0 else Ran(test, PASSED)
        look = Ran(f"grep -n total m{at}.py", "1: total\n")
        steps += [Read(f"m{at}.py"), Edited(f"m{at}.py"), ran, look, Ran("python gen.py", "x\n" * 40)]
        steps += [Said("I looked at it. All tests pass. Let me go on."), *([Compacted()] if at % 100 == 50 else [])]
    with tempfile.TemporaryDirectory() as folder:
        with Store(f"{folder}/root", Settings(max_buffers=100_000)) as store:
            write_transcript("claude-code", "5e55", steps, folder)
            Importer(store).run(find_sources(f"{folder}/claude-code"))
        environment = {**os.environ, "SIGHTLINE_HOME": f"{folder}/root"}
        for which in ("first", "next"):
            before, began = os.times(), time.perf_counter()
            words = [*SIGHTLINE, "evidence", "--session", "claude-code-5e55"]
            subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=False)
            taken, after = time.perf_counter() - began, os.times()
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            print(f"{calls:,} calls, {which} time: {taken:.2f} s, {cpu:.2f} s of a processor")
    return 0


_CALLS_A_ROUND = 5


def _count(paths: list[str], *, claims: bool) -> int:
    kinds, verdicts, sessions, seconds = Counter[str](), Counter[str](), 0, 0.0
    with _imported(paths) as store:
        for facts in list_sessions(store):
            began = time.monotonic()
            found = evidence_of(store, facts.session)
            seconds = max(seconds, time.monotonic() - began)
            sessions += 1
            kinds.update({one.kind for one in found.alarms})
            verdicts.update(one.verdict for one in found.claims)
            for one in found.claims if claims else ():
                print(f"{one.verdict}: {one.claim.words!r}: {one.why} [{facts.session.name}:{one.message}]")
    print(f"{sessions:,} sessions; the longest took {seconds:.2f} s")
    for kind, count in kinds.most_common():
        print(f"{kind:24} in {count:,} sessions ({count / max(sessions, 1):.0%})")
    for verdict, count in verdicts.most_common():
        print(f"claims {verdict}: {count:,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
