"""Writes and reads a session's audit file: append-only lines of JSON, each with the hash of the one before it.

A hash covers everything but what may have to go: a text, a request and hashes of contents. Of these it covers hashes
that are made with a random salt, so they can be blanked, and the chain still holds; without the salt, nobody can try
out what they were. The chain alone cannot show that its newest lines were cut off.
"""

import _thread
import fcntl
import os

from sightline.base.errors import OfNewerVersion, SightlineError
from sightline.base.private_files import open_private, remove_file, write_all, write_atomically, written_end
from sightline.base.records import storable
from sightline.base.regular_files import MOST_READ_BYTES
from sightline.base.sha256 import sha256_hex
from sightline.disk.record_check import is_session_name
from sightline.light.json_text import encoder, loads
from sightline.light.late_imports import late_modules
from sightline.light.library import closing, lru_cache, suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, BinaryIO, Callable, Iterator, Sequence

with late_modules(globals()):
    from sightline.log import entry_check  # only what reads a log

NO_HASH = "0" * 64
_HEX_DIGITS = b"0123456789abcdef"
_TAIL_BYTES = 160
_READ_BYTES = 1 << 16

FORMAT = 2
"""To be raised for a change that older versions would misread; a new field or a new kind is not such a change."""

_FIRST_FORMAT = 1
"""Of an entry that has nothing to blank, and of all entries that 0.2.0 wrote; the hash covers all but ``text``."""

TIES = ("v", "n", "prev", "hash")
"""The members that a line adds to its entry: the format, and its place in the chain."""

_PIECES, _REST, _SALT = "pieces_sha256", "rest_sha256", "salt"
_BLANKS: dict[str, Any] = {"request": {}, "sealed": {}, "text_sha256": ""}
"""The members besides the text that can be blanked, and what then stands there."""

_LEFT_OF_REQUESTS = ("tool", "caller", "imported")
"""What stays of a purged request: which tool was called, and the ids by which an import knows the call again."""

_EMPTIED = "emptied"
"""The member of an entry of the first format that was purged. Its hash covered what is gone, and is only passed on."""


class BrokenChain(SightlineError):
    """A line of an audit file differs from what was written."""


class Encoded(NamedTuple):
    """An entry as JSON in pieces.

    Attributes:
        version: the format.
        covered: the members that the hash covers.
        before: the members whose names sort before ``text``.
        text: the JSON of ``text``; None if there is none.
        between: the members between ``text`` and ``v``.
        after: those after ``v``.
    """

    version: int
    covered: str
    before: str
    text: str | None
    between: str
    after: str

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "Encoded":
        """Encode a new entry, and add a salt and the hashes of what can be blanked."""
        entry = {name: value for name, value in entry.items() if name not in (*TIES, _PIECES, _REST, _SALT)}
        if "text" not in entry and "request" not in entry:
            return cls.kept({**entry, "v": _FIRST_FORMAT})
        entry |= {"v": FORMAT, _SALT: (salt := os.urandom(_SALT_BYTES).hex())}
        text = _dumps(entry["text"]) if "text" in entry else None
        if text is not None:
            entry[_PIECES] = _salted(salt, text)
        entry[_REST] = _salted(salt, _rest_of(entry))
        return cls.kept(entry, text)

    @classmethod
    def kept(cls, entry: dict[str, Any], text: str | None = None) -> "Encoded":
        """Encode an entry that has its hashes and its format; its text is given as JSON, or in it."""
        version = entry.get("v", _FIRST_FORMAT)
        if text is None and "text" in entry:
            text = _dumps(entry["text"])
        names = [name for name in sorted(entry) if name != "text" and name not in TIES]
        members = {name: f"{_encoded_name(name)}:{_dumps(entry[name])}" for name in names}
        before = ",".join([members[name] for name in names if name < "text"])
        between = ",".join([members[name] for name in names if "text" < name < "v"])
        after = ",".join([members[name] for name in names if name > "v"])
        is_first = version == _FIRST_FORMAT
        covered = ",".join([members[name] for name in names if is_first or name not in _UNCOVERED])
        return cls(version, covered, before, text, between, after)

    def line(self, number: int, previous: str) -> tuple[bytes, str]:
        """Return the line for a number in the chain, after the line with this hash, and its own hash."""
        digest = self.hash(number, previous)
        return self.tied(number, previous, digest), digest

    def hash(self, number: int, previous: str) -> str:
        """Return the hash that ties an entry to the one before it; it does not cover what can be blanked."""
        return sha256_hex(_bytes(f"{self.version}\n{number}\n{previous}\n{{{self.covered}}}"))

    def tied(self, number: int, previous: str, digest: str) -> bytes:
        """Return the line with a given hash, for an entry of a newer version, too."""
        text = "" if self.text is None else f'"text":{self.text}'
        members = ",".join(filter(None, (self.before, text, self.between, f'"v":{self.version}', self.after)))
        return _bytes(f'{{{members},"prev":"{previous}","n":{number},"hash":"{digest}"}}\n')


