"""A tool's result becomes a buffer, and the log gets the lines of it that a model was shown.

`past_call` does the same for imports. Here a result comes alone, other processes write the index, and it must be fast.
"""

import errno
import os
import time

from sightline.agents.hooks import hook_session
from sightline.base.records import LONG_ID, TOOL_FAILED, Buffer, Session, Shown
from sightline.base.sha256 import sha256_hex
from sightline.harnesses.tool_call import CHANGES_FILES, TEXT_MIME, ToolCall, ToolPart, open_beside
from sightline.light.json_text import dumps
from sightline.light.late_imports import late_modules
from sightline.light.typing_names import TYPE_CHECKING, Any
from sightline.log.sessions import use_key
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store, Target

if TYPE_CHECKING:
    from sightline.agents.past_sessions.shown_lines import LinesShown

with late_modules(globals()):
    from sightline.agents.past_sessions import shown_lines  # few results are shown other than they are
    from sightline.capture import file as captured_file  # likewise
    from sightline.capture import result  # few are of other tools
    from sightline.harnesses import file_changes  # few calls are edits
    from sightline.log import retention  # few stores are full, few lists change

VERB = "tool"
"""The verb of such a call in the log, as for a proxied server's tools; the request names the tool."""

_LARGEST_FILE = 8 << 20  # bytes; of a larger file only the part that was read is kept
LARGEST_WHOLE_BYTES = 256 << 20  # bytes; a hook has only seconds, and holds them in memory
_ARGUMENT_CHARACTERS = 500
_PATIENCE_TURNS, TURN_SECONDS = 50, 0.01  # to wait until a harness has written its own file with all the output
_MATCHED_CHARACTERS = 1 << 21  # a longer text is not searched for the lines that stand in it
_JSON_STARTS = (b"{", b"[", b'"')


def may_keep(store: Store, call: ToolCall) -> bool:
    """Whether a call may be kept: decided by the folder that it was made in, and by the file that it read."""
    path = call.command if call.kind == "file" else call.arguments.get("file_path")
    folders = [call.cwd, *([os.path.dirname(path)] if isinstance(path, str) and os.path.isabs(path) else [])]
    return all(store.settings.captures(folder) for folder in folders)


def keep(store: Store, session: Session, call: ToolCall) -> Buffer | None:
    """Keep a tool's result, once.

    Args:
        store: where it is kept.
        session: whose it is.
        call: the call.

    Returns:
        The sealed buffer, the one that exists already, or None where there is nothing to keep.

    Raises:
        StoreFailed: the store could not take it.
    """
    if call.tool in CHANGES_FILES:
        return None
    if len(call.use) >= LONG_ID and (known := buffer_of_use(store, session, call.use)) and _is_result(known, call):
        return known  # another hook has kept it; a shorter id may be of an earlier call that gave the same
    if call.kind == "file" and (version := _file_version(store, session, call)):
        return version
    if call.kind == "file":  # the part that was read is no version of the file, only a tool's result
        parts = tuple(part._replace(stream="part.0") for part in call.parts)
        call = call._replace(kind="tool", command="", parts=parts)
    call = with_saved(call)
    return _command(store, session, call) if call.kind == "cmd" else _result(store, session, call)


def _is_result(buffer: Buffer, call: ToolCall) -> bool:
    """Whether a buffer has what a call gave, and just now: an earlier call may have had its id."""
    if time.time() - (buffer.ended or 0) >= hook_session.SAME_EVENT_SECONDS:
        return False
    made = {part.stream: sha256_hex(_content(part)) for part in call.parts if _content(part)}
    has = {name: buffer.stream(name).sha256 for name in made}
    is_same = buffer.kind == call.kind and (call.kind != "cmd" or buffer.command == call.command)
    return is_same and made == has and bool(made or not buffer.bytes)


