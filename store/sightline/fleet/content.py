"""Turns an item of the queue into rows for the database, and bytes for packs.

Secrets are hidden here, before anything is hashed, if a person has asked for that. A row has a copy of the
record, in which texts are fit for PostgreSQL: it cannot store NUL.
"""

import hashlib
import math
import os
from collections.abc import Callable, Iterator

from sightline.base.errors import SightlineError
from sightline.base.private_files import open_private, open_stored
from sightline.base.records import Buffer, storable
from sightline.base.refs import format_ref
from sightline.fleet.collector import DIRECTORY, PURGED, REMOVED, digest_of
from sightline.fleet.pack import FRAME_BYTES, Frame, Packer, written_hashes
from sightline.fleet.queue import Queue, QueueItem
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any
from sightline.log import log
from sightline.settings.config import Settings
from sightline.store import Store

if TYPE_CHECKING:
    from sightline.settings.config import Redaction

ORDER, LEFT = "order", "left"
"""Names beside those of a buffer's streams: their order, and what is left of a buffer gone before it was shipped."""

FRAME_HASHES = "frame_hashes"
"""Name in a stream's part of a record: the hashes of its frames, if it has several, so that each is read alone."""

_LINE_BYTES = 16 << 20
"""A longer line of a log is withheld."""

_TEXT_CHARACTERS = 1 << 20
"""Longest text of a row; the log has the whole."""

_INDEXED_CHARACTERS = 1 << 15
_LEAST_TIME, _MOST_TIME = -2e9, 2.5e11  # the dates that the database can store
_INT4, _INT8 = (1 << 31) - 1, (1 << 63) - 1


class Damaged(SightlineError):
    """The bytes of a buffer differ from what was captured, or cannot be read."""


class BatchRows(NamedTuple):
    """The rows that one batch announces, by table."""

    buffers: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    sessions: list[dict[str, Any]]
    entries: list[dict[str, Any]]


class _Located(NamedTuple):
    """A row, and the frames that it is to name once these are placed."""

    row: dict[str, Any]
    frames: dict[str, list[Frame]]
    hashes: dict[str, str]


