"""Commands, labels, sessions and file names that are made to act or to disguise do neither, anywhere on the screen."""

import unicodedata

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from sightline.store import Store
from tests.tui.tui_kit import add, opened, press, run

ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
NASTY = (
    "\x1b]0;owned\x07\x1b[2J\x9b5n",
    "\x1bP+q544e\x1b\\\\\x1b_G\x1b\\\\",
    "\u202egpj.exe\u2066 \u2069rm -rf /\u200b\u200d\ufeff",
    "[@click=app.quit]x[/] [link=https://example.org]y[/] [bold]z",
    "\x1b]8;;https://example.org\x1b\\\\link\x1b]8;;\x1b\\\\",
    "line\r\nbreak\u2028\u2029\ttab\x00nul\x7f",
    "e\u0301\u0301\u0301 日本 👩\u200d👩\u200d👧 \U000e0041 \ud800",
)


def frame(pilot: Pilot[None]) -> list[str]:
    """All rows of the screen; fails where a style carries a link or a meaning."""
    rows = pilot.app.screen._compositor.render_strips()
    for screen_row in rows:
        for segment in screen_row:
            assert segment.control is None
            assert segment.style is None or (segment.style.link is None and "@click" not in segment.style.meta)
    return [screen_row.text for screen_row in rows]


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
def test_nothing_hostile_acts_or_disguises_anywhere_in_the_frame(store: Store, size: tuple[int, int]) -> None:
    for number, nasty in enumerate(NASTY):
        safe = nasty.encode("utf-8", "backslashreplace").decode()
        data = (nasty + " needle\n").encode("utf-8", "surrogatepass")
        add(store, f"cmd_{number:06x}", safe, data, data, label=safe, session=safe)
        add(store, f"file_{number:06x}", f"/tmp/{safe}.txt", data, note=safe, cwd=f"/{safe}")

    async def body() -> None:
        async with opened(store, size) as pilot:
            ways = (
                *(
                    ["o"],
                    ["o"],
                    ["o", "S", "S"],
                    ["m", "m"],
                    ["i"],
                    ["escape"],
                    ["ctrl+p"],
                    ["escape"],
                    ["question_mark"],
                ),
                *(
                    ["escape"],
                    ["D"],
                    ["n"],
                    ["p"],
                    [*"/example"],
                    ["enter"],
                    ["escape"],
                    [*"//needle", "enter"],
                    ["n", "n"],
                ),
                *(["escape"], ["d"], ["escape"], ["enter"], ["G"]),
            )
            for keys in ways:
                await press(pilot, *keys)
                for text_row in frame(pilot):
                    assert not [char for char in text_row if unicodedata.category(char) in ACTING]
                    assert cell_len(text_row) == size[0]
            assert pilot.app.is_running

    run(body)
