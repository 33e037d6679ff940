"""The inspector's first screen on a large buffer, beside a stock Textual app: header, list, log and footer."""

import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from fcntl import ioctl
from typing import NamedTuple

from benchmarks.capture import write_log
from benchmarks.measure import SIGHTLINE, Row, mib, ms
from benchmarks.terminal import private_bytes
from sightline.store import Store

_ROWS, _COLUMNS = 48, 160
_GIVE_UP_SECONDS = 30
_STOCK = """
from textual.app import App
from textual.containers import Horizontal
from textual.widgets import Footer, Header, Log, OptionList

class Stock(App):
    def compose(self):
        yield Header()
        with Horizontal():  # beside each other: under each other, the list leaves the log no row
            yield OptionList(*[f"@cmd_{n:06x} command {n}" for n in range(50)])
            yield Log()
        yield Footer()

    def on_mount(self):
        self.query_one(Log).write_lines([f"line {n} request done" for n in range(100)])

Stock().run()
"""


class Screen(NamedTuple):
    """One start: seconds until a text was on the screen, and the private memory then, in bytes."""

    seconds: float
    private_bytes: int


def rows(folder: str, scale: float) -> list[Row]:
    """First screen and private memory, on buffers of 1 MB and of 1 GB."""
    large, small = _make_store(folder, scale)
    environment = {**os.environ, "SIGHTLINE_HOME": os.path.join(folder, "store"), "TERM": "xterm-256color"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    cases = {
        "stock": ([sys.executable, "-c", _STOCK], b"request"),
        "small": ([*SIGHTLINE, small], b"worker-3"),
        "large": ([*SIGHTLINE, large], b"worker-3"),
    }
    found: dict[str, list[Screen]] = {name: [] for name in cases}
    for at in range(max(3, int(9 * scale)) + 1):
        for name, (command, text) in cases.items():
            screen = first_screen(command, text, environment)
            if at:
                found[name].append(screen)
    wall = {name: statistics.median(screen.seconds for screen in screens) for name, screens in found.items()}
    memory = {name: statistics.median(screen.private_bytes for screen in screens) for name, screens in found.items()}
    floor = f"stock Textual app {ms(wall['stock'])}"
    return [
        Row("inspector on 1 MB: first screen", ms(wall["small"]), floor, wall["small"] / wall["stock"], 1.10),
        Row("inspector on 1 GB: first screen", ms(wall["large"]), floor, wall["large"] / wall["stock"], 1.10),
        Row(
            "inspector on 1 GB: memory above it, MiB",
            mib(memory["large"]),
            f"stock Textual app {mib(memory['stock'])}",
            (memory["large"] - memory["stock"]) / (1 << 20),
            25,
        ),
    ]


def _make_store(folder: str, scale: float) -> tuple[str, str]:
    data = os.path.join(folder, "data.log")
    write_log(data, int((1 << 30) * scale))
    with Store(os.path.join(folder, "store")) as store:
        refs = []
        for limit in (1 << 30, 1 << 20):
            recording = store.begin("cmd", f"a log of {limit >> 20} MiB", folder, "bench")
            written = 0
            with open(data, "rb") as file:
                while written < limit and (block := file.read(1 << 18)):
                    recording.append("out", block)
                    written += len(block)
            refs.append(recording.seal(exit_code=0).ref)
    return refs[0], refs[1]


def first_screen(command: Sequence[str], text: bytes, environment: Mapping[str, str]) -> Screen:
    """Start a program on a terminal of its own and wait until it has written a text. Raises TimeoutError."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    began = time.perf_counter()
    child = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    try:
        seen = b""
        while text not in seen:
            if not select.select([ours], [], [], _GIVE_UP_SECONDS)[0]:
                raise TimeoutError(f"{command[-1]} has not shown {text!r}")
            seen = seen[-4096:] + os.read(ours, 1 << 16)
        return Screen(time.perf_counter() - began, private_bytes(child.pid))
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        os.close(ours)
