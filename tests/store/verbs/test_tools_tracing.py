"""What a reply showed, as coverage has it: exact where the engine knows it, and never of a line that was not shown."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.coverage import Coverage, cover
from sightline.audit.kept_facts import facts_for
from sightline.audit.line_spans import Spans, size
from sightline.base.records import Buffer
from sightline.verbs import read_file as files
from sightline.verbs.command_view import command_reply, ending_of
from sightline.verbs.query import query
from sightline.verbs.requests import QueryRequest
from tests.examples import examples

ROWS = 400


@pytest.fixture
def buffer(agent: Any) -> Buffer:
    """Rows that all differ, in both streams; what their capture showed is not looked at."""
    agent.run(f"for i in $(seq {ROWS}); do echo row $i kind $((i % 7)); done; echo oops 1 >&2; echo oops 2 >&2")
    found: Buffer = agent.newest()
    return found


def _query(agent: Any, pipeline: str) -> str:
    agent.deliver(query(agent.asking, QueryRequest(pipeline)))
    return str(agent.told)


def _last(agent: Any, buffer: Buffer) -> Coverage:
    """The coverage by the newest view alone."""
    made = coverage_of(agent.store, buffer)
    newest = [part for part in made.contributions if part.view.id == agent.views()[-1].id]
    totals = {name: stream.total for name, stream in made.streams.items()}
    return cover(buffer.name, totals, newest)


def _rows(spans: Spans) -> set[int]:
    return {line for first, last in spans for line in range(first, last + 1)}


def _rows_in(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"\brow (\d+) kind", text)}


FIRST = st.one_of(
    st.integers(0, 6).map(lambda kind: f"grep 'kind {kind}' REF"),
    st.integers(0, 6).map(lambda kind: f"grep -n -A2 'kind {kind}' REF"),
    st.integers(0, 6).map(lambda kind: f"grep -v 'kind {kind}' REF"),
    st.tuples(st.integers(1, ROWS), st.integers(1, 60)).map(lambda at: f"sed -n {at[0]},{at[0] + at[1]}p REF"),
    st.integers(1, 60).map(lambda count: f"head -n {count} REF"),
    st.integers(1, 60).map(lambda count: f"tail -n {count} REF"),
    st.sampled_from(["cat REF", "cat -n REF", "nl REF", "tac REF", "cat REF.all", "cat REF REF.err", "sort REF"]),
)
LATER = st.sampled_from(
    ["", "", " | head -n 7", " | tail -n 7", " | sed -n 3,20p", " | sort", " | sort | uniq -c", " | cut -c1-5",
     " | grep 1", " | grep -c row", " | awk '{print $2}'", " | wc -l", " | tr a-z A-Z", " | tac", " | nl | tail -n 3"]
)  # fmt: skip


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=FIRST, later=LATER)
def test_no_line_that_was_not_shown_is_marked_as_seen(agent: Any, buffer: Buffer, first: str, later: str) -> None:
    told = _rows_in(_query(agent, (first + later).replace("REF", buffer.ref)))
    lines = _last(agent, buffer).streams["out"].lines
    assert _rows(lines.exact) <= told
    assert _rows(lines.matched) <= told
    assert not _rows(lines.asked) & _rows(lines.seen)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=FIRST.filter(lambda text: text.startswith(("grep", "sed", "head", "tail"))))
def test_what_only_picks_lines_is_known_exactly(agent: Any, buffer: Buffer, first: str) -> None:
    told = _rows_in(_query(agent, first.replace("REF", buffer.ref)))
    assert _rows(_last(agent, buffer).streams["out"].lines.exact) == told


@pytest.mark.parametrize("later", [" | sort", " | tail -n 9", " | grep -v 'row 1'", " | awk 1", " | nl"])
def test_what_comes_through_a_pipeline_is_matched(agent: Any, buffer: Buffer, later: str) -> None:
    told = _rows_in(_query(agent, f"grep 'kind 3' {buffer.ref}{later}"))
    lines = _last(agent, buffer).streams["out"].lines
    assert _rows(lines.matched) == told
    assert told
    assert lines.exact == ()
    assert _rows(lines.asked) == {row for row in range(1, ROWS + 1) if row % 7 == 3} - told


@pytest.mark.parametrize(
    "pipeline", ["wc -l REF", "awk '{print $2}' REF", "grep -c row REF", "cut -c1-5 REF | head -3"]
)
def test_what_is_counted_or_altered_is_asked_about_and_not_seen(agent: Any, buffer: Buffer, pipeline: str) -> None:
    _query(agent, pipeline.replace("REF", buffer.ref))
    stream = _last(agent, buffer).streams["out"]
    assert stream.seen == ()
    assert stream.lines.asked == ((1, ROWS),)


def test_only_what_the_first_program_handed_on_is_asked_about(agent: Any, buffer: Buffer) -> None:
    _query(agent, f"grep 'kind 3' {buffer.ref} | wc -l")
    asked = _last(agent, buffer).streams["out"].lines.asked
    assert _rows(asked) == {row for row in range(1, ROWS + 1) if row % 7 == 3}


def test_both_streams_are_told_apart_by_line(agent: Any, buffer: Buffer) -> None:
    _query(agent, f"tail -n 3 {buffer.ref}.all")
    made = _last(agent, buffer)
    assert made.streams["out"].lines.exact == ((ROWS, ROWS),)
    assert made.streams["err"].lines.exact == ((1, 2),)


def test_several_refs_are_told_apart_by_name(agent: Any, buffer: Buffer) -> None:
    agent.run("echo row 5000 kind 3; echo nothing")
    other = agent.newest()
    _query(agent, f"grep 'kind 3' {buffer.ref} {other.ref}")
    assert _rows(_last(agent, buffer).streams["out"].lines.matched) == {
        row for row in range(1, ROWS + 1) if row % 7 == 3
    }
    assert _last(agent, other).streams["out"].lines.matched == ((1, 1),)


def test_what_a_filter_showed_of_its_command_is_matched_in_what_it_left_out(agent: Any) -> None:
    agent.run("for i in $(seq 90); do echo row $i kind x; done | tail -n 4")
    whole = next(item.buffer for item in agent.store.listed(5) if item.buffer.origin)
    assert coverage_of(agent.store, whole).streams["out"].lines.matched == ((87, 90),)
    facts = facts_for(agent.store, [whole])[whole.name]
    assert (facts.seen, facts.lines) == (4, 90)


def test_a_json_reply_is_read_for_its_lines(agent: Any, buffer: Buffer) -> None:
    from sightline.doors.terminal.output import render_json
    from sightline.verbs.delivery import deliver

    reply = query(agent.asking, QueryRequest(f"sort {buffer.ref} | head -n 2"))
    deliver(agent.asking, reply, render_json(agent.store), lambda _: None)
    assert _rows(_last(agent, buffer).streams["out"].lines.matched) == {1, 10}


def test_whole_output_is_covered_by_the_reply_that_gave_it(agent: Any) -> None:
    agent.run("seq 1 20; echo oh >&2")
    assert coverage_of(agent.store, agent.newest()).share == 1.0


def test_whole_file_and_page_are_covered(agent: Any, tmp_path: Any) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"line {number}\n" for number in range(1, 3001)))
    agent.deliver(files.read_file(agent.asking, files.FileRequest(str(path), 5, 9)))
    buffer = agent.store.index.newest_file(str(path))
    assert coverage_of(agent.store, buffer).streams["out"].seen == ((5, 9),)


def test_search_hits_are_exact(agent: Any, buffer: Buffer) -> None:
    agent.read(buffer.ref, search="row 7 ", context=1)
    assert _last(agent, buffer).streams["out"].lines.exact == ((6, 8),)


def test_bytes_of_json_are_lines_of_its_pretty_form(agent: Any) -> None:
    import json

    from sightline.capture.result import ResultBlock, capture_result

    data = json.dumps([{"id": number, "name": f"n{number}"} for number in range(500)]).encode()
    kept = capture_result(agent.store, [ResultBlock([data])], command="t", cwd="/", session="s")
    assert isinstance(kept, Buffer)
    start = data.index(b'{"id": 200')
    end = data.index(b'{"id": 210')
    agent.read(kept.ref, offset=start, limit=end - start)
    ((first, last),) = coverage_of(agent.store, kept).streams["part.0"].seen
    # "[", then four lines an item: item 200 stands in lines 802 to 805
    assert 802 <= first <= 804
    assert 838 <= last <= 842
    assert size(((first, last),)) >= 36


def test_last_line_of_a_running_capture_counts_only_when_it_is_whole(agent: Any) -> None:
    recording = agent.store.begin("cmd", "slow", "/", "s")
    recording.register()
    recording.append("out", b"one\ntwo\nthr")
    agent.read(agent.store.index.running()[0].ref)
    shown = [one for view in agent.views() for one in view.shown]
    assert [(one.first, one.last) for one in shown] == [(1, 2)]
    recording.append("out", b"ee\n")
    sealed = recording.seal(exit_code=0)
    assert coverage_of(agent.store, sealed).streams["out"].unseen == ((3, 3),)


def test_coverage_is_right_again_when_a_buffer_has_grown(agent: Any) -> None:
    recording = agent.store.begin("cmd", "slow", "/", "s")
    recording.register()
    recording.append("out", b"a 1\na 2\n")
    ref = agent.store.index.running()[0].ref
    _query(agent, f"cat {ref} | sort")
    grown = agent.store.with_progress(agent.store.resolve(ref).buffer)
    assert _rows(coverage_of(agent.store, grown).streams["out"].seen) == {1, 2}
    recording.append("out", b"a 3\na 4\n")
    sealed = recording.seal(exit_code=0)
    assert coverage_of(agent.store, sealed).streams["out"].unseen == ((3, 4),)
    assert coverage_of(agent.store, sealed).share == 0.5


def test_lines_that_a_command_line_reads_from_a_buffer_are_matched_in_it(agent: Any, buffer: Buffer) -> None:
    agent.run(f"grep 'kind 3' {buffer.ref} | sort -r | head -n 2", verbosity="normal")
    own = agent.newest()
    assert agent.views()[-1].refs == (own.name, buffer.name)
    assert _rows(_last(agent, buffer).streams["out"].lines.matched) == _rows_in(agent.told) != set()
    assert _last(agent, own).streams["out"].lines.exact == ((1, 2),)


def test_a_command_that_was_not_kept_concerns_no_buffer(agent: Any, buffer: Buffer) -> None:
    agent.store.access.settings = agent.store.settings._replace(capture_off=("/",))
    agent.run(f"head -n 2 {buffer.ref}; true")
    assert agent.views()[-1].refs == ()


def test_a_line_that_went_on_after_it_was_shown_is_shown_again_whole(agent: Any) -> None:
    recording = agent.store.begin("cmd", "slow", "/", agent.asking.session.name)
    recording.register()
    recording.append("out", b"one\ntw")
    running = agent.store.with_progress(agent.store.index.running()[0])
    agent.deliver(
        command_reply(agent.asking, running, ending_of(running), verbosity="auto", verb="run_command", request={})
    )
    assert agent.told.endswith("one\ntw")
    recording.append("out", b"o\nthree\n")
    agent.read(running.ref, wait=0)
    assert agent.told.endswith("two\nthree\n")
    assert "one" not in agent.told
    recording.seal(exit_code=0)


@pytest.mark.parametrize("asked", [{"lines": "1-"}, {"search": "t"}], ids=["page", "search"])
@pytest.mark.parametrize("stream", ["", ".all"])
def test_a_line_that_may_go_on_counts_in_no_way_of_asking(agent: Any, asked: dict[str, str], stream: str) -> None:
    recording = agent.store.begin("cmd", "slow", "/", "s")
    recording.register()
    recording.append("out", b"two\nthr")
    recording.append("err", b"tea\nto")
    running = agent.store.index.running()[0]
    agent.read(running.ref + stream, **asked)
    recording.append("out", b"ee\n")
    recording.append("err", b"oth\n")
    seen = {name: one.seen for name, one in coverage_of(agent.store, recording.seal(exit_code=0)).streams.items()}
    assert seen == {"out": ((1, 1),), "err": ((1, 1),) if stream else ()}
