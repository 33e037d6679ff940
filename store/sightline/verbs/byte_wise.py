"""Knows the programs that count or copy bytes: they get a JSON result as it was sent, and all others its lines."""

import re
from collections.abc import Sequence

_ALWAYS = {"cmp", "xxd", "od", "hexdump", "base64", "base32", "b2sum", "cksum", "sum", "md5", "md5sum", "shasum",
           "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "stat", "dd", "openssl", "gzip", "xz", "zstd",
           "bzip2"}  # fmt: skip
_BY_OPTION = {"wc": "c", "head": "c", "tail": "c", "cut": "b"}
"""Programs that do so with this option, or with ``--bytes``."""


def reads_bytes(commands: Sequence[tuple[str, Sequence[str]]]) -> list[bool]:
    """Return which programs of a pipeline read bytes; ``cat`` does if its reader does.

    Args:
        commands: each program's name and words, in order.
    """
    found: list[bool] = []
    for program, words in reversed(commands):
        found.append(_reads_bytes(program, words) or (program == "cat" and bool(found) and found[-1]))
    return found[::-1]


def _reads_bytes(program: str, words: Sequence[str]) -> bool:
    letter = _BY_OPTION.get(program)
    if letter is None:
        return program in _ALWAYS
    return any(re.match(rf"--bytes|-[A-Za-z]{{0,8}}{letter}", word) for word in words)
