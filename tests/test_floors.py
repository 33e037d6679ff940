"""The walls of the house: which floor may import which, and what a command really loads."""

import ast
import glob
import graphlib
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sightline.doors.cli.main as cli_main

REPOSITORY = Path(__file__).resolve().parent.parent
PYPROJECT = REPOSITORY / "pyproject.toml"
NEVER_LOADED = (
    "textual",
    "mcp",
    "asyncio",
    "rapidfuzz",
    "watchfiles",
    "pygments",
    "rich",
    "platformdirs",
    "typing",
    "datetime",
    "json",
)

in_a_checkout = pytest.mark.skipif(not PYPROJECT.is_file(), reason="the tests lie outside a checkout")


_NOTES_WHO_IMPORTS = """
import builtins, sys
before, importers, plain = set(sys.modules), {}, builtins.__import__
def noting(name, names=None, *others, **more):
    known = set(sys.modules)
    try:
        return plain(name, names, *others, **more)
    finally:
        for new in set(sys.modules) - known:
            importers.setdefault(new, (names or {}).get("__name__", "?"))
builtins.__import__ = noting
"""
_WRITES_WHO_IMPORTS = """
builtins.__import__ = plain
found = {name: importers.get(name, "?") for name in set(sys.modules) - before}
import json
sys.stderr.write(json.dumps(found))
"""


def _loaded(code: str, home: Path) -> dict[str, str]:
    """The modules that a fresh interpreter loads for something, and who imports each; also of top-level names of these.

    What an environment has every interpreter load, as by a ``.pth`` file, does not count.
    """
    done = subprocess.run(
        [sys.executable, "-c", f"{_NOTES_WHO_IMPORTS}\n{code}\n{_WRITES_WHO_IMPORTS}"],
        capture_output=True,
        check=True,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "SIGHTLINE_HOME": str(home / "store")},
        cwd=home,
        timeout=60,
    )
    found: dict[str, str] = json.loads(done.stderr)
    return {**{name.partition(".")[0]: by for name, by in found.items()}, **found}


def _none_of(loaded: dict[str, str], unwanted: set[str]) -> None:
    """Fail with the names of unwanted modules, and of those that import them."""
    came_in = [f"{name}, which {loaded[name]} imports" for name in sorted(unwanted & loaded.keys())]
    assert not came_in, "loaded at a start: " + "; ".join(came_in)


def _call(*words: str) -> str:
    return f"from sightline.doors.cli.main import main\nmain({list(words)!r})"


def test_importing_the_command_line_loads_next_to_nothing(tmp_path: Path) -> None:
    loaded = _loaded("import sightline.doors.cli.main", tmp_path)
    _none_of(loaded, {*NEVER_LOADED, "_sqlite3", "sightline.store", "argparse", "sightline_tui"})


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--", "true"),
        ("run", "-c", "seq 1 5000; false"),
        ("list",),
        ("query", "wc -l @last"),
        ("show", "@last"),
        ("views",),
    ],
    ids=" ".join,
)
def test_commands_load_nothing_of_the_screen(tmp_path: Path, words: tuple[str, ...]) -> None:
    loaded = _loaded(f"{_call('run', '--', 'echo', 'hi')}\n{_call(*words)}", tmp_path)
    _none_of(loaded, {*NEVER_LOADED, "sightline_tui"})


_LARGE_PARTS_OF_THE_LIBRARY = {"re", "enum", "collections", "functools", "contextlib", "operator", "argparse", "shlex"}


@pytest.mark.parametrize(
    "words",
    [("run", "--", "true"), ("list", "--limit", "5"), ("query", "grep -c hi @last"), ("show", "@last"), ("views",)],
    ids=" ".join,
)
def test_plain_commands_load_no_patterns_and_no_large_part_of_the_library(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    _loaded(_call("run", "--", "echo", "hi"), tmp_path)
    _none_of(_loaded(_call(*words), tmp_path), _LARGE_PARTS_OF_THE_LIBRARY)


@pytest.mark.parametrize(
    ("event", "given"),
    [
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "make -j4 # all of it"}}),
        ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": {"stdout": "x\n"}}),
        ("SessionStart", {"source": "startup"}),
        ("Stop", {"last_assistant_message": "hello"}),
    ],
)
def test_nor_do_hooks(tmp_path: Path, event: str, given: dict[str, Any]) -> None:
    _loaded(_call("run", "--", "true"), tmp_path)
    _none_of(_loaded(_hook(event, given), tmp_path), _LARGE_PARTS_OF_THE_LIBRARY)


