"""Live mode: the list stays on what was used last until the cursor is moved."""

from collections.abc import Callable

from textual.pilot import Pilot

from sightline.store import Store
from sightline_tui.buffers.order import BURST_SHOWN, Heading, bursts
from sightline_tui.buffers.packed_entries import ListEntry, entries_of
from sightline_tui.inspector import Throttle
from tests.tui.audit_kit import AGENT, OTHER, ask
from tests.tui.tui_kit import add, buffers, numbered, opened, press, rest, run, text, until, viewer


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


def came(store: Store, pilot: Pilot[None], name: str, session: str = AGENT) -> None:
    add(store, name, f"make {name}", numbered(200), ago=10, session=session)
    buffers(pilot).store_changed(index=True, live=frozenset())


def test_it_holds_still_while_somebody_reads_and_goes_on_afterwards(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(100), ago=30)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "F", "enter", "g")
            came(store, pilot, "cmd_00000b")
            await rest(pilot)
            assert buffers(pilot).rows.selected == "cmd_00000a"
            assert viewer(pilot).opened.buffer.name == "cmd_00000a"
            assert not viewer(pilot).window.at_end
            await press(pilot, "tab")
            await until(pilot, lambda: viewer(pilot).opened.buffer.name == "cmd_00000b")

    run(body)


def test_the_newest_of_what_a_filter_finds_is_shown(store: Store) -> None:
    add(store, "cmd_00000a", "seq", numbered(100), ago=30, session=OTHER)
    add(store, "cmd_00000b", "seq", numbered(100), ago=20)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "slash", *f"session:{OTHER}", "enter", "F")
            await until(pilot, lambda: buffers(pilot).rows.selected == "cmd_00000a")
            came(store, pilot, "cmd_00000c", OTHER)
            came(store, pilot, "cmd_00000d")
            await until(pilot, lambda: buffers(pilot).rows.selected == "cmd_00000c")

    run(body)


def test_a_session_is_watched_from_the_board(store: Store) -> None:
    ask(store, add(store, "cmd_00000a", "seq", numbered(100), ago=30, session=OTHER), by=OTHER)
    ask(store, add(store, "cmd_00000b", "seq", numbered(100), ago=20), ago=20)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "W", "j", "j", "F")
            await until(pilot, lambda: buffers(pilot).rows.selected == "cmd_00000a")
            assert len(text(buffers(pilot))) == 1
            assert "live" in text(pilot.app.query_one("#header"))[0]
            assert pilot.app.focused is buffers(pilot)
            await press(pilot, "escape")
            assert len(text(buffers(pilot))) == 2

    run(body)


def test_many_in_a_row_of_one_session_are_grouped_while_live(store: Store) -> None:
    for number in range(9):
        add(store, f"cmd_00000{number}", f"make {number}", b"x\n", ago=100 - number)
    add(store, "cmd_00000a", "ls", b"x\n", ago=20, session=OTHER)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "F")
            rows = text(buffers(pilot))
            assert len(rows) == 1 + BURST_SHOWN + 1
            assert rows[-1].split() == ["▸", AGENT, "·", "4", "more"]
            await press(pilot, "G")  # any movement ends it, and shows them all
            assert len(text(buffers(pilot))) == 10

    run(body)


class Timers:
    """Stands for a widget: its timers go off when they are told to."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def set_timer(self, _: float, deed: Callable[[], None]) -> object:
        self.waiting.append(deed)
        return deed


def test_a_burst_is_seen_to_at_its_beginning_and_its_end() -> None:
    timers, done = Timers(), []
    pace = Throttle(timers, 60.0, lambda: done.append(len(done)))  # type: ignore[arg-type]
    for _ in range(50):
        pace.ask()
    assert done == [0] and len(timers.waiting) == 1
    timers.waiting.pop()()
    assert done == [0, 1]
    pace.ask()
    assert done == [0, 1] and len(timers.waiting) == 1


def test_what_a_burst_leaves_out_is_told_and_none_is_lost() -> None:
    names = [f"n{at}" for at in range(30)]
    entries = entries_of(
        ListEntry(name, 30 - at, f"make\n@{name}\n", "ab"[at // 20], 0, 0, 0.0, 0) for at, name in enumerate(names)
    )
    rows = bursts(entries)
    headings = [row for row in rows if isinstance(row, Heading)]
    assert [(one.key, one.size, one.first) for one in headings] == [("a", 15, "n5"), ("b", 5, "n25")]
    assert len(rows) - len(headings) + sum(one.size for one in headings) == 30
    assert len({one.name for one in headings}) == 2
