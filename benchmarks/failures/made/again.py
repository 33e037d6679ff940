"""Runs that are retried: the same errors three times over, word for word, and others that stand in one of them alone."""

from benchmarks.failures.made.floods import TOOLS
from benchmarks.failures.made.kit import Made, Words, made

_ATTEMPTS = 3


def cases() -> list[Made]:
    """Six tools, four outputs of each."""
    return [_case(tool, number) for tool in TOOLS for number in range(4)]


def _case(tool: str, number: int) -> Made:
    words = Words(f"again {tool} {number}")
    command, form, messages, ending = TOOLS[tool]
    said = [_error(words, messages[at % 2]) for at in range(9)]
    own = [[_error(words, messages[at]) for at in (0, 1)] if attempt == number % 3 else [] for attempt in range(3)]
    lines: list[str] = []
    for attempt in range(_ATTEMPTS):
        lines += [f"attempt {attempt + 1} of {_ATTEMPTS}", *words.said(40)]
        for error in (*said, *own[attempt]):
            lines += [*form(*error), ""]
        lines += [ending, *words.said(15)]
    labels = [message for _, _, message in (*said, *own[number % 3])]
    return made(f"again-{tool}-{number}", tool, lines, labels, command=command)


def _error(words: Words, message: str) -> tuple[str, int, str]:
    return f"src/{words.name()}.x", words.number(), message.replace("NOUN", words.name())
