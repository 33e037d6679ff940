"""Knows what exit codes mean by convention, whatever the program."""

_MEANINGS = {
    124: "timed out",
    126: "not executable",
    127: "command not found",
    129: "hung up",
    130: "interrupted",
    134: "aborted",
    137: "killed",
    139: "segmentation fault",
    141: "broken pipe",
    143: "terminated",
}
"""What an exit code means by convention: that of timeout(1), of shells, and 128 and a signal."""

MAY_ANSWER = frozenset((1, 123))
"""Exit codes that may be an answer, such as "no match": that of a program, and that of `xargs` for one that gave it."""

NEVER_RAN = frozenset((126, 127))
"""Exit codes of shells for a program that could not begin; some runners give them where their program failed."""

MESSAGE_LINES = 5
"""Lines of output up to which one of these is believed: a shell says in one that there is no such program."""

ENDED_BY_OTHERS = frozenset((124, 129, 130, 137, 143))
"""Exit codes of commands that somebody ended, so that they say nothing about what the command had to say."""


def meaning_of(exit_code: int | None) -> str:
    """Return what an exit code means by convention, such as ``killed``; empty if it means nothing in particular."""
    return _MEANINGS.get(exit_code or 0, "")
