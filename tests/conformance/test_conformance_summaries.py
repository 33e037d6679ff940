"""Cases of codescout's summaries by command (H), as they are corrected for the default profile."""

from typing import Any

import pytest

from sightline.capture.filters import find_split
from sightline.shape.failure.catalogue import built_in
from sightline.shape.failure.examination import Examination
from sightline.shape.memory_stream import BytesSource
from sightline.shape.summary import summary

NOTHING = BytesSource(b"")


def said(command: str, out: str, exit_code: int) -> str:
    """The summary of an output."""
    source = BytesSource(out.encode(), "@cmd_a1b2c3")
    examination = Examination(source, NOTHING, command)
    return summary(source, NOTHING, exit_code=exit_code, examination=examination)


def counted(command: str, out: str) -> dict[str, dict[str, int]]:
    """What each tool that counts something counts."""
    examination = Examination(BytesSource(out.encode(), "@cmd_a1b2c3"), NOTHING, command)
    return {tally.rule.name: tally.numbers for tally in examination.tallies if tally.numbers}


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("cargo test", "cargo-test"),
        ("cargo test --release", "cargo-test"),
        ("pytest tests/", "pytest"),
        ("npm test", "npm"),
        ("npx jest", "jest"),
        ("go test ./...", "go-test"),
        ("cargo build", "rust"),
        ("cargo clippy -- -D warnings", "rust"),
        ("npm run build", "npm"),
        ("make", "make"),
        ("tsc", "tsc"),
        ("gcc main.c", "gcc"),
        ("echo", None),
        ("ls -la", None),
        ("cat file.txt", None),
    ],
)
def test_h01_the_command_tells_whose_output_it_is(command: str, tool: str | None) -> None:
    assert built_in().recognise(command, b"")[:1] == ([tool] if tool else [])


def _cargo(passed: int, failed: int, ignored: int = 0) -> str:
    word = "FAILED" if failed else "ok"
    return (
        f"running {passed + failed} tests\n"
        f"test result: {word}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out\n\n"
    )


def test_h02_what_passed_is_counted_and_what_is_none_is_not_spoken_of() -> None:
    assert counted("cargo test", _cargo(5, 0))["cargo-test"]["passed"] == 5
    assert said("cargo test", _cargo(5, 0), 0) == "5 passed (ok; 3 lines, 92 B)"


def test_h04_the_binaries_of_one_run_add_up() -> None:
    text = _cargo(3, 0) + _cargo(1, 1)
    numbers = counted("cargo test", text)["cargo-test"]
    assert (numbers["passed"], numbers["failed"]) == (4, 1)
    assert said("cargo test", text, 101).startswith("4 passed (counted), 1 failed")


def test_h05_errors_and_warnings_of_a_build_and_the_first_error() -> None:
    text = (
        "warning: unused variable: `x`\n --> src/main.rs:2:9\n\n"
        "error[E0308]: mismatched types\n --> src/main.rs:4:18\n\n"
        "error: aborting due to 1 previous error; 1 warning emitted\n"
    )
    numbers = counted("cargo build", text)["rust"]
    assert (numbers["errors"], numbers["warnings"]) == (1, 1)
    assert "at: src/main.rs:4 " in said("cargo build", text, 101)


@pytest.mark.parametrize(
    ("command", "out", "exit_code", "sentence"),
    [
        ("pytest", "FAILED a.py::b\n=== 5 failed, 1698 passed, 2 skipped in 3.21s ===\n", 1, "5 failed, 1,698 passed"),
        ("pytest", "=== 20 passed, 1 error in 3.21s ===\n", 1, "1 error, 20 passed"),
        ("pytest -qq", "." * 72 + " [100%]\n", 0, "ok: 1 line, 80 B; what pytest counts was not recognised"),
        ("pytest", "\x1b[31m=== \x1b[1m5 failed\x1b[0m, \x1b[32m7 passed\x1b[0m in 1.0s ===\x1b[0m\n", 1, "5 failed"),
        ("pytest", "=== no tests ran in 0.01s ===\n", 5, "failed with exit 5"),
    ],
)
def test_h08_what_pytest_counts_is_read_or_said_to_be_unread(
    command: str, out: str, exit_code: int, sentence: str
) -> None:
    assert sentence in said(command, out, exit_code)
    assert " 0 passed" not in f" {said(command, out, exit_code)}"


