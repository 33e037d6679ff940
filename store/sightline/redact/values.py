"""Says whether a value looks like a secret, where only its name says that it may be one."""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable
from itertools import pairwise, permutations

_KINDS = bytes(
    ord("d" if 48 <= byte <= 57 else "u" if 65 <= byte <= 90 else "l" if 97 <= byte <= 122 else ".")
    for byte in range(256)
)
_LONG = 20  # from here on chance alone has few changes
_LEAST_CHANGES = 0.34  # of kind, a character: words have 0 to 0.2, random letters and digits 0.4 to 0.6
_LEAST_LONG_CHANGES = 0.24
_LEAST_JUMPS = 0.38  # changes of kind and rare pairs of letters, a character: words have 0.1, random ones 0.5 to 0.7
_LEAST_LETTERS = 16  # a shorter value of nothing but letters may be a name
_LEAST_RARE = 0.36  # rare pairs a letter: words and names have 0.1, random letters 0.4 to 0.6
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
_RARE = frozenset(permutations(range(97, 123), 2)) - _USUAL
_FORMS = re.compile(
    rb"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|"  # a UUID
    rb"(?=[^0-9]{0,22}[0-9])[0-9a-z]{6}\.[0-9a-z]{16}|"  # of Kubernetes, to join a cluster
    rb"(?=[0-9:_-]{0,64}[a-f])(?=[a-f:_-]{0,64}[0-9])[0-9a-f]{8}(?:[:_-]?[0-9a-f]){8,512}"
)
_EXAMPLE = re.compile(rb"(?i:example)")
_EXPRESSION = re.compile(rb"\A(?:[$@%/~]|\./)|\$[{(]|\{\{|%[(s]|<|\.\.\.|\*\*\*|://|\[redacted|(?i:example)")


def looks_random(value: bytes) -> bool:
    """Return whether a value mixes letters and digits as chance does, and as names, words, paths and dates do not."""
    return _is_mixed(value) or _FORMS.fullmatch(value) is not None


def _is_mixed(value: bytes) -> bool:
    """Return whether letters, digits and signs change as in no word, path or number."""
    kinds = value[:_LOOKED_AT].translate(_KINDS)
    size, count = len(kinds), kinds.count
    if b"d" not in kinds:
        return (
            size >= _LEAST_LETTERS and value.isalpha() and _rare_pairs(value[:_LOOKED_AT].lower()) >= _LEAST_RARE * size
        )
    changes = count(b"ld") + count(b"dl") + count(b"lu") + count(b"ul") + count(b"ud") + count(b"du")
    if len(set(value)) < _LEAST_DIFFERENT or (size < _SHORT_NUMBER and _NUMBER in kinds):
        return False
    mixes = changes >= (_LEAST_LONG_CHANGES if size >= _LONG else _LEAST_CHANGES) * size and _WORD not in kinds
    if not mixes and changes + _rare_pairs(value[:_LOOKED_AT].lower()) < _LEAST_JUMPS * size:
        return False
    others = count(b".")
    return others <= _MOST_OTHERS * size and not (_EXPRESSION if others else _EXAMPLE).search(value)


def _rare_pairs(text: bytes) -> int:
    """Return how many pairs of letters stand next to each other that words hardly have."""
    return sum(map(_RARE.__contains__, pairwise(text)))


def is_login(value: bytes) -> bool:
    """Return whether a value is ``user:password`` in base64, as registries of containers have it."""
    try:
        return b":" in b64decode(value + b"=" * (-len(value) % 4), validate=True)[1:-1]
    except binascii.Error:
        return False


LOOKS: dict[str, Callable[[bytes], bool]] = {"random": looks_random, "login": is_login}
"""What ``looks`` of a rule in `tokens.toml` stands for."""
