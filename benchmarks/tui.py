"""The inspector in a real terminal, beside less, vim, lnav and toolong where they are installed, on the same file."""

import os
import random
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from benchmarks.measure import SIGHTLINE, Row, mib, ms
from benchmarks.terminal import GIVE_UP_SECONDS, NotShown, Terminal
from benchmarks.viewers import OURS, PEERS, Keys, Viewer, filled, installed
from sightline.base.records import StreamInfo
from sightline.settings.config import Settings
from sightline.store import Store

LINE_BYTES = 100
NEEDLE = "XQ-NEEDLE-7731"
ROUNDS = 3
PAGES = 40
APPENDS = 20
PRESS_SECONDS = 0.1  # between two tries
FILTERED = "crgtst"  # finds `cargo test`
_COMMANDS = ("cargo build --release", "pytest -q tests", "git log --oneline", "grep -rn TODO src", "npm run lint")


class Asked(NamedTuple):
    """What is measured of a viewer on the large file, and the most that it should take."""

    what: str
    name: str
    aim_ms: float | None


ASKED = (
    Asked("first screen", "first", None),
    Asked("last line", "end", 30),
    Asked("the line in the middle", "goto", 30),
    Asked("a rare string at 99 %", "find", 300),
    Asked("page down, median", "page", 12),
    Asked("page down, worst", "worst", None),
)


