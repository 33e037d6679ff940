"""Keeping what the tools of a harness gave: a buffer for each result, and which of its lines a model was shown."""

import errno
import json
import os
import time
from collections.abc import Iterator
from typing import Any

from sightline.doors.hooks.called import Called
from sightline.log.sessions import use_key
from sightline.log.views import Shows, record_view
from sightline.records import TOOL_FAILED, Buffer, LinePart, Session, Shown
from sightline.shape.segments import Segment
from sightline.store import Store, Target

VERB = "tool"
"""What the log calls it, as it does for a proxied server's tools; the request tells which."""

CUT = "cut by {}"
_LARGEST_FILE = 8 << 20  # bytes; of a larger file only what was read of it is kept
_LARGEST_WHOLE = 256 << 20  # bytes; a hook has seconds, and holds it in memory
_ARGUMENT_CHARACTERS = 500
_PATIENCE_TURNS, _TURN_SECONDS = 50, 0.01  # until a harness has written its own file of all the output
_CHARACTER_BYTES = 4  # at most, in UTF-8
_MATCHED_BYTES = 1 << 21  # of a longer text it is not looked for which lines stand in it


def may_keep(store: Store, call: Called) -> bool:
    """Whether anything of a call may be kept: where it was made, and where the file lies that it read."""
    path = call.path or call.input.get("file_path")
    folders = [call.cwd, *([os.path.dirname(path)] if isinstance(path, str) and os.path.isabs(path) else [])]
    return all(store.settings.captures(folder) for folder in folders)


def keep(store: Store, session: Session, call: Called, title: str) -> Buffer | None:
    """Keep what a tool gave, once.

    Args:
        store: where it is kept.
        session: whose it is.
        call: the call.
        title: the harness, as its makers call it.

    Returns:
        The sealed buffer, the one that is there already, or None where there is nothing to be kept.

    Raises:
        StoreFailed: the store could not take it.
    """
    if not call.makes_buffer:
        return None
    if call.use and (known := store.index.of_artifact(use_key(session.name, call.use))):
        return known
    if call.path and (version := _file_version(store, session, call)):
        return version
    return _command(store, session, call, title) if call.command else _result(store, session, call, title)


def find(store: Store, session: Session, use: str, path: str = "", *, unfiltered: bool = False) -> Buffer | None:
    """The buffer that the use of a tool made, or the newest version of the file that it read."""
    if use and (known := store.index.of_artifact(use_key(session.name, use, unfiltered=unfiltered))):
        return known if known.state != "evicted" else None
    return store.index.newest_file(os.path.realpath(path)) if path else None


def _file_version(store: Store, session: Session, call: Called) -> Buffer | None:
    """The version of the file that was read, if what was read stands in it."""
    from sightline.capture.file import FileNotReadable, capture_file

    try:
        if os.path.getsize(call.path) > _LARGEST_FILE:
            return None
        buffer = capture_file(store, call.path, session.name)
    except (OSError, FileNotReadable):
        return None
    read = (call.text or "").splitlines()
    last = min(call.first + len(read) - 1, buffer.lines)
    with store.open(Target(buffer, "out")) as source:
        there = [line.data.decode(errors="replace").rstrip("\r") for line in source.lines(call.first, last)]
    return buffer if read[: len(there)] == there and len(read) <= len(there) + 1 else None


def _command(store: Store, session: Session, call: Called, title: str) -> Buffer:
    out, whole = _whole(call)
    note = "" if call.errors else "merged"
    partial, gaps = ("", ()) if whole else (CUT.format(title), call.gaps)
    recording = store.begin("cmd", call.command, call.cwd, session.name, artifact=use_key(session.name, call.use))
    try:
        if out:
            recording.append("out", out)
        if call.errors:
            recording.append("err", call.errors.encode(errors="surrogatepass"))
        return recording.seal(exit_code=call.exit_code, note=note, partial=partial, gaps=gaps)
    except BaseException:
        recording.discard()
        raise


