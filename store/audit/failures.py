"""What failed in a buffer, and which of it stood in no view: the overlooked failures.

A failure is what a tool names once (a test may be told of in several places), or a region of lines without a name. It
was seen when any line that tells of it stood in a view.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from sightline.store.audit.coverage import Coverage, StreamCoverage
from sightline.store.audit.covering import coverage_of
from sightline.store.audit.spans import Spans, common, spans_of
from sightline.store.errors import SightlineError
from sightline.store.records import Buffer
from sightline.store.refs import format_ref
from sightline.store.shape.failure.examine import Examination
from sightline.store.shape.failure.judge import ECHO, WORD
from sightline.store.shape.failure.naming import last_part
from sightline.store.shape.failure.regions import Region, regions_of
from sightline.store.shape.memory import BytesSource
from sightline.store.store import Store, Target

QUICK_BYTES = 16 << 20
"""Up to here a buffer is examined in about a second or less, in the worst case."""

_KEY = "failures/3"  # another number whenever the same bytes would be judged in another way
_READERS = frozenset(
    ("cat", "head", "tail", "sed", "awk", "less", "more", "bat", "find", "fd", "ls", "tree", "git", "jq", "wc", "sort")
)
_SEARCHERS = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "diff", "cmp"))
"""Programs that show what others wrote: words of failure in what they print are nobody's failure, if they went well.

To a searcher, 1 is an answer.
"""

_SILENT = frozenset(("cd", "pushd", "popd", "export", "set", "source", ".", ":", "true", "echo", "printf", "sleep"))
_WRAPPERS = frozenset(("sudo", "time", "command", "env", "nice", "nohup", "exec"))
_JOINTS = re.compile(r"&&|\|\||[;\n]")
_ASSIGNMENT = re.compile(r"\w+=")


class Place(NamedTuple):
    """Where a failure is told of.

    Attributes:
        stream: its name.
        first: first line, 1-based.
        last: last line, inclusive.
        telling: the lines among these that tell of it.
        spots: of long ones among them, (line, first byte, last byte) of what tells, bytes from 1.
    """

    stream: str
    first: int
    last: int
    telling: Spans
    spots: tuple[tuple[int, int, int], ...] = ()

    def is_seen(self, coverage: StreamCoverage) -> bool:
        """Whether a line that tells of it stood in a view, whole or with what tells."""
        if common(self.telling, coverage.seen):
            return True
        return any(coverage.shows(line, (first, last)) for line, first, last in self.spots)


class Failure(NamedTuple):
    """Something that failed.

    Attributes:
        name: such as a test's; empty where nothing names it.
        at: where it happened, such as ``src/x.py:12``; empty where that is not said.
        text: its first telling line.
        places: where it is told of, in order.
    """

    name: str
    at: str
    text: str
    places: tuple[Place, ...]

    def ref(self, buffer: str) -> str:
        """Where one reads of it first: ``@cmd_a1b2c3.err:12-20``."""
        place = self.places[0]
        return format_ref(buffer, place.stream, place.first, place.last)

    def is_seen(self, coverage: Coverage) -> bool:
        """Whether any line that tells of it stood in a view; of a line that was cut, whether what tells did."""
        return any(place.is_seen(stream) for place in self.places if (stream := coverage.streams.get(place.stream)))


class Overlooked(NamedTuple):
    """A failure that stood in no view."""

    buffer: Buffer
    failure: Failure

    @property
    def ref(self) -> str:
        """The lines that nobody was shown."""
        return self.failure.ref(self.buffer.name)


def failures_of(store: Store, buffer: Buffer) -> tuple[Failure, ...]:
    """What failed in a buffer, in order; of one that has ended found once, and then kept in the index.

    Nothing for a file, and nothing where the output neither failed nor says that anything did.

    Raises:
        ExpiredRef, StoreFailed: its bytes are gone.
    """
    if buffer.kind == "file" or not buffer.bytes:
        return ()
    final = buffer.state in ("sealed", "interrupted")
    kept = store.index.derived(buffer.name, _KEY) if final else None
    if kept is not None:
        return tuple(_read(row) for row in json.loads(kept))
    found = _examine(store, buffer)
    if final:
        store.index.put_derived(buffer.name, _KEY, json.dumps(found, ensure_ascii=False))
    return found


def failures_if_quick(store: Store, buffer: Buffer) -> tuple[Failure, ...] | None:
    """What failed in a buffer, where that is known or found in a moment; None for a large one not examined yet.

    Raises as `failures_of`.
    """
    if buffer.bytes > QUICK_BYTES and buffer.kind != "file" and store.index.derived(buffer.name, _KEY) is None:
        return None
    return failures_of(store, buffer)


def overlooked_in(store: Store, buffer: Buffer, coverage: Coverage) -> list[Failure]:
    """The failures of a buffer that stood in no view of a coverage. Raises as `failures_of`."""
    return [failure for failure in failures_of(store, buffer) if not failure.is_seen(coverage)]


def overlooked(store: Store, buffers: Iterable[Buffer], *, session: str | None = None) -> list[Overlooked]:
    """The failures of some buffers that stood in no view; of a buffer that is gone nothing is known."""
    found = []
    for buffer in buffers:
        if buffer.state == "evicted":
            continue
        try:
            if failures_of(store, buffer):
                coverage = coverage_of(store, buffer, session=session)
                found += [Overlooked(buffer, failure) for failure in overlooked_in(store, buffer, coverage)]
        except SightlineError:
            continue
    return found


def _read(row: list[Any]) -> Failure:
    name, at, text, places = row
    made = [
        Place(
            stream,
            first,
            last,
            spans_of((start, end) for start, end in telling),
            tuple((line, begin, stop) for line, begin, stop in spots),
        )
        for stream, first, last, telling, spots in places
    ]
    return Failure(name, at, text, tuple(made))


def _examine(store: Store, buffer: Buffer) -> tuple[Failure, ...]:
    names = [("out", "err")] if buffer.kind == "cmd" else [(stream, "") for stream in buffer.streams]
    found: list[tuple[str, Region, str]] = []
    for pair in names:
        found += _regions(store, buffer, *pair)
    return tuple(_grouped(found))


def _regions(store: Store, buffer: Buffer, first: str, second: str) -> list[tuple[str, Region, str]]:
    """(stream, region, its first telling line) of two streams of one command, or of one block of a result."""
    if second == "" and store.pretty_facts(Target(buffer, first)):
        return []  # data
    with store.open(Target(buffer, first)) as out, store.open(Target(buffer, second or first)) as other:
        err = other if second else BytesSource(b"")
        examination = Examination(out, err, buffer.command)
        if not _has_failed(buffer, examination):
            return []
        rows = []
        for stream, source in ((first, out), (second, err)):
            for region in regions_of(examination, source) if stream else ():
                line = next(iter(source.lines(region.telling[0][0], region.telling[0][0])), None)
                text = examination.judge.text(line.data) if line else ""
                rows.append((stream, region, " ".join(text.split())[:200]))
        return rows


def _has_failed(buffer: Buffer, examination: Examination) -> bool:
    """Whether it failed, or says that something did; what only shows what others wrote speaks for those."""
    programs = _programs(buffer.command)
    only_shows = bool(programs) and programs <= _READERS | _SEARCHERS
    if only_shows and programs & _SEARCHERS and buffer.exit_code in (0, 1):
        return False
    return buffer.failed or (not only_shows and examination.says_failed)


def _programs(command: str) -> set[str]:
    """The programs that a command line runs one after the other, as far as its words tell; of a pipe the first."""
    found = set()
    for part in _JOINTS.split(command):
        words = [word for word in part.strip("(){} \t").split() if not _ASSIGNMENT.match(word)]
        name = next((word for word in words if word not in _WRAPPERS), "").rpartition("/")[2]
        if name and name not in _SILENT:
            found.add(name)
    return found


def _counting(found: list[tuple[str, Region, str]]) -> list[tuple[str, Region, str]]:
    """The regions that tell of a failure: a tool's own where it has any, then the general; echoes only alone."""
    strong = [row for row in found if row[1].rank < ECHO]
    ruled = [row for row in strong if row[1].by_rule]
    return ruled or strong or [row for row in found if row[1].rank <= WORD]


