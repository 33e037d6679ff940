"""``meta.json`` and tombstones: a buffer's record as a file, from which the index can be rebuilt.

Names in a record become paths, so one that is not of our making makes the whole record none.
"""

import json
import re
from typing import Any

from sightline.store.disk.layout import Layout, read_file, refuse_link, write_atomically
from sightline.store.records import Buffer, StreamInfo

FORMAT = 1
_NAME = r"(cmd|file|tool)_[0-9a-f]{4,64}"
_STREAM = r"out|err|part\.[0-9]{1,6}"
_STATES = ("running", "sealed", "interrupted", "evicted")


def is_buffer_name(text: str) -> bool:
    """Whether a folder of this name can be a buffer's."""
    return re.fullmatch(_NAME, text) is not None


def encode_buffer(buffer: Buffer, **more: Any) -> bytes:
    """A record as JSON, without what changes with reading (``accessed``)."""
    fields = buffer._asdict()
    del fields["accessed"]
    fields["streams"] = {name: info._asdict() for name, info in buffer.streams.items()}
    return _dumps({"format": FORMAT, **fields, **more}).encode(errors="surrogateescape")


_dumps = json.JSONEncoder(ensure_ascii=False).encode


def decode_buffer(data: bytes) -> Buffer:
    """A record from its JSON. Raises ValueError for anything that is none."""
    fields = json.loads(data.decode(errors="surrogateescape"))
    if not isinstance(fields, dict):
        raise ValueError("not a buffer's record")
    try:
        fields["streams"] = {
            name: StreamInfo(info["bytes"], info["lines"], info.get("sha256", ""), info.get("mime", ""))
            for name, info in fields["streams"].items()
        }
        known = {name: fields[name] for name in Buffer._fields if name != "accessed"}
        kind = re.fullmatch(_NAME, fields["name"])
        if not kind or kind[1] != fields["kind"] or fields["state"] not in _STATES:
            raise ValueError("not a buffer's name, kind or state")
        if not all(re.fullmatch(_STREAM, name) for name in fields["streams"]):
            raise ValueError("not a stream's name")
        return Buffer(accessed=fields.get("ended") or fields["created"], **known)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a buffer's record: {error!r}") from error


def write_meta(layout: Layout, buffer: Buffer, *, durable: bool = False) -> None:
    """Replace a buffer's ``meta.json``."""
    write_atomically(layout.meta(buffer.name), encode_buffer(buffer), durable=durable)


def read_meta(layout: Layout, name: str) -> Buffer:
    """A buffer's record from its folder. Raises FileNotFoundError, ValueError, UnsafeStore."""
    refuse_link(layout.folder(name))
    buffer = decode_buffer(read_file(layout.meta(name)))
    if buffer.name != name:
        raise ValueError("another buffer's record")
    return buffer
