"""The store: the one object that everything above the disk uses.

It finds buffers by ref, opens their streams, begins captures and keeps records. The rest is in `disk/` (bytes and
rows), `log/` (views, notes, what happens to old buffers), `audit/` (coverage and what follows from it), `verbs/`.

What only few commands need is loaded late: `disk.ref_lookup`, `disk.recovery` and `disk.pretty` would take 3 ms of a
start.
"""

import _thread
import os
import time

from sightline import disk
from sightline.base.errors import OfNewerVersion, SightlineError, StoreFailed, UnsafeStore
from sightline.base.private_files import open_private, remove_file, remove_folder, why_closed, write_atomically
from sightline.base.project import Project, find_project
from sightline.base.records import Buffer, Note
from sightline.base.records import Narrowed as Narrowed
from sightline.base.records import Narrowing as Narrowing
from sightline.base.records import Target as Target
from sightline.base.refs import Ref
from sightline.disk.clock import Clock, note_start
from sightline.disk.database import BUSY_SECONDS, Database, identity_of, set_aside
from sightline.disk.errors import anothers, is_busy, is_full, store_failed, unwritable
from sightline.disk.errors import cause_of as cause_of
from sightline.disk.errors import is_broken as is_broken
from sightline.disk.errors import is_known as is_known
from sightline.disk.index import Index, IndexChange
from sightline.disk.index import Listed as Listed
from sightline.disk.index import ListFacts as ListFacts
from sightline.disk.index_place import place_index, take_place, warning
from sightline.disk.layout import Layout as Layout  # exported here, like other names with `as`
from sightline.disk.live import marker_names
from sightline.disk.meta import encode_buffer, fields_in, rewrite_meta
from sightline.disk.sqlite import sqlite3
from sightline.light.late_imports import late_names
from sightline.light.library import contextmanager, deque, suppress
from sightline.light.typing_names import TYPE_CHECKING, Any, BinaryIO, Callable, Iterable, Iterator, Protocol
from sightline.settings.config import Settings, default_root, judge_store, load_settings, settings_state

if TYPE_CHECKING:
    from sightline.disk.changes import Change as Change
    from sightline.disk.changes import Changes
    from sightline.disk.merged_streams import MergedReader
    from sightline.disk.pretty import Facts
    from sightline.disk.stand_ins import StandIns as StandIns
    from sightline.redact.hiding import Redaction
    from sightline.shape.failure.catalogue import RuleFile

with late_names(globals()):
    from sightline.disk.reading import Feed as Feed  # for types
    from sightline.disk.reading import HostAlarm as HostAlarm
    from sightline.disk.reading import MergedStream as MergedStream
    from sightline.disk.reading import Rows as Rows
    from sightline.disk.reading import SharedPlace as SharedPlace
    from sightline.disk.reading import Stream as Stream
    from sightline.disk.reading import ToExamine as ToExamine
    from sightline.disk.recording import Recording as Recording  # 1 ms, which whoever only reads does not need
    from sightline.disk.streams import StreamReader as StreamReader  # 1 ms, which lists do not need

IndexFailed = sqlite3.Error
"""What the index raises if it cannot be read or written. Python's own `sqlite3`, which has it too, loads `datetime`."""

_SPARE_BUFFERS = 32  # evicted together at the limit: one by one, `run` takes 1.6 times as long
_DAY_SECONDS = 86_400
_ROOM_BYTES = 1 << 19  # needed for SQLite and a tombstone, with some reserve
_RETRY_SECONDS = 2.0  # between two tries to write to a store that could not be written to
_CLOCK_SECONDS = 60.0  # between two looks whether the clock has jumped
_COMPARING_SECONDS = 60.0  # between two looks at the status of all files: 0.4 s for 100,000 outputs, from a disk 20 s
_COMPARED_AT_ONCE = 1_000  # outputs
_RULES_SECONDS = 1.0  # between two looks at added files of rules


