"""The list tells how much of each buffer was seen, marks what was overlooked, and can stand in that order."""

import pytest
from textual.pilot import Pilot

from sightline.store import Store
from sightline_tui.buffers import buffer_list
from sightline_tui.buffers.order import SEEN
from sightline_tui.buffers.seen_reader import percent
from tests.tui.audit_kit import ask
from tests.tui.tui_kit import add, buffers, numbered, opened, press, run, text, until


@pytest.fixture(autouse=True)
def _shares_now(monkeypatch: pytest.MonkeyPatch, _shares_later: None) -> None:
    monkeypatch.setattr(buffer_list, "SEEN_FIRST_SECONDS", 0.01)
    monkeypatch.setattr(buffer_list, "SEEN_SOON_SECONDS", 0.01)


@pytest.fixture
def filled(store: Store) -> Store:
    whole = add(store, "cmd_00000a", "whole", numbered(10), ago=90)
    ask(store, whole, [(1, 10)])
    some = add(store, "cmd_00000b", "some", numbered(200) + b"ERROR: out of paint\n", ago=80)
    ask(store, some, [(1, 1)])
    add(store, "cmd_00000c", "none", numbered(10), ago=70)
    return store


def shares(pilot: Pilot[None]) -> list[str]:
    found = []
    for row in text(buffers(pilot)):
        words = row.split()
        found.append(next((word for word in words if word.endswith("%")), ""))
    return found


def test_rows_tell_how_much_was_seen(filled: Store) -> None:
    async def body() -> None:
        async with opened(filled) as pilot:
            await until(pilot, lambda: shares(pilot) == ["0%", "<1%", "100%"])
            ask(filled, filled.index.buffer("cmd_00000c"), [(1, 5)])
            buffers(pilot).store_changed(index=True, live=frozenset())
            await until(pilot, lambda: shares(pilot) == ["50%", "<1%", "100%"])

    run(body)


def test_what_was_overlooked_is_marked_until_it_is_seen(filled: Store) -> None:
    async def body() -> None:
        async with opened(filled) as pilot:
            await until(pilot, lambda: text(buffers(pilot))[1][3] == "!")
            assert not any("!" in row for at, row in enumerate(text(buffers(pilot))) if at != 1)
            ask(filled, filled.index.buffer("cmd_00000b"), [(201, 201)])
            buffers(pilot).store_changed(index=True, live=frozenset())
            await until(pilot, lambda: "!" not in text(buffers(pilot))[1])

    run(body)


def test_what_nobody_was_shown_anything_of_was_overlooked(filled: Store) -> None:
    add(filled, "cmd_00000d", "alone", b"ERROR: out of paint\n", ago=60)

    async def body() -> None:
        async with opened(filled) as pilot:
            await until(pilot, lambda: text(buffers(pilot))[0][3] == "!")

    run(body)


def test_the_least_seen_come_first_in_their_order(filled: Store) -> None:
    async def body() -> None:
        async with opened(filled) as pilot:

            def order() -> str:
                rows = buffers(pilot).rows
                return "".join(rows.name(at)[-1] for at in range(len(rows)))

            assert order() == "cba"
            await press(pilot, "G", "S")
            assert buffers(pilot).rows.order.sort == SEEN
            await until(pilot, lambda: order() == "cba")
            ask(filled, filled.index.buffer("cmd_00000c"), [(1, 9)])
            buffers(pilot).store_changed(index=True, live=frozenset())
            await until(pilot, lambda: order() == "bca")
            assert buffers(pilot).rows.selected == "cmd_00000a"
            await press(pilot, "R")
            assert order() == "acb"

    run(body)


@pytest.mark.parametrize(
    ("share", "told"), [(0, "0%"), (0.001, "<1%"), (0.034, "3%"), (0.5, "50%"), (0.999, "99%"), (1, "100%")]
)
def test_nothing_and_all_are_told_only_where_that_is_so(share: float, told: str) -> None:
    assert percent(share) == told


@pytest.mark.parametrize(
    ("share", "told"), [(0, "0%"), (0.001, "<1%"), (0.331, "≤34%"), (0.33, "≤33%"), (0.999, "<all"), (1, "≤all")]
)
def test_a_share_that_may_be_less_is_told_as_the_most(share: float, told: str) -> None:
    assert percent(share, at_most=True) == told
