"""Streams in UTF-16 are read by lines as they are decoded; their bytes stay as they were written."""

import os
from collections.abc import Callable
from pathlib import Path

from sightline.base.records import Buffer
from sightline.disk.recovery import adopt
from sightline.disk.utf16 import NOTE, codec_of, decoded
from sightline.settings.config import Settings
from sightline.store import Store, Target
from tests.each import each

Keep = Callable[..., Buffer]

TEXT = "".join(f"line {number}: ok ünï 上 漢字\r\n" for number in range(40)) + "error: nö such thing\r\n"
FORMS = {
    "little-endian with a mark": b"\xff\xfe" + TEXT.encode("utf-16-le"),
    "big-endian with a mark": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "little-endian": "a plain first line\n".encode("utf-16-le") + TEXT.encode("utf-16-le"),
    "big-endian": "a plain first line\n".encode("utf-16-be") + TEXT.encode("utf-16-be"),
}


def text_of(store: Store, buffer: Buffer, stream: str = "out") -> bytes:
    with store.open_text(Target(buffer, stream)) as source:
        return source.read(0, source.byte_count)


@each("form", FORMS.values())
@each("stream", ["out", "err"])
def test_text_in_utf_16_is_read_decoded_and_kept_as_it_came(store: Store, keep: Keep, form: bytes, stream: str) -> None:
    buffer = keep(**{stream: form})
    text = text_of(store, buffer, stream).decode()
    assert text.endswith(TEXT)
    assert not text.startswith("\ufeff")
    assert buffer.stream(stream).lines == text.count("\n")
    assert buffer.note == NOTE
    with store.open(Target(buffer, stream)) as source:
        assert source.read(0, source.byte_count) == form
    assert Path(store.local_copy(Target(buffer, stream))).read_bytes().decode() == text
    os.unlink(store.layout.pretty(buffer.name, stream))
    assert text_of(store, buffer, stream).decode() == text


def test_a_torn_last_unit_is_shown_as_one(store: Store, keep: Keep) -> None:
    whole = keep(FORMS["little-endian"][:-1])
    assert text_of(store, whole).decode().endswith("such thing\r\ufffd")
    assert whole.stream("out").lines == 42


@each("plain", [b"and a line of plain bytes, as others print\n", b"#\n\n", b"ok\r\n"])
@each("at", [len(FORMS["little-endian"]), 400])
def test_plain_bytes_among_utf_16_leave_all_as_it_is(store: Store, keep: Keep, plain: bytes, at: int) -> None:
    form = FORMS["little-endian"]
    mixed = form[:at] + plain + form[at:] + form[38:]
    buffer = keep(mixed)
    assert text_of(store, buffer) == mixed
    assert buffer.note == ""
    assert buffer.stream("out").mime == ""


NOT_UTF_16 = [
    b"",
    b"a line\n",
    b"a\0b\0c\0d\0",  # names that NUL ends
    b"\xff\xfe\0\0" + "a line\n".encode("utf-32-le"),
    b"\0" * 64,
    b"\1\0\2\0\3\0\4\0" * 8,  # numbers of 16 bits
]


@each("data", NOT_UTF_16)
def test_other_bytes_are_not_utf_16(data: bytes) -> None:
    assert codec_of(data) == ""


@each("text", ["こんにちはあさのしごとですきのうのことはなしをしましょうね" * 9, "上下左右的中文文本没有空格" * 9])
@each("size", [1, 7, 4096])
def test_letters_that_look_like_ascii_are_letters(text: str, size: int) -> None:
    data = text.encode("utf-16-le")
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert b"".join(decoded(iter(chunks), "utf-16-le")).decode() == text


def test_a_running_capture_is_read_decoded_as_far_as_it_is(store: Store) -> None:
    recording = store.begin("cmd", "type log", "/", "s")
    recording.register()
    recording.append("out", FORMS["little-endian with a mark"])
    target = store.resolve(f"@{recording.name}")
    assert text_of(store, target.buffer).decode() == TEXT
    assert target.buffer.stream("out").lines == TEXT.count("\n")
    recording.append("out", "one more\n".encode("utf-16-le"))
    target = store.resolve(f"@{recording.name}")
    assert text_of(store, target.buffer).decode() == TEXT + "one more\n"
    assert target.buffer.note == NOTE
    assert text_of(store, recording.seal(exit_code=0)).decode() == TEXT + "one more\n"


def test_what_a_dead_writer_left_is_read_decoded(store: Store) -> None:
    recording = store.begin("cmd", "type log", "/", "s")
    recording.register()
    recording.append("out", FORMS["big-endian"])
    recording.abandon()
    buffer = adopt(store.layout, store.index, recording.name)
    assert buffer is not None
    assert buffer.state == "interrupted"
    assert text_of(store, buffer).decode().endswith(TEXT)


@each("form", FORMS.values())
def test_a_secret_in_utf_16_is_hidden_and_the_text_stays_utf_16(tmp_path: Path, form: bytes) -> None:
    codec = codec_of(form)
    secret = "ghp_" + "a1B2" * 9
    with Store(str(tmp_path / "redacting"), Settings(redact_known=True)) as store:
        recording = store.begin("cmd", "type log", "/", "s")
        for byte in form + f"token {secret} end\r\n".encode(codec):
            recording.append("out", bytes((byte,)))
        buffer = recording.seal(exit_code=0)
        text = text_of(store, buffer).decode()
    assert text.endswith(TEXT + "token [redacted: github-token] end\r\n")
    assert buffer.note == f"redacted: 1; {NOTE}"