_SALT_BYTES = 16
_UNCOVERED = frozenset((*TIES, *_BLANKS, _SALT, "text"))


def is_newer(entry: dict[str, Any]) -> bool:
    """Return whether an entry, with its ties, has a form that only a newer version knows."""
    version = entry.get("v")
    return isinstance(version, int) and version > FORMAT


def entry_holds(entry: dict[str, Any]) -> bool:
    """Return whether an entry, with its ties, matches its hashes; what was blanked counts as such."""
    encoded = Encoded.kept(entry)
    return entry.get("hash") == _digest(entry, encoded) and text_holds(entry, encoded.text)


def _digest(entry: dict[str, Any], encoded: Encoded) -> str:
    """Return the hash of an entry that has its ties, given its pieces."""
    if entry.get(_EMPTIED) is True and entry.get("v") == FORMAT:
        return str(entry.get("hash"))
    return encoded.hash(entry["n"], entry["prev"])


def text_holds(entry: dict[str, Any], as_json: str | None = None) -> bool:
    """Return whether what can be blanked is what the chain covers, or blank; its text may be given as JSON, too."""
    text = entry.get("text")
    as_json = _dumps(text) if as_json is None else as_json
    if entry.get("v", _FIRST_FORMAT) == _FIRST_FORMAT:
        return text is None or entry.get(_PIECES) == sha256_hex(_bytes(as_json))
    salt = entry.get(_SALT)
    if salt is None:
        left = {**entry, **({"request": {}} if set(entry.get("request", ())) <= set(_LEFT_OF_REQUESTS) else {})}
        return text is None and all(left.get(name, blank) == blank for name, blank in _BLANKS.items())
    texts_hold = text is None or entry.get(_PIECES) == _salted(salt, as_json)
    return texts_hold and entry.get(_REST) == _salted(salt, _rest_of(entry))


