"""Overlooked failures: what failed, and stood in no view."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from sightline.audit import buffer_failures as failures
from sightline.audit.brief import make_brief
from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import Failure, failures_of, judgement_of, overlooked, overlooked_in, told_count
from sightline.audit.finding_kinds import CUT, OVERLOOKED, UNTOLD
from sightline.audit.findings import audited
from sightline.audit.kept_facts import facts_for
from sightline.audit.report.data import as_data
from sightline.audit.report.phrases import figures, overlooked_of
from sightline.audit.report.report import gather
from sightline.audit.timeline import calls_of, share_seen
from sightline.base.project import ALL, Scope
from sightline.base.records import Buffer, LinePart, Session, Shown
from sightline.log.views import Shows, record_view
from sightline.shape.failure import regions
from sightline.shape.segments import Segment
from sightline.store import Store

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
    buffer = _failed(store, keep(LOG))
    show(buffer, (1, 20), (40, 61))
    (failure,) = _overlooked(store, buffer)
    assert failure.text == "ValueError: boom"
    assert failure.ref(buffer.name) == f"@{buffer.name}:31-31"
    show(buffer, (31, 31))
    assert _overlooked(store, buffer) == []


@pytest.mark.parametrize("client", ["inspector", "terminal"])
def test_what_a_person_was_shown_of_an_agent_s_output_no_agent_saw(
    store: Store, keep: Keep, show: Any, client: str
) -> None:
    person = Session(f"{client}-1", "shell", "", client, "/", 1.0)
    buffer = _failed(store, keep(LOG))
    show(buffer, (1, 20), lines_total=61, exit_code=1, verb="run_command", truncated=True)
    told = coverage_of(store, buffer).share
    record_view(
        store,
        person,
        Shows(verb="query", request={}, refs=(buffer.name,), shown=(Shown(buffer.name, "out", 31, 31),)),
        [Segment("text\n")],
    )
    assert len(_overlooked(store, buffer)) == 1
    assert coverage_of(store, buffer).share == told
    assert facts_for(store, [buffer])[buffer.name].seen == 20
    assert coverage_of(store, buffer, session=person.name).seen_lines == 1, "it can be asked for"
    calls = calls_of(store)
    assert [call.looks_on for call in calls] == [False, True]
    assert {one.kind for one in audited(store, ALL).found} == {OVERLOOKED, CUT}
    assert share_seen(calls, [buffer]).seen == 20


def test_what_a_person_captured_is_seen_where_a_person_read_it(store: Store, keep: Keep) -> None:
    person = Session("terminal-1", "shell", "", "terminal", "/", 1.0)
    buffer = _failed(store, keep(LOG, session=person.name))
    shows = Shows(verb="run_command", request={}, refs=(buffer.name,), shown=(Shown(buffer.name, "out", 1, 61),))
    record_view(store, person, shows, ())
    assert _overlooked(store, buffer) == []
    assert audited(store, ALL).found == []


def test_a_failure_line_that_was_cut_is_seen_where_its_beginning_was(store: Store, keep: Keep, show: Any) -> None:
    line = "ERROR: no disk " + "x" * 4000
    buffer = _failed(store, keep(line.encode() + b"\n", command="./save"))
    show(buffer, parts=(LinePart(buffer.name, "out", 1, len(line), ((3000, 4000),)),))
    assert len(_overlooked(store, buffer)) == 1
    show(buffer, parts=(LinePart(buffer.name, "out", 1, len(line), ((1, 900),)),))
    assert _overlooked(store, buffer) == []


@pytest.mark.parametrize("length", [6_000, 72 << 10, 600 << 10])
def test_what_the_end_of_a_long_line_tells_is_overlooked_until_that_was_shown(
    store: Store, keep: Keep, show: Any, length: int
) -> None:
    line = b'{"rows": [' + b"1, " * (length // 3) + b'0], "log": "FATAL: database is gone"}'
    buffer = _failed(store, keep(line + b"\n", command="./save"))
    show(buffer, parts=(LinePart(buffer.name, "out", 1, len(line), ((1, len(line) - 40),)),))
    (failure,) = _overlooked(store, buffer)
    assert "FATAL: database is gone" in failure.text
    show(buffer, parts=(LinePart(buffer.name, "out", 1, len(line), ((len(line) - 30, len(line)),)),))
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


SOURCE = b"fine\n" * 5 + b"    except ValueError as error:\n        raise SystemExit(f'ERROR: {error}')\n" * 43
DIFF = b"diff --git a/a.go b/a.go\n@@ -1 +1,2 @@\n a\n" + b'+\t\tt.Fatal("expected error, got nil")\n' * 9
HITS = b"src/a.py:12:raise ValueError('boom')\nsrc/log.txt:3:ERROR: boom\n" * 20
LEVELS = b"fine\n" * 30 + b"2026-03-01 ERROR: no connection\nERROR: no connection\n" + b"fine\n" * 30


@pytest.mark.parametrize("exit_code", [0, None])
@pytest.mark.parametrize(
    ("command", "data"),
    [
        ("cat a.py", SOURCE),
        ("cd src && LANG=C sudo /bin/cat a.py | head -500; echo done", SOURCE),
        ("ssh -p 22 host 'cat /var/log/app.log'", LEVELS),
        ("docker exec -it web sh -c 'tail -n 100 app.log | sort'", LEVELS),
        ("for f in *.log; do tail -5 $f; done", LEVELS),
        ("git diff main", DIFF),
        ("git -C repo log -p | head", DIFF),
        ("gh pr diff 88", DIFF),
        ("printf 'y\\n' | git add -p a.go", DIFF),
        ("grep -rn boom .", HITS),
        ("find . -name '*.log' -exec grep -Hn boom {} +", HITS),
        ("git ls-files | xargs rg boom", HITS),
        ("man grep", b"EXIT STATUS\n  2 if an error occurred\nERROR: x\n" * 5),
        ("tar --help", b"Error: exit code 1 means some files differ\n" * 5),
    ],
)
def test_what_a_command_shows_of_others_is_no_failure(
    store: Store, keep: Keep, command: str, data: bytes, exit_code: int | None
) -> None:
    buffer = store.amend(keep(data, command=command).name, exit_code=exit_code)
    assert failures_of(store, buffer) == ()
    assert judgement_of(buffer).why_not.endswith(("reads", "searches", "shows", "show what others wrote"))


@pytest.mark.parametrize(
    ("command", "exit_code", "told"),
    [
        ("git diff --no-index a b", 1, ""),
        ("cat build.log missing", 1, "cat: missing: No such file or directory"),
        ("grep x missing | head", 2, "grep: missing: No such file or directory"),
        ("cd nowhere && git log", 1, "bash: line 1: cd: nowhere: No such file or directory"),
    ],
)
def test_of_what_only_shows_and_failed_its_own_complaint_is_the_failure(
    store: Store, keep: Keep, command: str, exit_code: int, told: str
) -> None:
    buffer = store.amend(keep(LOG + told.encode(), command=command).name, exit_code=exit_code)
    assert [failure.text for failure in failures_of(store, buffer)] == ([told] if told else [])


def test_what_a_search_could_not_read_is_one_failure_and_seen_by_one_line(store: Store, keep: Keep, show: Any) -> None:
    lines = [f"rg: {name}: Operation not permitted (os error 1)\n".encode() for name in ("a", "b", "c")]
    out = b"x.py:1:total\n".join((b"", *lines))
    buffer = store.amend(keep(out, command="rg total . ~").name, exit_code=2)
    assert len(_overlooked(store, buffer)) == 1
    show(buffer, (3, 4))
    assert _overlooked(store, buffer) == []


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("ERROR: no connection", True),
        ("[lint] ERROR task failed", True),
        ("mise ERROR no tasks defined", True),
        ("error[E0308]: mismatched types", True),
        ("ld: fatal: no such file", True),
        ("--- FAIL: TestBasket (0.01s)", True),
        ("zsh: command not found: jqq", True),
        ("an error is expected here, and failed is a word", False),
        ("Got expected error: exit status 1", False),
        ('    t.Fatal("Get() returned nil strategy")', False),
        ("src/a.py:12: raise ValueError('boom')", False),
        ("0 errors, 0 failed", False),
    ],
)
def test_of_a_run_that_went_well_a_rule_or_a_level_tells_a_failure(
    store: Store, keep: Keep, line: str, is_told: bool
) -> None:
    buffer = keep(b"fine\n" * 9 + line.encode() + b"\n" + b"fine\n" * 9, command="mise run check 2>&1 | tail -50")
    assert [failure.text for failure in failures_of(store, buffer)] == ([line.strip()] if is_told else [])


def test_what_tests_log_that_pass_is_no_failure(store: Store, keep: Keep) -> None:
    logged = b"=== RUN   TestA\n    a_test.go:9: got expected error: exit status 1\n"
    passed = keep(logged + b"--- PASS: TestA (0.01s)\nPASS\nok  \tx/a\t0.1s\n", command="go test -v ./... | tail -30")
    assert failures_of(store, passed) == ()
    failed = keep(logged + b"--- FAIL: TestA (0.01s)\nFAIL\nFAIL\tx/a\t0.1s\n", command="go test -v ./... | tail -30")
    assert [failure.name for failure in failures_of(store, failed)] == ["TestA"]


def test_each_error_of_a_flood_is_a_failure_by_itself(store: Store, keep: Keep, show: Any) -> None:
    lines = [f"src/f{number % 7}.c:{number}:5: error: ‘name_{number}’ undeclared" for number in range(1, 2781)]
    buffer = _failed(store, keep("\n".join([*lines, *lines[:9]]).encode() + b"\n", command="make"))
    failures = failures_of(store, buffer)
    assert [failure.text for failure in failures[:2]] == lines[:2]
    assert len(failures) == 2780
    show(buffer, (100, 100))
    assert len(_overlooked(store, buffer)) == 2779


def test_what_is_said_again_is_one_failure_only_where_it_names_the_same_place(
    store: Store, keep: Keep, show: Any
) -> None:
    buffer = _failed(store, keep(b"src/a.c:3: error: no\nERROR: broken\n" * 50, command="./all.sh"))
    assert [len(failure.places) for failure in failures_of(store, buffer)] == [50, *[1] * 50]
    show(buffer, (99, 100))
    assert len(_overlooked(store, buffer)) == 49


def test_errors_within_a_failed_step_are_failures_beside_it(store: Store, keep: Keep, show: Any) -> None:
    step = "FAILED: till.o\n/usr/bin/cc -c till.c\ntill.c: In function ‘main’:\n".encode()
    errors = b"".join(b"till.c:%d:5: error: expected expression\n    %d | x\n" % (at, at) for at in (7, 13, 14))
    buffer = _failed(store, keep(step + errors + b"ninja: build stopped: subcommand failed.\n", command="ninja"))
    assert [one.name or one.at for one in failures_of(store, buffer)] == [
        "till.o",
        "till.c:7",
        "till.c:13",
        "till.c:14",
    ]
    show(buffer, (1, 4))
    assert [one.at for one in _overlooked(store, buffer)] == ["till.c:13", "till.c:14"]


def test_files_and_empty_outputs_have_no_failures(store: Store, keep: Keep) -> None:
    assert failures_of(store, keep()) == ()
    assert failures_of(store, keep(LOG)._replace(kind="file")) == ()
    assert failures_of(store, keep(LOG)._replace(kind="tool", exit_code=1)) == ()


def test_a_sealed_buffer_is_examined_once(store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = _failed(store, keep(b"", UNITTEST, command="python -m unittest -v"))
    first = failures_of(store, buffer)

    def again(*_: object) -> None:
        raise AssertionError("it was examined again")

    monkeypatch.setattr(failures, "Examination", again)
    assert failures_of(store, buffer) == first


def test_what_is_kept_of_a_buffer_goes_with_it(store: Store, keep: Keep) -> None:
    buffer = _failed(store, keep(b"", UNITTEST, command="python -m unittest -v"))
    failures_of(store, buffer)
    with closing(sqlite3.connect(store.layout.index)) as index:
        kept = "SELECT count(*) FROM derived"
        assert index.execute(kept).fetchone() != (0,)
        store.remove(buffer, "removed")
        assert index.execute(kept).fetchone() == (0,)


def test_only_the_views_of_a_session_count_for_it(store: Store, keep: Keep, show: Any) -> None:
    buffer = _failed(store, keep(LOG))
    show(buffer, (31, 31))
    assert overlooked(store, [buffer]) == []
    assert [one.failure.text for one in overlooked(store, [buffer], session="other")] == ["ValueError: boom"]


def test_a_cut_failure_tells_of_lines_that_were_shown_in_part(store: Store, keep: Keep, show: Any) -> None:
    cut = _failed(store, keep(b"x" * 9_000 + b"\n", command="one"))
    part = LinePart(cut.name, "out", 1, 9_000, ((1, 90),))
    asked = {"verb": "run_command", "request": {"command": "one"}, "exit_code": 1}
    show(cut, parts=(part,), truncated=True, lines_total=1, **asked)
    (finding,) = (one for one in audited(store, Scope("s")).found if one.kind == CUT)
    assert finding.text == "0 of 1 lines shown, 1 in part, never read again"


def test_findings_tell_of_failures_overlooked_cut_and_untold(store: Store, keep: Keep, show: Any) -> None:
    cut = _failed(store, keep(LOG, command="one"))
    show(cut, (1, 5), verb="run_command", request={"command": "one"}, exit_code=1, truncated=True, lines_total=61)
    untold = _failed(store, keep(b"ValueError: x\n", command="two"))
    found = audited(store, Scope("s")).found
    assert {(one.kind, one.ref.partition(":")[0]) for one in found} == {
        (OVERLOOKED, cut.ref),
        (OVERLOOKED, untold.ref),
        (UNTOLD, untold.ref),
        (CUT, cut.ref),
    }
    show(cut, (31, 31))
    show(untold, (1, 1))
    assert audited(store, Scope("s")).found == []


def test_a_reply_that_has_the_code_has_told_of_the_end_whatever_its_time_says(
    store: Store, keep: Keep, show: Any
) -> None:
    for command, code in (("ended", 1), ("running", None)):
        buffer = _failed(store, keep(LOG, command=command))
        show(buffer, (1, 61), verb="run_command", request={"command": command}, exit_code=code, lines_total=61)
        store.amend(buffer.name, ended=time.time() + 3600)
    found = audited(store, Scope("s")).found
    assert [(one.kind, one.command) for one in found if one.kind == UNTOLD] == [(UNTOLD, "running")]


def test_more_failures_than_are_told_apart_are_counted_as_at_least_so_many(
    store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (regions, failures):
        monkeypatch.setattr(module, "MOST_HITS", 2_000)  # to walk through 20,000 would take seconds
    lines = [f"src/f{n}.c:{n}:1: error: bad {n}" for n in range(1, 2_101)]
    buffer = _failed(store, keep("\n".join((*lines, "make: *** [all] Error 1", "")).encode(), command="make"))
    found = failures_of(store, buffer)
    rest = found[-1]
    assert (rest.is_rest, rest.places[0].first) == (True, 2_001)
    assert "the first 2,000 were examined" in rest.text
    assert told_count(found) == f"at least {len(found):,} failures"
    shown = Shows("read_output", {}, (buffer.name,), (Shown(buffer.name, "out", 2_050, 2_060),))
    record_view(store, ME, shows=shown, text=[Segment("x\n")])
    assert rest in overlooked_in(store, buffer, coverage_of(store, buffer))
    assert make_brief(store).verdict.startswith("! 1 command failed · at least 2,0")
    report = gather(store)
    assert as_data(report)["totals"]["overlooked_at_least"] is True
    assert figures(report)[0][0].startswith("≥ 2,0")
    assert overlooked_of(report.outputs[0]).startswith("2,0")
    assert " of at least 2,0" in overlooked_of(report.outputs[0])
    assert failures_of(store, _failed(store, keep(LOG, command="make")))[-1].is_rest is False
