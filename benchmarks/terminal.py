"""A real terminal to drive programs in: a tmux server of its own, with keys in and the screen out as text."""

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

COLUMNS, ROWS = 160, 48
POLL_SECONDS = 0.001
GIVE_UP_SECONDS = 60.0
QUIET_SECONDS = 0.2  # without a change, a screen is taken for finished


class NotShown(Exception):
    """A text did not come on the screen in time."""


class Terminal:
    """One pane in which one program runs at a time. Use it as a context.

    A client stays connected in control mode, so that looking at the screen costs 0.2 ms and starts no process.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sightline-tmux-")
        self._base = ["tmux", "-S", os.path.join(self._folder.name, "socket"), "-f", os.devnull]
        started = [*self._base, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "sleep 100000"]
        subprocess.run(started, env=dict(environment), check=True)
        for option in ("remain-on-exit on", "status off", "escape-time 0"):
            subprocess.run([*self._base, "set", "-g", *option.split()], check=True)
        self._client = subprocess.Popen(
            [*self._base, "-C", "attach", "-f", "no-output,ignore-size"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._send("display-message -p in-step")
        while self._answer() != ["in-step"]:  # attaching has an answer of its own
            pass

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        subprocess.run([*self._base, "kill-server"], check=False, stderr=subprocess.DEVNULL)
        self._client.wait()
        for pipe in (self._client.stdin, self._client.stdout):
            assert pipe
            pipe.close()
        self._folder.cleanup()

    def _ask(self, command: str) -> list[str]:
        """The lines that tmux answers a command with."""
        self._send(command)
        return self._answer()

    def _send(self, command: str) -> None:
        assert self._client.stdin
        self._client.stdin.write(command.encode() + b"\n")
        self._client.stdin.flush()

    def _answer(self) -> list[str]:
        assert self._client.stdout
        answer: list[str] | None = None
        for raw in self._client.stdout:
            line = raw.decode(errors="replace").rstrip("\n")
            if line.startswith("%begin"):
                answer = [] if line.endswith(_ASKED_FOR) else None
            elif answer is not None:
                if line.startswith(("%end", "%error")):
                    return answer
                answer.append(line)
        raise NotShown("tmux has ended")

    def start(self, command: Sequence[str]) -> float:
        """Run a program instead of the one that runs; the time at which it was started."""
        began = time.perf_counter()
        self._ask(f"respawn-pane -k {shlex.quote('exec ' + shlex.join(command))}")
        return began

    def stop(self) -> None:
        """End the program, whatever it does."""
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            if pid := self.pid():
                os.kill(pid, signal.SIGKILL)

    def keys(self, *keys: str) -> float:
        """Send keys, texts as they stand, others as tmux names them (``Enter``, ``NPage``); the time before that."""
        began = time.perf_counter()
        for key in keys:
            named = len(key) > 1 and (key in _NAMED or key.startswith("C-"))
            self._ask(f"send-keys {'' if named else '-l '}{shlex.quote(key)}")
        return began

    def screen(self) -> str:
        """What stands there now."""
        return "\n".join(self._ask("capture-pane -p"))

    def wait(self, shown: Callable[[str], bool], since: float, seconds: float = GIVE_UP_SECONDS) -> float:
        """Until the screen is as wanted: seconds since a time. Raises NotShown."""
        while True:
            screen = self.screen()
            now = time.perf_counter()
            if shown(screen):
                return now - since
            if now - since > seconds:
                raise NotShown(screen)
            time.sleep(POLL_SECONDS)

    def settled(self, since: float, seconds: float = 5.0, quiet: float = QUIET_SECONDS) -> float:
        """Until nothing has changed for a while: seconds from a time to the last change."""
        screen, last = self.screen(), since
        while time.perf_counter() - max(last, since) < quiet and time.perf_counter() - since < seconds:
            time.sleep(POLL_SECONDS)
            if (now := self.screen()) != screen:
                screen, last = now, time.perf_counter()
        return last - since

    def changed(self, since: float, before: str, seconds: float = 5.0) -> float:
        """Until the screen is not what it was: seconds since a time. Raises NotShown."""
        return self.wait(lambda screen: screen != before, since, seconds)

    def ended(self, seconds: float) -> bool:
        """Wait for the program's end; whether it came."""
        deadline = time.perf_counter() + seconds
        while self._ask("display-message -p '#{pane_dead}'") != ["1"]:
            if time.perf_counter() > deadline:
                return False
            time.sleep(POLL_SECONDS * 10)
        return True

    def private_bytes(self) -> int:
        """Memory that the program and its children have for themselves; 0 where the system does not tell."""
        return sum(map(private_bytes, tree(self.pid())))

    def pid(self) -> int:
        """The program's process; 0 where there is none."""
        return int(next(iter(self._ask("display-message -p '#{pane_pid}'")), "0") or 0)


_ASKED_FOR = " 1"  # tmux carries out commands of its own too, and ends the line that begins their answers with a 0
_NAMED = {"Enter", "Escape", "Space", "NPage", "PPage", "Home", "End", "Tab", "Down", "Up", "BSpace"}


def tree(pid: int) -> list[int]:
    """A process and all that descends from it."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            for thread in os.listdir(f"/proc/{parent}/task"):  # each has those that it started
                found += map(int, Path(f"/proc/{parent}/task/{thread}/children").read_text().split())
    return found


def private_bytes(pid: int) -> int:
    """Memory that a process has for itself; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))
    except (OSError, StopIteration):
        return 0
