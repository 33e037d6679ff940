"""Costs in the inspector: the tree of sessions on their board, and a bar for each output, command, day and session."""

from pathlib import Path

import pytest

from sightline.store import Store
from sightline_tui.inspector import Inspector
from sightline_tui.timeline.cost_screen import CostScreen
from sightline_tui.timeline.screen import TimelineScreen
from tests.store.audit.usage_kit import NAME, Requests
from tests.store.harnesses.past_kit import Claude
from tests.tui.audit_kit import bar, rows
from tests.tui.tui_kit import opened, press, run, until, viewer


@pytest.fixture
def session(store: Store, tmp_path: Path) -> str:
    made = Requests().reply("x" * 4000, written=10_000, command="git log -p").reply(read=10_000, written=1100)
    made.reply("y" * 2000, read=11_100, command="cat notes.md").reply(read=11_100, written=600)
    made.imported(store, tmp_path)
    helper = Requests()
    helper.claude = Claude(agentId="a1", isSidechain=True)
    helper.number = 10
    helper.reply("z\n", written=2_000_000).imported(store, tmp_path / NAME / "subagents")
    return NAME


def test_the_board_puts_helpers_below_their_agent_with_what_each_cost(store: Store, session: str) -> None:
    async def body() -> None:
        async with opened(store, (160, 30)) as pilot:
            await press(pilot, "W")
            assert not any("└" in row for row in rows(pilot, "sessions"))
            await press(pilot, "t")
            await until(pilot, lambda: any("└" in row for row in rows(pilot, "sessions")))
            _, agent, helper = rows(pilot, "sessions")
            assert "└" not in agent
            assert helper.startswith("   └ ")
            await press(pilot, "g", "j", "j")
            await until(pilot, lambda: any("spawned by" in row for row in rows(pilot, "session-facts")))
            assert any("$12.5" in row for row in rows(pilot, "session-facts"))
            await press(pilot, "k")
            await until(pilot, lambda: any("1 session came from it" in row for row in rows(pilot, "session-facts")))
            await press(pilot, "t")
            await until(pilot, lambda: not any("└" in row for row in rows(pilot, "sessions")))

    run(body)


def test_costs_stand_behind_one_key_with_the_dearest_outputs_first(store: Store, session: str) -> None:
    async def body() -> None:
        async with opened(store, (140, 30)) as pilot:
            await press(pilot, "W", "c")
            await until(pilot, lambda: any("git log -p" in row for row in rows(pilot, "cost")))
            first, second = rows(pilot, "cost")[:2]
            assert "█" * 20 in first
            assert "git log -p" in first
            assert "cat notes.md" in second
            assert "by output" in bar(pilot, "cost-head")
            await press(pilot, "b")
            await until(pilot, lambda: rows(pilot, "cost")[0].startswith(" git log "))
            await press(pilot, "b", "b")
            await until(pilot, lambda: "by session" in bar(pilot, "cost-head") and "$12.5" in rows(pilot, "cost")[0])
            await press(pilot, "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, TimelineScreen))
            await until(pilot, lambda: "spawned · $12.50" in bar(pilot, "timeline-head"))

    run(body)


def test_an_output_opens_from_its_cost(store: Store, session: str) -> None:
    async def body() -> None:
        async with opened(store, (140, 30)) as pilot:
            await press(pilot, "W", "c")
            await until(pilot, lambda: any("git log -p" in row for row in rows(pilot, "cost")))
            dear = rows(pilot, "cost")[0].split()[0].removeprefix("@")
            await press(pilot, "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, Inspector) and viewer(pilot).shows(dear))

    run(body)


def test_without_requests_that_is_said_and_periods_leave_out_older_ones(store: Store, session: str) -> None:
    async def body() -> None:
        async with opened(store, (140, 30)) as pilot:
            await press(pilot, "W", "c", "s")
            await until(pilot, lambda: "No requests" in rows(pilot, "cost")[0])
            assert "the last day" in bar(pilot, "cost-head")
            assert "import" not in rows(pilot, "cost")[0]  # older ones are known
            await press(pilot, "escape")
            assert not isinstance(pilot.app.screen, CostScreen)

    run(body)
