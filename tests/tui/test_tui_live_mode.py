"""Live mode: the list stays on what was used last until the cursor is moved."""

from sightline.store import Store
from tests.tui.tui_kit import add, buffers, numbered, opened, press, rest, run, text, viewer


def test_the_newest_is_shown_to_its_end_until_one_moves(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(100), ago=30)
    add(store, "cmd_00000b", "seq", numbered(100), ago=20)

    async def body() -> None:
        async with opened(store) as pilot:

            async def comes(name: str) -> None:
                add(store, name, "seq", numbered(200), ago=10)
                buffers(pilot).store_changed(index=True, live=frozenset())
                await rest(pilot)

            await press(pilot, "j", "F")
            assert "live" in text(pilot.app.query_one("#header"))[0]
            assert buffers(pilot).rows.selected == "cmd_00000b"
            await comes("cmd_00000c")
            assert viewer(pilot).opened.buffer.name == "cmd_00000c"
            assert viewer(pilot).window.at_end
            await press(pilot, "j")
            assert "live" not in text(pilot.app.query_one("#header"))[0]
            await comes("cmd_00000d")
            assert buffers(pilot).rows.selected == "cmd_00000b"

    run(body)
