"""One call of a tool and what came of it: what a hook is told of it, and a transcript tells afterwards, in one form.

What harnesses write has no fixed shape: nothing here takes more for granted than that it was JSON.
"""

import binascii
import json
import os
import re
import stat
from collections.abc import Sequence
from typing import Any

from sightline.named_tuple import NamedTuple
from sightline.records import Gap

CHANGES_FILES = frozenset(
    ("Edit", "Write", "MultiEdit", "NotebookEdit", "TodoWrite", "apply_patch", "write_file", "replace", "edit", "write")
)
"""Tools whose result says what the agent has just said itself: it is logged, and no buffer is made of it."""

TEXT_MIME = "text/plain"
_TEXTS = ("text", "input_text", "output_text")
_MIME = r"[\w.+-]+/[\w.+-]+"
_MIME_BYTES = 100
_LONG_ID = 20


class CallSession(NamedTuple):
    """Whose call it is.

    Attributes:
        harness: name of the harness.
        id: the harness' own id of the session.
        client: the harness and its version, as it introduces itself; without a version where none is known.
        cwd: working directory at the start, empty where it is unknown.
        started: seconds since the epoch.
        agent: id of the helper whose calls these are, within the session; empty for the agent itself.
    """

    harness: str
    id: str
    client: str
    cwd: str
    started: float
    agent: str = ""


class Beside(NamedTuple):
    """A file that a harness names, which lies below its own folder; `open_beside` opens it.

    Attributes:
        root: the folder; it may be one behind a symbolic link, since a person or a harness chose it.
        names: folders and file below it; none of them is followed where it is a symbolic link.
    """

    root: str
    names: tuple[str, ...]


class SavedOutput(NamedTuple):
    """A file in which a harness keeps all of an output, which it may still be writing.

    Attributes:
        file: where it lies.
        size: bytes that it has once it is written, 0 where that is not told.
        tail: how it ends then, likewise empty.
    """

    file: Beside
    size: int = 0
    tail: str = ""


class Part(NamedTuple):
    """One stream of what a tool gave.

    Attributes:
        stream: ``out``, ``err`` or ``part.N``.
        content: its bytes, or the file that has them.
        mime: what the bytes of a ``part.N`` are.
    """

    stream: str
    content: bytes | Beside
    mime: str = TEXT_MIME


class ToolCall(NamedTuple):
    """One call of a tool, and what came of it.

    Attributes:
        session: who called.
        id: what the transcript calls it, or its place there: unique within the session's transcripts.
        use: the model's id of the tool's use, as a server or hook is told it; empty where there is none.
        line: the line of the transcript that has the result, from 1; 0 where there are no lines.
        asked: when it was called, seconds since the epoch.
        answered: when its result came.
        tool: the tool's name, as the harness has it.
        arguments: its arguments.
        kind: ``cmd``, ``file`` or ``tool``, as of buffers.
        command: the command line, or the file's path; empty for any other tool.
        cwd: where it ran.
        shown: what the model was shown, a text for each block; empty where that is not told.
        parts: what the tool gave; empty where it gave nothing.
        exit_code: None where it is unknown, or there is none.
        partial: why the parts are not the whole; empty where they are.
        note: what else a reader must know.
        failed: whether the harness marked it as an error.
        unknown: what is not known of what was shown, and why; empty where it is all known.
        inner: calls that a program of the model's made meanwhile, of whose results it was shown what the program chose.
        gaps: where something of the parts is missing, as far as that is told.
        first: number of the first line of the parts, where a file was read from a line on.
        saved: a file that may have the whole of a single part; None for none.
    """

    session: CallSession
    id: str
    use: str
    line: int
    asked: float
    answered: float
    tool: str
    arguments: Any
    kind: str
    command: str
    cwd: str
    shown: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    exit_code: int | None = None
    partial: str = ""
    note: str = ""
    failed: bool = False
    unknown: str = ""
    inner: tuple["ToolCall", ...] = ()
    gaps: tuple[Gap, ...] = ()
    first: int = 1
    saved: SavedOutput | None = None

    @property
    def text(self) -> str:
        """What the tool gave, as text; of what is no text only its kind."""
        return "\n".join(
            part.content.decode(errors="replace")
            if isinstance(part.content, bytes) and part.mime == TEXT_MIME
            else f"[{part.mime}]"
            for part in self.parts
            if part.stream != "err"
        )

    @property
    def stream(self) -> str:
        """The stream that a text of it is."""
        return "part.0" if self.kind == "tool" else "out"

    def with_text(self, text: str, errors: str = "") -> "ToolCall":
        """The call with a text that came of it, and what stood apart as standard error."""
        note = "" if errors or self.kind != "cmd" else "merged"
        return self._replace(parts=text_part(text, self.stream) + text_part(errors, "err"), note=note)

    def with_rest(self, left: tuple[str, tuple[Gap, ...], bool], cut: str) -> "ToolCall":
        """The call with what a harness left of a text.

        Args:
            left: that, where something is missing in it, and whether anything is, as ``Kept`` of `transcript` has it.
            cut: why the rest is missing.
        """
        text, gaps, is_cut = left
        return self.with_text(text)._replace(gaps=gaps, partial=cut if is_cut else self.partial)

    def with_saved(self, path: str, ends: Sequence[str], size: int = 0, tail: str = "") -> "ToolCall":
        """The call with a file in which the harness says it keeps all of it, if it lies where such files do."""
        file = own_file(path, ends)
        return self._replace(saved=SavedOutput(file, size, tail) if file else None)

    def with_result(self, response: Any) -> "ToolCall | None":
        """The call with any result: text, blocks of MCP, or an object, of which its text is taken; None for no result.

        Args:
            response: what a harness tells its hook of it.
        """
        if response is None:
            return None
        if isinstance(response, str):
            return self.with_text(response)
        if (blocks := blocks_in(response)) is not None:
            failed = self.failed or (isinstance(response, dict) and response.get("isError") is True)
            return self._replace(parts=parts_of(blocks), failed=failed)
        if isinstance(response, dict):
            for key in ("content", "result", "output", "text"):
                if isinstance(response.get(key), str):
                    return self.with_text(response[key])
            names = response.get("filenames")
            if isinstance(names, list) and all(isinstance(one, str) for one in names):
                return self.with_text("".join(f"{one}\n" for one in names))
        return self.with_text(json.dumps(response, ensure_ascii=False))