def _noise(word: str) -> bytes:
    return b"".join(b"%s %d\n" % (word.encode(), number) for number in range(2000))


def test_h08_a_collection_that_fails_is_told_with_its_reason(agent: Any) -> None:
    out = (
        "=== test session starts ===\ncollected 0 items / 1 error\n\n=== ERRORS ===\n"
        "___ ERROR collecting test_a.py ___\nImportError while importing test module '/srv/test_a.py'.\n"
        "E   ModuleNotFoundError: No module named 'nothing_here'\n"
        "=== short test summary info ===\nERROR test_a.py\n!!! Interrupted: 1 error during collection !!!\n"
        "=== 1 error in 0.10s ===\n"
    )
    reply = agent.say(_noise("before") + out.encode() + _noise("after"), exit_code=2)
    assert "1 error" in reply.fields["summary"]
    assert "test_a.py" in reply.fields["summary"]
    assert "E   ModuleNotFoundError: No module named 'nothing_here'\n" in reply.text


def test_h08_a_line_that_a_test_prints_is_not_the_runs_own() -> None:
    text = "test_a.py said: 9 failed, 1 passed in 2.0s of work\n=== 3 passed in 1.0s ===\n"
    assert counted("pytest", text)["pytest"] == {"passed": 3}


@pytest.mark.parametrize(
    ("command", "out", "exit_code", "sentence"),
    [
        ("npx jest", "Tests:       2 failed, 1 skipped, 9 passed, 12 total\n", 1, "2 failed"),
        ("npx vitest run", "      Tests  2 failed | 9 passed (11)\n", 1, "2 failed"),
        ("go test ./...", "ok  \tshop/a\t0.01s\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tshop/b\t0.02s\n", 1, "1 "),
        ("python -m unittest", "Ran 12 tests in 0.1s\n\nFAILED (failures=2, errors=1)\n", 1, "2 failed, 1 error"),
        ("tsc", "src/a.ts(1,5): error TS2322: Type 'string' is not assignable.\n", 2, "1 error"),
        ("gcc a.c", "a.c:1:5: error: expected ';'\na.c:2:1: error: unknown type name 'x'\n", 1, "2 errors"),
        ("clang a.c", "a.c:1:5: error: expected ';'\n1 error generated.\n", 1, "1 error"),
        ("javac A.java", "A.java:1: error: ';' expected\nA.java:2: error: x\n2 errors\n", 1, "2 errors"),
        ("npx jest", "nothing that counts\n", 1, "what jest counts was not recognised"),
    ],
)
def test_h10_counts_of_other_tools_and_none_where_none_was_read(
    command: str, out: str, exit_code: int, sentence: str
) -> None:
    assert sentence in said(command, out, exit_code)


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("make | grep x", "make"),
        ("make | /usr/bin/grep x", "make"),
        ("make | grep a | grep b", "make"),
        ("make | cat | tail -3 | wc -l", "make | cat"),
        ("grep -rn x . | sort | head", "grep -rn x ."),
        ("make", None),
        ("make | cat", None),
        ("echo 'make | grep x'", None),
        ("make || grep x", None),
        ("make |& grep x", None),
    ],
)
def test_h13_filters_are_the_known_programs_at_the_end_of_a_pipe(command: str, left: str | None) -> None:
    split = find_split(command)
    assert (split and split.left) == left


def test_h13_the_offset_is_where_the_pipe_stands() -> None:
    command = "make 2>&1 | /usr/bin/grep x"
    split = find_split(command)
    assert split
    assert command[: split.write_at] == "make"
    assert command[: split.read_at] == "make 2>&1 | /usr/bin/grep"
