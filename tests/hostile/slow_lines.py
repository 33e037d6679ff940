"""Lines made to be slow for a pattern: each of its endless repetitions is given much to repeat, and then no match."""

from collections.abc import Iterable, Iterator
from re import _constants as code  # type: ignore[attr-defined]  # the only ones that say what a pattern is made of
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_UNITS = ("a", "0", " ", "-", ".", ":", "[", "(", "/", ",", "=")
_SAMPLES = "".join(_UNITS) + "\"'!)]>#x@é\tA_" + "".join(map(chr, range(33, 127)))
_REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT)
_LONG = 40  # repetitions from which a bounded one counts as endless
_IS_OF = {
    code.CATEGORY_DIGIT: str.isdigit,
    code.CATEGORY_NOT_DIGIT: lambda sign: not sign.isdigit(),
    code.CATEGORY_SPACE: str.isspace,
    code.CATEGORY_NOT_SPACE: lambda sign: not sign.isspace(),
    code.CATEGORY_WORD: lambda sign: sign.isalnum() or sign == "_",
    code.CATEGORY_NOT_WORD: lambda sign: not (sign.isalnum() or sign == "_"),
}


def slow_lines(pattern: str, has: Iterable[str], length: int) -> set[str]:
    """Lines of about this many characters; each has one of some literals, if there are any."""
    tree = parser.parse(pattern)
    literals = tuple(has) or ("",)
    head, whole = literals[0], _text(tree)
    made = [("", whole, f"!{head}"), ("", whole[:-1], f"!{head}")]
    for before, unit in _repeated(tree):
        made += [(before, unit, end) for end in (f"! ~{head}", f"!{head}", "")]
        made += [(head + before, unit, "~!"), (f"{head} {before}", before + unit, "!"), (head, unit, f"!{head}")]
        made += [("", before, f"!{head}"), ("", before + unit, f"!{head}")]
    lines = {(begin + unit * (length // len(unit)) + end).replace("\n", " ") for begin, unit, end in made if unit}
    return {line for line in lines if any(literal in line for literal in literals)}


def _repeated(parts: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield, for each endless repetition, a text that leads to it, and one that it repeats."""
    for kind, value in parts:
        if kind in _REPEATS:
            if value[1] >= _LONG:
                yield from ((before, unit) for unit in _units(value[2]))
            yield from _repeated(value[2], before)
        elif kind is code.SUBPATTERN:
            yield from _repeated(value[3], before)
        elif kind is code.BRANCH:
            for branch in value[1]:
                yield from _repeated(branch, before)
        elif kind in (code.ASSERT, code.ASSERT_NOT):
            yield from _repeated(value[1], before)
        before += _text([(kind, value)])


def _units(parts: Any) -> list[str]:
    kind, value = parts[0]
    if len(parts) == 1 and kind in (code.IN, code.ANY, code.NOT_LITERAL):
        return [unit for unit in _UNITS if _fits(kind, value, unit)]
    if kind is code.BRANCH:
        return [_text(branch) or "a" for branch in value[1]]
    return [_text(parts) or "a"]


def _text(parts: Any) -> str:
    """Return a text that parts of a pattern match, as a rule."""
    text = ""
    for kind, value in parts:
        if kind in _REPEATS:
            text += _text(value[2]) * value[0]
        elif kind is code.SUBPATTERN:
            text += _text(value[3])
        elif kind is code.BRANCH:
            text += _text(value[1][0])
        elif kind is code.LITERAL:
            text += chr(value)
        elif kind in (code.IN, code.ANY, code.NOT_LITERAL):
            text += _sign(kind, value)
    return text


def _fits(kind: Any, value: Any, sign: str) -> bool:
    if kind is not code.IN:
        return kind is code.ANY or ord(sign) != value
    fits = any(
        (one is code.LITERAL and what == ord(sign))
        or (one is code.RANGE and what[0] <= ord(sign) <= what[1])
        or (one is code.CATEGORY and _IS_OF[what](sign))
        for one, what in value
    )
    return fits != any(one is code.NEGATE for one, _ in value)


def _sign(kind: Any, value: Any) -> str:
    """Return a sign that fits; of a set of unusual ones, the first that it names."""
    usual = (sign for sign in _SAMPLES if _fits(kind, value, sign))
    return next(usual, "") or next(chr(what if one is code.LITERAL else what[0]) for one, what in value)
