"""What is drawn with less work looks as Textual would have it."""

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget

from sightline.store import Store
from sightline_tui.buffers.buffer_list import BufferList
from sightline_tui.common.row_pane import BareRows
from sightline_tui.common.strips import PartStyles, StripPart, row
from tests.tui.tui_kit import add, buffers, numbered, open_store, opened, press, run, viewer

KNOWN = {
    "ref": Style(color="blue"),
    "strong": Style(bold=True),
    "dim": Style(color="#808080", dim=True),
    "match": Style(color="red", underline=True),
    "held": Style(bgcolor="green"),
}
STYLES = PartStyles(KNOWN.get)
PARTS = st.lists(
    st.builds(StripPart, st.text(" ab日", max_size=4), st.sampled_from(["", *KNOWN, "unknown"])), max_size=12
)


def cells(strip: Strip) -> list[tuple[str, object]]:
    """The characters of a strip and what one sees of their styles."""
    seen = list[tuple[str, object]]()
    for text, style, _ in strip:
        assert style is not None
        if style.underline or text.strip():
            shows = (style.color, style.bold, style.dim, style.underline)
        for letter in text:
            is_seen = letter != " " or style.underline
            seen.append((letter, (style.bgcolor, shows if is_seen else None)))
    return seen


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as opened_store:
        for number in range(60):
            add(opened_store, f"cmd_{number:06x}", f"make --jobs {number} all", numbered(3), ago=60.0 + number)
        yield opened_store


@given(PARTS)
def test_pieces_that_are_joined_look_as_each_by_itself(parts: list[StripPart]) -> None:
    base = Style(color="white", bgcolor="black")
    drawn = row(parts, (), 60, base, STYLES)
    single = [Segment(text, base + STYLES.get(name, Style())) for text, name in [*parts, StripPart(" " * 60)] if text]
    assert cells(drawn) == cells(Strip(single).crop(0, 60))


def test_a_blank_between_two_words_costs_no_piece_of_its_own() -> None:
    parts = [
        StripPart("a", "ref"),
        StripPart(" "),
        StripPart("b", "ref"),
        StripPart("  ", "dim"),
        StripPart("c", "match"),
        StripPart(" "),
    ]
    assert [segment.text for segment in row(parts, (), 10, Style(), STYLES)] == ["a b  ", "c", "    "]


def test_a_style_is_looked_up_when_it_is_first_drawn_and_only_then() -> None:
    asked = list[str]()
    styles = PartStyles(lambda name: asked.append(name) or KNOWN.get(name))
    for _ in range(2):
        drawn = [*row([StripPart("a", "strong")], (), 1, Style(), styles)]
        assert drawn == [Segment("a", KNOWN["strong"])]
    assert [name for name in asked if name] == ["strong"]
    with pytest.raises(KeyError):
        styles["unknown"]


def test_the_scrollbar_looks_as_textuals(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            listed = buffers(pilot)
            bar = listed.vertical_scrollbar
            assert type(bar) is not ScrollBar
            region, options = Region(0, 0, *bar.size), pilot.app.console_options.update_dimensions(*bar.size)
            for top in (0, 1, 7, 1000):
                listed.scroll_to(y=top, animate=False, force=True)
                await pilot.pause()
                theirs = [Strip(line) for line in pilot.app.console.render_lines(bar.render(), options)]
                assert bar.render_lines(region) == [
                    strip.apply_filter(each, bar.background_colors[1])
                    for strip in theirs
                    for each in bar.get_line_filters()
                ], top

    run(body)


def test_what_was_just_taken_away_is_drawn_blank(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            listed = buffers(pilot)
            bar = listed.vertical_scrollbar
            listed.notify_style_update()
            await listed.remove()
            for gone in (listed, bar):
                assert gone.parent is None
                drawn = gone.render_lines(Region(0, 0, 30, 9))
                assert [(strip.cell_length, strip.text.strip()) for strip in drawn] == [(30, "")] * 9

    run(body)


def test_a_scrollbar_is_drawn_where_the_screen_is_ahead_of_its_size(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            bar = buffers(pilot).vertical_scrollbar
            width, height = bar.size
            drawn = bar.render_lines(Region(0, 0, width, height + 2))
            assert [strip.cell_length for strip in drawn] == [width] * (height + 2)
            assert not "".join(strip.text for strip in drawn[height:]).strip()

    run(body)


@pytest.mark.parametrize(
    "css",
    [
        "",
        "border: round red;",
        "padding: 1 2;",
        "outline: heavy green;",
        "tint: red 30%;",
        "hatch: cross red;",
        "opacity: 50%;",
        "text-opacity: 50%;",
    ],
)
def test_rows_look_as_textual_draws_them_whatever_goes_around_them(
    store: Store, monkeypatch: pytest.MonkeyPatch, css: str
) -> None:
    monkeypatch.setattr(BufferList, "DEFAULT_CSS", f"BufferList {{ {css} }}")

    async def body() -> None:
        async with opened(store) as pilot:
            listed = buffers(pilot)
            region = Region(0, 0, *listed.region.size)
            assert isinstance(listed._styles_cache, BareRows)
            ours = listed.render_lines(region)
            theirs = StylesCache().render_widget(listed, region)
            assert [cells(strip) for strip in ours] == [cells(strip) for strip in theirs]
            assert [strip.cell_length for strip in ours] == [region.width] * region.height

    run(body)


def test_styles_that_are_kept_are_those_that_textual_would_find(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            widgets = [buffers(pilot), viewer(pilot)]
            chosen = "C", "down", "enter"
            for keys in (("tab",), chosen, ("tab",), chosen, ("j",), ("tab",), chosen):
                await press(pilot, *keys)
                for widget in widgets:
                    for name, kept in (widget._kept or {}).items():
                        for partial in (False, True):
                            widget._rich_style_cache.clear()
                            assert kept[partial] == Widget.get_component_rich_style(widget, *name, partial=partial)
            assert all(widget._kept for widget in widgets)

    run(body)


@pytest.mark.parametrize("made", [StylesCache, BareRows])
def test_nothing_that_was_drawn_of_a_removed_widget_is_kept(made: type[StylesCache]) -> None:
    rows = made()
    within, around = rows.get_inner_outer(Color(10, 20, 30), Color(40, 50, 60))
    assert (within.background, around.background) == (Color(40, 50, 60), Color(10, 20, 30))
    kept = weakref.ref(rows)
    del rows
    gc.collect()
    assert kept() is None
