"""Tells readers on this machine where an output lies whole, and whether a file has changed since."""

import os

from sightline.base.profile import Profile
from sightline.base.records import Buffer, joined_notes
from sightline.light.late_imports import late_modules
from sightline.light.typing_names import Any, Iterable
from sightline.store import Reading, Store, Target
from sightline.verbs.reply import Reply, in_order

with late_modules(globals()):
    from sightline.capture import file  # 1 ms: most replies show no file


def file_fields(store: Reading, buffer: Buffer, profile: Profile) -> dict[str, Any]:
    """Return ``full_output``, the path of standard output or of a result's first block, and ``output_files``, those of
    all streams; nothing if there are none, or they are on another machine. Where files have the names of their content,
    ``filename`` is the name of the first large field's, or of ``full_output``."""
    if not isinstance(store, Store):
        return {}
    by_content = profile.files.naming == "sha256.json"
    paths = {stream: store.path(Target(buffer, stream), by_content=by_content) for stream in buffer.streams}
    if not paths:
        return {}
    full = paths.get("out", next(iter(paths.values())))
    named = {"filename": os.path.basename(_large_field(buffer, paths) or full)} if by_content else {}
    return {**named, "full_output": full, "output_files": list(paths.values())}


def _large_field(buffer: Buffer, paths: dict[str, str]) -> str:
    """Return the path of the first large field of a result; empty if it has none."""
    if buffer.kind != "tool":
        return ""
    from sightline.capture.result import fields_of  # few profiles name files by their content

    return next((paths[field.stream] for field in fields_of(buffer)), "")


def telling_changes(store: Reading, reply: Reply, buffers: Iterable[Buffer]) -> Reply:
    """Add a note to the reply if it shows a version of a file on this machine that has changed since."""
    if not isinstance(store, Store):
        return reply
    told = {buffer.ref: note for buffer in buffers if (note := file.changed_since(store, buffer))}
    if not told:
        return reply
    notes = told.values() if len(told) == 1 else [f"{ref}: {note}" for ref, note in told.items()]
    fields = {**reply.fields, "note": joined_notes(reply.fields.get("note") or "", *notes)}
    has_code = "exit_code" in reply.fields
    ordered = in_order(fields)
    if not has_code:
        ordered.pop("exit_code", None)
    return reply._replace(fields=ordered, missing=True)