def _whole(call: Called) -> tuple[bytes, bool]:
    """All that a command wrote, from the harness' own file where there is one, and whether it is all."""
    for _ in range(_PATIENCE_TURNS if call.whole_path else 0):
        try:
            data = _read_whole(call)
        except OSError:
            break
        if data is not None:
            return data, True
        time.sleep(_TURN_SECONDS)  # opencode was seen to write it while its hook ran
    return (call.text or "").encode(errors="surrogatepass"), not call.partial and not call.whole_path


def _read_whole(call: Called) -> bytes | None:
    """What the harness' own file holds; None while it is not whole. Raises OSError where it is not to be read."""
    from sightline.doors.hooks.own_files import own_file
    from sightline.harnesses.transcript import open_beside  # few calls have such a file

    fd = open_beside(own_file(call.whole_path, call.whole_in))
    with open(fd, "rb") as file:
        size, tail = os.fstat(fd).st_size, call.whole_tail.encode(errors="surrogatepass")
        if size > _LARGEST_WHOLE:
            raise OSError(errno.EFBIG, "it is too large for a hook")
        ends_so = os.pread(fd, len(tail), max(0, size - len(tail))) == tail
        return file.read(_LARGEST_WHOLE) if size >= call.whole_bytes and ends_so else None


def _result(store: Store, session: Session, call: Called, title: str) -> Buffer | None:
    told = shortened(call.input)
    command = f"{call.tool} {_compact(told)}" if told else call.tool
    text, is_whole = (b"", not call.partial) if call.blocks is not None else _whole(call)
    about: dict[str, Any] = {
        "note": TOOL_FAILED if call.failed else "",
        "partial": "" if is_whole else CUT.format(title),
        "gaps": () if is_whole else call.gaps,
    }
    artifact = use_key(session.name, call.use)
    texts = _plain_texts(call, text)
    if texts is None:
        return _structured(store, session, call, command, text, {**about, "artifact": artifact})
    recording = store.begin("tool", command, call.cwd, session.name, artifact=artifact)
    try:
        streams = {f"part.{number}": text.encode(errors="surrogatepass") for number, text in enumerate(texts)}
        for stream, data in streams.items():
            recording.append(stream, data)
        return recording.seal(exit_code=None, mimes=dict.fromkeys(streams, "text/plain"), **about)
    except BaseException:
        recording.discard()
        raise


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _plain_texts(call: Called, text: bytes) -> list[str] | None:
    """The texts of a result, where that is all that it is: what may be JSON, or is no text, takes more to read."""
    if call.blocks is None:
        texts: list[Any] = [text.decode(errors="replace")]
    else:
        texts = [
            one.get("text") if isinstance(one, dict) and one.get("type") == "text" else None for one in call.blocks
        ]
    plain = all(isinstance(text, str) and text.lstrip()[:1] not in ("{", "[", '"') for text in texts)
    return [text for text in texts if text] if plain else None


def _structured(
    store: Store, session: Session, call: Called, command: str, text: bytes, about: dict[str, Any]
) -> Buffer | None:
    from sightline.capture.result import Block, blocks_of, capture_result

    parsed = blocks_of({"content": call.blocks}) if call.blocks else None
    blocks = parsed[0] if parsed else [Block([text])]
    kept = capture_result(store, blocks, command=command, cwd=call.cwd, session=session.name, **about)
    return kept if isinstance(kept, Buffer) else None


def shortened(value: Any) -> Any:
    """A tool's input with its long texts cut."""
    if isinstance(value, str) and len(value) > _ARGUMENT_CHARACTERS:
        return f"{value[:_ARGUMENT_CHARACTERS]}[… {len(value) - _ARGUMENT_CHARACTERS:,} characters elided …]"
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    return [shortened(one) for one in value] if isinstance(value, list) else value


def request_of(harness: str, call: Called, alone_bytes: int | None) -> dict[str, Any]:
    """What the log keeps of the call."""
    request: dict[str, Any] = {"tool": call.tool}
    if call.command:
        request["command"] = call.command
    elif call.path:
        request["path"] = call.path
    if not call.command:
        request["arguments"] = shortened(call.input)
    if alone_bytes is not None:
        request["alone_bytes"] = alone_bytes
    caller = {"client": harness, "harness_session": call.session, "tool_use": call.use}
    return {**request, "caller": {name: value for name, value in caller.items() if value}}


