"""Lines and messages: bounded, whole, and nothing that arrives is deadly."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.doors.tools import protocol
from sightline.doors.tools.line_io import LineReader, LineTooLong, LineWriter
from sightline.doors.tools.protocol import Invalid, MessageBatch, decode, encode

Open = Callable[..., LineReader]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Makes a reader of some bytes, and closes what it reads from."""
    files: list[BinaryIO] = []

    def make(data: bytes, **options: Any) -> LineReader:
        (tmp_path / "in").write_bytes(data)
        files.append((tmp_path / "in").open("rb", buffering=0))
        return LineReader(files[-1].fileno(), **options)

    yield make
    for file in files:
        file.close()


def test_lines_come_whole_however_they_arrive() -> None:
    source, sink = os.pipe()
    lines = [b"a" * 3, b"", b"b" * 200_000, b"last"]

    def feed() -> None:
        for piece in (b"aa", b"a\n\n", b"b" * 200_000, b"\nla", b"st"):
            os.write(sink, piece)
        os.close(sink)

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert list(iter(LineReader(source).read, None)) == lines
    feeder.join()
    os.close(source)


@pytest.mark.parametrize("end", [b"\nnext\n", b""])
def test_a_line_over_the_limit_is_skipped_and_the_next_one_read(opened: Open, end: bytes) -> None:
    reader = opened(b"x" * 300_000 + end, limit=1000)
    with pytest.raises(LineTooLong) as told:
        reader.read()
    assert told.value.size == 300_000
    assert reader.read() == (b"next" if end else None)
    assert reader.read() is None


def test_a_line_of_exactly_the_limit_is_read(opened: Open) -> None:
    reader = opened(b"x" * 1000 + b"\n" + b"y" * 1001 + b"\nz", limit=1000)
    assert reader.read() == b"x" * 1000
    with pytest.raises(LineTooLong):
        reader.read()
    assert reader.read() == b"z"


def test_lines_of_many_threads_never_mix() -> None:
    source, sink = os.pipe()
    writer = LineWriter(sink)
    sent = [bytes([65 + number]) * 100_000 for number in range(8)]
    threads = [threading.Thread(target=writer.write, args=(line,)) for line in sent]
    for thread in threads:
        thread.start()
    reader = LineReader(source)
    assert sorted(reader.read() or b"" for _ in sent) == sent
    for thread in threads:
        thread.join()
    os.close(source)
    os.close(sink)


def test_a_line_begins_a_line_although_the_one_before_was_never_ended() -> None:
    source, sink = os.pipe()
    writer = LineWriter(sink)
    writer.write(b"one")
    writer.write_pieces(iter([b"pie", b"ces\n", b""]))
    writer.write(b"two")
    writer.write_pieces(iter([b"ha", b"lf", b""]))
    writer.write(b"three")
    writer.write(b"four")
    assert os.read(source, 99) == b"one\npieces\ntwo\nhalf\nthree\nfour\n"
    os.close(source)
    os.close(sink)


@pytest.mark.parametrize(
    ("line", "code", "number"),
    [
        (b"{", protocol.PARSE_ERROR, None),
        (b"\xff\xfe{}", protocol.PARSE_ERROR, None),
        (b"[" * 200_000, protocol.PARSE_ERROR, None),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"m"}', protocol.PARSE_ERROR, None),
        (b"[]", protocol.INVALID_REQUEST, None),
        (b"1", protocol.INVALID_REQUEST, None),
        (b'{"id":7,"method":"m"}', protocol.INVALID_REQUEST, 7),
        (b'{"jsonrpc":"2.0","id":7}', protocol.INVALID_REQUEST, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":1}', protocol.INVALID_REQUEST, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}', protocol.INVALID_REQUEST, 7),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', protocol.INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', protocol.INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', protocol.INVALID_REQUEST, None),
    ],
)
def test_what_is_no_message_gets_the_error_of_the_specification(line: bytes, code: int, number: int | None) -> None:
    message = decode(line)
    assert isinstance(message, Invalid)
    assert (message.code, message.id) == (code, number)


def test_messages_are_told_apart() -> None:
    assert decode(b'{"jsonrpc":"2.0","id":"a","method":"m"}') == protocol.CallRequest("a", "m", {})
    assert decode(b'{"jsonrpc":"2.0","method":"m","params":{"x":1}}') == protocol.Notification("m", {"x": 1})
    assert decode(b'{"jsonrpc":"2.0","id":1,"result":{}}') == protocol.Response(1, {}, None)
    assert decode(b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}') == protocol.Response(1, None, {"code": 1})
    batch = decode(b'[{"jsonrpc":"2.0","id":1,"method":"m"}, 5]')
    assert isinstance(batch, MessageBatch)
    assert [type(message) for message in batch.messages] == [protocol.CallRequest, Invalid]


@given(st.binary(max_size=200))
def test_no_bytes_are_deadly(data: bytes) -> None:
    assert isinstance(
        decode(data), MessageBatch | Invalid | protocol.CallRequest | protocol.Notification | protocol.Response
    )


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_whatever_text_is_sent_is_one_line_of_valid_utf8(text: str) -> None:
    line = encode({"text": text})
    assert b"\n" not in line
    told = json.loads(line.decode())["text"]
    assert len(told) == len(text)
    assert all(got == sent or "\ud800" <= sent <= "\udfff" for got, sent in zip(told, text, strict=True))
