"""Says whether a value looks like a secret, where only its name says that it may be one."""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable
from itertools import pairwise

_KINDS = bytes(
    ord("d" if 48 <= byte <= 57 else "u" if 65 <= byte <= 90 else "l" if 97 <= byte <= 122 else ".")
    for byte in range(256)
)
_LONG = 20  # from here on chance alone has few changes
_LEAST_CHANGES = 0.34  # of kind, a character: words have 0 to 0.2, random letters and digits 0.4 to 0.6
_LEAST_LONG_CHANGES = 0.24
_LEAST_JUMPS = 0.38  # changes of kind and rare pairs of letters, a character: words have 0.1, random ones 0.5 to 0.7
_LEAST_DIFFERENT = 7  # characters: `aaaa1111` is none
_MOST_OTHERS = 0.3  # of the characters
_LOOKED_AT = 64  # characters: more would show nothing else
_WORD, _NUMBER = b"l" * 12, b"d" * 11
_SHORT_NUMBER = 32  # characters: a longer value may begin with the number of its account
_FOLLOW = """
    abcdfgiklmnprstuvwxyz baeilorstuy cacehiklmoprstu dabdeilmorsu eabcdefghiklmnopqrstuvwxy
    fadefilorstu gaeghilnorstu haeiort iabcdefgklmnoprstvxz jaeo kaeiost lacdefilopstuy mabeilmopstu
    nacdefghiklnoprstuvy oabcdfgiklmnoprstuvw pacdehiloprstuy qu rabcdefgiklmnoprstuvy
    sacefghiklmnopstuwy tacdefhilmnoprstuy uabcdefgilmnprst vaeio waeinors xceipt yceimnpst zaei
"""
_USUAL = frozenset((ord(row[0]), ord(after)) for row in _FOLLOW.split() for after in row[1:])
"""Pairs of letters that make up 95 % of those in the words of Debian's manuals; a row is a letter, and what follows."""
_LETTERS = frozenset(range(97, 123))
_UUID = re.compile(rb"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_BOOTSTRAP = re.compile(rb"(?=[^0-9]{0,22}[0-9])[0-9a-z]{6}\.[0-9a-z]{16}")  # of Kubernetes, to join a cluster
_EXAMPLE = re.compile(rb"(?i:example)")
_EXPRESSION = re.compile(rb"\A(?:[$@%/~]|\./)|\$[{(]|\{\{|%[(s]|<|\.\.\.|\*\*\*|://|\[redacted|(?i:example)")


def looks_random(value: bytes) -> bool:
    """Return whether a value mixes letters and digits as chance does, and as names, words, paths and dates do not."""
    if _BOOTSTRAP.fullmatch(value) or _UUID.fullmatch(value):
        return True
    kinds = value[:_LOOKED_AT].translate(_KINDS)
    size, digits = len(kinds), kinds.count(b"d")
    count = kinds.count
    changes = count(b"ld") + count(b"dl") + count(b"lu") + count(b"ul") + count(b"ud") + count(b"du")
    if not digits or len(set(value)) < _LEAST_DIFFERENT or (size < _SHORT_NUMBER and _NUMBER in kinds):
        return False
    mixes = changes >= (_LEAST_LONG_CHANGES if size >= _LONG else _LEAST_CHANGES) * size and _WORD not in kinds
    if not mixes and changes + _rare_pairs(value[:_LOOKED_AT].lower()) < _LEAST_JUMPS * size:
        return False
    others = count(b".")
    return others <= _MOST_OTHERS * size and not (_EXPRESSION if others else _EXAMPLE).search(value)


def _rare_pairs(text: bytes) -> int:
    """Return how many pairs of letters stand next to each other that words hardly have."""
    return sum(
        pair not in _USUAL and pair[0] != pair[1] and pair[0] in _LETTERS and pair[1] in _LETTERS
        for pair in pairwise(text)
    )


def is_login(value: bytes) -> bool:
    """Return whether a value is ``user:password`` in base64, as registries of containers have it."""
    try:
        return b":" in b64decode(value + b"=" * (-len(value) % 4), validate=True)[1:-1]
    except binascii.Error:
        return False


LOOKS: dict[str, Callable[[bytes], bool]] = {"random": looks_random, "login": is_login}
"""What ``looks`` of a rule in `tokens.toml` stands for."""
