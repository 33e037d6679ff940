"""What looks like an error in the output of a tool that no rule knows."""

import re

from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.clean import clean_line
from sightline.shape.failure.classes import CLASSES, STEMS, class_of, kind_of
from tests.each import each


def name_of(line: str) -> str:
    place = class_of(clean_line(line.encode()))
    return CLASSES[place].name if place >= 0 else ""


@each(
    ("line", "name"),
    [
        ("ValueError: bad input", "exception"),
        ("E       assert 1 == 2", "exception"),
        ("E   requests.exceptions.ConnectionError: refused", "exception"),
        ('Exception in thread "main" java.lang.NullPointerException', "exception"),
        ("prog: main.c:5: main: Assertion `x > 0' failed.", "exception"),
        ("thread 'main' panicked at src/main.rs:2:5:", "exception"),
        ("TypeError [ERR_INVALID]: nope", "exception"),
        ("main.c:12:5: error: expected ';'", "located"),
        ("src/app.ts(12,5): error TS2304: Cannot find name", "located"),
        ("\x1b[1m\x1b[38;5;9merror[E0308]\x1b[0m: mismatched types", "located"),
        ("Makefile:3: fatal trouble", "located"),
        ("Traceback (most recent call last):", "failed"),
        ("FAILED tests/test_x.py::test_y", "failed"),
        ("--- FAIL: TestX (0.00s)", "failed"),
        ("panic: runtime error", "exception"),
        ("fatal: not a git repository", "failed"),
        ("npm ERROR something", "failed"),
        ("error: could not compile", "failed"),
        ("not ok 3 - works", "failed"),
        ("  ✗ renders", "failed"),
        ("bash: foo: command not found", "failed"),
        ("Segmentation fault (core dumped)", "failed"),
        ("Process exited with code 3", "exit"),
        ("exit status 1", "exit"),
        ("make: *** [Makefile:3: all] Error 2", "exit"),
        ("fail: no such hash", "failed"),
        ("collect2: undefined reference to `main'", "exception"),
        ("make[1]: *** [all] Error 2", "exit"),
        ("Killed", "exit"),
        ("TEST-UNEXPECTED-TIMEOUT | till/sums.html | no output for 370 s", "exception"),
        ("PROCESS-CRASH | till/sums.js | stack of the parent", "exception"),
        ("UNEXPECTED-PASS: till/sums.wast", "exception"),
        ("INFO - JavaScript error: till.js, line 9: TypeError: coins is null", "failed"),
        ("DEBUG: raise ValueError: 7", "failed"),
        ("INFO - TEST-UNEXPECTED-FAIL | till/sums.html | 15 is not 16", "exception"),
        ("the till crashed", "word"),
        ("Problem: nothing provides requested (till >= 2.0)", "word"),
        (f"Calling run with args [{'--coin 5 ' * 60}'ValueError: never', {'--coin 5 ' * 60}]", "word"),
        (f"{'--coin 5 ' * 90}ValueError: no coins", "exception"),
        ("failed on line 77", "located"),
        ("2 failed, 3 passed", "word"),
        ("Something went wrong in executing: git archive", "word"),
        ("the archive is corrupted", "word"),
        ("[CRITICAL] src/till.cpp:3:9: 'auto' return without a type", "failed"),
        ("12:00:01 SEVERE: the till is stuck", "failed"),
        ("Files a/till.vtk and b/till.vtk differ", "word"),
        ("> Text difference in till.vtk", "word"),
        ("--   Requested 'PETSc >= 3.12' but version of PETSc is 3.6.2", "word"),
        ("Linear iter.: 12. Min. volume: 0.00037. Error: 4.09934e-11.", ""),
        ("L2 error on domain = 0.0123", ""),
        ("continuity errors : sum local = 1.25e-09, global = -1.15e-10", ""),
        ("Number of undefined boundary faces : 0", ""),
        ("Number of undefined boundary faces : 3", "word"),
        ("trapFpe: Floating point exception trapping enabled", ""),
        ("During handling of the above exception, another exception occurred:", ""),
        ("load=if test -e a; then run b; else echo SCRIPT FAILED: continuing...; fi", ""),
        ("toomanyrequests: You have reached your pull rate limit", "word"),
        ("sh: too many open files", "word"),
        ("rate limit: 5000, remaining: 4999", ""),
        ("[   15.607329] BUG: kernel NULL pointer dereference, address: 00000000", "exception"),
        ("[    2.1] Kernel panic - not syncing: no init", "exception"),
        ("Error: 3.5 is no version", "failed"),
        ("CRITICAL |          20", ""),
        ("there were errors in the build", "word"),
        ("all is well", ""),
        ("0 failed, 12 passed", ""),
        ("no errors found", ""),
        ("failures: 0, errors=0", ""),
        ("compiling error_handler.c", ""),
        ("test_failure_mode PASSED", ""),
        ("exit code 0", ""),
        ("  ✓ renders", ""),
        ("isHandledError", ""),
        ("    at Object.fail (src/x.js:3:5)", ""),
        ('  File "x.py", line 3, in raise_error', ""),
        ("test error_is_raised ... ok", ""),
        ("6: check.c:12: assertion failed: x == y", "exception"),
        ("12: Error: cannot open the table", "failed"),
        ('#12 ERROR: process "/bin/sh -c make" did not end well', "failed"),
        ("#0 /srv/app/error.php(12): Error->raise() error", ""),
        ("#1  0x00005555 in raise_error () at fatal error", ""),
        ("#2      fail (file:///srv/error.dart:3:5)", ""),
        ("   3: core::result::unwrap_failed error", ""),
        ("   7: 0x55d0c1 - std::panicking::panic error", ""),
        ("   9: <T as error::Report>::fail error", ""),
        ("", ""),
    ],
)
def test_a_line_belongs_to_its_most_specific_class(line: str, name: str) -> None:
    assert name_of(line) == name
    if name:
        assert any(stem in line.lower().encode() for stem in STEMS), "would not even be looked at"


