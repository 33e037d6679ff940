"""Finds transcripts at a path, and where harnesses keep theirs, and tells which harness wrote one."""

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise

from sightline.harnesses import known
from sightline.harnesses.base import Harness
from sightline.harnesses.transcript import Candidate, Lineage, NotReadable, Transcript, TranscriptReading
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple

_HEAD_BYTES = 1 << 16
_LINES_LOOKED_AT = 20
_LINES = ".jsonl"  # how names of transcripts of lines end; others repeat nobody's history


class TranscriptSource(NamedTuple):
    """A transcript that was found.

    Attributes:
        path: path of the file; for Roo Code, of a folder.
        size: bytes.
        stamp: changes with the file: size, time of the last change in ns, inode.
        written: when it was last changed, seconds since the epoch.
    """

    path: str
    size: int
    stamp: tuple[int, int, int]
    written: float


def transcribing() -> list[Harness]:
    """Return the harnesses whose past sessions can be read."""
    return [one for one in known().values() if one.reader]


def find_sources(path: str) -> Iterator[TranscriptSource]:
    """Yield the transcripts at a path: itself, or all below it. Links below it are not followed."""
    if not os.path.isdir(path):
        yield from _source(path)
        return
    endings = tuple(ending for one in transcribing() for ending in one.endings)
    for folder, folders, names in os.walk(path):
        folders.sort()
        if harness := _of_folder(folder):
            yield from _folder_source(folder, [name for name in names if harness.transcripts().is_part(name)])
            continue
        for name in sorted(names):
            whole = os.path.join(folder, name)
            if name.endswith(endings) and not os.path.islink(whole) and os.path.isfile(whole):
                yield from _source(whole)


def _source(path: str) -> Iterator[TranscriptSource]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise NotReadable(f"{path}: {error.strerror or error}", "name a transcript, or a folder with some") from error
    size, changed = status.st_size, status.st_mtime_ns
    if path.endswith(".db"):
        try:
            log = os.stat(path + "-wal")  # the last changes may be only there
            size, changed = size + log.st_size, max(changed, log.st_mtime_ns)
        except OSError:
            pass
    yield TranscriptSource(path, size, (size, changed, status.st_ino), changed / 1e9)


def _of_folder(folder: str) -> Harness | None:
    """Return the harness for which a folder is one transcript."""
    name = os.path.basename(folder)
    return next((one for one in transcribing() if name and one.transcript_folder == name), None)


def _folder_source(folder: str, names: list[str]) -> Iterator[TranscriptSource]:
    found = [os.lstat(os.path.join(folder, name)) for name in names]
    if found:
        size, changed = sum(one.st_size for one in found), max(one.st_mtime_ns for one in found)
        yield TranscriptSource(folder, size, (size, changed, len(found)), changed / 1e9)


def open_reading(source: TranscriptSource) -> TranscriptReading | None:
    """Open a reading of a transcript from its beginning; None for an unknown format.

    Raises:
        NotReadable: the transcript cannot be read.
    """
    if os.path.isdir(source.path):
        harness = _of_folder(source.path)
        folder: TranscriptReading | None = harness.transcripts().FolderReading(source.path) if harness else None
        return folder
    transcript = Transcript(source.path)
    try:
        head = transcript.head(_HEAD_BYTES)
        file = Candidate(source.path, source.written, transcript, head, list(_records(head)))
        readings = (one.transcripts().reading_of(file) for one in transcribing() if not one.transcript_folder)
        reading: TranscriptReading | None = next((one for one in readings if one is not None), None)
    except BaseException:
        transcript.close()
        raise
    if reading is None:
        transcript.close()
    return reading


def lineage_of(source: TranscriptSource) -> tuple[Harness, Lineage] | None:
    """Return whose transcript a file is, and whose history it may repeat; None if its harness does not say that.

    Only its first lines are read, since that is done for all files before an import.
    """
    if not source.path.endswith(_LINES):
        return None
    try:
        with open(source.path, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None  # whoever opens it for reading says so
    for harness in transcribing():
        read = getattr(harness.transcripts(), "lineage_of", None)
        if read and (found := read(_records(head))):
            return harness, found
    return None


def reading_order(sources: Iterable[TranscriptSource]) -> list[TranscriptSource]:
    """Return transcripts, newest first, but each after those whose history it may repeat.

    Forked, resumed and spawned sessions begin with the calls of others, which belong to the session that made them. Of
    those that share a beginning, and do not say which copied it, the smallest was copied.
    """
    newest = sorted(sources, key=lambda source: source.written, reverse=True)
    of_session, of_beginning = dict[tuple[str, str], list[int]](), dict[tuple[str, str], list[int]]()
    parents = list[list[tuple[str, str]]]()
    for place, source in enumerate(newest):
        found = lineage_of(source)
        parents.append([(found[0].name, one) for one in found[1].parents] if found else [])
        if found:
            harness, lineage = found[0].name, found[1]
            of_session.setdefault((harness, lineage.session), []).append(place)
            if lineage.beginning:
                of_beginning.setdefault((harness, lineage.beginning), []).append(place)
    before = [[other for key in keys for other in of_session.get(key, ())] for keys in parents]
    for group in of_beginning.values():
        by_size = sorted(group, key=lambda place: newest[place].size)
        for smaller, larger in pairwise(by_size):
            if smaller not in before[larger] and larger not in before[smaller]:
                before[larger].append(smaller)
    return [newest[place] for place in _after(before)]


def _after(before: list[list[int]]) -> list[int]:
    """Return places in order, each behind those before it; circles, which no harness makes, are cut somewhere."""
    ordered, met = list[int](), set[int]()
    for start in range(len(before)):
        stack = [(start, False)]
        while stack:
            place, is_next = stack.pop()
            if is_next:
                ordered.append(place)
            elif place not in met:
                met.add(place)
                stack.append((place, True))
                stack += ((one, False) for one in reversed(before[place]))
    return ordered


def _records(head: bytes) -> Iterator[dict[str, object]]:
    for line in head.split(b"\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]:
        try:
            record = loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


class UsualPlace(NamedTuple):
    """A place where a harness keeps its transcripts: its title, and a folder or file."""

    name: str
    path: str


def usual_places() -> list[UsualPlace]:
    """Return the places that exist on this machine."""
    home = os.environ.get("HOME", "") or os.path.expanduser("~")
    places = (UsualPlace(one.title, path) for one in transcribing() for path in one.transcript_places(home, os.environ))
    return [place for place in places if os.path.exists(place.path)]
