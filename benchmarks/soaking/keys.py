"""Random keys in the inspector while its store changes under it: captures, removals, `gc`, a removed store, resizes.

Run it by ``python -m benchmarks soak-keys --minutes 10 --seed 7``. A seed always types the same keys and does the same
deeds; when each meets the other is up to the machine.
"""

import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence

from textual import events
from textual.app import App
from textual.pilot import Pilot

from sightline.base.errors import SightlineError
from sightline.base.records import Session
from sightline.disk.recording import Recording
from sightline.light.named_tuple import NamedTuple
from sightline.log.retention import collect, remove
from sightline.settings.config import Settings
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.head_line import render_text
from sightline.verbs.query import query
from sightline.verbs.requests import QueryRequest
from sightline_tui.app import InspectorApp
from sightline_tui.asking.answers import bar_call

KEYS = (
    *"abcdefghijklmnorstuvwxyzABCDEFGHIJKLMNRSTUVWXYZ0123456789",  # P and O leave for other programs
    *("up", "down", "left", "right", "pageup", "pagedown", "home", "end", "tab", "shift+tab", "space", "backspace"),
    *("enter", "enter", "enter", "escape", "escape", "escape", "ctrl+p", "ctrl+d", "ctrl+u"),
    *("slash", "colon", "question_mark", "exclamation_mark", "percent_sign", "dollar_sign", "circumflex_accent"),
    *("left_square_bracket", "right_square_bracket", "less_than_sign", "greater_than_sign", "ampersand", "q"),
)
_CHARACTERS = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "exclamation_mark": "!",
    "percent_sign": "%",
    "space": " ",
    "dollar_sign": "$",
    "circumflex_accent": "^",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "ampersand": "&",
}
SIZES = ((60, 20), (80, 24), (120, 35), (200, 60), (24, 6))
_KEYS_A_TURN = 8
_MOST_BUFFERS = 200
_LINES = (
    b"compiling part %d\n",
    b"ERROR: part %d is missing\n",
    b"\x1b[31mwarning\x1b[0m %d\r\n",
    b'{"n": %d}\n',
    b"%d\xff\n",
)


class Typed(NamedTuple):
    """What a soak came to.

    Attributes:
        keys: how many were typed.
        deeds: how often each was done.
        opened: how often the inspector was opened.
        private: private memory of the process in bytes, as time went on.
        blocks: number of blocks of memory that Python's objects took at the same times. Private memory also holds what
            the allocator keeps after a peak, and so goes up in steps; blocks tell whether anything is held for ever.
    """

    keys: int
    deeds: Counter[str]
    opened: int
    private: list[int]
    blocks: list[int]


