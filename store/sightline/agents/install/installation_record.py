"""What an installation found and wrote, kept below the store's root, so that it can be undone byte for byte.

``installed/KEY/record.json`` and, beside it, each file as it was before: ``0-settings.json``, ``1-.claude.json``.
Settings sometimes hold keys; these files are as private as everything below the root.
"""

import os

from sightline.agents.install.settings_text import Undo
from sightline.base.ownership import others_could_write
from sightline.base.private_files import make_folder, read_file, remove_folder, write_atomically
from sightline.base.sha256 import sha256_hex
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

FOLDER = "installed"
_RECORD = "record.json"


class WrittenFile(NamedTuple):
    """One file that was changed.

    Attributes:
        path: the path that its harness uses.
        before: its bytes without our entries; None where there was no file.
        after: SHA-256 of the bytes that were written.
        undo: what is needed to take our entries out if the file has changed since.
        folders: the folders that were made for it, outermost first.
    """

    path: str
    before: bytes | None
    after: str
    undo: Undo = Undo()
    folders: tuple[str, ...] = ()


class Record:
    """The record of one installation, which its harness, scope and files identify."""

    def __init__(self, root: str, name: str, paths: list[str]) -> None:
        self._all = os.path.join(root, FOLDER)
        self.folder = os.path.join(self._all, f"{name}-{sha256_hex(os.fsencode(chr(0).join(paths)))[:8]}")

    def load(self) -> dict[str, WrittenFile]:
        """What was written, by path; empty where no record can be read, or others could have written it."""
        if others_could_write(os.path.join(self.folder, _RECORD)):
            return {}
        try:
            files = loads(read_file(os.path.join(self.folder, _RECORD)))["files"]
            return {one["path"]: self._decoded(one) for one in files}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def save(self, written: list[WrittenFile]) -> dict[str, str]:
        """Write the record, replacing an earlier one; return where the copy of each file lies, by path."""
        make_folder(self._all)
        make_folder(self.folder)
        entries, places = [], {}
        for number, one in enumerate(written):
            backup = f"{number}-{os.path.basename(one.path)}" if one.before is not None else None
            if backup is not None and one.before is not None:
                places[one.path] = os.path.join(self.folder, backup)
                write_atomically(places[one.path], one.before, durable=True)
            entries.append(
                {
                    "path": one.path,
                    "backup": backup,
                    "after": one.after,
                    "created": one.undo.created,
                    "replaced": one.undo.replaced,
                    "set": one.undo.set,
                    "theirs": (),  # which 0.2.0 reads, and so is the next
                    "added": (),
                    "folders": one.folders,
                }
            )
        data = dumps({"files": entries}, ensure_ascii=False, indent=1)
        write_atomically(os.path.join(self.folder, _RECORD), data.encode(errors="surrogatepass"), durable=True)
        return places

    def forget(self) -> None:
        """Remove it all."""
        remove_folder(self.folder)

    def _decoded(self, one: dict[str, Any]) -> WrittenFile:
        before = None if one["backup"] is None else read_file(os.path.join(self.folder, one["backup"]))
        undo = Undo(
            tuple(tuple(keys) for keys in one["created"]),
            tuple((tuple(keys), value) for keys, value in one["replaced"]),
            tuple(tuple(keys) for keys in one["set"]),
        )
        return WrittenFile(one["path"], before, one["after"], undo, tuple(one["folders"]))
