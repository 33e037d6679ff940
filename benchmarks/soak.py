"""Soak: many processes capture into one store and ask it for a quarter of an hour; nothing is lost, nothing grows."""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.measure import SIGHTLINE, machine, mib
from benchmarks.soaking import watching
from benchmarks.soaking.ledger import Ledger
from benchmarks.soaking.slots import Asker, Ended, Proxy, Runner, Server, Slot, Watcher, Writer

_SHARES: Sequence[tuple[type[Slot], float, float]] = (
    (Server, 18 / 64, 6.0),
    (Proxy, 10 / 64, 8.0),
    (Writer, 12 / 64, 5.0),
    (Watcher, 2 / 64, 3.0),
    (Runner, 21 / 64, 4.0),
)
"""Of what kind the processes are, and how many seconds there are between two things that one does, at the rate of 1."""

_ASKING_SECONDS = 1.5
_SAMPLE_SECONDS = 5.0
_MOST_CORES, _FEW_CORES = 0.8, 0.5  # at the rate of 1; beyond these, all do less, or as much as they were to again
_LIMITS = {"SIGHTLINE_MAX_BUFFERS": "400", "SIGHTLINE_MAX_BYTES": "32 MiB"}
_GROWN_BYTES, _GROWN_SHARE = 4 << 20, 0.2  # more than both is a leak
_GROWN_DESCRIPTORS = 2


class Passed(NamedTuple):
    """What the time was filled with.

    Attributes:
        seconds: how long.
        samples: of the processes that last.
        wal: (seconds, bytes) of the index's write-ahead file.
        cores: in use, by sample.
    """

    seconds: float
    samples: list[watching.Sample]
    wal: list[tuple[float, int]]
    cores: list[float]


