"""Reads rows about the log from the index: sessions, views, notes, and facts found out about lines."""

from sightline.base.records import (
    DROPPED,
    PARTIAL,
    IndexedView,
    Note,
    Session,
    SessionCounts,
    View,
    known_fields,
    line_part_from,
    shown_from,
)
from sightline.base.sha256 import sha256_hex
from sightline.disk.database import Database
from sightline.disk.record_check import (
    checked_note,
    checked_session,
    checked_size,
    checked_view,
    is_session_name,
)
from sightline.disk.sqlite import sqlite3
from sightline.light.json_text import dumps, encoder, loads
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping

if TYPE_CHECKING:
    from typing import TypeVar

    _Record = TypeVar("_Record")

SESSION_COLUMNS = "name, harness, harness_id, client, cwd, started, title, removed"
_VIEW_COLUMNS = "session, entry, record, offset, length"
_BATCH = 256  # views that are read at once
_VIEW = f"SELECT {_VIEW_COLUMNS} FROM views "  # noqa: S608


_NUMBER_DIGITS = 19  # from which on a number is none of SQLite's
_ALL_STALE = 2  # value of `views_stale`: not only the views; an older version takes it for 1


class ViewRow(NamedTuple):
    """A view as the index has it: the record is JSON, without what has a column of its own."""

    session: str
    number: int
    time: float
    verb: str
    record: str
    offset: int
    length: int
    refs: tuple[str, ...]

    @classmethod
    def of(cls, indexed: IndexedView) -> "ViewRow":
        """Encode a view for the index."""
        view, offset, length = indexed
        return cls(view.session, view.number, view.time, view.verb, record_of(view), offset, length, view.refs)

    @classmethod
    def of_fields(cls, session: str, fields: Mapping[str, Any]) -> "ViewRow":
        """Encode a view from its entry in the log; its place in the log is not known yet."""
        record = _dumps({**fields, "request": _dumps(fields["request"])})
        return cls(session, 0, fields["time"], fields["verb"], record, 0, 0, tuple(fields["refs"]))

    def at(self, number: int, offset: int, length: int) -> "ViewRow":
        """Return the row with its place in the log."""
        session, _, time, verb, record, _, _, refs = self
        return ViewRow(session, number, time, verb, record, offset, length, refs)


