"""Opens a store's index at its first use, opens it again if it was replaced, and lets changes of it wait.

If nothing can be written to it, it is opened for reading, and writing is tried again later.
"""

import _thread
import os
import time

from sightline.base.errors import OfNewerVersion, StoreFailed
from sightline.disk.database import Database, identity_of, set_aside
from sightline.disk.errors import anothers, cause_of, is_broken, is_busy, unwritable
from sightline.disk.index import Index, IndexChange
from sightline.disk.index_place import place_index, take_place, warning
from sightline.disk.layout import Layout
from sightline.disk.live import marker_names
from sightline.disk.sqlite import sqlite3
from sightline.light.library import deque, suppress
from sightline.light.typing_names import Any, Callable
from sightline.settings.config import Settings

_RETRY_SECONDS = 2.0  # between two tries to write to an index that could not be written to


class IndexAccess:
    """The index of one store. Threads may share it.

    Attributes:
        anothers: why the store is another's, which is only read; empty if it is ours.
        settings: the store's settings.
        notices: what a person must know of the index, a sentence each.
        filled: gets how many outputs of how many are read while a lost index is made anew; None for nobody.
    """

    def __init__(self, layout: Layout, settings: Settings, anothers: str, *, patience: float, waits: bool) -> None:
        """Prepare to open the index; for ``patience`` and ``waits`` see `Store`."""
        self.settings, self.anothers = settings, anothers
        self.notices = list[str]()
        self.filled: Callable[[int, int], None] | None = None
        self._layout, self._patience, self._waits = layout, patience, waits
        self._index: Index | None = None
        self._retired = list[Index]()  # left to the threads that use them
        self._retry_at = 0.0
        self._opening = _thread.RLock()  # held while an index is opened, so that only one is
        self._waiting = deque[IndexChange]()
        self._wake: Callable[[], None] | None = None

    def close(self) -> None:
        """Close the index, after it has taken in what waits for it."""
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

    def refuse_anothers(self) -> None:
        """Raise StoreFailed if this is another's store, which is only read; see `judge_store`."""
        if self.anothers:
            raise StoreFailed(*anothers(self.anothers))

    @property
    def index(self) -> Index:
        """The index with all that waited for it. Raises what `index_behind` raises."""
        if self._waiting:
            self.settle()
        return self.index_behind

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

    def try_again(self) -> None:
        """Try at the next use to write to an index that could not be written to, because there is room now."""
        self._retry_at = 0.0

    @property
    def identity(self) -> tuple[int, int] | None:
        """The identity of the index' file, which changes if the store was removed and made again; None without one."""
        return identity_of(self._layout.index)

    def start_anew(self) -> None:
        """Set the index aside and open an empty one, which the caller fills. Raises StoreFailed if it is another's."""
        self.refuse_anothers()
        self.close()
        if os.path.exists(self._layout.index):
            set_aside(self._layout.index)
        self._index = Index(self._database())

    def take_in_sealed(self) -> bool:
        """Take outputs that others have sealed, and not told the index of yet, into it; False if it is locked."""
        index = self.index
        if not index.unwritable and marker_names(self._layout):  # otherwise nothing need be loaded for it
            from sightline.disk.recovery import take_in_sealed

            try:
                with index.hurried():
                    take_in_sealed(self._layout, index)
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise
                return False
        return True

    # changes that wait

    def let_wait(self, wake: Callable[[], None]) -> None:
        """Let changes of the index wait from now on, which made together take less time, and none of a reply's.

        Whoever uses the index finds them made. Other processes find views in the log, and outputs by their names.

        Args:
            wake: called with each change; it has to see to it that `settle` is called soon.
        """
        self._wake = wake

    @property
    def lets_wait(self) -> bool:
        """Whether changes may wait."""
        return self._wake is not None

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
    def is_behind(self) -> bool:
        """Whether anything waits for the index."""
        return bool(self._waiting)

    # opening

    def _is_another(self, index: Index) -> bool:
        """Return whether another file lies where the index' file was."""
        return index.identity is not None and self.identity not in (None, index.identity)

    def _is_tried_again(self, index: Index) -> bool:
        """Return whether the index could not be written to, and it is time to try again."""
        return bool(index.unwritable) and not self.anothers and time.monotonic() > self._retry_at

    def _take_up(self, index: Index) -> None:
        if self._index is not None:
            self._retired.append(self._index)
        self._index = index

    def _take_place(self) -> None:
        """Find where the index lies, and note that this host uses it. Raises StoreFailed if another host does."""
        if self.settings.index_folder:
            place_index(self._layout, self.settings.index_folder)
        try:
            notice = take_place(self._layout)
        except OSError as error:
            if unwritable(error, self._layout.root) is None:
                raise
            notice = warning(self._layout)
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
                why = unwritable(error, self._layout.root)
                if why is None:
                    raise
                self._retry_at = time.monotonic() + _RETRY_SECONDS
                return self._filled(Index(self._database(unwritable=why.what)))
        except (sqlite3.Error, OSError) as error:
            what, hint = cause_of(error, self._layout.root)
            raise StoreFailed(f"the store at {self._layout.root} cannot be opened: {what}", hint) from error

    def _index_to_write(self) -> Index:
        index = self._sound_index()
        if index is None:
            with self._layout.locked():  # if several find it broken, the first sets it aside
                index = self._sound_index()
                if index is None:
                    self.notices.append(
                        f"the index was damaged: it is made anew, and kept as {set_aside(self._layout.index)}"
                    )
                    index = Index(self._database())
        return self._filled(index)

    def _filled(self, index: Index) -> Index:
        """Fill the index from the folders, unless that was completed before."""
        index.tell = self.notices.append
        try:
            if index.is_unfilled():
                from sightline.disk.index_filling import fill_index  # needed once in the life of an index

                told: dict[str, Any] = {} if self.filled is None else {"filled": self.filled}
                unreadable = fill_index(self._layout, index, patience=self._patience, waits=self._waits, **told)
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
            self._layout.index,
            durable=self.settings.durable,
            patience=self._patience,
            unwritable=unwritable,
            is_anothers=bool(self.anothers),
        )
