"""Which private names of textual the inspector relies on: each may go with any release, and has its reason."""

import ast
import importlib
import pkgutil
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import textual

import sightline_tui

RELIED_ON = {
    "_attach": "the styles of a part are found as Textual finds them, when they are first asked for",
    "_close_messages_no_wait": "ends the application after a fault, without waiting for what may never come",
    "_component_styles": "the styles of those parts that were asked for",
    "_exception": "the fault, for the file that tells of it",
    "_exit_renderables": "a sentence about the fault, printed once the terminal is as it was",
    "_fatal_error": "a fault is told in a sentence, not by a traceback of many screens",
    "_get_component_classes": "which parts Textual styles anew: those whose styles were asked for",
    "_on_key": "a prompt takes Enter in its own task, before the input does, so that the next key waits for it",
    "_parent": "a key is followed from widget to widget, until nobody will do anything with it any more",
    "_scroll_update": "the scrollbar learns of more rows without a layout of the whole screen",
    "_start_widget": "a scrollbar of our own is started as the one in whose place it stands",
    "_stop_propagation": "whether a key has been dealt with, and goes no further",
    "_styles_cache": "rows that nothing goes around are drawn without asking a dozen style rules about each",
    "_vertical_scrollbar": "where the scrollbar of our own stands",
    "textual._styles_cache.StylesCache": "what `_styles_cache` is made of",
    "textual.keys._character_to_key": "what a key is called that a person names in the settings by its character",
}
"""By name, of what; and what for. A class of ours that gives a name of textual's another meaning belongs here never."""

OTHERS = frozenset(("_replace", "_asdict", "_fields", "_make", "_exit"))
"""Of named tuples, and of `os`."""


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(sightline_tui.__path__, "sightline_tui."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def _given_in(made: ast.ClassDef) -> Iterator[str]:
    """Private names that the body of a class gives to something."""
    for node in made.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if _is_private(node.name):
                yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name) and _is_private(target.id))


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _classes_in(module: str) -> dict[str, ast.ClassDef]:
    """The classes of a module, by their qualified names."""
    found = dict[str, ast.ClassDef]()

    def look(node: ast.AST, before: str) -> None:
        for made in ast.iter_child_nodes(node):
            if isinstance(made, ast.ClassDef):
                found[before + made.name] = made
                look(made, f"{before}{made.name}.")

    path = getattr(sys.modules[module], "__file__", None)
    if path and path.endswith(".py"):
        look(_tree(Path(path)), "")
    return found


@cache
def _names_in(cls: type) -> frozenset[str]:
    """Private names that a class makes or has: of itself, and of its objects."""
    made = _classes_in(cls.__module__).get(cls.__qualname__)
    found = {name for name in vars(cls) if _is_private(name)}
    for node in ast.walk(made) if made else ():
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_private(node.attr):
            found.add(node.attr)
    return frozenset(found)


def _of_textual(cls: type, classes: Iterable[type]) -> frozenset[str]:
    """Private names of textual's classes that a class is made of, or that it is mixed with in one of these classes."""
    made = {base for one in classes if cls in one.__mro__ for base in one.__mro__}
    return frozenset().union(*(_names_in(base) for base in made if base.__module__.startswith("textual")))


def _known_to_textual(names: set[str]) -> set[str]:
    """Which of these private names textual makes anywhere; what cannot tell of one more is not parsed."""
    found = set[str]()
    for path in sorted(Path(textual.__file__).parent.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if not any(name in source for name in names - found):
            continue
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(node.name)
    return found & names


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if any(map(_is_private, full.split("."))):
                    yield full
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith("textual.") and "._" in a.name)


def _is_own(node: ast.expr) -> bool:
    """Whether it is ``self``, ``cls`` or ``super()``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _used() -> set[tuple[str, str]]:
    """What is relied on, found in the inspector's own code: the module, and the name."""
    found, own = set[tuple[str, str]](), set[str]()
    trees = [(module, _tree(Path(str(module.__file__)))) for module in _modules()]
    bodies = [(module, made) for module, tree in trees for made in tree.body if isinstance(made, ast.ClassDef)]
    classes = [vars(module)[made.name] for module, made in bodies]
    for (module, made), cls in zip(bodies, classes, strict=True):
        shared = _of_textual(cls, classes)
        own |= _names_in(cls)
        found |= {(module.__name__, name) for name in set(_given_in(made)) & shared}
        for node in ast.walk(made):
            if isinstance(node, ast.Attribute) and _is_own(node.value) and node.attr in shared:
                found.add((module.__name__, node.attr))
    asked = set[tuple[str, str]]()
    for module, tree in trees:
        found |= {(module.__name__, name) for name in _imported(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and _is_private(node.attr) and not _is_own(node.value):
                asked.add((module.__name__, node.attr))
    known = _known_to_textual({name for _, name in asked} - own - OTHERS)
    return found | {(module, name) for module, name in asked if name in known}


def test_each_private_name_of_textual_that_is_relied_on_is_listed_with_its_reason() -> None:
    used = _used()
    assert {name for _, name in used} == set(RELIED_ON)
    assert {module for module, _ in used} == {"sightline_tui.common.textual_internals"}
    assert all(RELIED_ON.values())


def test_the_release_that_may_change_them_is_not_installed() -> None:
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = next(one for one in declared["project"]["dependencies"] if one.startswith("textual"))
    following = int(version("textual").split(".")[0]) + 1
    assert wanted.endswith(f"<{following}")
