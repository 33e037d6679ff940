"""Cases of the reference systems, by their ids, that hold in the default profile."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import BadRange, BadRef, ExpiredRef, SightlineError, UnknownRef
from sightline.store import Target
from sightline.verbs.run_command import Doorway

Keep = Callable[..., str]


# B: refs in commands


def test_b01_command_without_refs_is_unchanged(agent: Any) -> None:
    assert agent.run("echo '@x' user@host").text == "@x user@host\n"


def test_b02_b04_b05_refs_become_paths_with_the_exact_content(agent: Any, keep: Keep) -> None:
    one, two = keep(b"hello\nworld\n"), keep(b"hello\nthere\n")
    assert agent.run(f"grep hello {one}").text == "hello\n"
    assert agent.run(f"diff {one} {two}").text == "2c2\n< world\n---\n> there\n"
    assert agent.run(f"cat {one} {one} | wc -l").text.strip() == "4"


def test_b13_bare_ack_runs_what_was_stored_and_an_unknown_one_mentions_expiry(agent: Any) -> None:
    token = agent.run("rm -rf nothing; echo done").fields["pending_ack"]
    assert agent.run(token).text == "done\n"
    with pytest.raises(ExpiredRef, match="expired"):
        agent.run("@ack_deadbeef")


def test_b14_running_buffer_reads_fresh_every_time(agent: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    ref = agent.run("echo first; cat fifo", background=True).fields["output_id"]
    agent.read(ref, wait=20)
    assert agent.run(f"cat {ref}").text == "first\n"
    (tmp_path / "fifo").write_text("second\n")
    reply = agent.read(ref, wait=20)
    while reply.fields.get("status") == "running":
        reply = agent.read(ref, wait=20)
    assert agent.run(f"cat {ref}").text == "first\nsecond\n"


def test_b19_ref_before_its_own_err(agent: Any, keep: Keep) -> None:
    ref = keep(b"a\n", b"b\n")
    assert (
        agent.run(f"diff {ref} {ref}.err").text == agent.run(f"diff {ref}.out {ref}.err").text == "1c1\n< a\n---\n> b\n"
    )


def test_b20_right_boundary(agent: Any, keep: Keep) -> None:
    ref = keep(b"a\n")
    for longer in (ref + "cafe", ref + "x", ref + "_1"):
        with pytest.raises(SightlineError):
            agent.run(f"cat {longer}")


def test_b22_b23_store_path_with_spaces_is_one_word(agent: Any, keep: Keep) -> None:
    ref = keep(b"a\n")
    assert " " in agent.store.root
    assert agent.run(f'cat "{ref}"').text == agent.run(f"cat {ref}").text == "a\n"


def test_b25_nothing_is_left_behind(agent: Any, keep: Keep, tmp_path: Path) -> None:
    ref = keep(b"a\n")
    before = {path for path in tmp_path.rglob("*") if "a store" not in path.parts}
    for command in (f"cat {ref}", f"cat {ref}; false", f"cat {ref}; sleep 60"):
        agent.run(command, timeout_secs=0.2)
    assert {path for path in tmp_path.rglob("*") if "a store" not in path.parts} == before


# A and C: names


def test_a14_what_was_issued_resolves_and_what_was_not_never_reaches_the_shell(agent: Any, keep: Keep) -> None:
    ref = keep(b"a\n")
    assert agent.run(f"cat {ref}").text == "a\n"
    with pytest.raises(UnknownRef):
        agent.run("cat @cmd_a1b2c3 || touch ran")
    assert not Path("ran").exists()


# D: what comes inline


def test_d01_small_output_is_inline_without_id_or_hint(agent: Any) -> None:
    reply = agent.run("echo hello")
    assert (reply.text, reply.fields) == ("hello\n", {"exit_code": 0})


def test_d02_three_thousand_lines_have_a_ref(agent: Any) -> None:
    reply = agent.run("seq 1 3000")
    assert reply.fields["output_id"].startswith("@cmd_")
    assert "hint" not in reply.fields
    lines = agent.query(f"grep -x -e 50 -e 3000 {reply.fields['output_id']}").text
    assert lines == "50\n3000\n"


def test_d10_serialised_size_decides(agent: Any) -> None:
    reply = agent.run("seq 1 2000")
    assert reply.fields["output_id"].startswith("@cmd_")
    assert agent.store.resolve(reply.fields["output_id"]).buffer.bytes == 8893


def test_d11_id_precedes_everything(agent: Any) -> None:
    assert next(iter(agent.run("seq 1 3000; false").fields)) == "output_id"


# E: queries


def _lines(count: int, width: int) -> bytes:
    return b"".join(b"%0*d\n" % (width, number) for number in range(1, count + 1))


def test_e01_hundred_short_lines_are_whole(agent: Any, keep: Keep) -> None:
    reply = agent.query(f"cat {keep(_lines(100, 10))}")
    assert len(reply.text.splitlines()) == 100
    assert "truncated" not in reply.fields


def test_e02_e04_more_are_cut_with_counts_and_make_no_ref(agent: Any, keep: Keep) -> None:
    for width in (120, 200):
        reply = agent.query(f"cat {keep(_lines(101, width))}")
        assert reply.fields["truncated"] is True
        assert 0 < reply.fields["stdout_shown"] <= 100
        assert reply.fields["stdout_total"] == 101
        assert "output_id" not in reply.fields


def test_e05_e14_one_enormous_line_is_clipped_with_true_totals(agent: Any, keep: Keep) -> None:
    reply = agent.query(f"cat {keep(b'x' * 11_000)}")
    assert reply.fields["truncated"] is True
    assert reply.fields["stdout_total"] == 1
    assert "output_id" not in reply.fields
    assert reply.text.startswith("x" * 1000)


def test_e10_e11_answers_and_words_that_only_look_dangerous(agent: Any, keep: Keep) -> None:
    ref = keep("".join(f"{number}\n" for number in range(1, 3001)).encode() + b"rm -rf /\n")
    reply = agent.query(f"grep '^50$' {ref}")
    assert (reply.exit_code, reply.text) == (0, "50\n")
    assert agent.query(f"grep 'rm -rf' {ref}").text == "rm -rf /\n"
    assert agent.run(f"grep 'rm -rf' {ref}").text == "rm -rf /\n"


def test_e13_answers_just_over_the_cap_have_the_same_fields_as_larger_ones(agent: Any, keep: Keep) -> None:
    just, far = (list(agent.query(f"cat {keep(_lines(count, 99))}").fields) for count in (81, 900))
    assert just == far


# I: reading refs


def test_i02_lines_and_what_is_wrong_with_them(agent: Any, keep: Keep) -> None:
    ref = keep(b"1\n2\n3\n4\n5\n")
    reply = agent.read(ref, lines="2-4")
    assert (reply.text, reply.fields["total_lines"]) == ("2\n3\n4\n", 5)
    for lines in ("5-2", "0-2"):
        with pytest.raises(BadRange):
            agent.read(ref, lines=lines)
    with pytest.raises(UnknownRef):
        agent.read("@cmd_deadbeef")


def test_i08_next_of_a_page_names_the_same_ref(agent: Any, keep: Keep) -> None:
    ref = keep(b"x" * 99 + b"\n" + b"y" * 99_999)
    assert shlex.split(agent.read(ref).fields["next"])[2] == ref


def test_i17_offset_past_the_end_names_the_total(agent: Any, keep: Keep) -> None:
    with pytest.raises(BadRange, match="has 5 lines"):
        agent.read(keep(b"1\n2\n3\n4\n5\n"), lines="9-10")


# J: running


def test_j01_j02_timeout_has_its_output_a_ref_and_a_hint(agent: Any, limit: Any) -> None:
    doorway = Doorway(started=limit.started, echo=limit.echo)
    reply = agent.run("echo before; sleep 60", doorway, timeout_secs=limit.seconds)
    assert reply.fields["timed_out"] is True
    assert reply.fields["exit_code"] is None
    assert "background" in reply.fields["hint"]
    assert reply.text == "before\n"
    assert agent.read(reply.fields["output_id"]).text == "before\n"


def test_j07_flagged_command_is_not_run_until_it_is_acknowledged(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    reply = agent.run("rm -rf x")
    assert {"pending_ack", "reason", "hint"} <= set(reply.fields)
    assert (tmp_path / "x").exists()
    agent.run("rm -rf x", acknowledge_risk=True)
    assert not (tmp_path / "x").exists()


def test_j08_folder_below_works_and_a_missing_one_is_refused(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert agent.run("pwd", cwd="sub").text == f"{tmp_path}/sub\n"
    with pytest.raises(SightlineError):
        agent.run("pwd", cwd="nonexistent")


# Q: artifacts


def test_q02_default_page_limits_and_completeness(agent: Any, keep: Keep) -> None:
    ref = keep(b"x" * 51_200)
    assert agent.read(ref, offset=0).fields["bytes"] == [0, 40_960]
    assert agent.read(ref, limit=1000).fields["next_offset"] == 1000
    assert "truncated" not in agent.read(keep(b"13 bytes long")).fields


@pytest.mark.parametrize(
    "ref",
    [
        "../../../etc/passwd",
        "..\\..\\windows",
        "cmd-123/../other.txt",
        "<script>alert(1)</script>",
        "cmd-.txt",
        "invalid-format.txt",
    ],
)
def test_q05_ids_that_are_refused(agent: Any, ref: str) -> None:
    with pytest.raises(BadRef):
        agent.read(ref)


def test_q07_offset_outside_is_refused(agent: Any, keep: Keep) -> None:
    ref = keep(b"x" * 1000)
    for offset in (2000, -10):
        with pytest.raises(BadRange, match="1,000 bytes"):
            agent.read(ref, offset=offset)


def test_q08_search(agent: Any, keep: Keep) -> None:
    ref = keep(b"ok\nan ERROR\nfine\ntest42 error [\n")
    assert agent.read(ref, search="error").text == "2:an ERROR\n4:test42 error [\n"
    assert agent.read(ref, search=r"test\d+").text == "4:test42 error [\n"
    assert agent.read(ref, search="[").text == "4:test42 error [\n"
    assert agent.read(ref, search="zebra").fields["matches_total"] == 0


def test_q10_edges(agent: Any, keep: Keep) -> None:
    ref = keep(b"x" * 10)
    assert agent.read(ref, offset=10).text == ""
    assert agent.read(keep(b"")).text == ""
    assert "moved back" in agent.read(keep("é".encode() * 5), offset=3).fields["note"]
    assert agent.read(keep(b"x" * 65_535 + "é\n".encode()), search="é").fields["matches_total"] == 1


def test_q11_case_and_bytes_that_are_no_text(agent: Any, keep: Keep) -> None:
    ref = keep(b"a\x00 Needle \xff\n")
    assert agent.read(ref, search="needle").fields["matches_total"] == 1
    assert agent.read(ref, search="needle", ignore_case=False).fields["matches_total"] == 0
    assert agent.store.path(Target(agent.store.resolve(ref).buffer, "out"))


def test_i01_a_ref_alone_is_the_view_of_its_output(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep(b"".join(b"%d\n" % number for number in range(5_000))))
    assert reply.fields["truncated"]
    assert reply.text.endswith("4999\n")
    assert "bytes" not in reply.fields


def test_b02_a_command_that_only_asks_of_refs_makes_no_buffer(agent: Any, keep: Keep) -> None:
    ref = keep(b"hello\nworld\n")
    before = len(agent.store.listed(99))
    assert agent.run(f"grep hello {ref} | wc -l").text == "1\n"
    assert len(agent.store.listed(99)) == before


def test_h13_what_an_inner_filter_cut_is_said_not_to_be_kept(agent: Any) -> None:
    assert "was not kept" in agent.run("for n in 1 2; do seq 1 $n | tail -1; done").fields["note"]


@pytest.mark.parametrize("command", ["f() { seq 9; }; f | tail -1", "coproc cat; seq 9 | tail -1", "seq 9 |& tail -1"])
def test_h13_a_filter_whose_input_is_not_clear_is_said_to_lose_it(agent: Any, command: str) -> None:
    reply = agent.run(command)
    assert reply.fields.get("unfiltered_lines") == 9 or "went into tail was not kept" in reply.fields["note"]


def test_h13_what_goes_into_filters_that_are_not_last_is_kept(agent: Any) -> None:
    reply = agent.run("seq 1 9 | tail -1; true")
    assert reply.fields["unfiltered_lines"] == 9
    assert "note" not in reply.fields
