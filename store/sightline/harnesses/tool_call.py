"""One call of a tool with its result, in one form for hooks and for transcripts.

What harnesses write has no fixed shape, so this assumes only that it was JSON.
"""

import binascii
import os
import stat

from sightline.base.records import LONG_ID, Gap
from sightline.light.json_text import dumps
from sightline.light.late_pattern import re
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Sequence

CHANGES_FILES = frozenset(
    ("Edit", "Write", "MultiEdit", "NotebookEdit", "TodoWrite", "apply_patch", "write_file", "replace", "edit", "write")
)
"""Tools whose result only confirms what the agent has just said; it is logged, but makes no buffer."""

TEXT_MIME = "text/plain"
_TEXTS = ("text", "input_text", "output_text")
_MIME = r"[\w.+-]+/[\w.+-]+"
_MIME_BYTES = 100


class CallSession(NamedTuple):
    """The session of a call.

    Attributes:
        harness: name of the harness.
        id: the harness' own id of the session.
        client: the harness and its version, as it introduces itself; without the version if that is not known.
        cwd: working directory at the start; empty if it is not known.
        started: seconds since the epoch.
        agent: id of the helper, within the session, that makes these calls; empty for the agent itself.
        run: tells it from other sessions that have the same id; empty where ids are unique.
    """

    harness: str
    id: str
    client: str
    cwd: str
    started: float
    agent: str = ""
    run: str = ""


class Beside(NamedTuple):
    """A file that a harness names, below its own folder; `open_beside` opens it.

    Attributes:
        root: the folder, which may lie behind a symbolic link that a person or a harness chose.
        names: folders and file below it, none of which may be a symbolic link.
    """

    root: str
    names: tuple[str, ...]


class SavedOutput(NamedTuple):
    """A file in which a harness keeps all of an output, and which it may still be writing.

    Attributes:
        file: the file.
        size: bytes that it has once it is complete; 0 if that is not told.
        tail: text at its end then, perhaps without a last newline; empty if that is not told.
    """

    file: Beside
    size: int = 0
    tail: str = ""

    def is_whole(self, fd: int) -> bool:
        """Return whether the opened file has all that is told of its size and its end. Raises OSError."""
        size, tail = os.fstat(fd).st_size, self.tail.encode(errors="surrogatepass").removesuffix(b"\n")
        end = os.pread(fd, len(tail) + 1, max(0, size - len(tail) - 1)) if tail else b""
        return size >= self.size and end.removesuffix(b"\n").endswith(tail)


class ToolPart(NamedTuple):
    """One stream of a tool's result.

    Attributes:
        stream: ``out``, ``err`` or ``part.N``.
        content: its bytes, or the file with them.
        mime: type of the bytes of a ``part.N``.
    """

    stream: str
    content: bytes | Beside
    mime: str = TEXT_MIME


class ToolCall(NamedTuple):
    """One call of a tool, with its result.

    Attributes:
        session: the session of the call.
        id: its id or place in the transcript, unique within the session's transcripts.
        use: the model's id of the tool use, which servers and hooks get; empty if there is none.
        line: the line of the transcript with the result, from 1; 0 if there are no lines.
        asked: when it was called, seconds since the epoch.
        answered: when its result came.
        tool: the harness' name for the tool.
        arguments: its arguments.
        kind: ``cmd``, ``file`` or ``tool``, as for buffers.
        command: the command line, or the file's path; empty for any other tool.
        cwd: folder in which it ran.
        shown: what the model was shown, a text for each block; empty if that is not told. Of a call of a program's,
            what this showed of it, where that stands in the program's own reply in another form.
        parts: the streams of its result; empty for no result.
        exit_code: its exit code; None if it is not known, or there is none.
        partial: why the parts are not the whole; empty if they are.
        note: what else a reader must know.
        failed: whether the harness marked it as an error.
        unknown: what of the shown text is not known, and why; empty if all is known.
        inner: calls that a program of the model's made, from whose results the program chose what to show.
        gaps: where something of the parts is missing, as far as that is told.
        first: number of the first line of the parts, if a file was read from a line on.
        saved: a file that may have a single part whole; None for none.
        of: the id of the tool use that ran the command of which this shows more; empty for none.
        origins: ids of the sessions in whose transcripts it may stand, too, because that of its session begins with a
            copy of theirs; those that made it have it already.
        is_copy: whether its transcript says that it is such a copy; then its session is the one that is taken to have
            made it, and its times may be those of the copying.
        ended: when its command ended, if that went on after the result; 0 if it did not, or that is not known.
        told_in: the sort of records that has it, if these are in another session's transcript; else empty.
        timed_out: whether the harness' time limit ended it.
        decoded: the output as it stood, encoded, in the shown text; None where that is the output itself.
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
    parts: tuple[ToolPart, ...] = ()
    exit_code: int | None = None
    partial: str = ""
    note: str = ""
    failed: bool = False
    unknown: str = ""
    inner: tuple["ToolCall", ...] = ()
    gaps: tuple[Gap, ...] = ()
    first: int = 1
    saved: SavedOutput | None = None
    of: str = ""
    ended: float = 0.0
    origins: tuple[str, ...] = ()
    is_copy: bool = False
    told_in: str = ""
    timed_out: bool = False
    decoded: str | None = None

    @property
    def text(self) -> str:
        """The result as text; of other content, only its type."""
        return "\n".join(
            part.content.decode(errors="replace")
            if isinstance(part.content, bytes) and part.mime == TEXT_MIME
            else f"[{part.mime}]"
            for part in self.parts
            if part.stream != "err"
        )

    @property
    def stream(self) -> str:
        """The stream that a text of this call becomes."""
        return "part.0" if self.kind == "tool" else "out"

    def with_text(self, text: str, errors: str = "") -> "ToolCall":
        """Return the call with a text as its result, and a separate text of standard error."""
        note = "" if errors or self.kind != "cmd" else "merged"
        return self._replace(parts=text_part(text, self.stream) + text_part(errors, "err"), note=note)

    def with_rest(self, left: tuple[str, tuple[Gap, ...], bool], cut: str) -> "ToolCall":
        """Return the call with what a harness left of a text.

        Args:
            left: the text, its gaps, and whether there are any, as in ``Kept`` of `transcript`.
            cut: why the rest is missing.
        """
        text, gaps, is_cut = left
        return self.with_text(text)._replace(gaps=gaps, partial=cut if is_cut else self.partial)

    def with_saved(self, path: str, ends: Sequence[str], size: int = 0, tail: str = "") -> "ToolCall":
        """Return the call with a file that has all of its output, if it lies where the harness keeps such files."""
        file = own_file(path, ends)
        return self._replace(saved=SavedOutput(file, size, tail) if file else None)

    def with_result(self, response: Any) -> "ToolCall | None":
        """Return the call with any result: text, blocks of MCP, or an object, whose text is taken; None for no result.

        Args:
            response: the result, as a harness reports it to its hook.
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
        return self.with_text(dumps(response, ensure_ascii=False))


