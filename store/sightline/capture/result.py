"""Captures a tool's result: each of its blocks is a stream, and so is each large string field of an object."""

import base64
import json
import re
from collections.abc import Iterable

from sightline.base.profile import Sampling
from sightline.base.records import Buffer, Gap
from sightline.base.sha256 import STEP_BYTES
from sightline.capture.recorder import Recorder, Unkept
from sightline.disk.pretty import JSON_MIME as JSON_MIME  # what a block of JSON becomes
from sightline.disk.pretty import write_pretty
from sightline.disk.recording import Recording
from sightline.disk.stream_files import open_stream
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any
from sightline.shape.json.result import looks_like_json
from sightline.shape.json.strings import string_text, text_size
from sightline.shape.json.tree import Node, read_document
from sightline.shape.source import Source
from sightline.store import Store

if TYPE_CHECKING:  # only past sessions need it
    from sightline.disk.deposit import Deposit

TEXT_MIME = "text/plain"
"""The type of a block of text."""

_SNIFFED_BYTES = 4096
_FIELD = re.compile(rf'{TEXT_MIME}; of=(\d+); field=(".*")')


class ResultBlock(NamedTuple):
    """One block of a result.

    Attributes:
        chunks: its bytes, in pieces.
        mime: their type; text, and JSON in it, is ``text/plain``.
    """

    chunks: Iterable[bytes]
    mime: str = TEXT_MIME


class Field(NamedTuple):
    """A string field that is a stream of its own.

    Attributes:
        block: number of the block with its object.
        name: its key.
        stream: its stream.
    """

    block: int
    name: str
    stream: str


def call_text(name: str, arguments: Any = None) -> str:
    """Return the command of a result's buffer: the tool, and its arguments as compact JSON."""
    if arguments in (None, {}):
        return name
    return f"{name} {json.dumps(arguments, ensure_ascii=False, separators=(',', ':'))}"


def capture_result(
    store: Store,
    blocks: Iterable[ResultBlock],
    *,
    command: str,
    cwd: str,
    session: str,
    label: str = "",
    note: str = "",
    sampling: Sampling | None = None,
    artifact: str = "",
    partial: str = "",
    gaps: Iterable[Gap] = (),
    recording: Recording | None = None,
) -> Buffer | Unkept:
    """Keep a result.

    Args:
        store: the store that keeps it.
        blocks: blocks of the result, in order.
        command: the command for the record, from `call_text`.
        cwd: working directory of the asking session.
        session: the session that asked.
        label: a name for the buffer.
        note: what a reader must know of it.
        sampling: says how large a field must be to become a stream; by default as in the default profile.
        artifact: an id by which it can be found.
        partial: why the blocks are not the whole; empty if they are.
        gaps: where something is missing in them.
        recording: a recording that began before there was a result, with its own name, folder and session.

    Returns:
        The sealed buffer; or the beginning of its text if nothing may be kept, or the store failed.
    """
    recorder, mimes = Recorder(store), dict[str, str]()
    if recording:
        recorder.begin(lambda: recording)
    elif store.settings.captures(cwd):
        recorder.begin(lambda: store.begin("tool", command, cwd, session, label=label, artifact=artifact))
    try:
        for number, block in enumerate(blocks):
            for data in block.chunks:
                mimes[stream := f"part.{number}"] = block.mime
                for start in range(0, len(data) or 1, STEP_BYTES):  # each is hashed while the next one is written
                    piece = memoryview(data)[start : start + STEP_BYTES]
                    recorder.take(stream, piece, shown=block.mime == TEXT_MIME)
        return recorder.end(
            lambda recording: sealed_result(
                store, recording, mimes, note, sampling or Sampling(), partial=partial, gaps=gaps
            )
        )
    except BaseException:  # an interrupt, or an error of the blocks' source
        recorder.abandon()
        raise


def sealed_result(
    store: Store,
    recording: "Recording | Deposit",
    mimes: dict[str, str],
    note: str,
    sampling: Sampling,
    *,
    partial: str = "",
    gaps: Iterable[Gap] = (),
) -> Buffer:
    """Seal the buffer, with its JSON written as lines, and its large fields as streams."""
    recording.settle()
    lines: dict[str, int] = {}
    for stream in [stream for stream, mime in mimes.items() if mime == TEXT_MIME]:
        with open_stream(store.layout, recording.buffer, stream) as source:
            if not looks_like_json(source.read(0, _SNIFFED_BYTES)):
                continue
            document = read_document(source, sampling)
            if document is None or document.root.kind == "lines":
                continue
            facts, lines[stream] = write_pretty(store.layout, recording.name, stream, source)
            mimes[stream] = facts.mime
            for node in document.root.children if document.root.kind == "object" else ():
                if node.kind == "string" and node.end - node.start - 2 >= sampling.field_size:
                    _move(recording, source, node, stream, mimes, sampling)
    return recording.seal(exit_code=None, note=note, mimes=mimes, lines=lines, partial=partial, gaps=gaps)


def _move(
    recording: "Recording | Deposit", source: Source, node: Node, stream: str, mimes: dict[str, str], sampling: Sampling
) -> None:
    """Make a field a stream, if its decoded text is large enough, too."""
    if text_size(string_text(source, node.start, node.end), sampling.field_unit) < sampling.field_size:
        return
    own = f"part.{len(mimes)}"
    for data in string_text(source, node.start, node.end):
        recording.append(own, data)
    block = stream.removeprefix("part.")
    mimes[own] = f"{TEXT_MIME}; of={block}; field={json.dumps(key_of(source, node))}"


def key_of(source: Source, node: Node) -> str:
    """Return the key of an object's member."""
    written = source.read(node.key, node.start - node.key).rstrip(b" \t\r\n:")
    return str(json.loads(written.decode(errors="surrogateescape")))


def fields_of(buffer: Buffer) -> list[Field]:
    """Return the fields of a result that are streams of their own, in order."""
    matches = (
        (stream, _FIELD.fullmatch(buffer.stream(stream).mime)) for stream in sorted(buffer.streams, key=number_of)
    )
    return [Field(int(match[1]), json.loads(match[2]), stream) for stream, match in matches if match]


def number_of(stream: str) -> int:
    """Return the N of ``part.N``."""
    return int(stream.removeprefix("part."))


def blocks_of(document: Any) -> tuple[list[ResultBlock], bool] | None:
    """Return the blocks of an MCP result, and whether it reports an error; None for JSON that is no such result."""
    if not isinstance(document, dict) or not isinstance(content := document.get("content"), list) or not content:
        return None
    if not all(isinstance(one, dict) and isinstance(one.get("type"), str) for one in content):
        return None
    return [_block_of(one) for one in content], document.get("isError") is True


def _block_of(content: dict[str, Any]) -> ResultBlock:
    if content["type"] == "text" and isinstance(content.get("text"), str):
        return ResultBlock([content["text"].encode(errors="backslashreplace")])
    inner = content.get("resource")
    resource = inner if isinstance(inner, dict) else content
    if isinstance(resource.get("text"), str):
        return ResultBlock([resource["text"].encode(errors="backslashreplace")])
    encoded = content.get("data", resource.get("blob"))
    if isinstance(encoded, str) and (data := _decoded(encoded)) is not None:
        mime = resource.get("mimeType", content.get("mimeType"))
        return ResultBlock(
            [data], mime if isinstance(mime, str) and _MIME.fullmatch(mime) else "application/octet-stream"
        )
    return ResultBlock([json.dumps(content, ensure_ascii=False).encode(errors="backslashreplace")])


_MIME = re.compile(r"[\w.+-]+/[\w.+-]+")


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None
