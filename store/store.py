"""The store: the one object that everything above the disk uses.

It finds buffers by ref, opens their streams, begins captures and keeps records. Where the rest is: `disk/` (bytes and
rows), `log/` (views, notes, what happens to old buffers), `audit/` (coverage and what follows from it), `verbs/`.

What few commands need is loaded late: `disk.finder`, `disk.recovery` and `disk.pretty` would take 3 ms of each start.
"""

import _thread
import contextlib
import math
import os
import sqlite3
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from sightline import disk
from sightline.config import Settings, default_root, load_settings
from sightline.disk.database import BUSY_SECONDS, Database, identity_of, set_aside
from sightline.disk.errors import cause_of as cause_of
from sightline.disk.errors import is_broken as is_broken
from sightline.disk.errors import is_busy, is_full, store_failed, unwritable
from sightline.disk.errors import is_known as is_known
from sightline.disk.index import Brief as Brief
from sightline.disk.index import Index
from sightline.disk.index import Listed as Listed
from sightline.disk.layout import Layout as Layout  # part of the store's face, as what else has two names here
from sightline.disk.live import marker_names
from sightline.disk.meta import encode_buffer, fields_in, rewrite_meta
from sightline.disk.recording import Recording as Recording
from sightline.disk.recording import new_buffer, reserve
from sightline.disk.stream_files import Target as Target
from sightline.disk.stream_files import content_path, open_merged, open_stream, stream_path, take_bytes, with_progress
from sightline.disk.streams import StreamReader as StreamReader
from sightline.disk.tombstones import gone, read_tombstone
from sightline.errors import OfNewerVersion, StoreFailed
from sightline.private_files import open_private, remove_file, remove_folder, write_atomically
from sightline.project import Project, find_project
from sightline.protocols import Feed as Feed
from sightline.protocols import MergedStream as MergedStream
from sightline.protocols import Narrowing as Narrowing
from sightline.protocols import Place as Place
from sightline.protocols import Rows as Rows
from sightline.protocols import Stream as Stream
from sightline.records import Buffer, Note
from sightline.refs import Ref

if TYPE_CHECKING:  # only a buffer with two streams needs it
    from sightline.disk.changes import Change as Change
    from sightline.disk.changes import Changes
    from sightline.disk.merged_streams import MergedReader
    from sightline.disk.pretty import Facts
    from sightline.redact.hiding import Redaction
    from sightline.shape.failure.catalogue import RuleFile

__path__ = [os.path.join(os.path.dirname(__file__), "store")]
"""Where the modules lie that 0.1.0 named in settings of harnesses: ``sightline.store`` was a package then."""

_DAY_SECONDS = 86_400
_ROOM_BYTES = 1 << 19  # what SQLite and a tombstone need, and some more
_RETRY_SECONDS = 2.0  # between two looks whether a store that could not be written to can be now
_RULES_SECONDS = 1.0  # after which files of rules that were added are looked for again


