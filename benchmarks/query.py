"""Asking a large buffer, beside GNU grep and ripgrep on the raw file; and what a query costs beyond its program."""

import os
import shlex
import time
from functools import partial

from benchmarks.capture import write_log
from benchmarks.measure import SIGHTLINE, Ran, Row, interleaved, median, mib, ms, run
from sightline import run_command
from sightline.base.records import Session
from sightline.search.errors import ProgramMissing
from sightline.search.executables import executable_of
from sightline.settings.config import Settings
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.query import query
from sightline.verbs.requests import QueryRequest

_ROUNDS = 7
_FIXED_AIM_MS = 30.0
_RATIO_AIM = 1.1
_RARE = "status=503"
_QUESTIONS = {
    "a word of one line": f"-c {_RARE}",
    "a word of every line": "-c INFO",
    "a regular expression": "-c 'worker-[0-9] request [0-9]*9 done'",
}


def rows(folder: str, scale: float) -> list[Row]:
    """As a server asks, in a process that runs already, and from the command line; then a large buffer, as a server."""
    small, large = (os.path.join(folder, name) for name in ("small.log", "large.log"))
    write_log(large, int((1 << 30) * scale))
    for path in (small, large):
        with open(path, "a") as file:
            file.write(f"{_RARE}\n")
    home = os.path.join(folder, "store")
    told: list[Row] = []
    with Store(home, Settings(max_bytes=8 << 30)) as store:
        asked = _Asked(store, home, {path: run_command(["cat", path], store=store).ref for path in (small, large)})
        for program, name in (("grep", "GNU grep"), ("rg", "ripgrep")):
            try:
                told += asked.compared(program, name, small, large)
            except ProgramMissing:
                print(f"  ({name} is not installed: left out)")
    return told


class _Asked:
    """Questions about captured outputs: of a file, what a reader must know of its changes is looked up, too."""

    def __init__(self, store: Store, home: str, refs: dict[str, str]) -> None:
        self._asking = Asker(store, Session("benchmark", "shell", "", "", "/", 0.0), lambda verb, **_: verb)
        self._environment = {**os.environ, "SIGHTLINE_HOME": home}
        self._refs = refs
        self._raw = {path: store.path(store.resolve(ref)) for path, ref in refs.items()}

    def compared(self, program: str, name: str, small: str, large: str) -> list[Row]:
        """The fixed cost, then the large buffer without it."""
        first = f"-c {_RARE}"
        found = interleaved(
            _ROUNDS * 3,
            floor=lambda: self._plain(program, first, small),
            ours=lambda: self._queried(program, first, small),
            command=lambda: run([*SIGHTLINE, "query", f"{program} {first} {self._refs[small]}"], self._environment),
        )
        base, fixed, command = (median(found[which]) for which in ("floor", "ours", "command"))
        fixed -= base
        what = f"{program} of one line, beyond {program} itself"
        told = [
            Row(f"{what}, ms", ms(fixed), name, fixed * 1000, _FIXED_AIM_MS),
            Row(f"{what}, as a command, ms", ms(command - base), name, (command - base) * 1000, None),
        ]
        for question, arguments in _QUESTIONS.items():
            found = interleaved(
                _ROUNDS,
                floor=partial(self._plain, program, arguments, large),
                ours=partial(self._queried, program, arguments, large),
            )
            base, ours = (median(found[which]) for which in ("floor", "ours"))
            ratio = (ours - min(fixed, _FIXED_AIM_MS / 1000)) / base
            floor = f"{name} {ms(base)}; the fixed cost is taken off"
            told.append(
                Row(f"{program}, {mib(os.path.getsize(large))}, {question}", ms(ours), floor, ratio, _RATIO_AIM)
            )
        return told

    def _plain(self, program: str, arguments: str, path: str) -> Ran:
        """Into a pipe: where nobody reads, GNU grep stops at the first line it finds."""
        executable = executable_of((program,), held=True).path
        return run(["sh", "-c", f"{shlex.quote(executable)} {arguments} {shlex.quote(self._raw[path])} | cat"])

    def _queried(self, program: str, arguments: str, path: str) -> Ran:
        began = time.perf_counter()
        reply = query(self._asking, QueryRequest(f"{program} {arguments} {self._refs[path]}"))
        seconds = time.perf_counter() - began
        if reply.exit_code:
            raise RuntimeError(f"{program} {arguments} failed: {reply.fields}")
        return Ran(seconds, 0)
