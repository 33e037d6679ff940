"""Cases of Everruns (F, G, L, M, N, O) that its profile decides."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.base.profile import load_profile
from sightline.log.log_index import list_views
from sightline.log.retention import evict
from sightline.log.view_text import view_text
from sightline.shape.budgets import HARD_LIMIT_BYTES, budget_for
from sightline.shape.cut import shape
from sightline.shape.cut_styles import shape_as, split_bytes
from sightline.shape.failure.failure_scan import find_failures
from sightline.shape.failure.judge import Judge
from sightline.shape.failure.layers import layers_of
from sightline.shape.markers import MARKER
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import join_segments, shown_ranges
from sightline.shape.variants import last_segment, text_of

PROFILE = "everruns"
CUT = load_profile(PROFILE).cut
Keep = Callable[..., str]


def _cut(out: bytes, budget: int, *, failed: bool = False) -> str:
    source, nothing = BytesSource(out, "@cmd_a1b2c3"), BytesSource(b"")
    return join_segments(shape_as(CUT, source, nothing, budget=budget, failed=failed).segments)


# F: the middle cut


@pytest.mark.parametrize(("text", "budget"), [("exact", 5), ("é€", 5), ("", 0), ("short", 1000)])
def test_f04_what_fits_is_unchanged(text: str, budget: int) -> None:
    assert _cut(text.encode(), budget) == text


def test_f05_a_fifth_head_four_fifths_tail_and_the_bytes_between() -> None:
    text = "HEAD_CONTENT_" + "x" * 1000 + "_TAIL_CONTENT"
    cut = _cut(text.encode(), 200)
    head, marker, tail = cut.partition("\n\n[... 906 bytes omitted ...]\n\n")
    assert marker
    assert (len(head), len(tail), len(cut)) == (24, 96, 151)
    assert text.startswith(head)
    assert text.endswith(tail)


@pytest.mark.parametrize("budget", [0, 1, 10, 25, 50, 80])
def test_f07_with_no_room_for_more_the_marker_is_cut(budget: int) -> None:
    assert _cut(b"a" * 1000, budget) == "[... 1000 bytes omitted ...]"[:budget]


def test_f08_characters_are_never_split() -> None:
    assert split_bytes("a€b", 2, 0)[0] == "a"
    assert split_bytes("a€b", 0, 3)[1] == "b"
    assert split_bytes("a€b", 99, 99) == ("a€b", "a€b")
    assert split_bytes("é😀", 3, 0)[0] == "é"
    assert split_bytes("é😀", 0, 3)[1] == ""


def test_f10_seven_to_three_in_wide_characters() -> None:
    text = "日本語" * 5000
    head, tail = split_bytes(text, 700, 300)
    sizes = len(head.encode()), len(text.encode()) - len((head + tail).encode()), len(tail.encode())
    assert sizes == (699, 44_001, 300)


# G: cleaning


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ("array[0] = 1", "array[0] = 1"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[Hhome", "home"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]0;title\x1b\\after", "after"),
        ("\x1b(Bé\x1b)0€\x1b(B", "é€"),
        ("before\x1b[31", "before"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("\n\nlate\n", "\n\nlate\n"),
    ],
)
def test_g01_escapes_go_and_all_else_stays(raw: str, text: str) -> None:
    assert text_of(raw.encode(), "last-segment") == text


def test_g04_colour_progress_and_a_long_line(agent: Any) -> None:
    progress = b"\x1b[32m" + b"\r".join(b"%d %%" % share for share in range(0, 101, 10)) + b"\x1b[0m\n"
    agent.asking = agent.asking._replace(
        profile=agent.asking.profile._replace(budgets=agent.asking.profile.budgets._replace(auto_ok=500))
    )
    text = agent.say(progress + b"x" * 20_000).text
    assert "\x1b" not in text
    assert text.startswith("100 %\nx")
    assert " 90 %" not in text
    assert len(text.encode()) <= 500


@pytest.mark.parametrize(("name", "text"), [("everruns", "Done\n"), ("sightline", "Done 1: In progress\n")])
def test_g07_raw_bytes_stay_whatever_the_view(agents: Any, name: str, text: str) -> None:
    agent = agents(name)
    raw = b"Step 1: In progress\rDone\n"
    assert agent.say(raw).text == text
    target = agent.store.resolve("@last")
    assert Path(agent.store.path(target)).read_bytes() == raw
    assert agent.read(target.ref).text == agent.read(target.ref, lines="1").text == text
    assert agent.read(target.ref, search="done").text == "1:" + text


def test_g07_a_long_view_is_rendered_again_by_the_rule_it_was_made_with(agents: Any) -> None:
    everruns = agents("everruns")
    everruns.say(b"".join(b"gone %d over\r%d kept\n" % (line, line) for line in range(3000)))
    told = everruns.tell(everruns.read("@last", lines="1-2000"))
    assert " over" not in told
    (newest, *_) = list_views(everruns.store)
    assert view_text(everruns.store, newest) == told
    plain = agents("sightline")
    other = plain.tell(plain.read("@last", lines="1-2000"))
    assert " over" in other
    evict(everruns.store, everruns.store.resolve("@last").buffer)
    (second, first, *_) = list_views(everruns.store)
    assert [view_text(everruns.store, view) for view in (first, second)] == [told, other]


# L: budgets


@pytest.mark.parametrize(
    ("mode", "exit_code", "budget"),
    [
        ("auto", 0, 384),
        ("auto", 1, 8192),
        ("auto", -1, 8192),
        ("auto", 137, 8192),
        ("silent", 0, 200),
        ("concise", 0, 2048),
        ("normal", 1, 8192),
        ("verbose", 0, 16_384),
        ("full", 1, None),
        ("chatty", 0, 2048),
    ],
)
def test_l01_budgets(agent: Any, mode: str, exit_code: int, budget: int | None) -> None:
    assert budget_for(mode, not exit_code, agent.asking.profile.budgets) == budget
    text = "START" + "x" * 19_990 + "FINIS"
    reply = agent.say(text.encode(), exit_code=exit_code & 255, verbosity=mode)
    if budget is None:
        assert reply.text == text
        return
    assert len(reply.text.encode()) <= budget
    assert reply.text.startswith("START")
    assert reply.text.rstrip().endswith("FINIS")


def _buried(line: bytes, at: int = 100, of: int = 200) -> bytes:
    rows = [b"ordinary line %d of no interest" % number for number in range(1, of + 1)]
    rows[at:at] = line.split(b"\n")
    return b"\n".join(rows) + b"\n"


def test_l02_only_a_failure_looks_for_what_is_buried() -> None:
    out = _buried(b"error: something went wrong here")
    ok, failed = _cut(out, 1000), _cut(out, 1000, failed=True)
    assert "error:" not in ok
    assert ok.startswith("ordinary line 1 ")
    assert ok.endswith("line 200 of no interest\n")
    assert "error: something went wrong here\n" in failed
    assert max(len(ok.encode()), len(failed.encode())) <= 1000


@pytest.mark.parametrize(
    ("lines", "budget"),
    [
        (b"error[E0308]: mismatched types\n  --> src/main.rs:10:5", 1000),
        (b'Traceback (most recent call last):\n  File "app.py", line 3, in run\n    go()\nValueError: no', 800),
        (b"thread 'main' panicked at src/lib.rs:4:9:\nindex out of bounds", 600),
        (b"E       expected 1, got 2", 600),
    ],
)
def test_l04_what_explains_the_failure_is_kept_together(lines: bytes, budget: int) -> None:
    cut = _cut(_buried(lines), budget, failed=True)
    assert lines.decode() + "\n" in cut
    assert len(cut.encode()) <= budget


def test_l04_two_errors_are_kept_and_what_is_between_is_marked() -> None:
    cut = _cut(_buried(b"error: one", 50) + _buried(b"error: two", 150), 1000, failed=True)
    assert "error: one\n" in cut
    assert "error: two\n" in cut
    assert len(cut.encode()) <= 1000
    assert cut[cut.index("error: one") : cut.index("error: two")].count("elided") == 1


def test_l05_regions_of_five_lines_around_each_hit() -> None:
    rows = [b"row %d" % number for number in range(60)]
    for number in (0, 10, 40, 59):
        rows[number] = b"error: here"
    rows[30] = b"NOTE E is a letter"
    source, judge = BytesSource(b"\n".join(rows) + b"\n"), Judge()
    found = find_failures(source, judge)
    assert found.total == 4
    shown: set[int] = set()
    for hit in found.hits:
        ((first, last),) = layers_of(hit, source, judge)[-1]
        shown.update(range(first - 1, last))
    assert shown == {*range(16), *range(35, 46), *range(54, 60)}


def test_l07_a_line_is_whole_or_says_that_it_is_not() -> None:
    out = _buried(b"error: here\n" + b"context " * 300)
    lines = set(out.decode().splitlines())
    for budget in (300, 600, 1000):
        for line in _cut(out, budget, failed=True).splitlines():
            assert line in lines or re.fullmatch(MARKER, line) or "of this line elided" in line


# M: where the whole is


def test_m01_what_is_complete_names_no_file(agent: Any) -> None:
    reply = agent.run("echo complete", verbosity="normal")
    assert (reply.text, reply.fields) == ("complete\n", {"exit_code": 0})
    stored = agent.store.resolve("@last")
    assert Path(agent.store.path(stored)).read_text() == "complete\n"


def test_m02_what_is_not_names_the_file_of_the_whole(agent: Any) -> None:
    text = "".join(f"line {number} of the output\n" for number in range(1501))
    fields = agent.say(text.encode(), verbosity="normal").fields
    assert fields["output_files"] == [fields["full_output"]]
    assert Path(fields["full_output"]).read_text() == text


def test_m07_budgets_of_streams_and_the_pointer(agent: Any) -> None:
    reply = agent.say(b"x" * 8193)
    assert len(reply.text.encode()) <= 384
    assert Path(reply.fields["full_output"]).stat().st_size == 8193
    assert len(agent.say(b"x" * 16_384, exit_code=1).text.encode()) <= 8192
    assert len(agent.say(b"", b"x" * 16_384, exit_code=1).text.encode()) <= 8192
    assert agent.run("printf 'hello world'").fields == {"exit_code": 0}
    full = agent.say(b"x" * 24_576, verbosity="full")
    assert (full.text, "full_output" in full.fields) == ("x" * 24_576, False)


@pytest.mark.parametrize("name", ["everruns", "sightline"])
def test_m10_outputs_never_overwrite_each_other_and_a_cap_says_what_it_dropped(agents: Any, name: str) -> None:
    agent = agents(name)
    refs = [agent.say(b"%d" % number * 9000).fields["output_id"] for number in (1, 2)]
    paths = [Path(agent.store.path(agent.store.resolve(ref))) for ref in refs]
    assert [path.read_bytes()[:1] for path in paths] == [b"1", b"2"]
    agent.store.access.settings = agent.store.settings._replace(max_stream_bytes=1000)
    reply = agent.say(b"x" * 9000)
    assert "8,000" in agent.tell(reply)


# N: the hard limit


DIFF = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n ctx\n-old\n+new {long}\n+two\n"


@pytest.mark.parametrize("agent", ["everruns", "sightline"], indirect=True)
def test_n04_a_diff_keeps_its_headers_and_counts_what_it_drops(agent: Any) -> None:
    reply = agent.result(DIFF.format(long="n" * 9000).encode())
    ref = f"{agent.newest.ref}.0"
    assert reply.text == (
        "[… diff of 1 file: +2 -1 …]\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n[… +2 -1 in this file …]\n"
        f"@@ -1,2 +1,3 @@\n[… 4 lines elided: {ref}:5-8 …]\n"
    )
    assert reply.fields["description"] == "diff of 1 file: +2 -1"
    prose = agent.result("".join(f"line {number}: +this is -not a diff\n" for number in range(900)).encode())
    assert prose.fields["description"] == "text content"


@pytest.mark.parametrize("agent", ["everruns", "sightline"], indirect=True)
def test_n01_n05_what_is_sampled_is_small_and_recoverable(agent: Any) -> None:
    value = {f"field_{number}": number for number in range(2000)}
    reply = agent.result(value)
    assert len(reply.text.encode()) < 8192
    assert "more keys elided" in reply.text
    assert json.loads(agent.raw(f"{agent.newest.ref}.0")) == value
    agent.result([{"id": number, "data": "x" * 30} for number in range(2000)])
    assert agent.read(f"{agent.newest.ref}.0", path="$[1999].id").text == "1999\n"


@pytest.mark.parametrize("agent", ["everruns", "sightline"], indirect=True)
def test_n01_rows_beyond_five_are_counted_and_the_files_are_named_where_the_profile_does(agent: Any) -> None:
    reply = agent.result([{"id": number, "data": "x" * 30} for number in range(2000)])
    assert "[… 1,995 more items elided: " in reply.text
    assert len(reply.fields.get("output_files", [])) == agent.asking.profile.files.shown


@pytest.mark.parametrize(("count", "cut"), [(5, False), (6, True)])
def test_n02_five_elements_are_all_shown_and_of_six_five(agent: Any, count: int, cut: bool) -> None:
    reply = agent.result({"few": ["y" * 200] * count, "many": ["x" * 90] * 200})
    assert ("[… 1 more item elided: " in reply.text) == cut


def test_n08_no_body_is_larger_than_the_hard_limit() -> None:
    nothing = BytesSource(b"")

    def body(data: bytes) -> str:
        return join_segments(shape(BytesSource(data, "@cmd_a1b2c3"), nothing, budget=None, failed=False).segments)

    for size in (10, HARD_LIMIT_BYTES):
        assert body(b"x" * size) == "x" * size
    lines = b"".join(b"%099d\n" % number for number in range(666))
    for data in (lines, "€".encode() * 30_000):
        cut = body(data)
        assert len(cut.encode()) <= HARD_LIMIT_BYTES
        assert "elided" in cut
        assert "\ufffd" not in cut
    assert body(lines).splitlines()[-1].startswith("[… ")


@pytest.mark.parametrize("name", ["everruns", "sightline"])
def test_n08_no_reply_is_either(agents: Any, name: str) -> None:
    agent = agents(name)
    reply = agent.say(b"".join(b"%099d\n" % number for number in range(700)), verbosity="full")
    assert len(agent.tell(reply).encode()) <= HARD_LIMIT_BYTES
    assert reply.text.startswith("0" * 99)
    assert re.fullmatch(MARKER, reply.text.splitlines()[-1])


# O: pages


def test_o02_a_page_has_fifty_kibibytes_and_no_half_characters(agent: Any, keep: Keep) -> None:
    ref = keep("€".encode() * 18_000)
    reply = agent.read(ref)
    assert reply.text == "€" * (51_200 // 3)
    assert reply.fields["next_offset"] == 51_200 // 3 * 3
    for size in (51_199, 51_200, 51_201):
        fields = agent.read(keep(b"x" * size)).fields
        assert (fields["bytes"][1], "truncated" in fields) == (min(size, 51_200), size > 51_200)
    assert agent.read(keep(b"x" * 51_198 + "😀".encode())).text == "x" * 51_198


@pytest.mark.parametrize("name", ["everruns", "sightline"])
def test_o04_one_long_line_is_read_on_by_bytes(agents: Any, name: str) -> None:
    agent = agents(name)
    agent.say(b"x" * 51_200 + b"y")
    read, offset = "", 0
    while offset is not None:
        reply = agent.read("@last", offset=offset)
        read += reply.text
        offset = reply.fields.get("next_offset")
    assert read == "x" * 51_200 + "y"


def test_o05_bytes_that_are_no_text_are_not_shown(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\x00\xfe")
    reply = agent.file(tmp_path / "binary")
    assert (reply.text, reply.fields["total_bytes"]) == ("", 3)
    assert "binary" in reply.fields["note"]


def test_last_segment_is_the_rule_of_this_profile(agent: Any) -> None:
    assert agent.asking.profile.cleaning.views == "last-segment"
    assert last_segment(b"a\rb") == agent.say(b"a\rb").text == "b"
    assert next(shown_ranges(agent.say(b"a\rb").body))[1:] == (1, 1)
