"""Recognises streams of text in UTF-16, and decodes them; a stream that is only partly UTF-16 is none."""

from sightline.light.typing_names import Iterator

HEAD_BYTES = 16
"""Bytes at a stream's beginning by which it is recognised."""

MIME = "text/plain; charset="
"""How the MIME type of such a stream begins; the codec follows."""

NOTE = "UTF-16, shown decoded"
"""The note for a buffer with such a stream."""

_BOMS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_PLAIN_BYTES = 32  # so many bytes of ASCII one after another are hardly letters of UTF-16
_NO_TEXT = frozenset("\0\uffff\ufffe\u0a00\u0a0d")  # the last two are newlines of the other byte order
_WRITING = frozenset((*b"\t\n\r\x1b", *range(0x20, 0x7F), *range(0xA0, 0x100)))


def codec_of(head: bytes) -> str:
    """Return the codec of a stream that begins with a byte order mark or with Latin letters in UTF-16; else ""."""
    head = head[:HEAD_BYTES]
    even, odd = head[0::2], head[1::2]
    if codec := _BOMS.get(head[:2]):
        return codec if even.strip(b"\0") and odd.strip(b"\0") and head[2:4] != b"\0\0" else ""  # not UTF-32
    for zeros, text, codec in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        is_long = len(head) >= HEAD_BYTES or (text[:-1] and text.endswith(b"\n"))  # fewer must end a line
        if is_long and zeros and not zeros.strip(b"\0") and _WRITING.issuperset(text):
            return codec
    return ""


def mime_of(head: bytes) -> str:
    """Return the MIME type of a stream that begins like UTF-16; empty for any other."""
    codec = codec_of(head)
    return MIME + codec if codec else ""


def decoded(chunks: Iterator[bytes], codec: str) -> Iterator[bytes]:
    """Yield a stream as UTF-8, without its byte order mark; a torn last unit becomes U+FFFD.

    Raises:
        UnicodeError: it is not UTF-16 throughout.
    """
    import codecs  # few streams need these
    import re

    plain = re.compile(rb"[\t\n\r -~]{%d,}" % _PLAIN_BYTES)
    decoder = codecs.getincrementaldecoder(codec)()
    tail, is_first = b"", True
    for chunk in chunks:
        text = decoder.decode(chunk)
        if is_first and text:
            text, is_first = text.removeprefix("\ufeff"), False
        runs = (match[0] for match in plain.finditer(tail + chunk))
        if not _NO_TEXT.isdisjoint(text) or any(_is_plain(run) for run in runs):
            raise UnicodeError("plain bytes among UTF-16")
        tail = chunk[-_PLAIN_BYTES:]
        yield text.encode()
    if decoder.getstate()[0]:
        yield "\ufffd".encode()


def _is_plain(run: bytes) -> bool:
    """Return whether bytes that are all ASCII are no letters of one block, as Hiragana can be."""
    return all(len(set(half)) > 2 for half in (run[::2], run[1::2]))
