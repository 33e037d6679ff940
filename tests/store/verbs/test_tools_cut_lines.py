"""A line is seen as far as its bytes were: whatever cuts one, coverage counts the part of it that was shown."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.coverage import Coverage, told_share
from sightline.audit.kept_facts import facts_for, share_in
from sightline.audit.line_spans import size
from sightline.audit.timeline import calls_of, captured_by, share_seen
from sightline.base.profile import load_profile
from sightline.base.records import Buffer, LinePart
from sightline.log.log_index import rebuild_views
from sightline.store import Target
from sightline.verbs import read_file as files
from sightline.verbs.command_view import command_reply, ending_of
from sightline.verbs.query import query
from sightline.verbs.requests import QueryRequest
from sightline.verbs.result_view import result_reply

Keep = Callable[..., Buffer]
NUMBERS = b" ".join(b"%d" % number for number in range(200_000))


def _coverage(agent: Any, buffer: Buffer) -> Coverage:
    return coverage_of(agent.store, buffer)


def _reply(agent: Any, buffer: Buffer, **more: Any) -> None:
    asked: dict[str, Any] = {"verbosity": "auto", "verb": "run_command", "request": {}, **more}
    agent.deliver(command_reply(agent.asking, buffer, ending_of(buffer), **asked))


def _seen(coverage: Coverage, line: int = 1, stream: str = "out") -> int:
    """How many bytes of a line were seen."""
    return size(coverage.streams[stream].lines.cut[line].seen)


def _holds_what_it_tells(agent: Any, buffer: Buffer) -> None:
    """Every part that the newest view tells of stands in its text."""
    for part in agent.views()[-1].parts:
        with agent.store.open_text(Target(buffer, part.stream)) as source:
            start = source.offset_of_line(part.line)
            for first, last in part.seen:
                assert source.read(start + first - 1, last - first + 1).decode() in agent.told


def test_of_a_line_of_a_megabyte_a_kilobyte_was_seen(agent: Any, keep: Keep) -> None:
    buffer = keep(NUMBERS)
    _reply(agent, buffer)
    coverage = _coverage(agent, buffer)
    seen = _seen(coverage)
    assert 500 < seen < 1_100
    assert coverage.share == pytest.approx(seen / len(NUMBERS))
    assert coverage.seen_lines == 0
    assert told_share(coverage) == "< 0.1 %"
    _holds_what_it_tells(agent, buffer)
    facts = facts_for(agent.store, [buffer])[buffer.name]
    assert share_in(facts, buffer).share == coverage.share
    seen = share_seen(calls_of(agent.store), captured_by(agent.store, ["s"]))
    assert (seen.share, seen.total) == (coverage.share, 1)


def test_paging_through_a_line_ends_at_all_of_it(agent: Any, keep: Keep) -> None:
    buffer = keep("häßlich ".encode() * 20_000 + b"\nanother line\n")
    offset, shares = 0, []
    while offset is not None:
        offset = agent.read(buffer.ref, offset=offset).fields.get("next_offset")
        shares.append(_coverage(agent, buffer).share)
    assert shares == sorted(set(shares))
    assert shares[0] < 0.2
    assert shares[-1] == 1
    assert _coverage(agent, buffer).streams["out"].lines.exact == ((1, 2),)


def test_a_byte_that_is_missing_is_told(agent: Any, keep: Keep) -> None:
    buffer = keep(NUMBERS[:5_000] + b"\n")
    agent.read(buffer.ref, offset=0, limit=4_999)
    coverage = _coverage(agent, buffer)
    assert (coverage.seen_lines, _seen(coverage)) == (0, 4_999)
    assert told_share(coverage) == told_share(coverage, 0).replace("99", "99.9") == "> 99.9 %"
    agent.read(buffer.ref, offset=4_999)
    assert _coverage(agent, buffer).share == 1


def test_the_lines_of_a_byte_page_are_whole_but_for_its_ends(agent: Any, keep: Keep) -> None:
    buffer = keep(b"0123456789\n" * 10)
    agent.read(buffer.ref, offset=15, limit=30)
    coverage = _coverage(agent, buffer)
    assert coverage.streams["out"].lines.exact == ((3, 4),)
    assert {line: one.seen for line, one in coverage.streams["out"].lines.cut.items()} == {2: ((5, 10),), 5: ((1, 1),)}
    assert coverage.share == pytest.approx((2 + 0.6 + 0.1) / 10)
    agent.read(buffer.ref, offset=10, limit=1)  # a newline alone
    assert agent.views()[-1].shown == agent.views()[-1].parts == ()


def test_a_line_that_a_page_cuts_in_the_middle_counts_by_its_ends(agent: Any, keep: Keep) -> None:
    buffer = keep(NUMBERS + b"\nshort\n")
    agent.read(buffer.ref, lines="1-2")
    assert agent.views()[-1].shown == ()
    assert 0 < _seen(_coverage(agent, buffer)) < len(NUMBERS)
    _holds_what_it_tells(agent, buffer)


@pytest.mark.parametrize("word", ["needle", "aaaa"])
def test_a_line_that_is_clipped_around_a_match_counts_by_what_is_around_it(agent: Any, keep: Keep, word: str) -> None:
    buffer = keep(b"a" * 3_000 + b" needle " + b"z" * 3_000 + b"\nneedle aaaa\n")
    agent.read(buffer.ref, search=word)
    coverage = _coverage(agent, buffer)
    assert coverage.streams["out"].lines.exact == ((2, 2),)
    assert _seen(coverage) == 400
    _holds_what_it_tells(agent, buffer)


def test_a_match_in_a_line_too_long_to_be_read_whole_is_told_with_its_place(agent: Any, keep: Keep) -> None:
    buffer = keep(b"a" * 100_000 + b" needle " + b"z" * 3_000 + b"\n")
    agent.read(buffer.ref, search="needle")
    assert _seen(_coverage(agent, buffer)) == 400
    assert " needle " in agent.told
    _holds_what_it_tells(agent, buffer)


def test_colours_are_no_reason_to_count_less(agent: Any, keep: Keep) -> None:
    buffer = keep(b"\x1b[31m" + b"e" * 3_000 + b"\x1b[0m" + b"\x1b[32m" + b"o" * 3_000 + b"\x1b[0m\n")
    _reply(agent, buffer, verbosity="concise")
    cut = _coverage(agent, buffer).streams["out"].lines.cut[1]
    assert [cut.seen[0][0], cut.seen[-1][1]] == [1, cut.length]
    assert 1_500 < size(cut.seen) < 2_048


def test_a_query_that_shows_the_beginning_of_a_line_shows_no_more(agent: Any, keep: Keep) -> None:
    buffer = keep(NUMBERS + b"\nshort\n")
    for pipeline, number in (("head -n 1", 0), ("cat -n", 7), ("grep -n 12345", 2)):
        agent.deliver(query(agent.asking, QueryRequest(f"{pipeline} {buffer.ref}")))
        [part] = agent.views()[-1].parts
        assert (agent.views()[-1].shown, part.line, part.length) == ((), 1, len(NUMBERS))
        [(first, last)] = part.seen
        assert first == 1
        assert NUMBERS[:last].decode() == agent.told.splitlines()[1][number:].partition(" [… ")[0]


def test_a_json_text_on_one_line_counts_by_what_is_shown_of_it(agent: Any) -> None:
    data = {"rows": [{"id": number, "name": "n" * 20} for number in range(900)], "end": "FATAL: database is gone"}
    agent.run(f"printf %s '{json.dumps(data)}'")
    buffer = agent.newest()
    coverage = _coverage(agent, buffer)
    assert 0 < coverage.share < 0.1
    raw = agent.raw(buffer).decode()
    shown = "".join(raw[first - 1 : last] for first, last in coverage.streams["out"].lines.cut[1].seen)
    assert re.findall(r'"id": \d+', shown) == re.findall(r'"id": \d+', agent.told) != []
    assert ("FATAL" in shown) == ("FATAL" in agent.told)


def test_a_string_that_is_cut_in_a_result_counts_by_its_ends(agent: Any, keep: Keep) -> None:
    text = json.dumps({"first": "one", "long": NUMBERS[:7_000].decode(), "last": 3}, indent=2)
    buffer = keep(text.encode() + b"\n")
    _reply(agent, buffer, verbosity="concise")
    _holds_what_it_tells(agent, buffer)
    assert _coverage(agent, buffer).streams["out"].seen == ((1, 2), (4, 5))
    assert 500 < _seen(_coverage(agent, buffer), 3) < 2_048


@pytest.mark.parametrize("profile", ["everruns", "roo", "codescout", "sightline", "gh-aw"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.sampled_from([3, 40, 700, 6_000, 90_000]), min_size=1, max_size=6),
    ending=st.sampled_from([b"", b"\n", b"\r\n"]),
    verbosity=st.sampled_from(["auto", "concise", "normal"]),
)
def test_no_view_of_any_profile_tells_of_a_byte_that_it_does_not_show(
    agent: Any, keep: Keep, profile: str, lengths: list[int], ending: bytes, verbosity: str
) -> None:
    agent.asking = agent.asking._replace(profile=load_profile(profile))
    at, lines = 0, []
    for length in lengths:
        lines.append(NUMBERS[at : at + length].strip() + (b"" if ending == b"" else ending.removesuffix(b"\n")))
        at += length
    buffer = keep(b"\n".join(lines) + ending.removeprefix(b"\r"))
    _reply(agent, buffer, verbosity=verbosity)
    view = agent.views()[-1]
    with agent.store.open(Target(buffer, "out")) as source:
        for part in view.parts:
            start = source.offset_of_line(part.line)
            for first, last in part.seen:
                shown = source.read(start + first - 1, last - first + 1).rstrip(b"\r").decode()
                assert shown in agent.told
        for shown_range in view.shown:
            for line in source.lines(shown_range.first, shown_range.last, 1 << 20):
                assert line.data.rstrip(b"\r").decode() in agent.told


def test_bytes_of_a_json_result_are_those_of_the_lines_it_is_read_by(agent: Any) -> None:
    from sightline.capture.result import ResultBlock, capture_result

    data = json.dumps({"names": ["é" * 30, {"deep": [1, 22, True]}], "more": "x" * 300, "n": 12.5, "none": {}}).encode()
    buffer = capture_result(agent.store, [ResultBlock([data])], command="t {}", cwd="/", session="s")
    assert isinstance(buffer, Buffer)
    size_, offset = len(data), 0
    while offset is not None and offset < size_:
        offset = agent.read(f"{buffer.ref}.0", offset=offset, limit=17).fields.get("next_offset")
        assert (_coverage(agent, buffer).share == 1) == (offset is None)
    assert _coverage(agent, buffer).streams["part.0"].lines.cut == {}


def test_a_value_that_a_path_names_is_all_that_is_seen_of_its_line(agent: Any) -> None:
    from sightline.capture.result import ResultBlock, capture_result

    data = json.dumps({"name": "value", "list": [1, 2]}).encode()
    buffer = capture_result(agent.store, [ResultBlock([data])], command="t {}", cwd="/", session="s")
    assert isinstance(buffer, Buffer)
    agent.read(f"{buffer.ref}.0", path="$.name")
    assert agent.views()[-1].parts == (LinePart(buffer.name, "part.0", 2, 18, ((11, 17),)),)
    agent.read(f"{buffer.ref}.0", path="$.list")
    assert [(one.first, one.last) for one in agent.views()[-1].shown] == [(4, 6)]
    assert [(one.line, one.seen) for one in agent.views()[-1].parts] == [(3, ((11, 11),))]
    agent.deliver(result_reply(agent.asking, buffer, verb="tool", request={}))
    assert _coverage(agent, buffer).share == 1


def test_a_string_of_a_json_text_on_one_line_counts_as_far_as_it_is_shown(agent: Any, keep: Keep) -> None:
    data = json.dumps({"a": NUMBERS[:90_000].decode(), "b": [1, 2, 3]})
    buffer = keep(data.encode())
    agent.read(buffer.ref, path="$.a", limit=1_000)
    assert _seen(_coverage(agent, buffer)) == 1_001
    agent.read(buffer.ref, path="$", limit=1_000)
    assert _seen(_coverage(agent, buffer)) <= 1_010


def test_a_file_that_is_one_long_line_was_seen_by_its_ends(agent: Any, tmp_path: Any) -> None:
    (tmp_path / "min.js").write_bytes(NUMBERS)
    agent.deliver(files.read_file(agent.asking, files.FileRequest(str(tmp_path / "min.js"))))
    [buffer] = [item.buffer for item in agent.store.listed(5)]
    assert 0 < _coverage(agent, buffer).share < 0.01
    _holds_what_it_tells(agent, buffer)


def test_parts_are_in_the_log_and_in_an_index_made_of_it(agent: Any, keep: Keep) -> None:
    buffer = keep(NUMBERS)
    _reply(agent, buffer)
    before = _coverage(agent, buffer).share
    rebuild_views(agent.store)
    assert _coverage(agent, buffer).share == before > 0


def test_a_line_that_may_still_go_on_is_not_told_as_seen(agent: Any) -> None:
    recording = agent.store.begin("cmd", "make", "/", "s")
    recording.register()
    recording.append("out", b"whole\nbegun " + b"x" * 9_000)
    agent.read("@" + recording.name, offset=0, limit=100)
    assert agent.views()[-1].parts == ()
    assert [(one.first, one.last) for one in agent.views()[-1].shown] == [(1, 1)]
    recording.seal(exit_code=0)