def blocks_in(response: Any) -> list[Any] | None:
    """The blocks of a result as MCP has them, alone or within an object; None where it has none."""
    if isinstance(response, dict) and isinstance(response.get("content"), list):
        return list(response["content"])
    if isinstance(response, list) and all(isinstance(one, dict) and "type" in one for one in response):
        return response
    return None


def shown_of(content: Any) -> tuple[str, ...]:
    """The texts of a result, one a block; what is no text stands as a short remark in brackets."""
    if isinstance(content, str):
        return (plain(content),)
    if isinstance(content, list):
        return tuple(_shown(block) for block in content)
    return () if content is None else (plain(json.dumps(content, ensure_ascii=False)),)


def _shown(block: Any) -> str:
    if isinstance(block, str):
        return plain(block)
    fields = dict_of(block)
    if fields.get("type", "text") in _TEXTS and isinstance(fields.get("text"), str):
        return plain(fields["text"])
    if found := _binary(fields):
        return f"[{found[1]}, {len(found[0]):,} bytes]"
    return plain(json.dumps(block, ensure_ascii=False))


def parts_of(content: Any) -> tuple[Part, ...]:
    """The streams of a result, one a block: images and the like as the bytes that they are."""
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    made = ((f"part.{place}", *_bytes(block)) for place, block in enumerate(blocks))
    return tuple(Part(stream, data, mime) for stream, data, mime in made if data)


def _bytes(block: Any) -> tuple[bytes, str]:
    fields = dict_of(block)
    if found := _binary(fields):
        return found
    if isinstance(text := dict_of(fields.get("resource")).get("text"), str):
        return text_bytes(text), TEXT_MIME
    (text,) = shown_of([block])
    return text_bytes(text), TEXT_MIME


def _binary(block: dict[str, Any]) -> tuple[bytes, str] | None:
    """What a block of an image or of other bytes holds, and its MIME type; None for any other block."""
    source = dict_of(block.get("source")) or dict_of(block.get("resource")) or block
    encoded = source.get("data", source.get("blob"))
    mime = source.get("media_type", source.get("mimeType"))
    if not isinstance(encoded, str) or not encoded:
        return None
    try:
        data = binascii.a2b_base64(encoded, strict_mode=True)
    except ValueError:
        return None
    known = isinstance(mime, str) and len(mime) < _MIME_BYTES and re.fullmatch(_MIME, mime)
    return data, str(mime) if known else "application/octet-stream"


def text_part(text: str, stream: str = "out") -> tuple[Part, ...]:
    """A text as a stream; nothing where it is empty."""
    return (Part(stream, text_bytes(text)),) if text else ()


def own_file(path: str, ends: Sequence[str]) -> Beside | None:
    """A file that an event names, if it lies where its harness keeps such files; nothing else is ever opened.

    Args:
        path: as the event names it.
        ends: the last names of such a path, the first that of the harness' folder; an empty one may be any.
    """
    names = path.split("/")
    last = names[-len(ends) :]
    if not path.startswith("/") or "\0" in path or len(names) <= len(ends):
        return None
    if any(end not in ("", name) for end, name in zip(ends, last, strict=True)):
        return None
    return Beside("/".join(names[: 1 - len(ends)]), tuple(last[1:]))


def open_beside(beside: Beside) -> int:
    """A descriptor of a file that a transcript names; nothing outside the harness' folder can be reached by it.

    Raises:
        OSError: there is no such regular file, or a symbolic link stands in the way.
    """
    if not beside.names or any(name in ("", ".", "..") or "/" in name or "\0" in name for name in beside.names):
        raise FileNotFoundError(2, "not a name of a file beside the transcript")
    folder = os.open(beside.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in beside.names[:-1]:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        fd = os.open(beside.names[-1], flags, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise FileNotFoundError(2, "not a regular file")
    return fd


def size_beside(beside: Beside) -> int:
    """The size of such a file; -1 where it cannot be opened."""
    try:
        fd = open_beside(beside)
    except (OSError, ValueError):
        return -1
    try:
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def unique_id(session: str, call: str) -> str:
    """An id of a call that no other session has: those that models give are long and random, others need the session.

    Sessions that were forked hold the calls of the first one again; by a long id these are known.
    """
    return call if len(call) >= _LONG_ID else f"{session}:{call}"


def text_bytes(text: str) -> bytes:
    """A text's bytes; half a surrogate pair, as JSON can spell it, as an escape."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace")


def plain(text: str) -> str:
    """A text that every file of the store can hold: half a surrogate pair is written as an escape."""
    return text if text.isascii() else text_bytes(text).decode()


def number(value: Any) -> float:
    """A number that is one; 0 for anything else."""
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else 0.0


def text_of(value: Any) -> str:
    """The value where it is a text; else empty."""
    return value if isinstance(value, str) else ""


def dict_of(value: Any) -> dict[str, Any]:
    """The value where it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The value where it is a list; else an empty one."""
    return value if isinstance(value, list) else []