class LogRows:
    """Statements on who asked and what was shown. The audit files are the truth, and this finds the way into them.

    Attributes:
        is_damaged: whether a row was met that none of ours can be.
        tell: gets a sentence about that once, for a person.
    """

    NEWEST_FIRST = "number DESC"
    OLDEST_FIRST = "number"
    """The order of views, as SQL: they were logged in that of their numbers."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self.is_damaged = False
        self.tell: Callable[[str], None] = lambda _: None

    def _each(self, read: "Callable[[tuple[Any, ...]], _Record]", rows: Iterable[tuple[Any, ...]]) -> "list[_Record]":
        """Read rows, except those that none of ours can be; after such a row, the next opening makes the index anew."""
        found = []
        for row in rows:
            try:
                found.append(read(row))
            except (ValueError, TypeError, KeyError, AttributeError):
                self._mark_damaged()
        return found

    def _one(self, read: "Callable[[tuple[Any, ...]], _Record]", row: tuple[Any, ...] | None) -> "_Record | None":
        """Read a row as `_each` does."""
        return next(iter(self._each(read, () if row is None else (row,))), None)

    def _mark_damaged(self) -> None:
        if not self.is_damaged:
            self.is_damaged = True
            self.tell("rows of the index were damaged and are left out: the next command makes it anew")
            with suppress(sqlite3.Error), self._db.hurried():
                self._db.execute("UPDATE totals SET views_stale = ?", (_ALL_STALE,))

    def is_unfilled(self) -> bool:
        """Whether the index is new, and knows nothing yet of what the folders hold."""
        return self._stale() == _ALL_STALE

    def views_stale(self) -> bool:
        """Whether the views must be indexed anew."""
        return bool(self._stale())

    def _stale(self) -> int:
        row = self._db.row("SELECT views_stale FROM totals")
        return row[0] if row else 0

    # sessions and views

    def session(self, name: str) -> Session | None:
        """Return the record of a session."""
        row = self._db.row(f"SELECT {SESSION_COLUMNS} FROM sessions WHERE name = ?", (name,))  # noqa: S608
        return self._one(_session, row)

    def origins(self) -> dict[str, dict[str, Any]]:
        """Return from which session one came, as the entries of logs state it, by session."""
        return {str(name): loads(record) for name, record in self._db.rows("SELECT session, record FROM origins")}

    def sessions(self) -> list[Session]:
        """Return all sessions, the newest first."""
        rows = self._db.rows(f"SELECT {SESSION_COLUMNS} FROM sessions ORDER BY started DESC")  # noqa: S608
        return self._each(_session, rows)

    def relatives(self, session: Session) -> list[str]:
        """Return the names of a session's helpers, or of the session whose helper it is, which share its id."""
        rows = self._db.rows(
            "SELECT name FROM sessions WHERE harness_id = ? AND harness_id <> '' AND harness = ? AND name <> ?"
            " ORDER BY started DESC",
            (session.harness_id, session.harness, session.name),
        )
        return [str(name) for (name,) in rows]

    def session_counts(self) -> dict[str, SessionCounts]:
        """Return what each session asked and captured, by name; a session that only did one of these is included."""
        found: dict[str, SessionCounts] = {}
        views = "SELECT session, COUNT(*), MIN(time), MAX(time) FROM views GROUP BY session"
        for name, calls, first, last in self._each(_times_of_session, self._db.rows(views)):
            found[name] = SessionCounts(calls, first, last)
        buffers = (
            "SELECT session, COUNT(*), MIN(created), SUM(bytes), SUM(state = 'interrupted' OR instr(note, ?) OR"
            " instr(note, ?)) FROM buffers WHERE state <> 'evicted' GROUP BY session"
        )
        for name, count, first, size, partial in self._each(
            _times_of_session, self._db.rows(buffers, (PARTIAL, DROPPED))
        ):
            known = found.get(name, SessionCounts(0, first, first))
            found[name] = known._replace(buffers=count, bytes=size, partial=partial)
        return found

    def readings(self, session: str | None = None) -> list[tuple[str, str, str]]:
        """Return (reader, captor, buffer) for buffers that were shown to another session than their captor.

        With a session, only those that it read, or that were read of it.
        """
        where = " AND ? IN (views.session, buffers.session)" if session is not None else ""
        rows = self._db.rows(
            "SELECT DISTINCT views.session, buffers.session, buffers.name FROM views_of"  # noqa: S608
            " JOIN views ON views.number = views_of.view JOIN buffers ON buffers.name = views_of.buffer"
            f" WHERE views.session <> buffers.session{where} ORDER BY buffers.number, views.session",
            (session,) if session is not None else (),
        )
        return [(row[0], row[1], row[2]) for row in rows]

    # how far the audit files have been indexed

    def logs(self) -> dict[str, int]:
        """Return the byte up to which each session's audit file has been indexed without a gap."""
        return dict(self._each(_size_of_session, self._db.rows("SELECT session, bytes FROM logs")))

    def indexed_bytes(self, session: str) -> int:
        """Return that byte for one session; 0 if nothing is indexed."""
        row = self._db.row("SELECT session, bytes FROM logs WHERE session = ?", (session,))
        known = self._one(_size_of_session, row)
        return known[1] if known else 0

    def view(self, session: str, number: int) -> IndexedView | None:
        """Return one view of a session."""
        row = self._db.row(_VIEW + "WHERE session = ? AND entry = ?", (session, number))
        return self._one(_view, row)

    def views(
        self, *, buffer: str | None = None, session: str | None = None, since: float = 0.0, limit: int = -1
    ) -> list[IndexedView]:
        """Return views, newest first: of one buffer, of one session, or since a time in seconds since the epoch."""
        where, parameters = ["1"], list[Any]()
        if since:
            where.append("time >= ?")
            parameters.append(since)
        if buffer is not None:
            where.append("number IN (SELECT view FROM views_of WHERE buffer = ?)")
            parameters.append(buffer)
        if session is not None:
            # The plus has SQLite look at the few views of the buffer first, since a session may have very many.
            where.append("session = ?" if buffer is None else "+session = ?")
            parameters.append(session)
        newest = f"WHERE {' AND '.join(where)} ORDER BY {self.NEWEST_FIRST} LIMIT ?"
        rows = self._db.rows(_VIEW + newest, (*parameters, limit))
        return self._each(_view, rows)

    def views_of(self, buffer: str, *, session: str | None = None) -> Iterator[IndexedView]:
        """Yield the views of one buffer, of one session or of all, oldest first.

        They are read in batches, since there may be thousands, of 4 KB of memory each.
        """
        of_session = "" if session is None else " AND +session = ?"
        wanted = f"number IN (SELECT view FROM views_of WHERE buffer = ?){of_session}"  # noqa: S608
        parameters = (buffer,) if session is None else (buffer, session)
        ordered = f"SELECT number FROM views WHERE {wanted} ORDER BY {self.OLDEST_FIRST}"  # noqa: S608
        numbers = [number for (number,) in self._db.rows(ordered, parameters)]
        for at in range(0, len(numbers), _BATCH):
            batch = numbers[at : at + _BATCH]
            marks = ", ".join("?" * len(batch))
            rows = self._db.rows(f"{_VIEW}WHERE number IN ({marks}) ORDER BY {self.OLDEST_FIRST}", batch)
            yield from self._each(_view, rows)

    def views_about(self, buffers: Iterable[str]) -> list[tuple[str, IndexedView]]:
        """Return (buffer, view) for the views of several buffers: all of one after another, oldest first."""
        rows = self._db.rows(
            f"SELECT buffer, {_VIEW_COLUMNS} FROM views_of JOIN views ON views.number = views_of.view"  # noqa: S608
            " WHERE buffer IN (SELECT value FROM json_each(?)) ORDER BY buffer, time, entry",
            (dumps(list(buffers)),),
        )
        return self._each(lambda row: (str(row[0]), _view(row[1:])), rows)

    def views_after(self, number: int, *, session: str | None = None, limit: int = -1) -> list[tuple[int, IndexedView]]:
        """Return (number, view) for views indexed after a number, in the order of indexing; or only a session's."""
        where, parameters = ("session = ? AND ", [session]) if session is not None else ("", list[Any]())
        statement = f"SELECT number, {_VIEW_COLUMNS} FROM views WHERE {where}number > ? ORDER BY number LIMIT ?"  # noqa: S608
        rows = self._db.rows(statement, (*parameters, number, limit))
        return self._each(lambda row: (row[0], _view(row[1:])), rows)

    def first_view_of(self, buffer: str) -> int:
        """Return the number of the first indexed view of a buffer; 0 for none."""
        row = self._db.row("SELECT MIN(view) FROM views_of WHERE buffer = ?", (buffer,))
        return int(row[0] or 0) if row else 0

    def newest_view(self) -> int:
        """Return the largest number of a view, 0 if there is none; it falls only when all are indexed anew."""
        row = self._db.row("SELECT MAX(number) FROM views")
        return int(row[0] or 0) if row else 0

    def numbers_of_views(self) -> int:
        """Return how many numbers of views there are from the smallest to the largest, about as many as views."""
        row = self._db.row("SELECT (SELECT MAX(number) FROM views) - (SELECT MIN(number) FROM views) + 1")
        return int(row[0] or 0) if row else 0

    def view_count(self, session: str) -> int:
        """Return the number of a session's views."""
        row = self._db.row("SELECT COUNT(*) FROM views WHERE session = ?", (session,))
        return int(row[0]) if row else 0

    def last_entries(self) -> dict[str, int]:
        """Return the number of each session's last view."""
        rows = self._db.rows("SELECT session, MAX(entry) FROM views GROUP BY session")
        return dict(self._each(_size_of_session, rows))

    # notes, and what was found out about buffers

    def notes(self, *, buffer: str | None = None) -> list[Note]:
        """Return notes, oldest first: all, or those on one buffer."""
        where, parameters = ("WHERE buffer = ?", (buffer,)) if buffer is not None else ("", ())
        rows = self._db.rows(f"SELECT record FROM notes {where}", parameters)  # noqa: S608
        return sorted(self._each(_note, rows), key=lambda note: note.time)

    def note(self, note_id: str) -> Note | None:
        """Return one note."""
        session, _, entry = note_id.rpartition(":")
        number = int(entry) if entry.isdigit() and len(entry) < _NUMBER_DIGITS else -1
        row = self._db.row("SELECT record FROM notes WHERE session = ? AND entry = ?", (session, number))
        return self._one(_note, row)

    def derived(self, buffer: str, key: str) -> str | None:
        """Return a fact that was found out about a buffer's lines before."""
        row = self._db.row("SELECT value FROM derived WHERE buffer = ? AND key = ?", (buffer, key + _WITH_CHECK))
        check, _, value = row[0].partition(" ") if row and isinstance(row[0], str) else ("", "", "")
        return value if check and check == _check_of(value) else None

    def put_derived(self, buffer: str, key: str, value: str) -> None:
        """Keep a fact about a buffer's lines, so that it need not be found again, if the index can be written to."""
        with suppress(sqlite3.OperationalError), self._db.hurried():
            self._db.execute(
                "INSERT OR REPLACE INTO derived (buffer, key, value) VALUES (?, ?, ?)",
                (buffer, key + _WITH_CHECK, f"{_check_of(value)} {value}"),
            )


