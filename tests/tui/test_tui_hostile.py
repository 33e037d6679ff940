"""What outputs, commands and names contain reaches the screen as something to read, or not at all."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style
from sightline.store.records import Buffer
from sightline.store.shape.source import Line
from sightline.store.store import Store
from sightline.tui.messages import ReadFailed
from sightline.tui.output.painting import LOOKS, Paint, draw
from sightline.tui.strips import row
from sightline.tui.widgets.buffer_row import row_parts
from textual._ansi_theme import MONOKAI
from tui_kit import NOW, add, opened, press, run

_ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_BUFFER = Buffer("cmd_a1b2c3", "cmd", "sealed", "", "/", "s", NOW, NOW, NOW, 0, 0, False, "", False, "", "", "", {})
_BASE = Style(color="#d7dde5", bgcolor="#10151c")
_PAINT = Paint(_BASE, {"control": Style(bold=True), "dim": Style(dim=True)}, MONOKAI, lambda part: Style())
_BAD = (
    b"\x1b]52;c;aGk=\x07\x1b[2J\x1b[?1049l\x9b5n\x00\x07\x08\xc2\x9b6n\xe2\x80\xae"
    b"[red]evil[/] [@click=app.quit]x[/]\xff\n"
)


def acts(text: str) -> list[str]:
    return [char for char in text if unicodedata.category(char) in _ACTING]


@settings(max_examples=300)
@given(
    st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.integers(1, 80),
    st.sampled_from(LOOKS),
)
def test_a_drawn_line_holds_nothing_that_acts_and_fits(data: bytes, width: int, look: str) -> None:
    line = data.replace(b"\n", b"")
    strip = draw(Line(1, line, len(line)), look, _PAINT)
    assert not acts(strip.text)
    assert strip.crop_extend(0, width, Style()).cell_length == width


@settings(max_examples=100)
@given(st.text(max_size=80), st.text(max_size=30), st.integers(20, 120))
def test_a_row_of_the_list_holds_nothing_that_acts_and_fits(command: str, label: str, width: int) -> None:
    buffer = _BUFFER._replace(command=command, label=label)
    strip = row(row_parts(buffer, width, NOW), (), width, Style(), {})
    assert not acts(strip.text)
    assert strip.cell_length == width


def test_a_hostile_buffer_cannot_disturb_the_terminal(store: Store) -> None:
    evil = _BAD.decode("utf-8", "replace")
    add(store, "cmd_00000a", evil, _BAD * 3, _BAD, label=evil)
    store.remove(add(store, "cmd_00000b", evil, b"x\n"), "evicted")

    async def body() -> None:
        async with opened(store) as pilot:
            for keys in ([], ["j"], ["y"], [*"/evil", "enter"], ["enter"], ["colon", "left_square_bracket", "enter"]):
                await press(pilot, *keys)
                for screen_row in pilot.app.screen._compositor.render_strips():
                    assert not acts(screen_row.text)
            assert pilot.app.is_running

    run(body)


def test_markup_in_what_went_wrong_is_text(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            pilot.app.post_message(ReadFailed("cannot read [/tmp/x]\x1b[2J", "look at [b]it"))
            await press(pilot, "j")
            assert pilot.app.is_running
            (notice,) = pilot.app._notifications
            assert (notice.title, notice.markup) == ("cannot read [/tmp/x]␛[2J", False)

    run(body)
