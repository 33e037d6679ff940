"""The benchmarks: what they run in other processes, which no type checker reads, and what is compared with before."""

import ast
import importlib
from pathlib import Path

import pytest

from benchmarks.baseline import Regression, compared, regressions
from benchmarks.measure import Row

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


def test_a_time_is_compared_as_a_multiple_of_what_an_interpreter_takes() -> None:
    page = Row("a page, ms", "1.0 ms", "", 1.0, 1.0)
    saved = compared([page], floor=0.010)
    assert saved == {"a page, ms": 0.1}
    twice_as_slow = [page._replace(ratio=2.0)]
    assert regressions(saved, twice_as_slow, floor=0.020) == []
    assert regressions(saved, twice_as_slow, floor=0.010) == [Regression("a page, ms", 0.1, 0.2)]


def test_nanoseconds_a_byte_and_seconds_are_times_too() -> None:
    told = [Row("import: ns a byte", "", "", 20.0, None), Row("an audit, s", "", "", 5.0, None)]
    assert compared(told, floor=0.010) == {"import: ns a byte": 0.000002, "an audit, s": 500.0}
    slower = [one._replace(ratio=one.ratio * 1.6) for one in told]
    assert [one.what for one in regressions(compared(told, 0.010), slower, 0.010)] == [one.what for one in told]


def test_what_one_run_takes_more_than_another_may_be_nothing_and_grow_a_little() -> None:
    more = Row("recorded: more, ms", "", "", -0.1, 2.0)
    saved = compared([more], floor=0.010)
    assert regressions(saved, [more._replace(ratio=0.0)], floor=0.010) == []
    assert regressions(saved, [more._replace(ratio=1.0)], floor=0.010)


def test_ratios_and_memory_hold_on_any_machine() -> None:
    rows = [Row("list", "", "", 2.0, 2.8), Row("at rest, MiB", "", "", 10.0, 25.0)]
    saved = compared(rows, floor=0.010)
    assert saved == compared(rows, floor=0.020) == {"list": 2.0, "at rest, MiB": 10.0}
    assert [one.what for one in regressions(saved, [rows[0]._replace(ratio=2.5), rows[1]], 0.020)] == ["list"]


def test_a_share_of_a_core_may_grow_by_what_a_clock_of_ticks_can_tell() -> None:
    rest = Row("a host at rest: share of a core", "", "", 0.001, 0.01)
    saved = compared([rest], floor=0.010)
    assert regressions(saved, [rest._replace(ratio=0.003)], floor=0.010) == []
    assert regressions(saved, [rest._replace(ratio=0.0035)], floor=0.010)


def test_what_other_programs_take_and_what_took_longest_is_not_compared() -> None:
    others = Row("bare server: run true, p50", "", "", 1.0, None)
    once = [Row("a line: worst, ms", "", "", 1.0, None), Row("page down, worst, ms", "", "", 1.0, None)]
    assert compared([others, *once], 0.010) == {}
