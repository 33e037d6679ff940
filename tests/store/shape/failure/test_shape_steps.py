"""Logs of CI services: the step that failed is looked at first, whatever other steps say of errors."""

import pytest

from benchmarks.failures.made.kit import Made
from benchmarks.failures.made.steps import cases
from sightline.base.profile import DEFAULT
from sightline.shape.failure.examination import Examination
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import join_segments
from sightline.verbs.structured_view import shape_output

TRAVIS = b"""travis_fold:start:install
$ ./install.sh
connection refused, attempt 3 failed
travis_fold:end:install
$ ./check.sh
basket.cfg: key "total" is not there
The command "./check.sh" exited with 2.
$ ./report.sh
error: nothing to report
The command "./report.sh" exited with 0.
Done. Your build exited with 1.
"""


def examined(data: bytes) -> tuple[Examination, BytesSource]:
    out = BytesSource(data, "@cmd_a1b2c3")
    return Examination(out, BytesSource(b"")), out


def view(data: bytes, budget: int) -> str:
    examination, out = examined(data)
    made = shape_output(DEFAULT, out, BytesSource(b""), budget=budget, failed=True, examination=examination)
    return join_segments(made.shaped.segments)


def test_a_step_ends_where_its_code_is_told_and_failed_where_that_is_not_0() -> None:
    examination, out = examined(TRAVIS)
    steps = examination.steps(out)
    assert [(step.first, step.last) for step in steps.bad] == [(5, 7)]
    assert steps.at(6) == steps.bad[0]
    assert (step := steps.at(9)) and not step.bad


def test_a_log_without_a_step_that_failed_has_none() -> None:
    examination, out = examined(TRAVIS.replace(b"exited with 2", b"exited with 0"))
    assert not examination.steps(out).all


def test_what_stands_in_the_step_that_failed_comes_before_what_others_say() -> None:
    lines = TRAVIS.replace(b"connection", b"some other connection of many\n" * 40 + b"connection")
    assert b"is not there" in view(lines, 420).encode()


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case.entry["id"]))
def test_what_an_unknown_tool_says_stands_in_a_view_of_8_kib(case: Made) -> None:
    body = view(case.data, 8192)
    for label in case.entry["labels"]:
        assert label["text"] in body
