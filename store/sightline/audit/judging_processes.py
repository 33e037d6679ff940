"""Has processes of their own judge outputs and sessions, where these are many, as after an import.

They use all processors, and the memory that judging takes is theirs: who waits for the verdict only sums up, so that an
inspector stays as small as it is. What they judge they keep in the index; what they leave, the caller judges.
"""

import os
import selectors
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress

from sightline.audit.kept_facts import AT_ONCE, judge
from sightline.audit.kept_sessions import KeptSessions, log_sizes
from sightline.audit.output_facts import output_rules
from sightline.base.errors import SightlineError
from sightline.base.threads import available_processors
from sightline.store import Reading, Store

MANY_OUTPUTS = 1_000
"""Outputs in doubt for which processes are started: to judge them takes longer than to start these."""

MANY_BYTES = 8 << 20
"""Bytes of logs of sessions in doubt, likewise."""

_MOST_PROCESSES = 4
_CODE = "import sys; from sightline.audit.judging_processes import judge_share; judge_share(*sys.argv[1:])"
_DIGITS = "0123456789abcdef"


class JudgingProcesses:
    """Processes that judge for one reader of a verdict. Only one thread at a time may use it.

    Attributes:
        left: about how many of what they were given are not judged yet.
    """

    def __init__(self, store: Reading) -> None:
        """Prepare; nothing is started."""
        self._store = store
        self._running = list[subprocess.Popen[bytes]]()
        self.left = 0
        self._are_anothers = False
        weakref.finalize(self, _end, self._running)

    def begin(self, what: str, shares: Sequence[Sequence[str]], count: int) -> bool:
        """Start a process for each share, if the store lets them keep what they find.

        Args:
            what: ``outputs``, whose shares are last digits of names, or ``sessions``, whose are names.
            shares: the shares, one a process.
            count: number of what is to be judged.

        Returns:
            Whether to `wait`, for these or for those of another reader of the store.
        """
        store, self.left = self._store, 0
        if not isinstance(store, Store) or store.index.unwritable or store.anothers:
            return False
        with store.layout.judging() as lock:
            self._are_anothers = lock is None
            for share in shares if lock is not None else ():
                words = (sys.executable, "-E", "-P", "-c", _CODE, store.root, output_rules(store), what, str(lock))
                with suppress(OSError):
                    self._running.append(_started(words, share, lock or 0))
        self.left = count if self._running else 0
        return self._are_anothers or bool(self._running)

    def wait(self, ends: float) -> bool:
        """Wait until a time for the processes, or for a moment for those of another, and return whether all ended."""
        if self._are_anothers:
            self._are_anothers = False  # until it turns out that they go on
            time.sleep(max(min(ends - time.monotonic(), _LOOK_SECONDS), 0.0))
        if not self._running:
            return True
        with selectors.DefaultSelector() as selector:
            for process in self._running:
                assert process.stdout
                selector.register(process.stdout, selectors.EVENT_READ, process)
            while self._running and (left := ends - time.monotonic()) > 0:
                for key, _ in selector.select(min(left, _LOOK_SECONDS)):
                    if done := os.read(key.fd, _READ_BYTES):
                        self.left = max(self.left - sum(done), 0)
                    else:
                        selector.unregister(key.fileobj)
                        self._running.remove(key.data)
                        _reap(key.data)
        return not self._running


_LOOK_SECONDS = 0.2
_READ_BYTES = 4096


def _started(words: Sequence[str], share: Sequence[str], lock: int) -> "subprocess.Popen[bytes]":
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=nowhere, start_new_session=True, pass_fds=(lock,))
    assert process.stdin
    with suppress(BrokenPipeError), process.stdin:
        process.stdin.write("\n".join(share).encode())
    return process


def _end(running: list["subprocess.Popen[bytes]"]) -> None:
    for process in running:
        process.terminate()
        _reap(process)


def _reap(process: "subprocess.Popen[bytes]") -> None:
    if process.stdout:
        process.stdout.close()
    process.wait()


def shares_of_outputs() -> list[str]:
    """Return the last digits of outputs' names, which are by chance, for each of so many processes."""
    count = min(available_processors(), _MOST_PROCESSES)
    return [_DIGITS[at::count] for at in range(count)]


def shares_of_sessions(kept: KeptSessions, names: Sequence[str]) -> list[list[str]]:
    """Divide sessions into shares of about equally long logs, each with its relatives, whose calls it rests on."""
    count = min(available_processors(), _MOST_PROCESSES)
    shares, weights = [list[str]() for _ in range(count)], [0] * count
    families = dict.fromkeys(tuple(one for one in kept.family(name) if one in set(names)) for name in names)
    for family in sorted(families, key=kept.log_bytes, reverse=True):
        at = weights.index(min(weights))
        shares[at] += family
        weights[at] += kept.log_bytes(family) * max(len(family), 1)
    return [share for share in shares if share]


def judge_share(root: str, rules: str, what: str, _lock: str) -> None:
    """Judge what standard input names, and write to standard output, as bytes, how many were judged.

    The process, which holds the lock until it ends, does nothing where its rules are others than the caller's.
    """
    wanted = sys.stdin.read().split("\n")
    with Store(root) as store, suppress(BrokenPipeError):
        if output_rules(store) != rules:
            return
        store.index.is_patient = True
        for done in _judged_outputs(store, wanted) if what == "outputs" else _judged_sessions(store, wanted):
            os.write(1, bytes((done,)))


def _judged_outputs(store: Store, digits: Sequence[str]) -> Iterator[int]:
    """Judge the outputs in doubt whose names end with some digits, and yield how many each time."""
    found = (one for one in store.index.in_doubt(output_rules(store), -1) if one[0][-1] in digits)
    wanted = list(found)
    for start in range(0, len(wanted), AT_ONCE):
        judge(store, wanted[start : start + AT_ONCE])
        yield len(wanted[start : start + AT_ONCE])


def _judged_sessions(store: Store, names: Sequence[str]) -> Iterator[int]:
    """Judge some sessions, and yield one for each."""
    kept = KeptSessions(store, log_sizes(store))
    for name in names:
        with suppress(SightlineError):  # who waits for it meets it, too
            kept.judge(name)
        yield 1
