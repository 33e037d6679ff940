"""Patterns keep to what every Python reads alike: before 3.11.5 possessive groups match what they should not."""

import ast
import re
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]  # the only ones that tell what a pattern is made of
from typing import Any

import pytest

from sightline import store
from sightline_tui import app
from tests.each import each

ROOMS = [Path(str(room.__file__)).resolve().parent for room in (store, app)]
SOURCES = [path for room in ROOMS for path in sorted(room.rglob("*.py"))]
TABLES = [path for room in ROOMS for path in sorted(room.rglob("*.toml"))]
NO_PATTERNS = {"C++"}
"""Strings that are names, and read like patterns."""

UNSAFE = {_constants.POSSESSIVE_REPEAT, _constants.ATOMIC_GROUP}
LOOKS_UNSAFE = re.compile(r"\(\?>|(?<!\\)(?:[])}.]|\\\w)(?:[*+?]|\{[0-9,]+\})\+|(?<![\\\[])[*?]\+(?![\]-])")


def holds_unsafe(parsed: Any) -> bool:
    """Whether a pattern, parsed, or any part of it is a possessive or an atomic group."""
    if isinstance(parsed, _parser.SubPattern | list | tuple):
        return any(map(holds_unsafe, parsed))
    return type(parsed) is type(_constants.ATOMIC_GROUP) and parsed in UNSAFE  # letters are plain numbers


def is_unsafe(pattern: str) -> bool:
    """Whether a pattern, or the piece of one, is such a group."""
    if "+" not in pattern and "(?>" not in pattern:
        return False
    try:
        with warnings.catch_warnings(action="ignore"):
            return holds_unsafe(_parser.parse(pattern))
    except (re.error, OverflowError):  # a piece of one, or none
        return LOOKS_UNSAFE.search(pattern) is not None


def literals(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a module with their lines; those that are made of pieces, with a letter for what is put in."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(one.value) if isinstance(one, ast.Constant) else "x" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.lineno, node.value if isinstance(node.value, str) else node.value.decode("latin-1")


def test_no_module_has_a_possessive_or_atomic_group() -> None:
    found = [
        f"{path}:{line}: {text}"
        for path in SOURCES
        if re.search(r"^\s*(?:import re$|from re import)", source := path.read_text(), re.MULTILINE)
        for line, text in literals(source)
        if is_unsafe(text) and text not in NO_PATTERNS
    ]
    assert found == []
    assert {"store.py", "inspector.py"} <= {path.name for path in SOURCES}


def strings_in(table: Any) -> Iterator[str]:
    """All strings of a table."""
    if isinstance(table, dict):
        table = list(table.values())
    if isinstance(table, list):
        for one in table:
            yield from strings_in(one)
    elif isinstance(table, str):
        yield table


@each("path", TABLES)
def test_no_table_of_patterns_has_one(path: Path) -> None:
    words = {"programs", "example", "marks", "has"}  # what is no pattern
    tables = tomllib.loads(path.read_text()).values()
    rules = [
        {key: value for key, value in table.items() if key not in words} for table in tables if isinstance(table, dict)
    ]
    assert [text for text in strings_in(rules) if is_unsafe(text)] == []


@pytest.mark.parametrize(
    "pattern", ["a*+", "(?:a|b)*+", "[a]++", "a?+", "a{2}+", "(?>a)b", "(?:a(?:b(c*+)))", '"[^"]*+(?:']
)
def test_they_are_found(pattern: str) -> None:
    assert is_unsafe(pattern)


@pytest.mark.parametrize(
    "pattern", ["a*", r"a\*+", "[*+]", "[+*?]+", r"\++ a", "(?:a*)+", "+++ b", "[eE][+-]?[0-9]+", "(?:"]
)
def test_others_are_not(pattern: str) -> None:
    assert not is_unsafe(pattern)
