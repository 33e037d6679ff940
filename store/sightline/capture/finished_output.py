"""Writes outputs that are complete already, such as those of past sessions: sealed at once, and listed in batches."""

from collections.abc import Sequence

from sightline.base.records import Buffer
from sightline.disk.deposit import Deposit as Deposit
from sightline.disk.meta import write_meta
from sightline.disk.recording import new_buffer, reserve
from sightline.disk.sharing import share_streams
from sightline.light.typing_names import Any
from sightline.store import Store


def begin_finished(store: Store, kind: str, command: str, cwd: str, session: str, **fields: Any) -> Deposit:
    """Begin to write such an output; `Deposit.seal` ends it.

    Args:
        store: the store that keeps it.
        kind: ``cmd``, ``file`` or ``tool``.
        command: the command, file or call that made it.
        cwd: working directory of the command.
        session: the session that captured it.
        fields: other fields of its record, of `Buffer`, such as its times and its id.

    Raises:
        StoreFailed: the store cannot keep it.
    """
    if redaction := store.settings.redaction():
        command = redaction.text(command)
    return Deposit(
        store.layout,
        new_buffer(reserve(store.layout, kind), kind, command.replace("\0", "\\x00"), cwd, session, **fields),
        max_stream_bytes=store.settings.max_stream_bytes,
        durable=store.settings.durable,
        redaction=store.settings.redaction(),
    )


def list_finished(store: Store, buffers: Sequence[Buffer]) -> None:
    """Put sealed outputs into the index, within a transaction; large equal ones share their bytes."""
    shared = share_streams(store.layout, lambda: store.index, buffers)
    for before, now in zip(buffers, shared, strict=True):
        if now is not before:
            write_meta(store.layout, now, durable=store.settings.durable)
    store.index.add_buffers(shared)
