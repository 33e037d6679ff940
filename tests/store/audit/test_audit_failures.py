"""Overlooked failures: what failed, and stood in no view."""

from collections.abc import Callable
from typing import Any

import pytest
from sightline.store.audit import failures
from sightline.store.audit.checking import CUT, OVERLOOKED, UNTOLD, find_all
from sightline.store.audit.covering import coverage_of
from sightline.store.audit.failures import Failure, failures_of, overlooked, overlooked_in
from sightline.store.audit.timeline import calls_of, captured_by
from sightline.store.audit.views import Shows, record_view
from sightline.store.records import Buffer, LinePart, Session, Shown
from sightline.store.shape.segments import Segment
from sightline.store.store import Store

Keep = Callable[..., Buffer]
ME = Session("s", "shell", "", "", "/", 1.0)
LOG = b"fine\n" * 30 + b"ValueError: boom\n" + b"fine\n" * 30

UNITTEST = b"""\
test_ok (t.T.test_ok) ... ok
test_one (t.T.test_one) ... FAIL
test_two (t.T.test_two) ... FAIL

======================================================================
FAIL: test_one (t.T.test_one)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "t.py", line 3, in test_one
    self.assertEqual(1, 2)
AssertionError: 1 != 2

======================================================================
FAIL: test_two (t.T.test_two)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "t.py", line 6, in test_two
    self.assertEqual(3, 4)
AssertionError: 3 != 4

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=2)
"""


@pytest.fixture
def show(store: Store) -> Callable[..., None]:
    """Logs a view of some lines."""

    def shown(buffer: Buffer, *ranges: tuple[int, int], stream: str = "out", **more: Any) -> None:
        lines = tuple(Shown(buffer.name, stream, first, last) for first, last in ranges)
        fields = {"verb": "read_output", "request": {}, "refs": (buffer.name,), "shown": lines, **more}
        record_view(store, ME, Shows(**fields), [Segment("text\n")])

    return shown


def _overlooked(store: Store, buffer: Buffer) -> list[Failure]:
    return overlooked_in(store, buffer, coverage_of(store, buffer))


def _failed(store: Store, buffer: Buffer) -> Buffer:
    return store.amend(buffer.name, exit_code=1)


def test_a_failure_that_stood_in_no_view_is_overlooked_until_it_does(store: Store, keep: Keep, show: Any) -> None:
    buffer = keep(LOG)
    show(buffer, (1, 20), (40, 61))
    (failure,) = _overlooked(store, buffer)
    assert failure.text == "ValueError: boom"
    assert failure.ref(buffer.name) == f"@{buffer.name}:31-31"
    show(buffer, (31, 31))
    assert _overlooked(store, buffer) == []


def test_one_thing_told_of_in_several_places_is_one_failure(store: Store, keep: Keep, show: Any) -> None:
    buffer = _failed(store, keep(b"", UNITTEST, command="python -m unittest -v"))
    assert [failure.name for failure in failures_of(store, buffer)] == ["t.T.test_one", "t.T.test_two"]
    show(buffer, (2, 2), stream="err")  # the line that lists it names it, too
    assert [failure.name for failure in _overlooked(store, buffer)] == ["t.T.test_two"]


def test_other_lines_of_its_region_do_not_make_it_seen(store: Store, keep: Keep, show: Any) -> None:
    buffer = _failed(store, keep(b"", UNITTEST, command="python -m unittest -v"))
    show(buffer, (21, 24), stream="err")
    assert len(_overlooked(store, buffer)) == 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"x " * 1_000 + b"FATAL: database is gone " + b"y " * 30_000, 2_000),
        (b"ERROR: " + b"y " * 30_000, 0),
        (b"ERROR: disk full", 0),
    ],
    ids=["within", "at the start", "short"],
)
def test_of_a_line_that_was_cut_what_tells_of_the_failure_must_have_been_shown(
    store: Store, keep: Keep, show: Any, line: bytes, told: int
) -> None:
    buffer = _failed(store, keep(b"fine\n" + line + b"\n"))
    around = (told + 1, min(told + 30, len(line)))
    without = (around[1] + 1, len(line)) if around[1] < len(line) else (7, len(line))
    show(buffer, (1, 1), parts=(LinePart(buffer.name, "out", 2, len(line), (without,)),))
    assert len(_overlooked(store, buffer)) == 1
    show(buffer, parts=(LinePart(buffer.name, "out", 2, len(line), (around,)),))
    assert _overlooked(store, buffer) == []
    assert _overlooked(store, store.resolve(buffer.ref).buffer) == [], "as it is kept in the index"