def find_buffer(
    store: Store, session: Session, call: ToolCall, *, unfiltered: bool = False, since: float = 0.0
) -> Buffer | None:
    """The buffer that a call made, or the newest version of the file that it read.

    Args:
        store: where it is kept.
        session: whose it is.
        call: the call.
        unfiltered: whether the buffer is to have what went into the command's filters.
        since: when the call was written down; an older buffer is of another call with the same id.
    """
    known = buffer_of_use(store, session, call.use, unfiltered=unfiltered, since=since)
    if known and known.kind == ("cmd" if call.kind == "cmd" else "tool"):
        return known if known.state != "evicted" else None
    return store.index.newest_file(os.path.realpath(call.command)) if call.kind == "file" else None


def buffer_of_use(
    store: Store, session: Session, use: str, *, unfiltered: bool = False, since: float = 0.0
) -> Buffer | None:
    """The newest buffer that a use of a tool made, if it is not older than a time; it may be evicted by now."""
    key = use_key(session.name, use, unfiltered=unfiltered)
    found = store.of_artifact(key) if key else None
    return found if found and found.created >= since else None


def _file_version(store: Store, session: Session, call: ToolCall) -> Buffer | None:
    """The version of the file that was read, if it has the text that was read."""
    try:
        if os.path.getsize(call.command) > _LARGEST_FILE:
            return None
        buffer = captured_file.capture_file(store, call.command, session.name)
    except (OSError, captured_file.FileNotReadable):
        return None
    read = call.text.splitlines()
    last = min(call.first + len(read) - 1, buffer.lines)
    with store.open(Target(buffer, "out")) as source:
        there = [line.data.decode(errors="replace").rstrip("\r") for line in source.lines(call.first, last)]
    return buffer if read[: len(there)] == there and len(read) <= len(there) + 1 else None


def with_saved(call: ToolCall) -> ToolCall:
    """The call with its whole output, where the harness keeps that in a file of its own."""
    for _ in range(_PATIENCE_TURNS if call.saved else 0):
        try:
            data = _read_saved(call)
        except OSError:
            break
        if data is not None:
            errors = tuple(part for part in call.parts if part.stream == "err")
            return call._replace(parts=((ToolPart(call.stream, data),) if data else ()) + errors, partial="", gaps=())
        time.sleep(TURN_SECONDS)  # opencode may still write it while its hook runs
    return call


def _read_saved(call: ToolCall) -> bytes | None:
    """The content of the harness' own file; None while that is not whole. Raises OSError where it must not be read."""
    if call.saved is None:
        return None
    fd = open_beside(call.saved.file)
    with open(fd, "rb") as file:
        if os.fstat(fd).st_size > LARGEST_WHOLE_BYTES:
            raise OSError(errno.EFBIG, "it is too large for a hook")
        return file.read(LARGEST_WHOLE_BYTES) if call.saved.is_whole(fd) else None


def _command(store: Store, session: Session, call: ToolCall) -> Buffer:
    artifact = use_key(session.name, call.use)
    recording = store.begin("cmd", call.command, call.cwd, session.name, artifact=artifact, created=call.asked)
    try:
        for part in call.parts:
            recording.append(part.stream, _content(part))
        return recording.seal(
            exit_code=call.exit_code, ended=call.answered, note=call.note, partial=call.partial, gaps=call.gaps
        )
    except BaseException:
        recording.discard()
        raise


def _result(store: Store, session: Session, call: ToolCall) -> Buffer | None:
    told = shortened(call.arguments)
    written = dumps(told, ensure_ascii=False, compact=True)
    command, artifact = f"{call.tool} {written}" if told else call.tool, use_key(session.name, call.use)
    about: dict[str, Any] = {
        "note": TOOL_FAILED if call.failed else "",
        "partial": call.partial,
        "gaps": call.gaps,
    }
    if not all(part.mime == TEXT_MIME and _content(part).lstrip()[:1] not in _JSON_STARTS for part in call.parts):
        return _structured(store, session, call, command, {**about, "artifact": artifact})
    recording = store.begin("tool", command, call.cwd, session.name, artifact=artifact)
    try:
        for part in call.parts:
            recording.append(part.stream, _content(part))
        return recording.seal(exit_code=None, mimes={part.stream: part.mime for part in call.parts}, **about)
    except BaseException:
        recording.discard()
        raise


