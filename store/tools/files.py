"""Where the whole of an output lies, for those who can read files there."""

from typing import Any

from sightline.store.profile import Profile
from sightline.store.records import Buffer
from sightline.store.store import Store, Target


def file_fields(store: Store, buffer: Buffer, profile: Profile) -> dict[str, Any]:
    """``full_output``, the path of standard output or of a result's first block, and ``output_files``, those of all
    streams; nothing without any."""
    by_content = profile.files.naming == "sha256.json"
    paths = {
        stream: store.path_by_content(Target(buffer, stream)) if by_content else store.path(Target(buffer, stream))
        for stream in buffer.streams
    }
    if not paths:
        return {}
    return {"full_output": paths.get("out", next(iter(paths.values()))), "output_files": list(paths.values())}
