"""Sharing: 32 processes that capture 50 small commands each into one store."""

import os
import subprocess
import sys
import time

from benchmarks.measure import Row
from sightline.store import Store

PROCESSES = 32
_WORKER = (
    "import sys\n"
    "from sightline.store import Store\n"
    "from sightline.capture.command import CommandCapture\n"
    "with Store(sys.argv[1]) as store:\n"
    "    for n in range(int(sys.argv[2])):\n"
    "        text = f'{sys.argv[3]}-{n}'\n"
    "        words, session = ['echo', text], 'w' + sys.argv[3]\n"
    "        captured = CommandCapture(store, words, command='echo ' + text, session=session).run()\n"
    "        assert captured.buffer, captured.unkept\n"
)


def rows(folder: str, scale: float) -> list[Row]:
    """How many of the captures are there afterwards, and what each cost."""
    root = os.path.join(folder, "store")
    each = max(int(50 * scale), 2)
    began = time.perf_counter()
    workers = [
        subprocess.Popen([sys.executable, "-c", _WORKER, root, str(each), str(n)], stderr=subprocess.PIPE)
        for n in range(PROCESSES)
    ]
    told = [worker.communicate()[1].decode() for worker in workers]
    seconds = time.perf_counter() - began
    errors = [text for text in told if text]
    if errors:
        print(errors[0])
    with Store(root) as store:
        found = [item.buffer for item in store.listed(10 * PROCESSES * each)]
        whole = sum(buffer.state == "sealed" and buffer.bytes > 0 for buffer in found)
    lost = PROCESSES * each - len({buffer.command for buffer in found if buffer.state == "sealed"})
    return [
        Row(
            f"{PROCESSES} × {each} captures: lost or torn",
            str(lost + len(found) - whole),
            "",
            lost + len(found) - whole,
            0,
        ),
        Row("workers that failed", str(len(errors)), "", len(errors), 0),
        Row(
            "one capture, ms",
            f"{seconds / PROCESSES / each * 1000:.1f} ms",
            "",
            seconds / PROCESSES / each * 1000,
            None,
        ),
    ]