class KeySoak:
    """Types, and does deeds, as a seed says."""

    def __init__(self, folder: str, seed: int, *, stores_go: bool = True) -> None:
        self._root = os.path.join(folder, "store")
        self._random = random.Random(seed)
        self._deeds: list[Callable[[], None]] = [self._capture] * 12 + [self._begin, self._end, self._ask] * 3
        self._deeds += [self._remove, self._remove, self._gc] + ([self._remove_store] if stores_go else [])
        self._running: list[Recording] = []
        self._store = Store(self._root, Settings(max_buffers=_MOST_BUFFERS))
        self._number = 0
        self.done = Typed(0, Counter(), 0, [], [])

    def run(self, goes_on: Callable[[Typed], bool]) -> Typed:
        """Go on as long as is said; whatever the inspector raises is raised."""
        for _ in range(3):
            self._capture()
        try:
            while goes_on(self.done):
                asyncio.run(self._open(goes_on))  # a loop each: threads of one that goes on would keep what has ended
        finally:
            self._store.close()
        return self.done

    async def _open(self, goes_on: Callable[[Typed], bool]) -> None:
        self.done = self.done._replace(opened=self.done.opened + 1)
        with Store(self._root, Settings(max_buffers=_MOST_BUFFERS)) as shown:
            app = InspectorApp(shown, live=True)
            async with app.run_test(size=self._random.choice(SIZES), notifications=True) as pilot:
                await self._in(app, pilot, goes_on)

    async def _in(self, app: "App[None]", pilot: "Pilot[None]", goes_on: Callable[[Typed], bool]) -> None:
        while goes_on(self.done) and app.is_running and app.return_code is None:
            for _ in range(_KEYS_A_TURN):
                key = self._random.choice(KEYS)
                app.post_message(events.Key(key, _CHARACTERS.get(key, key if len(key) == 1 else None)))
            self.done = self.done._replace(keys=self.done.keys + _KEYS_A_TURN)
            if self._random.random() < 0.1:
                await pilot.resize_terminal(*self._random.choice(SIZES))
                self.done.deeds["resize"] += 1
            deed = self._random.choice(self._deeds)
            self.done.deeds[deed.__name__.strip("_")] += 1
            try:
                await asyncio.to_thread(deed)
            except (SightlineError, OSError):
                self.done.deeds["refused"] += 1  # what was meant has gone, with the store or before
            await pilot.pause()
            if self._number % 25 == 0:
                self.done.private.append(private_bytes())
                self.done.blocks.append(sys.getallocatedblocks())

    # deeds

    def _recording(self) -> Recording:
        self._number += 1
        cwd, session = self._random.choice(("/tmp", "/")), f"agent-{self._number % 3}"
        recording = self._store.begin("cmd", f"make part-{self._number} && echo done", cwd, session)
        recording.register()
        self._write(recording)
        return recording

    def _write(self, recording: Recording) -> None:
        line = self._random.choice(_LINES)
        recording.append("out", b"".join(line % number for number in range(self._random.choice((0, 1, 40, 3000)))))
        recording.append("err", b"warning: %d\n" % self._number)

    def _capture(self) -> None:
        self._recording().seal(exit_code=self._random.choice((0, 0, 1, 2, None)))

    def _begin(self) -> None:
        if len(self._running) < 5:
            self._running.append(self._recording())

    def _end(self) -> None:
        if self._running:
            recording = self._running.pop(0)
            self._write(recording)
            recording.seal(exit_code=1)

    def _ask(self) -> None:
        session = Session(f"agent-{self._number % 3}", "claude-code", "", "", "/", time.time())
        asking = Asker(self._store, session, bar_call)
        buffers = self._store.index.listed(20)
        if buffers:
            ref = self._random.choice(buffers).buffer.ref
            deliver(asking, query(asking, QueryRequest(f"head -3 {ref}")), render_text, lambda _: None)

    def _remove(self) -> None:
        there = [one.buffer for one in self._store.index.listed(50) if one.buffer.state == "sealed"]
        if there:
            remove(self._store, [self._random.choice(there)])

    def _gc(self) -> None:
        collect(self._store)

    def _remove_store(self) -> None:
        if self._random.random() < 0.8:
            return  # it is rare
        for recording in self._running:
            recording.discard()
        self._running.clear()
        self._store.close()
        shutil.rmtree(self._root, ignore_errors=True)
        self._store = Store(self._root, Settings(max_buffers=_MOST_BUFFERS))
        self._capture()


def private_bytes() -> int:
    """Private memory of this process; 0 where the system does not tell."""
    try:
        with open("/proc/self/smaps_rollup", encoding="ascii") as file:
            return sum(int(line.split()[1]) << 10 for line in file if line.startswith("Private_"))
    except OSError:
        return 0


def main(words: Sequence[str]) -> int:
    """Type for some minutes; raises what the inspector does."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks soak-keys", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, metavar="M", help="how long (default 10)")
    parser.add_argument("--seed", type=int, default=int(time.time()), metavar="N", help="what is typed (default: new)")
    given = parser.parse_args(words)
    print(f"soak-keys: {given.minutes:g} minutes, seed {given.seed}", flush=True)
    ends = time.monotonic() + given.minutes * 60
    with tempfile.TemporaryDirectory(prefix="sightline-keys-") as folder:
        done = KeySoak(folder, given.seed).run(lambda _: time.monotonic() < ends)
    print(f"{done.keys:,} keys, {done.opened:,} times opened; " + ", ".join(f"{n} {w}" for w, n in done.deeds.items()))
    some = slice(None, None, max(len(done.private) // 8, 1))
    print(f"private memory, MiB: {' → '.join(f'{one >> 20}' for one in done.private[some])}")
    print(f"blocks of objects, thousands: {' → '.join(f'{one // 1000}' for one in done.blocks[some])}")
    print("nothing was raised")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
