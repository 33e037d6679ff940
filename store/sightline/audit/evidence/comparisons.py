"""Judges claims that texts are the same by the last comparison: `diff` and the like, whose exit code is the answer."""

from sightline.audit.evidence.call_facts import command_of, exit_code_of
from sightline.audit.timeline import Call
from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.answers import DIFFERENT
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.programs import programs_of

_COMPARING = frozenset(("diff", "cmp", "colordiff", "zdiff", "sdiff"))
_SHOWING = frozenset(("head", "tail", "cat", "less"))


class Comparison(NamedTuple):
    """A comparison that has ended: the call, the words that it compared, and whether they were the same."""

    call: Call
    operands: tuple[str, ...]
    is_same: bool


def comparison_of(call: Call) -> Comparison | None:
    """Return the comparison that a call's command made, and nothing else; None for any other call."""
    command, buffer = command_of(call), call.buffer
    if not command or buffer is None or buffer.is_partial or buffer.state == "running":
        return None
    try:
        programs = [one for one in programs_of(command) if one.name not in ("cd", "echo")]
    except Unclear:
        return None
    if len(programs) != 1 or not (programs[0].name in _COMPARING or programs[0].words[:2] == ("git", "diff")):
        return None
    if programs[0].filters:
        is_same = None if not _SHOWING.issuperset(programs[0].filters) else not buffer.bytes
    elif programs[0].name == "git" and not buffer.answer:
        is_same = not buffer.bytes if exit_code_of(call) == 0 else None
    else:
        is_same = True if exit_code_of(call) == 0 else False if buffer.answer == DIFFERENT else None
    return None if is_same is None else Comparison(call, programs[0].plain, is_same)


def may_mean(words: str, comparison: Comparison) -> bool:
    """Return whether a claim is about what was compared: it names a part of that, or no file at all."""
    names = [one.rstrip("/").rpartition("/")[2] for one in comparison.operands]
    return any(name and name in words for name in names) or not any(
        "." in word.strip(".,;:!?`*()") or "/" in word for word in words.split()
    )