@in_a_checkout
def test_rooms_that_take_pythons_own_are_loaded_by_no_start(tmp_path: Path) -> None:
    """Where ruff lets a module import `typing`, no plain command and no usual event of a hook comes by."""
    with PYPROJECT.open("rb") as file:
        ignored = tomllib.load(file)["tool"]["ruff"]["lint"]["per-file-ignores"]
    rooms = [
        place.removesuffix("/**") for place, rules in ignored.items() if "TID25" in rules and "sightline/" in place
    ]
    assert len(rooms) > 5
    modules = {
        str(path.with_suffix("")).replace("store/", "", 1).replace("/", ".")
        for room in rooms
        for path in (one.relative_to(REPOSITORY) for one in (REPOSITORY / room).rglob("*.py"))
        if path.name != "__init__.py"
    }
    _loaded(_call("run", "--", "echo", "hi"), tmp_path)
    result = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": {"stdout": "x\n"}}
    for start in (_call("run", "--", "true"), _call("show", "@last"), _hook("PostToolUse", result), _hook("Stop", {})):
        _none_of(_loaded(start, tmp_path), modules)


_OF_USAGE = {"sightline.base.request_usage", "sightline.disk.request_rows", "sightline.log.usage"}


@pytest.mark.parametrize(
    "start",
    [
        *(_call("run", "--", "true"), _call("list"), _call("query", "wc -l @last"), _call("show", "@last")),
        _call("views"),
    ],
    ids=["run", "list", "query", "show", "views"],
)
def test_plain_commands_load_nothing_of_usage(tmp_path: Path, start: str) -> None:
    _loaded(_call("run", "--", "echo", "hi"), tmp_path)
    _none_of(_loaded(start, tmp_path), _OF_USAGE)


_OF_WRITERS = {
    *("hashlib", "threading", "sightline.disk.recording", "sightline.disk.recovery", "sightline.disk.sorter"),
    "sightline.disk.index_filling",
}


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        (("list",), {"sightline.disk.streams", "sightline.search", "signal"}),
        (("views",), {"sightline.disk.streams", "sightline.search", "signal", "sightline.audit", "shlex"}),
        (("show", "@last"), {"sightline.search", "sightline.shape.view", "signal"}),
        (("query", "wc -l @last"), {"sightline.shape.view"}),
    ],
    ids=["list", "views", "show", "query"],
)
def test_looking_loads_nothing_that_only_writers_and_other_views_need(
    tmp_path: Path, words: tuple[str, ...], unneeded: set[str]
) -> None:
    _loaded(_call("run", "--", "echo", "hi"), tmp_path)
    _none_of(_loaded(_call(*words), tmp_path), {*_OF_WRITERS, *unneeded})


