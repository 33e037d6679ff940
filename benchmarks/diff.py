"""Comparing two outputs as the diff screen does, beside GNU diff on the same files."""

import os
import random
import statistics
import time
from collections.abc import Callable

from benchmarks.measure import Row, ms, run
from sightline.search.diff.comparison import compare
from sightline.search.diff.engines import Ignore
from sightline.search.diff.sides import open_side
from sightline.search.diff.word_diff import inline
from sightline.settings.config import Settings
from sightline.store import Store, Target

ROUNDS = 7
_CHANGED = 50  # one line of so many
_MASK = r"s/\x1b\[[0-9;]*m//g; s/[0-9]+/0/g"


def rows(folder: str, scale: float) -> list[Row]:
    """100,000 lines of which every 50th differs; the same with all times and numbers different; the worst case."""
    count = max(int(100_000 * scale), 1_000)
    logs = {name: _log(count, *seeds) for name, seeds in {"a": (1, 0), "b": (1, 2), "c": (2, 2)}.items()}
    with Store(os.path.join(folder, "store"), Settings(max_bytes=8 << 30)) as store:
        targets = {name: _captured(store, folder, data) for name, data in logs.items()}
        paths = {name: store.path(target) for name, target in targets.items()}
        whole = _interleaved(
            ours=lambda: _compared(store, targets["a"], targets["b"], Ignore()),
            floor=lambda: _gnu("diff -a -U0 {a} {b} > /dev/null", paths),
        )
        masked = _interleaved(
            ours=lambda: _compared(store, targets["a"], targets["c"], Ignore(volatile=True)),
            floor=lambda: _gnu(
                f"bash -c \"diff -a -U0 <(sed -E '{_MASK}' {{a}}) <(sed -E '{_MASK}' {{c}})\" > /dev/null", paths
            ),
        )
        noisy = _interleaved(
            ours=lambda: _compared(store, targets["a"], targets["c"], Ignore()),
            floor=lambda: _gnu("diff -a -U0 {a} {c} > /dev/null", paths),
        )
    left, right = (logs[name].splitlines()[7].decode() for name in ("a", "c"))
    pair = statistics.median(_timed(lambda: inline(left, right)) for _ in range(300))
    return [
        _row(f"compare {count:,} lines, 2 % changed", "GNU diff", whole, 1.5),
        _row(f"compare {count:,} lines, all changed", "GNU diff", noisy, 1.5),
        _row(f"compare {count:,} lines but for numbers and times", "sed | GNU diff", masked, None),
        Row("changes within a pair of lines, ms", ms(pair), "", pair * 1000, 0.2),
    ]


def _log(count: int, seed: int, changed: int) -> bytes:
    """Lines of about 100 bytes: times and ids differ by the seed, every 50th word by whether it changed."""
    chance, told = random.Random(seed), []
    for number in range(count):
        level = "WARN" if changed and number % _CHANGED == 0 else "INFO"
        at = (
            f"{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{chance.randrange(60):02d}.{chance.randrange(1000):03d}"
        )
        told.append(
            f"2026-01-{seed:02d}T{at}Z {level} [worker-{number % 7}] request step_{number} "
            f"id={chance.getrandbits(32):08x} took {chance.random() * 90:.3f} ms\n"
        )
    return "".join(told).encode()


def _captured(store: Store, folder: str, data: bytes) -> Target:
    recording = store.begin("cmd", "log", folder, "bench")
    recording.append("out", data)
    return store.resolve(recording.seal(exit_code=0).ref)


def _compared(store: Store, left: Target, right: Target, ignore: Ignore) -> float:
    def whole() -> None:
        with open_side(store, left) as one, open_side(store, right) as other:
            assert compare(one, other, ignore).hunks

    return _timed(whole)


def _gnu(script: str, paths: dict[str, str]) -> float:
    return run(["sh", "-c", script.format(**paths) + "; true"]).seconds


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _interleaved(**cases: Callable[[], float]) -> dict[str, float]:
    """The median of each, taken in turn; a first round is not counted."""
    found: dict[str, list[float]] = {name: [] for name in cases}
    for at in range(ROUNDS + 1):
        for name, case in cases.items():
            seconds = case()
            if at:
                found[name].append(seconds)
    return {name: statistics.median(times) for name, times in found.items()}


def _row(what: str, floor: str, found: dict[str, float], aim: float | None) -> Row:
    return Row(what, ms(found["ours"]), f"{floor} {ms(found['floor'])}", found["ours"] / found["floor"], aim)