def blocks_in(response: Any) -> list[Any] | None:
    """Return the blocks of an MCP result, alone or within an object; None if it has none."""
    if isinstance(response, dict) and isinstance(response.get("content"), list):
        return list(response["content"])
    if isinstance(response, list) and all(isinstance(one, dict) and "type" in one for one in response):
        return response
    return None


def shown_of(content: Any) -> tuple[str, ...]:
    """Return the texts of a result, one for each block; other content becomes a short remark in brackets."""
    if isinstance(content, str):
        return (plain(content),)
    if isinstance(content, list):
        return tuple(_shown(block) for block in content)
    return () if content is None else (plain(dumps(content, ensure_ascii=False)),)


def _shown(block: Any) -> str:
    if isinstance(block, str):
        return plain(block)
    fields = dict_of(block)
    if fields.get("type", "text") in _TEXTS and isinstance(fields.get("text"), str):
        return plain(fields["text"])
    if found := _binary(fields):
        return f"[{found[1]}, {len(found[0]):,} bytes]"
    return plain(dumps(block, ensure_ascii=False))


def parts_of(content: Any) -> tuple[ToolPart, ...]:
    """Return the streams of a result, one for each block; images and the like become their bytes."""
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    made = ((f"part.{place}", *_bytes(block)) for place, block in enumerate(blocks))
    return tuple(ToolPart(stream, data, mime) for stream, data, mime in made if data)


def _bytes(block: Any) -> tuple[bytes, str]:
    fields = dict_of(block)
    if found := _binary(fields):
        return found
    if isinstance(text := dict_of(fields.get("resource")).get("text"), str):
        return text_bytes(text), TEXT_MIME
    (text,) = shown_of([block])
    return text_bytes(text), TEXT_MIME


def _binary(block: dict[str, Any]) -> tuple[bytes, str] | None:
    """Return bytes and MIME type of a block of an image or of other bytes; None for any other block."""
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


def text_part(text: str, stream: str = "out") -> tuple[ToolPart, ...]:
    """Return a text as a stream; nothing if it is empty."""
    return (ToolPart(stream, text_bytes(text)),) if text else ()


def own_file(path: str, ends: Sequence[str]) -> Beside | None:
    """Return a file that an event names, if it lies where its harness keeps such files; no other is ever opened.

    Args:
        path: the path, from the event.
        ends: the last names of such a path, from the harness' folder on; an empty one matches any.
    """
    names = path.split("/")
    last = names[-len(ends) :]
    if not path.startswith("/") or "\0" in path or len(names) <= len(ends):
        return None
    if any(end not in ("", name) for end, name in zip(ends, last, strict=True)):
        return None
    return Beside("/".join(names[: 1 - len(ends)]), tuple(last[1:]))


def open_beside(beside: Beside) -> int:
    """Open a file that a transcript names; nothing outside the harness' folder can be reached by that.

    Raises:
        OSError: there is no such regular file, or a symbolic link is in the path.
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
    """Return the size of such a file; -1 if it cannot be opened."""
    try:
        fd = open_beside(beside)
    except (OSError, ValueError):
        return -1
    try:
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def unique_id(session: str, call: str) -> str:
    """Return an id of a call that no other session has: long random ones as they are, others with the session.

    A forked session repeats the calls of the first one, and these are recognised by their long ids.
    """
    return call if len(call) >= LONG_ID else f"{session}:{call}"


def timed_id(call: ToolCall) -> str:
    """Return the id of a call whose own an earlier call of its session has."""
    return f"{call.id}@{round(call.asked * 1000)}"


def text_bytes(text: str) -> bytes:
    """Return a text's bytes; half a surrogate pair, as JSON can spell it, becomes an escape."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace")


def plain(text: str) -> str:
    """Return a text that every file of the store can hold: half a surrogate pair becomes an escape."""
    return text if text.isascii() else text_bytes(text).decode()


def number(value: Any) -> float:
    """Return a number; 0 for a value that is none."""
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else 0.0


def text_of(value: Any) -> str:
    """Return a text; empty for a value that is none."""
    return value if isinstance(value, str) else ""


def dict_of(value: Any) -> dict[str, Any]:
    """Return an object; an empty one for a value that is none."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """Return a list; an empty one for a value that is none."""
    return value if isinstance(value, list) else []
