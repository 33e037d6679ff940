"""Says how many lines the streams of a capture have: those of a running one, and those of text in UTF-16."""

from sightline.base.records import COMPLAINED, STOPPED, Buffer, StreamInfo, joined_notes
from sightline.disk.layout import Layout
from sightline.disk.order import STREAM_CODES
from sightline.disk.stream_files import open_stream
from sightline.light.late_imports import late_modules
from sightline.shell_words.exit_codes import MAY_ANSWER

with late_modules(globals()):
    from sightline.disk import utf16  # few streams are


def with_progress(layout: Layout, buffer: Buffer) -> Buffer:
    """Return the record with the present facts of its streams, if it is still running."""
    if buffer.state != "running":
        return buffer
    streams = dict(buffer.streams)
    for stream in STREAM_CODES:
        with open_stream(layout, buffer, stream) as reader:
            if reader.byte_count:
                mime = utf16.mime_of(reader.read(0, utf16.HEAD_BYTES))
                streams[stream] = StreamInfo(reader.byte_count, reader.line_count, mime=mime)
    return decoded_record(layout, buffer._replace(streams=streams))


def decoded_record(layout: Layout, buffer: Buffer) -> Buffer:
    """Return the record with what only its bytes tell.

    That is a complaint, that somebody stopped it, and the lines of streams in UTF-16 as they are decoded.
    """
    may_answer = buffer.kind == "cmd" and buffer.exit_code in MAY_ANSWER and COMPLAINED not in buffer.note
    if may_answer and _complains(layout, buffer):
        buffer = buffer._replace(note=joined_notes(buffer.note, COMPLAINED))
    may_be_stopped = buffer.kind == "cmd" and buffer.exit_code and STOPPED not in buffer.note
    if may_be_stopped and buffer.stream("out").bytes and _was_stopped(layout, buffer):
        buffer = buffer._replace(note=joined_notes(buffer.note, STOPPED))
    if not any(info.mime and info.mime.startswith(utf16.MIME) for info in buffer.streams.values()):
        return buffer
    from sightline.disk.pretty import with_text  # 4 ms, which few outputs need

    return with_text(layout, buffer)


def _complains(layout: Layout, buffer: Buffer) -> bool:
    """Return whether a program complained in what a command wrote first."""
    from sightline.shell_words.answers import EXAMINED_BYTES, complains  # 3 ms, which few outputs need

    for stream in buffer.streams:
        with open_stream(layout, buffer, stream) as reader:
            if complains(bytes(reader.read(0, min(reader.byte_count, EXAMINED_BYTES)))):
                return True
    return False


_END_BYTES = 32


def _was_stopped(layout: Layout, buffer: Buffer) -> bool:
    """Return whether the output ends with what a terminal prints for the key that interrupts."""
    with open_stream(layout, buffer, "out") as reader:
        size = min(reader.byte_count, _END_BYTES)
        return bytes(reader.read(reader.byte_count - size, size)).rstrip().endswith(b"^C")
