"""Keeping what a past call gave: a sealed buffer with the times that it had."""

import os
from collections.abc import Iterator
from typing import Any

from sightline.capture.result import TEXT_MIME, call_text, sealed_result
from sightline.disk.deposit import Deposit
from sightline.disk.recording import new_buffer, reserve
from sightline.harnesses.call import Call, Part
from sightline.harnesses.transcript import open_beside
from sightline.records import TOOL_FAILED, Buffer
from sightline.shape.json.sampling import Sampling
from sightline.store import Store

NAME_CHARACTERS = 400
"""Of each text among a tool's arguments, in the buffer's name: a file that was written is not its name."""

_COPY_BYTES = 1 << 20
_DEPTH = 6
_ITEMS = 50
_JSON_STARTS = b"{["


def keep_past(store: Store, call: Call, session: str) -> Buffer:
    """Write a past call's buffer. Putting it into the index is the caller's.

    Raises:
        StoreFailed: the store could not take it; nothing is left of it.
    """
    command = call.command or call_text(call.tool, clipped(call.arguments, NAME_CHARACTERS))
    if redaction := store.redaction():
        command = redaction.text(command)
    buffer = new_buffer(
        reserve(store.layout, call.kind),
        call.kind,
        command.replace("\0", "\\x00"),
        call.cwd,
        session,
        artifact=call.id,
        created=call.asked,
        ended=call.answered,
    )
    settings = store.settings
    deposit = Deposit(
        store.layout,
        buffer,
        max_stream_bytes=settings.max_stream_bytes,
        durable=settings.durable,
        redaction=store.redaction(),
    )
    try:
        return _sealed(store, call, deposit)
    except BaseException:
        deposit.discard()
        raise


def _sealed(store: Store, call: Call, deposit: Deposit) -> Buffer:
    partial, mimes, structured = call.partial, dict[str, str](), False
    for part in call.parts:
        try:
            for data in _pieces(part):
                structured |= part.stream not in mimes and data.lstrip()[:1] in _JSON_STARTS
                mimes[part.stream] = part.mime if call.kind == "tool" else ""
                deposit.append(part.stream, data)
        except _Unreadable as error:
            partial = partial or str(error)
    failed = TOOL_FAILED if call.failed and call.kind == "tool" else ""
    note = "; ".join(filter(None, (failed, call.note)))
    if structured and call.kind == "tool" and TEXT_MIME in mimes.values():
        return sealed_result(store, deposit, mimes, note, Sampling(), partial=partial, gaps=call.gaps)
    return deposit.seal(exit_code=call.exit_code, note=note, mimes=mimes, partial=partial, gaps=call.gaps)


class _Unreadable(Exception):
    """A file that a transcript names can no longer be read."""


def _pieces(part: Part) -> Iterator[bytes]:
    if isinstance(part.content, bytes):
        yield part.content
        return
    try:
        fd = open_beside(part.content)
    except OSError as error:
        raise _Unreadable("the file that the whole was kept in is gone") from error
    try:
        while data := os.read(fd, _COPY_BYTES):
            yield data
    except OSError as error:
        raise _Unreadable("the file that the whole was kept in could not be read to its end") from error
    finally:
        os.close(fd)


def clipped(value: Any, characters: int, depth: int = 0) -> Any:
    """A tool's arguments with long texts cut short, and what is nested too deeply left out."""
    if isinstance(value, str):
        if len(value) <= characters:
            return value
        return f"{value[:characters]}… ({len(value):,} characters)"
    if isinstance(value, dict | list) and depth == _DEPTH:
        return "…"
    if isinstance(value, dict):
        return {
            clipped(str(name), characters): clipped(one, characters, depth + 1)
            for name, one in list(value.items())[:_ITEMS]
        }
    if isinstance(value, list):
        return [clipped(one, characters, depth + 1) for one in value[:_ITEMS]]
    return value
