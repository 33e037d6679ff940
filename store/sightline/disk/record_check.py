"""Checks a buffer's record, wherever it was read: in ``meta.json``, in a tombstone or in a row of the index.

Names in a record become paths, texts go to terminals, and numbers into columns of 64 bits. So a record with a field
that this program could not have written is refused whole, at this one place.
"""

from sightline.base.records import Buffer, Note, Session, StreamInfo, View
from sightline.light.json_text import loads
from sightline.light.typing_names import Any, Iterable

MOST_STREAMS = 10_000
"""Streams of a buffer. A record with more takes longer to read than a list may take."""

_KINDS = ("cmd", "file", "tool")
_NAME_DIGITS = range(4, 65)
_NAME_LENGTH = 255
_HOST_LENGTH = 128
_STATES = ("running", "sealed", "interrupted", "evicted")
_PART_DIGITS = range(1, 7)
_HASH_DIGITS = 64
_HEX = "0123456789abcdef"
_FAR_SECONDS = 1e12  # seconds since the epoch that no clock shows
_INTEGER = 1 << 63  # SQLite's integers are below


def is_buffer_name(text: str) -> bool:
    """Return whether a folder of this name can be a buffer's."""
    kind, _, digits = text.partition("_")
    return kind in _KINDS and len(digits) in _NAME_DIGITS and not digits.strip(_HEX)


def is_stream(buffer: object, stream: object) -> bool:
    """Return whether these can be the names of a buffer, here or on another host, and of a stream of it."""
    if not isinstance(buffer, str) or not isinstance(stream, str):
        return False
    host, slash, own = buffer.rpartition("/")
    return is_buffer_name(own) and (not slash or _is_host(host)) and _is_stream_name(stream)


def _is_stream_name(name: str) -> bool:
    return name in ("out", "err") or _is_part(name)


def is_session_name(name: Any) -> bool:
    """Return whether a session can have this name, which becomes that of a file."""
    if not isinstance(name, str) or len(name) > _NAME_LENGTH:
        return False
    host, slash, own = name.rpartition("/")
    return _is_word(own, "._-") and own[0] not in ".-" and (not slash or _is_host(host))


def _is_host(text: str) -> bool:
    return len(text) <= _HOST_LENGTH and _is_word(text, "-") and text[0].isalpha()


def _is_word(text: str, others: str) -> bool:
    """Return whether a text has only letters and digits of ASCII, and some others; patterns load slowly."""
    letters = text
    for other in others:
        letters = letters.replace(other, "")
    return bool(text) and letters.isascii() and (letters.isalnum() or not letters)


def checked(buffer: Buffer, *, on_hosts: bool = False) -> Buffer:
    """Return a record that was read.

    Args:
        buffer: the record, with fields of any types.
        on_hosts: whether it may be of another host, as in a fleet.

    Raises:
        ValueError, AttributeError, TypeError: it has a field that none of ours can have.
    """
    host, slash, own = buffer.name.rpartition("/")
    if not is_buffer_name(own) or (slash and not (on_hosts and _is_host(host))):
        raise ValueError("not a buffer's name")
    if own.partition("_")[0] != buffer.kind or buffer.state not in _STATES:
        raise ValueError("not a buffer's kind or state")
    if buffer.session != "" and not is_session_name(buffer.session):
        raise ValueError("not a session's name")
    if (
        not is_time(buffer.created)
        or not is_time(buffer.accessed)
        or not (buffer.ended is None or is_time(buffer.ended))
    ):
        raise ValueError("not a time")
    if not (buffer.exit_code is None or _is_integer(buffer.exit_code)) or not _is_integer(buffer.signal):
        raise ValueError("not an exit code or a signal")
    if buffer.timed_out not in (0, 1) or buffer.pinned not in (0, 1):
        raise ValueError("neither true nor false")
    _check_streams(buffer.streams)
    for gap in buffer.gaps:
        if not _is_size(gap.after) or not (gap.missing is None or _is_size(gap.missing)):
            raise ValueError("not a gap")
    texts = (buffer.command, buffer.cwd, buffer.label, buffer.artifact, buffer.note, buffer.origin, buffer.partial)
    _check_texts((*texts, buffer.project, buffer.seals, *(info.mime for info in buffer.streams.values())))
    return buffer


