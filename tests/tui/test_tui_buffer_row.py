"""How a buffer's row is laid out, and what of it stands out."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style

from sightline.base.records import Buffer, Gap, StreamInfo
from sightline.search.matcher import terms_of
from sightline_tui.buffers.buffer_row import group_parts, heading_parts, layout, row_parts, sort_at
from sightline_tui.buffers.order import Heading, ListOrder
from sightline_tui.buffers.seen_reader import Seen
from sightline_tui.common.command_words import command_parts
from sightline_tui.common.phrases import duration, facts, short_count
from sightline_tui.common.strips import PartStyles, row, width_of
from sightline_tui.common.visible_text import title
from tests.tui.tui_kit import NOW

BUFFER = Buffer(
    *("cmd_a1b2c3", "cmd", "sealed", "cargo test --all | tee 'a b'", "/", "claude-code-7f3a", NOW - 125, NOW, NOW),
    *(1, 0, False, "nightly", True, "", "", "", {"out": StreamInfo(70_000, 12_345)}),
)
ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
TEXT = st.text(max_size=80) | st.text("\x1b[]\u202e\u200b日é́🙂\n\t a", max_size=40)


def shown(width: int, buffer: Buffer = BUFFER, **how: object) -> str:
    return "".join(part.text for part in row_parts(buffer, width, NOW, **how))


def test_a_wide_row_tells_all() -> None:
    for fact in ("@cmd_a1b2c3", "nightly", "cargo test", "1", "12K", "68K", "2m05", "now", "claude-code-7f3a", "✗◆"):
        assert fact in shown(150)


@pytest.mark.parametrize(
    ("host", "told"), [("ci-1", "ci-1/a1b2c3 "), ("hosta", "hosta/a1b2c3"), ("build-runner-17", "bu…17/a1b2c3")]
)
def test_the_output_of_another_host_is_told_by_that_and_its_digits(host: str, told: str) -> None:
    assert f" {told} " in shown(150, BUFFER._replace(name=f"{host}/{BUFFER.name}"))


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cd /home/ada/project && git log --oneline --all", "… git log"),
        ("cd '/home/ada/my project'; make check; make install", "… make check"),
        ("/home/ada/project/.venv/bin/python -m pytest -q tests", "… python -m"),
        ("cd /home/ada && /opt/tools/bin/cargo test --workspace", "… cargo test"),
        ("cd /home/ada/project/with/a/very/long/name/to/go/to", "cd /home/ada"),
        ("cat /etc/passwd", "cat /etc/passwd"),
    ],
)
def test_where_there_is_little_room_what_is_done_comes_first(command: str, told: str) -> None:
    assert f" {told}" in shown(50, BUFFER._replace(command=command, label="")) + " "
    assert f" {command} " in shown(150, BUFFER._replace(command=command, label=""))


def test_what_a_filter_found_is_not_left_out() -> None:
    buffer = BUFFER._replace(command="cd /home/ada/project && git log --oneline --all", label="")
    assert " … git" in shown(50, buffer, terms=terms_of("git"))
    assert " cd /home/ada" in shown(50, buffer, terms=terms_of("ada"))


def test_a_tool_s_call_is_told_by_what_it_is_about_and_a_file_by_the_end_of_its_path() -> None:
    call = BUFFER._replace(kind="tool", label="", command='Edit {"file_path":"/p/phase_test.go","new_string":"x"}')
    assert " Edit phase_test.go " in shown(80, call)
    file = BUFFER._replace(
        kind="file", label="", command="/p/store/with/a/very/long/path/down/to/call_names.py", cwd="/q"
    )
    assert "…/call_names.py" in shown(40, file) or "…/to/call_names.py" in shown(40, file)
    assert " /p/store" in shown(40, file, terms=terms_of("store"))


def test_what_was_piped_in_is_called_so() -> None:
    assert "(piped in)" in shown(80, BUFFER._replace(command=""))
    assert "(not kept)" in shown(80, BUFFER._replace(command="", state="evicted"))


def test_a_session_is_called_by_its_title() -> None:
    assert "Fix the parser" in shown(150, called="Fix the parser") and "claude-code" not in shown(150, called="Fix it")
    heading = Heading("session", "claude-code-7f3a", 3, folded=False, first="cmd_a")
    told = group_parts(heading, BUFFER, 60, {"claude-code-7f3a": "Fix the parser"})
    assert "Fix the parser" in "".join(part.text for part in told)


def test_what_was_imported_is_as_old_as_its_call() -> None:
    day = 86400.0
    past = BUFFER._replace(created=NOW - 12 * day, ended=NOW - 12 * day, accessed=NOW)
    assert " now" in shown(80, past) and " 12d" in shown(80, past._replace(artifact="toolu_1"))


@pytest.mark.parametrize("width", [34, 50, 60, 79, 120, 200])
def test_the_names_stand_above_their_columns(width: int) -> None:
    names = "".join(part.text for part in heading_parts(width, ListOrder()))
    assert len(names) == width_of(row_parts(BUFFER, width, NOW)) <= width
    if "SIZE" in names:
        assert shown(width)[names.index("SIZE") - 1 :].startswith("  68K")


@pytest.mark.parametrize("width", [10, 20, 33, 44, 60, 79, 120, 200])
def test_a_command_keeps_room_and_the_row_its_width(width: int) -> None:
    assert layout(width).command >= 4
    assert row(row_parts(BUFFER, width, NOW), (), width, Style(), PartStyles({}.get)).cell_length == width


def test_a_click_on_a_name_orders_by_it() -> None:
    names = "".join(part.text for part in heading_parts(120, ListOrder()))
    for name, sort in (("COMMAND", "command"), ("EXIT", "exit"), ("LINES", "lines"), ("TIME", "duration")):
        assert sort_at(120, names.index(name) + 1) == sort
    assert sort_at(120, 6) == ""
    assert sort_at(120, names.index("AGE") + 1) == "recent"


def test_the_order_is_seen_above_its_column() -> None:
    assert "SIZE▾" in "".join(part.text for part in heading_parts(120, ListOrder("size")))
    assert "SIZE▴" in "".join(part.text for part in heading_parts(120, ListOrder("size", turned=True)))
    assert "▾" not in "".join(part.text for part in heading_parts(120, ListOrder()))


def test_what_a_filter_found_stands_out() -> None:
    parts = row_parts(BUFFER, 160, NOW, terms=terms_of("crgtst night b2c 7f3"))
    assert "".join(part.text for part in parts if part.style == "match") == "b2c" + "night" + "crgtst" + "7f3"


@pytest.mark.parametrize("width", [41, 49, 58, 78, 92, 120, 200])
def test_a_row_says_how_when_and_who_before_the_ref_and_leaves_room_for_the_command(width: int) -> None:
    room = layout(width)
    names = [column.name for column in room.columns]
    assert {"EXIT", "SEEN", "AGE", "AGENT"} <= set(names)
    assert room.command >= (24 if len(names) > 4 or room.ref else 14)
    assert shown(width, agent="claude-code").rstrip().endswith("claude-code-7f3a" if "SESSION" in names else "claude")


def test_columns_come_by_their_worth() -> None:
    assert [layout(width).ref for width in (92, 60, 49)] == [12, 6, 0]
    added = [{column.name for column in layout(width).columns} for width in range(20, 200)]
    assert all(fewer <= more for fewer, more in pairwise(added))
    assert {"LINES", "TIME", "SESSION"} <= added[-1]
    assert " a1b2c3 " in shown(60)
    assert "a1b2c3" not in shown(49)


def test_a_row_says_how_often_its_command_ran_in_a_row() -> None:
    assert " ×7 " in shown(49, BUFFER._replace(label=""), times=7)
    assert " ×100+ " in shown(49, times=100)
    assert "×" not in shown(49)


@pytest.mark.parametrize(("order", "name"), [("exit", "EXIT"), ("recent", "AGE"), ("size", "SIZE"), ("seen", "SEEN")])
def test_headings_keep_their_letters_when_sorted(order: str, name: str) -> None:
    assert name in "".join(part.text for part in heading_parts(120, ListOrder(order, turned=True)))


def test_a_mark_is_seen() -> None:
    assert shown(60, mark="A").startswith("A✗◆")


def test_a_command_is_read_as_a_shell_would() -> None:
    parts = command_parts("A=1 sudo make -j8 'x y' > log 2>&1 && ./run \"$HOME\" | tail")
    styled = {
        style: [part.text for part in parts if part.style == style] for style in ("program", "option", "join", "quoted")
    }
    assert styled == {
        "program": ["sudo", "make", "./run", "tail"],
        "option": ["-j8"],
        "join": [">", "2>&1", "&&", "|"],
        "quoted": ["'x y'", '"$HOME"'],
    }


@given(TEXT)
def test_no_letter_of_a_command_is_lost(command: str) -> None:
    assert "".join(part.text for part in command_parts(title(command))) == title(command)


@settings(max_examples=80)
@given(TEXT, TEXT, TEXT, st.text(max_size=8), st.integers(20, 160))
def test_no_row_holds_anything_that_acts(command: str, label: str, session: str, query: str, width: int) -> None:
    buffer = BUFFER._replace(command=command, label=label, session=session)
    heading = Heading("session", session, 3, False, "cmd_a1b2c3")
    for parts in (row_parts(buffer, width, NOW, terms=terms_of(query)), group_parts(heading, buffer, width, {})):
        strip = row(parts, (), width, Style(), PartStyles({}.get))
        assert not [char for char in strip.text if unicodedata.category(char) in ACTING]
        assert strip.cell_length == width


@pytest.mark.parametrize(
    ("seconds", "worded"),
    [
        (0.04, "0.0s"),
        (9.9, "9.9s"),
        (9.96, "10s"),
        (59.6, "1m00"),
        (3599, "59m59"),
        (7260, "2h01"),
        (90_000, "25h"),
        (400_000, "4d"),
    ],
)
def test_durations(seconds: float, worded: str) -> None:
    assert duration(BUFFER._replace(created=NOW - seconds), NOW) == worded
    assert len(worded) <= 5


@pytest.mark.parametrize(
    ("count", "worded"), [(0, "0"), (9_999, "9999"), (10_000, "10K"), (999_600, "1.0M"), (10**10, "10G")]
)
def test_short_counts(count: int, worded: str) -> None:
    assert short_count(count) == worded


def test_an_altered_output_is_marked_unless_a_failure_was_overlooked_in_it() -> None:
    altered = BUFFER._replace(partial="cut by Claude Code", seals="out 5 1 ! 7 2")
    assert "✗◆≠" in shown(150, altered)
    assert "✗◆!" in shown(150, altered, seen=Seen(0.5, overlooked=True, at_most=True))
    assert facts(altered, NOW)[1] == "altered: out was changed after its capture: 7 B instead of 5 B"


def test_of_a_partial_output_that_is_marked_unless_a_failure_was_overlooked_in_it() -> None:
    partial = BUFFER._replace(partial="cut by Claude Code", gaps=(Gap("out", 9, 20_012),))
    assert "✗◆◔" in shown(150, partial)
    assert "✗◆◔" not in shown(150)
    overlooked = shown(150, partial, seen=Seen(0.5, overlooked=True, at_most=True))
    assert "✗◆!" in overlooked
    assert "≤50%" in overlooked
    assert facts(partial, NOW)[1] == "partial: cut by Claude Code; missing: 20,012 characters after line 9"