_WITH_CHECK = "+check"
"""In the key of a fact whose value begins with its hash, so that what others put there is no fact."""


def _check_of(value: str) -> str:
    return sha256_hex(value.encode(errors="surrogatepass"))[:16]


def _times_of_session(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row that begins with a session, a count and a time. Raises ValueError if it does not."""
    if not is_session_name(row[0] or "none") or not all(isinstance(value, int | float) for value in row[1:]):
        raise ValueError("not a session's times")
    return row


def _size_of_session(row: tuple[Any, ...]) -> tuple[str, int]:
    if not is_session_name(row[0]):
        raise ValueError("not a session")
    return row[0], checked_size(row[1])


def _session(row: tuple[Any, ...]) -> Session:
    return checked_session(Session(*row))


def _note(row: tuple[Any, ...]) -> Note:
    return checked_note(Note(**known_fields(Note, loads(row[0]))))


_dumps = encoder(ensure_ascii=False)


def record_of(view: View) -> str:
    """Return a view's record: its fields without those that have a column of their own."""
    fields = {name: value for name, value in view._asdict().items() if name not in ("id", "session", "number")}
    return _dumps(fields)


def _view(row: tuple[Any, ...]) -> IndexedView:
    session, number, record, offset, length = row
    fields = known_fields(View, loads(record))
    fields["refs"] = tuple(fields["refs"])
    for name in ("shown", "asked", "matched"):
        fields[name] = tuple(map(shown_from, fields.get(name, ())))
    if fields.get("parts") is not None:
        fields["parts"] = tuple(map(line_part_from, fields["parts"]))
    view = checked_view(View(id=f"{session}:{number}", session=session, number=number, **fields))
    return IndexedView(view, checked_size(offset), checked_size(length))
