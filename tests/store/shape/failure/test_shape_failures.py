"""Finding the failure lines of a stream."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.failure import failure_scan as failures
from sightline.shape.failure.examination import Examination, prefix_of
from sightline.shape.failure.failure_scan import find_failures
from sightline.shape.failure.judge import (
    CAUSE,
    EXCEPTION,
    EXIT,
    FAILED,
    JUDGED_BYTES,
    JUDGED_END_BYTES,
    NAME,
    NAMED_LINES,
    Judge,
)
from sightline.shape.failure.judgement import judgement_for
from sightline.shape.failure.tool_rules import BlockRule, FailureSort, LatePattern, Rule
from sightline.shape.memory_stream import BytesSource
from tests.each import each

GENERAL = Judge()


def found(data: bytes, judge: Judge = GENERAL) -> list[tuple[int, int]]:
    return [(hit.line, hit.verdict.rank) for hit in find_failures(BytesSource(data), judge).hits]


def rule(**more: object) -> Rule:
    return Rule("tool", **({"failures": (), "blocks": (), "counts": (), "quiet": None} | more))  # type: ignore[arg-type]


def test_every_failure_line_is_found_and_counted() -> None:
    data = b"ok\nerror: a\nerror: b\nfine\nValueError: x\nexit status 1\n"
    assert find_failures(BytesSource(data), GENERAL).total == 4
    assert find_failures(BytesSource(data), GENERAL).spans == ((2, 3), (5, 6))
    assert found(data) == [(2, FAILED), (3, FAILED), (5, EXCEPTION), (6, EXIT)]


def test_lines_are_numbered_across_blocks() -> None:
    filler = b"nothing to see here\n" * 30_000
    assert [line for line, _ in found(b"error: first\n" + filler + b"error: last")] == [1, 30_002]


def test_what_says_the_same_again_is_told_as_a_repetition() -> None:
    hits = find_failures(BytesSource(b"error: took 3 s\nerror: other\nerror: took 14 s\n"), GENERAL).hits
    assert [hit.nth for hit in hits] == [0, 0, 1]


def test_of_a_long_line_both_ends_are_judged() -> None:
    late = b"x" * 70_000 + b" FATAL: database is gone"
    assert found(late + b"\nerror: there\n") == [(1, FAILED), (2, FAILED)]
    assert GENERAL.verdict(b"error: first " + b"x" * 70_000) is not None
    assert GENERAL.verdict(b"x" * 35_000 + b" FATAL: within " + b"x" * 35_000) is None


def test_no_word_goes_on_over_what_is_left_out_of_a_long_line() -> None:
    halves = b"x" * (JUDGED_BYTES - 4) + b" FAT" + b"-" * 9_000 + b"AL: " + b"x" * (JUDGED_END_BYTES - 4)
    assert GENERAL.verdict(halves) is None


@given(before=st.integers(0, 12_000), after=st.integers(0, 12_000))
def test_the_bytes_that_tell_of_a_failure_lie_where_it_stands(before: int, after: int) -> None:
    line = b"." * before + b" FATAL: gone" + b"." * after
    span = GENERAL.telling_bytes(line)
    assert (span is None) == (GENERAL.verdict(line) is None)
    if span is not None:
        assert before < span[0] <= span[1] <= before + len(" FATAL: gone")
        assert "FATAL: gone" in GENERAL.telling_text(line)


def test_detail_is_bounded_and_the_count_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_OF_KIND", 3)
    monkeypatch.setattr(failures, "KEPT_SPANS", 5)
    told = find_failures(BytesSource(b"".join(b"error: %d\nok\n" % number for number in range(1, 51))), GENERAL)
    assert told.total == 50
    assert [hit.line for hit in told.hits] == [1, 3, 5, *range(85, 100, 2)]
    assert told.spans == ((1, 1), (3, 3), (5, 5), (7, 7), (9, 9))


def test_kinds_are_bounded_and_the_count_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "KINDS", 2)
    told = find_failures(BytesSource(b"error: a\nok\nerror: b\nok\nerror: c\nok\nerror: d\n"), GENERAL)
    assert told.total == 4
    assert [(hit.line, hit.nth) for hit in told.hits] == [(1, 0), (3, 0), (5, 0), (7, 1)]


def test_a_judgement_holds_for_the_same_words_with_other_numbers_but_zero() -> None:
    assert GENERAL.verdict(b"12 errors") is not None
    assert GENERAL.verdict(b"34 errors") is not None
    assert GENERAL.verdict(b"0 errors") is None


def test_what_a_rule_knows_counts_more_and_needs_no_word_of_error() -> None:
    known = rule(failures=(FailureSort(("E501",), LatePattern(r"^\S+: (?P<kind>E\d+) "), "cause", None),))
    assert found(b"a.py:1:1: E501 too long\nerror: x\n", Judge([known])) == [(1, CAUSE), (2, FAILED)]


def test_what_a_rule_calls_quiet_is_no_failure() -> None:
    known = rule(quiet=LatePattern("^test_error"))
    assert found(b"test_error: failed as it should\nerror: x\n", Judge([known])) == [(2, FAILED)]


def test_names_and_places_come_from_the_groups_of_a_rule() -> None:
    listed = FailureSort(("FAILED",), LatePattern(r"^FAILED (?P<name>\S+) (?P<file>\S+):(?P<line>\d+)"), "name", None)
    (hit,) = find_failures(BytesSource(b"FAILED test_a src/a.py:12\n"), Judge([rule(failures=(listed,))])).hits
    assert (hit.verdict.rank, hit.verdict.name, hit.verdict.place) == (NAME, "test_a", "src/a.py:12")


def test_a_log_prefix_is_no_part_of_what_is_judged() -> None:
    start = BlockRule(("---",), LatePattern("^--- FAIL"), None, None, None, 9, "cause", None, None)
    stamped = Judge([rule(blocks=(start,))], re.compile(r"\d\d:\d\d "))
    assert found(b"12:30 --- FAIL: TestX\n12:31 ok\n", stamped) == [(1, CAUSE)]


@each(
    "form",
    [
        "[task 2026-11-28T09:00:00.123Z] 09:00:00 {}",
        "09:00:00 [till] {}",
        "DEBUG util.py:459:  {}",
        "[till] 09:00:00 {}",
    ],
)
def test_prefix_of_a_log_has_its_parts_in_any_order(form: str) -> None:
    lines = [form.format(text) for text in ["weighs crates", "INFO - weighed", "reads", "writes", "ends"] * 4]
    prefix = prefix_of(lines)
    assert prefix
    assert form.format("FAILED")[prefix.match(form.format("FAILED")).end() :] == "FAILED"  # type: ignore[union-attr]


def test_of_a_flood_the_first_lines_are_asked_what_they_name() -> None:
    sort = FailureSort(("BAD",), LatePattern(r"^BAD (?P<name>\w+)"), "cause", None)
    judge = Judge([rule(failures=(sort,))])
    numbers = [f"{number:08b}".replace("0", "2").replace("1", "3") for number in range(NAMED_LINES + 50)]
    verdicts = [judge.verdict(f"BAD t{number}".encode()) for number in numbers]
    assert all(verdict and verdict.rank == CAUSE for verdict in verdicts)
    assert [verdict.name for verdict in verdicts[:2] if verdict] == ["t22222222", "t22222223"]
    assert verdicts[-1] and verdicts[-1].name == ""


@pytest.mark.parametrize(
    "line",
    [
        'rsync: [sender] send_files failed to open "prices": Permission denied (13)',
        "cp: cannot stat 'prices': No such file or directory",
        "/usr/bin/tar: shop/prices: Cannot open: Permission denied",
        "curl: (6) Could not resolve host: shop.example",
    ],
)
def test_what_the_system_refused_a_program_stands_in_the_view_of_a_success_and_is_no_failure(line: str) -> None:
    out, err = BytesSource(f"copied 1\n{line}\ncopied 2\n".encode()), BytesSource(b"")
    looked_into = Examination(out, err, "./backup").of_success(0)
    assert looked_into
    assert list(looked_into.failures(out).spans) == [(2, 2)]
    judged = Examination(out, err, "./backup", judgement_for("./backup", failed=False, exit_code=0))
    assert judged.failures(out).total == 0
    assert Examination(out, err, "cat notes").of_success(0) is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_failure_lines_are_found_in_utf_16(encoding: str) -> None:
    lines = [f"weighed crate {at}\n" for at in range(300)]
    lines[200] = "ERROR: the belt is stuck\n"
    out = BytesSource("".join(lines).encode(encoding))
    examination = Examination(out, BytesSource(b""), "./belt")
    assert examination.failures(out).spans == ((201, 201),)
    assert examination.reason and "ERROR: the belt is stuck" in examination.reason.text