def test_reading_what_hosts_have_shipped_loads_nothing_that_judges_sessions(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")
    loaded = _loaded("import sightline.fleet.reader.store", tmp_path)
    _none_of(loaded, {"sightline.audit.evidence.session_evidence", "sightline.fleet.reader.host_findings"})


def _hook(event: str, given: dict[str, Any]) -> str:
    words = ["claude-code", event, "--mode", "keep"]
    data = json.dumps({"session_id": "s", "cwd": "/", "tool_use_id": "use", **given}).encode()
    return f"from sightline.agents.hooks.event import answer_to\nanswer_to({words!r}, {data!r})"


_BASH = {"tool_name": "Bash", "tool_input": {"command": "make"}}


@pytest.mark.parametrize(
    ("event", "given"),
    [
        ("PreToolUse", _BASH),
        ("SessionStart", {}),
        ("UserPromptSubmit", {}),
        ("PostToolUse", {"tool_name": "mcp__sightline__query", "tool_response": "x"}),
        ("PostToolBatch", {"tool_calls": [{"tool_name": "mcp__sightline__query"}]}),
    ],
)
def test_hooks_that_keep_nothing_load_no_store(tmp_path: Path, event: str, given: dict[str, Any]) -> None:
    loaded = _loaded(_hook(event, given), tmp_path)
    _none_of(loaded, {*NEVER_LOADED, "_sqlite3", "argparse", "subprocess", "sightline.store", "tomllib"})


@pytest.mark.parametrize(
    ("event", "given"),
    [
        ("PostToolUse", {**_BASH, "tool_response": {"stdout": "x\n"}}),
        ("PostToolUseFailure", {**_BASH, "error": "Exit code 1\nx"}),
        ("PostToolUse", {"tool_name": "mcp__a__b", "tool_response": [{"type": "text", "text": "x"}]}),
        ("PostToolBatch", {"tool_calls": [{"tool_name": "Edit", "tool_use_id": "use", "tool_response": "x"}]}),
    ],
)
def test_hooks_that_keep_something_load_no_reader_and_no_view(
    tmp_path: Path, event: str, given: dict[str, Any]
) -> None:
    loaded = _loaded(_hook(event, given), tmp_path)
    assert "sightline.store" in loaded
    unneeded = {"argparse", "subprocess", "threading", "sightline.verbs.reply", "sightline.pipeline"}
    _none_of(loaded, {*NEVER_LOADED, *unneeded, "sightline.shape.cut", "sightline.doors.mcp"})


def test_running_a_short_command_loads_only_what_it_needs(tmp_path: Path) -> None:
    loaded = _loaded(_call("run", "--", "true"), tmp_path)
    for module in ("sightline.pipeline", "sightline.verbs.substitution", "subprocess", "difflib"):
        assert module not in loaded


def test_an_interrupted_import_leaves_nothing_that_stands_in_for_a_module(tmp_path: Path) -> None:
    module, needed, stood_in_for = "sightline.disk.sqlite", "_sqlite3", "functools"
    code = f"""
class Interrupted:
    def find_spec(name, *_):
        if name == {needed!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted)
try:
    import {module}
    raise AssertionError
except KeyboardInterrupt:
    pass
assert hasattr(sys.modules.get({stood_in_for!r}, sys), "__spec__")
"""
    _loaded(code, tmp_path)


_TELLS_WHAT_IS_COMPILED = """
import builtins
keep, compiled = compile, []
builtins.compile = lambda code, *others, **more: compiled.append(code) or keep(code, *others, **more)
"""


@pytest.mark.parametrize("words", [("run", "--", "true"), ("list",)], ids=" ".join)
def test_no_type_in_quotes_is_compiled_at_a_start(tmp_path: Path, words: tuple[str, ...]) -> None:
    """The first costs a millisecond and a half: the interpreter makes ready for Python's own code."""
    _loaded(f"{_TELLS_WHAT_IS_COMPILED}{_call(*words)}\nassert not compiled, compiled", tmp_path)


@cache
def _imports(path: Path) -> set[str]:
    """What a file imports, if any of what is forbidden is named in it at all."""
    source = path.read_text()
    if not re.search(r"textual|rich|sightline_tui|\bfrom\s+\.", source):
        return set()
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the whole path"
            found.add(node.module or "")
    return found


def _sources() -> list[Path]:
    """The files of the store, as they are installed or checked out."""
    store = Path(cli_main.__file__).parents[2]
    found = glob.glob("**/*.py", root_dir=store, recursive=True)  # also where folders are links
    return sorted(store / path for path in found)


def test_store_never_imports_the_screen() -> None:
    sources = _sources()
    assert len(sources) > 50
    for path in sources:
        assert not {name.partition(".")[0] for name in _imports(path)} & {"textual", "rich"}, path


def test_inspector_is_opened_by_the_command_line_only_from_inside_a_function() -> None:
    opening = [path for path in _sources() if any(name.startswith("sightline_tui") for name in _imports(path))]
    assert {path.name for path in opening} == {"inspector.py"}
    for path in opening:
        top = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
        assert not any("sightline_tui" in ast.unparse(node) for node in top), path


@in_a_checkout
def test_import_contracts_hold(tmp_path: Path) -> None:
    pytest.importorskip("importlinter")
    program = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=REPOSITORY, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_no_modules_import_each_other_in_a_circle_not_even_for_types() -> None:
    graph = pytest.importorskip("grimp").build_graph("sightline", cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(list(graphlib.TopologicalSorter(imported).static_order())) > 300


@in_a_checkout
def test_a_ref_is_put_together_by_what_knows_of_hosts() -> None:
    """A buffer of a host's is ``host7/cmd_a1b2c3``: an ``@`` before that makes no ref, `format_ref` does."""
    code = {path: path.read_text() for room in ("store", "tui") for path in (REPOSITORY / room).rglob("*.py")}
    made = {path.name for path, text in code.items() if re.search(r"""["']@["'] \+ |f["'](?:host)?@\{""", text)}
    assert made <= {"typed_ref.py"}  # which corrects what somebody has typed


@in_a_checkout
def test_each_package_says_that_it_is_typed() -> None:
    assert all((REPOSITORY / room / "py.typed").is_file() for room in ("store/sightline", "tui/sightline_tui"))