class Reading(Protocol):
    """What verbs, the audit and the inspector read of a store. `Store` is one, what many hosts have shipped another.

    There are no paths in it but that of `local_copy`. Whatever is asked of it raises StoreFailed where the store cannot
    be read.
    """

    @property
    def settings(self) -> Settings:
        """The settings that hold for whoever reads."""

    @property
    def index(self) -> Rows:
        """The rows, as they are now."""

    @property
    def rule_files(self) -> "tuple[RuleFile, ...]":
        """Files of rules that tell what a tool's output says, beside ours, as they are now."""

    def resolve(self, ref: str | Ref, *, session: str | None = None, prefixes: bool = False) -> Target:
        """What a ref names. Raises BadRef, BadRange, UnknownRef, ExpiredRef, AmbiguousRef."""

    def tombstone(self, name: str) -> dict[str, Any] | None:
        """What is left of a buffer that is gone, None where it never was."""

    def with_progress(self, buffer: Buffer) -> Buffer:
        """The record with what its streams hold now, where it is still running."""

    def listed(
        self,
        limit: int,
        *,
        before: int | None = None,
        session: str | None = None,
        project: Project | None = None,
    ) -> list[Listed]:
        """Buffers with their places in the order of use, most recently used first."""

    def end_dead_captures(self) -> None:
        """Have captures whose writer has died told as interrupted from here on."""

    def changes(self, tell: "Callable[[Change], None]", *, polls: Callable[[str], None] | None = None) -> Feed:
        """A feed of what other processes change, to be started; see `Changes`."""

    def bring_up_to_date(self, since: float | None = None, /) -> bool:
        """Take in what others have added; whether anything is new. A store of one machine always has it.

        Args:
            since: from when on all is wanted, seconds since the epoch; None for as much as lists usually need.
        """

    def narrowed(self, wanted: Narrowing, /) -> list[Buffer] | None:
        """The newest outputs that are so, where a store can find them without looking at each; else None."""

    def remark(self, target: Target, text: str, to: str, /) -> Note | None:
        """Send a remark on lines to a session, where it is taken along by somebody else; None where our log keeps it.

        Raises:
            UsageError: the text is empty, or too long.
        """

    @property
    def place(self) -> Place | None:
        """What is read; None for the store of this machine."""

    @property
    def local(self) -> "Store":
        """The store of this machine, where what is shown and remarked is logged."""

    def open(self, target: Target) -> Stream:
        """One stream, its bytes as they were written. Raises ExpiredRef or StoreFailed where it is gone."""

    def open_text(self, target: Target) -> Stream:
        """A stream to be read by lines: as `open`, but of a result's block that is JSON its pretty form."""

    def open_merged(self, buffer: Buffer) -> MergedStream:
        """Both streams of a buffer in order of arrival. Raises as `open`."""

    def pretty_facts(self, target: Target) -> "Facts | None":
        """What the pretty form of a result's block is; None for a stream whose lines are those of its bytes."""

    def local_copy(self, target: Target, *, raw: bool = False) -> str:
        """A file on this machine with the lines of `open_text`, or the raw bytes of `open`, for programs that read
        files. Raises as `open`."""

    def open_log(self, session: str) -> BinaryIO:
        """The log of a session, lines of JSON, to be read from any byte on. Raises FileNotFoundError."""


