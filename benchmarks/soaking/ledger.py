"""What the soak has captured: outputs that tell by themselves what they must be, and whether the store has them so."""

import hashlib
import itertools
import json
import os
import random
import re
import threading
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, NamedTuple

NAME = re.compile(r"soak-\d{6}")
_LINE = "{number:06d} of {name}: the quick brown fox jumps over the lazy dog\n"
_ERR_LINES = 3
_RECENT = 200
_SIZES = (5, 200, 200, 200, 2_000)  # lines; fewer than some 125 are short enough for a reply without a ref
_TOLD = 20


class Made(NamedTuple):
    """One capture.

    Attributes:
        name: stands in its command and in each line of its output.
        lines: of its first stream.
        err: lines of its err stream.
        ref: as it was announced; empty where it was not.
    """

    name: str
    lines: int
    err: int
    ref: str = ""

    @property
    def text(self) -> str:
        """What its first stream must hold."""
        return lines_of(self.name, 1, self.lines)

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of all that it must hold."""
        texts = [self.text, lines_of(f"{self.name} err", 1, self.err)]
        return {str(at): hashlib.sha256(text.encode()).hexdigest() for at, text in enumerate(texts) if text}

    def command(self, pauses: int = 0, seconds: float = 0.0) -> str:
        """The shell's command that writes it, its lines in as many parts and one more, with pauses between."""
        shown = _LINE.replace("{number:06d}", "%06.0f")
        words = f"seq -f '{shown.format(name=self.name).rstrip()}'"
        step = self.lines // (pauses + 1)
        ends = [*(step * part for part in range(1, pauses + 1)), self.lines]
        parts = [f"{words} {first + 1} {last}" for first, last in itertools.pairwise([0, *ends])]
        told = f"seq -f '{shown.format(name=self.name + ' err').rstrip()}' {self.err} >&2; " if self.err else ""
        return told + f"; sleep {seconds:.2f}; ".join(parts)


def lines_of(name: str, first: int, last: int) -> str:
    """Lines of an output; the output of a name has no lines in common with that of another."""
    return "".join(_LINE.format(number=number, name=name) for number in range(first, last + 1))


class Ledger:
    """All that was made, and all that was wrong; threads share it."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._recent = deque[Made](maxlen=_RECENT)
        self.made = dict[str, Made]()
        self.done = Counter[str]()
        self.wrong = Counter[str]()
        self.replies = Counter[str]()
        self.seen_late = 0

    def new(self, *, long: bool = False) -> Made:
        """A capture that is about to be made."""
        with self._lock:
            name = f"soak-{next(self._numbers):06d}"
        return Made(name, random.choice(_SIZES[1:] if long else _SIZES), random.choice((0, 0, _ERR_LINES)))

    def keep(self, made: Made, ref: str) -> None:
        """One that has ended well; an announced ref must lead to its bytes now, or to what is left of it."""
        made = made._replace(ref=ref)
        with self._lock:
            self.made[made.name] = made
            if ref and made.lines > 1:
                self._recent.append(made)
        if ref:
            self._look(made)

    def count(self, what: str) -> None:
        """Something was done."""
        with self._lock:
            self.done[what] += 1

    def replied(self, session: str) -> None:
        """An agent was given a reply, which its session's log must have."""
        with self._lock:
            self.replies[session] += 1

    def fault(self, what: str, told: object) -> None:
        """Something is wrong; the first of them are printed."""
        with self._lock:
            self.wrong[what] += 1
            if sum(self.wrong.values()) <= _TOLD:
                print(f"  ! {what}: {str(told)[:600]}", flush=True)

    def recent(self) -> Made | None:
        """One whose ref was announced not long ago; it may have been evicted meanwhile."""
        with self._lock:
            return random.choice(self._recent) if self._recent else None

    def is_gone(self, ref: str) -> bool:
        """Whether a buffer was evicted or removed."""
        return os.path.exists(os.path.join(self._root, "tombstones", ref[1:] + ".json"))

    def _look(self, made: Made) -> None:
        folder = os.path.join(self._root, "buffers", made.ref[1:])
        try:
            with open(os.path.join(folder, "part.0" if made.ref.startswith("@tool") else "out")) as file:
                if file.read() != made.text:
                    self.fault("wrong bytes", made)
        except FileNotFoundError:
            if not self.is_gone(made.ref):
                self.fault("lost", made)
            self.seen_late += 1

    def reconcile(self) -> int:
        """Look for everything on disk once all is quiet; how many of the records that are there nobody announced."""
        found = dict[str, dict[str, Any]]()
        for record in _records(self._root):
            if named := NAME.search(record["command"]):
                if named[0] in found:
                    self.fault("twice", record["command"])
                found[named[0]] = record
        for name, made in self.made.items():
            held = found.pop(name, None)
            if held is None:
                self.fault("lost", made)
                continue
            kept = sorted(stream["sha256"] for stream in held["streams"].values())
            if held["state"] not in ("sealed", "evicted"):
                self.fault("torn", held)
            elif kept != sorted(made.hashes.values()):
                self.fault("wrong bytes", held)
            elif held["state"] == "sealed":
                self._look(made._replace(ref="@" + held["name"]))
        return len(found)

    def unlogged(self) -> int:
        """Replies that do not stand in the log of views."""
        missing = 0
        for session, count in self.replies.items():
            with open(os.path.join(self._root, "audit", session + ".jsonl")) as file:
                missing += max(0, count - sum(json.loads(line)["kind"] == "view" for line in file))
        return missing


def _records(root: str) -> Iterator[dict[str, Any]]:
    for name in os.listdir(os.path.join(root, "buffers")):
        with open(os.path.join(root, "buffers", name, "meta.json")) as file:
            yield json.load(file)
    for name in os.listdir(os.path.join(root, "tombstones")):
        with open(os.path.join(root, "tombstones", name)) as file:
            yield json.load(file)
