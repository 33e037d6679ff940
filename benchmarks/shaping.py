"""Shaping: a log after a failure beside one search of it for the same words, a small output, the rules, memory."""

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from benchmarks.measure import Row, mib, ms, run
from sightline.base.profile import DEFAULT
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.judge import Judge
from sightline.shape.memory_stream import BytesSource
from sightline.shape.source import BLOCK_BYTES, Source
from sightline.shape.summary import summary
from sightline.store import Store, Target
from sightline.verbs.structured_view import shape_output

ROUNDS = 3
MEGABYTE = 1_000_000
PIECE = 200 * MEGABYTE
_CATALOGUE = (
    "import time\n"
    "from sightline.shape.failure.catalogue import built_in\n"
    "began = time.process_time(); built_in(); print(time.process_time() - began)"
)


def log_lines(size: int) -> Iterator[bytes]:
    """Lines of a long build and its tests, about so many bytes in all: one in a thousand is an error, one in a hundred
    only speaks of errors; a third hold a random number."""
    pick = random.Random(7)
    number = 0
    while size > 0:
        number += 1
        at = pick.random()
        if at < 0.001:
            line = b"src/module_%d.c:%d:%d: error: expected ';' before 'return'\n" % (
                number % 97,
                number % 999,
                number % 80,
            )
        elif at < 0.011:
            line = b"test errors::error_is_raised_in_case_%d ... ok\n" % number
        elif at < 0.35:
            line = b"2026-03-05T12:%02d:%02d.%03d INFO request %08x took %d ms, status 200\n" % (
                *(number // 60 % 60, number % 60, number % 1000, pick.getrandbits(32), number % 300),
            )
        elif at < 0.7:
            line = b"[%d/90000] Compiling module_%d with -O2 -Wall -Iinclude -c src/module_%d.c\n" % (
                *(number, number % 977, number % 977),
            )
        else:
            line = b"test unit::module_%d::case_%d_of_a_longer_name ... ok\n" % (number % 300, number)
        size -= len(line)
        yield line


def shaped(out: Source, err: Source) -> None:
    """All that a reply to a failed command needs: the summary, and the view."""
    examination = Examination(out, err, "make check")
    summary(out, err, exit_code=2, examination=examination)
    shape_output(DEFAULT, out, err, budget=8192, failed=True, examination=examination)


def searched(source: Source, judge: Judge) -> int:
    """One pass over the same blocks for the same literals, and nothing more; how many times they stand there."""
    found = 0
    for _, block in source.blocks():
        for text, literals in ((block.lower(), judge.stems), (block, judge.literals)):
            for literal in literals:
                position = text.find(literal)
                while position >= 0:
                    found += 1
                    position = text.find(literal, position + len(literal))
    return found


def rows(folder: str, scale: float) -> list[Row]:
    """A log of 200 MB, one of 100 kB, what recognises tools, and the memory that 1 GB takes."""
    root = os.path.join(folder, "store")
    for size in (sizes := [int(1000 * MEGABYTE * scale), int(200 * MEGABYTE * scale)]):
        run(_calling("keep", root, size))
    with Store(root) as store:
        refs = {item.buffer.label: item.buffer.ref for item in store.listed(len(sizes))}
    huge, large = (refs[str(size)] for size in sizes)
    with Store(root) as store:
        return [*_speed(store, large), *_small(), *_rules(), *_memory(root, huge, sizes[0])]


def _calling(name: str, *arguments: object) -> list[str]:
    """A process that calls one of this module's functions."""
    words = ", ".join(map(repr, arguments))
    return [sys.executable, "-c", f"from benchmarks.shaping import {name}; {name}({words})"]


def keep(root: str, size: int) -> None:
    """Keep a log of about so many bytes, which are its label; one larger than a piece says the same again."""
    with Store(root) as store:
        recording = store.begin("cmd", "make check", "/", "bench", label=str(size))
        data = b"".join(log_lines(min(size, PIECE)))
        for start in range(0, size, BLOCK_BYTES):  # as a command's output comes
            at = start % len(data)
            recording.append("out", data[at : at + min(BLOCK_BYTES, size - start)])
        recording.seal(exit_code=2)


def _speed(store: Store, ref: str) -> list[Row]:
    buffer = store.resolve(ref).buffer
    with store.open(Target(buffer, "out")) as out, store.open(Target(buffer, "err")) as err:
        judge = Examination(out, err, "make check").judge
        ours, floor = _in_turn(lambda: shaped(out, err), lambda: searched(out, judge))
        size = out.byte_count / MEGABYTE
    what = f"{size:,.0f} MB after a failure"
    beside = f"one search for the same words {size / floor:,.0f} MB/s"
    return [
        Row(f"{what}, ms of CPU per MB (16.7 are 60 MB/s)", f"{size / ours:,.0f} MB/s", "", 1000 * ours / size, 16.7),
        Row(f"{what}, beside one search", f"{size / ours:,.0f} MB/s", beside, ours / floor, 2.0),
    ]


def _small() -> list[Row]:
    data = b"".join(log_lines(100_000))
    (took,) = _in_turn(lambda: shaped(BytesSource(data, "@cmd_a1b2c3"), BytesSource(b"")), rounds=20)
    return [Row("100 kB after a failure, ms of CPU", ms(took), "", took * 1000, 15.0)]


def _rules() -> list[Row]:
    def once() -> float:
        return float(subprocess.run([sys.executable, "-c", _CATALOGUE], capture_output=True, check=True).stdout)

    took = statistics.median([once() for _ in range(9)])
    return [Row("what recognises each tool, loaded in a new process, ms", ms(took), "", took * 1000, 5.0)]


def _memory(root: str, ref: str, size: int) -> list[Row]:
    told = subprocess.run(_calling("show", root, ref), capture_output=True, check=True, text=True).stdout.split()
    before, after = map(int, told)
    what = f"{size / MEGABYTE:,.0f} MB after a failure, peak memory over that before, MiB"
    more = after - before
    return [Row(what, mib(more), f"the process before {mib(before)}", more / (1 << 20), 100.0)]


def show(root: str, ref: str) -> None:
    """Shape a buffer in this process, and print the most memory that it took before and after, in bytes."""
    with Store(root) as store:
        buffer = store.resolve(ref).buffer
        with store.open(Target(buffer, "out")) as out, store.open(Target(buffer, "err")) as err:
            before = _peak_bytes()
            shaped(out, err)
            print(before, _peak_bytes())


def _peak_bytes() -> int:
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return int(status.read().partition("VmHWM:")[2].split()[0]) << 10
    except FileNotFoundError:  # what else there is counts what the process that began this one took, too
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _in_turn(*calls: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Median seconds of CPU of each, run in turn; the first round is not counted."""
    took: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):
        for call, times in zip(calls, took, strict=True):
            began = time.process_time()
            call()
            times.append(time.process_time() - began)
    return [statistics.median(times[1:]) for times in took]
