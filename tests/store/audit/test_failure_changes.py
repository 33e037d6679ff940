"""What changed between two runs is said by the names of failures, and only where these are known for certain."""

from collections.abc import Callable

import pytest

from sightline.audit.failure_changes import known_changes
from sightline.base.records import Buffer
from sightline.store import Store

Keep = Callable[..., Buffer]


def told_of(*failed: str) -> bytes:
    rows = "".join(f"FAILED tests/test_x.py::{name} - AssertionError: no\n" for name in failed)
    ending = f"{len(failed)} failed, 4 passed in 1.2s" if failed else "7 passed in 1.2s"
    return f"===== test session starts =====\n{rows}===== {ending} =====\n".encode()


@pytest.fixture
def ran(store: Store) -> Keep:
    def keep(
        *failed: str, command: str = "pytest", origin: str = "", out: bytes | None = None, code: int = -1
    ) -> Buffer:
        recording = store.begin("cmd", command, "/a", "s", origin=origin)
        recording.register()
        recording.append("out", told_of(*failed) if out is None else out)
        return recording.seal(exit_code=code if code >= 0 else int(bool(failed)))

    return keep


def test_failures_of_two_runs_are_the_same_new_or_fixed(store: Store, ran: Keep) -> None:
    before, after = ran("test_a", "test_b", "test_c"), ran("test_b", "test_d", "test_c")
    changes = known_changes(store, before, after)
    assert changes is not None
    assert changes.words == "same 2 fail · 1 new · 1 fixed"
    assert changes.short == "=2 +1 -1"
    assert [one.name for one in changes.new + changes.fixed] == ["tests/test_x.py::test_d", "tests/test_x.py::test_a"]


def test_a_run_that_passes_has_fixed_what_failed_before(store: Store, ran: Keep) -> None:
    changes = known_changes(store, ran("test_a", "test_b"), ran())
    assert changes is not None
    assert (changes.words, changes.short) == ("same 0 fail · 0 new · 2 fixed", "-2")


def test_what_went_into_filters_is_compared_whole(store: Store, ran: Keep) -> None:
    piped = "pytest | tail -2"
    before, after = (ran(name, command=piped, origin="cmd_aaaaaa") for name in ("test_a", "test_b"))
    changes = known_changes(store, before, after)
    assert changes is not None and changes.short == "+1 -1"


@pytest.mark.parametrize(
    "case", ["nothing failed", "another command", "filtered", "failed without a name", "failed and says nothing"]
)
def test_nothing_is_said_where_failures_may_be_missing(store: Store, ran: Keep, case: str) -> None:
    before, after = {
        "nothing failed": lambda: (ran(), ran()),
        "another command": lambda: (ran("test_a"), ran("test_a", command="pytest -x")),
        "filtered": lambda: (ran("test_a", command="pytest | tail -2"), ran("test_b", command="pytest | tail -2")),
        "failed without a name": lambda: (ran("test_a"), ran(out=b"error: no such file\n", code=1)),
        "failed and says nothing": lambda: (ran("test_a"), ran(out=b"", code=2)),
    }[case]()
    assert known_changes(store, before, after) is None


def test_a_run_that_was_stopped_fixes_nothing(store: Store, ran: Keep) -> None:
    before, after = ran("test_a"), ran()
    assert known_changes(store, before, after._replace(timed_out=True)) is None
    assert known_changes(store, before, after._replace(state="interrupted")) is None
