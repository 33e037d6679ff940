"""The sentence about an output, and the units it speaks in."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sightline.shape.failure.examination import Examination
from sightline.shape.memory_stream import BytesSource
from sightline.shape.summary import human_bytes, human_seconds, summary
from sightline.shell_words.answers import Wrote, answer_of
from tests.each import each

NONE = BytesSource(b"")


def test_a_failure_is_told_with_its_code_time_and_size() -> None:
    out, err = BytesSource(b"x" * 31 + b"\n" + b"y\n" * 100), BytesSource(b"e\n" * 12)
    assert summary(out, err, exit_code=1, seconds=3.21) == (
        "failed with exit 1 after 3.2 s: 113 lines, 256 B (stderr 12 lines)"
    )


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"exit_code": 0, "seconds": 0.4}, "ok in 0.4 s: 1 line, 2 B"),
        ({"exit_code": 0}, "ok: 1 line, 2 B"),
        ({"exit_code": None, "seconds": 600.0, "timed_out": True}, "timed out after 10 min 0 s: 1 line, 2 B"),
        ({"exit_code": None, "seconds": 5.0, "running": True}, "still running after 5.0 s: 1 line, 2 B"),
        ({"exit_code": -9, "seconds": 5.0, "signal": 9}, "ended by signal 9 after 5.0 s: 1 line, 2 B"),
        ({"exit_code": None}, "ended, exit code unknown: 1 line, 2 B"),
    ],
)
def test_every_ending_has_its_words(facts: dict[str, int], sentence: str) -> None:
    assert summary(BytesSource(b"x\n"), NONE, **facts) == sentence  # type: ignore[arg-type]


def test_silence_is_told_as_such() -> None:
    assert summary(NONE, NONE, exit_code=0, seconds=0.001) == "ok in 1 ms: no output"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (65536, "64.0 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (5 * 1024**3, "5.0 GiB"),
        (3 * 1024**6, "3072.0 PiB"),
    ],
)
def test_sizes_are_read_by_people(count: int, text: str) -> None:
    assert human_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.012, "12 ms"),
        (0.05, "0.1 s"),
        (3.21, "3.2 s"),
        (59.96, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3599.6, "1 h 0 min"),
        (10_800, "3 h 0 min"),
        (172_769, "47 h 59 min"),
        (172_770, "2 d 0 h"),
        (5_326_080, "61 d 15 h"),
    ],
)
def test_durations_are_read_by_people(seconds: float, text: str) -> None:
    assert human_seconds(seconds) == text


def test_what_a_tool_names_is_told_where_it_came_to_no_count() -> None:
    out = BytesSource(b"FAILED tests/test_a.py::test_sum - assert 1 == 2\n" + b"tests/test_b.py ...\n" * 3)
    examination = Examination(out, NONE, "pytest")
    told = summary(out, NONE, exit_code=None, seconds=9, timed_out=True, examination=examination)
    unread = "timed out after 9.0 s: 4 lines, 109 B; what pytest counts was not recognised"
    assert told == f"{unread} — FAILED tests/test_a.py::test_sum - assert 1 == 2"


def test_nothing_is_named_as_failed_in_what_went_well() -> None:
    out = BytesSource(b"FAILED tests/test_a.py::test_sum - assert 1 == 2\n")
    told = summary(out, NONE, exit_code=0, seconds=9, examination=Examination(out, NONE, "pytest"))
    assert told == "ok in 9.0 s: 1 line, 49 B; what pytest counts was not recognised"


def _told(text: str, command: str = "make check") -> str:
    out = BytesSource(text.encode())
    return summary(out, NONE, exit_code=None, told_elsewhere=True, examination=Examination(out, NONE, command))


def _counts(text: str, command: str = "make check") -> str:
    return _told(text, command).partition(" (ended")[0]


def test_a_number_that_no_line_states_is_told_as_counted() -> None:
    passed = "".join(f"--- PASS: TestCase{number} (0.00s)\n" for number in range(173))
    assert _counts(f"{passed}PASS\n", "go test -v ./...") == "173 passed (counted)"
    assert _counts("=== 173 passed in 2.00s ===\n", "pytest") == "173 passed"


def test_a_sum_of_several_totals_is_told_as_counted_and_one_told_again_is_no_other() -> None:
    first, second = "=== 5 passed in 2.00s ===\n", "=== 7 passed, 1 skipped in 3.10s ===\n"
    assert _counts(first + second, "pytest a; pytest b") == "12 passed (counted), 1 skipped"
    assert _counts(first + "Summary of the log:\n" + first, "pytest | tee log; cat log") == "5 passed"


# What each tool writes of the tests of a module: by its name, and how many passed while it ran, the last of them all.


def _jest(name: str, grown: list[int]) -> str:
    """As on a terminal, where the totals are drawn anew while the tests run."""
    shown = [f"RUNS  {name}\nTests:       {passed} passed, {passed} total\n" for passed in grown]
    return "".join(shown) + "Snapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n"


def _vitest(name: str, grown: list[int]) -> str:
    shown = [f" Test Files  1 passed (1)\n      Tests  {passed} passed ({grown[-1]})\n" for passed in grown]
    return f" RUN  v3.0.5 /srv/{name}\n" + "".join(shown) + "   Start at  10:11:12\n   Duration  300ms\n"


def _karma(name: str, grown: list[int]) -> str:
    return "".join(
        f"{name} 1.0 (Linux): Executed {passed} of {grown[-1]} (0.03 secs / 0.01 secs)\n" for passed in grown
    )


def _swift(name: str, grown: list[int]) -> str:
    suites = [f"Test Suite '{name}{place}' passed.\n\t Executed {one} tests" for place, one in enumerate(grown)]
    ends = ", with 0 failures (0 unexpected) in 0.003 (0.004) seconds\n"
    return "Test Suite 'All tests' started at 10:11\n" + "".join(suite + ends for suite in suites)


def _autotools(name: str, grown: list[int]) -> str:
    """As with VERBOSE=1, which shows the log of the tests before the summary says the same."""
    total = f"# TOTAL: {grown[-1]}\n# PASS:  {grown[-1]}\n# FAIL:  0\n"
    log = f"   till 1.0: {name}/test-suite.log\n{total}\n.. contents:: :depth: 2\n"
    return f"Making check in {name}\n{log}Testsuite summary for till 1.0\n{total}"


def _rspec(name: str, grown: list[int]) -> str:
    return f"{name}\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n{grown[-1]} examples, 0 failures\n"


def _ctest(name: str, grown: list[int]) -> str:
    return f"Test project /srv/{name}\n100% tests passed, 0 tests failed out of {grown[-1]}\n"


def _cargo(name: str, grown: list[int]) -> str:
    lines = "".join(f"test {name}::case_{number} ... ok\n" for number in range(grown[-1]))
    return f"running {grown[-1]} tests\n{lines}\n{_result(grown[-1])}\n\n"


def _result(passed: int) -> str:
    return f"test result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"


def _maven(name: str, grown: list[int]) -> str:
    total = f"Tests run: {grown[-1]}, Failures: 0, Errors: 0, Skipped: 0"
    of_class = f"[INFO] {total}, Time elapsed: 0.018 s -- in org.{name}.AllTest\n"
    return f"[INFO] Building {name} 1.0\n{of_class}[INFO] Results:\n[INFO] \n[INFO] {total}\n"


def _catch2(name: str, grown: list[int]) -> str:
    name = f"{'~' * 79}\n{name} is a Catch v2.13.9 host application."
    if len(grown) % 2:
        return f"{name}\nAll tests passed (30 assertions in {grown[-1]} test cases)\n"
    return f"{name}\ntest cases: {grown[-1] + 1} | {grown[-1]} passed | 1 failed\n"


WRITERS = {
    "jest": (_jest, "passed"),
    "vitest": (_vitest, "passed"),
    "karma": (_karma, "executed"),
    "swift test": (_swift, "tests"),
    "automake": (_autotools, "passed"),
    "rspec": (_rspec, "examples"),
    "ctest": (_ctest, "tests"),
    "cargo test": (_cargo, "passed"),
    "mvn": (_maven, "tests"),
    "./catch2": (_catch2, "passed"),
}


@pytest.mark.parametrize("tool", WRITERS)
@given(
    st.lists(
        st.lists(st.integers(2, 40), min_size=1, max_size=4, unique=True).map(sorted),
        min_size=1,
        max_size=4,
    )
)
def test_of_a_running_total_the_last_counts_and_modules_add_up(tool: str, modules: list[list[int]]) -> None:
    write, noun = WRITERS[tool]
    text = "".join(write(f"m{chr(97 + place)}", grown) for place, grown in enumerate(modules))
    totals = [grown[-1] for grown in modules]
    if tool == "rspec":  # whose last line may have what the others come to
        assume(len(totals) < 3 or sum(totals[:-1]) != totals[-1])
    several = " (counted)" if len(modules) > 1 else ""
    told = _counts(text, tool)
    assert f"{sum(totals)} {noun}{several}" in [part.strip() for part in told.split(",")]


@pytest.mark.parametrize("tool", ["rspec", "ctest", "cargo test", "mvn", "./catch2"])
def test_a_log_that_is_told_again_counts_once(tool: str) -> None:
    text = "".join(WRITERS[tool][0](name, [4, 7]) for name in ("ma", "mb"))
    assert _counts(f"{text}The whole log again:\n{text}", tool) == _counts(text, tool)


def test_what_cannot_be_added_up_is_no_number() -> None:
    first, then = "Tests:       5 passed, 5 total\n", "Tests:       9 passed, 9 total\n"
    unclear = "what jest counts in several places was not added up"
    assert _told(first + then, "jest a | grep Tests:; jest b | grep Tests:").endswith(unclear)
    assert _counts(first + then + "Ran all test suites.\n", "jest") == "9 passed"
    parallel = "".join(f"{count} examples, 0 failures\n" for count in (12, 8, 20))
    assert _told(parallel, "rspec").endswith("what rspec counts in several places was not added up")
    binaries = "".join(f"running {count} tests\n\n{_result(count)}\n\n" for count in (0, 4, 0, 0))
    assert _counts(binaries, "cargo test -q") == "4 passed"
    again = f"running 4 tests\n....\n{_result(4)}\n\n" * 2
    assert _told(again, "cargo test -q").endswith("what cargo-test counts in several places was not added up")


def test_a_total_of_suites_within_suites_counts_where_their_head_is_cut_off() -> None:
    _, tail = _swift("Till", [2, 3, 1]).split("\n", 1)
    of_all = "Test Suite 'All tests' passed at 10:11.\n"
    of_all += "\t Executed 6 tests, with 0 failures (0 unexpected) in 0.1 (0.1) seconds\n"
    assert _counts(tail + of_all, "swift test | tail") == "6 tests"
    assert _told(of_all + tail, "swift test | tail").endswith("what swift counts in several places was not added up")


def test_what_ran_again_after_failing_is_counted_once() -> None:
    first = "DONE 12 tests, 1 failure in 1.250s\n"
    assert _counts(f"{first}DONE 2 runs, 13 tests, 1 failure in 1.500s\n", "gotestsum") == "1 failed, 13 tests"
    assert _counts(f"{first}DONE 5 tests in 1.000s\n", "gotestsum a; gotestsum b") == "1 failed, 17 tests (counted)"


def test_long_names_are_cut_from_the_left_and_a_common_beginning_is_written_once() -> None:
    folder = "tests/" + "a_long_folder/" * 8
    failed = [f"FAILED {folder}test_x.py::test_{name} - assert 1 == 2\n" for name in ("parse", "render")]
    out = BytesSource("".join([*failed, "==== 2 failed, 3 passed in 0.1s ====\n"]).encode())
    examination = Examination(out, NONE, "pytest")
    told = summary(out, NONE, exit_code=1, examination=examination)
    assert "a_long_folder/test_x.py::{test_parse, test_render}" in told
    assert told.count("test_x.py") == 1
    alone = BytesSource(f"{failed[0]}==== 1 failed in 0.1s ====\n".encode())
    named = summary(alone, NONE, exit_code=1, examination=Examination(alone, NONE, "pytest"))
    assert re.search(r"FAILED: …\S+/test_x\.py::test_parse \(", named)


def test_a_heading_is_quoted_with_what_stands_below_it() -> None:
    stack = (
        'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in load\n    weigh()\ntill.Stuck: drawer 7\n'
    )
    out, err = BytesSource(("weighed a crate\n" * 90 + stack).encode()), BytesSource(b"")
    said = summary(out, err, exit_code=1, examination=Examination(out, err, "./weigh"))
    assert said.endswith(" — Traceback (most recent call last): till.Stuck: drawer 7")


@pytest.mark.parametrize(
    ("out", "err", "told"),
    [
        ("reading\nrow 17: expected 4 fields but got 3\n", "", "row 17: expected 4 fields but got 3"),
        (
            "x\n" * 900 + "a.c:3:5: error: 'x' undeclared\nmake: *** [a.o] Error 1\n",
            "",
            "a.c:3:5: error: 'x' undeclared",
        ),
        ("ok\n", "Error:\n  the port is taken\n", "Error: the port is taken"),
        ("ok\n", "the licence has run out\n", "last line: the licence has run out"),
        ("a\nb\n\n", "", "last line: b"),
    ],
)
def test_a_failure_without_counts_quotes_the_line_that_explains_most(out: str, err: str, told: str) -> None:
    streams = BytesSource(out.encode()), BytesSource(err.encode())
    said = summary(*streams, exit_code=1, seconds=0.3, examination=Examination(*streams, "./tool"))
    assert said.startswith("failed with exit 1 after 0.3 s: ")
    assert said.endswith(f" — {told}")
    short = summary(*streams, exit_code=1, examination=Examination(*streams, "./tool"), at_most=60)
    assert len(short.encode()) <= 60


@each(
    ("command", "text", "told"),
    [
        (
            "valgrind ./t",
            "==7== Invalid read of size 4\n==7== ERROR SUMMARY: 121 errors from 2 contexts\n",
            "121 errors",
        ),
        (
            "R CMD check till",
            "* checking examples ... ERROR\nError in total(5) : no coins\nStatus: 1 ERROR\n",
            "1 error",
        ),
        ("mocha", "TypeError: till.total is no function\n  2 passing (4ms)\n  1 failing\n", "1 failed, 2 passed"),
        ("gcc -c a.c", "a.c:3:9: error: 'x' undeclared\n", "1 error (counted)"),
        (
            "javac A.java",
            "A.java:3: error: bad operand\nA.java:9: error: no such field\n2 errors\n",
            "2 errors — at: A.java:3, A.java:9",
        ),
    ],
)
def test_counts_without_names_are_told_with_the_line_that_explains_most(command: str, text: str, told: str) -> None:
    out = BytesSource(text.encode())
    said = summary(out, NONE, exit_code=1, examination=Examination(out, NONE, command))
    lines = len(text.splitlines())
    assert (
        said == f"{told} (failed with exit 1; {lines} line{'s' * (lines > 1)}, {len(text)} B) — {text.splitlines()[0]}"
    )


@each(
    ("lines", "quoted"),
    [
        (["till: no coins of 5 left, so nothing failed to be paid", "Conversion failed!"], "till: no coins of 5 left"),
        (
            ['nginx: [emerg] host not found in "till"', "nginx: configuration file /srv/till.conf test failed"],
            "nginx: [emerg]",
        ),
        (["Error: cannot open till", "** ARCHIVE FAILED **"], "Error: cannot open till"),
        (["   84 | ), 'this till is not supported'", "Lint failed!"], "Lint failed!"),
    ],
)
def test_line_that_says_more_than_that_it_failed_is_quoted(lines: list[str], quoted: str) -> None:
    out = BytesSource("\n".join([*(f"reads {at}" for at in range(60)), *lines, ""]).encode())
    said = summary(out, NONE, exit_code=1, examination=Examination(out, NONE, "./run"))
    assert said.partition(" — ")[2].startswith(quoted)


def test_no_count_is_missed_of_a_tool_that_the_command_does_not_run() -> None:
    text = "a.yml\n  1:5  error  too many spaces  (colons)\n✖ some problems\n"
    assert "eslint" not in _told(text, "yamllint .")
    assert "what eslint counts was not recognised" in _told(text, "npx eslint .")


@pytest.mark.parametrize(
    ("command", "exit_code", "ending"),
    [
        ("diff -ru old new", 1, "different (exit 1): 1 line, 2 B"),
        ("cd src && git -C . diff --exit-code", 1, "different (exit 1): 1 line, 2 B"),
        ("./slow", 137, "failed with exit 137 (killed): 1 line, 2 B — last line: x"),
        ("diff -ru old new", 2, "failed with exit 2: 1 line, 2 B — last line: x"),
        ("diff old new | sort", 1, "failed with exit 1: 1 line, 2 B — last line: x"),
        ("diff old new && make", 1, "failed with exit 1: 1 line, 2 B — last line: x"),
    ],
)
def test_an_exit_code_that_is_an_answer_is_not_told_as_a_failure(command: str, exit_code: int, ending: str) -> None:
    out = BytesSource(b"x\n")
    answer = answer_of(command, Wrote(out=True)) if exit_code == 1 else ""
    known = Examination(out, NONE, command)
    assert summary(out, NONE, exit_code=exit_code, answer=answer, examination=known) == ending