def emptied(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry, with its ties, without its text and all else that can be blanked, and without its salt."""
    if is_newer(entry):  # as far as its form is known
        return {**entry, "text": None}
    blank = {name: value for name, value in _BLANKS.items() if name in entry}
    if isinstance(request := entry.get("request"), dict):
        blank["request"] = {name: request[name] for name in _LEFT_OF_REQUESTS if name in request}
    gone = {**entry, **blank, "text": None, _SALT: None, "v": FORMAT}
    if entry.get("v", _FIRST_FORMAT) == _FIRST_FORMAT:
        gone = {name: value for name, value in gone.items() if name != _PIECES} | {_EMPTIED: True}
    return gone


def is_emptied(entry: dict[str, Any]) -> bool:
    """Return whether an entry was purged already."""
    return _SALT in entry and entry[_SALT] is None


def _rest_of(entry: dict[str, Any]) -> str:
    return _dumps({name: entry[name] for name in _BLANKS if name in entry})


def _salted(salt: str, text: str) -> str:
    return sha256_hex(_bytes(f"{salt}\n{text}"))


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


_dumps = encoder(ensure_ascii=False, compact=True, sort_keys=True)
_encoded_name = lru_cache(maxsize=128)(_dumps)
"""Of the few names of members, each stands in every line."""


class LinePlace(NamedTuple):
    """The place of a line: its number in the chain from 0 (the header), its offset and its length in bytes."""

    number: int
    offset: int
    length: int


def append(path: str, header: dict[str, Any], entry: dict[str, Any], *, durable: bool = False) -> LinePlace:
    """Append an entry to a session's file; a new file gets its header first.

    Writers to one session wait for each other; writers to different sessions never do.

    Raises:
        OSError: it could not be written; the file then has nothing of it.
    """
    return append_all(path, header, [Encoded.of(entry)], durable=durable)[0]


def append_all(
    path: str, header: dict[str, Any], entries: Sequence[Encoded], *, durable: bool = False
) -> list[LinePlace]:
    """Append several entries at once: all of them, or none if it raises."""
    with closing(LogWriter(path, header)) as file:
        return file.append_all(entries, durable=durable)


class _End(NamedTuple):
    """The end of a file: the file's identity, its size in bytes, and the number and hash of its last line."""

    inode: int
    size: int
    number: int
    digest: str


class LogWriter:
    """A session's file, kept open for a caller that appends many entries. Any thread may use it.

    Others may append, or replace the file, between two entries; then the end is read again.

    Attributes:
        path: path of the file.
        header: the header for a new file.
    """

    def __init__(self, path: str, header: dict[str, Any], before_wait: Callable[[], object] = lambda: None) -> None:
        """Prepare to write; nothing is opened yet.

        Args:
            path: path of the file.
            header: the header for a new file.
            before_wait: called before waiting for another writer, or for the disk if the entry must be durable.
        """
        self.path = path
        self.header = header
        self._before_wait = before_wait
        self._turn = _thread.allocate_lock()
        self._is_kept = True
        self._fd = -1
        self._end = _End(-1, 0, -1, NO_HASH)

    def append(self, entry: dict[str, Any], *, durable: bool = False) -> LinePlace:
        """Append an entry; see `append`."""
        return self.append_all((Encoded.of(entry),), durable=durable)[0]

    def append_all(self, entries: Sequence[Encoded], *, durable: bool = False) -> list[LinePlace]:
        """Append entries; see `append_all`."""
        if durable:
            self._before_wait()
        with self._turn:
            self._lock()
            try:
                return self._added(self._now(), entries, durable)
            finally:
                if not self._is_kept:
                    self._close()
                elif self._fd >= 0:
                    fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file. What is appended after that opens it only for itself."""
        with self._turn:
            self._is_kept = False
            self._close()

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _lock(self) -> None:
        if self._fd < 0:
            self._before_wait()
            self._fd = _open_locked(self.path)
            return
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._before_wait()
            fcntl.flock(self._fd, fcntl.LOCK_EX)

    def _now(self) -> _End:
        """Lock the file that exists now, and return its end."""
        while True:
            try:
                found = os.lstat(self.path)
                if found.st_ino == self._end.inode and found.st_size == self._end.size:
                    return self._end
                if found.st_ino == os.fstat(self._fd).st_ino:
                    size = _without_torn_line(self._fd)
                    return _End(found.st_ino, size, *_last(self._fd, size))
            except FileNotFoundError:
                pass  # it was removed, so a new one is made
            self._close()
            self._lock()

    def _added(self, end: _End, entries: Sequence[Encoded], durable: bool) -> list[LinePlace]:
        lines: list[bytes] = []
        places: list[LinePlace] = []
        number, digest, at = end.number, end.digest, end.size
        if number < 0:
            line, digest = Encoded.of(self.header).line(0, digest)
            lines.append(line)
            number, at = 0, at + len(line)
        for entry in entries:
            number += 1
            line, digest = entry.line(number, digest)
            lines.append(line)
            places.append(LinePlace(number, at, len(line)))
            at += len(line)
        try:
            write_all(self._fd, b"".join(lines))
            if durable:
                os.fsync(self._fd)
        except OSError:
            os.ftruncate(self._fd, end.size)
            if not end.size:
                remove_file(self.path)  # writers that wait for it open a new one
            raise
        self._end = _End(end.inode, at, number, digest)
        return places


def _open_locked(path: str) -> int:
    """Open the file locked, again if it was replaced while waiting."""
    while True:
        fd = open_private(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        fcntl.flock(fd, fcntl.LOCK_EX)
        try:
            if os.fstat(fd).st_ino == os.lstat(path).st_ino:
                return fd
        except FileNotFoundError:
            pass
        os.close(fd)


def _without_torn_line(fd: int) -> int:
    """Cut off an unfinished last line, which a writer that died never sent, and return the size then."""
    size = os.fstat(fd).st_size
    if not size or os.pread(fd, 1, size - 1) == b"\n":
        return size
    end = written_end(fd, size)
    while end:
        start = max(0, end - _READ_BYTES)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end != size:
        os.ftruncate(fd, end)
    return end


def _last(fd: int, size: int) -> tuple[int, str]:
    """Return number and hash of the last line; -1 for an empty file."""
    if not size:
        return -1, NO_HASH
    tail = os.pread(fd, _TAIL_BYTES, max(0, size - _TAIL_BYTES))
    entry, _, chained = tail.rpartition(b',"hash":"')
    _, name, number = entry.rpartition(b'"n":')
    is_hash = len(chained) == 67 and chained[64:] == b'"}\n' and not chained[:64].strip(_HEX_DIGITS)
    if not (is_hash and name and number.isdigit()):
        raise OSError("the audit file does not end in an entry of ours")
    return int(number), chained[:64].decode()


def loggable(value: Any) -> Any:
    """Make the texts of a request or an entry fit for files and tables; some hold bytes that are not UTF-8."""
    if isinstance(value, str):
        return value if value.isascii() else storable(value)
    if isinstance(value, dict):
        return {loggable(name): loggable(one) for name, one in value.items()}
    return [loggable(one) for one in value] if isinstance(value, list | tuple) else value


def read_entry(file: BinaryIO, number: int, offset: int, length: int) -> dict[str, Any]:
    """Read an entry by its number and its place, or wherever it stands now. Raises BrokenChain if it is gone."""
    file.seek(offset)
    try:
        entry = entry_of(file.read(min(length, MOST_READ_BYTES)))
    except BrokenChain:
        entry = {}
    if entry.get("n") == number:
        return entry
    file.seek(0)
    for _, line in lines_of(file):
        with suppress(BrokenChain):
            if (entry := entry_of(line)).get("n") == number:
                return entry
    raise BrokenChain(f"the log has no entry {number}", "the log was changed from outside")


def logged_sessions(folder: str) -> dict[str, int]:
    """Return the sizes of the audit files in a folder, by session; a file whose name is no session's is left out."""
    sizes = {}
    with os.scandir(folder) as files:
        for file in files:
            session, dot, ending = file.name.rpartition(".")
            if dot and ending == "jsonl" and is_session_name(session):
                with suppress(FileNotFoundError):
                    sizes[session] = file.stat(follow_symlinks=False).st_size
    return sizes


def read_all(path: str) -> Iterator[tuple[LinePlace, dict[str, Any]]]:
    """Yield all whole lines with their places; an empty entry for what no version wrote, which `verify` reports."""
    with open(open_private(path, os.O_RDONLY), "rb") as file:
        for place, line in lines_of(file):
            yield place, _entry_or_nothing(line, path)


def read_from(path: str, offset: int) -> Iterator[tuple[LinePlace, dict[str, Any]]]:
    """Yield lines as `read_all` does, from where a line begins."""
    with open(open_private(path, os.O_RDONLY), "rb") as file:
        file.seek(offset)
        number = -1
        for place, line in lines_of(file, offset):
            entry = _entry_or_nothing(line, path)
            number = entry.get("n", number + 1)
            yield place._replace(number=number), entry


def _entry_or_nothing(line: bytes, path: str) -> dict[str, Any]:
    try:
        return entry_of(line, path)
    except BrokenChain:
        return {}


def lines_of(file: BinaryIO, offset: int = 0) -> Iterator[tuple[LinePlace, bytes]]:
    """Yield the whole lines from where one begins.

    What no version wrote and is longer than any line that is read comes last; of a hole in a sparse file the beginning,
    with a length of 0, so that whoever goes on from there finds it again.
    """
    number = 0
    while line := _line_of(file):
        is_hole = line.endswith(_HOLE)
        if not line.endswith(b"\n") and len(line) < MOST_READ_BYTES and not is_hole:
            return  # unfinished: never sent
        yield LinePlace(number, offset, 0 if is_hole else len(line)), line
        if not line.endswith(b"\n"):
            return
        offset += len(line)
        number += 1


_HOLE = bytes(_READ_BYTES)  # no entry has as many zeros, since JSON writes each as an escape


def _line_of(file: BinaryIO) -> bytes:
    """Read a line, to the beginning of a hole at most."""
    line = piece = file.readline(_READ_BYTES)
    while len(piece) == _READ_BYTES and not piece.endswith(b"\n") and piece != _HOLE and len(line) < MOST_READ_BYTES:
        line += (piece := file.readline(_READ_BYTES))
    return line


def entry_of(line: bytes, path: str = "the log") -> dict[str, Any]:
    """Return the entry of a line. Raises BrokenChain if no version that this one knows wrote it."""
    try:
        entry = loads(line)
        return entry if isinstance(entry, dict) and is_newer(entry) else entry_check.checked_entry(entry, line)
    except ValueError as error:
        raise BrokenChain(f"{path} has a line that is not what was written", "`sightline doctor` says which") from error


def blank(path: str, wanted: Callable[[dict[str, Any]], bool], *, purge: bool = False, durable: bool = False) -> int:
    """Blank the text of entries but keep their hashes, so that the chain still holds; return how many were blanked.

    The file is replaced, so the places of its lines change.

    Args:
        path: path of the file.
        wanted: returns whether an entry is blanked; asked in the order of the log.
        purge: whether their requests go, too, and the salts, so that nobody can try out what was there.
        durable: whether to sync the file.
    """
    fd = _open_locked(path)
    try:
        lines, blanked = list[bytes](), 0
        with open(os.dup(fd), "rb") as file:
            for _, line in lines_of(file):
                try:
                    entry = entry_of(line, path)
                except BrokenChain:
                    lines.append(line)
                    continue
                is_left = entry.get("text") is None and (not purge or is_emptied(entry) or "request" not in entry)
                if not is_left and wanted(entry):
                    entry = emptied(entry) if purge else {**entry, "text": None}
                    line = Encoded.kept(entry).tied(entry["n"], entry["prev"], entry["hash"])
                    blanked += 1
                lines.append(line)
        if blanked:
            write_atomically(path, b"".join(lines), durable=durable)
        return blanked
    finally:
        os.close(fd)


def verify(path: str) -> int:
    """Check the chain of a file, as `verify_lines` does. Raises FileNotFoundError, too."""
    with open(open_private(path, os.O_RDONLY), "rb") as file:
        return verify_lines(file, path)


def verify_lines(file: BinaryIO, name: str, take: Callable[[LinePlace, dict[str, Any]], None] | None = None) -> int:
    """Check the whole chain, and return its number of lines.

    Args:
        file: the log from its beginning.
        name: name for the log in errors.
        take: gets each entry that was found unchanged, so that nobody has to read it again.

    Raises:
        BrokenChain: names the first line that was changed, removed or added.
        OfNewerVersion: names the first line that only a newer version can check.
    """
    previous, count = NO_HASH, 0
    for place, line in lines_of(file):
        try:
            entry = entry_of(line, name)
        except BrokenChain as error:
            where = f"{name}:{place.number + 1}"
            raise BrokenChain(f"{where} is not what was written", "the log was changed from outside") from error
        if is_newer(entry):
            raise OfNewerVersion(f"{name}:{place.number + 1}")
        encoded = Encoded.kept(entry)
        digest = _digest({**entry, "n": place.number, "prev": previous}, encoded)
        if line != encoded.tied(place.number, previous, digest) or not text_holds(entry, encoded.text):
            raise BrokenChain(f"{name}:{place.number + 1} is not what was written", "the log was changed from outside")
        previous = digest
        if take:
            take(place, entry)
        count += 1
    return count
