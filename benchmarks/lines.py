"""Reading: line N of a buffer of 10,000,000 lines, and memory while doing so."""

import os
import random
import statistics
import time

from benchmarks.capture import write_log
from benchmarks.measure import Row, ms
from sightline.store import Store


def rows(folder: str, scale: float) -> list[Row]:
    """Random lines of a large buffer, each through a reader that is open, and through one opened for it."""
    data = os.path.join(folder, "data.log")
    write_log(data, int((1 << 30) * scale))
    with Store(os.path.join(folder, "store")) as store:
        recording = store.begin("cmd", "log", folder, "bench")
        with open(data, "rb") as file:
            while block := file.read(1 << 18):
                recording.append("out", block)
        target = store.resolve(recording.seal(exit_code=0).ref)
        total = target.buffer.stream("out").lines
        numbers = random.Random(7).sample(range(1, total - 50), 300)
        with store.open(target) as reader:
            warm = [_timed(lambda n=n: list(reader.lines(n, n + 49))) for n in numbers]
        cold = [_timed(lambda n=n: _opened(store, target, n)) for n in numbers]
    what = f"50 lines from line N of {total:,}"
    return [
        Row(f"{what}, reader open: median, ms", ms(statistics.median(warm)), "", statistics.median(warm) * 1000, 2.0),
        Row(f"{what}, reader open: worst, ms", ms(max(warm)), "", max(warm) * 1000, None),
        Row(f"{what}, opened for it: median, ms", ms(statistics.median(cold)), "", statistics.median(cold) * 1000, 2.0),
    ]


def _opened(store: Store, target: object, number: int) -> None:
    with store.open(target) as reader:  # type: ignore[arg-type]
        list(reader.lines(number, number + 49))


def _timed(call: object) -> float:
    began = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - began
