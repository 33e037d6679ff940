"""The store: the one object that everything above the disk uses.

It finds buffers by ref, opens their streams, begins captures and keeps records. The rest is in `disk/` (bytes, rows,
and how the index is opened), `log/` (views, notes, what happens to old buffers), `audit/` (coverage and what follows
from it), `verbs/`.

What only few commands need is loaded late: `disk.ref_lookup`, `disk.recovery` and `disk.pretty` would take 3 ms of a
start.
"""

import os
import time

from sightline import disk
from sightline.base.errors import SightlineError, StoreFailed, UnsafeStore
from sightline.base.private_files import open_private, why_closed
from sightline.base.project import Project, find_project
from sightline.base.records import Buffer, plain_codes
from sightline.base.records import Narrowed as Narrowed
from sightline.base.records import Narrowing as Narrowing
from sightline.base.records import Target as Target
from sightline.base.refs import Ref
from sightline.disk import reading
from sightline.disk.database import BUSY_SECONDS
from sightline.disk.errors import cause_of as cause_of
from sightline.disk.errors import is_broken as is_broken
from sightline.disk.errors import is_busy, store_failed
from sightline.disk.errors import is_known as is_known
from sightline.disk.index import Index
from sightline.disk.index_access import IndexAccess
from sightline.disk.layout import Layout as Layout  # exported here, like other names with `as`
from sightline.disk.limits import Limits
from sightline.disk.live import marker_names
from sightline.disk.reading import JudgedSession as JudgedSession
from sightline.disk.reading import Place as Place
from sightline.disk.reading import StatedAlarm as StatedAlarm
from sightline.disk.reading import StatedSessions as StatedSessions
from sightline.disk.reading import ToExamine as ToExamine
from sightline.disk.rows import Listed as Listed
from sightline.disk.rows import ListFacts as ListFacts
from sightline.disk.rows import Rows as Rows
from sightline.disk.sqlite import sqlite3
from sightline.light.late_imports import late_modules, late_names
from sightline.light.library import contextmanager, suppress
from sightline.light.typing_names import TYPE_CHECKING, Any, BinaryIO, Callable, Iterator
from sightline.settings.config import Settings, default_root, judge_store, load_settings, settings_state

if TYPE_CHECKING:
    from sightline.disk.changes import Change as Change
    from sightline.disk.changes import Changes
    from sightline.disk.pretty import Facts
    from sightline.disk.request_rows import RequestRows
    from sightline.disk.stand_ins import StandIns as StandIns
    from sightline.settings.plugins import RuleFile

with late_modules(globals()):
    from sightline.disk import meta  # few write a record anew

with late_names(globals()):
    from sightline.disk.merged_streams import MergedReader as MergedReader
    from sightline.disk.recording import Recording as Recording  # 1 ms, which whoever only reads does not need
    from sightline.disk.streams import StreamReader as StreamReader  # 1 ms, which lists do not need

STORE_VARIABLE = "SIGHTLINE_STORE"
"""The default for ``--store``, the address of what is read in place of this machine's store."""

IndexFailed = sqlite3.Error
"""What the index raises if it cannot be read or written. Python's own `sqlite3`, which has it too, loads `datetime`."""

_COMPARING_SECONDS = 60.0  # between two looks at the status of all files: 0.4 s for 100,000 outputs, from a disk 20 s
_COMPARED_AT_ONCE = 1_000  # outputs
_RULES_SECONDS = 1.0  # between two looks at added files of rules


