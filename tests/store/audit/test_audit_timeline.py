"""Sessions call by call: what was new, what came again, what it all comes to, and how it was at any step."""

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from sightline.audit import timeline
from sightline.audit.coverage import Share
from sightline.audit.kept_facts import facts_for, facts_so_far
from sightline.audit.overlooked_places import first_overlooked, missed_in
from sightline.audit.timeline import (
    Call,
    CallFilter,
    CallTotals,
    Timeline,
    calls_of,
    captured_by,
    filtered,
    seen_after,
    share_seen,
    totals_of,
)
from sightline.audit.verdict import verdict_of
from sightline.base.errors import ExpiredRef, UsageError
from sightline.base.records import TOOL_FAILED, Buffer, Session, Shown, View
from sightline.log import log, retention
from sightline.log.log_index import find_view, rebuild_views
from sightline.log.notes import send_note, write_note
from sightline.log.retention import StillRunning, remove_session
from sightline.log.session_list import UnknownSession, find_session, list_sessions, rename_session
from sightline.log.view_text import TextGone, view_text
from sightline.log.views import Shows, Traced, record_shown, record_view
from sightline.shape.segments import Segment
from sightline.store import Store, Target

Keep = Callable[..., Buffer]
Ask = Callable[..., View]
TEN = b"".join(b"%d\n" % number for number in range(1, 11))


def _session(name: str) -> Session:
    return Session(name, "claude-code", name, "cli 1.0", "/src", 5.0)


@pytest.fixture
def ask(store: Store) -> Ask:
    """Logs a view by a session of some lines of a buffer."""

    def asked(buffer: Buffer, *ranges: tuple[int, int], by: str = "s", text: str = "text\n", **more: Any) -> View:
        shown = tuple(Shown(buffer.name, "out", first, last) for first, last in ranges)
        fields = {"verb": "read_output", "request": {"ref": buffer.ref}, "refs": (buffer.name,), "shown": shown}
        return record_view(store, _session(by), Shows(**{**fields, "lines_total": 10, **more}), [Segment(text)])

    return asked


def _counts(calls: list[Call]) -> list[tuple[int, int]]:
    return [(call.new, call.again) for call in calls]


def test_lines_are_new_once_to_each_session(store: Store, keep: Keep, ask: Ask) -> None:
    buffer = keep(TEN)
    ask(buffer, (1, 4))
    ask(buffer, (3, 6), (9, 9))
    ask(buffer, (1, 9), by="other")
    assert _counts(calls_of(store)) == [(4, 0), (3, 2), (9, 0)]
    assert _counts(calls_of(store, session="other")) == [(9, 0)]