class Reading(Protocol):
    """What verbs, the audit and the inspector read of a store: a `Store`, or what many hosts have shipped.

    It has no paths, except that of `local_copy`. Every method raises StoreFailed if the store cannot be
    read.
    """

    @property
    def settings(self) -> Settings:
        """The settings for the reader."""

    @property
    def index(self) -> "Rows":
        """The rows as they are now."""

    @property
    def rule_files(self) -> "tuple[RuleFile, ...]":
        """Return the added files of rules as they are now."""

    def resolve(self, ref: str | Ref, *, session: str | None = None, prefixes: bool = False) -> Target:
        """Return what a ref names. Raises BadRef, BadRange, UnknownRef, ExpiredRef, AmbiguousRef."""

    def tombstone(self, name: str) -> dict[str, Any] | None:
        """Return what is left of a gone buffer; None if it never existed."""

    def with_progress(self, buffer: Buffer) -> Buffer:
        """Return the record with the present facts of its streams, if it is still running."""

    def checked(self, buffer: Buffer, *opened: str) -> Buffer:
        """Return the record with how its files differ from what was sealed; see `Store.checked`."""

    def listed(
        self,
        limit: int,
        *,
        before: int | None = None,
        session: str | None = None,
        project: Project | None = None,
    ) -> list[Listed]:
        """Return buffers with their places in the order of use, most recently used first."""

    def end_dead_captures(self) -> None:
        """From now on, report captures whose writer has died as interrupted."""

    def changes(self, tell: "Callable[[Change], None]", *, polls: Callable[[str], None] | None = None) -> "Feed":
        """Return a feed of other processes' changes, to be started; see `Changes`."""

    def look_for_changes(self, seconds: float | None = None) -> None:
        """Compare all outputs with their seals, so far as that is possible here; see `Store.look_for_changes`."""

    def bring_up_to_date(self, since: float | None = None, /) -> bool:
        """Take in what others have added, and return whether anything is new. A store of one machine always has it.

        Args:
            since: earliest time wanted, seconds since the epoch; None for as much as lists usually need.
        """

    def narrowed(self, wanted: Narrowing, /) -> Narrowed | None:
        """Return the newest matching outputs if the store can find them without looking at each; else None."""

    def to_examine(self, since: float, session: str = "", project: "Project | None" = None, /) -> "ToExamine | None":
        """Take in what an audit has to examine; None if it has to examine all that is here.

        Args:
            since: earliest time, seconds since the epoch.
            session: the only session wanted, by its name or the beginning of it; empty for all.
            project: the only project wanted; None for all.
        """

    def remark(self, target: Target, text: str, to: str, /) -> Note | None:
        """Send a remark on lines to a session, if others deliver it; None if our own log keeps it.

        Raises:
            UsageError: the text is empty, or too long.
        """

    @property
    def place(self) -> "SharedPlace | None":
        """What is read; None for the store of this machine."""

    @property
    def local(self) -> "Store":
        """The store of this machine, which logs what is shown and remarked."""

    def open(self, target: Target) -> "Stream":
        """Open one stream, its bytes as they were written. Raises ExpiredRef or StoreFailed if it is gone."""

    def open_text(self, target: Target) -> "Stream":
        """Open a stream for reading by lines: as `open`, but for a result's JSON block in its pretty form."""

    def open_merged(self, buffer: Buffer) -> "MergedStream":
        """Open both streams of a buffer in order of arrival. Raises what `open` raises."""

    def pretty_facts(self, target: Target) -> "Facts | None":
        """Return the facts of a result block's pretty form; None for a stream whose lines are those of its bytes."""

    def local_copy(self, target: Target, *, raw: bool = False) -> str:
        """Return a file on this machine with the lines of `open_text`, or the raw bytes of `open`, for programs that
        read files. Raises what `open` raises."""

    def open_log(self, session: str) -> BinaryIO:
        """Open the log of a session, lines of JSON, for reading from any byte on. Raises FileNotFoundError."""

    def open_events(self, session: str) -> BinaryIO:
        """Open at least those lines of the log that say what happened to the context, and what the agent said."""


