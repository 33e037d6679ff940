"""Outputs that are there to their end, as those of past sessions: written sealed, and listed in batches."""

from collections.abc import Sequence
from typing import Any

from sightline.disk.deposit import Deposit as Deposit
from sightline.disk.recording import new_buffer, reserve, share_streams
from sightline.records import Buffer
from sightline.store import Store


def begin_finished(store: Store, kind: str, command: str, cwd: str, session: str, **fields: Any) -> Deposit:
    """Begin to write such an output; `Deposit.seal` ends it.

    Args:
        store: where it is kept.
        kind: ``cmd``, ``file`` or ``tool``.
        command: what gave it.
        cwd: where that ran.
        session: who captured it.
        fields: what else its record is to have, of `Buffer`: its times, its id.

    Raises:
        StoreFailed: the store could not take it.
    """
    if redaction := store.redaction():
        command = redaction.text(command)
    return Deposit(
        store.layout,
        new_buffer(reserve(store.layout, kind), kind, command.replace("\0", "\\x00"), cwd, session, **fields),
        max_stream_bytes=store.settings.max_stream_bytes,
        durable=store.settings.durable,
        redaction=store.redaction(),
    )


def list_finished(store: Store, buffers: Sequence[Buffer]) -> None:
    """Put sealed outputs into the index, within a transaction; large ones that are equal share their bytes."""
    share_streams(store.layout, store.index, buffers)
    store.index.add_buffers(buffers)
