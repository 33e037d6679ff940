"""What went into a command's filters: a part below the row of the command, whose sign tells of both."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from sightline.base.records import Buffer
from sightline.store import Store
from sightline_tui.buffers import buffer_list
from sightline_tui.buffers.buffer_row import UNREAD, row_parts
from sightline_tui.buffers.order import with_parts
from sightline_tui.buffers.packed_entries import Entries, ListEntry, entries_of
from sightline_tui.buffers.seen_reader import Seen
from tests.tui.tui_kit import NOW, add, buffers, opened, press, rest, run, text, until

FAILURE = b"fine\n" * 30 + b"FAILED test_paint.py::test_red - assert 1 == 2\n1 failed in 0.01s\n"


def halves(store: Store, whole: str, part: str, out: bytes = FAILURE, ago: float = 60.0) -> tuple[Buffer, Buffer]:
    """``pytest | tail -1`` and what went into the filter."""
    made = add(store, whole, "pytest | tail -1", out.splitlines(keepends=True)[-1], ago=ago)
    return made, add(store, part, "pytest", out, ago=ago + 1, exit_code=None, origin=whole)


def names(entries: Entries) -> list[str]:
    return [entry.name for entry in entries]


def entries(*shown: str) -> Entries:
    return entries_of(ListEntry(name, -at, f"\n@{name}\n", "s", 0, 0, 0.0, 0) for at, name in enumerate(shown))


def test_a_part_stands_below_its_whole_where_the_upper_one_of_both_stands() -> None:
    shown = entries("part", "a", "whole", "b", "orphan")
    wholes = {"part": "whole", "orphan": "gone"}
    assert names(with_parts(shown, wholes)) == ["whole", "part", "a", "b", "orphan"]
    assert names(with_parts(entries("a", "whole", "b", "part"), wholes)) == ["a", "whole", "part", "b"]
    assert with_parts(together := entries("a", "whole", "part"), wholes) is together


@given(st.permutations(range(12)))
def test_none_is_lost_and_all_parts_stand_below(places: list[int]) -> None:
    known = entries(*map(str, range(12)))
    shown = Entries(known.columns, array("I", places))
    wholes = {"1": "0", "3": "2", "5": "4", "99": "6"}
    arranged = names(with_parts(shown, wholes))
    assert sorted(arranged) == sorted(names(known))
    assert all(arranged[arranged.index(part) - 1] == wholes[part] for part in ("1", "3", "5"))
    rest = [name for name in names(shown) if int(name) > 5]
    assert [name for name in arranged if int(name) > 5] == rest


def sign(buffer: Buffer, **more: object) -> str:
    return row_parts(buffer, 60, NOW, **more)[1].text  # type: ignore[arg-type]


def test_there_is_no_tick_before_the_part_is_known_to_have_ended_well(store: Store) -> None:
    whole, part = halves(store, "cmd_00000a", "cmd_00000b")
    assert sign(whole) == "✓"
    assert sign(whole, part=UNREAD) == "?"
    assert sign(whole, part=Seen(0.5, False, fails=True)) == "✗"
    assert sign(whole, part=Seen(0.5, False, fails=False)) == "✓"
    assert sign(part, is_part=True, seen=Seen(0.5, True, fails=True)) == "✗"
    assert sign(part, is_part=True) == "?"
    assert sign(whole._replace(exit_code=1), part=Seen(1.0, False, fails=False)) == "✗"


def test_the_two_halves_are_one_row_with_a_part_below(store: Store, monkeypatch: object) -> None:
    monkeypatch.setattr(buffer_list, "SEEN_FIRST_SECONDS", 0.01)  # type: ignore[attr-defined]
    halves(store, "cmd_00000a", "cmd_00000b", ago=300)
    halves(store, "cmd_00000c", "cmd_00000d", b"fine\n" * 30 + b"30 passed in 0.01s\n", ago=200)
    add(store, "cmd_00000e", "ls", ago=100)

    async def body() -> None:
        async with opened(store) as pilot:

            def signs() -> list[str]:
                return [row.split()[0] for row in text(buffers(pilot))]

            await until(pilot, lambda: signs() == ["✓", "✓", "✓", "✗", "✗"])
            rows = text(buffers(pilot))
            assert "└ pytest" in rows[2] and "└ pytest" in rows[4]
            assert "pytest | tail -1" in rows[3]
            await press(pilot, "S")  # by what was seen; they stay together
            order = [buffers(pilot).rows.name(at) for at in range(5)]
            assert order.index("cmd_00000b") == order.index("cmd_00000a") + 1
            buffers(pilot).filter("'00000b")
            await until(pilot, lambda: len(text(buffers(pilot))) == 1)  # alone it is a row like any other
            assert "└" not in text(buffers(pilot))[0]

    run(body)


def test_a_tick_is_nowhere_also_where_the_part_is_not_in_sight(store: Store, monkeypatch: object) -> None:
    monkeypatch.setattr(buffer_list, "SEEN_FIRST_SECONDS", 0.01)  # type: ignore[attr-defined]
    halves(store, "cmd_00000a", "cmd_00000b", ago=300)

    async def body() -> None:
        async with opened(store) as pilot:

            def facts() -> list[str]:
                return text(pilot.app.screen.query_one("#info"))

            await until(pilot, lambda: facts()[0].startswith(" ✗ @cmd_00000a"))
            assert "filter ok, failed before it" in facts()[1]
            await press(pilot, "j")
            await until(pilot, lambda: facts()[0].startswith(" ✗ @cmd_00000b"))
            assert "exit unknown, failed" in facts()[1]
            buffers(pilot).filter("tail")
            await until(pilot, lambda: len(text(buffers(pilot))) == 1)
            assert text(buffers(pilot))[0].split()[0] == "✗"

    run(body)


def test_who_reads_the_part_brings_both_to_the_top_and_the_cursor_stays(store: Store) -> None:
    _, part = halves(store, "cmd_00000a", "cmd_00000b", ago=300)
    add(store, "cmd_00000c", "ls", b"x\n", ago=100)

    async def body() -> None:
        async with opened(store) as pilot:
            assert buffers(pilot).rows.selected == "cmd_00000c"
            store.touch(part.name)
            buffers(pilot).store_changed(index=True, live=frozenset())
            await rest(pilot)
            rows = buffers(pilot).rows
            assert [rows.name(at) for at in range(3)] == ["cmd_00000a", "cmd_00000b", "cmd_00000c"]
            assert rows.selected == "cmd_00000c" and rows.cursor == 2

    run(body)
