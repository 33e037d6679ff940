"""Only errors, or warnings and errors: what is hidden is previewed, counted, and shown again where somebody goes."""

from textual.pilot import Pilot

from sightline.store import Store
from tests.tui.tui_kit import add, begin, opened, press, run, text, until, viewer

LOG = b"".join(
    b"12:00 ERROR lost %d\n  at a.js:1\n" % n
    if n % 50 == 0
    else b"12:00 WARN slow %d\n" % n
    if n % 20 == 0
    else b"12:00 DEBUG step %d\n" % n
    if n % 2
    else b"12:00 INFO line %d\n" % n
    for n in range(1, 201)
)


def shown(pilot: Pilot[None]) -> list[str]:
    return [row for row in text(viewer(pilot)) if row.strip()]


def said(pilot: Pilot[None]) -> str:
    return "\n".join(text(pilot.app.screen_stack[0].query_one("#info")))


def choices(pilot: Pilot[None]) -> str:
    return "\n".join(text(pilot.app.screen.query_one("#choices")))


def test_each_choice_says_what_it_hides_and_is_previewed(store: Store) -> None:
    add(store, "cmd_00000a", "serve", LOG)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "L")
            await until(pilot, lambda: "196 lines hidden" not in choices(pilot) and "196 hidden" in choices(pilot))
            assert [" ".join(row.split()) for row in choices(pilot).splitlines()] == [
                "everything 204 lines 0 hidden",
                "info and worse 104 lines 100 hidden",
                "warnings and errors 16 lines 188 hidden",
                "errors only 8 lines 196 hidden",
            ]
            await press(pilot, "up")
            assert len(shown(pilot)) > 20
            await press(pilot, "down", "down", "down")
            await until(pilot, lambda: len(shown(pilot)) == 8)
            await press(pilot, "escape")
            await until(pilot, lambda: len(shown(pilot)) > 20)
            assert "hidden" not in said(pilot)

    run(body)


def test_only_errors_are_shown_with_their_own_numbers(store: Store) -> None:
    add(store, "cmd_00000a", "serve", LOG)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "L", *"errors only", "enter")
            await until(pilot, lambda: len(shown(pilot)) == 8 and "196 lines hidden" in said(pilot))
            numbers = [row.split()[0].rstrip("!?") for row in shown(pilot)]
            assert numbers == ["50", "51", "101", "102", "152", "153", "203", "204"]
            await press(pilot, "j", "G", "w", "v", "j", "y")
            assert len(shown(pilot)) == 8

    run(body)


def test_a_jump_to_a_hidden_line_shows_all_again(store: Store) -> None:
    add(store, "cmd_00000a", "serve", LOG)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "L", *"errors only", "enter")
            await until(pilot, lambda: len(shown(pilot)) == 8)
            await press(pilot, *"101", "G")
            assert len(shown(pilot)) == 8 and viewer(pilot).target == 101
            await press(pilot, "/", *"line 122", "enter")
            await until(pilot, lambda: len(shown(pilot)) > 20)
            assert any("line 122" in row for row in shown(pilot))
            assert any("was hidden" in toast.message for toast in pilot.app._notifications)

    run(body)


def test_an_output_that_grows_is_read_on_and_its_last_line_is_never_hidden(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "serve")
    recording.register()
    recording.append("out", LOG)

    async def body() -> None:
        async with opened(store, live=True) as pilot:
            await press(pilot, "enter", "L", *"errors only", "enter")
            await until(pilot, lambda: "hidden" in said(pilot))
            recording.append("out", b"12:09 INFO calm\n12:10 ERROR late\n12:11 INFO calm\n12:12 INFO calm\n")
            await until(pilot, lambda: any("ERROR late" in row for row in shown(pilot)))
            await until(pilot, lambda: not any("12:09" in row for row in shown(pilot)))
            assert "12:12 INFO calm" in shown(pilot)[-1]

    run(body)
    recording.seal(exit_code=0)


def test_another_output_is_shown_whole(store: Store) -> None:
    add(store, "cmd_00000a", "serve", LOG)
    add(store, "cmd_00000b", "other", LOG, ago=90)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "L", *"errors only", "enter")
            await until(pilot, lambda: len(shown(pilot)) == 8)
            await press(pilot, "tab", "j")
            await until(pilot, lambda: len(shown(pilot)) > 20)

    run(body)


def test_both_streams_are_read_in_order_and_what_the_tool_calls_a_failure_is_an_error(store: Store) -> None:
    add(store, "cmd_00000a", "make", b"fine\nmake: *** [all] Error 2\n", b"12:00 WARN slow\nplain\n", exit_code=2)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", "L", *"errors only", "enter")
            await until(pilot, lambda: len(shown(pilot)) == 1 and "Error 2" in shown(pilot)[0])

    run(body)
