"""What `load` measures at one size: of a store by its buffers or bytes, of one buffer by its bytes or views."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

from benchmarks import stores
from benchmarks.measure import SIGHTLINE, Ran, run_with_peak
from benchmarks.screen import first_screen
from sightline.audit.kept_facts import facts_for
from sightline.base.records import Buffer, Session, Shown
from sightline.log.retention import collect
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.list_outputs import list_outputs
from sightline.verbs.read_output import read_output
from sightline.verbs.requests import ListRequest, ReadRequest

_ROUNDS = 9
_GIVE_WAY = 10  # buffers that a measured gc evicts
_LETTERS = "crgtst"  # finds `cargo test`
_READER = Session("load-reader", "claude-code", "load-reader", "bench", "/", 0.0)

Found = dict[str, Ran]
"""By what was done: seconds, the fewest of some rounds, and peak or private memory in bytes, 0 where unknown.

The fewest: a run of so long a time is never alone on its machine, and what matters is how they grow."""


def of_buffers(root: str, count: int) -> Found:
    """Of a store with so many buffers, each shown to someone once."""
    made = Found()
    with Store(root, stores.BOUNDLESS) as store:
        stores.grow(store, count)
        oldest = store.index.least_used(1)[0]
        asking = Asker(store, _READER, lambda verb, **_: verb)
        made["list, in a server"] = _best(lambda: list_outputs(asking, ListRequest()))
        made["read a buffer, in a server"] = _best(lambda: read_output(asking, ReadRequest(oldest.ref)))
    made["list"] = _ran(root, "list")
    made["list --match"] = _ran(root, "list", "--match", "crgo tset")
    made["capture of true"] = _ran(root, "run", "--", "true")
    made["gc, nothing to do"] = _ran(root, "gc")
    made["first screen"] = _shown(root, b"pytest", [])
    made |= _filtered(root)
    made[f"gc of {_GIVE_WAY}"] = _collected(root)
    made["doctor"] = _ran(root, "doctor", rounds=1)
    made["doctor, the index gone"] = _rebuilt(root)
    return made


def of_bytes(root: str, size: int) -> Found:
    """Of a buffer of so many bytes, the only one of its store."""
    made = Found()
    with Store(root, stores.BOUNDLESS) as store:
        began = time.perf_counter()
        buffer = stores.large_buffer(store, size)
        made["capture it"] = Ran(time.perf_counter() - began, 0)
        stores.show_ranges(store, buffer, views=10, ranges=100)
        asking = Asker(store, _READER, lambda verb, **_: verb)
        middle, last = buffer.lines // 2, buffer.lines
        made["read its middle, in a server"] = _best(
            lambda: read_output(asking, ReadRequest(buffer.ref, lines=f"{middle}-{middle + 20}"))
        )
        made["read its end, in a server"] = _best(
            lambda: read_output(asking, ReadRequest(buffer.ref, lines=f"{last - 20}-{last}"))
        )
    made["show its end"] = _ran(root, "show", buffer.ref, "--lines", f"{last - 20}-{last}")
    made["first screen at its middle"] = _shown(root, b"worker-", [f"{buffer.ref}:{middle}-{middle}"])
    made["first screen at its end"] = _shown(root, stores.NEEDLE.encode(), [f"{buffer.ref}:{last}-{last}"])
    made["coverage"] = _ran(root, "coverage", buffer.ref)
    made["query grep -c"] = _ran(root, "query", f"grep -c {stores.NEEDLE} {buffer.ref}", rounds=2)
    made["doctor"] = _ran(root, "doctor", rounds=1)
    return made


def of_views(root: str, count: int, size: int) -> Found:
    """Of a buffer of so many bytes that so many views show a hundred ranges of."""
    made = Found()
    with Store(root, stores.BOUNDLESS) as store:
        buffer = stores.large_buffer(store, size)
        stores.show_ranges(store, buffer, count, ranges=100)
        asking = Asker(store, _READER, lambda verb, **_: verb)
        made["log one more"] = _best(lambda: _log(store, buffer))
        made["read a page, in a server"] = _best(lambda: read_output(asking, ReadRequest(buffer.ref, lines="7-27")))
        made["what was seen, for the list"] = _best(lambda: facts_for(store, [buffer]))
    made["coverage"] = _ran(root, "coverage", buffer.ref)
    made["views"] = _ran(root, "views", buffer.ref)
    made["first screen of the buffer"] = _shown(root, b"worker-", [buffer.ref])
    return made


def of_store(root: str, size: int) -> Found:
    """Of a store of so many bytes in a hundred buffers, which are holes."""
    made = Found()
    with Store(root, stores.BOUNDLESS) as store:
        stores.sparse_buffers(store, 100, size // 100)
    made["list"] = _ran(root, "list")
    made["capture of true"] = _ran(root, "run", "--", "true")
    made["doctor"] = _ran(root, "doctor", rounds=1)
    made[f"gc of {_GIVE_WAY}"] = _collected(root)
    return made


def _best(work: Callable[[], object]) -> Ran:
    """Here, in a process that runs already, as a server does; the first time is not counted."""
    taken = []
    for _ in range(_ROUNDS * 2 + 1):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return Ran(min(taken[1:]), 0)


def _environment(root: str) -> Mapping[str, str]:
    environment = {**os.environ, **stores.LIMITS, "SIGHTLINE_HOME": root, "TERM": "xterm-256color"}
    environment |= {
        "HOME": os.path.dirname(root),
        "SIGHTLINE_SESSION": "load",
    }  # no harness of this machine is looked at
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _ran(root: str, *words: str, rounds: int = _ROUNDS) -> Ran:
    """As a command; where there is more than one round, a first one is not counted."""
    environment = _environment(root)
    runs = [run_with_peak([*SIGHTLINE, *words], environment) for _ in range(rounds + (rounds > 1))][rounds > 1 :]
    return Ran(min(one.seconds for one in runs), max(one.peak_bytes for one in runs))


def _rebuilt(root: str) -> Ran:
    """From the buffers' folders and the audit files alone; every buffer must be back."""
    with Store(root, stores.BOUNDLESS) as store:
        before, index = store.index.totals().buffers, store.layout.index
    os.remove(index)
    for beside in ("-wal", "-shm"):  # SQLite's, gone with the last process that had it open
        with contextlib.suppress(FileNotFoundError):
            os.remove(index + beside)
    ran = _ran(root, "doctor", rounds=1)
    with Store(root, stores.BOUNDLESS) as store:
        after = store.index.totals().buffers
    if after != before:
        raise RuntimeError(f"of {before:,} buffers, the index has {after:,} again")
    return ran


