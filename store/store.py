"""The store: the one object that everything above the disk uses.

It finds buffers by ref, opens their streams, begins captures and keeps records. Where the rest is: `disk/` (bytes and
rows), `audit/` (views, coverage, what happens to old buffers), `tools/` (the verbs).
"""

import json
import os
import sqlite3
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from sightline.store import refs
from sightline.store.config import Settings, default_root, load_settings
from sightline.store.disk.database import Database, is_broken, set_aside
from sightline.store.disk.index import Index, Listed
from sightline.store.disk.layout import (
    SEALED_MODE,
    Layout,
    open_private,
    read_file,
    refuse_link,
    remove_file,
    remove_folder,
    write_atomically,
)
from sightline.store.disk.lines import Checkpoints, StreamIndex
from sightline.store.disk.meta import encode_buffer, read_meta, write_meta
from sightline.store.disk.order import STREAM_CODES
from sightline.store.disk.recording import Recording, reserve
from sightline.store.disk.streams import StreamReader
from sightline.store.errors import AmbiguousRef, BadRef, ExpiredRef, StoreFailed, UnknownRef
from sightline.store.records import Buffer, StreamInfo
from sightline.store.refs import Ref

if TYPE_CHECKING:  # loaded when they are needed: most commands need neither
    from sightline.store.disk.merged import MergedReader


class Target(NamedTuple):
    """What a ref names.

    Attributes:
        buffer: its record.
        stream: ``out``, ``err``, ``all`` or ``part.N``.
        first: first line of the range, 0 where there is none.
        last: last line; 0 for "to the end" or where there is no range.
    """

    buffer: Buffer
    stream: str
    first: int = 0
    last: int = 0

    @property
    def ref(self) -> str:
        """The ref of the buffer's stream, without the range."""
        return refs.format_ref(self.buffer.name, self.stream)


