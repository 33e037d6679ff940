"""How facts are worded."""

import pytest
from textual.binding import Binding

from sightline.base.records import UNHEARD_OF, Buffer
from sightline.store import Store
from sightline_tui.bindings import all_bindings
from sightline_tui.common.key_bar import fitting
from sightline_tui.common.phrases import age, duration, ending, short_bytes, state_of
from sightline_tui.common.places import lines_meant
from sightline_tui.common.strips import StripPart, cut, fitted, pad
from tests.tui.tui_kit import add, numbered, opened, press, run, text


@pytest.mark.parametrize(
    ("seconds", "worded"),
    [
        (-5, "now"),
        (0, "now"),
        (9, "now"),
        (34, "30s"),
        (61, "1m"),
        (7300, "2h"),
        (86400 * 3, "3d"),
        (86400 * 800, "2y"),
    ],
)
def test_ages(seconds: float, worded: str) -> None:
    assert age(seconds) == worded


@pytest.mark.parametrize(
    ("count", "worded"),
    [
        (0, "0B"),
        (999, "999B"),
        (1000, "1.0K"),
        (65_536, "64K"),
        (1 << 20, "1.0M"),
        (1023 << 10, "1.0M"),
        (3 << 30, "3.0G"),
    ],
)
def test_short_sizes(count: int, worded: str) -> None:
    assert short_bytes(count) == worded
    assert len(worded) <= 5


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("42", (42, 0)),
        ("42-80", (42, 80)),
        ("42,80", (42, 80)),
        ("80,42", (42, 80)),
        ("42,", (42, 1000)),
        ("10%,$", (100, 1000)),
        (" 7 ", (7, 0)),
        ("50%", (500, 0)),
        ("12.5 %", (125, 0)),
        ("100%", (1000, 0)),
        ("$", (1000, 0)),
        ("99999", (1000, 0)),
        ("0", (1, 0)),
    ],
)
def test_go_to_line(text: str, lines: tuple[int, int]) -> None:
    assert lines_meant(text, 1000) == lines


def test_where_bytes_are_shown_one_goes_to_offsets() -> None:
    assert lines_meant("0x20", 1000, 16) == (3, 0)
    assert lines_meant("0x20,0x3f", 1000, 16) == (3, 4)


@pytest.mark.parametrize("text", ["", "x", "-4", "%", "4 2", "1e3", "0x20", "1,2,3", "42,x"])
def test_what_is_no_line(text: str) -> None:
    assert lines_meant(text, 1000) is None


def test_text_is_cut_by_cells_and_not_by_characters() -> None:
    assert cut("日本語テキスト", 7) == "日本語…"
    assert pad("日本", 6) == "日本  "
    assert [part.text for part in fitted([StripPart("abc"), StripPart("defgh")], 6)] == ["abc", "de…"]


def test_parts_that_fill_a_row_to_its_end_say_that_there_is_more() -> None:
    parts = [StripPart("cd /src && ", "x"), StripPart("git")]
    assert [part.text for part in fitted(parts, 11)] == ["cd /src &&…"]
    assert [part.text for part in fitted(parts[:1], 11)] == ["cd /src && "]
    assert fitted(parts, 0) == []


@pytest.mark.parametrize(
    ("kind", "exit_code", "state", "told"),
    [
        ("cmd", 0, "ok", "ok"),
        ("cmd", None, "unknown", "exit unknown"),
        ("cmd", 2, "failed", "exit 2"),
        ("file", None, "ok", "ok"),
    ],
)
def test_an_ending_that_is_not_known_is_not_called_a_success(
    kind: str, exit_code: int | None, state: str, told: str
) -> None:
    buffer = Buffer(
        *(f"{kind}_a1b2c3", kind, "sealed", "x", "/", "s", 1.0, 2.0, 2.0, exit_code),
        *(0, False, "", False, "", "", "", {}),
    )
    assert (state_of(buffer), ending(buffer)) == (state, told)


def test_what_ran_on_a_host_that_is_silent_is_drawn_neither_as_running_nor_with_a_time_that_goes_on() -> None:
    running = Buffer(
        *("h/cmd_a1b2c3", "cmd", "running", "x", "/", "s", 1.0, None, 2.0, None), *(0, False, "", False, "", "", "", {})
    )
    assert (state_of(running), ending(running), duration(running, 61.0)) == ("running", "running", "1m00")
    unheard = running._replace(note=f"its host was last heard of at noon; {UNHEARD_OF}")
    assert (state_of(unheard), ending(unheard), duration(unheard, 61.0)) == ("unknown", "unknown", "")


def test_of_keys_only_whole_ones_are_told_and_always_those_that_lead_back() -> None:
    keys = [Binding("a", "one", "First"), Binding("b", "two", "Second"), Binding("escape", "dismiss(None)", "Back")]
    assert [binding.key for binding in fitting(keys, 80)] == ["a", "b", "escape"]
    assert [binding.key for binding in fitting(keys, 24)] == ["a", "escape"]
    assert [binding.key for binding in fitting(keys, 3)] == ["escape"]


def test_enter_opens_and_a_key_that_leads_back_says_so_on_each_screen() -> None:
    every = [binding for bindings in all_bindings() for binding in bindings if isinstance(binding, Binding)]
    every = [binding for binding in every if binding.id and not binding.id.startswith("query.")]  # it is typed in
    enter = {binding.description for binding in every if "enter" in binding.key.split(",")}
    assert enter == {"Open", "Open or fold"}
    back = {binding.description for binding in every if "q" in binding.key.split(",")}
    assert back == {"Back", "Quit"}
    assert {binding.key for binding in every if binding.description == "Back" and "q" not in binding.key} == set()


def test_a_key_means_the_same_wherever_it_acts() -> None:
    every = [binding for bindings in all_bindings() for binding in bindings if isinstance(binding, Binding)]
    for key, actions in {"u": {"next_unseen"}, "i": {"info", "dismiss"}}.items():
        assert {binding.action for binding in every if key in binding.key.split(",")} == actions


def test_the_bar_says_that_q_leaves_where_one_began_in_an_output(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(3))

    async def body() -> None:
        async with opened(store, target=store.resolve("@cmd_00000a")) as pilot:
            assert "q Quit" in "".join(text(pilot.app.query_one("#keys")))
            await press(pilot, "q")
            assert pilot.app._exit
        async with opened(store) as pilot:
            await press(pilot, "enter")
            assert "q Back" in "".join(text(pilot.app.query_one("#keys")))
            await press(pilot, "q")
            assert not pilot.app._exit

    run(body)