def test_nothing_is_found_in_what_went_well_or_only_shows_others(store: Store, keep: Keep) -> None:
    assert failures_of(store, keep(b"fine\n" * 50)) == ()
    assert failures_of(store, keep(LOG, command="cat build.log")) == ()
    assert failures_of(store, _failed(store, keep(LOG, command="grep -c boom build.log"))) == ()


@pytest.mark.parametrize(
    ("command", "exit_code", "is_told"),
    [
        ("cd src && grep -rn Error .", 0, False),
        ("cd src && LANG=C sudo /bin/cat build.log | head -5; echo done", 0, False),
        ("git diff", 1, True),
        ("rg boom; cat build.log", 1, False),
        ("cat build.log missing", 1, True),
        ("grep x missing", 2, True),
        ("cat notes && make", 0, True),
        ("echo start; ./build.sh", 0, True),
        ("echo hello", 0, True),
    ],
)
def test_what_a_command_line_shows_of_others_is_told_from_what_it_does(
    store: Store, keep: Keep, command: str, exit_code: int, is_told: bool
) -> None:
    buffer = store.amend(keep(LOG, command=command).name, exit_code=exit_code)
    assert bool(failures_of(store, buffer)) is is_told


def test_files_and_empty_outputs_have_no_failures(store: Store, keep: Keep) -> None:
    assert failures_of(store, keep()) == ()
    assert failures_of(store, keep(LOG)._replace(kind="file")) == ()


def test_a_sealed_buffer_is_examined_once(store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = _failed(store, keep(b"", UNITTEST, command="python -m unittest -v"))
    first = failures_of(store, buffer)

    def again(*_: object) -> None:
        raise AssertionError("it was examined again")

    monkeypatch.setattr(failures, "Examination", again)
    assert failures_of(store, buffer) == first


def test_what_is_kept_of_a_buffer_goes_with_it(store: Store, keep: Keep) -> None:
    buffer = keep(LOG)
    failures_of(store, buffer)
    store.remove(buffer, "removed")
    assert store.index.derived(buffer.name, failures._KEY) is None


def test_only_the_views_of_a_session_count_for_it(store: Store, keep: Keep, show: Any) -> None:
    buffer = keep(LOG)
    show(buffer, (31, 31))
    assert overlooked(store, [buffer]) == []
    assert [one.failure.text for one in overlooked(store, [buffer], session="other")] == ["ValueError: boom"]


def test_findings_tell_of_failures_overlooked_cut_and_untold(store: Store, keep: Keep, show: Any) -> None:
    cut = _failed(store, keep(LOG, command="one"))
    show(cut, (1, 5), verb="run_command", request={"command": "one"}, exit_code=1, truncated=True, lines_total=61)
    untold = _failed(store, keep(b"ValueError: x\n", command="two"))
    calls, captured = calls_of(store, session="s"), captured_by(store, ["s"])
    found = find_all(store, calls, captured, "s")
    assert {(one.kind, one.ref.partition(":")[0]) for one in found} == {
        (OVERLOOKED, cut.ref),
        (OVERLOOKED, untold.ref),
        (UNTOLD, untold.ref),
        (CUT, cut.ref),
    }
    show(cut, (31, 31))
    show(untold, (1, 1))
    assert find_all(store, calls_of(store, session="s"), captured, "s") == []
