"""Lines that look like failures in runs that ended well: of tests that passed, of attempts that were repeated."""

from collections.abc import Callable

import pytest

from sightline.audit.buffer_failures import failures_of
from sightline.base.records import Buffer
from sightline.store import Store

Keep = Callable[..., Buffer]

CAPTURED = """\
==================================== PASSES ====================================
___________________________________ test_one ___________________________________
----------------------------- Captured stdout call -----------------------------
ERROR: connection refused by a fixture
Traceback (most recent call last):
  File "a.py", line 3, in f
ValueError: bad value
=========================== short test summary info ============================
PASSED tests/test_a.py::test_one
"""
PASSED = CAPTURED + "============================== 2 passed in 0.01s ===============================\n"
TOO_LITTLE = "2 passed in 0.01s\nERROR: Coverage failure: total of 70 is less than fail-under=90\n"
JUNIT = """\
    [junit] Testsuite: com.shop.ErrorTest
    [junit] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 sec
    [junit] ERROR: cannot open file
    [junit] java.lang.IllegalStateException: expected
    [junit] Testcase: testErrorIsThrown took 0.01 sec

BUILD SUCCESSFUL
"""
ZIG = "1/2 main.test.handles error: connection refused...OK\n2/2 main.test.FAILED state...OK\nAll 2 tests passed.\n"
TAP = "TAP version 13\nok 1 - fails on purpose\nError: expected\n    at Test (a.js)\n1..1\n# pass 1\n# fail 0\n"
BUN = "(pass) logs error: boom [0.1ms]\nerror: boom\n      at f (a.ts:1:2)\n\n 2 pass\n 0 fail\nRan 2 tests.\n"
JEST = "PASS a.test.ts\n    console.error\n      Error: boom\n        at f (a.ts:3:9)\nTests:       3 passed, 3 total\n"
GO = "ERROR failing on purpose\npanic: recovered in a test\nok  \tshop/cart\t0.01s\nERROR late\n"


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("pytest -rP", PASSED),
        ("make test", PASSED),
        ("ant test", JUNIT),
        ("zig build test", ZIG),
        ("node --test", TAP),
        ("bun test", BUN),
        ("npm test", JEST),
        ("go test ./...", GO),
        ("git commit -m x", "[main a1b2c3d] ERROR: handle a FAILED state\n 1 file changed\n"),
        ("git cherry-pick a1b2c3d", "[main a1b2c3d] fix: Error: panic\n Date: Mon\n"),
        ("git rebase main", "Applying: error: handle panic in parser\n"),
        ("./upload", "ERROR part 7 failed: timeout, retry 1 of 3\n" * 9 + "120 parts uploaded\n"),
        ("./upload", "ERROR: part 7: connection reset\nretrying in 2 s\n" * 9 + "120 parts uploaded\n"),
    ],
)
def test_a_run_that_ended_well_has_no_failures(store: Store, keep: Keep, command: str, out: str) -> None:
    assert [one.text for one in failures_of(store, keep(out.encode(), command=command))] == []


def test_passing_tests_before_a_filter_have_no_failures(store: Store, keep: Keep) -> None:
    command = "cd x && python -m pytest -rP 2>&1 | tail -200"
    assert failures_of(store, keep(PASSED.encode(), command=command)) == ()


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("./deploy", "ERROR: deploy failed\n"),
        ("./upload", "ERROR: part 3 failed, retried 3 times, giving up\n"),
        ("./deploy && pytest -q", "ERROR: deploy failed\n2 passed in 0.01s\n"),
    ],
)
def test_what_failed_for_good_is_a_failure_though_the_line_ended_well(
    store: Store, keep: Keep, command: str, out: str
) -> None:
    assert len(failures_of(store, keep(out.encode(), command=command))) == 1


def test_attempts_of_a_run_that_failed_are_failures(store: Store, keep: Keep) -> None:
    out = b"ERROR part 7 failed: timeout, retry 1 of 3\n"
    failed = store.amend(keep(out, command="./upload").name, exit_code=1)
    assert len(failures_of(store, failed)) == 1


def test_a_warning_of_a_shell_is_no_failure(store: Store, keep: Keep) -> None:
    text = "bash: line 10: warning: here-document at line 1 delimited by end-of-file (wanted `PATCH')\n"
    locale = "bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)\n"
    kept = keep(f"{text}{locale}done\n".encode(), command="./apply x")
    assert not failures_of(store, kept)
    assert not failures_of(store, store.amend(kept.name, exit_code=1))  # whatever its real line is
