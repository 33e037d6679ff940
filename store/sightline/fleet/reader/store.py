"""The shared place as a store: `Reading` over the database and the object store that hosts ship to.

Rows come from the mirror on this machine, which is brought up to date on request, or continuously while somebody
follows it. Bytes are fetched from packs when they are needed, and checked against the announced hashes.
"""

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial

from sightline.audit.buffer_coverage import filtered_from
from sightline.audit.buffer_failures import rules_of
from sightline.base.errors import AmbiguousRef, ExpiredRef, SightlineError, StoreFailed, UnknownRef, UsageError
from sightline.base.private_files import open_private, remove_file
from sightline.base.records import Buffer, Note, StreamInfo
from sightline.base.refs import Ref, format_ref, host_of, parse_ref
from sightline.base.sha256 import sha256_hex
from sightline.disk.errors import is_broken, store_failed
from sightline.disk.index import Index
from sightline.disk.line_index import Checkpoints
from sightline.disk.merged_streams import MergedReader
from sightline.disk.pretty import Facts
from sightline.disk.ref_lookup import target_of
from sightline.disk.streams import StreamReader
from sightline.fleet.address import database_address, objects_address, password_program
from sightline.fleet.content import LEFT, ORDER
from sightline.fleet.database import READ_HINT, FleetUnreachable, LastingConnection
from sightline.fleet.objects import ObjectMissing, Objects, pack_key
from sightline.fleet.pack import Frame, TamperedPack, frame_at, frame_bytes, raw_bytes
from sightline.fleet.reader.live import RunningOutputs
from sightline.fleet.reader.log import LinesOfLog, SharedLog
from sightline.fleet.reader.mirror import Asks, Forget, LetGo, Mirror, Reach, SharedIndex
from sightline.fleet.reader.pack_cache import PackCache, Tampered
from sightline.fleet.reader.rows import REMARKS, GrantedHost, SharedRows, StoredOutput
from sightline.fleet.reader.streams import FrameReader
from sightline.fleet.reader.told_facts import ToldFacts
from sightline.light.typing_names import TYPE_CHECKING, Any, BinaryIO, cast
from sightline.log.log import NO_HASH
from sightline.log.notes import MAX_CHARACTERS
from sightline.log.retention import blank_shown
from sightline.settings.config import Settings
from sightline.shape.summary import human_seconds
from sightline.store import Narrowed, Narrowing, Place, Reading, StatedSessions, Store, Target, ToExamine

if TYPE_CHECKING:
    from sightline.base.project import Project, Scope
    from sightline.disk.changes import Change
    from sightline.fleet.reader.feed import SharedFeed
    from sightline.fleet.reader.host_findings import HostFindings
    from sightline.fleet.reader.usage import SharedRequests
    from sightline.shape.failure.catalogue import RuleFile

FOLDER = "shared"
"""Folder below the root of the local store, with a folder for each shared place."""

NEWEST = 20_000
"""The newest outputs that are followed; older ones can be had by name, or by a time."""

_READ_BYTES = 1 << 20
_PACK_AFTER = 2  # frames in a row that are fetched alone; then whole packs are, which take fewer requests
_AT_ONCE = 2_000  # outputs that are asked for in one statement
_FIRST_PAGE = 250  # more than the inspector lists at first
PATIENCE_SECONDS = 5.0  # a host that ships asks every three seconds whether somebody looks
_FIRST_STEP_SECONDS = 0.2
_GRANTED_SECONDS = 2.0  # after which the database is asked again which hosts may be read
_LIST_HINT = "`sightline list --store … --host NAME` shows what there is"


class Offline(FleetUnreachable):
    """The network must not be used."""


class _Replaced(Exception):
    """Something was purged from a pack, and the pack with this hash replaces it."""

    def __init__(self, by: str) -> None:
        super().__init__(by)
        self.by = by