class BatchContent:
    """Collects items for one batch: passes their bytes to a packer, and keeps their rows."""

    def __init__(
        self, store: Store, queue: Queue, packer: Packer, may_ship: Callable[[str], bool], alive: Callable[[], object]
    ) -> None:
        """Start without items.

        Args:
            store: the store that has the items.
            queue: knows where bytes are that were shipped before.
            packer: takes the bytes.
            may_ship: returns whether what ran in a folder is shipped.
            alive: called again and again while something large is read.
        """
        self._store, self._queue, self._packer = store, queue, packer
        self._may_ship, self._alive = may_ship, alive
        self._rows = BatchRows([], [], [], [])
        self._located: list[_Located] = []
        self._left_out = queue.left_out()
        self._known = queue.known()

    def add(self, item: QueueItem) -> None:
        """Add an item; one that is gone meanwhile adds nothing.

        Raises:
            Damaged: its bytes differ from what was captured; the packer must not be used any more.
        """
        if item.kind == "log":
            self._add_log(item)
        elif item.kind == "change":
            self._add_change(item)
        else:
            self._add_buffer(item)

    def finish(self, packs: Callable[[int], str]) -> tuple[BatchRows, list[tuple[str, list[str], list[Any]]]]:
        """Return the rows, after all frames are placed, and where each stream is, for `Queue.put_places`.

        Args:
            packs: returns the SHA-256 of a pack by its number.
        """
        places = []
        for row, frames, hashes in self._located:
            numbers = sorted({frame.pack for found in frames.values() for frame in found})
            local = {number: place for place, number in enumerate(numbers, start=len(row["packs"]))}
            row["packs"] += [packs(number) for number in numbers]
            for stream, found in frames.items():
                row["frames"][stream] = [[local[frame.pack], *_place(frame)] for frame in found]
                if len(found) > 1 and (facts := row["record"]["streams"].get(stream)) is not None:
                    facts[FRAME_HASHES] = written_hashes(found)
                if sha256 := hashes.get(stream):
                    own = sorted({frame.pack for frame in found})
                    at = {number: place for place, number in enumerate(own)}
                    own_frames = [[at[frame.pack], *_place(frame)] for frame in found]
                    places.append((sha256, [packs(number) for number in own], own_frames))
        for row in self._rows.entries:
            frame: Frame = row.pop("frame")[0]
            row |= {"pack": packs(frame.pack), "frame_offset": frame.offset, "frame_bytes": frame.stored}
        return self._rows, places

    # buffers

    def _add_buffer(self, item: QueueItem) -> None:
        buffer = self._store.index.buffer(item.name)
        if buffer is None:
            return  # a person has removed it
        told = self._redaction()
        row = self._row(item, buffer, told)
        frames: dict[str, list[Frame]] = {}
        hashes: dict[str, str] = {}
        if buffer.state == "evicted":
            left = self._store.tombstone(buffer.name) or {}
            data = dumps(told.value(left) if told else left, ensure_ascii=False).encode(errors="surrogatepass")
            frames[LEFT] = self._packer.add_stream([data])
        else:
            is_ordered = not self._store.checked(buffer).is_altered(ORDER)
            for stream in buffer.streams:
                self._add_stream(row, buffer, stream, frames, hashes)
            row["redacted"] = sum(info.get("redacted", 0) for info in row["record"]["streams"].values())
            if {"out", "err"} <= buffer.streams.keys() and not row["redacted"] and is_ordered:
                self._add_order(buffer, frames)
        row["redacted"] += told.count if told else 0
        self._rows.buffers.append(row)
        self._located.append(_Located(row, frames, hashes))

    def _row(self, item: QueueItem, buffer: Buffer, told: "Redaction | None") -> dict[str, Any]:
        record = record_of(buffer, told)
        return {
            "seq": item.seq,
            **{name: record[name] for name in ("name", "kind", "state", "session", "cwd", "label", "partial")},
            "created": row_time(buffer.created),
            "ended": None if buffer.ended is None else row_time(buffer.ended),
            "command": record["command"][:_INDEXED_CHARACTERS],
            "exit_code": _bounded(buffer.exit_code, _INT4),
            "failed": buffer.may_have_failed,
            "bytes": _bounded(buffer.bytes, _INT8),
            "lines": _bounded(buffer.lines, _INT8),
            "record": record,
            "packs": [],
            "frames": {},
            "redacted": 0,
        }

    def _add_stream(
        self,
        row: dict[str, Any],
        buffer: Buffer,
        stream: str,
        frames: dict[str, list[Frame]],
        hashes: dict[str, str],
    ) -> None:
        info = buffer.streams[stream]
        facts = row["record"]["streams"][stream]
        told = self._redaction()
        if told is None and info.sha256 and (place := self._queue.place(info.sha256)):
            packs, found = place
            base = len(row["packs"])
            row["packs"] += packs
            row["frames"][stream] = [[base + number, *rest] for number, *rest in found]
            if known := self._queue.frame_hashes(info.sha256):
                facts[FRAME_HASHES] = known
            return
        captured = hashlib.sha256()
        shipped = hashlib.sha256() if told else captured

        def chunks() -> Iterator[bytes]:
            for chunk in _chunks(self._store.layout.stream(buffer.name, stream), info.bytes, self._alive):
                captured.update(chunk)
                if told is None:
                    yield chunk
                else:
                    hidden = told.feed(stream, chunk)
                    shipped.update(hidden)
                    yield hidden
            for rest in told.finish().values() if told else ():
                shipped.update(rest)
                yield rest

        try:
            frames[stream] = self._packer.add_stream(chunks())
        except OSError as error:
            raise Damaged(f"{format_ref(buffer.name)} ({stream}) cannot be read: {error.strerror}") from error
        if info.sha256 and captured.hexdigest() != info.sha256:
            raise Damaged(
                f"{format_ref(buffer.name)} ({stream}) is not what was captured",
                "`sightline doctor` says more about it",
            )
        if told is None:
            hashes[stream] = captured.hexdigest()
        facts["sha256"] = shipped.hexdigest()
        if told and told.count:
            facts |= {"captured": captured.hexdigest(), "redacted": told.count}

    def _add_order(self, buffer: Buffer, frames: dict[str, list[Frame]]) -> None:
        path = self._store.layout.stream(buffer.name, ORDER)
        try:
            size = os.stat(path).st_size
            frames[ORDER] = self._packer.add_stream(_chunks(path, size, self._alive))
        except OSError:
            return  # an older version kept none

    def _add_change(self, item: QueueItem) -> None:
        known, created = self._known.get(item.name, ("", 0.0))
        buffer = self._store.index.buffer(item.name)
        told = self._redaction()
        if known == PURGED:
            record: dict[str, Any] = {"state": REMOVED, "purge": True}
            digest = PURGED
            left = self._store.tombstone(item.name) or {}
            self._queue.forget_places([info.get("sha256", "") for info in left.get("streams", {}).values()])
        elif buffer is None:
            record = {"state": REMOVED}
            digest = REMOVED
        else:
            fields = ("state", "exit_code", "signal", "timed_out", "label", "pinned", "note")
            record = {field: getattr(buffer, field) for field in fields}
            created, digest = buffer.created, digest_of(buffer)
        record = fit(told.value(record) if told else record)
        row = {"seq": item.seq, "name": item.name, "created": row_time(created), "record": record}
        row["digest"] = f"{digest}.{item.seq}"  # it may change back to what it was
        self._rows.changes.append(row)

    # logs

    def _add_log(self, item: QueueItem) -> None:
        rows: list[dict[str, Any]] = []
        lines: list[bytes] = []
        at = 0
        path = self._store.layout.audit_file(item.name)
        try:
            header = _header(path)
            started = row_time(header.get("started", 0.0))
            is_open = self._may_ship(str(header.get("cwd", "")))
            for line, entry in _lines_of(path, item):
                told = self._redaction()
                kept = entry if is_open and self._may_show(entry, len(line)) else _withheld(entry)
                if kept.get("kind") in _PRIVATE and kept.get("text") and not self._store.settings.fleet.messages:
                    kept = {**kept, "text": None}
                if kept.get("kind") == "usage" and not self._store.settings.fleet.messages:
                    kept = {name: value for name, value in log.emptied(kept).items() if name in kept}
                if told:
                    kept = _hidden(kept, told)
                if kept is not entry:
                    line = _encoded(kept)
                row = self._entry_row(item, kept, started)
                row |= {"redacted": told.count if told else 0, "line_offset": at, "line_bytes": len(line)}
                rows.append(row)
                lines.append(line)
                at += len(line)
                if kept.get("kind") == "session":
                    session = fit(kept["session"])
                    self._rows.sessions.append({"name": fit(item.name), "started": started, "record": session})
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Damaged(
                f"the log of session {item.name} cannot be read", "`sightline doctor` says more about it"
            ) from error
        if rows:
            frames: list[Frame] = []
            self._packer.add(b"".join(lines), frames)
            self._rows.entries.extend({**row, "frame": frames} for row in rows)

    def _may_show(self, entry: dict[str, Any], size: int) -> bool:
        """Return whether a line may be shipped: it is not too large, and is about no excluded folder."""
        if size > _LINE_BYTES:
            return False
        for name in entry.get("refs", ()):
            if self._left_out.get(name, ("", 0))[0] == DIRECTORY:
                return False
            buffer = self._store.index.buffer(name)
            if buffer is not None and not self._may_ship(buffer.cwd):
                return False
        return True

    @staticmethod
    def _entry_row(item: QueueItem, entry: dict[str, Any], started: float) -> dict[str, Any]:
        kind = str(entry.get("kind", ""))
        left = ("text", "salt", *log.TIES) if kind in ("view", *_PRIVATE) else log.TIES
        refs = entry.get("refs", ())
        return {
            "seq": item.seq,
            "session": fit(item.name),
            "number": int(entry["n"]),
            "time": row_time(entry["time"]) if "time" in entry else started,
            "kind": fit(kind),
            "refs": [fit(str(ref)) for ref in refs],
            "record": fit({name: value for name, value in entry.items() if name not in left}),
            "prev": fit(str(entry.get("prev", ""))),
            "hash": fit(str(entry.get("hash", ""))),
        }

    def _redaction(self) -> "Redaction | None":
        return redaction_of(self._store.settings)


