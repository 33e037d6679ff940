"""What must not grow during the soak, and what must not be left of it: descriptors, memory, files, processes."""

import os
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.terminal import private_bytes, tree

MARK = "SIGHTLINE_SOAK"
_TICKS = os.sysconf("SC_CLK_TCK")
_AROUND = 0.1  # of the whole time: samples this far from a point are looked at for it


class Sample(NamedTuple):
    """A process at a moment.

    Attributes:
        seconds: since the beginning.
        kind: of its slot.
        pid: of the process.
        descriptors: how many are open.
        private: bytes of memory for itself alone.
    """

    seconds: float
    kind: str
    pid: int
    descriptors: int
    private: int


class Growth(NamedTuple):
    """What the processes of a kind held at a third of the time and at the end: the medians, and who grew most."""

    kind: str
    processes: int
    descriptors: tuple[float, float]
    private: tuple[float, float]
    most_descriptors: int
    most_private: float


def sample(seconds: float, kind: str, pid: int) -> Sample | None:
    """A process now; None where it has ended."""
    try:
        return Sample(seconds, kind, pid, len(os.listdir(f"/proc/{pid}/fd")), private_bytes(pid))
    except OSError:
        return None


def growth(samples: Iterable[Sample], seconds: float) -> Iterator[Growth]:
    """From a third of the time to its end, by kind; the least around a point counts, since calls come and go."""
    kinds = dict[str, dict[int, list[Sample]]]()
    for one in samples:
        kinds.setdefault(one.kind, {}).setdefault(one.pid, []).append(one)
    for kind, processes in kinds.items():
        both = [
            (third, end)
            for found in processes.values()
            if (third := _around(found, seconds / 3, seconds)) and (end := _around(found, seconds, seconds))
        ]
        if both:
            yield Growth(
                kind,
                len(both),
                _medians([(third[0], end[0]) for third, end in both]),
                _medians([(third[1], end[1]) for third, end in both]),
                max(end[0] - third[0] for third, end in both),
                max(end[1] - third[1] for third, end in both),
            )


def _around(samples: Sequence[Sample], at: float, whole: float) -> tuple[int, int] | None:
    near = [one for one in samples if abs(one.seconds - at) <= whole * _AROUND]
    return (min(one.descriptors for one in near), min(one.private for one in near)) if near else None


def _medians(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def size_of(path: str) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def left_over(root: str) -> list[str]:
    """Files under a folder that only somebody who is writing has."""
    return [
        os.path.join(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith((".tmp", "-journal")) or ".broken-" in name or os.path.basename(folder) == "live"
    ]


def marked(mark: str) -> list[str]:
    """Processes that were started in an environment with a mark, as ``PID: command``; not this one."""
    found = []
    wanted = f"{MARK}={mark}".encode()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            if wanted in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                words = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(f"{name}: {words[:200]}")
        except OSError:
            continue
    return found


class Load:
    """How many cores this process and all that it started have used since the last look."""

    def __init__(self) -> None:
        self._ticks, self._at = _ticks(), time.monotonic()

    def look(self) -> float:
        """Cores in use since the last call."""
        ticks, at = _ticks(), time.monotonic()
        used, seconds = ticks - self._ticks, at - self._at
        self._ticks, self._at = ticks, at
        return max(used, 0) / _TICKS / seconds


def _ticks() -> int:
    """Of all processes that are there, with what those used that have ended and were waited for."""
    found = 0
    for pid in tree(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found += sum(map(int, fields[11:15]))
    return found