class Store:
    """One store on disk. Threads may share it; close it, or use it as a context manager."""

    def __init__(
        self,
        root: str | None = None,
        settings: Settings | None = None,
        *,
        insist: bool = True,
        patience: float = BUSY_SECONDS,
        waits: bool = True,
    ) -> None:
        """Open the store, making it where it is missing; the index is opened when it is first needed.

        Args:
            root: the store's folder; ``$SIGHTLINE_HOME`` or the platform's state folder by default.
            settings: instead of those of the root's ``config.toml`` and the environment.
            insist: whether a root that cannot be made is an error at once; else whatever needs it raises that.
            patience: seconds that whatever changes the index waits for another process that does.
            waits: whether an index that is being made anew is waited for; else it is used as it is, which is enough
                for who adds to it.

        Raises:
            SettingError: a setting has a wrong value.
            UnsafeStore: something below the root is a symbolic link.
            StoreFailed: the root cannot be made.
        """
        self.layout = Layout(root or default_root())
        self.settings = settings if settings is not None else load_settings(self.layout.config)
        try:
            self.layout.ensure()
        except OSError as error:
            if insist:
                what, _ = cause_of(error, self.layout.root)
                raise StoreFailed(
                    f"the store at {self.layout.root} cannot be used: {what}",
                    "make room on its disk and let your account write to it, or set SIGHTLINE_HOME to another folder",
                ) from error
        self._patience = patience
        self._waits = waits
        self._rule_files: tuple[float, tuple[RuleFile, ...]] = (-math.inf, ())
        self._index: Index | None = None
        self._retired = list[Index]()  # left to the threads that were at them
        self._retry_at = 0.0
        self._opening = _thread.RLock()  # held by the thread that opens an index; two would leave one open

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        for index in (*self._retired, self._index):
            if index is not None:
                index.close()
        self._index = None
        self._retired.clear()

    @property
    def root(self) -> str:
        """The store's folder."""
        return self.layout.root

    @property
    def index(self) -> Index:
        """The index; made from the folders where it is missing or broken, opened anew where another one lies there.

        Where nothing can be written, it can still be read: its ``unwritable`` tells why.

        Raises:
            StoreFailed: it can be neither written nor read.
        """
        index = self._index
        if index is not None and not self._is_another(index):
            if not self._is_tried_again(index) or not self._opening.acquire(blocking=False):
                return index  # and where it is being tried, it can be read meanwhile
        else:
            self._opening.acquire()
        try:
            index = self._index
            if index is None:
                self._index = self._open_index()
            elif self._is_another(index):
                self._take_up(self._open_index())
            elif self._is_tried_again(index):
                self._retry_at = time.monotonic() + _RETRY_SECONDS
                with contextlib.suppress(sqlite3.Error, OSError):
                    self._take_up(self._index_to_write())
            assert self._index is not None
            return self._index
        finally:
            self._opening.release()

    def _is_another(self, index: Index) -> bool:
        """Whether another file lies where its file was."""
        return index.identity is not None and self.identity not in (None, index.identity)

    def _is_tried_again(self, index: Index) -> bool:
        """Whether it could not be written to, and it is time to see whether one can be now."""
        return bool(index.unwritable) and time.monotonic() > self._retry_at

    @property
    def identity(self) -> tuple[int, int] | None:
        """Which file its index is: another one once the store was removed and made anew; None while there is none."""
        return identity_of(self.layout.index)

    def _take_up(self, index: Index) -> None:
        if self._index is not None:
            self._retired.append(self._index)
        self._index = index

    def _open_index(self) -> Index:
        try:
            try:
                return self._index_to_write()
            except (sqlite3.Error, OSError) as error:
                why = unwritable(error, self.layout.root)
                if why is None:
                    raise
                self._retry_at = time.monotonic() + _RETRY_SECONDS
                return self._filled(Index(self._database(unwritable=why.what)))
        except (sqlite3.Error, OSError) as error:
            what, hint = cause_of(error, self.layout.root)
            raise StoreFailed(f"the store at {self.layout.root} cannot be opened: {what}", hint) from error

    def _index_to_write(self) -> Index:
        index = self._sound_index()
        if index is None:
            with self.layout.locked():  # of several that find it broken, the first sets it aside
                index = self._sound_index()
                if index is None:
                    set_aside(self.layout.index)
                    index = Index(self._database())
        return self._filled(index)

    def _filled(self, index: Index) -> Index:
        """The index with what the folders hold, where nobody has put that into it to the end."""
        try:
            if index.is_unfilled():
                disk.fill_index(self.layout, index, patience=self._patience, waits=self._waits)
        except BaseException:
            index.close()
            raise
        return index

    def _sound_index(self) -> Index | None:
        """The index that is there, or a new one where there is none; None where it is broken.

        Raises:
            OfNewerVersion: a newer version has changed it such that this one cannot use it.
        """
        database = None
        try:
            database = self._database()
            index = Index(database)
            index.totals()
            if database.is_newer:
                index.try_all()
            return index
        except BaseException as error:
            if database is not None:
                database.close()
            if not isinstance(error, sqlite3.DatabaseError) or not is_broken(error):
                raise
            if database is not None and database.is_newer:
                raise OfNewerVersion("the index") from error
            return None

    def _database(self, unwritable: str = "") -> Database:
        return Database(
            self.layout.index, durable=self.settings.durable, patience=self._patience, unwritable=unwritable
        )

    def start_index_anew(self) -> None:
        """Set the index aside and open an empty one; filling it is the caller's."""
        self.close()
        if os.path.exists(self.layout.index):
            set_aside(self.layout.index)
        self._index = Index(self._database())

    @property
    def rule_files(self) -> "tuple[RuleFile, ...]":
        """Files of rules that a person, or other packages, have added, as they are now."""
        from sightline.plugins import rule_files  # only where something may have failed

        looked, files = self._rule_files
        if (now := time.monotonic()) - looked > _RULES_SECONDS:  # a list asks for each of its buffers
            self._rule_files = now, (files := rule_files(self.root))
        return files

    # finding

    def resolve(self, ref: str | Ref, *, session: str | None = None, prefixes: bool = False) -> Target:
        """What a ref names.

        Args:
            ref: the ref.
            session: whose newest command ``@last`` is; None for the store's.
            prefixes: whether a unique prefix of a name will do, as it does for people.

        Raises:
            BadRef, BadRange: it is no ref.
            UnknownRef: no buffer has or had this name.
            ExpiredRef: the buffer was evicted or removed.
            AmbiguousRef: several buffers share the prefix.
        """
        return disk.Finder(self.layout, self.index).find(ref, session=session, prefixes=prefixes)

    def tombstone(self, name: str) -> dict[str, Any] | None:
        """What is left of a buffer that is gone, None where it never was."""
        return read_tombstone(self.layout, name)

    def with_progress(self, buffer: Buffer) -> Buffer:
        """The record with what its streams hold now, where it is still running."""
        if buffer.state == "running" and self.index.unwritable:
            buffer = disk.adopt(self.layout, self.index, buffer.name) or buffer
        return with_progress(self.layout, buffer)

    def listed(
        self,
        limit: int,
        *,
        before: int | None = None,
        session: str | None = None,
        project: Project | None = None,
    ) -> list[Listed]:
        """Buffers with their places in the order of use, most recently used first; see `Index.listed`."""
        self.end_dead_captures()
        return [
            Listed(self.with_progress(item.buffer), item.used)
            for item in self.index.listed(limit, before=before, session=session, project=project)
        ]

    def bring_up_to_date(self, _since: float | None = None, /) -> bool:
        """Nothing: it always is."""
        return False

    @property
    def place(self) -> Place | None:
        """None: it is the store of this machine."""
        return None

    @property
    def local(self) -> "Store":
        """This one."""
        return self

    def remark(self, _target: Target, _text: str, _to: str, /) -> Note | None:
        """Nothing: its own log keeps notes."""
        return None

    def narrowed(self, _wanted: Narrowing, /) -> list[Buffer] | None:
        """Nothing: looking at each of its outputs is what there is."""
        return None

    def end_dead_captures(self) -> None:
        """Have captures whose writer has died told as interrupted from here on."""
        disk.adopt_dead(self.layout, self.index)

    def end_if_dead(self, name: str) -> None:
        """The same of one capture."""
        disk.adopt(self.layout, self.index, name)

    def changes(self, tell: "Callable[[Change], None]", *, polls: Callable[[str], None] | None = None) -> "Changes":
        """A feed of what other processes change, to be started; see `Changes`."""
        return disk.Changes(self.layout, lambda: self.index.data_version(), tell, polls=polls)

    def touch(self, name: str) -> None:
        """A use by an agent, or by a person's command: the buffer becomes the most recently used.

        Where that cannot be kept, what uses it goes on all the same.
        """
        try:
            with self.index.hurried():
                self.index.touch(name, time.time())
        except (sqlite3.OperationalError, StoreFailed):  # read-only, full, or locked for long
            pass

    # reading

    def open(self, target: Target) -> StreamReader:
        """One stream of a buffer; for ``all`` see `open_merged`. Raises ExpiredRef or StoreFailed where it is gone."""
        return open_stream(self.layout, target.buffer, target.stream)

    def open_merged(self, buffer: Buffer) -> "MergedReader":
        """Both streams of a buffer in order of arrival. Raises as `open`."""
        return open_merged(self.layout, buffer)

    def path(self, target: Target, *, to_come: bool = False) -> str:
        """A file with the raw bytes of a stream, for any Unix tool; ``all`` is made beside them when asked for.

        Args:
            target: the stream.
            to_come: whether an empty stream that is still written is the file that will have it.
        """
        path = stream_path(self.layout, target.buffer, target.stream)
        if to_come and path == os.devnull and target.buffer.state == "running":
            return self.layout.stream(target.buffer.name, target.stream)
        return path

    def path_by_content(self, target: Target) -> str:
        """The same file under a name made of its content, ``SHA256.json``; while it is still written, `path`."""
        return content_path(self.layout, target.buffer, target.stream)

    def open_text(self, target: Target) -> StreamReader:
        """A stream to be read by lines: as `open`, but of a result's block that is JSON its pretty form."""
        facts = self.pretty_facts(target)
        if facts is None:
            return self.open(target)
        return disk.open_pretty(self.layout, target.buffer, target.stream, facts)

    def local_copy(self, target: Target, *, raw: bool = False) -> str:
        """A file with these lines, or with the raw bytes, for programs that read files. Raises as `open`."""
        facts = None if raw else self.pretty_facts(target)
        if facts is None:
            return self.path(target)
        return disk.pretty_path(self.layout, target.buffer, target.stream, facts)

    def pretty_facts(self, target: Target) -> "Facts | None":
        """What the pretty form of a result's block is; None for a stream whose lines are those of its bytes."""
        if target.buffer.kind != "tool":
            return None
        return disk.facts_of(target.buffer, target.stream)

    def open_log(self, session: str) -> BinaryIO:
        """The log of a session, lines of JSON, to be read from any byte on. Raises FileNotFoundError."""
        return open(open_private(self.layout.audit_file(session), os.O_RDONLY), "rb")

    # writing and keeping

    def begin(self, kind: str, command: str, cwd: str, session: str, **fields: Any) -> Recording:
        """Begin a capture under a new name.

        Args:
            kind: ``cmd``, ``file`` or ``tool``.
            command: what is captured; bytes that are no UTF-8 are written as escapes.
            cwd: its working directory.
            session: who captures.
            fields: more of the record's fields, such as label, artifact or origin.

        Raises:
            StoreFailed: the store could not take it.
        """
        if kind != "file" and (told := self.redaction()):  # a file is found by its path
            command, fields = told.text(command), told.value(fields)
        project = find_project(cwd)
        buffer = new_buffer(reserve(self.layout, kind), kind, command, cwd, session, project=project, **fields)
        return Recording(
            self.layout,
            lambda: self.index,  # opened while the command runs
            buffer,
            max_stream_bytes=self.settings.max_stream_bytes,
            durable=self.settings.durable,
            redaction=self.redaction(),
        )

    def redaction(self) -> "Redaction | None":
        """What hides the secrets of one capture or text; None where no person has turned that on."""
        return self.settings.redaction()

    def amend(self, name: str, **fields: Any) -> Buffer:
        """Change a sealed buffer's record (pin, label, exit code).

        Raises:
            UnknownRef: there is no such buffer.
            StoreFailed: the record could not be written.
        """
        try:
            with self.index.transaction():
                buffer = self.index.buffer(name)
                if buffer is None or buffer.state == "evicted":
                    raise gone(self.layout, name)
                buffer = buffer._replace(**fields)
                if buffer.state != "running":
                    rewrite_meta(self.layout, buffer, durable=self.settings.durable)
                self.index.put_buffer(buffer)
        except (sqlite3.Error, OSError) as error:
            amended = disk.amend_waiting(self.layout, name, fields) if is_busy(error) else None
            if amended is None:
                raise store_failed(error, self.root) from error
            return amended
        return buffer

    def of_artifact(self, artifact: str) -> Buffer | None:
        """The buffer of an id that its harness gave; one that the index was locked for, too. It may be evicted."""
        known = self.index.of_artifact(artifact)
        return disk.waiting_for_index(self.layout, artifact) if known is None and marker_names(self.layout) else known

    def over_limits(self, batch: int = 64) -> list[Buffer]:
        """Buffers that must go, by the limits of count, bytes and age: a batch of them, least recently used first.

        Only age takes the one used last: a reply may just have told its ref. Cheap where nothing is over: two look-ups.
        """
        totals = self.index.totals()
        oldest = time.time() - self.settings.max_age_days * _DAY_SECONDS
        count, size = totals.buffers - self.settings.max_buffers, totals.bytes - self.settings.max_bytes
        crowded = count > 0 or size > 0
        newest = {item.buffer.name for item in self.index.listed(1)} if crowded else set()
        over = []
        for buffer in self.index.least_used(batch if crowded else 1):
            in_the_way = (count > 0 or size > 0) and buffer.name not in newest
            if not in_the_way and buffer.accessed >= oldest:
                break
            over.append(buffer)
            count -= 1
            size -= buffer.bytes
        return over

    def remove(self, buffer: Buffer, reason: str, left: Callable[[], dict[str, Any]] = dict) -> bool:
        """Take a buffer's bytes away and leave a tombstone.

        On a full disk there is no room for that: then the bytes go first, where they are enough to make some.

        Args:
            buffer: its record; not running.
            reason: ``evicted`` (it stays in the list as that) or ``removed``.
            left: more for the tombstone, such as what views quote of it; asked while nobody else can remove it.

        Returns:
            False where another process was first, or has pinned what would have been evicted.

        Raises:
            StoreFailed: the tombstone could not be written, or the bytes not be taken.
        """
        try:
            return self._remove(buffer, reason, left)
        except (sqlite3.Error, OSError) as error:
            if not is_full(error, self.root):
                raise store_failed(error, self.root) from error
        try:
            known = self.index.buffer(buffer.name)
            if known is None or not _may_go(known, reason):
                return False
            kept = left()
            take_bytes(self.layout, known, at_least=_ROOM_BYTES)
            self._retry_at = 0.0
            return self._remove(buffer, reason, lambda: kept)
        except (sqlite3.Error, OSError) as error:
            raise store_failed(error, self.root) from error

    def _remove(self, buffer: Buffer, reason: str, left: Callable[[], dict[str, Any]]) -> bool:
        with self.index.transaction():
            known = self.index.buffer(buffer.name)
            if known is None or not _may_go(known, reason):
                return False
            kept = fields_in(self.layout, buffer.name)
            data = encode_buffer(buffer._replace(state="evicted"), kept, reason=reason, gone=time.time(), **left())
            write_atomically(self.layout.tombstone(buffer.name), data, durable=self.settings.durable)
            if reason == "evicted":
                self.index.put_buffer(buffer._replace(state="evicted"))
                self.index.forget_hashes(buffer.name)
            else:
                self.index.forget_buffer(buffer.name)
        remove_file(self.layout.marker(buffer.name))
        remove_folder(self.layout.folder(buffer.name))
        return True


def _may_go(buffer: Buffer, reason: str) -> bool:
    return buffer.state != "evicted" and not (buffer.pinned and reason == "evicted")
