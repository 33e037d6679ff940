"""Finds a buffer by its ref."""

import os

from sightline.base import refs
from sightline.base.errors import AmbiguousRef, StoreFailed, UnknownRef
from sightline.base.records import Buffer, Target, stream_of
from sightline.base.refs import Ref, format_ref
from sightline.disk.index import Index
from sightline.disk.layout import Layout
from sightline.disk.meta import read_meta
from sightline.light.late_imports import late_modules
from sightline.light.typing_names import Callable

with late_modules(globals()):
    from sightline.disk import progress, tombstones  # what runs or is gone

_CANDIDATES = 8
_COMMAND_CHARACTERS = 40


def _ambiguous(name: str, matches: list[Buffer]) -> AmbiguousRef:
    """Return the error for the beginning of several names: it lists them, and says how many digits tell them apart."""
    lines = [f"{one.ref} {' '.join(one.command.split())[:_COMMAND_CHARACTERS]}".rstrip() for one in matches]
    listed = "; ".join(lines[:_CANDIDATES]) + ("; and more" if len(lines) > _CANDIDATES else "")
    digits = [one.name.partition("_")[2] for one in matches]
    longest = max(map(len, digits))
    needed = next((size for size in range(1, longest) if len({one[:size] for one in digits}) == len(digits)), longest)
    return AmbiguousRef(f"{format_ref(name)} could be any of {listed}", f"type {needed} digits, or the whole ref")


def target_of(ref: Ref, buffer: Buffer, stream: str) -> Target:
    """Return what a ref names in its buffer. Raises what `stream_of` raises.

    Args:
        ref: the parsed ref.
        buffer: the record.
        stream: the stream to take if the ref names none.
    """
    stream = ref.stream or ("part.0" if buffer.kind == "tool" and stream == "out" else stream)
    return Target(buffer, stream_of(buffer, stream), ref.first, ref.last)


class RefLookup:
    """Looks buffers up in the index and, if it does not know one, on disk."""

    def __init__(
        self,
        layout: Layout,
        index: Index,
        adopt: Callable[[str], Buffer | None],
        take_in_sealed: Callable[[], bool],
    ) -> None:
        """Look up in one store.

        Args:
            layout: paths of the store.
            index: its index.
            adopt: takes care of a running capture whose writer has died, see `recovery`.
            take_in_sealed: see `Store.take_in_sealed`.
        """
        self._layout = layout
        self._index = index
        self._adopt = adopt
        self._take_in_sealed = take_in_sealed

    def find(self, ref: str | Ref, *, session: str | None, prefixes: bool) -> Target:
        """Return what a ref names; see `Store.resolve`."""
        parsed = refs.parse_ref(ref) if isinstance(ref, str) else ref
        if parsed.host:
            raise UnknownRef(
                f"the outputs of {parsed.host} are not in the store of this machine",
                "commands that only read find what the fleet has of it, by --store postgresql://… or SIGHTLINE_STORE; "
                f"anything else is for {parsed.host} itself to do",
            )
        return target_of(parsed, *self._find(parsed, session, prefixes))

    def _find(self, ref: Ref, session: str | None, prefixes: bool) -> tuple[Buffer, str]:
        if ref.name:
            return self._named(ref.name, prefixes), "out"
        if ref.back is not None:
            if not self._take_in_sealed():
                raise StoreFailed(
                    "the newest output is not known, since another process holds the index locked",
                    "give the ref of the output, or try again",
                )
            found = self._index.newest_command(ref.back, session)
            if found is None:
                whose = "in the store" if session is None else "of this session"
                which = f"@last~{ref.back}" if ref.back else "@last"
                raise UnknownRef(f"there is no {which} {whose}", tombstones.LIST_HINT)
            return self.current(found), "out"
        if ref.sha256:
            return self._hashed(ref.sha256)
        found = self._index.of_artifact(ref.artifact)
        if found is None:
            raise UnknownRef(f"no buffer was imported as {ref.artifact}", tombstones.LIST_HINT)
        return self.current(found), "out"

    def _named(self, name: str, prefixes: bool) -> Buffer:
        found = self._index.buffer(name) or self._on_disk(name)
        if found is None and prefixes and not os.path.lexists(self._layout.tombstone(name)):
            matches = self._index.with_prefix(name, limit=_CANDIDATES + 1)
            if len(matches) > 1:
                raise _ambiguous(name, matches)
            found = matches[0] if matches else None
        if found is None and not prefixes and self._index.with_prefix(name, limit=1):
            raise UnknownRef(
                f"{format_ref(name)} is only the beginning of a name", "give the whole ref, as it stood in the reply"
            )
        if found is None or found.state == "evicted":
            raise tombstones.gone(self._layout, found.name if found else name)
        return self.current(found)

    def _on_disk(self, name: str) -> Buffer | None:
        """Return a buffer that the index does not know yet, from its folder, unless it is just being removed."""
        try:
            buffer = read_meta(self._layout, name)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        if self._index.unwritable:
            return None if os.path.lexists(self._layout.tombstone(name)) else buffer
        with self._index.transaction():
            if os.path.lexists(self._layout.tombstone(name)):
                return None
            self._index.put_buffer(buffer)
        return buffer

    def _hashed(self, prefix: str) -> tuple[Buffer, str]:
        matches = self._index.with_hash(prefix)
        if not matches:
            raise UnknownRef(f"no stream's hash begins with {prefix}", tombstones.LIST_HINT)
        if len({sha256 for sha256, _, _ in matches}) > 1:
            raise AmbiguousRef(f"several hashes begin with {prefix}", "give more of its digits")
        sound = (match for match in matches if not self._is_altered(*match[1:]))
        _, name, stream = next(sound, matches[0])  # where all are altered, replies about it say so
        return self._named(name, prefixes=False), stream

    def _is_altered(self, name: str, stream: str) -> bool:
        buffer = self._index.buffer(name)
        return buffer is not None and buffer.is_altered(stream)

    def current(self, buffer: Buffer) -> Buffer:
        """Return the record, after marking a buffer as interrupted whose writer died."""
        if buffer.state != "running":
            return buffer
        known = self._adopt(buffer.name) or self._index.buffer(buffer.name) or buffer
        return progress.with_progress(self._layout, known)