def log_view(
    store: Store,
    session: Session,
    request: dict[str, Any],
    text: str,
    buffer: Buffer | None,
    *,
    unfiltered: Buffer | None = None,
    known: Shown | None = None,
    seen: str = "",
    unknown: str = "",
) -> None:
    """Log what a model was shown, with the lines of the buffers that stand in it.

    Args:
        store: where it is logged.
        session: whose it is.
        request: see `request_of`.
        text: what the model was shown.
        buffer: the result; None where none was kept.
        unfiltered: what went into the command's filters, likewise.
        known: the lines that stand in it, where the harness tells them; else they are looked for.
        seen: what of the result stands in it, where that is known apart from the harness' own words.
        unknown: what of the text is not known, and why; empty where it is exact.

    Raises:
        StoreFailed: it could not be logged.
    """
    buffers = [one for one in (buffer, unfiltered) if one]
    if redaction := store.redaction():  # as in the buffers, whose lines are looked for in it
        text, seen = redaction.text(text), redaction.text(seen)
    command = request.get("command", "")
    shown, matched, parts = list[Shown](), list[Shown](), list[LinePart]()
    if known:
        shown.append(known)
    else:
        for made in buffers:
            for one, is_whole in lines_shown(store, made, seen or text, command):
                if isinstance(one, LinePart):
                    parts.append(one)
                else:
                    (shown if is_whole else matched).append(one)
    lines = sum(one.last - one.first + 1 for one in (*shown, *matched) if buffer and one.buffer == buffer.name)
    shows = Shows(
        verb=VERB,
        request=request,
        refs=tuple(made.name for made in buffers),
        shown=tuple(shown),
        lines_total=buffer.lines if buffer else 0,
        bytes_total=buffer.bytes if buffer else len(text.encode(errors="surrogatepass")),
        exit_code=buffer.exit_code if buffer else None,
        truncated=buffer is not None and (lines < buffer.lines or buffer.is_partial),
        matched=tuple(matched),
        parts=tuple(parts),
        unknown=unknown,
    )
    record_view(store, session, shows, (Segment(text),) if text else ())
    if buffer and buffer.kind == "file":
        store.touch(buffer.name)  # any other was made for this view, and is the newest


def tidy(store: Store) -> None:
    """Let go of what is over the limits."""
    if store.over_limits():
        from sightline.log.retention import enforce_limits

        enforce_limits(store)


def lines_shown(store: Store, buffer: Buffer, text: str, command: str) -> Iterator[tuple[Shown | LinePart, bool]]:
    """The raw lines of a buffer that stand in a text, as far as they can be told; whether as a whole stream as it is.

    Any others are recognised by what they read; a line of which only the beginning or the end is, is a part.

    Args:
        store: the store.
        buffer: its record.
        text: what was shown.
        command: the command line, which may have filtered the buffer.
    """
    if not text or len(text) > _MATCHED_BYTES:
        return
    from sightline.audit.matching import How, how_made, match_parts

    how = How() if command == buffer.command else how_made(command)
    for stream, info in buffer.streams.items():
        target = Target(buffer, stream)
        if _holds_all(store, target, text):
            yield from ((Shown(buffer.name, stream, first, last), True) for first, last in buffer.runs(stream))
        elif info.lines:
            with store.open_text(target) as source:
                found = match_parts(text.split("\n"), source, how)
            yield from ((Shown(buffer.name, stream, first, last), False) for first, last in found.lines)
            yield from ((LinePart(buffer.name, stream, *cut, matched=True), False) for cut in found.cuts)


def _holds_all(store: Store, target: Target, text: str) -> bool:
    """Whether all of a stream stands in a text as it is, from gap to gap.

    Of lines that are all alike no other way tells how many.
    """
    info = target.buffer.stream(target.stream)
    if not info.lines or info.bytes > _CHARACTER_BYTES * (len(text) + 1):
        return False
    with store.open(target) as source:
        at, wholes = 0, list[str]()
        for _, last in target.buffer.runs(target.stream):
            end = source.offset_of_line(last + 1)
            wholes.append(bytes(source.read(at, end - at)).decode(errors="replace").strip("\n"))
            at = end
    return any(wholes) and all(f"\n{whole}\n" in f"\n{text}\n" for whole in wholes)