class SharedStore(Reading):
    """A shared place, read as one store. What is read here is verified by its hash, so no file is compared with a seal.

    Attributes:
        address: address of the database, without any secret.
        offline: whether the network is not used.
        trouble: why it could not be brought up to date the last time; empty if it could.
    """

    def __init__(
        self, local: Store, database: str, *, offline: bool = False, patience: float = PATIENCE_SECONDS
    ) -> None:
        """Prepare the store; nothing is asked of the network yet.

        Args:
            local: the store of this machine.
            database: ``postgresql://user@host/database``.
            offline: whether to read only what was kept here before.
            patience: seconds for which a single reading waits for the first bytes of what runs on another host.

        Raises:
            BadAddress, SecretInAddress: it is not a valid address.
            StoreFailed: nothing can be kept below the local store.
        """
        self._local, self.offline, self._patience = local, offline, patience
        address = database_address(database)
        self.address = str(address)
        self._folder = os.path.join(local.root, FOLDER, sha256_hex(self.address.encode())[:16])
        self._cache = PackCache(self._folder)
        self._mirror = _opened(self._folder, self._let_go, self._forget_shown)
        command = password_program(local.settings.fleet, address)
        self._asking = LastingConnection(address, command)
        self._feeding = LastingConnection(address, command)  # so that neither waits for the other's reading
        self._rows = SharedRows(self._asking)
        self._objects: Objects | None = None
        self._hosts: dict[str, GrantedHost] = {}
        self._viewed: set[str] = set()
        self._updating = threading.Lock()
        self._running = RunningOutputs(self._folder, self._feeding)
        self._feed_runs = False
        self._granted_until = 0.0
        self._reach = self._mirror.reach()
        self.trouble = ""
        self._told = ToldFacts(self._asking)
        asks = Asks(
            self._fetch_buffer, self._fetch_buffers, self._fetch_views, self._fetch_judgements, self._renew_told
        )
        self._mirror.index.ask(asks, self._told)

    def close(self) -> None:
        """Let go of what is open."""
        self._asking.close()
        self._feeding.close()
        self._cache.close()
        self._mirror.close()

    @property
    def local(self) -> Store:
        """The store of this machine, whose log has what is shown of the shared one."""
        return self._local

    # what is asked of the database

    @property
    def rows(self) -> SharedRows:
        """The statements for the database. Raises Offline if it must not be asked."""
        if self.offline:
            raise Offline(f"{self.address} is not asked, since --offline was given", "leave --offline out")
        self._keep_to_grants()
        return self._rows

    def _keep_to_grants(self) -> None:
        """Remove what is kept of hosts that the reader may no longer read, whatever is wanted. Raises StoreFailed."""
        if self._granted_until > time.monotonic() or not self._updating.acquire(blocking=False):
            return  # or another thread does it
        try:
            if self._mirror.keep_to(self._rows.hosts()):
                self._hosts, self._reach = {}, self._mirror.reach()
            self._granted_until = time.monotonic() + _GRANTED_SECONDS
        finally:
            self._updating.release()

    def bring_up_to_date(self, since: float | None = None, /) -> bool:
        """Take in what hosts have announced, and return whether anything is new; offline, nothing is.

        Args:
            since: earliest time wanted, seconds since the epoch; by default that of the newest outputs.

        Raises:
            FleetUnreachable, FleetRefused, NotAFleet, NewerFleet: the database does not answer as it should.
        """
        if self.offline:
            return False
        rows = SharedRows(self._feeding)
        with self._updating:
            if since is None:
                known = self._mirror.since
                since = known if known < float("inf") else rows.begins_at(NEWEST)
            try:
                is_new = self._mirror.bring_up_to_date(rows, since)
                self._reach = self._mirror.reach()
                return is_new
            except sqlite3.Error as error:
                raise store_failed(error, self._folder) from error

    def narrowed(self, wanted: Narrowing, /) -> Narrowed | None:
        """Return the newest matching outputs, found by the database; see `Reading`. Offline, None."""
        if self.offline:
            return None
        running = self._take_in_running()  # before the others, so that none is missing that ends meanwhile
        stored, compared = self._matching(wanted) if wanted.text else ([], 0)
        if not wanted.text or (compared and wanted.words):
            stored += self.rows.found(wanted)
        self._take_in(stored)
        now = time.time()
        found = {one.name: (min(one.created, now), one) for one in running if _is_wanted(one, wanted)}
        found |= {one.buffer.name: (one.began, one.buffer) for one in stored if one.began >= wanted.since}
        newest = sorted(found.values(), key=lambda one: one[0], reverse=True)
        return Narrowed([buffer for _, buffer in newest[: wanted.limit]], compared)

    def _matching(self, wanted: Narrowing) -> tuple[list[StoredOutput], int]:
        """Return the best of the newest outputs whose titles match a text, and their number if there are others."""
        from sightline.search.matcher import ranked, terms_of, title_of  # most lists have no text

        newest, are_all = self.rows.titles(wanted, NEWEST)
        titles = [title_of(*title) for title in newest]
        places = ranked(terms_of(wanted.text), titles, with_similar=not wanted.best)
        names = [newest[at].name for at in places[: wanted.best or wanted.limit]]
        found = list[StoredOutput]()
        for start in range(0, len(names), _AT_ONCE):
            found += self.rows.named(names[start : start + _AT_ONCE])
        return found, 0 if are_all else len(newest)

    def to_examine(self, since: float, session: str = "", project: "Project | None" = None, /) -> "ToExamine | None":
        """Take in what an audit has to examine: what hosts have not examined, and what they found; see `Reading`.

        None also for a session that the database does not know by this name, such as one by its title.
        """
        if self.offline:
            return None
        if session and not (session := self.rows.session_named(session)):
            return None
        from sightline.audit.evidence.session_evidence import alarm_rules  # only an audit needs it, and 25 ms
        from sightline.fleet.reader.host_findings import HostFindings

        running = [
            one
            for one in self._take_in_running()
            if one.created >= since and session in ("", one.session) and (project is None or project.has(one))
        ]
        found = HostFindings(self._asking, since, rules_of(self), alarm_rules(self), session, project)
        outputs, origins, unexamined = dict[str, None](), set[str](), 0
        for buffer, judgement in (
            (one.stored.buffer, one.judgement) for one in self._mirror.take_in_suspects(found.suspects())
        ):
            outputs[buffer.name] = None
            origins.add(filtered_from(buffer))
            is_examined = buffer.kind == "cmd" and buffer.state != "evicted" and buffer.bytes > 0
            unexamined += is_examined and judgement is None
        cut = [name for name in found.cut() if name not in outputs]
        for start in range(0, len(cut), _AT_ONCE):
            self._mirror.take_in(self.rows.named(cut[start : start + _AT_ONCE]))
        viewed = list(origins - {""} | outputs.keys() | set(cut))
        if session:
            for start in range(0, len(viewed), _AT_ONCE):
                self._mirror.take_in_entries(self.rows.entries_of(viewed[start : start + _AT_ONCE]))
        else:
            self._mirror.take_in_entries(found.about(viewed))
        self._viewed.update(viewed)
        known, sessions = self._sessions(found, session, project)
        alarms = [alarm for one in known.values() for alarm in one.alarms]
        others, not_judged = found.others()
        return ToExamine([*outputs], cut, sessions, alarms, others, not_judged, unexamined, len(running), session)

    def stated_sessions(self, scope: "Scope", /) -> StatedSessions | None:
        """Return what hosts have told of the sessions of a scope; see `Reading`."""
        if scope.since >= self._told.before:
            return None
        from sightline.audit.evidence.session_evidence import alarm_rules  # 25 ms, which lists need not wait for
        from sightline.fleet.reader.host_findings import HostFindings

        session, since, project = scope
        found = HostFindings(self._asking, since, rules_of(self), alarm_rules(self), session or "", project)
        key = ("sessions", scope)
        return cast(StatedSessions, self._told.once(key, lambda: self._sessions(found, session or "", project)))

    def _renew_told(self) -> None:
        """Read what hosts have told of older outputs, if the mirror lacks any, and take in those to be judged here."""
        since = self._mirror.since
        if not since or self.offline:
            self._told.turn_off()
            return
        from sightline.audit.output_facts import UNTOLD_BY_HOST, output_rules  # lists have no verdict

        try:
            if self._told.renew(since, output_rules(self), UNTOLD_BY_HOST):
                self._fetch_buffers(self._told.here)
                self._fetch_views(self._told.here)
        except SightlineError:  # it does not answer, or its tables are older: the verdict says what it is about
            self._told.turn_off()

    def _sessions(self, found: "HostFindings", session: str, project: "Project | None") -> StatedSessions:
        """Return what is told of sessions, and those of which nothing is told, after taking in all of their calls."""
        of_sessions = found.alarms_of(found.with_relatives([session])) if session else found.alarms()
        # Alarms rest on the calls of relatives, too.
        unknown = set(found.with_relatives([name for name, known in of_sessions.items() if known is None]))
        wanted = [name for name, known in of_sessions.items() if (known and any(known)) or name in unknown]
        if session:
            wanted = [name for name in wanted if name == session]
        elif project is not None:
            wanted = found.at_project(wanted)
        sessions = [name for name in wanted if name in unknown]
        calling = [session] if session else []
        self._mirror.take_in_sessions(self.rows, found.entries_of(sorted({*found.with_relatives(sessions), *calling})))
        known = {name: told for name in wanted if name not in unknown and (told := of_sessions[name])}
        return StatedSessions(known, sessions)

    def _take_in_running(self) -> list[Buffer]:
        running = self.rows.running()
        self._mirror.take_in_running(running)
        return running

    def remark(self, target: Target, text: str, to: str, /) -> Note | None:
        """Send a remark to an agent on its host, which takes it when it ships next; see `Reading`."""
        host, _, own = target.buffer.name.rpartition("/")
        ref = format_ref(own, target.stream, target.first, target.last)
        session = to.rpartition("/")[2]
        text = text.strip()
        if not text or len(text) > MAX_CHARACTERS:
            raise UsageError(f"a note of {len(text):,} characters", f"it has 1 to {MAX_CHARACTERS:,}")
        number = self.rows.send_remark(host, ref, session, text)
        if not number:
            raise StoreFailed(f"the fleet has no host {host}", _LIST_HINT)
        self.bring_up_to_date()
        return Note(f"{host}/{REMARKS}:{number}", "", time.time(), f"{host}/{ref}", text, to=to or "*")

    def take_in_newest(self) -> None:
        """Take in a first page of outputs for a quick look, unless earlier readings will do."""
        try:
            self.narrowed(Narrowing(limit=_FIRST_PAGE))
            self._reach = self._mirror.reach()
        except StoreFailed as error:
            self.trouble = error.message
            if not self._mirror.index.totals().buffers:
                raise

    @property
    def place(self) -> Place:
        """What is read, and how far it reaches."""
        ended, since = self._reach.ended, 0.0 if self._told.before else self._reach.since
        if self.trouble:
            return Place(f"lost: {self.trouble}", self.trouble, ended, since)
        if self.offline:
            return Place(f"offline, as of {_ago(self._reach.synced)}", "", ended, since)
        hosts, newest, behind = self._reach.hosts, self._reach.newest, self._reach.behind
        told = f"{hosts:,} host{'' if hosts == 1 else 's'}" if newest else "asking the hosts"
        told += (f", newest {_ago(newest)}" if newest else "") + (f", {behind:,} behind" if behind else "")
        return Place(told, "", ended, since)

    def reach(self) -> Reach:
        """Return how far what is read here reaches."""
        return self._mirror.reach()

    def hosts(self) -> list[GrantedHost]:
        """Return the hosts that the reader was granted, as far as that is known here."""
        return self._mirror.hosts()

    @property
    def requests(self) -> "SharedRequests":
        """The sums of requests to models; they are asked of the database each time. Raises Offline."""
        from sightline.fleet.reader.usage import SharedRequests  # only costs need it

        rows = self.rows
        return SharedRequests(rows, lambda names: self._mirror.know_sessions(rows, names))

    def _fetch_buffer(self, name: str) -> bool:
        if self.offline:
            return False
        stored = self.rows.named([name])
        self._take_in(stored)
        return bool(stored)

    def _fetch_buffers(self, names: Sequence[str]) -> None:
        for start in range(0, len(names) if not self.offline else 0, _AT_ONCE):
            self._take_in(self.rows.named(names[start : start + _AT_ONCE]))

    def _take_in(self, stored: Sequence[StoredOutput]) -> None:
        """Take in outputs that were asked for; what is known, but was removed since, goes from here at once."""
        gone = [one.buffer.name for one in stored if one.buffer.state == "evicted"]
        known = [Index.buffer(self._mirror.index, name) for name in gone]
        if any(buffer is not None and buffer.state != "evicted" for buffer in known):
            self.bring_up_to_date()
        self._mirror.take_in(stored)

    def _fetch_views(self, names: Sequence[str]) -> None:
        """Fetch the views of outputs that are older than the mirror."""
        asked = [] if self.offline else [name for name in names if name not in self._viewed and host_of(name)]
        if not asked:
            return
        known, since = self._mirror.index.buffers(asked), self._mirror.since
        wanted = [name for name in asked if name not in known or known[name].created < since]
        for start in range(0, len(wanted), _AT_ONCE):
            self._mirror.take_in_entries(self.rows.entries_of(wanted[start : start + _AT_ONCE]))
        self._viewed.update(wanted)

    def _fetch_judgements(self, names: Sequence[str]) -> None:
        """Fetch what hosts found in outputs; where that is not possible, they are examined here."""
        if not self.offline:
            from sightline.fleet.reader.host_findings import judgements_of  # few commands ask for judgements, and 25 ms

            with contextlib.suppress(StoreFailed):
                self._mirror.take_in_judgements(judgements_of(self._asking, names))

    def _let_go(self, buffers: Sequence[Buffer], packs: Sequence[str]) -> None:
        """Remove outputs that their hosts have removed, and packs from which something was purged."""
        for buffer in buffers:
            hashes = {buffer.stream(stream).sha256 for stream in buffer.streams}
            facts = (self.pretty_facts(Target(buffer, stream)) for stream in buffer.streams)
            hashes |= {found.sha256 for found in facts if found} | set(self._mirror.frame_hashes(buffer.name))
            for sha256 in hashes - {""}:
                self._cache.forget(sha256)
            self._running.forget(buffer.name)
            remove_file(self._merged_path(buffer))
        for pack in packs:
            self._cache.forget(pack)

    def _forget_shown(self, names: Sequence[str]) -> None:
        """Blank the replies in this machine's own log that showed purged outputs."""
        blank_shown(self._local, names)

    def _host(self, name: str) -> GrantedHost:
        """Return a host by its name. Raises StoreFailed."""
        if name not in self._hosts:
            known = self._mirror.hosts()
            if name not in {host.name for host in known}:
                known = self.rows.hosts()
            self._hosts = {host.name: host for host in known}
        try:
            return self._hosts[name]
        except KeyError:
            raise StoreFailed(f"the fleet has no host {name}", _LIST_HINT) from None

    # Reading

    @property
    def settings(self) -> Settings:
        """The settings of this machine."""
        return self.local.settings

    @property
    def index(self) -> SharedIndex:
        """The rows that are here."""
        return self._mirror.index

    @property
    def rule_files(self) -> "tuple[RuleFile, ...]":
        """Return the files of rules of this machine."""
        return self.local.rule_files

    def resolve(self, ref: str | Ref, *, session: str | None = None, prefixes: bool = False) -> Target:
        """Return what a ref names; see `Reading`. If several hosts have that name, the ref must say which."""
        parsed = parse_ref(ref) if isinstance(ref, str) else ref
        buffer, stream = self._found(parsed, session, prefixes)
        if buffer.state == "evicted":
            raise self._gone(buffer)
        return target_of(parsed, buffer, stream)

    def _found(self, ref: Ref, session: str | None, prefixes: bool) -> tuple[Buffer, str]:
        if not self.offline:
            with contextlib.suppress(FleetUnreachable):  # what is here can be read without the database
                self._keep_to_grants()
        if ref.name:
            return self._named(ref, prefixes), "out"
        if ref.back is not None:
            newest = self.index.newest_of_host(ref.host, ref.back) if ref.host else None
            newest = newest or (None if ref.host else self.index.newest_command(ref.back, session))
            if newest is None:
                raise UnknownRef("there is no such newest output at the shared place", _LIST_HINT)
            return newest, "out"
        if ref.sha256:
            matches = [row for row in self.index.with_hash(ref.sha256) if ref.host in ("", host_of(row[1]))]
            if not matches:
                raise UnknownRef(f"no stream's hash begins with {ref.sha256}", _LIST_HINT)
            if len({sha256 for sha256, _, _ in matches}) > 1:
                raise AmbiguousRef(f"several hashes begin with {ref.sha256}", "give more of its digits")
            buffer = self.index.buffer(matches[0][1])
            assert buffer is not None
            return buffer, matches[0][2]
        raise UnknownRef(f"{ref.artifact} is an id of one host", "give the output's ref: host7/@cmd_a1b2c3")

    def _named(self, ref: Ref, prefixes: bool) -> Buffer:
        if ref.host and (buffer := self.index.buffer(ref.name)):
            with contextlib.suppress(FleetUnreachable):
                self._fetch_buffer(ref.name)
                buffer = self.index.buffer(ref.name) or buffer
            return buffer
        own = ref.name.rpartition("/")[2]
        if self.offline:
            names = self.index.named_like(own)
        else:
            running = [one.name for one in self._take_in_running()]
            stored = self.rows.like(own, ref.host)
            self._take_in(stored)
            names = [name for name in running if name.rpartition("/")[2].startswith(own)]
            names = list(dict.fromkeys([*names, *(one.buffer.name for one in stored)]))
        names = [name for name in names if ref.host in ("", host_of(name))]
        exact = [name for name in names if name.endswith(f"/{own}")]
        names = exact or (names if prefixes else [])
        if len(names) > 1:
            told = ", ".join(map(format_ref, names))
            raise AmbiguousRef(f"{format_ref(ref.name)} could be any of {told}", "say of which host it is")
        buffer = self.index.buffer(names[0]) if names else None
        if buffer is None:
            raise UnknownRef(f"no output that you may read is called {format_ref(ref.name)}", _LIST_HINT)
        return buffer

    @staticmethod
    def _gone(buffer: Buffer) -> ExpiredRef:
        return ExpiredRef(
            f"{buffer.ref} was removed on {host_of(buffer.name)}, or had gone before it could be shipped",
            "run the command again",
            name=buffer.name,
        )

    def tombstone(self, name: str) -> dict[str, Any] | None:
        """Return what is left of a buffer that was gone before it was shipped."""
        packs, frames = self._mirror.places(name)
        if LEFT not in frames:
            return None
        try:
            left = json.loads(b"".join(self._pieces(name, packs, frames[LEFT])))
        except (ValueError, StoreFailed):
            return None
        return left if isinstance(left, dict) else None

    def with_progress(self, buffer: Buffer) -> Buffer:
        """Return the record with the present sizes of its streams, if it is running."""
        if buffer.state != "running":
            return buffer
        streams = dict(buffer.streams)
        for stream, size in self._running.sizes(buffer.name).items():
            if size:
                with self._running.open(buffer.name, stream) as reader:
                    streams[stream] = StreamInfo(reader.byte_count, reader.line_count)
        return buffer._replace(streams=streams)

    def open(self, target: Target) -> StreamReader:
        """Open one stream, its bytes as they were shipped.

        Raises:
            ExpiredRef: the output is gone.
            Tampered: the bytes differ from what was announced, and are not shown.
            FleetUnreachable, FleetRefused: the bytes cannot be fetched now.
        """
        buffer, stream = target.buffer, target.stream
        if buffer.state == "evicted":
            raise self._gone(buffer)
        if buffer.state == "running":
            reader = self._running.open(buffer.name, stream)
            self._ask_once(buffer.name)
            reader.refresh()
            return reader
        info = buffer.stream(stream)
        packs, places = self._mirror.places(buffer.name)
        frames = [frame_at(place) for place in places.get(stream, ())]
        if info.bytes != sum(frame.raw for frame in frames):
            raise Tampered(f"{target.ref} ({stream})")
        return FrameReader(target.ref, info, frames, self._fetcher(buffer, stream, packs, frames))

    def _fetcher(
        self, buffer: Buffer, stream: str, packs: list[str], frames: Sequence[Frame]
    ) -> Callable[[int], bytes]:
        """Return what fetches a stream's frames, each checked by a hash in its row.

        A single one is checked by the stream's hash. Others are fetched alone, and checked by their own, until one
        after another is wanted: then, and if the host has not told their hashes, by whole packs.
        """
        sha256 = buffer.stream(stream).sha256
        hashes = self._mirror.frame_hashes(buffer.name, stream)
        host, last, in_a_row = host_of(buffer.name), -2, 0

        def fetch(place: int) -> bytes:
            nonlocal packs, frames, last, in_a_row
            in_a_row = in_a_row + 1 if abs(place - last) == 1 else 0
            last = place
            try:
                return fetched(place)
            except ObjectMissing:  # a pinned output was moved when its day was dropped
                if not self._fetch_buffer(buffer.name):
                    raise
                packs, places = self._mirror.places(buffer.name)
                frames = [frame_at(one) for one in places.get(stream, ())]
                return fetched(place)

        def fetched(place: int) -> bytes:
            try:
                frame = frames[place]
                if len(frames) == 1 and sha256:
                    return self._cache.small(sha256) or self._fetched_alone(host, packs[frame.pack], frame, sha256)
                if len(hashes) == len(frames) and in_a_row < _PACK_AFTER:
                    return self._frame(host, packs[frame.pack], frame, hashes[place])
                return frame_bytes(self._pack(host, packs[frame.pack]), frame)
            except (TamperedPack, IndexError) as error:
                raise Tampered(f"{buffer.ref} ({stream})") from error

        return fetch

    def _frame(self, host: str, pack: str, frame: Frame, sha256: str) -> bytes:
        def fetch() -> bytes:
            key, _ = self._placed(host, pack)
            return self._objects_().get_range(key, frame.offset, frame.stored)

        stored = self._cache.frame(sha256, self._mirror.stands_for(pack), frame.offset, frame.stored, fetch)
        return raw_bytes(stored, frame.raw)

    def _fetched_alone(self, host: str, pack: str, frame: Frame, sha256: str) -> bytes:
        key, _ = self._placed(host, pack)
        data = raw_bytes(self._objects_().get_range(key, frame.offset, frame.stored), frame.raw)
        if sha256_hex(data) != sha256:
            raise TamperedPack(sha256)
        self._cache.keep(sha256, data)
        return data

    def _pack(self, host: str, sha256: str) -> bytes:
        stands = self._mirror.stands_for(sha256)

        def fetch() -> bytes:
            key, found = self._placed(host, sha256)
            if found != stands:
                raise _Replaced(found)
            return self._objects_().get(key)

        try:
            return self._cache.pack(stands, fetch)
        except _Replaced as replaced:
            self._mirror.note_replaced(sha256, replaced.by)
            return self._pack(host, sha256)

    def _placed(self, host: str, pack: str) -> tuple[str, str]:
        """Return key and hash of a pack, or of its replacement after something was purged from it."""
        facts = self._host(host)
        place = self.rows.pack(facts.id, pack)
        if place is None:
            raise ObjectMissing(f"pack {pack} of {host} is not announced", "`sightline fleet verify` tells more")
        key = pack_key(facts.team, facts.member, facts.store, place.day, place.sha256, is_kept=place.is_kept)
        return key, place.sha256

    def _objects_(self) -> Objects:
        if self._objects is None:
            self._objects = Objects(objects_address(self.rows.objects()), hint=READ_HINT)
        return self._objects

    def _pieces(self, name: str, packs: list[str], places: Sequence[Sequence[int]]) -> Iterator[bytes]:
        """Return the bytes of something that has no hash of its own. Raises Tampered."""
        for place in places:
            frame = frame_at(place)
            try:
                yield frame_bytes(self._pack(host_of(name), packs[frame.pack]), frame)
            except (TamperedPack, IndexError) as error:
                raise Tampered(format_ref(name)) from error

    def changes(self, tell: "Callable[[Change], None]", *, polls: Callable[[str], None] | None = None) -> "SharedFeed":
        """Return a feed of what hosts announce, to be started; ``polls`` is called when the place stops answering."""
        from sightline.fleet.reader.feed import SharedFeed  # only a long-lived program follows

        self._feed_runs = True
        return SharedFeed(self, tell, polls or (lambda _: None))

    @property
    def follows(self) -> bool:
        """Whether somebody looks at a running output."""
        return bool(self._running.names)

    def follow_running(self) -> set[str]:
        """Request more of what somebody looks at; return names of what has grown. Raises as `bring_up_to_date`."""
        return set() if self.offline else self._running.ask()

    def _ask_once(self, name: str) -> None:
        """Request more for a single reading, and wait if nothing has come: its host must hear that somebody looks.

        If there is no answer, the next request reports that.
        """
        until = time.monotonic() + self._patience
        with contextlib.suppress(FleetUnreachable):
            while not (self._feed_runs or self.offline):
                self.follow_running()
                if any(self._running.sizes(name).values()) or time.monotonic() > until:
                    return
                time.sleep(_FIRST_STEP_SECONDS)

    def open_merged(self, buffer: Buffer) -> MergedReader:
        """Open both streams of a buffer in order of arrival. Raises what `open` raises."""
        out, err = (self.open(Target(buffer, stream)) for stream in ("out", "err"))
        return MergedReader(format_ref(buffer.name, "all"), out, err, Checkpoints(-1), self._order(buffer))

    def _order(self, buffer: Buffer) -> int:
        """Return how the streams interleaved, as a file without a name; -1 if that was not shipped."""
        packs, frames = self._mirror.places(buffer.name)
        if ORDER not in frames:
            return -1
        path = os.path.join(self._folder, f"order.{os.getpid():x}.{os.urandom(4).hex()}")
        fd = open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            remove_file(path)
            for piece in self._pieces(buffer.name, packs, frames[ORDER]):
                os.write(fd, piece)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def open_pretty(self, target: Target, facts: Facts) -> StreamReader:
        """Open the pretty form, which is made here and kept; of a running stream, its bytes."""
        if not facts.sha256:
            return self.open(target)
        return StreamReader(open_private(self._pretty(target, facts), os.O_RDONLY), target.ref)

    def _pretty(self, target: Target, facts: Facts) -> str:
        return self._cache.file(facts.sha256, lambda: facts.made_of(self._whole(target)), f"{target.ref} in lines")

    def _whole(self, target: Target) -> Iterator[bytes]:
        with self.open(target) as reader:
            for offset in range(0, reader.byte_count, _READ_BYTES):
                yield reader.read(offset, _READ_BYTES)

    def local_copy(self, target: Target, *, raw: bool = False) -> str:
        """Return a file on this machine with the lines of `open_text`, or the raw bytes of `open`, whole and checked.

        Raises what `open` raises, and StoreFailed if it cannot be kept.
        """
        if target.buffer.state == "running" and target.stream != "all":
            path = self._running.path(target.buffer.name, target.stream)
            self._ask_once(target.buffer.name)
            return path
        if target.stream == "all":
            with contextlib.closing(self.open_merged(target.buffer)) as merged:
                if single := merged.single:
                    return self.local_copy(target._replace(stream=single))
                merged.copy_to(path := self._merged_path(target.buffer))
                return path
        if not raw and (facts := self.pretty_facts(target)):
            return self._pretty(target, facts)
        if target.buffer.state == "evicted":
            raise self._gone(target.buffer)
        info = target.buffer.stream(target.stream)
        if not info.bytes:
            return os.devnull
        return self._cache.file(info.sha256 or NO_HASH, lambda: self._whole(target), f"{target.ref} ({target.stream})")

    def _merged_path(self, buffer: Buffer) -> str:
        return os.path.join(self._folder, f"all-{sha256_hex(buffer.name.encode())[:16]}")

    def open_log(self, session: str) -> BinaryIO:
        """Open the log of a session, to be read from any line on. Raises FileNotFoundError if none is known."""
        if self._mirror.index.session(session) is None:
            raise FileNotFoundError(session)
        host = host_of(session)
        return cast(
            BinaryIO,
            SharedLog(
                lambda number: self._mirror.line(session, number),
                lambda: [(entry.number, entry.place) for entry in self.rows.entries_of_session(session)],
                lambda pack: self._pack(host, pack),
            ),
        )

    def open_events(self, session: str) -> BinaryIO:
        """Open the lines of a log about what happened, without reading the others; see `Reading`."""
        places = self._mirror.events(session)
        if places is None:
            return self.open_log(session)
        return cast(BinaryIO, LinesOfLog(places, partial(self._pack, host_of(session))))


def _is_wanted(running: Buffer, wanted: Narrowing) -> bool:
    """Return whether something that runs is what the database was asked for."""
    command = running.command.lower()
    return (
        not wanted.failed
        and running.created >= wanted.since
        and fnmatchcase(host_of(running.name), wanted.host or "*")
        and all(word.lower() in command for word in wanted.words)
    )


def _ago(when: float) -> str:
    return f"{human_seconds(max(time.time() - when, 0.0))} ago" if when else "never"


def _opened(folder: str, let_go: LetGo, forget: Forget) -> Mirror:
    """Open the mirror in a folder; a broken one is made again, because all of it can be read again."""
    try:
        try:
            return Mirror(folder, let_go, forget)
        except sqlite3.DatabaseError as error:
            if not is_broken(error):
                raise
        for suffix in ("", "-wal", "-shm"):
            remove_file(os.path.join(folder, f"index.sqlite{suffix}"))
        return Mirror(folder, let_go, forget)
    except (sqlite3.Error, OSError) as error:
        raise store_failed(error, folder) from error
