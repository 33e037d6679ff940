"""read_output: pages by lines and bytes that together are everything once, searches with true totals, and following."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.base.errors import BadRange, BadRef, ExpiredRef, UnknownRef, UsageError
from sightline.base.profile import DEFAULT
from sightline.log import retention
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.store import Target
from sightline.verbs.reply import serialised_bytes
from tests.examples import examples

Keep = Callable[[bytes], str]


@pytest.fixture
def keep(agent: Any, tmp_path: Path) -> Keep:
    """Makes a buffer of some bytes; its ref."""

    def made(data: bytes) -> str:
        (tmp_path / "data").write_bytes(data)
        agent.run(f"cat '{tmp_path}/data'")
        return str(agent.newest().ref)

    return made


def test_lines_are_inclusive_and_counted_from_one(agent: Any, keep: Keep) -> None:
    ref = keep(b"a\nb\nc\nd\ne\n")
    reply = agent.read(ref, lines="2-4")
    assert reply.text == agent.told == "b\nc\nd\n"
    assert reply.fields["lines"] == "2-4"
    assert reply.fields["total_lines"] == 5
    assert agent.read(f"{ref}:2-4").text == "b\nc\nd\n"
    assert agent.read(f"{ref}:4-").text == agent.read(ref, lines="4-").text == "d\ne\n"
    assert agent.read(ref, lines="3").text == "c\n"
    assert agent.read(ref, lines="4-99").fields["lines"] == "4-5"


def test_lines_win_over_the_range_of_the_ref(agent: Any, keep: Keep) -> None:
    assert agent.read(keep(b"a\nb\nc\n") + ":1-2", lines="3").text == "c\n"


@pytest.mark.parametrize("lines", ["0-2", "4-2", "x", "-3", "1-2-3"])
def test_wrong_range_is_an_error(agent: Any, keep: Keep, lines: str) -> None:
    ref = keep(b"a\nb\nc\nd\n")
    with pytest.raises(BadRange):
        agent.read(ref, lines=lines)


def test_line_past_the_end_is_an_error_that_names_the_total(agent: Any, keep: Keep) -> None:
    ref = keep(b"a\nb\n")
    with pytest.raises(BadRange, match="has 2 lines; there is no line 3"):
        agent.read(ref, lines="3-9")


def test_pages_of_lines_are_everything_once(agent: Any, keep: Keep) -> None:
    text = "".join(f"line {number}\n" for number in range(20_000))
    reply = agent.read(keep(text.encode()), lines="1-")
    pages = [reply.text]
    while "next" in reply.fields:
        assert reply.fields["truncated"] is True
        reply = agent.follow(reply.fields["next"])
        pages.append(reply.text)
    assert "".join(pages) == text
    assert len(pages) > 4
    assert "truncated" not in reply.fields


@pytest.mark.parametrize("how", ["", ".all"])
def test_last_line_without_a_newline_gets_none_and_the_log_has_the_very_text(agent: Any, keep: Keep, how: str) -> None:
    data = "".join(f"line {number}\n" for number in range(1000)) + "the end"
    reply = agent.read(keep(data.encode()) + how, lines="1-")
    assert reply.text == agent.told == agent.logged() == data


def test_both_streams_without_a_last_newline_keep_their_lines_apart(agent: Any) -> None:
    agent.run("seq 1 2000; printf end; sleep 0.02; seq 1 2000 >&2; printf END >&2")
    reply = agent.read(agent.newest().ref + ".all", lines="1-")
    assert sorted(reply.text.splitlines()[-2:]) == ["END", "end"]
    assert agent.logged() == agent.told


def test_default_page_is_forty_kibibytes_and_names_the_next(agent: Any, keep: Keep) -> None:
    data = b"x" * 99 + b"\n"
    reply = agent.read(keep(data * 512), offset=0)
    assert reply.fields["bytes"] == [0, DEFAULT.reading.page_bytes]
    assert reply.fields["next_offset"] == DEFAULT.reading.page_bytes
    assert reply.fields["truncated"] is True
    assert reply.fields["total_bytes"] == 51_200
    assert "next_offset" not in agent.follow(reply.fields["next"]).fields


def test_small_buffer_comes_whole(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep(b"thirteen byte"))
    assert agent.told == "thirteen byte"
    assert "truncated" not in reply.fields


def test_limit_makes_a_smaller_page(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep(b"0123456789" * 1000), limit=1000)
    assert len(reply.text) == 1000
    assert reply.fields["next_offset"] == 1000


@pytest.mark.parametrize("offset", [-10, 14, 2000])
def test_offset_outside_is_an_error_that_names_the_size(agent: Any, keep: Keep, offset: int) -> None:
    ref = keep(b"thirteen byte")
    with pytest.raises(BadRange, match="which has 13 bytes"):
        agent.read(ref, offset=offset)


def test_offset_at_the_end_is_empty_and_complete(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep(b"thirteen byte"), offset=13)
    assert reply.text == ""
    assert reply.fields["bytes"] == [13, 13]
    assert "truncated" not in reply.fields


def test_offset_inside_a_character_moves_back_and_says_so(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep("aé€b\n".encode()), offset=2)
    assert reply.text == "é€b\n"
    assert "moved back to 1" in reply.fields["note"]


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(
        st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]) | st.just("\n"), min_size=1, max_size=300
    ),
    limit=st.integers(1, 50),
)
def test_pages_of_bytes_are_everything_once_and_split_no_character(
    agent: Any, keep: Keep, text: str, limit: int
) -> None:
    ref = keep(text.encode())
    offset, pages = 0, []
    while True:
        reply = agent.read(ref, offset=offset, limit=limit)
        pages.append(reply.text)
        assert reply.fields["bytes"][0] == offset
        if "next_offset" not in reply.fields:
            break
        assert reply.fields["next_offset"] > offset
        offset = reply.fields["next_offset"]
    assert "".join(pages) == text


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(min_size=1, max_size=200), limit=st.integers(1, 20))
def test_pages_of_any_bytes_come_to_an_end(agent: Any, keep: Keep, data: bytes, limit: int) -> None:
    ref, offset, calls = keep(data), 0, 0
    while offset < len(data) and calls <= len(data):
        fields = agent.read(ref, offset=offset, limit=limit).fields
        offset, calls = fields.get("next_offset", len(data)), calls + 1
    assert offset == len(data)


def test_line_larger_than_a_page_is_cut_and_the_head_says_how_to_read_it(agent: Any, keep: Keep) -> None:
    ref = keep(b"first\n" + b"x" * 200_000 + b"\nlast\n")
    reply = agent.read(ref, lines="2")
    assert reply.fields["truncated"] is True
    assert "bytes of this line elided" in reply.text
    assert agent.told.startswith("["), "what is missing is said at the head"
    by_bytes = re.search(r"sightline show .*", reply.fields["hint"])
    assert by_bytes
    assert agent.follow(by_bytes[0]).fields["bytes"] == [6, 6 + DEFAULT.reading.page_bytes]


@pytest.mark.parametrize("how", [{"limit": 10_000_000}, {"lines": "1-", "limit": 10_000_000}, {"search": "x"}])
def test_no_page_is_larger_than_the_hard_limit(agent: Any, keep: Keep, how: dict[str, Any]) -> None:
    ref = keep(("日本x" * 300 + "\n").encode() * 300)
    agent.read(ref, **how)
    assert len(agent.told.encode()) <= HARD_LIMIT_BYTES


def test_context_cannot_swell_a_search_past_the_hard_limit(agent: Any, keep: Keep) -> None:
    ref = keep(("🚀" * 400 + "\n").encode() * 150 + b"needle\n" + ("🚀" * 400 + "\n").encode() * 150)
    reply = agent.read(ref, search="needle", context=100)
    assert "151:needle\n" in reply.text
    assert len(agent.told.encode()) <= HARD_LIMIT_BYTES


def test_streams_are_picked_by_ref_or_by_argument(agent: Any) -> None:
    agent.run("echo o1; echo e1 >&2; echo o2")
    ref = agent.newest().ref
    assert agent.read(ref).text == "o1\no2\n[stderr]\ne1\n"
    assert agent.read(ref + ".out").text == agent.read(ref, stream="out").text == "o1\no2\n"
    assert agent.read(ref + ".err").text == agent.read(ref, stream="err").text == "e1\n"
    both = agent.read(ref + ".all").text.splitlines(keepends=True)
    assert sorted(both) == ["e1\n", "o1\n", "o2\n"]
    assert [agent.read(f"{ref}.all:{number}").text for number in (1, 2, 3)] == both
    with pytest.raises(BadRef, match="no such stream"):
        agent.read(ref, stream="both")


def test_stream_that_is_empty_says_which_is_not(agent: Any) -> None:
    agent.run("echo only >&2")
    reply = agent.read(agent.newest().ref, stream="out")
    assert reply.text == ""
    assert "out is empty" in reply.fields["note"]
    assert f"{agent.newest().ref}.err has 1 line" in reply.fields["note"]
    assert agent.told.startswith("[")


@pytest.mark.parametrize(
    "wrong",
    [
        {"context": 2},
        {"ignore_case": False},
        {"limit": 5, "verbosity": "full"},
        {"verbosity": "loud"},
        {"search": "a", "wait": 1},
        {"lines": "1", "until": "a"},
        {"lines": "1", "verbosity": "full"},
        {"search": "a", "offset": 0},
        {"schema": True, "limit": 5},
        {"path": "$", "verbosity": "full"},
    ],
)
def test_arguments_that_say_nothing_of_each_other_are_errors(agent: Any, keep: Keep, wrong: dict[str, Any]) -> None:
    ref = keep(b"a\n")
    with pytest.raises(UsageError):
        agent.read(ref, **wrong)


def test_nothing_at_all_is_readable(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep(b""))
    assert (reply.text, reply.fields["exit_code"]) == ("", 0)


@pytest.mark.parametrize(
    "wrong",
    [{"lines": "1-2", "offset": 3}, {"limit": 0}, {"limit": -1}, {"context": -1, "search": "x"}, {"context": 999}],
)
def test_arguments_that_make_no_sense_are_errors(agent: Any, keep: Keep, wrong: dict[str, Any]) -> None:
    ref = keep(b"a\n")
    with pytest.raises(UsageError):
        agent.read(ref, **wrong)


@pytest.mark.parametrize(
    "ref",
    [
        "../../../etc/passwd",
        "..\\x",
        "cmd-123/../other.txt",
        "cmd-.txt",
        "invalid-format.txt",
        "<script>",
        "@cmd_x/../y",
        "",
    ],
)
def test_what_is_no_ref_is_refused(agent: Any, ref: str) -> None:
    with pytest.raises(BadRef):
        agent.read(ref)


def test_artifact_that_nothing_was_imported_as_is_unknown(agent: Any) -> None:
    with pytest.raises(UnknownRef, match=r"cmd-1706119234567\.txt"):
        agent.read("cmd-1706119234567.txt")


def test_unknown_and_expired_refs_say_which_and_what_to_do(agent: Any, keep: Keep) -> None:
    with pytest.raises(UnknownRef, match="there was none") as unknown:
        agent.read("@cmd_deadbeef")
    assert "list" in unknown.value.hint
    ref = keep(b"a\n")
    retention.evict(agent.store, agent.newest())
    with pytest.raises(ExpiredRef, match=f"{ref} expired .*cat ") as expired:
        agent.read(ref)
    assert "again" in expired.value.hint


def test_search_numbers_lines_and_counts_all_matches(agent: Any, keep: Keep) -> None:
    ref = keep(b"ok\nan error\nfine\nanother ERROR\n")
    reply = agent.read(ref, search="error")
    assert reply.text == "2:an error\n4:another ERROR\n"
    assert (reply.fields["matches_shown"], reply.fields["matches_total"]) == (2, 2)
    assert agent.read(ref, search="error", ignore_case=False).text == "2:an error\n"
    assert agent.read(ref, search=r"^an\w+ e").text == "4:another ERROR\n"


def test_search_gives_context_in_blocks(agent: Any, keep: Keep) -> None:
    ref = keep("".join(f"{number}\n" for number in range(1, 31)).encode())
    reply = agent.read(ref, search="^(5|6|20)$", context=1)
    assert reply.text == "4-4\n5:5\n6:6\n7-7\n--\n19-19\n20:20\n21-21\n"


def test_pattern_that_does_not_compile_is_taken_as_it_stands_and_that_is_said(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep(b"a[0]\nb\n"), search="[")
    assert reply.text == "1:a[0]\n"
    assert "does not compile" in reply.fields["note"]
    assert agent.told.startswith("[")


def test_search_without_a_match_says_so(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep(b"a\n"), search="zebra")
    assert (reply.text, reply.fields["matches_total"], reply.fields["note"]) == ("", 0, "no match")


def test_search_counts_all_and_names_the_call_for_the_rest(agent: Any, keep: Keep) -> None:
    ref = keep(b"match\n" * 250)
    reply = agent.read(ref, search="match")
    assert (reply.fields["matches_shown"], reply.fields["matches_total"]) == (100, 250)
    assert reply.fields["next"] == f"sightline show {ref} --search match --lines 101-250"
    assert reply.fields["truncated"] is True


def test_long_line_is_clipped_around_the_match(agent: Any, keep: Keep) -> None:
    ref = keep(b"x" * 5000 + b"needle" + b"y" * 5000 + b"\n")
    row = agent.read(ref, search="needle").text
    assert "needle" in row
    assert row.startswith("1:…x")
    assert len(row) < 500


def test_search_stays_within_its_bytes_with_the_true_total(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep((b"match " + b"z" * 394 + b"\n") * 90), search="match")
    assert len(reply.text.encode()) <= 8000
    assert 0 < reply.fields["matches_shown"] < reply.fields["matches_total"] == 90


def test_search_finds_characters_across_the_borders_of_what_is_read_at_once(agent: Any, keep: Keep) -> None:
    ref = keep(b"x" * 65_535 + "é\n".encode())
    assert agent.read(ref, search="é").fields["matches_total"] == 1


def test_search_reads_bytes_that_are_no_text(agent: Any, keep: Keep) -> None:
    ref = keep(b"a\x00b\xff\nneedle \xfe\n")
    assert agent.read(ref, search="needle").text.startswith("2:needle")


def test_search_of_both_streams_keeps_their_order(agent: Any) -> None:
    agent.run("echo out match; sleep 0.02; echo err match >&2")
    assert agent.read("@last.all", search="match").text == "1:out match\n2:err match\n"


def test_search_logs_the_lines_it_showed(agent: Any, keep: Keep) -> None:
    agent.read(keep(b"a\nhit\nb\nhit\n"), search="hit")
    assert [(shown.first, shown.last) for shown in agent.views()[-1].shown] == [(2, 2), (4, 4)]


class _Background:
    """A command in the background that writes what it is told to."""

    def __init__(self, agent: Any, folder: Path, redirect: str = "") -> None:
        self.path = folder / "fifo"
        os.mkfifo(self.path)
        reply = agent.run(f"exec 9<>'{self.path}'; while read -r word <&9; do eval \"$word\"; done", background=True)
        self.ref = reply.fields["output_id"]

    def does(self, command: str) -> None:
        with open(self.path, "w") as fifo:
            fifo.write(command + "\n")


@pytest.fixture
def background(agent: Any, tmp_path: Path) -> Any:
    return _Background(agent, tmp_path)


def test_following_gives_only_what_is_new_then_at_the_end_the_view(agent: Any, background: _Background) -> None:
    background.does("echo one")
    assert agent.read(background.ref, wait=20, until="one").text == "one\n"
    reply = agent.read(background.ref, wait=0)
    assert (reply.text, reply.fields["note"], reply.fields["status"]) == ("", "no new lines", "running")
    background.does("echo two")
    assert agent.read(background.ref, until="two").text == "two\n"
    background.does("echo three; exit 3")
    following = agent.follow(reply.fields["next"])
    assert following.text == "one\ntwo\nthree\n"
    assert following.fields["exit_code"] == 3


def test_new_lines_are_answered_once_a_pause_follows_them(agent: Any, background: _Background) -> None:
    background.does("echo one; sleep 0.2; echo two")
    reply = agent.read(background.ref, wait=20)
    assert (reply.text, reply.fields["status"]) == ("one\ntwo\n", "running")
    background.does("exit")


def test_waiting_for_a_line_outlasts_a_pause_and_says_which_line_it_is(agent: Any, background: _Background) -> None:
    background.does("echo one; sleep 2.5; echo READY; echo later")
    reply = agent.read(background.ref, wait=20, until="^ready$")
    assert reply.text.startswith("one\nREADY\n")
    assert (reply.fields["status"], reply.fields["note"]) == ("running", "line 2 matches")
    again = agent.read(background.ref, wait=20, until="READY")
    assert (again.fields["note"], again.text) == ("line 2 matches, and had been shown to you", "READY\n")
    assert agent.read(background.ref, wait=0, until="never").fields["note"].startswith("no line matches yet")
    background.does("exit")


def test_waiting_for_a_line_sees_stderr_too(agent: Any, background: _Background) -> None:
    background.does("echo out")
    assert agent.read(background.ref, until="out").text == "out\n"
    background.does("echo LISTENING >&2")
    assert agent.read(background.ref, until="listening").text == "LISTENING\n"
    background.does("exit")


def test_many_new_lines_come_as_the_view_of_what_is_there(agent: Any, background: _Background) -> None:
    background.does("seq 1 20000")
    reply = agent.read(background.ref, wait=20)
    assert (reply.fields["status"], reply.fields["truncated"]) == ("running", True)
    assert len(reply.text) < DEFAULT.short.limit_bytes
    assert reply.text.endswith("19999\n20000\n")
    background.does("exit")


def test_a_ref_alone_is_the_view_that_running_it_gave(agent: Any) -> None:
    ran = agent.run("seq 1 5000; echo 'Error: boom' >&2; exit 3")
    told = agent.told
    reply = agent.read(ran.fields["output_id"])
    assert reply.text == ran.text
    assert reply.fields.keys() == ran.fields.keys()
    assert "Error: boom" in reply.text
    assert agent.told.partition("\n")[2] == told.partition("\n")[2]
    assert len(agent.read(ran.fields["output_id"], verbosity="silent").text) <= 200
    assert "5000" in agent.read(ran.fields["output_id"] + ".out", verbosity="concise").text


def test_a_ref_alone_of_one_stream_is_its_view(agent: Any) -> None:
    agent.run("echo out; seq 1 5000 >&2")
    reply = agent.read("@last.err")
    assert (reply.fields["stderr_total"], reply.fields["truncated"]) == (5000, True)
    assert reply.text.startswith("1\n") and reply.text.endswith("\n5000\n")


def test_following_never_gives_half_a_line(agent: Any, background: _Background) -> None:
    background.does("printf begun; echo x >&2")
    assert agent.read(background.ref + ".err", until="x").text == "x\n"
    assert agent.read(background.ref + ".out", wait=0).text == ""
    background.does("echo ' ended'; printf rest")
    assert agent.read(background.ref + ".out", until="ended").text == "begun ended\n"
    background.does("exit")
    assert agent.read(background.ref + ".out", wait=20).text == "begun ended\nrest"


def test_following_both_streams_repeats_nothing(agent: Any, background: _Background) -> None:
    ref = background.ref + ".all"
    background.does("echo o1; echo e1 >&2")
    texts = [agent.read(ref, wait=20).text]
    background.does("echo o2")
    texts.append(agent.read(ref, until="o2").text)
    assert sorted("".join(texts).split()) == ["e1", "o1", "o2"]
    background.does("exit")
    assert agent.read(ref, wait=20).text == "o1\no2\n[stderr]\ne1\n"


def test_following_is_each_session_s_own(agent: Any, person: Any, background: _Background) -> None:
    background.does("echo one")
    assert agent.read(background.ref, until="one").text == "one\n"
    assert person.read(background.ref, until="one").text == "one\n"
    background.does("exit")


def test_dead_writer_s_buffer_is_readable_and_marked(agent: Any, background: _Background) -> None:
    background.does("echo kept")
    reply = agent.read(background.ref, until="kept")
    background.does("kill -9 $PPID; exit")
    while reply.fields.get("status") == "running":
        reply = agent.read(background.ref, wait=20)
    assert agent.read(background.ref).fields["status"] == "interrupted"
    assert agent.read(background.ref).text == "kept\n"


def test_reading_refreshes_a_buffer(agent: Any, keep: Keep) -> None:
    ref = keep(b"old\n")
    agent.run("echo new")
    agent.read(ref)
    assert agent.store.listed(1)[0].buffer.ref == ref


def test_stored_bytes_are_never_touched_by_reading(agent: Any, keep: Keep) -> None:
    data = b"\x1b[1mbold\x1b[0m\r\n\xff\n"
    ref = keep(data)
    assert agent.read(ref).text == "bold\n\N{REPLACEMENT CHARACTER}\n"
    assert agent.raw(agent.store.resolve(ref).buffer) == data
    assert Path(agent.store.path(Target(agent.newest(), "out"))).read_bytes() == data


def test_a_search_stays_within_lines_and_counts_there(agent: Any, keep: Keep) -> None:
    ref = keep(b"".join(b"%d\n" % n for n in range(1, 2001)))
    reply = agent.read(ref, search="0$", lines="101-200", context=1)
    assert (reply.fields["matches_total"], reply.fields["lines"]) == (10, "101-200")
    assert reply.text.startswith("109-109\n110:110\n111-111\n")
    assert reply.text.endswith("199-199\n200:200\n")
    assert agent.read(f"{ref}:1991-", search="0$").fields["matches_total"] == 1
    with pytest.raises(BadRange):
        agent.read(ref, search="0$", lines="3000-")


def test_a_search_gives_as_many_bytes_as_asked_and_the_call_for_the_rest(agent: Any, keep: Keep) -> None:
    ref = keep(b"".join(b"line %d\n" % n for n in range(1, 2001)))
    reply = agent.read(ref, search="line", lines="11-40", limit=100)
    assert len(reply.text) <= 100
    told = reply.text
    while "next" in reply.fields:
        reply = agent.follow(reply.fields["next"])
        told += reply.text
    assert told == "".join(f"{n}:line {n}\n" for n in range(11, 41))
    assert agent.read(ref, search="line", limit=40_000).fields["matches_shown"] == 2000


@pytest.mark.parametrize("pattern", ["need.e", "[n]eedle", "NEEDLE"])
@pytest.mark.parametrize("size", [5_000, 3_000_000])
def test_a_match_is_shown_wherever_it_stands_in_its_line(agent: Any, keep: Keep, pattern: str, size: int) -> None:
    ref = keep(b"first\n" + b"a" * size + "é NEEDLE é".encode() + b"b" * size + b"\nlast\n")
    reply = agent.read(ref, search=pattern)
    assert "aé NEEDLE éb" in reply.text
    assert reply.text.startswith("2:…")
    assert len(reply.text) < 500


def test_a_search_never_exceeds_the_hard_limit(agent: Any) -> None:
    agent.run(r"seq 1 20000 | sed 's/$/ \\\\ \"quoted\" and long enough to fill a reply soon/'")
    reply = agent.read("@last", search="long", limit=1_000_000, context=2)
    assert reply.fields["matches_total"] == 20_000
    assert reply.fields["matches_shown"] == reply.text.count("long") > 100
    assert len(agent.told.encode()) <= HARD_LIMIT_BYTES
    assert serialised_bytes(reply.fields, reply.text) <= HARD_LIMIT_BYTES


def test_utf_16_is_shown_searched_and_paged_as_text_and_the_head_says_so(agent: Any, keep: Keep) -> None:
    lines = [f"Zeile {number}: schön\r" for number in range(2000)]
    lines[900] = "error CS0103: der Name fehlt\r"
    ref = keep(("\n".join(lines) + "\n").encode("utf-16"))
    view = agent.read(ref, verbosity="normal")
    assert "note='UTF-16, shown decoded'" in agent.told or 'note="UTF-16, shown decoded"' in agent.told
    assert view.text.startswith("Zeile 0: schön\n")
    assert agent.read(ref, lines="901").text.strip() == "error CS0103: der Name fehlt"
    assert "901" in agent.read(ref, search="CS0103").text
    page = agent.read(ref, offset=0, limit=400)
    assert page.fields["bytes"] == [0, 400]
    assert page.find_shown is not None
    assert page.find_shown().shown[0].first == 1
