"""What is around the panes: the split, the themes, header and keys, and what is left when it breaks."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import pytest
from rich.color import ColorType
from textual.pilot import Pilot

from sightline.settings.config import Settings
from sightline.store import Store
from sightline_tui.app import InspectorApp
from sightline_tui.commands import Help
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.split import Divider
from sightline_tui.common.strips import StripPart
from sightline_tui.inspector import Header
from sightline_tui.shutdown import FILE
from sightline_tui.viewer.info_bar import Info
from tests.tui.tui_kit import NOW, add, buffers, numbered, opened, press, rest, run, text


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path), Settings(max_buffers=2)) as store:
        add(store, "cmd_00000a", "make", numbered(50))
        add(store, "cmd_00000b", "make", numbered(50))
        yield store


def left(pilot: Pilot[None]) -> tuple[int, int]:
    size = pilot.app.query_one("#left").outer_size
    return size.width, size.height


async def drag(pilot: Pilot[None], widget: type, x: int, y: int) -> None:
    await pilot.mouse_down(widget, offset=(0, 0))
    await pilot.hover(None, offset=(x, y))
    await pilot.mouse_up(None, offset=(x, y))
    await rest(pilot)


def test_keys_move_the_split_and_it_stays_for_the_next_time(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (200, 40)) as pilot:
            assert left(pilot)[0] == 80
            await press(pilot, ">", ">")
            assert left(pilot)[0] == 100
            await press(pilot, *"<" * 30)
            assert left(pilot)[0] == 30
        async with opened(store, (200, 40)) as pilot:
            assert left(pilot)[0] == 30

    run(body)


def test_stacked_panes_have_a_split_of_their_own(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (80, 24)) as pilot:
            await press(pilot, ">", ">", ">")
            assert left(pilot) == (80, 9)
            await pilot.resize_terminal(200, 24)
            await rest(pilot)
            assert left(pilot)[0] == 80
            await pilot.resize_terminal(80, 24)
            await rest(pilot)
            assert left(pilot) == (80, 9)

    run(body)


def test_the_mouse_drags_the_split(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (200, 40)) as pilot:
            await drag(pilot, Divider, 120, 20)
            assert left(pilot)[0] == 120
        async with opened(store, (80, 24)) as pilot:
            await drag(pilot, Info, 20, 12)
            assert left(pilot)[1] == 11

    run(body)


def test_the_terminals_own_colours_are_left_to_the_terminal(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "C", "down", "down", "enter")
        async with opened(store) as pilot:
            assert pilot.app.theme == "sightline-terminal"
            styles = [segment.style for segment in buffers(pilot).render_line(0) if segment.style]
            colours = [colour for style in styles for colour in (style.color, style.bgcolor) if colour]
            assert colours
            assert {colour.type for colour in colours} <= {ColorType.DEFAULT, ColorType.STANDARD}
            await press(pilot, "C", "up", "up", "enter")
            assert pilot.app.theme == "sightline-dark"

    run(body)


@pytest.mark.parametrize("kept", ["nord", "gone", "sightline-light"])
def test_whatever_theme_is_remembered_there_is_one(store: Store, kept: str) -> None:
    Path(store.root, "inspector.json").write_text(f'{{"theme": "{kept}"}}')

    async def body() -> None:
        async with opened(store) as pilot:
            assert pilot.app.theme == ("sightline-dark" if kept == "gone" else kept)

    run(body)


def test_the_header_warns_near_a_limit(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            header = pilot.app.query_one("#header")
            assert "2 of 2 buffers" in text(header)[0]
            (left, _) = header._rows[0]
            assert [part.style for part in left if "buffers" in part.text] == ["interrupted"]

    run(body)


def test_a_narrow_header_leaves_out_whole_facts_the_last_ones_first(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (120, 24)) as pilot:
            header = pilot.app.query_one("#header")
            whole = text(header)[0].rstrip()
            assert whole.endswith("GiB")
            for width in (len(whole) - 1, 50, 40, 24):
                await pilot.resize_terminal(width, 24)
                await rest(pilot)
                told = text(header)[0].rstrip()
                assert len(told) < len(whole)
                assert whole.startswith(f"{told}  ·  ")

    run(body)


def test_a_click_on_a_key_does_what_the_key_does(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (120, 24)) as pilot:
            keys = text(pilot.app.query_one("#keys"))[0]
            assert keys.endswith("q Quit")
            await pilot.click("#keys", offset=(keys.index("Mark"), 0))
            await rest(pilot)
            assert buffers(pilot).marks == ("cmd_00000b",)
            await pilot.click("#keys", offset=(keys.index("? Keys"), 0))
            await rest(pilot)
            assert isinstance(pilot.app.screen, Help)

    run(body)


def test_a_fault_leaves_a_sentence_and_a_private_file(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    app = InspectorApp(store, clock=lambda: NOW, live=False)

    def breaks() -> None:
        raise KeyError("what [b]\x1b[2J")

    async def body() -> None:
        with pytest.raises(KeyError):
            async with app.run_test() as pilot:
                app.call_later(breaks)
                await pilot.pause()
                await pilot.pause()

    run(body)
    said = capsys.readouterr().err
    assert "The inspector broke, the store did not: KeyError" in said
    assert "Traceback" not in said
    assert "\x1b[2J" not in said
    kept = Path(store.root, FILE)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "in breaks" in kept.read_text()


def test_nothing_is_said_of_a_store_before_it_is_counted(store: Store) -> None:
    header = Header(store, "all projects")
    header.on_mount()
    assert [part.text.strip() for part in header._rows[0][0]] == ["◉", "Sightline", "·", "all projects"]
    assert not header._rows[0][1]  # and not that there are 0 buffers


def test_the_keys_are_named_on_the_first_screen_too(store: Store) -> None:
    bars = list[str]()

    def say(bar: KeyBar, *rows: tuple[Sequence[StripPart], Sequence[StripPart]]) -> None:
        bars.append("".join(part.text for part in rows[0][0]))

    async def body() -> None:
        with patch.object(KeyBar, "say", say):
            async with opened(store, (140, 30)):
                assert "Next miss" in bars[0]

    run(body)


def test_the_keys_are_never_cut(store: Store) -> None:
    async def body() -> None:
        async with opened(store, (140, 30)) as pilot:
            await press(pilot, "enter")
            bar = pilot.app.query_one(KeyBar)
            for width in range(40, 140, 7):
                await pilot.resize_terminal(width, 30)
                await pilot.pause()
                assert "…" not in bar.render_line(0).text

    run(body)
