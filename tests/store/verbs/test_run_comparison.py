"""A run compared with the one before: failures by name where a rule knows them, else the lines that differ."""

from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import UsageError
from sightline.store import Target
from sightline.verbs.run_comparison import changed_lines


def _tests(*failed: str) -> str:
    rows = "".join(f"FAILED tests/test_x.py::{name} - AssertionError: no\n" for name in failed)
    many = "".join(f"tests/test_x.py::test_{number} PASSED\n" for number in range(400))
    return (
        f"===== test session starts =====\n{many}===== short test summary info =====\n{rows}"
        f"===== {len(failed)} failed, 400 passed in 1.2s =====\n"
    )


@pytest.fixture
def suite(tmp_path: Path) -> Any:
    """Writes what the next run of a command tells."""

    def write(text: str, code: int) -> None:
        (tmp_path / "told").write_text(text)
        (tmp_path / "run.sh").write_text(f"cat told\nexit {code}\n")

    return write


def test_failures_are_told_by_name_as_new_gone_and_still_there(agent: Any, suite: Any) -> None:
    suite(_tests("test_a", "test_b"), 1)
    first = agent.run("sh run.sh").fields["output_id"]
    suite(_tests("test_b", "test_c"), 1)
    reply = agent.run("sh run.sh", compare="last")
    assert (reply.fields["compared_with"], reply.fields["exit_code"]) == (first, 1)
    newly, gone, still = [block.splitlines() for block in ("\n" + reply.text).split(" failing (1):\n")][1:]
    assert "test_c" in newly[0]
    assert "test_a" in gone[0]
    assert "test_b" in still[0]
    assert len(agent.told) < 2_000


def test_without_failures_the_lines_are_told_that_differ_in_more_than_numbers(agent: Any, suite: Any) -> None:
    suite("took 12 ms\nsame\nold\n", 0)
    agent.run("sh run.sh")
    suite("took 77 ms\nsame\nnew\n", 0)
    assert agent.run("sh run.sh", compare="last").text == "-3: old\n+3: new\n"
    suite("took 99 ms\nsame\nnew\n", 0)
    assert agent.run("sh run.sh", compare="last").text.startswith("nothing changed but what differs from run to run")


def test_the_first_run_is_given_as_ever_and_says_so(agent: Any, suite: Any) -> None:
    suite("hello\n", 0)
    reply = agent.run("sh run.sh", compare="last")
    assert reply.text == "hello\n"
    assert "no earlier run" in reply.fields["note"]


def test_a_failure_that_was_there_before_is_said_to_be_the_same(agent: Any, suite: Any) -> None:
    suite(_tests("test_a"), 1)
    first = agent.run("sh run.sh").fields["output_id"]
    assert agent.run("sh run.sh").fields["note"] == f"same failure as {first}"
    suite(_tests("test_z"), 1)
    assert "note" not in agent.run("sh run.sh").fields


def test_what_runs_on_is_not_compared(agent: Any) -> None:
    with pytest.raises(UsageError, match="compare and background"):
        agent.run("true", compare="last", background=True)


def test_streams_are_compared_without_what_differs_from_run_to_run(agent: Any) -> None:
    a, b = agent.run("seq 1 3; echo a") and agent.newest(), agent.run("seq 1 3; echo b") and agent.newest()
    assert changed_lines(agent.asking, Target(a, "out"), Target(b, "out")) == "-4: a\n+4: b\n"
