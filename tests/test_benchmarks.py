"""The benchmarks: what they run in other processes, which no type checker reads, imports what there is."""

import ast
import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the tests lie outside a checkout")


def programs(path: Path) -> list[ast.Module]:
    """The texts in a file that are programs which import something of ours."""
    texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    return [ast.parse(text) for text in texts if isinstance(text, str) and "from sightline" in text and "\n" in text]


def imported(program: ast.Module) -> list[tuple[str, str]]:
    froms = [(node.module or "", node.names) for node in ast.walk(program) if isinstance(node, ast.ImportFrom)]
    return [(module, one.name) for module, names in froms if module.startswith("sightline") for one in names]


def test_programs_in_benchmarks_import_what_there_is() -> None:
    asked = {one for path in FOLDER.glob("*.py") for program in programs(path) for one in imported(program)}
    assert ("sightline.store", "Store") in asked
    for module, name in asked:
        loaded = importlib.import_module(module)
        if not hasattr(loaded, name):
            importlib.import_module(f"{module}.{name}")
