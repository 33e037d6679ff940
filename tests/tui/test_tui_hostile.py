"""What outputs, commands and names contain reaches the screen as something to read, or not at all."""

import unicodedata

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.style import Style
from textual._ansi_theme import MONOKAI

from sightline.base.records import Buffer
from sightline.shape.source import Line
from sightline.store import Store
from sightline_tui.buffers.buffer_row import row_parts
from sightline_tui.common.line_painter import LOOKS, Paint, draw
from sightline_tui.common.messages import ReadFailed
from sightline_tui.common.strips import PartStyles, row
from tests.tui.tui_kit import NOW, add, opened, press, run, viewer

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


@settings(max_examples=40)
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


@settings(max_examples=40)
@given(st.text(max_size=80), st.text(max_size=30), st.integers(20, 120))
def test_a_row_of_the_list_holds_nothing_that_acts_and_fits(command: str, label: str, width: int) -> None:
    buffer = _BUFFER._replace(command=command, label=label)
    strip = row(row_parts(buffer, width, NOW), (), width, Style(), PartStyles({}.get))
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


_ESCAPES = (b"\x1b[31m", b"\x1b[8m", b"\x1b]8;;http://x\x07", b"\x1b[2J", b"\x1b[?1049h", b"\x1bP", b"\x9b1m", b"\r")
_UNSEEN = ("\u202e", "\u200d", "\u2066", "\ufe0f", "\U0001f600", "日", "e\u0301", "\t", "\x85")
_OTHERS = (b"\n", b"word ", b"[red]", b"\xff", b"\x00", b"\xed\xa0\x80")
_NASTY = st.lists(
    st.sampled_from((*_ESCAPES, *map(str.encode, _UNSEEN), *_OTHERS)) | st.binary(max_size=12), max_size=60
).map(b"".join)


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(out=_NASTY, err=_NASTY, size=st.sampled_from([(80, 24), (121, 30), (50, 20)]))
def test_whatever_an_output_holds_only_text_reaches_the_screen_and_stays_in_its_pane(
    store: Store, out: bytes, err: bytes, size: tuple[int, int]
) -> None:
    for listed in store.index.listed(10):
        store.remove(listed.buffer, "removed")
    add(store, "cmd_00000a", "make", out, err)

    async def body() -> None:
        async with opened(store, size) as pilot:
            shown = viewer(pilot)
            for keys in (["enter"], ["r"], ["r", "w"], ["r", "T"], ["l"], ["v", "G"], ["escape", "w", "s"], ["x"]):
                await press(pilot, *keys)
                assert {shown.render_line(y).cell_length for y in range(shown.size.height)} <= {
                    shown.columns,
                    shown.size.width,
                }
                for screen_row in pilot.app.screen._compositor.render_strips():
                    assert not acts(screen_row.text)
                    assert screen_row.cell_length == size[0]
                    assert not any(segment.style and segment.style.link for segment in screen_row)

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