def _structured(store: Store, session: Session, call: ToolCall, command: str, about: dict[str, Any]) -> Buffer | None:
    """Keep a result that may be JSON, or is not text."""
    made = {part.stream: result.ResultBlock([_content(part)], part.mime) for part in call.parts}
    last = max(int(stream.removeprefix("part.")) for stream in made)
    blocks = [made.get(f"part.{number}", result.ResultBlock([])) for number in range(last + 1)]
    kept = result.capture_result(store, blocks, command=command, cwd=call.cwd, session=session.name, **about)
    return kept if isinstance(kept, Buffer) else None


def _content(part: ToolPart) -> bytes:
    """The bytes of a part of a result; an event never names a file in their place."""
    return part.content if isinstance(part.content, bytes) else b""


def shortened(value: Any, characters: int = _ARGUMENT_CHARACTERS) -> Any:
    """A tool's input with its long texts cut."""
    if isinstance(value, str) and len(value) > characters:
        return f"{value[:characters]}[… {len(value) - characters:,} characters elided …]"
    if isinstance(value, dict):
        return {name: shortened(one, characters) for name, one in value.items()}
    return [shortened(one, characters) for one in value] if isinstance(value, list) else value


def request_of(call: ToolCall, alone_bytes: int | None) -> dict[str, Any]:
    """The request that the log keeps of the call."""
    request: dict[str, Any] = {"tool": call.tool}
    if call.kind != "tool":
        request["command" if call.kind == "cmd" else "path"] = call.command
    if call.kind != "cmd":
        is_edit = call.tool in CHANGES_FILES
        request["arguments"] = shortened(
            call.arguments, file_changes.EDIT_CHARACTERS if is_edit else _ARGUMENT_CHARACTERS
        )
    if call.tool in CHANGES_FILES:
        request["files"] = file_changes.files_changed(call.tool, call.arguments)
    if alone_bytes is not None:
        request["alone_bytes"] = alone_bytes
    caller = {"client": call.session.harness, "harness_session": call.session.id, "tool_use": call.use}
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
    """Log what a model was shown, with the lines of buffers that stand in it.

    Args:
        store: where it is logged.
        session: whose it is.
        request: what `request_of` makes.
        text: what the model was shown.
        buffer: the result; None where none was kept.
        unfiltered: what went into the command's filters, likewise.
        known: the lines that stand in it, where the harness tells them; otherwise they are looked for.
        seen: what of the result stands in it, where that is known apart from the harness' own words.
        unknown: what of the text is not known, and why; empty where it is exact.

    Raises:
        StoreFailed: it could not be logged.
    """
    buffers = [one for one in (buffer, unfiltered) if one]
    if redaction := store.settings.redaction():  # line ends as in the buffers, whose lines are looked for in it
        text, seen = redaction.text(text), redaction.text(seen)
    made = [] if known else _lines_in(store, buffers, seen or text, request.get("command", ""))
    shown = [*([known] if known else []), *(one for found in made for one in found.known)]
    matched = [one for found in made for one in found.matched]
    lines = sum(one.last - one.first + 1 for one in (*shown, *matched) if buffer and one.buffer == buffer.name)
    shows = Shows(
        verb=VERB,
        request=request,
        refs=tuple(one.name for one in buffers),
        shown=tuple(shown),
        lines_total=buffer.lines if buffer else 0,
        bytes_total=buffer.bytes if buffer else len(text.encode(errors="surrogatepass")),
        exit_code=buffer.exit_code if buffer else None,
        truncated=buffer is not None and (lines < buffer.lines or buffer.is_partial),
        matched=tuple(matched),
        parts=tuple(part for found in made for part in found.parts),
        unknown=unknown,
    )
    used = (buffer.name,) if buffer and buffer.kind == "file" else ()  # any other was made for this view: the newest
    record_view(store, session, shows, (Segment(text),) if text else (), uses=used)


def _lines_in(store: Store, buffers: list[Buffer], text: str, command: str) -> "list[LinesShown]":
    """The lines of each buffer that stand in a text."""
    if not buffers or not 0 < len(text) <= _MATCHED_CHARACTERS:
        return []
    return [shown_lines.shown_lines(store, one, text, command=command) for one in buffers]


def tidy(store: Store) -> None:
    """Evict what is over the limits."""
    if store.limits.over():
        retention.enforce_limits(store)
