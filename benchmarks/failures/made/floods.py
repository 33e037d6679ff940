"""Hundreds of messages of one kind, and a few of another; and hundreds of distinct errors in many files."""

from collections.abc import Callable

from benchmarks.failures.made.kit import Made, Words, made


def cases() -> list[Made]:
    """Six tools: a rare message in a flood of others, twice; and errors in fifteen and in thirty files."""
    rare = [_rare(tool, number) for tool in TOOLS for number in range(2)]
    return rare + [_many(tool, count) for tool in TOOLS for count in (15, 30)]


def _rare(tool: str, number: int) -> Made:
    words = Words(f"rare {tool} {number}")
    command, form, (flood, other), ending = TOOLS[tool]
    lines = []
    files = [words.name() for _ in range(12)]
    for at in range(400):
        lines += form(f"src/{files[at * 12 // 400]}.x", at + 1, flood.replace("NOUN", words.noun()))
    message = other.replace("NOUN", words.name())
    where = words.number(150, 390)
    lines = [*lines[:where], *form(f"src/{words.name()}.x", 7, message), *lines[where:], ending]
    return made(f"floods-{tool}-rare-{number}", tool, lines, [message], command=command)


def _many(tool: str, count: int) -> Made:
    words = Words(f"many {tool} {count}")
    command, form, (flood, _), ending = TOOLS[tool]
    files = [f"{words.name()}.x" for _ in range(count)]
    lines = []
    for file in files:
        for at in range(12):
            lines += form(file, at * 7 + 3, flood.replace("NOUN", words.name()))
    return made(f"floods-{tool}-many-{count}", tool, [*lines, ending], files, command=command)


def _line(place: str, line: int, message: str) -> list[str]:
    return [f"{place}:{line}:5: error: {message}"]


def _typescript(place: str, line: int, message: str) -> list[str]:
    return [f"{place}({line},5): error TS2304: {message}"]


def _gcc(place: str, line: int, message: str) -> list[str]:
    return [f"{place}:{line}:5: error: {message}", f"  {line} |   load(depot);", "      |   ^~~~"]


def _level(place: str, line: int, message: str) -> list[str]:
    return [f"[ERROR] {place}:[{line},5] {message}"]


def _plain(place: str, line: int, message: str) -> list[str]:
    return [f"{place}:{line}: {message}"]


def _rust(place: str, line: int, message: str) -> list[str]:
    return [
        f"error[E0425]: {message}",
        f"  --> {place}:{line}:5",
        "   |",
        f"{line} |     depot();",
        "   |     ^^^^^",
        "",
    ]


TOOLS: dict[str, tuple[str, Callable[[str, int, str], list[str]], tuple[str, str], str]] = {
    "gcc": ("make", _gcc, ("unknown type name 'NOUN'", "NOUN.h: No such file or directory"), "make: *** [all] Error 1"),
    "tsc": (
        "npx tsc",
        _typescript,
        ("Cannot find name 'NOUN'.", "Cannot find module 'NOUN' or its types."),
        "Found 401 errors.",
    ),
    "javac": (
        "mvn compile",
        _level,
        ("cannot find symbol NOUN", "package org.NOUN does not exist"),
        "[INFO] BUILD FAILURE",
    ),
    "mypy": ("mypy .", _line, ('Name "NOUN" is not defined', 'Cannot find module named "NOUN"'), "Found 401 errors"),
    "unknown": ("./verify", _plain, ("NOUN is not allowed here, error 12", "NOUN could not be parsed"), "not verified"),
    "cargo": (
        "cargo build",
        _rust,
        ("cannot find value `NOUN`", "unresolved import `NOUN`"),
        "error: aborting due to 401 previous errors",
    ),
}
