"""How a call is laid out in the timeline: what is not known to have ended well is not drawn as if it were."""

import pytest

from sightline.audit.timeline import Call
from sightline.base.records import IndexedView, View
from sightline.disk.recording import new_buffer
from sightline_tui.common.strips import StripPart
from sightline_tui.timeline.call_parts import CallLook, row_parts, shown_parts

COMMAND = "make | tail -1"


def call_of(code: int | None, *, before: int | None = None, filtered: bool = False) -> Call:
    """A call of a command that ended with a code, after filters or not."""
    main = new_buffer("cmd_aaaaaa", "cmd", COMMAND, "/", "s")._replace(state="sealed", exit_code=code)
    half = main._replace(name="cmd_bbbbbb", command="make", exit_code=before, origin=main.name)
    view = View("s:1", "s", 1, 5.0, "run_command", "{}", (main.name,), (), 0, 0, 0, 0, code, False, "")
    return Call(IndexedView(view, 0, 0), main, {}, 0, 0, half if filtered else None)


def styles_of(parts: list[StripPart], text: str) -> set[str]:
    """The styles of the parts that hold a text."""
    return {part.style for part in parts if text in part.text}


def test_a_command_that_ended_well_is_green() -> None:
    assert styles_of(shown_parts(call_of(0)), "exit 0") == {"ok"}
    assert styles_of(shown_parts(call_of(0, before=0, filtered=True)), "exit 0") == {"ok"}


@pytest.mark.parametrize(("before", "told"), [(2, "└ before the filter @cmd_bbbbbb (exit 2)"), (None, "@cmd_bbbbbb")])
def test_a_command_is_not_green_for_its_filter_s_sake(before: int | None, told: str) -> None:
    parts = shown_parts(call_of(0, before=before, filtered=True))
    assert styles_of(parts, "exit 0") == {"interrupted"}
    assert styles_of(parts, told) == {"failed" if before else "dim"}


def test_what_a_person_looked_at_is_told_to_be_so() -> None:
    told = "to a person: no agent saw it"
    assert styles_of(shown_parts(call_of(0)._replace(looks_on=True)), told) == {"interrupted"}
    assert styles_of(shown_parts(call_of(0)), told) == set()


def test_what_was_overlooked_before_a_filter_is_marked_at_its_command() -> None:
    row = row_parts(call_of(0, filtered=True), 120, CallLook(5.0, False, {}, frozenset(("cmd_bbbbbb",))))
    assert StripPart("!", "failed") in row


@pytest.mark.parametrize(
    ("state", "told", "style"),
    [("running", "running", "running"), ("interrupted", "ended without an answer", "failed")],
)
def test_a_call_that_was_not_answered_says_whether_it_goes_on(state: str, told: str, style: str) -> None:
    buffer = new_buffer("tool_aaaaaa", "tool", "fetch", "/", "s")._replace(state=state)
    view = View("s:0", "s", 0, 5.0, "tool", "{}", (buffer.name,), (), 0, 0, 0, 0, None, False, "")
    assert styles_of(shown_parts(Call(IndexedView(view, 0, 0), buffer, {}, 0, 0)), told) == {style}


def test_of_a_long_path_the_end_is_shown() -> None:
    path = "/home/ada/project/" + "deep/" * 20 + "cart_test.go"
    buffer = new_buffer("file_aaaaaa", "file", path, "/", "s")._replace(state="sealed")
    view = View(
        "s:1", "s", 1, 5.0, "read_file", f'{{"path": "{path}"}}', (buffer.name,), (), 0, 0, 0, 0, None, False, ""
    )
    row = "".join(
        part.text
        for part in row_parts(
            Call(IndexedView(view, 0, 0), buffer, {}, 0, 0), 120, CallLook(5.0, False, {}, frozenset())
        )
    )
    assert "…/" in row
    assert "deep/cart_test.go" in row
    assert "/home/ada" not in row