class Store(reading.Reading["Store"]):
    """One store on disk.

    Attributes:
        root: its folder.
        access: opens its index.
        limits: what of it is over the limits of its settings.
        notices: what a person must know of the store, a sentence each, for whoever opened it to print.
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
        self.root = self.layout.root
        self._config = os.path.join(root, "config.toml")
        self._settings_state = None if settings is not None else settings_state(self._config)
        if settings is None:
            settings = load_settings(self._config)
        else:
            judge_store(root)
        self.anothers = why_closed(self.root)
        self.access = IndexAccess(self.layout, settings, self.anothers, patience=patience, waits=waits)
        self.notices = self.access.notices
        try:
            if not self.anothers or not os.path.isdir(self.root):
                self.layout.ensure()
        except OSError as error:
            if insist:
                self.access.refuse_anothers()
                what, _ = cause_of(error, self.root)
                raise StoreFailed(
                    f"the store at {self.root} cannot be used: {what}",
                    "make room on its disk and let your account write to it, or set SIGHTLINE_HOME to another folder",
                ) from error
        self.limits = Limits(self.layout, self.access)
        self.judged: Callable[[int, int, str], None] | None = None
        self._rule_files: tuple[float, tuple[RuleFile, ...]] = (float("-inf"), ())
        self._seals = dict[str, str]()  # by name, those that could not be kept in the record
        self._compared_to = ""  # the output up to which files were compared with their seals; empty for none
        self._compare_again = 0.0  # when the next comparison of all may begin, by the monotonic clock

    def close(self) -> None:
        """Close the index."""
        self.access.close()

    def obey_settings(self) -> bool:
        """Read the settings anew if a file of theirs has changed since, and return whether it has.

        For each call to what runs for long; those that were given to the store instead of its files stay.

        Raises:
            SettingError: they are wrong now; the next call raises it, too.
        """
        if self._settings_state is None or (state := settings_state(self._config)) == self._settings_state:
            return False
        self.access.settings = load_settings(self._config)
        self._settings_state = state
        return True

    @property
    def settings(self) -> Settings:
        """Its settings, as they were read last."""
        return self.access.settings

    @property
    def index(self) -> Index:
        """The index with all that waited for it; see `IndexAccess.index_behind`."""
        return self.access.index

    @property
    def requests(self) -> "RequestRows":
        """The statements on requests to models."""
        return self.index.requests

    @property
    def rule_files(self) -> "tuple[RuleFile, ...]":
        """The added files of rules; none of another's store."""
        from sightline.settings.plugins import rule_files  # needed only if something may have failed

        looked, files = self._rule_files
        if (now := time.monotonic()) - looked > _RULES_SECONDS:  # a list asks for each of its buffers
            self._rule_files = now, (files := () if self.anothers else rule_files(self.root))
        return files

    # finding

    def resolve(self, ref: str | Ref, *, session: str | None = None, prefixes: bool = False) -> Target:
        """Return what a ref names; see `Reading`."""
        lookup = disk.RefLookup(self.layout, self.index, self.adopt, self.access.take_in_sealed)
        return lookup.find(ref, session=session, prefixes=prefixes)

    def tombstone(self, name: str) -> dict[str, Any] | None:
        """Return what its tombstone says."""
        return disk.read_tombstone(self.layout, name)

    def with_progress(self, buffer: Buffer) -> Buffer:
        """Return the record with the sizes of its files, and seals that could not be kept."""
        if buffer.name in self._seals:
            return buffer._replace(seals=self._seals[buffer.name])
        if buffer.state == "running" and self.index.unwritable:
            buffer = self.adopt(buffer.name) or buffer
        return disk.with_progress(self.layout, buffer) if buffer.state == "running" else buffer

    def listed(
        self,
        limit: int,
        *,
        before: int | None = None,
        session: str | None = None,
        project: Project | None = None,
    ) -> list[Listed]:
        """List buffers, running ones as they are now."""
        self.end_dead_captures()
        return [
            Listed(self.with_progress(item.buffer), item.used)
            for item in self.index.listed(limit, before=before, session=session, project=project)
        ]

    @property
    def local(self) -> "Store":
        """This store."""
        return self

    def end_dead_captures(self) -> None:
        """End captures whose markers nobody holds any more."""
        if self.index.unwritable:
            return
        if marker_names(self.layout) or self.index.running():  # otherwise nothing need be loaded for it
            disk.adopt_dead(self.layout, self.index)

    def adopt(self, name: str) -> Buffer | None:
        """Report one capture as interrupted if its writer has died; return its record."""
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
        """Open both streams by the recorded order."""
        with self._checked_if_lost(buffer):
            merged = disk.open_merged(self.layout, buffer)
        self.checked(buffer, *buffer.streams)
        return merged

    def checked(self, buffer: Buffer, *opened: str) -> Buffer:
        """Return a record after comparing the status of its files with their seals.

        Files that differ are hashed once, and what is found is kept in the record: either they are altered, or only
        their times are new. In a store that cannot be written to, it is kept until this store is closed.
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
        """Compare the status of all files with their seals, as `checked` does."""
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

    def path(self, target: Target, *, to_come: bool = False, by_content: bool = False) -> str:
        """Return a file with the raw bytes of a stream, for any Unix tool; ``all`` is made at its first use.

        Args:
            target: the stream.
            to_come: for an empty stream that is still written, whether to return the file that it will have.
            by_content: whether to return it under the name ``SHA256.json``, once it is written.
        """
        if by_content:
            return disk.content_path(self.layout, self.checked(target.buffer, target.stream), target.stream)
        with self._checked_if_lost(target.buffer):
            path = disk.stream_path(self.layout, target.buffer, target.stream)
        self.checked(target.buffer, *(target.buffer.streams if target.stream == "all" else (target.stream,)))
        if to_come and path == os.devnull and target.buffer.state == "running":
            return self.layout.stream(target.buffer.name, target.stream)
        return path

    def open_pretty(self, target: Target, facts: "Facts") -> "StreamReader":
        """Open the pretty form, which is made at its first use."""
        self.checked(target.buffer, target.stream)
        return disk.open_pretty(self.layout, target.buffer, target.stream, facts)

    def local_copy(self, target: Target, *, raw: bool = False) -> str:
        """Return the stored file, or the pretty form of one."""
        facts = None if raw else self.pretty_facts(target)
        if facts is None:
            return self.path(target)
        self.checked(target.buffer, target.stream)
        return disk.pretty_path(self.layout, target.buffer, target.stream, facts)

    def open_log(self, session: str) -> BinaryIO:
        """Open the audit file of a session."""
        return open(open_private(self.layout.audit_file(session), os.O_RDONLY), "rb")

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
        self.access.refuse_anothers()
        redaction = self.settings.redaction()
        if kind != "file" and redaction:  # a file is found by its path
            command, fields = redaction.text(command), redaction.value(fields)
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
            redaction=self.settings.redaction(),  # of its own, which counts what it hides
            later=self.access.later if kind == "cmd" and self.access.lets_wait else None,
        )

    def amend(self, name: str, **fields: Any) -> Buffer:
        """Change a sealed buffer's record (pin, label, exit code).

        Raises:
            UnknownRef: there is no such buffer.
            StoreFailed: the record could not be written.
        """
        fields = plain_codes(**fields)
        try:
            with self.index.transaction():
                buffer = self.index.buffer(name)
                if buffer is None or buffer.state == "evicted":
                    raise disk.gone(self.layout, name)
                buffer = buffer._replace(**fields)
                if buffer.state != "running":
                    meta.rewrite_meta(self.layout, buffer, durable=self.settings.durable)
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

    def remove(self, buffer: Buffer, reason: str, left: Callable[[], dict[str, Any]] = dict) -> bool:
        """Remove a buffer's bytes, and leave a tombstone.

        Args:
            buffer: the buffer's record; it must not be running.
            reason: ``evicted``, which keeps it in the list, or ``removed``.
            left: returns more for the tombstone, such as what views quote; called while nobody else can remove it.

        Returns:
            False if another process was first, or has pinned the buffer meanwhile.

        Raises:
            StoreFailed: the tombstone could not be written, or the bytes not be removed.
        """
        return disk.Removal(self.layout, self.access, buffer, reason, left).done()


Reading = reading.Reading[Store]
"""A store of any kind, beside which this machine's own store logs what is shown."""
