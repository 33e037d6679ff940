"""Reads what is left of buffers that are gone, and makes the errors about them."""

import os
import time

from sightline.base.errors import ExpiredRef, OfNewerVersion, StoreFailed, UnknownRef
from sightline.base.private_files import read_file
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.disk.layout import Layout
from sightline.disk.meta import decode_buffer, is_newer
from sightline.disk.record_check import is_buffer_name, is_time
from sightline.light.json_text import loads
from sightline.light.typing_names import Any

LIST_HINT = "`sightline list` (or list_outputs) shows what there is; if it is gone, run the command again"
_AGAIN = {"file": "read the file again", "tool": "call the tool again"}


def read_tombstone(layout: Layout, name: str) -> dict[str, Any] | None:
    """Return what is left of a gone buffer; None if it never existed; only the format if a newer version left it."""
    try:
        data = read_file(layout.tombstone(name))
        tombstone: dict[str, Any] = loads(data)
        decode_buffer(data)
        return tombstone if _is_whole(tombstone) else None
    except OfNewerVersion:
        return {"format": tombstone["format"]}
    except (FileNotFoundError, ValueError):
        return None


def gone_names(layout: Layout) -> list[str]:
    """Return the names of all buffers of which only a tombstone is left."""
    files = os.listdir(layout.tombstones)
    names = (file.removesuffix(".json") for file in files if file.endswith(".json"))
    return sorted(name for name in names if is_buffer_name(name))


def _is_whole(tombstone: dict[str, Any]) -> bool:
    """Return whether it says when and how the buffer went, and what views quote of it."""
    quotes = tombstone.get("quotes", {})
    are_texts = isinstance(quotes, dict) and all(isinstance(text, str) for text in quotes.values())
    return is_time(tombstone.get("gone")) and isinstance(tombstone.get("reason"), str) and are_texts


def gone(layout: Layout, name: str) -> UnknownRef | ExpiredRef | OfNewerVersion:
    """Return the error for a name without a buffer: expired, with how to get it again, or never known."""
    tombstone = read_tombstone(layout, name)
    if tombstone is None:
        return UnknownRef(f"there is no output @{name}, and there was none", LIST_HINT)
    if is_newer(tombstone):
        return OfNewerVersion(f"what is left of @{name}")
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(tombstone["gone"]))
    what = " ".join(str(tombstone["command"]).split())[:200]
    how = _AGAIN.get(tombstone["kind"], "run the command again")
    how_gone = "removed " if tombstone["reason"] == "removed" else ""
    return ExpiredRef(f"{format_ref(name)} expired ({how_gone}{when}): {what}", how, name=name)


def lost_stream(layout: Layout, buffer: Buffer, stream: str) -> ExpiredRef | StoreFailed:
    """Return the error for a stream that the disk does not have: gone a moment ago, or removed from outside."""
    error = gone(layout, buffer.name)
    if isinstance(error, ExpiredRef):
        return error
    return StoreFailed(f"the bytes of {buffer.ref} ({stream}) are missing", "`sightline doctor` says more about it")
