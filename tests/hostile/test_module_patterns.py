"""Every pattern of the package reads a line made to be slow for it in a time that grows with the line's length."""

import ast
import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import sightline
import sightline_tui
from sightline.search.diff.normaliser import without_volatile
from sightline.shape.invisible_characters import mark_hidden
from tests.each import each
from tests.hostile.shapes import SLOWNESS, in_bounded_time
from tests.hostile.slow_lines import slow_lines

LENGTH = 1_500
LINE_SECONDS = 0.001
"""Processor time for a pattern on a line; what takes the square of its length takes some five times as much or more."""

WAYS = {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
BELOW = {
    "sightline.verbs.outline": 300,  # `outline` reads so much of a line
}
"""Characters of a line that the callers of a module's patterns give them at most."""


class Used(NamedTuple):
    """A pattern of a module, and the ways in which it is used there."""

    where: str
    pattern: Any
    ways: frozenset[str]


def patterns_in(value: Any) -> Iterator[Any]:
    """The patterns that a value is, or is made of."""
    if isinstance(value, re.Pattern) or type(value).__name__ == "_LatePattern":
        yield value
    elif isinstance(value, dict):
        yield from patterns_in(tuple(value.values()))
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from patterns_in(one)


def ways_of(nodes: list[ast.AST], name: str) -> frozenset[str]:
    """How a module uses a name: by these methods; if it is passed on, by all that anything is used by there."""
    called = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr in WAYS]
    own = [node.attr for node in called if isinstance(node.value, ast.Name) and node.value.id == name]
    uses = sum(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) for one in nodes)
    if own and len(own) == uses:
        return frozenset(own)
    return frozenset(node.attr for node in called if node.attr != "split") or frozenset({"search"})


def inline_patterns(nodes: list[ast.AST]) -> Iterator[tuple[str, str | bytes, str]]:
    """The patterns that functions of `re` are given as they are: name of the function, pattern, way."""
    for node in nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in WAYS
            and isinstance(node.args[0], ast.Constant)
        ):
            yield f"line {node.lineno}", node.args[0].value, node.func.attr  # type: ignore[misc]


def used_patterns(module: ModuleType) -> Iterator[Used]:
    """The patterns of a module: those that its names hold, and those that it gives to functions of `re`."""
    nodes = list(ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))))
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for name in sorted(own & vars(module).keys()):
        for pattern in patterns_in(vars(module)[name]):
            yield Used(f"{module.__name__}.{name}", pattern, ways_of(nodes, name))
    for where, text, way in inline_patterns(nodes):
        yield Used(f"{module.__name__}, {where}", re.compile(text), frozenset({way}))


def read(pattern: Any, way: str, line: str | bytes) -> None:
    """Use a pattern on a line, to the line's end."""
    if way in ("sub", "subn"):
        getattr(pattern, way)(line[:0], line)
    else:
        for _ in getattr(pattern, way)(line) if way == "finditer" else [getattr(pattern, way)(line)]:
            pass


def takes(pattern: Any, way: str, line: str | bytes) -> float:
    """Processor time of reading a line, in seconds: the best of three, since something else may come between."""
    best = float("inf")
    for _ in range(3):
        began = time.thread_time()
        read(pattern, way, line)
        best = min(best, time.thread_time() - began)
        if best < LINE_SECONDS:
            break
    return best


def slow_ways(used: Used, length: int) -> Iterator[str]:
    """The ways in which a pattern is slow on a line made for it, with the line."""
    text, flags = used.pattern.pattern, used.pattern.flags
    form = text.decode("latin-1") if isinstance(text, bytes) else text
    lines = slow_lines(f"(?x){form}" if flags & re.VERBOSE else form, (), length)
    for way in used.ways:
        for line in lines:
            given = line.encode("latin-1", "replace") if isinstance(text, bytes) else line
            try:
                with in_bounded_time(used.where, 50 * LINE_SECONDS):
                    is_slow = takes(used.pattern, way, given) > LINE_SECONDS * SLOWNESS
            except AssertionError:
                is_slow = True
            if is_slow:
                yield f"{used.where}.{way}: {line[:60]!r}"
                break


def modules_of(room: str) -> list[ModuleType]:
    """The modules below a package, and itself; a package that has rooms of its own has only its modules."""
    package = importlib.import_module(room)
    names = (
        [room]
        if not hasattr(package, "__path__")
        else [
            one.name for one in pkgutil.walk_packages(package.__path__, f"{room}.") if not one.name.endswith("__main__")
        ]
    )
    return [importlib.import_module(name) for name in names]


ROOMS = [
    one.name
    for package in (sightline, sightline_tui)
    for one in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    if not one.name.endswith("__main__")
]


@each("room", ROOMS)
def test_no_pattern_is_slow_on_a_line_made_for_it(room: str) -> None:
    without_volatile(b"")  # these two compile theirs at first use
    mark_hidden("é", str)
    slow = [
        line
        for module in modules_of(room)
        if (length := BELOW.get(module.__name__, LENGTH))
        for used in used_patterns(module)
        for line in slow_ways(used, length)
    ]
    assert slow == []


def test_a_slow_pattern_is_found_however_it_is_held() -> None:
    slow = re.compile(r"\d+\.\d+x"), re.compile(r"(?:'[^']*'|\S)* !")
    held = [Used("held", one, frozenset({"search"})) for one in patterns_in({"a": [slow[0]], "b": (slow[1],)})]
    assert [len(list(slow_ways(one, LENGTH))) for one in held] == [1, 1]
    nodes = list(ast.walk(ast.parse("import re\nre.search(r'a+b', text)\n_NAME = 1\n_NAME.match(x)\n")))
    assert [*inline_patterns(nodes)] == [("line 2", "a+b", "search")]
    assert ways_of(nodes, "_NAME") == {"match"}


def test_patterns_of_a_room_are_found() -> None:
    found = [used.where for room in ("sightline.audit",) for one in modules_of(room) for used in used_patterns(one)]
    assert len(found) > 40
    assert {"sightline.audit.evidence.edits._REFUSED", "sightline.audit.quoted_lines._NUMBER"} <= set(found)