class Store:
    """One store on disk. Threads may share it; close it, or use it as a context manager.

    Attributes:
        notices: what a person must know of the store, a sentence each, for whoever opened it to print.
        filled: gets how many outputs of how many are read while a lost index is made anew; None for nobody.
        judged: gets how many outputs or sessions of how many are judged while a verdict takes long; None for nobody.
    """

    def __init__(
        self,
        root: str | None = None,
        settings: Settings | None = None,
        *,
        insist: bool = True,
        patience: float = BUSY_SECONDS,
        waits: bool = True,
    ) -> None:
        """Open the store, and make it if it is missing; the index is opened at its first use.

        Args:
            root: the store's folder; ``$SIGHTLINE_HOME`` or the platform's state folder by default.
            settings: settings in place of those from the root's ``config.toml`` and the environment.
            insist: whether a root that cannot be made is an error at once; else it is one when something needs it.
            patience: seconds that a change of the index waits for another process that writes.
            waits: whether to wait for an index that is being made anew; else it is used as it is, which is enough
                for adding to it.

        Raises:
            SettingError: a setting has a wrong value.
            UnsafeStore: something below the root is a symbolic link.
            StoreFailed: the root cannot be made.

        Another's store, which is described at `judge_store`, is opened for reading only.
        """
        root = root or default_root()
        self.layout = Layout(root)
        self._config = os.path.join(root, "config.toml")
        self._settings_state = None if settings is not None else settings_state(self._config)
        if settings is None:
            settings = load_settings(self._config)
        else:
            judge_store(root)
        self.settings = settings
        self.anothers = why_closed(self.layout.root)
        try:
            if not self.anothers or not os.path.isdir(self.root):
                self.layout.ensure()
        except OSError as error:
            if insist:
                self.refuse_anothers()
                what, _ = cause_of(error, self.layout.root)
                raise StoreFailed(
                    f"the store at {self.layout.root} cannot be used: {what}",
                    "make room on its disk and let your account write to it, or set SIGHTLINE_HOME to another folder",
                ) from error
        self.notices = list[str]()
        self.filled: Callable[[int, int], None] | None = None
        self.judged: Callable[[int, int, str], None] | None = None
        self._opened = time.time()
        self._clock: Clock | None = None
        self._patience = patience
        self._waits = waits
        self._rule_files: tuple[float, tuple[RuleFile, ...]] = (float("-inf"), ())
        self._index: Index | None = None
        self._retired = list[Index]()  # left to the threads that use them
        self._retry_at = 0.0
        self._opening = _thread.RLock()  # held while an index is opened, so that only one is
        self._waiting = deque[IndexChange]()  # for the index
        self._seals = dict[str, str]()  # by name, those that could not be kept in the record
        self._compared_to = ""  # the output up to which files were compared with their seals; empty for none
        self._compare_again = 0.0  # when the next comparison of all may begin, by the monotonic clock
        self._wake: Callable[[], None] | None = None

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        if self._waiting:
            self.settle()
        while self._waiting:  # the index is locked: the next to look takes care of it
            self._waiting.popleft().end(False)
        for index in (*self._retired, self._index):
            if index is not None:
                index.close()
        self._index = None
        self._retired.clear()

    def leave(self) -> None:
        """Leave the index open for the system to close, since the process ends now: closing it waits for the disk."""
        for index in (*self._retired, self._index):
            if index is not None:
                index.leave()

    def obey_settings(self) -> bool:
        """Read the settings anew if a file of theirs has changed since, and return whether it has.

        For each call to what runs for long; those that were given to the store instead of its files stay.

        Raises:
            SettingError: they are wrong now; the next call raises it, too.
        """
        if self._settings_state is None or (state := settings_state(self._config)) == self._settings_state:
            return False
        self.settings = load_settings(self._config)
        self._settings_state = state
        return True

    def refuse_anothers(self) -> None:
        """Raise StoreFailed if this is another's store, which is only read; see `judge_store`."""
        if self.anothers:
            raise StoreFailed(*anothers(self.anothers))

    @property
    def root(self) -> str:
        """The store's folder."""
        return self.layout.root

    @property
    def index(self) -> Index:
        """The index with all that waited for it. Raises what `index_behind` raises."""
        if self._waiting:
            self.settle()
        return self.index_behind

    def let_wait(self, wake: Callable[[], None]) -> None:
        """Let changes of the index wait from now on, which made together take less time, and none of a reply's.

        Whoever uses the index finds them made. Other processes find views in the log, and outputs by their names.

        Args:
            wake: called with each change; it has to see to it that `settle` is called soon.
        """
        self._wake = wake

    def later(self, change: IndexChange) -> int:
        """Let a change of the index wait, and return how many do; 0 if none may, so that the caller has to make it."""
        if self._wake is None:
            return 0
        self._waiting.append(change)
        self._wake()
        return len(self._waiting)

    def settle(self) -> None:
        """Have the index take in what waits for it, unless another process has it locked."""
        self.index_behind.take_in(self._waiting)

    @property
    def is_index_behind(self) -> bool:
        """Whether anything waits for the index."""
        return bool(self._waiting)

    @property
    def index_behind(self) -> Index:
        """The index without what waits for it.

        It is made from the folders if it is missing or broken, and opened again if another file is there.

        If nothing can be written, it can still be read; its ``unwritable`` says why.

        Raises:
            StoreFailed: it can be neither written nor read.
        """
        index = self._index
        if index is not None and not self._is_another(index):
            if not self._is_tried_again(index) or not self._opening.acquire(blocking=False):
                return index  # while another thread tries it, it can be read
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
                with suppress(sqlite3.Error, OSError):
                    self._take_up(self._index_to_write())
            assert self._index is not None
            return self._index
        finally:
            self._opening.release()

    def _is_another(self, index: Index) -> bool:
        """Return whether another file lies where the index' file was."""
        return index.identity is not None and self.identity not in (None, index.identity)

    def _is_tried_again(self, index: Index) -> bool:
        """Return whether the index could not be written to, and it is time to try again."""
        return bool(index.unwritable) and not self.anothers and time.monotonic() > self._retry_at

    @property
    def identity(self) -> tuple[int, int] | None:
        """The identity of the index' file, which changes if the store was removed and made again; None without one."""
        return identity_of(self.layout.index)

    def _take_up(self, index: Index) -> None:
        if self._index is not None:
            self._retired.append(self._index)
        self._index = index

    def _take_place(self) -> None:
        """Find where the index lies, and note that this host uses it. Raises StoreFailed if another host does."""
        if self.settings.index_folder:
            place_index(self.layout, self.settings.index_folder)
        try:
            notice = take_place(self.layout)
        except OSError as error:
            if unwritable(error, self.layout.root) is None:
                raise
            notice = warning(self.layout)
        if notice:
            self.notices.append(notice)

    def _open_index(self) -> Index:
        try:
            if not self.anothers:
                self._take_place()
            if self.anothers:
                return self._filled(Index(self._database(unwritable=anothers(self.anothers).what)))
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
            with self.layout.locked():  # if several find it broken, the first sets it aside
                index = self._sound_index()
                if index is None:
                    self.notices.append(
                        f"the index was damaged: it is made anew, and kept as {set_aside(self.layout.index)}"
                    )
                    index = Index(self._database())
        return self._filled(index)

    def _filled(self, index: Index) -> Index:
        """Fill the index from the folders, unless that was completed before."""
        index.tell = self.notices.append
        try:
            if index.is_unfilled():
                told: dict[str, Any] = {} if self.filled is None else {"filled": self.filled}
                unreadable = disk.fill_index(self.layout, index, patience=self._patience, waits=self._waits, **told)
                if unreadable:
                    self.notices.append(
                        f"outputs whose record cannot be read, and which are not listed: {len(unreadable):,}; "
                        "`sightline doctor` names them"
                    )
        except BaseException:
            index.close()
            raise
        return index

    def _sound_index(self) -> Index | None:
        """Return the existing index, or a new one if there is none; None if it is broken.

        Raises:
            OfNewerVersion: a newer version has changed it so that this one cannot use it.
        """
        database = None
        try:
            database = self._database()
            index = Index(database)
            index.totals()
            if database.is_newer:
                index.try_all()
            elif database.has_others():
                database.close()
                return None
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
            self.layout.index,
            durable=self.settings.durable,
            patience=self._patience,
            unwritable=unwritable,
            is_anothers=bool(self.anothers),
        )

    def start_index_anew(self) -> None:
        """Set the index aside and open an empty one, which the caller fills. Raises StoreFailed if it is another's."""
        self.refuse_anothers()
        self.close()
        if os.path.exists(self.layout.index):
            set_aside(self.layout.index)
        self._index = Index(self._database())

    @property
    def rule_files(self) -> "tuple[RuleFile, ...]":
        """Return the files of rules that a person, or other packages, have added, as they are now."""
        from sightline.settings.plugins import rule_files  # needed only if something may have failed

        looked, files = self._rule_files
        if (now := time.monotonic()) - looked > _RULES_SECONDS:  # a list asks for each of its buffers
            self._rule_files = now, (files := () if self.anothers else rule_files(self.root))
        return files

    # finding

    def resolve(self, ref: str | Ref, *, session: str | None = None, prefixes: bool = False) -> Target:
        """Return what a ref names.

        Args:
            ref: the ref.
            session: whose newest command ``@last`` is; None for the store's.
            prefixes: whether a unique prefix of a name will do, as it does for people.

        session: the session whose newest command ``@last`` means; None for the store's newest.
            prefixes: whether a unique prefix of a name is enough, as for people.
            UnknownRef: no buffer has or had this name.
            ExpiredRef: the buffer has expired or was removed.
            BadRef, BadRange: it is not a ref.
        """
        lookup = disk.RefLookup(self.layout, self.index, self._adopt, self.take_in_sealed)
        return lookup.find(ref, session=session, prefixes=prefixes)

    def tombstone(self, name: str) -> dict[str, Any] | None:
        """Return what is left of a gone buffer; None if it never existed."""
        return disk.read_tombstone(self.layout, name)

    def gone_names(self) -> list[str]:
        """Return the names of all buffers of which only a tombstone is left."""
        return disk.gone_names(self.layout)

    def with_progress(self, buffer: Buffer) -> Buffer:
        """Return the record with the present facts of its streams, if it is still running."""
        if buffer.name in self._seals:
            return buffer._replace(seals=self._seals[buffer.name])
        if buffer.state == "running" and self.index.unwritable:
            buffer = self._adopt(buffer.name) or buffer
        return disk.with_progress(self.layout, buffer) if buffer.state == "running" else buffer

    def listed(
        self,
        limit: int,
        *,
        before: int | None = None,
        session: str | None = None,
        project: Project | None = None,
    ) -> list[Listed]:
        """Return buffers with their places in the order of use, most recently used first; see `Index.listed`."""
        self.end_dead_captures()
        return [
            Listed(self.with_progress(item.buffer), item.used)
            for item in self.index.listed(limit, before=before, session=session, project=project)
        ]

    def bring_up_to_date(self, _since: float | None = None, /) -> bool:
        """Return False, because the store is always up to date."""
        return False

    @property
    def place(self) -> "SharedPlace | None":
        """None, because this is the store of this machine."""
        return None

    @property
    def local(self) -> "Store":
        """This store."""
        return self

    def remark(self, _target: Target, _text: str, _to: str, /) -> Note | None:
        """Return None, because its own log keeps notes."""
        return None

    def narrowed(self, _wanted: Narrowing, /) -> None:
        """Return None, because it can only look at each of its outputs."""
        return

    def to_examine(self, _since: float, _session: str = "", _project: "Project | None" = None, /) -> None:
        """Return None, because all of it is here."""
        return

    def end_dead_captures(self) -> None:
        """From now on, report captures whose writer has died as interrupted."""
        if self.index.unwritable:
            return
        if marker_names(self.layout) or self.index.running():  # otherwise nothing need be loaded for it
            disk.adopt_dead(self.layout, self.index)

    def take_in_sealed(self) -> bool:
        """Take outputs that others have sealed, and not told the index of yet, into it; False if it is locked."""
        index = self.index
        if not index.unwritable and marker_names(self.layout):  # otherwise nothing need be loaded for it
            try:
                with index.hurried():
                    disk.take_in_sealed(self.layout, index)
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise
                return False
        return True

    def end_if_dead(self, name: str) -> None:
        """Report one capture as interrupted if its writer has died."""
        self._adopt(name)

    def _adopt(self, name: str) -> Buffer | None:
        return disk.adopt(self.layout, self.index, name)

    def changes(self, tell: "Callable[[Change], None]", *, polls: Callable[[str], None] | None = None) -> "Changes":
        """Return a feed of other processes' changes, to be started; see `Changes`."""
        return disk.Changes(self.layout, lambda: self.index.data_version(), tell, polls=polls)

    def touch(self, name: str) -> None:
        """Make a buffer the most recently used, because an agent, or a person's command, used it.

        If that cannot be kept, the use goes on in spite of it.
        """
        try:
            with self.index.hurried():
                self.index.touch(name, time.time())
        except (sqlite3.OperationalError, StoreFailed):  # read-only, full, or locked for long
            pass

    # reading

    def open(self, target: Target) -> "StreamReader":
        """Open one stream of a buffer; for ``all`` see `open_merged`. Raises ExpiredRef or StoreFailed if gone.

        Its status shows whether it is what was sealed. Where it does not, it is hashed once; see `checked`.
        """
        with self._checked_if_lost(target.buffer):
            reader = disk.open_stream(self.layout, target.buffer, target.stream)
        if reader.byte_count and disk.standing(target.buffer, target.stream, reader.status) == disk.UNKNOWN:
            self.checked(target.buffer, target.stream)
        return reader

    def open_merged(self, buffer: Buffer) -> "MergedReader":
        """Open both streams of a buffer in order of arrival. Raises what `open` raises."""
        with self._checked_if_lost(buffer):
            merged = disk.open_merged(self.layout, buffer)
        self.checked(buffer, *buffer.streams)
        return merged

    def checked(self, buffer: Buffer, *opened: str) -> Buffer:
        """Return a record after comparing the status of its files with their seals.

        Files that differ are hashed once, and what is found is kept in the record: either they are altered, or only
        their times are new. In a store that cannot be written to, it is kept until this store is closed.

        Args:
            buffer: the record.
            opened: streams that are also hashed if they have no seal, since a version without seals wrote them.
        """
        if buffer.state not in disk.SEALED_STATES or not any(disk.unsettled(self.layout, buffer, opened)):
            return buffer
        if os.path.lexists(self.layout.tombstone(buffer.name)):
            return buffer  # it was removed meanwhile
        known = self._seals.get(buffer.name)
        if known is None:  # another process may have found it
            found = None
            with suppress(IndexFailed, SightlineError):  # otherwise it is compared once more
                found = self.index.buffer(buffer.name)
            known = found.seals if found else buffer.seals
        buffer = buffer._replace(seals=known)
        files = tuple(disk.unsettled(self.layout, buffer, opened))
        if not files:
            return buffer
        made = disk.compared(self.layout, buffer, files)
        if made.seals != known:
            self._keep_seals(made)
        return made

    @contextmanager
    def _checked_if_lost(self, buffer: Buffer) -> Iterator[None]:
        """Note that an output is altered if the file that is opened meanwhile is gone, or something else."""
        try:
            yield
        except (StoreFailed, UnsafeStore):
            self.checked(buffer)
            raise

    def look_for_changes(self, seconds: float | None = None) -> None:
        """Compare the status of all files with their seals; what differs is hashed once, as `checked` does.

        Args:
            seconds: how long to go on with that, where the last such call has stopped, and at most once a minute
                through all; None to compare all now.
        """
        now = time.monotonic()
        if seconds is not None and not self._compared_to and now < self._compare_again:
            return
        ends = float("inf") if seconds is None else now + seconds
        at = "" if seconds is None else self._compared_to
        while page := self.index.seals(at, _COMPARED_AT_ONCE):
            for name in disk.suspects(self.layout, page):
                if (buffer := self.index.buffer(name)) is not None:
                    self.checked(buffer)
            self._compared_to = at = page[-1][0]
            if time.monotonic() >= ends:
                return
        self._compared_to, self._compare_again = "", time.monotonic() + _COMPARING_SECONDS

    def rehashed(self, buffer: Buffer, took: Callable[[int], None] | None = None) -> Buffer:
        """Return the record of a sealed buffer after hashing all of its files, whatever their status; see `checked`.

        Args:
            buffer: the record.
            took: called with each number of bytes that were hashed.
        """
        made = disk.compared(self.layout, buffer, disk.sealed_files(buffer), took)
        if made.seals != buffer.seals:
            self._keep_seals(made)
        return made

    def _keep_seals(self, buffer: Buffer) -> None:
        self._seals[buffer.name] = buffer.seals
        with suppress(IndexFailed, SightlineError):  # locked for long, or of a newer version: this process knows it
            if not self.index.unwritable:
                with self.index.hurried():
                    self.amend(buffer.name, seals=buffer.seals)
                del self._seals[buffer.name]

    def path(self, target: Target, *, to_come: bool = False) -> str:
        """Return a file with the raw bytes of a stream, for any Unix tool; ``all`` is made at its first use.

        Args:
            target: the stream.
            to_come: for an empty stream that is still written, whether to return the file that it will have.
        """
        with self._checked_if_lost(target.buffer):
            path = disk.stream_path(self.layout, target.buffer, target.stream)
        self.checked(target.buffer, *(target.buffer.streams if target.stream == "all" else (target.stream,)))
        if to_come and path == os.devnull and target.buffer.state == "running":
            return self.layout.stream(target.buffer.name, target.stream)
        return path

    def path_by_content(self, target: Target) -> str:
        """Return the same file under the name ``SHA256.json``; while it is still written, that of `path`."""
        return disk.content_path(self.layout, self.checked(target.buffer, target.stream), target.stream)

    def open_text(self, target: Target) -> "StreamReader":
        """Open a stream for reading by lines: as `open`, but for a result's JSON block in its pretty form."""
        facts = self.pretty_facts(target)
        if facts is None:
            return self.open(target)
        self.checked(target.buffer, target.stream)
        return disk.open_pretty(self.layout, target.buffer, target.stream, facts)

    def local_copy(self, target: Target, *, raw: bool = False) -> str:
        """Return a file with these lines, or with the raw bytes, for programs that read files. Raises as `open`."""
        facts = None if raw else self.pretty_facts(target)
        if facts is None:
            return self.path(target)
        self.checked(target.buffer, target.stream)
        return disk.pretty_path(self.layout, target.buffer, target.stream, facts)

    def stand_ins(self, wanted: Iterable[tuple[str, Target, bool, bool]]) -> "StandIns":
        """Make the files that a command gets in place of its refs.

        Args:
            wanted: for each ref a key for its path, what it names, whether the command only reads it, and whether it
                gets a JSON result as it was sent.

        Raises:
            StoreFailed: one cannot be made, so that the command must not run.
            ExpiredRef, UnsafeStore: raised by `open`.
        """
        given = [
            disk.WantedRef(
                target.ref,
                self.local_copy(target, raw=is_raw),
                is_growing=target.buffer.state == "running" and target.stream != "all",
                only_read=only_read,
                key=key,
            )
            for key, target, only_read, is_raw in wanted
        ]
        return disk.take_stand_ins(self.layout, given)

    def pretty_facts(self, target: Target) -> "Facts | None":
        """Return the facts of a result block's pretty form; None for a stream whose lines are those of its bytes."""
        if target.buffer.kind != "tool":
            return None
        return disk.facts_of(target.buffer, target.stream)

    def open_log(self, session: str) -> BinaryIO:
        """Open the log of a session, lines of JSON, for reading from any byte on. Raises FileNotFoundError."""
        return open(open_private(self.layout.audit_file(session), os.O_RDONLY), "rb")

    open_events = open_log

    # writing and keeping

    def begin(self, kind: str, command: str, cwd: str, session: str, **fields: Any) -> "Recording":
        """Begin a capture under a new name.

        Args:
            kind: ``cmd``, ``file`` or ``tool``.
            command: what is captured; bytes that are not UTF-8 are written as escapes.
            cwd: working directory.
            session: the session that captures.
            fields: further fields of the record, such as label, artifact or origin.

        Raises:
            StoreFailed: the store cannot keep it.
        """
        self.refuse_anothers()
        if kind != "file" and (told := self.redaction()):  # a file is found by its path
            command, fields = told.text(command), told.value(fields)
        project = find_project(cwd)
        buffer = disk.new_buffer(
            disk.reserve(self.layout, kind), kind, command, cwd, session, project=project, **fields
        )
        return disk.Recording(
            self.layout,
            lambda: self.index,  # opened while the command runs
            buffer,
            max_stream_bytes=self.settings.max_stream_bytes,
            durable=self.settings.durable,
            redaction=self.redaction(),
            later=self.later if kind == "cmd" and self._wake else None,
        )

    def redaction(self) -> "Redaction | None":
        """Return what hides the secrets of one capture or text; None if no person has turned that on."""
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
                    raise disk.gone(self.layout, name)
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
        """Return the buffer with a harness' id, even if the index was locked for it. It may be evicted."""
        known = self.index.of_artifact(artifact)
        return disk.waiting_for_index(self.layout, artifact) if known is None and marker_names(self.layout) else known

    def clock(self) -> Clock:
        """Return what the store's starts say of the clock, by which outputs expire; this counts as one of them."""
        if self._clock is None or abs(time.time() - self._clock.seen) > _CLOCK_SECONDS:
            self._clock = note_start(self.layout, self._last_use)
        return self._clock

    def _last_use(self) -> float | None:
        """Return the last use before this start; asked once, at the first start of a version that notes starts."""
        last = self.index.last_use_before(self._opened)
        days = self.settings.max_age_days
        if last is not None and days == Settings().max_age_days:
            self.notices.append(
                f"outputs now stay {days:.0f} days, {self.settings.max_buffers:,} of them and "
                f"{self.settings.max_bytes >> 30} GiB at most: max_age_days, max_buffers and max_bytes in "
                f"{self.layout.config} change that"
            )
        return last

    def over_limits(self, batch: int = 64) -> list[Buffer]:
        """Return buffers over the limits of count, bytes and age, in a batch, least recently used first.

        The buffer used last only goes for its age, because a reply may just have named it. If nothing is over the
        limits, this takes two look-ups. A large store that is over its number of outputs gives some more away, so that
        not each further capture has to evict one.
        """
        totals = self.index.totals()
        oldest = time.time() - self.settings.max_age_days * _DAY_SECONDS
        if self.clock().before is not None:
            oldest = float("-inf")
        size = totals.bytes - self.settings.max_bytes
        if self._has_stand_ins:
            size += disk.stand_in_bytes(self.layout)
        count = totals.buffers - self.settings.max_buffers
        crowded = count > 0 or size > 0
        if count > 0:
            count += min(_SPARE_BUFFERS, self.settings.max_buffers // 1_000)
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

    @property
    def _has_stand_ins(self) -> bool:
        """Whether there are any, which few stores have."""
        return os.path.isdir(self.layout.refs) and bool(os.listdir(self.layout.refs))

    def remove(self, buffer: Buffer, reason: str, left: Callable[[], dict[str, Any]] = dict) -> bool:
        """Remove a buffer's bytes, and leave a tombstone.

        On a full disk without room for that, the bytes are removed first, if they are enough to make room.

        Args:
            buffer: the buffer's record; it must not be running.
            reason: ``evicted``, which keeps it in the list, or ``removed``.
            left: returns more for the tombstone, such as what views quote; called while nobody else can remove it.

        Returns:
            False if another process was first, or has pinned the buffer meanwhile.

        Raises:
            StoreFailed: the tombstone could not be written, or the bytes not be removed.
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
            disk.take_bytes(self.layout, known, at_least=_ROOM_BYTES)
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
        if self._has_stand_ins:
            disk.sweep_stand_ins(self.layout)
        return True


def _may_go(buffer: Buffer, reason: str) -> bool:
    return buffer.state != "evicted" and not (buffer.pinned and reason == "evicted")
