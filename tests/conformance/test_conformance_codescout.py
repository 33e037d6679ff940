"""Cases of codescout (A to J) that its profile's numbers decide."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.pipeline.parse import parse
from sightline.pipeline.run import Head, QueryLimits, QueryResult, reply_of
from sightline.shape.variants import text_of
from sightline.verbs.reply import serialised_bytes
from sightline.verbs.requests import RunRequest

PROFILE = "codescout"
Keep = Callable[..., str]


ROWS = [{"id": number, "name": f"item {number}", "v": "xxxxx"} for number in range(400)]


def _lines(count: int, width: int) -> bytes:
    """Lines of so many bytes, newline included."""
    return b"".join(b"%0*d\n" % (width - 1, number) for number in range(1, count + 1))


# B: results in commands


def test_b10_b11_a_results_json_is_pretty_printed_and_other_text_is_verbatim(agent: Any) -> None:
    agent.result(b'{"symbols": [1, 2], "x": {}}')
    ref = agent.newest.ref
    assert agent.run(f"cat {ref}").text == '{\n  "symbols": [\n    1,\n    2\n  ],\n  "x": {}\n}\n'
    assert agent.run(f"grep -c , {ref}").text == "2\n"
    if shutil.which("jq"):
        assert agent.query(f"jq -c .symbols {ref}").text == "[1,2]\n"
    assert agent.raw(ref) == b'{"symbols": [1, 2], "x": {}}'
    agent.result(b"plain, {as it is}")
    assert agent.run(f"cat {agent.newest.ref}").text == "plain, {as it is}"


# D: what comes inline


def test_d05_a_small_result_is_its_json_and_nothing_else(agent: Any) -> None:
    reply = agent.result({"a": [1, 2]})
    assert (reply.text, reply.fields) == ('{"a": [1, 2]}', {})


def test_d07_twelve_kilobytes_of_json_have_a_ref_and_two_are_inline(agent: Any) -> None:
    small, large = agent.result(ROWS[:50]), agent.result(ROWS[:300])
    assert "output_id" not in small.fields
    assert (large.fields["output_id"], agent.newest.bytes > 12_000) == (agent.newest.ref, True)
    assert large.fields["next"] == f"sightline show {agent.newest.ref}.0 --path '$[5]'"


def test_d01_small_output_is_inline_without_id_or_hint(agent: Any) -> None:
    reply = agent.run("echo hello")
    assert (reply.text, reply.fields) == ("hello\n", {"exit_code": 0})


def test_d04_ten_thousand_and_three_bytes_of_streams_are_short_and_one_more_is_not(agent: Any) -> None:
    profile = agent.asking.profile
    streams = agent.asking._replace(profile=profile._replace(short=profile.short._replace(measure="streams")))
    agent.asking = streams
    assert "output_id" not in agent.say(b"o" * 10_000, b"err").fields
    assert "output_id" in agent.say(b"o" * 10_001, b"err").fields


def test_d04_d10_then_the_serialised_reply_is_measured_by_the_same_limit(agent: Any) -> None:
    beside = serialised_bytes({"exit_code": 0}, "")
    assert "output_id" not in agent.say(b"o" * (10_003 - beside)).fields
    assert "output_id" in agent.say(b"o" * (10_004 - beside)).fields
    reply = agent.run("seq 1 2000")
    assert reply.fields["output_id"].startswith("@cmd_")
    assert agent.store.resolve(reply.fields["output_id"]).buffer.bytes == 8893


# E: queries


def test_e01_hundred_short_lines_are_whole(agent: Any, keep: Keep) -> None:
    reply = agent.query(f"cat {keep(_lines(100, 11))}")
    assert len(reply.text.splitlines()) == 100
    assert "truncated" not in reply.fields


def test_e02_e04_more_are_cut_with_counts_and_make_no_ref(agent: Any, keep: Keep) -> None:
    reply = agent.query(f"cat {keep(_lines(101, 121))}")
    assert 0 < reply.fields["stdout_shown"] <= 100
    assert (reply.fields["truncated"], reply.fields["stdout_total"]) == (True, 101)
    reply = agent.query(f"cat {keep(_lines(101, 201))}")
    assert (reply.fields["stdout_shown"], "output_id" in reply.fields) == (48, False)
    assert serialised_bytes(reply.fields, reply.text) <= 10_000


def test_e05_e14_one_enormous_line_is_clipped_with_true_totals(agent: Any, keep: Keep) -> None:
    reply = agent.query(f"cat {keep(b'x' * 11_000)}")
    assert (reply.fields["truncated"], reply.fields["stdout_total"]) == (True, 1)
    assert reply.fields["note"]
    assert reply.text.startswith("x" * 9_000)


def _answer(agent: Any, ref: str, out: bytes, err: bytes) -> QueryResult:
    """The reply to a query whose programs wrote this."""
    limits = QueryLimits(**agent.asking.profile.query._asdict())
    heads = Head(limits.max_bytes), Head(limits.max_bytes)
    for head, data in zip(heads, (out, err), strict=True):
        head.feed(data)
    return reply_of(parse(f"cat {ref}", lambda _: "/dev/null"), limits, *heads)


def test_e07_stderr_takes_its_lines_off_the_hundred(agent: Any, keep: Keep) -> None:
    answer = _answer(agent, keep(b"a\n"), _lines(250, 4), _lines(10, 4))
    assert (answer.stdout_shown, answer.stdout_total) == (90, 250)
    assert (answer.stderr_shown, answer.stderr_total) == (10, 10)


def test_e08_few_lines_of_both_are_whole(agent: Any, keep: Keep) -> None:
    answer = _answer(agent, keep(b"a\n"), _lines(30, 4), _lines(15, 4))
    assert (answer.truncated, answer.next_page) == (False, None)
    assert (answer.stdout, answer.stderr) == (_lines(30, 4), _lines(15, 4))


def test_e13_answers_just_over_the_cap_have_the_same_fields_as_larger_ones(agent: Any, keep: Keep) -> None:
    just, far = (agent.query(f"cat {keep(_lines(count, 97))}") for count in (101, 900))
    assert (just.fields["stdout_shown"], far.fields["stdout_shown"]) == (100, 100)
    just, far = (agent.query(f"cat {keep(_lines(count, 99))}") for count in (98, 900))
    assert 9_701 <= 98 * 99 <= 10_003
    assert list(just.fields) == list(far.fields)
    assert just.fields["stdout_shown"] == far.fields["stdout_shown"] == 97


# F: cutting by lines and bytes


@pytest.mark.parametrize(
    ("text", "lines", "bytes_", "shown", "total"),
    [
        (b"aaa\nbbb\nccc\n", 2, 1000, b"aaa\nbbb\n", 3),
        (b"aaa\nbbb\nccc\nddd\neee\n", 10, 8, b"aaa\nbbb\n", 5),
        (b"aaa\nbbb\n", 10, 1000, b"aaa\nbbb\n", 2),
    ],
)
def test_f01_lines_and_bytes(text: bytes, lines: int, bytes_: int, shown: bytes, total: int) -> None:
    head = Head(bytes_)
    head.feed(text)
    assert head.shown(lines, bytes_) == (shown, shown.count(b"\n"), 0)
    assert head.lines == total


def test_f02_lines_alone() -> None:
    for count, shown in ((3, 3), (10, 3)):
        head = Head(1000)
        head.feed(b"x\n" * count)
        assert head.shown(3, 1000)[:2] == (b"x\n" * shown, shown)
    empty = Head(1000)
    assert (empty.shown(3, 1000), empty.lines) == ((b"", 0, 0), 0)


# G: cleaning


def test_g02_colours_go_newlines_and_other_escapes_stay(agent: Any, keep: Keep) -> None:
    ref = keep(b"\x1b[38;5;196mred\x1b[0m\nplain\n\x1b=hello\n")
    assert agent.query(f"cat {ref}").text == "red\nplain\n\x1b=hello\n"
    assert text_of(b"\x1b[38;5;196mred\x1b[0m\n", "csi") == "red\n"


def test_g02_what_everruns_makes_of_another_escape(agents: Any) -> None:
    assert agents("everruns").say(b"\x1b=hello\n").text == "hello\n"


# H: the summary of any output


def test_h07_first_twenty_and_last_ten_lines(agent: Any, keep: Keep) -> None:
    text = agent.run("seq 1 3000").text
    assert text.splitlines()[:20] == [str(number) for number in range(1, 21)]
    assert text.splitlines()[-10:] == [str(number) for number in range(2991, 3001)]
    assert "2,970 lines elided" in text
    assert len(text.splitlines()) == 31
    long = agent.say(_lines(100, 110)).text.splitlines()
    assert (len(long), int(long[0]), int(long[19]), int(long[-1])) == (31, 1, 20, 100)
    assert agent.run("echo a; echo b; echo c").text == "a\nb\nc\n"
    assert "[stderr]" not in agent.run("seq 1 3000").text
    assert agent.say(b"", b"oh\n").text == "[stderr]\noh\n"


def test_h11_stderr_is_bounded_too(agent: Any) -> None:
    text = agent.say(b"", _lines(3000, 5)).text
    assert len(text.splitlines()) == 32
    assert "2,970 lines elided" in text


# I: reading by lines


def test_i02_lines_and_totals(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep(b"1\n2\n3\n4\n5\n"), lines="2-4")
    assert (reply.text, reply.fields["total_lines"]) == ("2\n3\n4\n", 5)


def test_i04_a_first_line_alone_is_fifty(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(_lines(400, 5))
    reply = agent.file(path, start_line=100)
    assert [int(line) for line in reply.text.splitlines()] == list(range(100, 150))
    assert int(agent.file(path, start_line=380).text.splitlines()[-1]) == 400


def test_i07_a_long_range_is_cut_to_a_page(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(_lines(400, 41))
    reply = agent.file(path, start_line=50, end_line=400)
    first, last = map(int, reply.fields["lines"].split("-"))
    assert (first, 50 < last < 300, reply.fields["total_lines"]) == (50, True, 400)
    assert f"--lines {last + 1}-400" in reply.fields["next"]


def test_i10_small_files_and_small_ranges_are_inline(agent: Any, tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"a\nb\n")
    large.write_bytes(_lines(210, 55))
    assert (agent.file(small).text, agent.file(small).fields) == ("a\nb\n", {})
    assert {"file_id", "truncated"} <= set(agent.file(large).fields)
    assert "hint" not in agent.file(large).fields
    part = agent.file(large, start_line=3, end_line=5)
    assert (len(part.text.splitlines()), part.missing) == (3, False)


@pytest.mark.parametrize("agent", ["codescout", "sightline"], indirect=True)
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            json.dumps({"name": "p", "deps": {"a": 1, "b": 2}, "v": "1", "rows": ROWS}, indent=1),
            "{name, deps, v, rows}",
        ),
        (json.dumps(ROWS, indent=1), "[{id, name, v}] (400 items)"),
        ("{malformed " * 2000, None),
    ],
)
def test_i14_a_json_file_is_described_by_its_keys_and_a_malformed_one_is_text(
    agent: Any, tmp_path: Path, text: str, told: str | None
) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    reply = agent.file(path)
    assert reply.fields.get("description") == told
    assert reply.text.startswith(text[0])


# J: time limits


def test_j05_half_a_minute_unless_told(agent: Any) -> None:
    profile = agent.asking.profile
    assert RunRequest("true").limit_secs(profile) == 30
    for told in (120, 300, 86_400):
        assert RunRequest("true", timeout_secs=told).limit_secs(profile) == told


def test_i01_a_ref_alone_is_its_content_with_the_total(agent: Any, keep: Callable[..., str]) -> None:
    reply = agent.read(keep(b"a\nb\nc\n"))
    assert (reply.text, reply.fields["total_lines"]) == ("a\nb\nc\n", 3)
