"""The brief on the screen: what was missed first, each row a way to its lines."""

from sightline.settings.config import Settings
from sightline.store import Store
from sightline_tui.brief.screen import BriefScreen
from tests.tui.test_tui_audit import BROKEN, show
from tests.tui.tui_kit import add, opened, press, rest, run, text, until, viewer


def fill(store: Store) -> None:
    half = add(store, "cmd_00000a", "make", BROKEN, exit_code=2, session="claude-1", ago=100)
    show(store, half, (1, 150))


def shown(pilot: object) -> str:
    return "\n".join(text(pilot.app.screen.query_one("#brief")))


def test_it_tells_what_was_missed_and_leads_there(store: Store) -> None:
    fill(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "b")
            await until(pilot, lambda: "1 failure unseen" in shown(pilot))
            assert "1 command failed" in shown(pilot)
            await press(pilot, "y")
            assert pilot.app.clipboard.startswith("# all sessions")
            await press(pilot, "enter")
            await until(pilot, lambda: not isinstance(pilot.app.screen, BriefScreen))
            await until(pilot, lambda: viewer(pilot).target == 202)

    run(body)


def test_another_stretch_of_time_is_a_key_away(store: Store) -> None:
    fill(store)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "B", "s", "s")
            assert "the last day" in text(pilot.app.screen.query_one("#brief-head"))[0]
            await press(pilot, "escape")
            assert not isinstance(pilot.app.screen, BriefScreen)

    run(body)


def test_who_has_chosen_so_begins_with_it(store: Store) -> None:
    fill(store)
    with Store(store.root, Settings(starts_with="brief")) as chosen:

        async def body() -> None:
            async with opened(chosen) as pilot:
                await rest(pilot)
                assert isinstance(pilot.app.screen, BriefScreen)

        run(body)