def redaction_of(settings: Settings) -> "Redaction | None":
    """Return what hides the secrets of one shipped thing; None if none are hidden."""
    return settings._replace(redact_known=settings.redact_known or settings.fleet.redact_known).redaction()


def record_of(buffer: Buffer, told: "Redaction | None") -> dict[str, Any]:
    """Return a record fit for the database, with its secrets hidden if that is wanted."""
    record = buffer._asdict()
    del record["accessed"], record["seals"]  # what is shipped was compared with the hash, and another place holds it
    record["streams"] = {name: info._asdict() for name, info in buffer.streams.items()}
    record["gaps"] = [list(gap) for gap in buffer.gaps]
    if told:
        for field in ("command", "label", "note", "partial", "artifact"):
            record[field] = told.text(record[field])
    fitting: dict[str, Any] = fit(record)
    return fitting


def hashes_of(rows: BatchRows) -> dict[str, str]:
    """Return the hashes of their frames by the SHA-256 of streams, for `Queue.put_places`."""
    streams = (info for row in rows.buffers for info in row["record"]["streams"].values())
    return {info["sha256"]: info[FRAME_HASHES] for info in streams if info.get(FRAME_HASHES)}


def _place(frame: Frame) -> list[int]:
    return [frame.offset, frame.stored, frame.raw, frame.newlines]