def test_calls_stand_in_order_of_time_and_only_from_a_time_on_where_that_is_wanted(
    store: Store, keep: Keep, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = keep(TEN)
    now = ask(buffer, (1, 1)).time
    late = [now - 200, now + 2, now - 300, now + 1]  # as an import logs what was long ago after what was just now
    for number, when in enumerate(late):
        with monkeypatch.context() as at:
            at.setattr("time.time", lambda when=when: when)
            ask(buffer, (1, 1), by=f"s{number}")

    def shown(**more: Any) -> list[float]:
        return [call.view.time - now for call in calls_of(store, **more)]

    assert shown() == [-300, -200, 0, 1, 2]
    assert shown(since=now) == [0, 1, 2]
    monkeypatch.setattr(timeline, "TAIL_CALLS", 1)
    followed = Timeline(store, since=now)
    followed.refresh(1)
    while followed.behind:
        followed.refresh(1)
    assert [call.view.time - now for call in followed.calls] == [0, 1, 2]


def test_any_step_of_a_session_can_be_replayed(store: Store, keep: Keep, ask: Ask) -> None:
    buffer = keep(TEN)
    ask(buffer, (1, 2))
    ask(buffer, (5, 6))
    calls = calls_of(store)
    assert seen_after(calls, 0) == {}
    assert seen_after(calls, 1)[buffer.name]["out"].exact == ((1, 2),)
    assert seen_after(calls, 2)[buffer.name]["out"].exact == ((1, 2), (5, 6))


def test_totals_add_up(store: Store, keep: Keep, ask: Ask) -> None:
    buffer, unseen = keep(TEN), keep(TEN)
    ask(buffer, (1, 5), text="x" * 9)
    ask(buffer, (1, 5), text="x" * 5, truncated=True)
    totals = totals_of(calls_of(store), captured_by(store, ["s"]))
    assert totals == CallTotals(
        calls=2, captured=2, captured_bytes=buffer.bytes + unseen.bytes,
        shown_bytes=14, tokens=3 + 2, saved_bytes=buffer.bytes + unseen.bytes - 14, cut=1, lines=10, again=5,
    )  # fmt: skip
    assert totals.again_ratio == 0.5
    assert share_seen(calls_of(store), captured_by(store, ["s"])) == Share(5, 20)


def test_totals_of_nothing_are_nothing() -> None:
    assert totals_of([], []) == CallTotals()
    assert CallTotals().again_ratio == 0.0


def test_calls_are_filtered_by_verb_buffer_failure_and_text(store: Store, keep: Keep, ask: Ask) -> None:
    one, two = keep(TEN), keep(TEN)
    ran = ask(one, (1, 1), verb="run_command", request={"command": "make all"}, exit_code=2)
    asked = ask(two, (1, 1), verb="query", request={"pipeline": f"grep x {two.ref}"}, exit_code=1, text="Needle\n")
    calls = calls_of(store)

    def found(**wanted: Any) -> list[str]:
        return [call.view.id for call in filtered(store, calls, CallFilter(**wanted))]

    assert found() == [ran.id, asked.id]
    assert found(verb="query") == [asked.id]
    assert found(buffer=one.name) == [ran.id]
    assert found(failed=True) == [ran.id], "a search that finds nothing has not failed"
    assert found(text="MAKE") == [ran.id]
    assert found(text="needle") == [asked.id]
    assert found(text="neither") == []
    assert [call.asked for call in calls] == ["make all", f"grep x {two.ref}"]
    assert calls[0].first_ref == f"{one.ref}:1-1"


def test_since_leaves_out_what_is_older(store: Store, keep: Keep, ask: Ask) -> None:
    first, second = ask(keep(TEN), (1, 1)), ask(keep(TEN), (1, 1))
    assert [call.view.id for call in calls_of(store, since=second.time)] == [second.id]
    assert [call.view.id for call in calls_of(store, since=first.time)] == [first.id, second.id]


def test_calls_about_what_has_gone_are_still_told(store: Store, keep: Keep, ask: Ask) -> None:
    buffer = keep(TEN)
    ask(buffer, (1, 4))
    store.remove(buffer, "removed")
    (call,) = calls_of(store)
    assert (call.buffer, call.new) == (None, 4)


def test_sessions_tell_what_they_did_and_who_read_whose(store: Store, keep: Keep, ask: Ask) -> None:
    mine, other = keep(TEN, session="s"), keep(TEN, session="other")
    ask(mine, (1, 1))
    ask(other, (1, 1))
    ask(mine, (1, 1), by="other")
    ask(mine, (2, 2), by="other")
    facts = {one.session.name: one for one in list_sessions(store)}
    assert (facts["s"].counts.calls, facts["s"].counts.buffers, facts["s"].counts.bytes) == (2, 1, mine.bytes)
    assert facts["s"].read == facts["s"].read_by == (("other", 1),)
    assert facts["s"].session.client == "cli 1.0"
    assert [one.session.name for one in list_sessions(store)] == ["other", "s"], "who asked last comes first"


def test_a_session_that_only_captured_is_known(store: Store, keep: Keep) -> None:
    keep(TEN, session="silent")
    (facts,) = list_sessions(store)
    assert (facts.session.name, facts.counts.calls, facts.counts.buffers) == ("silent", 0, 1)


def test_a_session_is_found_by_name_title_or_beginning(store: Store, keep: Keep, ask: Ask) -> None:
    ask(keep(TEN), by="agent-1")
    ask(keep(TEN), by="agent-2")
    rename_session(store, find_session(store, "agent-1").session, "release 2.1")
    for text in ("agent-1", "release 2.1", "rel"):
        assert find_session(store, text).session.name == "agent-1"
    for text in ("agent", "nobody", ""):
        with pytest.raises(UnknownSession):
            find_session(store, text)


def test_a_new_name_is_in_the_log_and_no_one_else_s(store: Store, keep: Keep, ask: Ask) -> None:
    ask(keep(TEN), by="a")
    ask(keep(TEN), by="b")
    rename_session(store, find_session(store, "a").session, "mine")
    for title in ("mine", "a", "", "x" * 81):
        with pytest.raises(UsageError):
            rename_session(store, find_session(store, "b").session, title)
    log.verify(store.layout.audit_file("a"))
    store.access.start_anew()
    rebuild_views(store)
    assert find_session(store, "mine").session.name == "a"


def test_a_removed_session_takes_its_buffers_and_texts_and_leaves_a_chain_that_holds(
    store: Store, keep: Keep, ask: Ask
) -> None:
    mine, other = keep(TEN, session="s"), keep(TEN, session="other")
    views = [ask(mine, (1, 1)), ask(other, (1, 1)), ask(mine, (1, 1), by="other")]
    stays = ask(other, (1, 1), by="other")
    send_note(store, _session("s"), write_note(store, _session("other"), Target(mine, "out"), "see"), "s")
    removed = remove_session(store, find_session(store, "s").session)
    assert (removed.buffers, removed.bytes) == (1, mine.bytes)
    with pytest.raises(ExpiredRef):
        store.resolve(mine.ref)
    assert store.resolve(other.ref).buffer.name == other.name
    for view in views:
        with pytest.raises(TextGone):
            view_text(store, find_view(store, view.id))
    assert view_text(store, find_view(store, stays.id)) == "text\n"
    for name in ("s", "other"):
        log.verify(store.layout.audit_file(name))
    assert find_session(store, "s").is_removed
    assert not os.path.exists(store.layout.outbox), "nor does a note on it go out"


def test_a_session_that_asks_again_is_no_longer_removed(store: Store, keep: Keep, ask: Ask) -> None:
    ask(keep(TEN, session="s"), (1, 1))
    remove_session(store, find_session(store, "s").session)
    ask(keep(TEN, session="s"), (1, 1))
    assert not find_session(store, "s").is_removed


def test_nothing_is_removed_of_a_session_that_still_captures(store: Store, keep: Keep) -> None:
    kept = keep(TEN, session="s")
    recording = store.begin("cmd", "sleep", "/", "s")
    recording.register()
    with pytest.raises(StillRunning):
        remove_session(store, find_session(store, "s").session)
    assert store.resolve(kept.ref).buffer.name == kept.name
    recording.seal(exit_code=0)


def test_what_is_kept_of_an_output_keeps_up_with_what_is_shown(store: Store, keep: Keep, ask: Ask) -> None:
    one, two = keep(TEN), keep(b"a\nb\nc\nd\n")

    def seen() -> list[float]:
        facts = facts_for(store, [one, two])
        return [facts[buffer.name].seen for buffer in (one, two)]

    assert seen() == [0, 0]
    ask(one, (1, 4), truncated=True)
    assert seen() == [4, 0]
    ask(one, (3, 5), by="other")
    view = ask(two, verb="query", request={"pipeline": f"cat {two.ref}"}, text="b\nc\n")
    assert seen() == [5, 2]
    record_shown(store, view, Traced((Shown(two.name, "out", 2, 4),)))
    assert seen() == [5, 3]
    assert store.index.seen_lines() == {one.name: 5, two.name: 3}


def test_of_an_output_that_runs_it_is_known_how_much_was_shown_so_far(store: Store, ask: Ask) -> None:
    recording = store.begin("cmd", "make", "/", "s")
    recording.register()
    recording.append("out", b"fine\nERROR: out of paint\n")
    (running,) = store.index.running()
    assert facts_so_far(store, running)[1:5] == (0, 0, 2, 0)
    ask(running, (1, 1))
    assert facts_so_far(store, running)[1:5] == (1, 1, 2, 1)
    assert facts_for(store, [running]) == {}
    recording.seal(exit_code=2)


def test_limits_take_a_removed_session_s_records_like_any(store: Store, keep: Keep, ask: Ask) -> None:
    buffer = keep(TEN)
    ask(buffer, (1, 4))
    retention.evict(store, buffer)
    (call,) = calls_of(store)
    assert (call.new, call.buffer is not None and call.buffer.state) == (4, "evicted")
    assert captured_by(store, ["s"]) == []


def test_a_timeline_is_followed_and_tells_from_where_on_it_has_changed(
    store: Store, keep: Keep, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "TAIL_CALLS", 2)
    buffer = keep(TEN)
    followed = Timeline(store)
    assert followed.refresh() == 0
    for first in (1, 3, 5):
        ask(buffer, (first, first + 2))
    assert followed.refresh() == 0
    assert _counts(followed.calls) == [(3, 0), (2, 1), (2, 1)]
    assert followed.refresh() == 3, "nothing has changed"
    view = ask(buffer, verb="query", request={"pipeline": f"grep x {buffer.ref}"})
    assert followed.refresh() == 3
    record_shown(store, view, Traced((Shown(buffer.name, "out", 6, 9),)))
    assert followed.refresh() == 3
    assert _counts(followed.calls) == [(3, 0), (2, 1), (2, 1), (2, 2)] == _counts(calls_of(store))


def test_a_followed_timeline_starts_anew_where_the_views_were_indexed_anew(
    store: Store, keep: Keep, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "TAIL_CALLS", 1)
    one, two = keep(TEN), keep(TEN)
    views = [ask(buffer, (1, 1)) for buffer in (one, two, one)]
    rebuild_views(store)
    followed = Timeline(store)
    followed.refresh()
    store.access.start_anew()
    store.index.put_buffer(one)
    rebuild_views(store)
    ask(one, (2, 2))
    followed.refresh()
    assert [call.view.id for call in followed.calls][:3] == [view.id for view in views]
    assert len(followed.calls) == 4


def test_how_a_call_in_the_background_ended_is_known_when_it_has(
    store: Store, keep: Keep, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "TAIL_CALLS", 0)
    recording = store.begin("cmd", "slow", "/", "s")
    recording.register()
    ask(store.index.running()[0], verb="run_command", request={"command": "slow"})
    followed = Timeline(store)
    followed.refresh()
    assert not followed.calls[0].failed
    recording.seal(exit_code=3)
    assert followed.refresh() == 0
    assert followed.calls[0].failed


def test_a_failure_is_overlooked_until_a_view_shows_it(store: Store, keep: Keep, ask: Ask) -> None:
    buffer = keep(b"fine\n" * 5 + b"ERROR: out of paint\n" + b"fine\n" * 5, command="make")
    ask(buffer, (1, 2))
    verdict_of(store)
    assert [one.failure.text for one in first_overlooked(store, missed_in(store), 9)] == ["ERROR: out of paint"]
    ask(buffer, (6, 6))
    verdict_of(store)
    assert missed_in(store) == ()


def test_a_long_timeline_can_be_taken_in_by_and_by(store: Store, keep: Keep, ask: Ask) -> None:
    buffer = keep(TEN)
    for line in range(1, 9):
        ask(buffer, (line, 10))
    whole = calls_of(store)
    timeline_ = Timeline(store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timeline, "TAIL_CALLS", 1)
        assert (timeline_.refresh(limit=3), timeline_.behind) == (0, True)
        assert timeline_.calls == whole[:4]
        while timeline_.behind:
            timeline_.refresh(limit=3)
    assert timeline_.calls == whole
    assert [call.view for call in timeline_.newest(3)] == [call.view for call in whole[-3:]]


def test_an_error_is_a_call_that_failed_whatever_it_was_about(store: Store, keep: Keep, ask: Ask) -> None:
    buffer = keep(TEN)
    ask(buffer, (1, 1))
    ask(buffer, failed=True)
    ask(buffer, verb="tool", request={"tool": "find"}, refs=(), failed=True)
    rebuild_views(store)
    assert [call.failed for call in calls_of(store)] == [False, True, True]


def test_a_tool_that_reported_an_error_failed_and_who_reads_of_it_did_not(store: Store, ask: Ask) -> None:
    recording = store.begin("tool", "find {}", "/", "s")
    recording.append("part.0", b"no luck\n")
    buffer = recording.seal(exit_code=None, note=TOOL_FAILED)
    ask(buffer, verb="tool", request={"tool": "find"})
    ask(buffer)
    assert [call.failed for call in calls_of(store)] == [True, False]


def test_calls_stand_in_the_order_of_their_times_though_one_was_logged_late(
    store: Store, keep: Keep, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = keep(TEN)
    now = ask(buffer, (1, 1)).time
    for by, when in (("s", now + 9), ("other", now + 5), ("s", now + 1)):
        with monkeypatch.context() as at:
            at.setattr("time.time", lambda when=when: when)
            ask(buffer, (1, 1), by=by)
    calls = [(call.view.session, call.view.number) for call in calls_of(store)]
    assert calls == [("s", 1), ("s", 3), ("other", 1), ("s", 2)]


def test_a_command_is_there_from_its_start_and_once(store: Store, ask: Ask) -> None:
    recording = store.begin("cmd", "make all", "/", "s")
    recording.register()
    following = Timeline(store)
    following.refresh()
    (call,) = following.calls
    assert (call.asked, call.running, call.failed, call.view.number) == ("make all", True, False, 0)
    with pytest.raises(TextGone, match="nothing has been shown"):
        view_text(store, call.indexed)
    buffer = recording.seal(exit_code=0)
    ask(buffer, verb="run_command", request={"command": "make all"}, exit_code=0)
    assert following.refresh() == 0
    assert [(call.running, call.view.number) for call in following.calls] == [(False, 1)]


@pytest.mark.parametrize(("kind", "verb"), [("cmd", "run_command"), ("tool", "tool")])
def test_what_broke_off_before_it_was_answered_stays_at_its_time(
    store: Store, keep: Keep, ask: Ask, kind: str, verb: str
) -> None:
    recording = store.begin(kind, "make all", "/", "s", created=time.time())
    recording.register()
    ask(keep(TEN), (1, 2))
    assert [call.view.verb for call in calls_of(store)] == ["read_output", verb]  # it will have the next number
    recording.abandon()
    first, second = calls_of(store)
    assert (first.view.verb, first.asked, first.running, first.unanswered) == (verb, "make all", False, True)
    assert (first.failed, second.unanswered) == (True, False)


def test_what_goes_into_a_filter_is_no_call_of_its_own(store: Store) -> None:
    store.begin("cmd", "make all", "/", "s").register()
    store.begin("cmd", "make", "/", "s", origin="cmd_a1b2c3").register()
    assert [call.asked for call in calls_of(store)] == ["make all"]


@pytest.mark.parametrize(("code", "failed", "well"), [(0, False, True), (2, True, False), (None, False, False)])
def test_what_went_into_a_filter_belongs_to_its_command(
    store: Store, keep: Keep, ask: Ask, code: int | None, failed: bool, well: bool
) -> None:
    """The exit code of the filter tells nothing of what is before it."""
    main, before = keep(b"2\n"), keep(TEN)
    store.amend(before.name, origin=main.name, exit_code=code)
    ask(main, (1, 1), verb="run_command", request={"command": "make | tail -1"}, exit_code=0)
    ask(main, (1, 1))
    ran, looked = calls_of(store)
    assert ran.unfiltered is not None
    assert ran.unfiltered.name == before.name
    assert (ran.failed, ran.failed_before_filter, ran.ended_well) == (False, failed, well)
    assert looked.unfiltered is None