def _shown(root: str, text: bytes, words: list[str]) -> Ran:
    screens = [first_screen([*SIGHTLINE, *words], text, _environment(root)) for _ in range(_ROUNDS + 1)][1:]
    return Ran(min(one.seconds for one in screens), max(one.private_bytes for one in screens))


def _collected(root: str) -> Ran:
    """A gc under limits that are lower by some buffers, in a process that runs already."""
    taken = []
    for _ in range(_ROUNDS + 1):
        with Store(root, stores.BOUNDLESS) as store:
            store.access.settings = store.settings._replace(max_buffers=store.index.totals().buffers - _GIVE_WAY)
            began = time.perf_counter()
            collected = collect(store)
            taken.append(time.perf_counter() - began)
            if len(collected.evicted) < _GIVE_WAY:
                raise RuntimeError(f"gc evicted no more than {len(collected.evicted)}")
    return Ran(min(taken[1:]), 0)


def _filtered(root: str) -> Found:
    """In a process of its own, whose memory is told apart."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.filtering", root], cwd=here, capture_output=True, check=True, text=True
    )
    first, everything, read, private = json.loads(told.stdout)
    return {
        "filter: a letter, the first it finds": Ran(first, 0),
        "filter: a letter, all it finds": Ran(everything, 0),
        "filter: all titles read": Ran(read, private),
    }


def _log(store: Store, buffer: Buffer) -> None:
    shows = Shows("read_output", {"ref": buffer.ref}, (buffer.name,), (Shown(buffer.name, "out", 1, 20),))
    record_view(store, _READER, shows, [Segment("x\n")])
