"""``meta.json`` and tombstones: a buffer's record as a file, from which the index can be rebuilt.

Fields that a newer version has added to a record stay when this one writes it again.
"""

from sightline.base.errors import OfNewerVersion
from sightline.base.private_files import read_file, refuse_link, write_atomically
from sightline.base.records import Buffer, gaps_from, stream_info, with_read_note, written_note
from sightline.disk.layout import META, Layout
from sightline.disk.record_check import checked
from sightline.light.json_text import encoder, loads
from sightline.light.library import MappingProxyType, itemgetter
from sightline.light.typing_names import Any, Mapping

FORMAT = 1
"""To be raised for a change that older versions would misread; a new field is not such a change."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def encode_buffer(buffer: Buffer, kept: Mapping[str, Any] = _NOTHING, **more: Any) -> bytes:
    """Encode a record as JSON, without what changes with reading (``accessed``).

    Args:
        buffer: the record.
        kept: the fields that the file has now, see `fields_in`; unknown ones stay, those of streams, too.
        more: further fields.
    """
    fields = buffer._asdict()
    del fields["accessed"]
    streams = kept.get("streams", _NOTHING)
    fields["note"] = written_note(buffer)
    fields["streams"] = {
        name: {**streams.get(name, _NOTHING), **info._asdict()} for name, info in buffer.streams.items()
    }
    return _dumps({**kept, "format": FORMAT, **fields, **more}).encode(errors="surrogateescape")


def fields_in(layout: Layout, name: str) -> dict[str, Any]:
    """Return the fields of a buffer's ``meta.json``; none if it is missing or cannot be read.

    Raises:
        OfNewerVersion: this version must not write it.
    """
    try:
        fields = _fields_of(read_file(layout.meta(name)))
        return fields if all(isinstance(info, dict) for info in fields.get("streams", {}).values()) else {}
    except (FileNotFoundError, ValueError, AttributeError):
        return {}


def is_newer(fields: Mapping[str, Any]) -> bool:
    """Return whether a record has a form that only a newer version knows."""
    version = fields.get("format")
    return isinstance(version, int) and version > FORMAT


def _fields_of(data: bytes) -> dict[str, Any]:
    fields = loads(data.decode(errors="surrogateescape"))
    if not isinstance(fields, dict):
        raise ValueError("not a buffer's record")
    if is_newer(fields):
        raise OfNewerVersion(f"the record of @{fields.get('name')}")
    return fields


_dumps = encoder(ensure_ascii=False)
_LATER = tuple(Buffer._field_defaults)
_needed = itemgetter(*Buffer._fields[: -len(Buffer._field_defaults)])


def decode_buffer(data: bytes) -> Buffer:
    """Decode a record. Raises ValueError for anything that is not one, and OfNewerVersion."""
    fields = _fields_of(data)
    try:
        fields["streams"] = {
            name: stream_info((info["bytes"], info["lines"], info.get("sha256", ""), info.get("mime", "")))
            for name, info in fields["streams"].items()
        }
        fields["gaps"] = gaps_from(gaps) if (gaps := fields.get("gaps")) else ()
        fields["accessed"] = fields["ended"] or fields["created"]
        found = Buffer(*_needed(fields), **{name: fields[name] for name in _LATER if name in fields})
        return with_read_note(checked(found))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a buffer's record: {error!r}") from error


_SALVAGED = ("command", "cwd", "session", "created", "exit_code", "signal", "timed_out", "label", "pinned",
             "artifact", "origin", "partial", "project")  # fmt: skip
"""The fields that nothing but a record knows; the others follow from a buffer's files."""


def salvaged(layout: Layout, buffer: Buffer) -> Buffer:
    """Return a record with each field that is sound in its file, which cannot be read as a whole.

    Raises:
        OfNewerVersion: this version must not write it.
    """
    try:
        kept = _fields_of(read_file(layout.meta(buffer.name)))
    except (FileNotFoundError, ValueError):
        return buffer
    fields = _fields_of(encode_buffer(buffer))
    for field in _SALVAGED:
        before = fields[field]
        fields[field] = kept.get(field, before)
        try:
            buffer = decode_buffer(_dumps(fields).encode(errors="surrogateescape"))
        except ValueError:
            fields[field] = before
    return buffer


def write_meta(layout: Layout, buffer: Buffer, *, durable: bool = False) -> None:
    """Write the ``meta.json`` of a buffer that only this process writes."""
    write_atomically(layout.meta(buffer.name), encode_buffer(buffer), durable=durable)


def rewrite_meta(layout: Layout, buffer: Buffer, *, durable: bool = False) -> None:
    """Replace a ``meta.json`` that another version may have written. Raises OfNewerVersion, OSError."""
    data = encode_buffer(buffer, fields_in(layout, buffer.name))
    write_atomically(layout.meta(buffer.name), data, durable=durable)


def read_meta(layout: Layout, name: str, *, is_folder: bool = False, buffers: int | None = None) -> Buffer:
    """Read a buffer's record from its folder, unless that is a link.

    Args:
        layout: the paths of the store.
        name: name of the buffer.
        is_folder: whether the folder is known not to be a link.
        buffers: a descriptor of the folder of all buffers, from which the way is shorter.

    Raises:
        FileNotFoundError, ValueError, UnsafeStore, OfNewerVersion: there is none that this version can read.
    """
    if not is_folder:
        refuse_link(layout.folder(name))
    path = layout.meta(name) if buffers is None else f"{name}/{META}"
    buffer = decode_buffer(read_file(path, dir_fd=buffers))
    if buffer.name != name:
        raise ValueError("another buffer's record")
    return buffer
