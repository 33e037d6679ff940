"""Coverage: of a gigabyte that 500 views showed lines of, and of what a pipeline made of it."""

import os
import random
import sys

from benchmarks.measure import Row, mib, ms, run_with_peak
from sightline.base.records import Buffer, Session, Shown
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store

VIEWS, RANGES = 500, 100
SESSION = Session("bench", "shell", "", "", "/", 0.0)
_COVER = (
    "import sys, time\n"
    "from sightline.audit.buffer_coverage import coverage_of\n"
    "from sightline.store import Store\n"
    "with Store(sys.argv[1]) as store:\n"
    "    buffer = store.resolve(sys.argv[2]).buffer\n"
    "    made = coverage_of(store, buffer, session=sys.argv[3] or None)\n"
    "    assert made.seen_lines >= int(sys.argv[4]), made.seen_lines\n"
)
_NOTHING = (
    "import sys\n"
    "from sightline.audit import buffer_coverage\n"
    "from sightline.store import Store\n"
    "with Store(sys.argv[1]) as store:\n"
    "    store.resolve(sys.argv[2])\n"
)


def rows(folder: str, scale: float) -> list[Row]:
    """A process that works the coverage out: from stored ranges, and from texts in which lines must be recognised."""
    root = os.path.join(folder, "store")
    with Store(root) as store:
        buffer = _capture(store, folder, int((1 << 30) * scale))
        total = buffer.stream("out").lines
        chosen = random.Random(7)
        for _ in range(VIEWS):
            firsts = [chosen.randint(1, total - 20) for _ in range(RANGES)]
            _view(store, buffer, "stored", tuple(Shown(buffer.name, "out", first, first + 19) for first in firsts))
        lines = sorted(chosen.sample(range(1, total + 1), 100))
        text = "".join(f"{_line(number)}\n" for number in reversed(lines))
        _view(store, buffer, "matched", (), pipeline=f"sort -R {buffer.ref}", text=text)
        _view(
            store, buffer, "ordered", (), pipeline=f"awk 1 {buffer.ref}", text="".join(f"{_line(n)}\n" for n in lines)
        )
    begin = run_with_peak((sys.executable, "-c", _NOTHING, root, buffer.ref))
    stored = run_with_peak((sys.executable, "-c", _COVER, root, buffer.ref, "stored", "1000"))
    matched = run_with_peak((sys.executable, "-c", _COVER, root, buffer.ref, "matched", "100"))
    ordered = run_with_peak((sys.executable, "-c", _COVER, root, buffer.ref, "ordered", "100"))
    again = run_with_peak((sys.executable, "-c", _COVER, root, buffer.ref, "matched", "100"))
    what = f"{mib(buffer.bytes)}, {total:,} lines"
    floor = f"opening it: {ms(begin.seconds)}"
    return [
        Row(f"{what}, {VIEWS} views × {RANGES} ranges, s", ms(stored.seconds), floor, stored.seconds, 2.0),
        Row("the same: peak memory, MB", mib(stored.peak_bytes), mib(begin.peak_bytes), stored.peak_bytes / 1e6, 100),
        Row("100 shuffled lines matched in it, s", ms(matched.seconds), floor, matched.seconds - begin.seconds, 0.8),
        Row("100 lines matched in order, s", ms(ordered.seconds), floor, ordered.seconds - begin.seconds, 0.8),
        Row("matching them: peak memory, MB", mib(ordered.peak_bytes), "", ordered.peak_bytes / 1e6, 100),
        Row("a view that was matched before, s", ms(again.seconds), floor, again.seconds - begin.seconds, 0.1),
    ]


def _line(number: int) -> str:
    return f"{number:010d} GET /basket/{number % 977} 200 {number % 89} ms " + "x" * 60


def _capture(store: Store, folder: str, size: int) -> Buffer:
    recording = store.begin("cmd", "log", folder, "bench")
    recording.register()
    number = 0
    while size > 0:
        block = "".join(f"{_line(one)}\n" for one in range(number + 1, number + 2001)).encode()
        recording.append("out", block)
        size -= len(block)
        number += 2000
    return recording.seal(exit_code=0)


def _view(
    store: Store, buffer: Buffer, session: str, shown: tuple[Shown, ...], *, pipeline: str = "", text: str = ""
) -> None:
    verb, request = ("query", {"pipeline": pipeline}) if pipeline else ("read_output", {"ref": buffer.ref})
    record_view(
        store, SESSION._replace(name=session), Shows(verb, request, (buffer.name,), shown), [Segment(text or "x\n")]
    )
