"""Cases of Roo Code (F, G, P, Q) that its profile decides."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.base.profile import Cut, load_profile
from sightline.shape.clean import clean_text
from sightline.shape.cut_styles import shape_as
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import join_segments

PROFILE = "roo"
CUT = load_profile(PROFILE).cut
Keep = Callable[..., str]


def _to_lines(out: bytes, limit: int) -> str:
    """A short output cut to so many lines, a fifth of them from the beginning."""
    cut: Cut = CUT._replace(head_lines=limit // 5, tail_lines=limit - limit // 5)
    shaped = shape_as(cut, BytesSource(out), BytesSource(b""), budget=10_240, failed=False, short=True)
    return join_segments(shaped.segments)


# F: lines and repetitions


def test_f11_a_fifth_of_the_lines_from_the_beginning() -> None:
    lines = [f"line {number}" for number in range(1, 26)]
    cut = _to_lines("\n".join(lines).encode(), 10)
    assert cut.split("\n") == [*lines[:2], "", "[...15 lines omitted...]", "", *lines[17:]]
    cut = _to_lines("".join(f"line {number}\r\n" for number in range(1, 16)).encode(), 5)
    assert cut == "line 1\n\n[...10 lines omitted...]\n\nline 12\nline 13\nline 14\nline 15\n"


def test_f11_of_five_hundred(agent: Any) -> None:
    reply = agent.run("seq 1 600")
    lines = reply.text.split("\n")
    assert (lines[99:104], len(lines)) == (["100", "", "[...100 lines omitted...]", "", "201"], 504)
    assert (reply.fields["stdout_shown"], reply.fields["stdout_total"]) == (500, 600)
    assert "output_id" not in agent.run("seq 1 500").fields


def test_f13_repeated_lines_are_counted_where_that_is_shorter(agent: Any) -> None:
    assert agent.say(b"0123456789\n" * 6).text == "0123456789\n<previous line repeated 5 additional times>\n"
    assert agent.say(b"y\n" * 5).text == "y\n" * 5
    assert agent.say(b"").text == ""


# G: carriage returns overwrite


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (
            "Progress: [===>---------] 30%\rProgress: [======>------] 60%\rProgress: [==========>] 100%",
            "Progress: [==========>] 100%%",
        ),
        ("Line 1\rUpdated Line 1\nLine 2\rUpdated Line 2\rFinal Line 2", "Updated Line 1\nFinal Line 2 2"),
        ("Initial\r\r\r\rFinal", "Finalal"),
        ("Initial text\rnext\r", "nextial text"),
        ("\r\r\r\r", ""),
        ("Line1\r\n", "Line1\n"),
        ("你好世界啊\r你好地球", "你好地球啊"),
        ("Line with 🚀 emoji\rLine with a", "Line with a  emoji"),
    ],
)
@pytest.mark.parametrize("agent", ["roo", "sightline"], indirect=True)
def test_g05_returns_overwrite_cell_by_cell(agent: Any, raw: str, text: str) -> None:
    assert clean_text(raw.encode()) == text
    assert agent.say(raw.encode()).text == text


# P: previews


def test_p01_a_small_output_is_its_own_preview(agent: Any) -> None:
    reply = agent.run("printf 'Hello World!'", verbosity="concise")
    assert (reply.text, reply.fields) == ("Hello World!", {"exit_code": 0})


@pytest.mark.parametrize(
    ("out", "omitted"),
    [
        (b"H" * 3000 + b"M" * 6000 + b"T" * 3000, 6880),
        (b"H" * 5000 + b"T" * 5000, 4880),
        (b"H" * 3000 + b"T" * 3000, 880),
        (b"H" * 2560 + b"M" * 4000 + b"T" * 2560, 4000),
    ],
)
def test_p05_half_of_five_kibibytes_from_either_end(agent: Any, out: bytes, omitted: int) -> None:
    text = agent.say(out, verbosity="concise").text
    head, _, tail = text.partition(f"\n[...{omitted} bytes omitted...]\n")
    assert head.encode() == out[:2560]
    assert tail.encode() == out[-2560:]


def test_p05_ten_kibibytes_unless_told_and_twenty_at_most(agent: Any) -> None:
    for verbosity, size in (("auto", 10_240), ("verbose", 20_480)):
        reply = agent.say(b"x" * 30_000, verbosity=verbosity)
        assert reply.text.count("x") == size
        assert f"[...{30_000 - size} bytes omitted...]" in reply.text
    assert "--lines 1-1" in reply.fields["next"]
    assert "output_id" not in agent.say(b"x" * 10_240).fields
    assert "output_id" in agent.say(b"x" * 10_241).fields


def test_p05_the_next_call_goes_on_with_the_line_that_was_cut(agent: Any) -> None:
    reply = agent.say(b"x" * 5000 + b"\n" + b"y" * 5000 + b"\n" + b"z\n" * 5000)
    assert "--lines 2-" in reply.fields["next"]
    assert (reply.fields["stdout_shown"], reply.fields["stdout_total"]) == (2 + 2560, 5002)


@pytest.mark.parametrize("agent", ["roo", "sightline"], indirect=True)
def test_p08_the_stream_is_every_byte_and_a_preview_splits_no_character(agent: Any) -> None:
    text = "é😀€" * 9000
    (Path.cwd() / "text").write_text(text, encoding="utf-8")
    reply = agent.run("head -c 70001 text; sleep 0.02; tail -c +70002 text")
    assert Path(agent.store.path(agent.store.resolve("@last"))).read_text(encoding="utf-8") == text
    assert "\ufffd" not in reply.text
    assert set(reply.text.splitlines()[0].partition("[")[0]) <= set("é😀€")


# Q: reading what was kept


def test_q01_a_small_one_is_read_whole(agent: Any, keep: Keep) -> None:
    reply = agent.read(keep(b"a\nb\nc\n"), lines="1-")
    assert reply.text == "a\nb\nc\n"
    assert (reply.fields["total_bytes"], reply.fields["lines"], "truncated" in reply.fields) == (6, "1-3", False)


def test_q02_a_ref_alone_is_its_first_page(agent: Any, keep: Callable[..., str]) -> None:
    reply = agent.read(keep(b"x" * 51_200))
    assert (reply.fields["bytes"], reply.fields["next_offset"]) == ([0, 40_960], 40_960)