@each(
    ("line",),
    [
        ("error handling … OK, proved property",),
        ("+++ OK, passed 100 tests: prop_failed_parse",),
        ("Login fails with wrong password :: Error case         | PASS |",),
        ("[PASS] handles missing file error",),
        ("t/errors.t .. ok    12 ms",),
        ("error parsing: passed",),
        ("check for undefined symbols... passed",),
        ("checking for fatal errors: none",),
        ("Failed tests: 0",),
        ("Failures 0",),
        ("Error rate: 0.00%",),
        ("ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)",),
        ("All 40 assertions passed, none failed",),
        ("SUCCESS: error handler installed",),
        ("Compiling error-chain v0.12.4",),
        ("Installing exceptions 0.10",),
        ("  Dependency exceptions ==0.10",),
        ("  CC      lib/error.o",),
        ("GET https://registry.example.org/http-errors 200 12ms",),
        ("  -e, --errexit     exit immediately on error",),
        ("2026-01-01 12:00:00 (5.00 MB/s) - 'error-pages.html' saved [1234]",),
        ("TEST-KNOWN-FAIL | till/sums.html",),
        ("INFO - TEST-KNOWN-INTERMITTENT-FAIL | till/sums.html | TypeError: no coins",),
        ("TEST-PASS | till/sums.html | throws ValueError: no coins",),
        ("till/sums.html: expected failure",),
    ],
)
def test_what_passed_and_names_that_hold_a_word_of_failure_are_no_errors(line: str) -> None:
    assert name_of(line) == ""


@each(
    ("line",),
    [
        ("not ok 5 - the error is ok",),
        ("Login | FAIL |",),
        ("1 error, 0 failures",),
        ("error: expected PASSED but got FAILED",),
        ("Error: 3 tests passed, but coverage failed",),
        ("parse-error: unexpected end",),
        ("errors/warnings: 3/5",),
    ],
)
def test_what_failed_stays_an_error_beside_words_of_passing(line: str) -> None:
    assert name_of(line)


def test_lines_that_say_the_same_of_different_things_are_of_one_kind() -> None:
    assert kind_of("src/a.py:3:1: E501 line too long (83 > 79)") == kind_of(
        "lib/b.py:14:80: E501 line too long (91 > 79)"
    )
    assert kind_of("KeyError: 'one'") == kind_of("KeyError: 'other'")
    assert kind_of("undefined name 'x'") != kind_of("unused import 'x'")


SAID = re.compile(r"[A-Za-z]{3,}[ :(]?|[^\w\s]")
WORDS = sorted(
    {word for one in CLASSES for way in one.ways for word in SAID.findall(way.pattern.text)} | {" ", "\t", "7"}
)


@given(st.lists(st.sampled_from(WORDS), max_size=9).map("".join), st.sampled_from(["", "E", "E ", "a.c:3: "]))
def test_no_way_is_closed_by_its_literals(text: str, start: str) -> None:
    for one in CLASSES:
        for line in (start + text, start + text.upper(), start + text.replace(":", ": ")):
            judged = line.lower() if one.any_case else line
            assert one.has(line) == any(way.pattern.search(judged) is not None for way in one.ways)
