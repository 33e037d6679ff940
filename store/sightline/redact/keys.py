"""Recognises private keys: where their text begins, and which of the next lines belong to it."""

import re

from sightline.redact.escapes import without_escapes

NAME = b"private-key"
SIGNS = (b"PRIVATE", b"Private-Lines: ")
"""Each line that begins a key contains one of these."""
_WIDE_SIGNS = tuple(b"\0".join(sign[at : at + 1] for at in range(len(sign))) for sign in SIGNS)

CHARACTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/="
_LETTERS = rb"[0-9A-Za-z+/=]"
_NAMES = rb"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID): "
_CHECKED = rb"(?:[ \t\r]{1,2}=" + _LETTERS + rb"{4})?"
_BREAK = rb"(?:\\{1,8}[nrt]|[ \t\r]{1,2})"
_ENDS_HEADER = (
    rb"(?:\\{1,8}[nr]|" + _BREAK * 2 + rb"(?=[\s\\]|" + _LETTERS + rb"{12}|" + _NAMES + rb")|"
    + _BREAK + rb"(?:" + _NAMES + rb"|" + _LETTERS + rb"{40}))"
)  # fmt: skip
_INLINE_HEADER = _NAMES + rb"(?:(?!" + _ENDS_HEADER + rb")[^\\\r\n\"]){0,200}(?=" + _ENDS_HEADER + rb")"
_MORE = (
    rb"(?:" + _INLINE_HEADER + rb"|" + _LETTERS + rb"+(?!" + _LETTERS + rb")|\\{1,8}[nrt]|"
    rb"[ \t\r]{1,2}(?="
    + _LETTERS
    + rb"{40}|"
    + _LETTERS
    + rb"{1,100}"
    + _CHECKED
    + rb"[ \t\r]{0,2}-----END |"
    + _NAMES
    + rb"))*"
)
# One way to match each of these alone: a header ends at the first place it may, letters only at the last, and blanks
# come one at a time. With several ways, 300 bytes of headers took 5 s, and each further one twice as long.
_BEFORE_BODY = rb"(?:" + _INLINE_HEADER + rb"|\\{1,8}[nrt]|[ \t\r]){0,48}"
BODY = rb"(?=" + _BEFORE_BODY + _LETTERS + rb"{12})" + _MORE
"""What follows a key's beginning if its lines were joined, by newlines as JSON writes them, or by blanks."""

_LEAST_LINE = 32  # bytes
_BEGINS = re.compile(rb"-----BEGIN [0-9A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----|\bPrivate-Lines: [0-9]{1,4}")
_ENDS = re.compile(rb"-----END |\bPrivate-MAC: ")
_LOGGED = rb"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]{8,18}(?:Z|[+-][0-9:]{4,6})?\s"  # the time, from docker logs -t
_BLAMED = rb"\^?[0-9a-f]{7,40} [^()]{0,200}\([^()]{1,200}\s[0-9]{1,9}\) "  # from git blame
_BEFORE = (  # from grep, nl or an indent
    rb"(?:" + _LOGGED + rb"|" + _BLAMED + rb")?"
    rb"(?:[^\s:]{1,200}[:-])?(?:\s{0,16}[0-9]{1,9}[\t :|-])?[^0-9A-Za-z+/=]{0,16}"
)
_LINE = re.compile(_BEFORE + rb"([0-9A-Za-z+/=]+)(?:\\+[nr]){0,2}(?:\^M)?[\s\"',;+\\)$]{0,8}")
_HEADER = re.compile(rb".{0,200}\b" + _NAMES + rb".{0,400}|" + _BEFORE + rb"(?:\\+[nr]){0,2}\W{0,16}", re.DOTALL)


def may_begin(text: bytes) -> bool:
    """Return whether a key may begin in a text, or in one in UTF-16; False is certain."""
    return any(sign in text for sign in SIGNS) or (b"\0" in text and any(sign in text for sign in _WIDE_SIGNS))


def begins(text: bytes) -> int:
    """Return the position behind the last beginning of a key in a text; -1 for none."""
    if not may_begin(text):
        return -1
    plain = without_escapes(text)
    end = max((match.end() for match in _BEGINS.finditer(plain.text if plain else text)), default=-1)
    return plain.span(0, end)[1] if plain and end > 0 else end


def all_begun(text: bytes) -> list[int]:
    """Return where private keys begin of which a line follows that is still there."""
    if not may_begin(text):
        return []
    found = []
    for match in _BEGINS.finditer(text):
        line, _, rest = text[match.end() : match.end() + 4096].partition(b"\n")
        lines = [row for row in rest.split(b"\n", 8) if row.strip()]
        if not line.strip() and any(part_of_line(row) and len(row) > _LEAST_LINE for row in lines[:6]):
            found.append(match.start())
    return found


def end(text: bytes, at: int = 0) -> int:
    """Return where the next end of a key stands, from a place on; -1 for none."""
    match = _ENDS.search(text, at)
    return match.start() if match else -1


def end_of_body(text: bytes, at: int) -> int:
    """Return where the text of a key ends, from a place within it."""
    match = re.compile(_MORE).match(text, at)  # few lines are long enough to need it
    return match.end() if match else at


def part_of_line(line: bytes) -> tuple[int, int] | None:
    """Return the part of a whole line that belongs to a key, after the key's first line; None for nothing."""
    plain = without_escapes(line)
    match = _LINE.fullmatch(plain.text if plain else line)
    if match is None:
        return None
    return plain.span(*match.span(1)) if plain else match.span(1)


def is_header(line: bytes) -> bool:
    """Return whether a line may stand before the lines of a key: a header, or an empty line."""
    plain = without_escapes(line)
    return _HEADER.fullmatch(plain.text if plain else line) is not None