def rows(folder: str, scale: float) -> list[Row]:
    """Places in a large file, memory, what is appended, one huge line, and the filter of a large store."""
    if not shutil.which("tmux"):
        print("  tmux is not installed: nothing can be driven")
        return []
    environment = _environment(folder)
    lines = int(10_000_000 * scale)
    log, ref = _large_log(folder, lines)
    peers = installed()
    beside = ", ".join(peer.name for peer in peers) or "nothing"
    print(f"  beside {beside}; {lines:,} lines; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    found: dict[tuple[str, str], list[float]] = {}
    with Terminal(environment) as terminal:
        for _ in range(max(1, round(ROUNDS * scale)) if scale < 1 else ROUNDS):
            for viewer in (OURS, *peers):
                for name, value in _places(terminal, viewer, ref if viewer is OURS else log, lines).items():
                    found.setdefault((viewer.name, name), []).append(value)
        for viewer, file in (
            (OURS, _long_line(folder, scale)[1]),
            *((peer, _long_line(folder, scale)[0]) for peer in peers),
        ):
            _note(found, viewer, "long", partial(_first, terminal, viewer, file, '"value"'))
        for viewer in (OURS, *peers):
            if viewer.follow:
                appended = _appended_to_us(terminal, folder) if viewer is OURS else _appended(terminal, viewer, folder)
                found[viewer.name, "append"] = appended
        keystrokes, held = _keystrokes(terminal, folder, int(100_000 * scale))
    return [
        *(_row(found, asked.what + ", ms", asked.name, asked.aim_ms) for asked in ASKED),
        _row(found, "private memory after that, MiB", "memory", 60, mib, 1 / (1 << 20)),
        _row(found, "first screen of one line of 50 MB, ms", "long", None),
        _row(found, "from written to visible, median of 20, ms", "append", 25),
        *_keystroke_rows(keystrokes, held, int(100_000 * scale)),
    ]


def _environment(folder: str) -> dict[str, str]:
    environment = {**os.environ, "SIGHTLINE_HOME": os.path.join(folder, "store"), "TERM": "xterm-256color"}
    environment |= {"HOME": folder, "LESSHISTFILE": "-", "SIGHTLINE_MAX_BYTES": "8 GiB"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _row(
    found: dict[tuple[str, str], list[float]],
    what: str,
    name: str,
    aim: float | None,
    show: Callable[[float], str] = ms,
    unit: float = 1000.0,
) -> Row:
    """Ours against its aim, and what the others take."""
    ours = statistics.median(found.get((OURS.name, name)) or [float("nan")])
    others = [
        f"{peer.name} {show(statistics.median(values))}" for peer in PEERS if (values := found.get((peer.name, name)))
    ]
    return Row(what, show(ours), " · ".join(others), ours * unit, aim)


def _note(found: dict[tuple[str, str], list[float]], viewer: Viewer, name: str, measure: Callable[[], float]) -> None:
    try:
        found.setdefault((viewer.name, name), []).append(measure())
    except NotShown:
        print(f"  {viewer.name}: {name} never came", flush=True)


# places in a large file


def _line(number: int, lines: int) -> bytes:
    rest = NEEDLE if number == lines - lines // 100 else "request done in 12 ms, 4096 bytes sent"
    text = f"2026-01-02T03:04:05.678Z n={number:010d} INFO  [worker-{number % 7}] {rest}"
    return text.ljust(LINE_BYTES - 1).encode() + b"\n"


def _large_log(folder: str, lines: int) -> tuple[str, str]:
    """A file, and the ref of a buffer that holds the same."""
    path = os.path.join(folder, "large.log")
    with open(path, "wb", buffering=1 << 20) as file:
        file.writelines(_line(number, lines) for number in range(1, lines + 1))
    return path, _captured(folder, path)


def _captured(folder: str, path: str) -> str:
    with Store(os.path.join(folder, "store"), Settings(max_bytes=8 << 30)) as store, open(path, "rb") as file:
        recording = store.begin("cmd", f"cat {os.path.basename(path)}", folder, "bench")
        while block := file.read(1 << 18):
            recording.append("out", block)
        return recording.seal(exit_code=0).ref


def _first(terminal: Terminal, viewer: Viewer, file: str, text: str) -> float:
    began = terminal.start(filled(viewer.command, file))
    return terminal.wait(lambda screen: text in screen, began)


def _places(terminal: Terminal, viewer: Viewer, file: str, lines: int) -> dict[str, float]:
    """Seconds from a key to what it leads to, and bytes of memory at the end; without what never came."""
    found = dict[str, float]()

    def measure(name: str, keys: Keys, value: object, line: int) -> None:
        if not keys:
            return
        try:
            # The line is looked for, not what was typed: that stands on the screen before anything is found.
            since = terminal.keys(*filled(keys, value))
            found[name] = _pressed(terminal, viewer.again if name == "find" else (), line, since)
        except NotShown:
            print(f"  {viewer.name}: {name} never came", flush=True)
        terminal.settled(time.perf_counter())

    try:
        began = terminal.start(filled(viewer.command, file))
        found["first"] = terminal.wait(lambda screen: "INFO  [worker-" in screen, began)
        terminal.settled(time.perf_counter(), 20.0)
        _pressed(terminal, viewer.top, 1, time.perf_counter())  # some open at the end
        terminal.settled(time.perf_counter(), 20.0)
        found |= _pages(terminal, viewer)
        measure("goto", viewer.goto, lines // 2, lines // 2 + 1)  # some have that line at the top, counted from 0
        measure("end", viewer.end, "", lines)
        _pressed(terminal, viewer.top, 1, time.perf_counter())
        terminal.settled(time.perf_counter())
        measure("find", viewer.find, NEEDLE, lines - lines // 100)
        found["memory"] = terminal.private_bytes()
    except NotShown as error:
        print(f"  {viewer.name} shows nothing: {str(error)[:200]}", flush=True)
    terminal.stop()
    return found


def _shows(number: int) -> Callable[[str], bool]:
    return lambda screen: f"n={number:010d}" in screen


def _pressed(terminal: Terminal, keys: Keys, line: int, since: float) -> float:
    """Press keys until a line is there: some heed them only when they have read it all. Raises NotShown."""
    while True:
        terminal.keys(*keys)
        try:
            return terminal.wait(_shows(line), since, time.perf_counter() - since + PRESS_SECONDS)
        except NotShown:
            if time.perf_counter() - since > GIVE_UP_SECONDS:
                raise


def _pages(terminal: Terminal, viewer: Viewer) -> dict[str, float]:
    taken = []
    for _ in range(PAGES):
        before = terminal.screen()
        taken.append(terminal.changed(terminal.keys(*viewer.page), before))
        terminal.settled(time.perf_counter(), quiet=0.05)
    return {"page": statistics.median(taken), "worst": max(taken)}


def _long_line(folder: str, scale: float) -> tuple[str, str]:
    """A file of one line, and the ref of a buffer that holds it."""
    path = os.path.join(folder, "long.log")
    with open(path, "wb") as file:
        file.write(b'{"id": 7, "name": "value"}, ' * int(50_000_000 * scale / 28))
    return path, _captured(folder, path)


# what is appended


def _appended(terminal: Terminal, viewer: Viewer, folder: str) -> list[float]:
    """Seconds from a write to a file until its line is on the screen."""
    path = os.path.join(folder, "growing.log")
    with open(path, "wb", buffering=0) as file:
        file.writelines(_line(number, 10_000) for number in range(1, 1_001))
        began = terminal.start(filled(viewer.follow, path))
        try:
            terminal.wait(lambda screen: "worker-" in screen, began)
            terminal.settled(time.perf_counter())
            terminal.keys("End")
            terminal.settled(time.perf_counter())
            return _appends(terminal, file.write)
        except NotShown:
            print(f"  {viewer.name} does not follow", flush=True)
            return []
        finally:
            terminal.stop()


def _appended_to_us(terminal: Terminal, folder: str) -> list[float]:
    """The same through a command that is being captured."""
    environment = _environment(folder)
    child = subprocess.Popen(
        [*SIGHTLINE, "run", "--quiet", "--", "cat"],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert child.stdin

    def write(data: bytes) -> None:
        assert child.stdin
        child.stdin.write(data)
        child.stdin.flush()

    try:
        write(b"".join(_line(number, 10_000) for number in range(1, 1_001)))
        began = terminal.start([*SIGHTLINE])
        terminal.wait(lambda screen: "n=0000001000" in screen, began)
        terminal.settled(time.perf_counter())
        return _appends(terminal, write)
    finally:
        terminal.stop()
        child.stdin.close()
        child.wait()


def _appends(terminal: Terminal, write: Callable[[bytes], object]) -> list[float]:
    chance, taken = random.Random(7), []
    for number in range(APPENDS):
        time.sleep(0.2 + chance.random() / 3)  # at no fixed distance from anyone's polling
        mark = f"APPENDED-{number:04d}"

        def shown(screen: str, mark: str = mark) -> bool:
            return mark in screen

        since = time.perf_counter()
        write(f"2026-01-02T03:04:05.678Z INFO  {mark} end\n".encode())
        taken.append(terminal.wait(shown, since, 5.0))
    return taken


# the filter


class Keystroke(NamedTuple):
    """Seconds from a letter typed into the filter until it is on the screen, what it finds at once with it.

    Attributes:
        first: to the first change: the letter, and the rows among the first thousands that it leaves.
        last: to the last change: all have been looked at, and the output of the best is shown.
    """

    first: float
    last: float


def _keystrokes(terminal: Terminal, folder: str, count: int) -> tuple[list[Keystroke], float]:
    """What each of some letters takes in a large store, and bytes of memory after the last."""
    home = os.path.join(folder, "many")
    with Store(home, Settings(max_buffers=count + 10)) as store, store.index.transaction():
        _fill(store, count)
    environment = {**_environment(folder), "SIGHTLINE_HOME": home, "SIGHTLINE_MAX_BUFFERS": str(count + 10)}
    words = [f"{name}={environment[name]}" for name in ("SIGHTLINE_HOME", "SIGHTLINE_MAX_BUFFERS")]
    began = terminal.start(["env", *words, *SIGHTLINE])
    try:
        terminal.wait(lambda screen: "npm run lint" in screen or "pytest -q" in screen, began)
        terminal.settled(time.perf_counter(), 20.0)
        since = terminal.keys("/", "e")  # has it read the titles of all of them, each of which has one
        terminal.wait(lambda screen: f"{count + 1:,} matches " in screen, since)
        terminal.settled(time.perf_counter(), 10.0)
        terminal.keys("BSpace")
        terminal.settled(time.perf_counter(), 10.0)
        return [_keystroke(terminal, letter) for letter in FILTERED], terminal.private_bytes()
    finally:
        terminal.stop()


def _keystroke(terminal: Terminal, letter: str) -> Keystroke:
    before, since = terminal.screen(), terminal.keys(letter)
    first = terminal.changed(since, before)
    return Keystroke(first, max(first, terminal.settled(since)))


def _fill(store: Store, count: int) -> None:
    """Records of commands that look as those of real ones do; the filter looks at nothing else."""
    recording = store.begin("cmd", "cargo test --workspace", "/home/ada/project", "bench")
    recording.append("out", b"ok\n")
    one = recording.seal(exit_code=0)
    for number in range(count):
        command = f"{_COMMANDS[number % len(_COMMANDS)]} --seed {number:06d} src/module_{number % 977}"
        streams = {"out": StreamInfo(1 << 10, 20)}
        store.index.put_buffer(one._replace(name=f"cmd_{number + (1 << 24):08x}", command=command, streams=streams))


def _keystroke_rows(taken: list[Keystroke], held: float, count: int) -> list[Row]:
    what = f"a letter in the filter of {count:,} buffers"
    firsts, lasts = [stroke.first for stroke in taken], [stroke.last for stroke in taken]
    first, last = statistics.median(firsts), statistics.median(lasts)
    return [
        Row(f"{what}, with the first it finds: median, ms", ms(first), f"worst {ms(max(firsts))}", first * 1000, 16),
        Row(f"{what}, with all it finds: median, ms", ms(last), f"worst {ms(max(lasts))}", last * 1000, None),
        Row(f"private memory with {count:,} buffers filtered, MiB", mib(held), "", held / (1 << 20), 60),
    ]
