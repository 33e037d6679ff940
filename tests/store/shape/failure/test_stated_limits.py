"""Names of tests that passed are no failures: a rule names at most as many as its tool counts."""

from sightline.shape.failure.examination import Examination
from sightline.shape.failure.judge import CAUSE, NAME
from sightline.shape.failure.judgement import judgement_for
from sightline.shape.memory_stream import BytesSource
from tests.each import each
from tests.store.verbs.views_kit import check_names

_PYTEST = [
    "===================================== PASSES =====================================",
    *(
        line
        for number in range(150)
        for line in (
            f"____________________________ test_row[{number}] ____________________________",
            "------------------------------ Captured log call -------------------------------",
            f"ERROR    shop:shop.py:4 row {number} failed: no such item",
        )
    ),
]
_ZIG = [f"{number + 1}/40 shop.test.case {number}...error: row {number}\nOK" for number in range(38)]
_JUNIT = [f"    [junit] Testcase: adds{number} took 0.00{number} sec" for number in range(9)]
_JEST = [f"  ● Cart › adds {word}\n\n    expect(received).toBe(expected)\n" for word in ["one", "two", "three", "four"]]
_GO = [f"--- FAIL: TestRow{number} (0.00s)" for number in range(9)]


def _examined(command: str, lines: list[str], *, exit_code: int) -> tuple[Examination, BytesSource]:
    out = BytesSource("\n".join([*lines, ""]).encode(), "@cmd_a1b2c3")
    scope = judgement_for(command, failed=exit_code != 0, exit_code=exit_code)
    return Examination(out, BytesSource(b""), command, scope), out


def _ruled(examination: Examination, out: BytesSource) -> list[int]:
    hits = examination.failures(out).hits
    return [hit.line for hit in hits if hit.verdict.rule and hit.verdict.rank in (CAUSE, NAME)]


def test_reports_of_passing_tests_are_no_failures_of_a_success() -> None:
    examination, out = _examined("pytest -rP", [*_PYTEST, "150 passed in 1.10s"], exit_code=0)
    assert examination.failures(out).total == 0
    assert examination.of_success(0) is None


def test_another_program_beside_passing_tests_is_still_judged() -> None:
    lines = [*_PYTEST, "150 passed in 1.10s", "ERROR deploy: no route to depot"]
    examination, out = _examined("pytest -rP; ./deploy", lines, exit_code=0)
    assert len(lines) in {hit.line for hit in examination.failures(out).hits}


def test_of_reports_only_those_of_listed_failures_are_believed() -> None:
    lines = [
        *_PYTEST,
        "FAILED tests/test_shop.py::test_row[7] - AssertionError: 1 != 2",
        "1 failed, 149 passed in 1.2s",
    ]
    examination, out = _examined("pytest -rP", lines, exit_code=1)
    assert [one.name for one in examination.failed] == ["tests/test_shop.py::test_row[7]"]
    assert _ruled(examination, out) == [23, len(lines) - 1]


@each(
    ("command", "lines", "last"),
    [
        ("pytest -rP", _PYTEST, "2 failed, 148 passed in 1.10s"),
        ("zig test shop.zig", _ZIG, "38 passed; 0 skipped; 2 failed."),
        ("ant test", _JUNIT, "    [junit] Tests run: 9, Failures: 1, Errors: 0"),
        ("npx jest", _JEST, "Tests:       2 failed, 8 passed, 10 total"),
    ],
)
def test_more_names_than_the_tool_counts_are_not_believed(command: str, lines: list[str], last: str) -> None:
    examination, out = _examined(command, [*lines, last], exit_code=1)
    assert examination.tallies
    check_names(examination)
    assert examination.failed == []
    assert _ruled(examination, out) == []


def test_names_within_a_count_are_believed() -> None:
    examination, _ = _examined("npx jest", [*_JEST, "Tests:       4 failed, 8 passed, 12 total"], exit_code=1)
    assert len(examination.failed) == 4


def test_names_of_a_tool_without_a_count_are_believed() -> None:
    examination, _ = _examined("go test ./...", [*_GO, "FAIL"], exit_code=1)
    assert len(examination.failed) == 9