def _grouped(found: list[tuple[str, Region, str]]) -> list[Failure]:
    """Regions that name the same thing as one failure; what has no name, by itself.

    Those that do not count by themselves still tell of what is named in one that does.
    """
    made: list[Failure] = []
    named: dict[str, list[int]] = {}
    counting = _counting(found)
    count = len(counting)
    others = [row for row in found if row[1].name and row[1].rank >= ECHO] if count < len(found) else []
    for nth, row in enumerate((*counting, *others)):
        stream, region, text = row
        place = Place(stream, region.first, region.last, spans_of(region.telling), region.spots)
        alike = named.setdefault(last_part(region.name), []) if region.name else []
        known = next((at for at in alike if _same(made[at].name, region.name)), None)
        if known is not None:
            made[known] = _joined(made[known], region, place)
        elif nth < count:
            alike.append(len(made))
            made.append(Failure(region.name, region.place, text, (place,)))
    return made


def _joined(failure: Failure, region: Region, place: Place) -> Failure:
    name = max(failure.name, region.name, key=len)
    return failure._replace(name=name, at=failure.at or region.place, places=(*failure.places, place))


def _same(a: str, b: str) -> bool:
    """Whether two names are one: the shorter is how the longer ends."""
    short, long = sorted((a.strip(), b.strip()), key=len)
    return long.endswith(short) and (len(long) == len(short) or not long[-len(short) - 1].isalnum())
