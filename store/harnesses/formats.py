"""Which format a file is of, told by what is in it, and where each harness keeps its transcripts."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sightline.harnesses.transcript import (
    DocumentReading,
    LineReading,
    NotReadable,
    Reading,
    Transcript,
    dict_of,
)

_HEAD_BYTES = 1 << 16
_LINES_LOOKED_AT = 20
_SQLITE = b"SQLite format 3\0"
_ENDINGS = (".jsonl", ".json", ".traj", ".db")


class Source(NamedTuple):
    """A transcript that was found.

    Attributes:
        path: a file; of Roo Code a folder.
        size: bytes.
        stamp: what changes when it does: size, time of the last change in ns, inode.
        written: when it was last changed, seconds since the epoch.
    """

    path: str
    size: int
    stamp: tuple[int, int, int]
    written: float


def find_sources(path: str) -> Iterator[Source]:
    """The transcripts that a path stands for: itself, or all that lie below it. Links are not followed below it."""
    if not os.path.isdir(path):
        yield from _source(path)
        return
    for folder, folders, names in os.walk(path):
        folders.sort()
        if os.path.basename(folder) == "command-output":
            yield from _roo_source(folder, names)
            continue
        for name in sorted(names):
            whole = os.path.join(folder, name)
            if name.endswith(_ENDINGS) and not os.path.islink(whole) and os.path.isfile(whole):
                yield from _source(whole)


def _source(path: str) -> Iterator[Source]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise NotReadable(f"{path}: {error.strerror or error}", "name a transcript, or a folder with some") from error
    size, changed = status.st_size, status.st_mtime_ns
    if path.endswith(".db"):
        try:
            log = os.stat(path + "-wal")  # what was written last may lie there alone
            size, changed = size + log.st_size, max(changed, log.st_mtime_ns)
        except OSError:
            pass
    yield Source(path, size, (size, changed, status.st_ino), changed / 1e9)


def _roo_source(folder: str, names: list[str]) -> Iterator[Source]:
    from sightline.harnesses.roo import ARTIFACT

    found = [os.lstat(os.path.join(folder, name)) for name in names if ARTIFACT.fullmatch(name)]
    if found:
        size, changed = sum(one.st_size for one in found), max(one.st_mtime_ns for one in found)
        yield Source(folder, size, (size, changed, len(found)), changed / 1e9)


def open_reading(source: Source) -> Reading | None:
    """A reading of a transcript from its beginning; None where it is of no known format.

    Raises:
        NotReadable: it cannot be read.
    """
    if os.path.isdir(source.path):
        from sightline.harnesses.roo import FolderReading

        return FolderReading(source.path)
    transcript = Transcript(source.path)
    try:
        reading = _open(transcript, source)
    except BaseException:
        transcript.close()
        raise
    if reading is None:
        transcript.close()
    return reading


def _open(transcript: Transcript, source: Source) -> Reading | None:
    head = transcript.head(_HEAD_BYTES)
    if head.startswith(_SQLITE):
        from sightline.harnesses.opencode import open_database

        transcript.close()
        return open_database(source.path)
    for line in head.split(b"\n")[:_LINES_LOOKED_AT]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if reading := _of_lines(record, line, transcript, source):
            return reading
    return _of_document(head, transcript, source)


def _of_lines(record: object, line: bytes, transcript: Transcript, source: Source) -> Reading | None:
    """By one whole line of it."""
    fields = dict_of(record)
    if "payload" in fields and "type" in fields:
        from sightline.harnesses import codex

        return LineReading(transcript, codex.Parser(source.path, source.written))
    if "type" in fields and ("sessionId" in fields or "session_id" in fields or "leafUuid" in fields):
        from sightline.harnesses import claude_code

        return LineReading(transcript, claude_code.Parser(source.path, source.written))
    if "sessionId" in fields and "projectHash" in fields:
        from sightline.harnesses import gemini

        parser = gemini.Parser(source.path, source.written)
        if gemini.is_header(line):
            return LineReading(transcript, parser)
        return DocumentReading(transcript, parser.document)
    return None


def _of_document(head: bytes, transcript: Transcript, source: Source) -> Reading | None:
    """By the names that stand at the beginning of a document; a large one is not parsed to tell."""
    start = head.lstrip()[:1]
    if start not in (b"{", b"["):
        return None
    path, written = source.path, source.written
    if b'"projectHash"' in head and b'"sessionId"' in head:
        from sightline.harnesses import gemini

        return DocumentReading(transcript, gemini.Parser(path, written).document)
    from sightline.harnesses import trajectories

    if start == b"{" and b'"trajectory"' in head and path.endswith(".traj"):
        return DocumentReading(transcript, lambda found: trajectories.read_swe_agent(found, path, written))
    mini = b"mini-swe-agent" in head or (path.endswith(".traj.json") and b'"role"' in head)
    tail = b"" if mini else transcript.tail(_HEAD_BYTES)
    if mini or (b'"trajectory_format"' in tail and b"mini-swe-agent" in tail):
        return DocumentReading(transcript, lambda found: trajectories.read_mini(found, path, written))
    if start == b"{" and b'"trajectory"' in head and b'"observation"' in head:
        return DocumentReading(transcript, lambda found: trajectories.read_swe_agent(found, path, written))
    return None


class Place(NamedTuple):
    """Where a harness keeps its transcripts: its name as people know it, and a folder or file."""

    name: str
    path: str


def usual_places(environment: Mapping[str, str] = os.environ) -> list[Place]:
    """The places that are there on this machine."""
    home = environment.get("HOME", "") or os.path.expanduser("~")
    data = environment.get("XDG_DATA_HOME", "") or os.path.join(home, ".local/share")
    settings = environment.get("XDG_CONFIG_HOME", "") or os.path.join(home, ".config")
    places = [
        Place("Claude Code", os.path.join(environment.get("CLAUDE_CONFIG_DIR", "") or f"{home}/.claude", "projects")),
        Place("Codex", os.path.join(environment.get("CODEX_HOME", "") or f"{home}/.codex", "sessions")),
        Place("Codex", os.path.join(environment.get("CODEX_HOME", "") or f"{home}/.codex", "archived_sessions")),
        Place("Gemini CLI", os.path.join(home, ".gemini/tmp")),
        Place("opencode", os.path.join(data, "opencode/opencode.db")),
        Place("mini-swe-agent", os.path.join(settings, "mini-swe-agent")),
        *(
            Place("Roo Code", os.path.join(base, editor, "User/globalStorage/rooveterinaryinc.roo-cline/tasks"))
            for base in (settings, os.path.join(home, "Library/Application Support"))
            for editor in ("Code", "Code - Insiders", "VSCodium", "Cursor")
        ),
        Place(
            "Roo Code", os.path.join(home, ".vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/tasks")
        ),
    ]
    return [place for place in places if os.path.exists(place.path)]
