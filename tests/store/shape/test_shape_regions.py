"""What looks like an error in the output of a tool that no rule knows."""

import pytest
from sightline.store.shape import regions
from sightline.store.shape.memory import BytesSource
from sightline.store.shape.regions import GENERAL, Hit, find_errors, judge, most_specific_first, with_context


def class_of(line: str) -> str:
    rank = judge(line.encode())
    return GENERAL.ordered[rank].name if rank >= 0 else ""


@pytest.mark.parametrize(
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
        ("panic: runtime error", "failed"),
        ("fatal: not a git repository", "failed"),
        ("npm ERROR something", "failed"),
        ("error: could not compile", "failed"),
        ("not ok 3 - works", "failed"),
        ("  ✗ renders", "failed"),
        ("bash: foo: command not found", "failed"),
        ("Segmentation fault (core dumped)", "failed"),
        ("Process exited with code 3", "exit"),
        ("exit status 1", "exit"),
        ("make: *** [Makefile:3: all] Error 2", "located"),
        ("make[1]: *** [all] Error 2", "exit"),
        ("Killed", "exit"),
        ("2 failed, 3 passed", "word"),
        ("there were errors in the build", "word"),
        ("all is well", ""),
        ("0 failed, 12 passed", ""),
        ("no errors found", ""),
        ("failures: 0, errors=0", ""),
        ("compiling error_handler.c", ""),
        ("test_failure_mode PASSED", ""),
        ("exit code 0", ""),
        ("  ✓ renders", ""),
        ("", ""),
    ],
)
def test_a_line_belongs_to_its_most_specific_class(line: str, name: str) -> None:
    assert class_of(line) == name


def test_neighbours_of_one_class_are_one_hit_and_all_are_counted() -> None:
    data = b"ok\nerror: a\nerror: b\nfine\nValueError: x\nexit status 1\n"
    hits = find_errors(BytesSource(data))
    assert hits.total == 4
    assert hits.kept == (Hit(2, 3, 2), Hit(5, 5, 0), Hit(6, 6, 3))


def test_lines_are_numbered_across_blocks() -> None:
    filler = b"nothing to see here\n" * 30_000
    hits = find_errors(BytesSource(b"error: first\n" + filler + b"error: last"))
    assert hits.total == 2
    assert [hit.first for hit in hits.kept] == [1, 30_002]


def test_repeats_come_after_what_was_not_yet_said() -> None:
    data = b"warning: it failed\nx\nwarning: it failed\nx\nexit status 1\n"
    assert [hit.first for hit in most_specific_first(find_errors(BytesSource(data)).kept)] == [5, 1, 3]


def test_only_the_beginning_of_a_line_is_judged() -> None:
    late = b"x" * 5000 + b" error: here"
    assert find_errors(BytesSource(late + b"\nerror: there\n")).kept == (Hit(2, 2, 2),)
    assert judge(late) == -1


def test_detail_is_bounded_and_the_count_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "KEPT_HITS", 3)
    hits = find_errors(BytesSource(b"".join(b"error: %d\nok\n" % number for number in range(50))))
    assert hits.total == 50
    assert [hit.first for hit in hits.kept] == [1, 3, 5, 95, 97, 99]


def test_context_stays_within_the_stream() -> None:
    assert with_context(Hit(2, 3, 0), 100) == (1, 8)
    assert with_context(Hit(98, 99, 0), 100) == (93, 100)