def checked_session(session: Session) -> Session:
    """Return a session that was read. Raises ValueError as `checked` does."""
    if not is_session_name(session.name) or not is_time(session.started) or not is_time(session.removed):
        raise ValueError("not a session")
    _check_texts((session.harness, session.harness_id, session.client, session.cwd, session.title))
    return session


def checked_note(note: Note) -> Note:
    """Return a note that was read. Raises ValueError as `checked` does."""
    if not is_time(note.time) or not is_time(note.sent):
        raise ValueError("not a note")
    _check_texts((note.id, note.session, note.ref, note.text or "", note.to, note.sent_to))
    return note


def checked_view(view: View) -> View:
    """Return a view that was read. Raises ValueError as `checked` does."""
    sizes = (view.number, view.lines_shown, view.lines_total, view.bytes_shown, view.bytes_total)
    if not is_session_name(view.session) or not all(map(_is_size, sizes)) or not is_time(view.time):
        raise ValueError("not a view")
    if not (view.exit_code is None or _is_integer(view.exit_code)) or not isinstance(view.request, str):
        raise ValueError("not a view")
    if not isinstance(loads(view.request), dict):
        raise ValueError("not a request")
    for buffer, stream, first, last in (*view.shown, *view.asked, *view.matched):
        if not (_is_size(first) and _is_size(last)) or not isinstance(buffer, str) or not isinstance(stream, str):
            raise ValueError("not a range of lines")
    for part in view.parts or ():
        if not all(map(_is_size, (part.line, part.length, *(end for span in part.seen for end in span)))):
            raise ValueError("not a part of a line")
    _check_texts((view.verb, view.text_sha256, view.unknown, view.request, *view.refs))
    return view


def checked_size(value: Any, *, signed: bool = False) -> int:
    """Return a number of 63 bits, from 0 on unless it may have a sign. Raises ValueError for anything else."""
    if not (_is_size(value) or (signed and _is_integer(value))):
        raise ValueError("not a number")
    return int(value)


def _check_streams(streams: Any) -> None:
    if not isinstance(streams, dict) or len(streams) > MOST_STREAMS:
        raise ValueError("not a buffer's streams")
    for name, info in streams.items():
        if not _is_stream_name(name):
            raise ValueError("not a stream's name")
        if not (_is_size(info.bytes) and _is_size(info.lines)):
            raise ValueError("not a stream's size")
        if info.sha256 and not _is_hash(info):
            raise ValueError("not a stream's hash")
    if sum(info.bytes for info in streams.values()) >= _INTEGER:
        raise ValueError("not a buffer's size")


def _is_part(stream: str) -> bool:
    prefix, _, number = stream.partition(".")
    return prefix == "part" and len(number) in _PART_DIGITS and number.isascii() and number.isdigit()


def _is_hash(info: StreamInfo) -> bool:
    return isinstance(info.sha256, str) and len(info.sha256) == _HASH_DIGITS and not info.sha256.strip(_HEX)


def _check_texts(texts: Iterable[Any]) -> None:
    joined = "".join(texts)  # raises TypeError for anything else
    if not joined.isascii():
        joined.encode()  # raises UnicodeEncodeError, a ValueError, for half a surrogate pair


def is_time(value: Any) -> bool:
    """Return whether a value can be a time in seconds since the epoch."""
    return isinstance(value, int | float) and abs(value) < _FAR_SECONDS


def _is_integer(value: Any) -> bool:
    return type(value) is int and -_INTEGER <= value < _INTEGER


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < _INTEGER