class Store:
    """One store on disk. Threads may share it; close it, or use it as a context manager."""

    def __init__(self, root: str | None = None, settings: Settings | None = None) -> None:
        """Open the store, making it where it is missing; the index is opened when it is first needed.

        Args:
            root: the store's folder; ``$SIGHTLINE_HOME`` or the platform's state folder by default.
            settings: instead of those of the root's ``config.toml`` and the environment.

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
            raise StoreFailed(
                f"the store at {self.layout.root} cannot be used: {error.strerror}",
                "make its folder writable, or set SIGHTLINE_HOME to another one",
            ) from error
        self._index: Index | None = None

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()
            self._index = None

    @property
    def root(self) -> str:
        """The store's folder."""
        return self.layout.root

    @property
    def index(self) -> Index:
        """The index; made anew from the folders where it is missing or broken."""
        if self._index is None:
            self._index = self._open_index()
        return self._index

    def _open_index(self) -> Index:
        index = self._sound_index()
        if index is None:
            with self.layout.locked():  # of several that find it broken, the first sets it aside
                index = self._sound_index()
                if index is None:
                    set_aside(self.layout.index)
                    index = Index(Database(self.layout.index, durable=self.settings.durable))
        if index.is_new and (os.listdir(self.layout.buffers) or os.listdir(self.layout.tombstones)):
            from sightline.store.disk.recovery import rebuild_buffers

            rebuild_buffers(self.layout, index)
        return index

    def _sound_index(self) -> Index | None:
        """The index that is there, or a new one where there is none; None where it is broken."""
        database = None
        try:
            database = Database(self.layout.index, durable=self.settings.durable)
            index = Index(database)
            index.totals()
            return index
        except sqlite3.DatabaseError as error:
            if database is not None:
                database.close()
            if not is_broken(error):
                raise StoreFailed(f"the index cannot be opened: {error}", "`sightline doctor` tells more") from error
            return None

    def start_index_anew(self) -> None:
        """Set the index aside and open an empty one; filling it is the caller's."""
        self.close()
        if os.path.exists(self.layout.index):
            set_aside(self.layout.index)
        self._index = Index(Database(self.layout.index, durable=self.settings.durable))

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
        parsed = refs.parse_ref(ref) if isinstance(ref, str) else ref
        buffer, stream = self._find(parsed, session, prefixes)
        stream = parsed.stream or stream
        if stream.startswith("part.") and stream not in buffer.streams and buffer.state != "running":
            raise BadRef(
                f"{buffer.ref} has no block {stream[5:]}", f"it has: {', '.join(buffer.streams) or 'no bytes'}"
            )
        return Target(buffer, stream, parsed.first, parsed.last)

    def _find(self, ref: Ref, session: str | None, prefixes: bool) -> tuple[Buffer, str]:
        if ref.name:
            return self._named(ref.name, prefixes), "out"
        if ref.back is not None:
            found = self.index.newest_command(ref.back, session)
            if found is None:
                whose = "in the store" if session is None else "of this session"
                raise UnknownRef(f"there is no {'@last' if not ref.back else f'@last~{ref.back}'} {whose}", _LIST_HINT)
            return self._current(found), "out"
        if ref.sha256:
            return self._hashed(ref.sha256)
        found = self.index.of_artifact(ref.artifact)
        if found is None:
            raise UnknownRef(f"no buffer was imported as {ref.artifact}", _LIST_HINT)
        return self._current(found), "out"

    def _named(self, name: str, prefixes: bool) -> Buffer:
        found = self.index.buffer(name) or self._on_disk(name)
        if found is None and prefixes and not os.path.lexists(self.layout.tombstone(name)):
            matches = self.index.with_prefix(name)
            if len(matches) > 1:
                names = ", ".join(match.ref for match in matches)
                raise AmbiguousRef(f"@{name} could be any of {names}", "type one more digit")
            found = matches[0] if matches else None
        if found is None or found.state == "evicted":
            raise self._gone(found.name if found else name)
        return self._current(found)

    def _on_disk(self, name: str) -> Buffer | None:
        """A buffer that the index does not know (yet): its folder tells, unless it is just being removed."""
        try:
            buffer = read_meta(self.layout, name)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        with self.index.transaction():
            if os.path.lexists(self.layout.tombstone(name)):
                return None
            self.index.put_buffer(buffer)
        return buffer

    def _hashed(self, prefix: str) -> tuple[Buffer, str]:
        matches = self.index.with_hash(prefix)
        if not matches:
            raise UnknownRef(f"no stream's hash begins with {prefix}", _LIST_HINT)
        if len({sha256 for sha256, _, _ in matches}) > 1:
            raise AmbiguousRef(f"several hashes begin with {prefix}", "give more of its digits")
        _, name, stream = matches[0]
        return self._named(name, prefixes=False), stream

    def _gone(self, name: str) -> UnknownRef | ExpiredRef:
        tombstone = self.tombstone(name)
        if tombstone is None:
            return UnknownRef(f"no buffer is, or was, called @{name}", _LIST_HINT)
        how = {"file": "read the file again", "tool": "call the tool again"}.get(
            tombstone["kind"], "run the command again"
        )
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(tombstone["gone"]))
        what = " ".join(str(tombstone["command"]).split())[:200]
        return ExpiredRef(f"@{name} expired ({tombstone['reason']} {when}): {what}", how)

    def tombstone(self, name: str) -> dict[str, Any] | None:
        """What is left of a buffer that is gone, None where it never was."""
        try:
            tombstone = json.loads(read_file(self.layout.tombstone(name)))
        except (FileNotFoundError, ValueError):
            return None
        return tombstone if isinstance(tombstone, dict) else None

    def _current(self, buffer: Buffer) -> Buffer:
        """A running buffer whose writer died is marked before anyone sees it."""
        if buffer.state != "running":
            return buffer
        from sightline.store.disk.recovery import adopt

        adopted = adopt(self.layout, self.index, buffer.name)
        return adopted or self.with_progress(self.index.buffer(buffer.name) or buffer)

    def with_progress(self, buffer: Buffer) -> Buffer:
        """The record with what its streams hold now, where it is still running."""
        if buffer.state != "running":
            return buffer
        streams = dict(buffer.streams)
        for stream in STREAM_CODES:
            with self._reader(buffer, stream) as reader:
                if reader.byte_count:
                    streams[stream] = StreamInfo(reader.byte_count, reader.line_count)
        return buffer._replace(streams=streams)

    def listed(self, limit: int, *, before: int | None = None, session: str | None = None) -> list[Listed]:
        """Buffers with their places in the order of use, most recently used first; see `Index.listed`."""
        from sightline.store.disk.recovery import adopt_dead

        adopt_dead(self.layout, self.index)
        return [
            Listed(self.with_progress(item.buffer), item.used)
            for item in self.index.listed(limit, before=before, session=session)
        ]

    def touch(self, name: str) -> None:
        """A use by an agent, or by a person's command: the buffer becomes the most recently used."""
        self.index.touch(name, time.time())

    # reading

    def open(self, target: Target) -> StreamReader:
        """One stream of a buffer. For ``all`` see `open_merged`."""
        return self._reader(target.buffer, target.stream)

    def _reader(self, buffer: Buffer, stream: str) -> StreamReader:
        fd = self._open_file(buffer.name, stream)
        if fd < 0 and buffer.state != "running" and buffer.stream(stream).bytes:
            raise self._lost(buffer, stream)
        index = None
        if stream in STREAM_CODES and fd >= 0:
            lines_fd = self._open_file(buffer.name, "lines")
            if lines_fd >= 0 or buffer.state == "running" or buffer.stream(stream).bytes < _SCAN_BYTES:
                index = StreamIndex(Checkpoints(lines_fd), stream)
        return StreamReader(fd, refs.format_ref(buffer.name, stream), index)

    def _lost(self, buffer: Buffer, stream: str) -> ExpiredRef | StoreFailed:
        """A stream that the record has and the disk has not: gone a moment ago, or taken from outside."""
        gone = self._gone(buffer.name)
        if isinstance(gone, ExpiredRef):
            return gone
        return StoreFailed(f"the bytes of {buffer.ref} ({stream}) are missing", "`sightline doctor` tells more")

    def _open_file(self, name: str, file: str) -> int:
        refuse_link(self.layout.folder(name))
        try:
            return open_private(self.layout.stream(name, file), os.O_RDONLY)
        except FileNotFoundError:
            return -1

    def open_merged(self, buffer: Buffer) -> "MergedReader":
        """Both streams of a buffer in order of arrival."""
        from sightline.store.disk.merged import MergedReader

        return MergedReader(
            refs.format_ref(buffer.name, "all"),
            self._reader(buffer, "out"),
            self._reader(buffer, "err"),
            Checkpoints(self._open_file(buffer.name, "lines")),
            self._open_file(buffer.name, "order"),
        )

    def path(self, target: Target) -> str:
        """A file with the raw bytes of a stream, for any Unix tool; ``all`` is made beside them when asked for."""
        path = self.layout.stream(target.buffer.name, target.stream)
        refuse_link(self.layout.folder(target.buffer.name))
        refuse_link(path)
        if target.stream == "all":
            return self._merged_path(target.buffer, path)
        if os.path.exists(path):
            return path
        if target.buffer.state != "running" and target.buffer.stream(target.stream).bytes:
            raise self._lost(target.buffer, target.stream)
        return os.devnull

    def _merged_path(self, buffer: Buffer, path: str) -> str:
        merged = self.open_merged(buffer)
        try:
            if single := merged.single:
                return self.path(Target(buffer, single))
            if not os.path.exists(path) or os.stat(path).st_mode & 0o777 != SEALED_MODE:
                merged.copy_to(path)
                if buffer.state != "running":  # until then, what was copied is only a part
                    os.chmod(path, SEALED_MODE)
            return path
        finally:
            merged.close()

    # writing

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
        buffer = new_buffer(reserve(self.layout, kind), kind, command, cwd, session, **fields)
        return Recording(
            self.layout,
            lambda: self.index,  # opened while the command runs
            buffer,
            max_stream_bytes=self.settings.max_stream_bytes,
            durable=self.settings.durable,
        )

    def amend(self, name: str, **fields: Any) -> Buffer:
        """Change a sealed buffer's record (pin, label, exit code).

        Raises:
            UnknownRef: there is no such buffer.
        """
        with self.index.transaction():
            buffer = self.index.buffer(name)
            if buffer is None or buffer.state == "evicted":
                raise self._gone(name)
            buffer = buffer._replace(**fields)
            if buffer.state != "running":
                write_meta(self.layout, buffer, durable=self.settings.durable)
            self.index.put_buffer(buffer)
        return buffer

    def remove(self, buffer: Buffer, reason: str, left: Callable[[], dict[str, Any]] = dict) -> bool:
        """Take a buffer's bytes away and leave a tombstone.

        Args:
            buffer: its record; not running.
            reason: ``evicted`` (it stays in the list as that) or ``removed``.
            left: more for the tombstone, such as what views quote of it; asked while nobody else can remove it.

        Returns:
            False where another process was first, or has pinned what would have been evicted.
        """
        with self.index.transaction():
            known = self.index.buffer(buffer.name)
            if known is None or known.state == "evicted" or (known.pinned and reason == "evicted"):
                return False
            data = encode_buffer(buffer._replace(state="evicted"), reason=reason, gone=time.time(), **left())
            write_atomically(self.layout.tombstone(buffer.name), data, durable=self.settings.durable)
            if reason == "evicted":
                self.index.put_buffer(buffer._replace(state="evicted"))
                self.index.forget_hashes(buffer.name)
            else:
                self.index.forget_buffer(buffer.name)
        remove_file(self.layout.marker(buffer.name))
        remove_folder(self.layout.folder(buffer.name))
        return True


def new_buffer(name: str, kind: str, command: str, cwd: str, session: str, **fields: Any) -> Buffer:
    """The record of a capture that begins now; ``fields`` are further ones of it."""
    now = time.time()
    buffer = Buffer(
        name=name,
        kind=kind,
        state="running",
        command=storable(command),
        cwd=storable(cwd),
        session=session,
        created=now,
        ended=None,
        accessed=now,
        exit_code=None,
        signal=0,
        timed_out=False,
        label="",
        pinned=False,
        artifact="",
        note="",
        origin="",
        streams={},
    )
    storable_fields: dict[str, Any] = {
        name: storable(value) if isinstance(value, str) else value for name, value in fields.items()
    }
    return buffer._replace(**storable_fields)


def storable(text: str) -> str:
    """Text that every file and table of the store can hold: bytes of an argument that are no UTF-8 become ``\\xNN``."""
    try:
        return os.fsencode(text).decode(errors="backslashreplace")
    except UnicodeEncodeError:  # half a surrogate pair, as JSON can spell it
        return text.encode(errors="backslashreplace").decode()


_LIST_HINT = "`sightline list` (or list_outputs) shows what there is; if it is gone, run the command again"
_SCAN_BYTES = 1 << 16