def _chunks(path: str, size: int, alive: Callable[[], object]) -> Iterator[bytes]:
    with open(open_stored(path), "rb", buffering=0) as file:
        while size > 0 and (chunk := file.read(min(size, FRAME_BYTES))):
            size -= len(chunk)
            yield chunk
            alive()


def _header(path: str) -> dict[str, Any]:
    """Return the session in the first line of a log."""
    with open(open_private(path, os.O_RDONLY), "rb") as file:
        return dict(loads(file.readline()).get("session", {}))


def _lines_of(path: str, item: QueueItem) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield the lines of an item with their content, wherever blanking has moved them."""
    with open(open_private(path, os.O_RDONLY), "rb") as file:
        for start in (item.at, 0):
            file.seek(start)
            for line in file:
                try:
                    entry = loads(line)
                    number = entry["n"]
                except (ValueError, KeyError, TypeError):
                    if start:
                        break  # no line begins here any more
                    raise
                if start and number > item.first:
                    break
                if number == item.first:
                    yield line, entry
                    for following in file:
                        entry = loads(following)
                        if entry["n"] > item.last:
                            return
                        yield following, entry
                    return


def _withheld(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what replaces a withheld line: its ties in the chain, and its time."""
    return {"kind": "withheld", **{name: entry[name] for name in ("time", *log.TIES) if name in entry}}


def _hidden(entry: dict[str, Any], told: "Redaction") -> dict[str, Any]:
    """Return an entry with its secrets hidden; the same object if it has none."""
    hidden = {name: told.value(value) if name in _TELLING else value for name, value in entry.items()}
    return {**hidden, "redacted": told.count} if told.count else entry


_PRIVATE = ("message", "prompt", "context", "about")
"""Entries with an agent's or a person's own words, which leave the machine only if a person allows it."""

_TELLING = ("text", "request", "session", "title", "unknown")
"""Members of entries with text that somebody wrote or a program printed; others are places, hashes and numbers."""


def _encoded(entry: dict[str, Any]) -> bytes:
    text = dumps(entry, ensure_ascii=False, compact=True)
    return text.encode(errors="surrogatepass") + b"\n"


def fit(value: Any) -> Any:
    """Make a value fit for the database: no NUL, no half of a surrogate pair, no NaN, no endless text."""
    if isinstance(value, str):
        if value.isascii() and "\0" not in value and len(value) <= _TEXT_CHARACTERS:
            return value
        text = storable(value).replace("\0", "\\x00")
        return text if len(text) <= _TEXT_CHARACTERS else text[:_TEXT_CHARACTERS] + " [… cut]"
    if isinstance(value, dict):
        return {fit(str(name)): fit(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [fit(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-_INT8, min(value, _INT8))
    return value


def row_time(seconds: Any) -> float:
    """Return a time that the database can store, seconds since the epoch; 0 for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
        return 0.0
    return max(_LEAST_TIME, min(float(seconds), _MOST_TIME))


def _bounded(value: int | None, most: int) -> int | None:
    return None if value is None else max(-most, min(value, most))