class Soak:
    """The store, those who use it, and the time they have."""

    def __init__(self, folder: str, processes: int, rate: float) -> None:
        self.root = os.path.join(folder, "store")
        self.mark = os.urandom(8).hex()
        self.temporary = os.path.join(folder, "tmp")
        os.mkdir(self.temporary)
        self.environment = {
            **os.environ,
            **_LIMITS,
            watching.MARK: self.mark,
            "SIGHTLINE_HOME": self.root,
            "SIGHTLINE_SESSION": "person",
            "HOME": folder,
            "TMPDIR": self.temporary,
            "TERM": "xterm-256color",
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.ledger = Ledger(self.root)
        self._ending = threading.Event()
        self._rate = rate
        self._pace = 1.0  # longer than it was to be by so much
        self.slots = [
            (kind(self.ledger, self._environment_of(number), number), seconds)
            for number, (kind, seconds) in enumerate(_spread(processes))
        ]
        self.slots.append((Asker(self.ledger, self.environment, len(self.slots)), _ASKING_SECONDS))

    def _environment_of(self, number: int) -> dict[str, str]:
        return {**self.environment, "SIGHTLINE_SESSION": f"agent-{number}"}

    def run(self, seconds: float) -> Passed:
        """Let them work, and look at them meanwhile."""
        threads = [threading.Thread(target=self._use, args=slot) for slot in self.slots]
        for thread in threads:
            thread.start()
            time.sleep(0.05)  # they would all start in the same moment, which is not what is measured
        try:
            return self._watch(seconds)
        finally:
            self._ending.set()
            for thread in threads:
                thread.join()

    def _use(self, slot: Slot, seconds: float) -> None:
        try:
            slot.open()
            while not self._ending.wait(random.uniform(0.5, 1.5) * seconds * self._pace / self._rate):
                slot.step()
        except Exception as error:  # the others go on; the table tells
            self.ledger.fault("ended before its time" if isinstance(error, Ended) else "broke", repr(error))
        slot.close()

    def _watch(self, seconds: float) -> Passed:
        began, load = time.monotonic(), watching.Load()
        passed = Passed(seconds, [], [], [])
        while (now := time.monotonic() - began) < seconds:
            time.sleep(min(_SAMPLE_SECONDS, seconds - now))
            now = time.monotonic() - began
            for slot, _ in self.slots:
                if slot.lasts and slot.pid and (one := watching.sample(now, slot.kind, slot.pid)):
                    passed.samples.append(one)
            passed.wal.append((now, watching.size_of(os.path.join(self.root, "index.sqlite-wal"))))
            passed.cores.append(load.look())
            if passed.cores[-1] > _MOST_CORES * self._rate:
                self._pace *= 1.25
            elif passed.cores[-1] < _FEW_CORES * self._rate:
                self._pace = max(self._pace / 1.25, 1.0)
        return passed

    def processes(self) -> int:
        """How many of them are processes now."""
        return sum(bool(slot.pid and os.path.exists(f"/proc/{slot.pid}")) for slot, _ in self.slots)

    def doctor(self) -> list[str]:
        """What `doctor` has to tell besides that all is well."""
        told = subprocess.run([*SIGHTLINE, "doctor"], env=self.environment, text=True, capture_output=True)
        return [line for line in told.stdout.splitlines() if line[:1] in "✗✚"] + told.stderr.splitlines()


def _spread(processes: int) -> list[tuple[type[Slot], float]]:
    found = [(kind, seconds) for kind, share, seconds in _SHARES for _ in range(max(1, round(share * processes)))]
    return (found + [(Runner, 4.0)] * processes)[:processes]


def _row(what: str, value: object, wrong: object = False) -> bool:
    print(f"  {what:<58} {value!s:>24}{'  WRONG' if wrong else ''}", flush=True)
    return bool(wrong)


def _tell(soak: Soak, passed: Passed) -> bool:
    """Print the table; whether something in it is wrong."""
    ledger = soak.ledger
    unannounced, unlogged = ledger.reconcile(), ledger.unlogged()
    doctor = soak.doctor()
    left, running = watching.left_over(soak.root), watching.marked(soak.mark)
    temporary = os.listdir(soak.temporary)
    for line in (*doctor, *left, *running, *temporary):
        print(f"  ! {line}")
    wrong = [
        _row("captures made", f"{len(ledger.made):,}", not ledger.made),
        *(
            _row(f"captures {what}", ledger.wrong.pop(what, 0), ledger.wrong[what])
            for what in ("lost", "torn", "twice")
        ),
        _row("captures with wrong bytes", ledger.wrong.pop("wrong bytes", 0), ledger.wrong["wrong bytes"]),
        _row("records that nobody announced", unannounced, unannounced),
        _row(f"replies over MCP, of {ledger.replies.total():,}, that the log lacks", unlogged, unlogged),
        _row("evicted or removed before they were looked at", f"{ledger.seen_late:,}"),
        _row("other faults", ", ".join(f"{n} {what}" for what, n in ledger.wrong.items()) or 0, ledger.wrong.total()),
        _row("what doctor found", len(doctor), doctor),
        _row("temporary files left", len(left) + len(temporary), left or temporary),
        _row("processes left", len(running), running),
    ]
    for what, count in sorted(ledger.done.items()):
        _row(what, f"{count:,}")
    wrong += [_grown(one) for one in watching.growth(passed.samples, passed.seconds)]
    third = [size for at, size in passed.wal if at <= passed.seconds / 3]
    rest = [size for at, size in passed.wal if at > passed.seconds / 3]
    _row("write-ahead file, most in the first third → after", f"{mib(max(third))} → {mib(max(rest))}")
    _row("index at the end", mib(watching.size_of(os.path.join(soak.root, "index.sqlite"))))
    _row("cores in use, mean (most in 5 s)", f"{sum(passed.cores) / len(passed.cores):.2f} ({max(passed.cores):.2f})")
    return any(wrong)


def _grown(one: watching.Growth) -> bool:
    grown = one.most_private > max(_GROWN_BYTES, one.private[0] * _GROWN_SHARE)
    before, after = one.descriptors
    _row(
        f"{one.kind} × {one.processes}: descriptors, ⅓ → end (most grown)",
        f"{before:g} → {after:g} ({one.most_descriptors:+d})",
        one.most_descriptors > _GROWN_DESCRIPTORS,
    )
    before, after = one.private
    _row(
        f"{one.kind} × {one.processes}: private memory, ⅓ → end (most grown)",
        f"{mib(before)} → {mib(after)} ({one.most_private / (1 << 20):+.1f})",
        grown,
    )
    return grown or one.most_descriptors > _GROWN_DESCRIPTORS


def main(words: Sequence[str]) -> int:
    """Run it; 1 where something was lost, wrong, left or grown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=15.0, metavar="M", help="how long (default 15)")
    parser.add_argument("--processes", type=int, default=64, metavar="N", help="how many at once (default 64)")
    parser.add_argument("--rate", type=float, default=1.0, metavar="R", help="how often they do something (default 1)")
    given = parser.parse_args(words)
    print(machine())
    with tempfile.TemporaryDirectory(prefix="sightline-soak-") as folder:
        soak = Soak(folder, given.processes, given.rate)
        print(f"\nsoak: {given.processes} processes, {given.minutes:g} minutes, rate {given.rate:g}; limits {_LIMITS}")
        sys.stdout.flush()
        return int(_tell(soak, soak.run(given.minutes * 60)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
