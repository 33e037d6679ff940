"""Leaves nothing of purged outputs in what lies beside streams and logs: tombstones, the index, files of hooks."""

import fcntl
import glob
import os
import sqlite3
from contextlib import suppress

from sightline.base.errors import OfNewerVersion, StoreFailed
from sightline.base.private_files import TooLarge, open_private, read_file, remove_file, write_all, write_atomically
from sightline.base.records import Buffer
from sightline.disk.errors import store_failed
from sightline.disk.meta import is_newer
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Iterable
from sightline.log import store_kinds
from sightline.store import Store


class Purged(NamedTuple):
    """What was purged.

    Attributes:
        names: names of the outputs.
        commands: their command lines, or paths.
        artifacts: the ids by which harnesses know them.
    """

    names: frozenset[str]
    commands: frozenset[str]
    artifacts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, buffers: Iterable[Buffer]) -> "Purged":
        """Return what some outputs are known by."""
        found = list(buffers)
        commands = frozenset(one.command for one in found if one.command.strip())
        artifacts = frozenset(one.artifact for one in found if one.artifact)
        return cls(frozenset(one.name for one in found), commands, artifacts)


def emptied_record(store: Store, buffer: Buffer) -> Buffer:
    """Return what a tombstone may have of a purged output.

    A store into which it was copied knows its streams by their hashes, so these stay where one is set: they would say
    what a few bytes were.
    """
    streams = buffer.streams
    if store_kinds.copies_to(store) is None:
        streams = {name: info._replace(sha256="") for name, info in streams.items()}
    return buffer._replace(command="", label="", note="", artifact="", streams=streams)


def empty_tombstone(store: Store, name: str) -> Purged:
    """Remove from a tombstone what was quoted of an output, and what it was, and forget its record.

    Raises:
        OfNewerVersion: a newer version left it.
    """
    tombstone = store.tombstone(name)
    known = store.index.buffer(name)
    found = Purged.of([known] if known else ())
    if tombstone:
        if is_newer(tombstone):
            raise OfNewerVersion(f"what is left of @{name}")
        command = str(tombstone.get("command", ""))
        found = found._replace(names=frozenset([name]), commands=found.commands | ({command} - {""}))
        tombstone.pop("quotes", None)
        tombstone |= {"command": "", "label": "", "note": "", "artifact": "", "reason": "removed"}
        if store_kinds.copies_to(store) is None:
            tombstone["streams"] = {
                stream: {**info, "sha256": ""} for stream, info in tombstone.get("streams", {}).items()
            }
        data = dumps(tombstone, ensure_ascii=False).encode(errors="surrogatepass")
        write_atomically(store.layout.tombstone(name), data, durable=store.settings.durable)
    if known:
        store.index.forget_buffer(name)
    return found


def scrub(store: Store, purged: Purged) -> None:
    """Remove what other files have of purged outputs, and their traces in those of the index.

    Raises:
        StoreFailed: another process uses the index all the time, or a file cannot be written.
    """
    try:
        _scrub_hooks(store, purged)
        _scrub_lines(os.path.join(store.root, "hooks.log"), purged.commands)
        _scrub_lines(os.path.join(store.root, "queries"), {*purged.names, *purged.commands})
        for path in glob.glob(glob.escape(store.layout.index) + ".broken-*"):
            remove_file(path)
        store_kinds.scrub(store.root)
        for command in purged.commands:
            store.index.forget_acks(command)
        store.index.forget_session_verdicts()  # their evidence quotes commands and messages
        store.index.scrub()
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, sqlite3.Error) and "locked" in str(error):
            raise StoreFailed(
                "removed, but other processes keep the index in use, so that its files may still hold traces",
                "do the same again once they rest",
            ) from error
        raise store_failed(error, store.root) from error


def _scrub_hooks(store: Store, purged: Purged) -> None:
    for path in glob.glob(os.path.join(glob.escape(store.layout.hooks), "*.json")):
        pending = _loaded(path)
        key = os.path.basename(path).removesuffix(".json")
        is_of = any(
            artifact.partition(":")[2].split(":")[0] == pending.get("use", key) for artifact in purged.artifacts
        )
        if is_of or purged.commands & {pending.get("command"), pending.get("kept")}:
            remove_file(path)
    for path in glob.glob(os.path.join(glob.escape(store.layout.hooks), "*.transcript")):
        fd = open_private(path, os.O_RDWR)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            state = _loaded(path)
            waiting = [one for one in state.get("waiting", ()) if not _is_of(one, purged)]
            if len(waiting) != len(state.get("waiting", ())):
                data = dumps({**state, "waiting": waiting}).encode() + b"\n"
                os.lseek(fd, 0, os.SEEK_SET)
                write_all(fd, data)
                os.ftruncate(fd, len(data))
        finally:
            os.close(fd)


def _is_of(waiting: Any, purged: Purged) -> bool:
    call = waiting.get("call", {})
    return waiting.get("buffer") in purged.names or call.get("command") in purged.commands


def _loaded(path: str) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = loads(read_file(path).partition(b"\n")[0])
        if isinstance(found, dict):
            return found
    return {}


def _scrub_lines(path: str, words: Iterable[str]) -> None:
    """Remove the lines of a small file that have one of these words; a file too large to be ours goes as a whole."""
    wanted = [word.encode(errors="surrogateescape") for word in words if word.strip()]
    try:
        lines = read_file(path).splitlines(keepends=True)
    except FileNotFoundError:
        return
    except TooLarge:
        remove_file(path)
        return
    left = [line for line in lines if not any(word in line for word in wanted)]
    if left != lines:
        write_atomically(path, b"".join(left))
